"""Thoughts that have to survive, and where they end: C13 to C22 of the field catalogue."""

import pytest

from batches import each
from canonicall import Conversation, dump, load
from canonicall.codec import decode_response, encode_request, encode_response
from canonicall.facts.registry import get_target, provider_names
from canonicall.request import Request
from canonicall.verify import verify
from scenarios.field_support import USER, sent
from scenarios.reasoning_support import (
    ANSWERED,
    CALLED,
    chat_call,
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


def test_c13_a_signature_of_200_kilobytes_passes_whole():
    """In a whole response as in the next request: not a byte is missing, and nobody else has it."""
    seal = "QUJD" * 50_000
    candidate = {"content": {"role": "model", "parts": [run(thoughtSignature=seal)]}}
    reply = decode_response({"candidates": [candidate]}, "gemini", provider="gemini")
    assert encode_response(reply, "gemini")["candidates"][0]["content"]["parts"][0] == run(
        thoughtSignature=seal
    )
    body = google(run(thoughtSignature=seal))
    assert (
        sent(body, "gemini", "gemini:gemini-3-pro").body["contents"][1]["parts"][0][
            "thoughtSignature"
        ]
        == seal
    )
    assert len(sent(body, "gemini", "openai").data) < 1000


def test_c14_a_summary_in_several_parts_is_one_thought():
    """A Claude client sees one block; at home the parts are there as they came."""
    parts = [{"type": "summary_text", "text": one} for one in ("First.", "Then.")]
    items = [reasoning(summary=parts), CALLED]
    reply = decode_response({"output": items, "status": "completed"}, "openai-responses")
    assert encode_response(reply, "anthropic")["content"][0] == thinking("First.\n\nThen.", "")
    body = {"model": "gpt-5", "input": [USER, *items, ANSWERED]}
    assert sent(body, "openai-responses", "openai/openai-responses").body["input"][1] == items[0]


@pytest.mark.parametrize(
    "target", ["deepseek:deepseek-v4", "kimi:kimi-k2.6", "kimi:kimi-k2-thinking"]
)
@pytest.mark.parametrize("fields", [{}, {"reasoning_content": ""}, {"reasoning_content": None}])
def test_c15_a_host_that_demands_reasoning_beside_calls_never_misses_it(target, fields):
    """Absent, empty or null on the way in: the field is there on the way out, and the same."""
    made = sent(chat_call(**fields), "openai-chat", target).body
    assert made["messages"][1]["reasoning_content"] == " "


@pytest.mark.parametrize("target", ["deepseek:deepseek-v4", "kimi:kimi-k2.6"])
def test_c15_reasoning_of_the_host_itself_goes_back_as_it_came(target):
    """Its own words are not replaced by the stand-in; another host's are."""
    provider = target.partition(":")[0]
    body = chat_call(reasoning_content="Because.")
    home = sent(body, "openai-chat", target, provider=provider).body["messages"][1]
    assert home["reasoning_content"] == "Because."
    away = sent(body, "openai-chat", target, provider="zai").body["messages"][1]
    assert away["reasoning_content"] == " "


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "run"}])
@pytest.mark.parametrize("target", ["anthropic", "deepseek:deepseek-v4", "kimi:kimi-k3", "qwen"])
def test_c16_a_forced_call_and_thinking_exclude_each_other(target, choice):
    """The request thinks and forces: the choice is weakened to auto, and the report says so."""
    tools = [{"name": "run", "input_schema": {"type": "object", "properties": {}}}]
    fields = {"tools": tools, "thinking": {"type": "enabled", "budget_tokens": 2048}}
    body = {"model": "m", "max_tokens": 9000, "messages": [USER], "tool_choice": choice, **fields}
    encoded = sent(body, "anthropic", target)
    assert encoded.body["tool_choice"] in ("auto", {"type": "auto"})
    assert "choice_weakened" in encoded.report


@pytest.mark.parametrize(
    "target", ["openai", "openai/openai-responses", "gemini", "mistral", "cohere"]
)
def test_c17_a_redacted_thought_crosses_no_border(target):
    """Claude and Bedrock get it back whole, everybody else gets the rest of the message."""
    redacted = {"type": "redacted_thinking", "data": "RW5j"}
    body = claude([redacted, text("So."), use("toolu_1")], [told("toolu_1")])
    assert said(sent(body, "anthropic", "anthropic").body)[0] == redacted
    on_bedrock = said(sent(body, "anthropic", "bedrock").body)[0]
    assert on_bedrock == {"reasoningContent": {"redactedContent": "Ulc1ag=="}}
    made = sent(body, "anthropic", target)
    assert "RW5j" not in str(made.body)
    assert "So." in str(made.body)


