"""Thoughts and signatures on their way back: C1 to C12 of the field catalogue."""

import json

import pytest

from canonicall import Conversation
from canonicall.codec import decode_response, encode_request, encode_response, translate
from canonicall.facts.registry import get_target
from canonicall.request import Request
from canonicall.verify import verify
from scenarios.field_support import USER, sent
from scenarios.reasoning_support import (
    ANSWERED,
    CALLED,
    claude,
    google,
    reasoning,
    run,
    said,
    text,
    thinking,
    told,
    use,
)

SENTINEL = "skip_thought_signature_validator"


def test_c1_the_signature_of_a_response_is_in_the_next_request():
    """Two calls, the first one signed: stored, answered, and sent again as they came."""
    parts = [run(thoughtSignature="U0lH"), run()]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    chat = Conversation()
    chat.user("Go.")
    chat.append(decode_response({"candidates": [candidate]}, "gemini", provider="gemini").message)
    for one in chat.ledger.open:
        chat.result(one.id, "done")
    body = encode_request(Request(chat), "gemini:gemini-3-pro").body
    assert body["contents"][1]["parts"] == parts
    assert not verify(body, get_target("gemini:gemini-3-pro"))


@pytest.mark.parametrize("target", ["gemini:gemini-3-pro", "vertex:gemini-3-pro"])
def test_c2_a_history_without_signatures_gets_the_documented_stand_in(target):
    """Chat clients drop signatures: the first call of each step gets the stand-in, no other."""
    call = {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "b"}]}
    answers = [{"role": "tool", "tool_call_id": id, "content": "done"} for id in "ab"]
    body = {"model": "m", "messages": [USER, asked, *answers, asked, *answers]}
    contents = sent(body, "openai-chat", target).body["contents"]
    for step in (contents[1], contents[3]):
        assert [part.get("thoughtSignature") for part in step["parts"]] == [SENTINEL, None]


@pytest.mark.parametrize(("issuer", "other"), [("gemini", "vertex"), ("vertex", "gemini")])
def test_c3_a_signature_goes_back_to_the_endpoint_that_gave_it(issuer, other):
    """The Gemini API and Vertex do not read each other's signatures, so neither is sent them."""
    body = google(run(thoughtSignature="U0lH"))
    home = sent(body, "gemini", f"{issuer}:gemini-3-pro", provider=issuer)
    assert home.body["contents"][1]["parts"] == [run(thoughtSignature="U0lH")]
    away = sent(body, "gemini", f"{other}:gemini-3-pro", provider=issuer)
    assert away.body["contents"][1]["parts"] == [run(thoughtSignature=SENTINEL)]
    assert "opaque_dropped" in away.report


@pytest.mark.parametrize("signature", ["", None])
@pytest.mark.parametrize("target", ["anthropic", "bedrock"])
def test_c4_a_thought_without_a_signature_is_not_sent(target, signature):
    """Claude refuses it, so it is left out, and the report says so."""
    body = claude([thinking("Hm, hm.", signature), use("toolu_1")], [told("toolu_1")])
    encoded = sent(body, "anthropic", target)
    assert "Hm, hm." not in str(encoded.body)
    assert "thinking_dropped" in encoded.report


def test_c5_a_thought_of_gemini_shown_to_a_claude_client_is_not_claudes():
    """Gemini's thought is shown without a signature, and does not come back to Claude as its own."""
    parts = [{"text": "Let me see.", "thought": True}, run(thoughtSignature="U0lH")]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    reply = decode_response({"candidates": [candidate]}, "gemini", provider="gemini")
    shown, call = encode_response(reply, "anthropic")["content"]
    assert shown == thinking("Let me see.", "")
    assert "U0lH" not in str(call)
    made = sent(claude([shown, use("toolu_1")], [told("toolu_1")]), "anthropic", "anthropic").body
    assert [block["type"] for block in said(made)] == ["tool_use"]


def test_c5_a_thought_of_claude_shown_to_a_responses_client_is_not_openais():
    """The item made for the client names nothing that OpenAI has stored."""
    content = [thinking("Let me see.", "claude-signature"), use("toolu_1")]
    reply = decode_response({"content": content, "stop_reason": "tool_use"}, "anthropic")
    items = encode_response(reply, "openai-responses")["output"]
    answer = {**ANSWERED, "call_id": items[-1]["call_id"]}
    body = {"model": "gpt-5", "input": [USER, *items, answer]}
    made = sent(body, "openai-responses", "openai/openai-responses").body
    assert [one.get("type") for one in made["input"]] == [
        None,
        "function_call",
        "function_call_output",
    ]


