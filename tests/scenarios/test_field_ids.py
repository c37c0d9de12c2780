"""Ids that a provider or a gateway wrote and another refuses: A1 to A10 of the field catalogue."""

import re

import pytest

from batches import each
from canonicall.facts.registry import get_target, provider_names
from scenarios.ids_support import BACKS, answered, asked, chat, contents, ids, sent


@pytest.mark.parametrize("target", ["anthropic", "azure/anthropic", "vertex/anthropic"])
def test_a1_kimi_style_ids_are_legal_for_anthropic_on_both_sides(target):
    """Dots and colons in a raw id never reach Claude; call and result change together."""
    from_chat = ids(sent(chat(["functions.Bash:0", "functions.Bash:1"]), "openai-chat", target))
    item = {"type": "function_call", "call_id": "functions.Bash:0", "name": "B", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "functions.Bash:0", "output": "done"}
    from_responses = ids(sent({"input": [item, output]}, "openai-responses", target))
    for calls, results in (from_chat, from_responses):
        assert calls == results
        assert all(re.fullmatch("toolu_[A-Za-z0-9_-]{24}", id) for id in calls)
    assert len(set(from_chat[0])) == 2


def test_a2_dotted_ids_are_repaired_on_the_native_messages_path_too():
    """Anthropic in and Anthropic out is no pass-through: an illegal id is replaced, a legal kept."""
    use = {"type": "tool_use", "id": "mcp.files.read.1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "mcp.files.read.1", "content": "text"}
    own = {"type": "tool_use", "id": "toolu_01A", "name": "read", "input": {}}
    own_result = {"type": "tool_result", "tool_use_id": "toolu_01A", "content": "more"}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [use, own]},
        {"role": "user", "content": [result, own_result]},
    ]
    body = sent({"model": "m", "max_tokens": 9, "messages": messages}, "anthropic", "anthropic")
    calls, results = ids(body)
    assert calls == results
    assert calls[1] == "toolu_01A"
    assert "mcp.files" not in str(body["messages"])
    assert [one["content"] for one in body["messages"][2]["content"]] == ["text", "more"]


@pytest.mark.parametrize("target", [*BACKS, "azure", "gemini", "vertex"])
def test_a3_a_signature_that_a_gateway_hid_in_an_id_goes_nowhere(target):
    """An id with a base64 tail of a kilobyte fits no other provider and is not sent to any."""
    id = "call_7f__thought__" + "Cs4B+/8=" * 120
    calls, results = ids(body := sent(chat([id]), "openai-chat", target))
    assert "thought__" not in str(body)
    assert calls == results
    assert all(len(id) <= 64 for id in calls)
    assert "answer 0" in str(body)


def test_a4_gemini_history_gives_short_call_ids_and_no_item_ids_on_responses():
    """A signed Gemini turn becomes items whose call_id is short and whose signature is gone."""
    signed = {**asked("look", q="x"), "thoughtSignature": "S" * 949}
    body = contents(
        ("user", [{"text": "Go."}]), ("model", [signed]), ("user", [answered("look", "seen")])
    )
    call, output = sent(body, "gemini", "openai/openai-responses")["input"][1:]
    assert call.keys() == {"type", "call_id", "name", "arguments"}
    assert len(call["call_id"]) == len("call_") + 24
    assert output["call_id"] == call["call_id"]
    assert output["output"] == "seen"


@each("target", BACKS)
@each("length", [40, 41, 64, 65])
def test_a6_ids_at_the_edge_of_a_limit_are_kept_or_replaced_as_one(target, length):
    """An id of the target's own shape stays while it fits, and is replaced one letter later."""
    rule = get_target(target).ids
    id = rule.prefix + "x" * (length - len(rule.prefix))
    calls, results = ids(sent(chat([id]), "openai-chat", target))
    assert calls == results
    limits = {"openai": 40, "openai/openai-responses": 64, "mistral": 9, "ollama": 40}
    assert (calls == [id]) == (length <= limits.get(target, 64) and target != "mistral")
    assert len(calls[0]) <= limits.get(target, 64)


@each("target", provider_names())
def test_a7_every_back_end_has_its_own_longest_id(target):
    """46 characters of another model: each provider gets at most what its profile allows."""
    calls, _ = ids(sent(chat(["toolu_" + "b" * 40], name="run"), "openai-chat", target))
    longest = {"mistral": 9, "kimi-hosted": len("functions.run:0"), "bedrock": 64, "anthropic": 64}
    assert calls == ["toolu_" + "b" * 40] or len("".join(calls)) <= longest.get(target, 40)


@pytest.mark.parametrize("target", BACKS)
def test_a8_two_long_ids_with_the_same_beginning_stay_two(target):
    """Cutting at 64 would make them one; two calls keep two ids and their own results."""
    first, second = "tooluse_" + "a" * 60 + "1", "tooluse_" + "a" * 60 + "2"
    body = sent(chat([first, second]), "openai-chat", target)
    calls, results = ids(body)
    assert calls == results
    assert len(set(calls)) == 2
    assert all(len(id) <= 64 for id in calls)
    assert str(body).index("answer 0") < str(body).index("answer 1")


def test_a9_a_signature_is_kept_aside_for_the_next_gemini_turn():
    """The stored conversation goes to OpenAI without the signature and to Gemini with it."""
    signed = {**asked("look", q="x"), "thoughtSignature": "c2lnbmF0dXJl"}
    body = contents(
        ("user", [{"text": "Go."}]), ("model", [signed]), ("user", [answered("look", "seen")])
    )
    for target in ("openai", "anthropic", "mistral"):
        assert "c2lnbmF0dXJl" not in str(sent(body, "gemini", target))
    again = sent(body, "gemini", "gemini:gemini-3-pro")
    assert again["contents"][1]["parts"] == [signed]


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "openai"])
def test_a10_a_call_written_in_both_shapes_is_one_call(target):
    """A chat message that repeats its call as a tool_use part asks once."""
    body = chat(["toolu_01"])
    body["messages"][1]["content"] = [
        {"type": "text", "text": "Now."},
        {"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {}},
    ]
    made = sent(body, "openai-chat", target)
    calls, results = ids(made)
    assert calls == results
    assert len(calls) == 1
    assert "Now." in str(made)
