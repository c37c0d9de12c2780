"""Reasoning in whatever field a host has it, and in the one a target wants."""

import pytest
from msgspec.structs import replace

from canonicall import Opaque, Text, Thinking, ToolCall, translate, verify
from canonicall.transcript.turns import Turn
from canonicall.wire.openai_chat import TARGET
from canonicall.wire.openai_chat.messages import encode_turn
from wire.openai_chat.forms import decode, decoded, encode, thought

USER = {"role": "user", "content": "Hi"}
CHUNK = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
DETAILS = [{"type": "reasoning.text", "text": "Hm", "signature": "s", "index": 0}]

REASONING = {
    "reasoning_content": (
        {"content": "Hi", "reasoning_content": "Hm"},
        (thought("Hm", "reasoning_content"), Text(text="Hi")),
    ),
    "reasoning": (
        {"content": "Hi", "reasoning": "Hm"},
        (thought("Hm", "reasoning"), Text(text="Hi")),
    ),
    "reasoning_details": (
        {"content": "Hi", "reasoning_details": DETAILS},
        (
            thought("Hm", "reasoning_details", Opaque("openai", "details", DETAILS)),
            Text(text="Hi"),
        ),
    ),
    "content": (
        {
            "content": [
                {**CHUNK, "signature": "s", "closed": True},
                {"type": "text", "text": "a"},
                CHUNK,
                {"type": "text", "text": "b"},
            ]
        },
        (
            thought("Hm", "content", Opaque("openai", "signature", "s"), closed=True),
            Text(text="a"),
            thought("Hm", "content"),
            Text(text="b"),
        ),
    ),
}


@pytest.mark.parametrize("field", REASONING)
def test_reasoning_stands_in_the_field_of_the_target(field):
    fields, blocks = REASONING[field]
    wire = {"role": "assistant", **fields}
    assert decoded(wire).blocks == blocks
    assert encode(*blocks, target=replace(TARGET, reasoning_field=field)) == wire


@pytest.mark.parametrize("field", REASONING)
def test_reasoning_from_any_field_goes_to_any_other(field):
    blocks = REASONING[field][1]
    target = replace(TARGET, reasoning_field="reasoning_content")
    assert set(encode(*blocks, target=target)["reasoning_content"].split()) == {"Hm"}


def test_details_that_are_not_there_are_left_out():
    target = replace(TARGET, reasoning_field="reasoning_details")
    assert encode(Thinking(text="Hm"), Text(text="Hi"), target=target) == {
        "role": "assistant",
        "content": "Hi",
    }


def test_an_empty_placeholder_for_reasoning_is_written():
    """Some hosts refuse a call without the field, whatever it says."""
    wire = encode(Thinking(text=""), ToolCall(id="c", name="f", args={}))
    assert wire["reasoning_content"] == ""


def test_a_text_and_its_details_are_one_thought():
    wire = {"role": "assistant", "content": "Hi", "reasoning": "Hm", "reasoning_details": DETAILS}
    opaque = Opaque("openrouter", "details", DETAILS)
    (message,), _ = decode(wire, domain="openrouter")
    assert message.blocks[0] == thought("Hm", "reasoning", opaque)


def test_equal_reasoning_in_two_fields_is_one_thought():
    wire = {"role": "assistant", "content": "Hi", "reasoning": "Hm", "reasoning_content": "Hm"}
    assert decoded(wire).blocks == (thought("Hm", "reasoning_content"), Text(text="Hi"))


def test_different_reasoning_in_two_fields_is_reported():
    wire = {"role": "assistant", "content": "Hi", "reasoning": "b", "reasoning_content": "a"}
    (message,), findings = decode(wire)
    assert [block.text for block in message.blocks] == ["a", "b", "Hi"]
    assert findings == [("reasoning_twice", "$.messages[0]")]


def test_a_thinking_chunk_may_hold_more_than_text():
    held = [{"type": "text", "text": "a"}, {"type": "reference", "reference_ids": [1]}]
    wire = {"role": "assistant", "content": [{"type": "thinking", "thinking": held}]}
    (block,) = decoded(wire).blocks
    assert block.text == "a"
    assert encode(block, target=replace(TARGET, reasoning_field="content")) == wire


PROMPT = [
    {"type": "text", "text": "Answer like this:"},
    {**CHUNK, "closed": True},
    {"type": "text", "text": "Then the answer."},
]
"""How to think, as the prompts of Magistral show it."""


@pytest.mark.parametrize("role", ["system", "user"])
def test_how_to_think_is_part_of_what_the_model_is_told(role):
    message = decoded({"role": role, "content": PROMPT})
    assert message.text == "Answer like this:\nHm\nThen the answer."
    chunks = replace(TARGET, reasoning_field="content")
    (wire,) = encode_turn(Turn(role, message.blocks), chunks)
    assert wire["content"] == PROMPT
    (wire,) = encode_turn(Turn(role, message.blocks), TARGET)
    assert wire["content"] == message.text


def test_how_to_think_is_told_in_the_words_it_has_now():
    (_, shown, _) = decoded({"role": "system", "content": PROMPT}).blocks
    (wire,) = encode_turn(
        Turn("system", (replace(shown, text="Well"),)), replace(TARGET, reasoning_field="content")
    )
    assert wire["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Well"}], "closed": True}
    ]


@pytest.mark.parametrize("target", ["openai", "anthropic", "gemini", "cohere", "ollama", "mistral"])
def test_how_to_think_reaches_every_target(target):
    body = {"model": "m", "messages": [{"role": "system", "content": PROMPT[1:2]}, USER]}
    made = translate(body, "openai-chat", target)
    assert "Hm" in str(made.body)
    assert not verify(made.body, target)
