"""Rows of the field catalogue about what a gateway keeps, passes on and learns, over several turns.

Signatures that a client cannot carry, bytes that must not change, refusals that another form of the
request puts right, for this session and for no other.
"""

import json

import pytest

from canonicall.testing.exchange import SimResponse
from canonicall.testing.script import call, says, thought
from gateway_support import ask
from scenarios.scripted_hosts import Hosts, asked, model, saying

SENTINEL = "skip_thought_signature_validator"
ONE = {"type": "object", "properties": {"id": {"type": "string"}}}
CHAT_TOOL = {"type": "function", "function": {"name": "look", "parameters": ONE}}
CLAUDE_TOOL = {"name": "look", "input_schema": ONE}
USER = {"role": "user", "content": "Go."}
LOOKS = says(thought("I look."), call("look", id="a"), call("look", id="b"))


def results_of(message):
    """A result for every call of a chat message."""
    calls = message["tool_calls"]
    return [{"role": "tool", "tool_call_id": one["id"], "content": "1"} for one in calls]


def chat(*messages):
    return {"tools": [CHAT_TOOL], "messages": list(messages)}


async def test_c2_c20_a_session_goes_on_where_nobody_remembers_its_signatures():
    """Chat clients cannot carry them; when the gateway had forgotten them, the session was dead."""
    hosts = Hosts(make=saying(LOOKS, "Done."))
    gateway = hosts.gateway(model("gemini:gemini-3-pro"))
    said = (await asked(gateway, "openai-chat", chat(USER))).json["choices"][0]["message"]
    await gateway.close()
    forgetful = hosts.gateway(model("gemini:gemini-3-pro"))
    answer = await asked(forgetful, "openai-chat", chat(USER, said, *results_of(said)))
    assert answer.status == 200, answer.body
    (made,) = [one for one in hosts.bodies("gemini")[-1]["contents"] if one["role"] == "model"]
    signed = [part.get("thoughtSignature") for part in made["parts"] if "functionCall" in part]
    assert signed[0] == SENTINEL
    await forgetful.close()


async def test_c3_a_signature_of_vertex_does_not_go_to_its_twin():
    """Both are Gemini; the one calls the signature of the other corrupted."""
    hosts = Hosts(make=saying(LOOKS, "Done."))
    gateway = hosts.gateway(model("vertex:gemini-3-pro", "gemini:gemini-3-pro"))
    said = (await asked(gateway, "openai-chat", chat(USER))).json["choices"][0]["message"]
    hosts.answers["vertex"] = [SimResponse.json(503, {"error": {"message": "Busy."}})] * 9
    answer = await asked(gateway, "openai-chat", chat(USER, said, *results_of(said)))
    assert answer.status == 200, answer.body
    assert hosts.sent[-1][0] == "gemini"
    tried = json.dumps(hosts.bodies("vertex")[1])
    assert '"thoughtSignature"' in tried
    assert SENTINEL not in tried
    assert f'"thoughtSignature": "{SENTINEL}"' in json.dumps(hosts.bodies("gemini")[-1])
    await gateway.close()


@pytest.mark.parametrize("text", ["caf\\u00e9 \\/ \\ud83d\\ude00", "café 😀", "a\\tb  c"])
async def test_c7_a_signed_thought_is_passed_on_byte_for_byte(text):
    """JSON that was written anew had other escapes, and the signature did not fit any more."""
    hosts = Hosts({"anthropic": [SimResponse.json(200, _CLAUDE_SAYS)]})
    gateway = hosts.gateway(model("anthropic:m"))
    body = _BYTES.replace(b"WORDS", text.encode())
    answer = await ask(gateway, "/v1/messages", body)
    assert (answer.status, hosts.sent) == (200, [("anthropic", body)])
    await gateway.close()


_BYTES = b"""{"model":"m","max_tokens":9, "messages":[{"role":"user","content":"Go."},
 {"role":"assistant","content":[{ "type":"thinking",  "thinking":"WORDS","signature":"c2VhbA==" },
  {"text":"Yes.","type":"text"}]}, {"role":"user","content":"On."}]}"""
_CLAUDE_SAYS = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
_NOT_DECRYPTED = {
    "error": {
        "message": "The encrypted content gAAA could not be verified."
        " Reason: Encrypted content could not be decrypted or parsed.",
        "type": "invalid_request_error",
        "code": "invalid_encrypted_content",
        "param": None,
    }
}


async def test_c12_reasoning_that_another_account_encrypted_is_left_out_once():
    """After a key was rotated every request was a 400, for ever."""
    hosts = Hosts({"openai": [SimResponse.json(400, _NOT_DECRYPTED)] * 2}, saying("Done."))
    gateway = hosts.gateway(model("openai/openai-responses:gpt-x"))
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    said = {"role": "assistant", "content": "Yes."}
    items = [
        {"role": "user", "content": "Go."},
        reasoning,
        said,
        {"role": "user", "content": "On."},
    ]
    answer = await asked(gateway, "openai-responses", {"input": items, "store": False})
    assert answer.status == 200, answer.body
    assert b"gAAA" in hosts.sent[0][1]
    assert b"gAAA" not in hosts.sent[-1][1]
    assert len(hosts.sent) <= 3
    await gateway.close()


REFUSALS = {
    "a signature": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "nobody knows what": "Something about your request is odd.",
}


@pytest.mark.parametrize("words", REFUSALS)
async def test_c21_a_break_in_one_session_takes_no_thought_from_another(words):
    """One refusal, and from then on nobody's reasoning was sent: all share the gateway."""
    error = {"type": "invalid_request_error", "message": REFUSALS[words]}
    hosts = Hosts(make=saying(LOOKS, "Done.", "Done."))
    gateway = hosts.gateway(model("anthropic:claude-opus-4-6"))
    thinking = {"tools": [CHAT_TOOL], "reasoning_effort": "high"}
    said = (await asked(gateway, "openai-chat", {**thinking, "messages": [USER]})).json
    message = said["choices"][0]["message"]
    body = {**thinking, "messages": [USER, message, *results_of(message)]}
    hosts.answers["anthropic"] = [SimResponse.json(400, {"type": "error", "error": error})]
    assert (await asked(gateway, "openai-chat", body)).status == 200
    assert b'"signature"' not in hosts.sent[-1][1]
    assert (await asked(gateway, "openai-chat", body, x_session_id="another")).status == 200
    assert b'"signature"' in hosts.sent[-1][1]
    await gateway.close()


_EXTRA = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "tools.0.custom.eager_input_streaming: Extra inputs are not permitted",
    },
}


async def test_h17_a_field_of_a_tool_that_is_refused_is_left_out():
    """Hosts of the same format know fewer fields: the request failed."""
    hosts = Hosts({"anthropic": [SimResponse.json(400, _EXTRA)] * 2}, saying("Done."))
    gateway = hosts.gateway(model("anthropic:c"))
    tool = {**CLAUDE_TOOL, "eager_input_streaming": True}
    answer = await asked(
        gateway, "anthropic", {"max_tokens": 99, "tools": [tool], "messages": [USER]}
    )
    assert answer.status == 200, answer.body
    assert b"eager_input_streaming" in hosts.sent[0][1]
    assert b"eager_input_streaming" not in hosts.sent[-1][1]
    assert hosts.bodies("anthropic")[-1]["tools"] == [CLAUDE_TOOL]
    await gateway.close()
