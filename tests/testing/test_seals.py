"""Seals: what was issued here comes back as it was, or it is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.testing.exchange import SimRequest
from canonicall.testing.seals import Seal, digest, read_seal
from canonicall.testing.simulator import Simulator
from testing.asking import ASKED, KEY, MESSAGES, RESPONSES, ask, whole

BOUND = "claude-opus-5-5"


@given(st.text(), st.text(), st.text(), st.text())
def test_a_seal_is_read_as_it_was_written(domain, model, content, prefix):
    seal = Seal(domain, model, content, prefix)
    plain = seal.text
    other_alphabet = plain.translate(str.maketrans("+/", "-_")).rstrip("=")
    assert read_seal(plain) == read_seal(other_alphabet) == seal


@given(st.none() | st.integers() | st.text() | st.binary() | st.lists(st.text()))
def test_anything_else_is_no_seal(value):
    assert read_seal(value) is None


def test_equal_values_have_equal_digests():
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})


def claude(simulator, messages, **changes):
    body = {**ASKED["anthropic"][3], "messages": messages, **changes}
    return ask(simulator, MESSAGES, body)


def claude_loop(simulator, **changes):
    """The messages of a tool loop with a sealed thought, ready to be sent."""
    messages = [{"role": "user", "content": ASKED["anthropic"][3]["messages"][0]["content"]}]
    _, reply = claude(simulator, messages, **changes)
    used = [block["id"] for block in reply["content"] if block["type"] == "tool_use"]
    answers = [{"type": "tool_result", "tool_use_id": id, "content": "sunny"} for id in used]
    return [
        *messages,
        {"role": "assistant", "content": reply["content"]},
        {"role": "user", "content": answers},
    ]


def test_a_thought_that_came_back_as_it_was_is_accepted():
    simulator = Simulator("anthropic", call_tools="*")
    assert claude(simulator, claude_loop(simulator))[0] == 200


def test_a_thought_with_other_words_is_refused():
    simulator = Simulator("anthropic", call_tools="*")
    messages = claude_loop(simulator)
    messages[1]["content"][0]["thinking"] += " Really."
    status, body = claude(simulator, messages)
    assert status == 400
    assert body["error"]["message"] == (
        "messages.1.content.0: Invalid `signature` in `thinking` block"
    )


@pytest.mark.parametrize("other", ["deepseek", "minimax"])
def test_a_thought_of_another_domain_is_refused(other):
    messages = claude_loop(Simulator(other, call_tools="*"), model="any")
    status, body = claude(Simulator("anthropic", call_tools="*"), messages)
    assert status == 400
    assert "Invalid `signature`" in body["error"]["message"]


def test_bedrock_and_anthropic_read_each_others_thoughts():
    """One signing domain, as the documentation has it."""
    messages = claude_loop(Simulator("anthropic", call_tools="*"))
    thought = messages[1]["content"][0]
    text = {"text": thought["thinking"], "signature": thought["signature"]}
    _, path, _, body = ASKED["bedrock"]
    used = [block for block in messages[1]["content"] if block["type"] == "tool_use"]
    uses = [
        {"toolUse": {"toolUseId": one["id"], "name": one["name"], "input": one["input"]}}
        for one in used
    ]
    results = [
        {"toolResult": {"toolUseId": one["id"], "content": [{"text": "sunny"}]}} for one in used
    ]
    asked = {
        **body,
        "messages": [
            *body["messages"],
            {
                "role": "assistant",
                "content": [{"reasoningContent": {"reasoningText": text}}, *uses],
            },
            {"role": "user", "content": results},
        ],
    }
    assert ask(Simulator("bedrock", call_tools="*"), path, asked)[0] == 200
    text["signature"] = Seal("deepseek", "any", digest(text["text"])).text
    assert ask(Simulator("bedrock", call_tools="*"), path, asked)[0] == 400


def test_a_thought_of_another_claude_is_read_past():
    simulator = Simulator("anthropic", call_tools="*")
    messages = claude_loop(simulator)
    assert claude(simulator, messages, model="claude-opus-4-6")[0] == 200


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 200),
        ({"temperature": None}, 200),
        ({"system": "Be brief."}, 400),
        ({"tools": ASKED["anthropic"][3]["tools"][:1]}, 400),
    ],
    ids=["nothing", "a parameter", "the system prompt", "the tools"],
)
def test_bound_thoughts_vouch_for_all_that_stood_before_them(change, status):
    simulator = Simulator("anthropic", call_tools="*")
    asked = {"model": BOUND, "thinking": {"type": "adaptive"}}
    messages = claude_loop(simulator, **asked)
    body = {**ASKED["anthropic"][3], **asked, "messages": messages, **change}
    body = {name: value for name, value in body.items() if value is not None}
    found, answer = ask(simulator, MESSAGES, body)
    assert found == status
    if status == 400:
        assert "bound to a different conversation" in answer["error"]["message"]


def test_a_cache_mark_is_no_edit():
    simulator = Simulator("anthropic", call_tools="*")
    asked = {"model": BOUND, "thinking": {"type": "adaptive"}}
    messages = claude_loop(simulator, **asked)
    words = messages[0]["content"]
    mark = {"cache_control": {"type": "ephemeral"}}
    messages[0] = {"role": "user", "content": [{"type": "text", "text": words, **mark}]}
    assert claude(simulator, messages, **asked)[0] == 200


def test_signatures_of_real_providers_pass_where_any_will_do():
    messages = claude_loop(Simulator("anthropic", call_tools="*"))
    messages[1]["content"][0]["signature"] = "EqQBCgIYAhIM"
    assert claude(Simulator("anthropic", call_tools="*"), messages)[0] == 400
    assert claude(Simulator("anthropic", signatures="any", call_tools="*"), messages)[0] == 200


def gemini(simulator, model, parts):
    _, _, _, body = ASKED["gemini"]
    names = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
    results = [{"functionResponse": {"name": one, "response": {"output": 1}}} for one in names]
    contents = [
        *body["contents"],
        {"role": "model", "parts": parts},
        {"role": "user", "parts": results},
    ]
    path = f"/v1beta/models/{model}:generateContent"
    return ask(simulator, path, {**body, "contents": contents})


def test_gemini_knows_its_own_signatures():
    simulator = Simulator("gemini", call_tools="*")
    _, reply = whole(simulator, "gemini")
    parts = reply["candidates"][0]["content"]["parts"]
    model = "gemini-3-pro-preview"
    assert gemini(simulator, model, parts)[0] == 200
    assert gemini(simulator, "gemini-3-flash-preview", parts)[0] == 400
    assert gemini(Simulator("vertex", call_tools="*"), model, parts)[0] == 400
    foreign = [{**parts[0], "thoughtSignature": "Q29udGV4dA=="}, *parts[1:]]
    status, body = gemini(simulator, model, foreign)
    assert (status, body["error"]["message"]) == (400, "Invalid thought signature.")
    skipped = [{**parts[0], "thoughtSignature": "skip_thought_signature_validator"}, *parts[1:]]
    assert gemini(simulator, model, skipped)[0] == 200


def responses(simulator, items, **changes):
    body = {**ASKED["openai-responses"][3], "store": False, **changes, "input": items}
    return ask(simulator, RESPONSES, body)


def responses_loop(simulator, **changes):
    said = [{"role": "user", "content": ASKED["openai-responses"][3]["input"]}]
    _, reply = responses(simulator, said, **changes)
    outputs = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "sunny"}
        for item in reply["output"]
        if item["type"] == "function_call"
    ]
    return [*said, *reply["output"], *outputs]


@pytest.mark.parametrize(
    ("issuer", "model", "words"),
    [
        ("openai", "gpt-5.2", ""),
        ("openai", "gpt-5.2-pro", ""),
        ("openai", "gpt-5.4", "could not be decrypted or parsed"),
        ("azure", "gpt-5.2", "could not be decrypted or parsed"),
    ],
)
def test_reasoning_is_read_by_its_own_service_and_family(issuer, model, words):
    items = responses_loop(Simulator(issuer, call_tools="*"), model=model)
    status, body = responses(Simulator("openai", call_tools="*"), items)
    assert status == (400 if words else 200)
    assert words in str(body)


def test_reasoning_belongs_to_its_item():
    simulator = Simulator("openai", call_tools="*")
    items = responses_loop(simulator)
    items[1]["id"] = "rs_another"
    status, body = responses(simulator, items)
    assert status == 400
    assert "item_id did not match the target item id" in body["error"]["message"]


def test_a_stream_is_sealed_as_a_whole_reply_is():
    """The seal of a streamed thought is accepted behind a reply that was not streamed."""
    body = {**ASKED["anthropic"][3], "stream": True}
    data = (
        Simulator("anthropic", call_tools="*")
        .answer(SimRequest.of("POST", MESSAGES, body, KEY))
        .data
    )
    _, reply = whole(Simulator("anthropic", call_tools="*"), "anthropic")
    assert reply["content"][0]["signature"].encode() in data