def test_c18_a_signature_survives_storage():
    """Read from a response, dumped, loaded and sent: the block is what Claude wrote."""
    content = [thinking("Hm.", "sig"), use("toolu_1")]
    chat = Conversation()
    chat.user("Go.")
    chat.append(
        decode_response({"content": content, "stop_reason": "tool_use"}, "anthropic").message
    )
    chat.result(chat.ledger.open[0].id, "done")
    body = encode_request(Request(load(dump(chat)).conversation, model="m"), "anthropic").body
    assert said(body) == content
    assert not verify(body, get_target("anthropic"))


def test_c18_fields_nobody_knows_yet_reach_the_client():
    """A block of Claude with a field of next year is shown to a Claude client as it came."""
    content = [{**thinking("Hm.", "sig"), "later_field": {"a": [1]}}]
    reply = decode_response({"content": content, "stop_reason": "end_turn"}, "anthropic")
    assert encode_response(reply, "anthropic")["content"] == content


def test_c18_reasoning_details_go_back_unmodified_and_in_order():
    """OpenRouter's opaque list, unknown members included."""
    details = [
        {
            "type": "reasoning.text",
            "text": "Hm.",
            "signature": "sig",
            "format": "anthropic-claude-v1",
            "index": 0,
        },
        {"type": "reasoning.encrypted", "data": "ZW5j", "id": "rs_1", "index": 1},
        {"type": "reasoning.later", "x": 1},
    ]
    body = chat_call(reasoning="Hm.", reasoning_details=details)
    home = sent(body, "openai-chat", "openrouter", provider="openrouter").body["messages"][1]
    assert home["reasoning_details"] == details
    assert "ZW5j" not in str(sent(body, "openai-chat", "openai", provider="openrouter").body)


@pytest.mark.parametrize("words", ["The answer.", ""])
def test_c19_gemini_signs_words_as_well(words):
    """A signed text part, even an empty one, goes back with its signature, and only there."""
    signed = {"text": words, "thoughtSignature": "VGV4dA=="}
    body = google({"text": "So: "}, signed, answers=0)
    body["contents"][2]["parts"] = [{"text": "And?"}]
    assert sent(body, "gemini", "gemini:gemini-3-pro").body["contents"][1]["parts"][1] == signed
    made = sent(body, "gemini", "openai").body
    assert "VGV4dA==" not in str(made)
    assert made["messages"][1]["content"] == "\n".join(filter(None, ["So: ", words]))


@each("target", provider_names())
def test_c20_a_history_that_nobody_remembers_still_works(target):
    """Calls and results of another gateway, no signature left, thinking asked for: it is accepted."""
    body = claude([use("toolu_unknown")], [told("toolu_unknown")], thinking={"type": "adaptive"})
    made = sent(body, "anthropic", target)
    assert "done" in str(made.body)
    assert "orphan_result" not in made.report


def test_c21_one_broken_thought_does_not_take_the_later_ones_along():
    """The first has lost its signature; the second is still sent, in its own message."""
    first, second = [thinking("One.", ""), use("toolu_1")], [thinking("Two.", "s2"), use("toolu_2")]
    body = claude(first, [told("toolu_1")], second, [told("toolu_2")])
    encoded = sent(body, "anthropic", "anthropic")
    assert said(encoded.body) == [use("toolu_1")]
    assert encoded.body["messages"][3]["content"] == second
    assert encoded.report.counts["thinking_dropped"] == 1


def test_c22_a_whole_response_shows_the_signature_it_came_with():
    """Claude behind Bedrock, a Claude client in front: the signature is the real one."""
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
    message = {"role": "assistant", "content": [thought, {"text": "So."}]}
    body = {"output": {"message": message}, "stopReason": "end_turn"}
    reply = decode_response(body, "bedrock", provider="bedrock")
    assert encode_response(reply, "anthropic")["content"][0] == thinking("Hm.", "c2ln")