def test_c6_encrypted_reasoning_of_gpt_inside_a_claude_block_is_recognised():
    """What begins like OpenAI's tokens was not signed by Claude, whatever block it stands in."""
    body = claude([thinking("Hm.", "gAAAAABpGxyz"), use("toolu_1")], [told("toolu_1")])
    made = sent(body, "anthropic", "anthropic").body
    assert [block["type"] for block in said(made)] == ["tool_use"]


NASTY = [
    "caf\u00e9 \u2028 \U0001f600 e\u0301",
    'quotes " and \\ and / and \\u0041',
    "tabs\tand\r\nlines\x00and\x7f",
    "  blanks at both ends \n",
    "<|im_end|> </think> &amp; {}",
]


@pytest.mark.parametrize("words", NASTY)
@pytest.mark.parametrize("target", ["anthropic", "bedrock"])
def test_c7_a_signed_thought_keeps_every_character(target, words):
    """Read from escaped bytes, written anew and read again: text and signature are the same."""
    body = claude([thinking(words, "c2ln+/=="), text("So."), use("toolu_1")], [told("toolu_1")])
    first = sent(json.dumps(body).encode(), "anthropic", target)
    held = json.loads(first.data)["messages"][1]["content"][0]
    if target == "bedrock":
        held = held["reasoningContent"]["reasoningText"]
        assert held == {"text": words, "signature": "c2ln+/=="}
    else:
        assert held == thinking(words, "c2ln+/==")
    assert translate(first.data, target, target).data == first.data


def test_c8_thinking_is_off_where_the_open_loop_began_without_it():
    """Claude wants a thought first in the turn it continues; there is none, so it must not think."""
    switched_on = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
    without = sent(
        claude([use("toolu_1")], [told("toolu_1")], **switched_on), "anthropic", "anthropic"
    )
    assert without.body["thinking"] == {"type": "disabled"}
    assert "param_changed" in without.report
    body = claude([thinking("Hm.", "sig"), use("toolu_1")], [told("toolu_1")], **switched_on)
    assert sent(body, "anthropic", "anthropic").body["thinking"] == switched_on["thinking"]


def test_c9_what_the_provider_ran_keeps_its_place_among_thoughts():
    """Thought, search, its result, thought, words, call: the order is the signed one."""
    content = [
        thinking("I search.", "s1"),
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "web_search",
            "input": {"query": "q"},
        },
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        thinking("I found it.", "s2"),
        text("Found."),
        use("toolu_1"),
    ]
    assert said(sent(claude(content, [told("toolu_1")]), "anthropic", "anthropic").body) == content


INTERLEAVED = [
    *(thinking("One.", "s1"), text("First."), use("toolu_1")),
    *(thinking("Two.", "s2"), text("Second."), use("toolu_2")),
]


def test_c10_interleaved_thoughts_are_not_regrouped():
    """Thought, words, call, twice in one message: sent back exactly so."""
    body = claude(INTERLEAVED, [told("toolu_1"), told("toolu_2")])
    assert said(translate(body, "anthropic", "anthropic").body) == INTERLEAVED


def test_c10_the_judge_accepts_an_interleaved_reply_as_claude_wrote_it():
    """It is Claude's own message, unchanged; changing it is what Claude refuses."""
    body = claude(INTERLEAVED, [told("toolu_1"), told("toolu_2")])
    sent(body, "anthropic", "anthropic")


def test_c11_a_reasoning_item_keeps_its_id_and_its_content_together():
    """At home both come back; after a way through a Claude client there is no new id for it."""
    items = [reasoning(), CALLED]
    body = {"model": "gpt-5", "input": [USER, *items, ANSWERED]}
    assert sent(body, "openai-responses", "openai/openai-responses").body["input"][1:3] == items
    reply = decode_response({"output": items, "status": "completed"}, "openai-responses")
    shown = encode_response(reply, "anthropic")["content"]
    answer = {"type": "tool_result", "tool_use_id": "call_1", "content": "done"}
    back = sent(claude(shown, [answer]), "anthropic", "openai/openai-responses:gpt-5").body
    assert [one.get("type") for one in back["input"]] == [
        None,
        "function_call",
        "function_call_output",
    ]


@pytest.mark.parametrize(
    ("issuer", "other"), [("openai", "azure"), ("azure", "openai"), ("openai", "xai")]
)
def test_c12_encrypted_reasoning_stays_with_who_encrypted_it(issuer, other):
    """Another account cannot read it: it is left out there, and still goes home."""
    body = {"model": "gpt-5", "input": [USER, reasoning(), CALLED, ANSWERED]}
    away = sent(body, "openai-responses", f"{other}/openai-responses", provider=issuer)
    assert "gAAAAABenc" not in str(away.body)
    assert "rs_1" not in str(away.body)
    assert "thinking_dropped" in away.report
    home = sent(body, "openai-responses", f"{issuer}/openai-responses", provider=issuer)
    assert home.body["input"][1] == reasoning()
