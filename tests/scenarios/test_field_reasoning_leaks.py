"""Thoughts that must not leak into what is said or sent: C23 to C26 of the field catalogue."""

import pytest

from batches import each
from canonicall.codec import decode_response, encode_response
from canonicall.facts.registry import provider_names
from scenarios.field_support import sent
from scenarios.reasoning_support import chat_call, claude, text, thinking, told, use


@pytest.mark.parametrize("target", ["fireworks", "openai", "groq", "anthropic"])
def test_c23_thinking_blocks_of_another_gateway_are_taken_off_the_messages(target):
    """A field that one gateway invented is refused by strict hosts."""
    blocks = [thinking("Hm.", "sig")]
    assert "thinking_blocks" not in str(
        sent(chat_call(thinking_blocks=blocks), "openai-chat", target).body
    )


@each("target", sorted(set(provider_names()) - {"anthropic", "bedrock"}))
def test_c24_a_thought_never_becomes_speech(target):
    """Claude's signed thought is nowhere in the body of another provider, its words are."""
    body = claude(
        [thinking("SECRET MUSING", "sig"), text("Spoken."), use("toolu_1")], [told("toolu_1")]
    )
    made = str(sent(body, "anthropic", target).body)
    assert "SECRET MUSING" not in made
    assert made.count("Spoken.") == 1


FRONTS = ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "cohere", "ollama"]


def words_in(body):
    """The visible words of a response of any format."""
    match body:
        case {"choices": [{"message": {"content": str(words)}}]}:
            return words
        case {"message": {"content": str(words)}}:
            return words
        case {"candidates": [{"content": {"parts": parts}}]}:
            return "".join(part["text"] for part in parts if not part.get("thought"))
        case {"output": {"message": {"content": content}}}:
            return "".join(part.get("text", "") for part in content)
        case {"message": {"content": content}} | {"content": content}:
            return "".join(part.get("text", "") for part in content if part["type"] == "text")
    messages = [item for item in body["output"] if item["type"] == "message"]
    return "".join(part["text"] for item in messages for part in item["content"])


@pytest.mark.parametrize("front", FRONTS)
def test_c25_reasoning_does_not_leak_into_the_answer(front):
    """A chat host's reasoning is shown as such, or not at all; the answer is the answer."""
    message = {"role": "assistant", "reasoning_content": "Musing.", "content": "Four."}
    reply = decode_response(
        {"choices": [{"message": message, "finish_reason": "stop"}]}, "openai-chat"
    )
    assert words_in(encode_response(reply, front)) == "Four."


@pytest.mark.parametrize(
    "fields", [("reasoning", "reasoning_content"), ("reasoning", "reasoning_details")]
)
def test_c26_reasoning_told_in_two_fields_is_one_thought(fields):
    """A host that says it twice means it once: one block for Bedrock, one field for chat."""
    held = {"reasoning": "Hm.", "reasoning_content": "Hm."}
    held["reasoning_details"] = [{"type": "reasoning.text", "text": "Hm."}]
    message = {"role": "assistant", "content": "So.", **{name: held[name] for name in fields}}
    reply = decode_response(
        {"choices": [{"message": message, "finish_reason": "stop"}]}, "openai-chat"
    )
    content = encode_response(reply, "bedrock")["output"]["message"]["content"]
    assert content == [{"reasoningContent": {"reasoningText": {"text": "Hm."}}}, {"text": "So."}]
    body = chat_call(**{name: held[name] for name in fields})
    made = sent(body, "openai-chat", "vllm", provider="vllm").body["messages"][1]
    assert {name for name in made if name.startswith("reasoning")} == {"reasoning"}
    assert made["reasoning"] == "Hm."
