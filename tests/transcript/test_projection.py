"""Ids and names on the wire: lexical rules, one to one, stable."""

import re

import pytest

from canonicall import Conversation, Origin, ToolCall, render
from canonicall.facts.target import IdRule, NameRule, Target
from canonicall.transcript.projection import Projection

ANTHROPIC = Target(format="anthropic", ids=IdRule(prefix="toolu_", max_length=64))
OPENAI = Target(format="openai-chat")
KIMI = Target(format="openai-chat", ids=IdRule(style="numbered", pattern=".+", max_length=200))
MISTRAL = Target(
    format="openai-chat",
    ids=IdRule(style="short", prefix="", pattern="[A-Za-z0-9]{9}", max_length=9),
)
GEMINI = Target(format="gemini", ids=IdRule(style="echoed", pattern=".+", max_length=200))


def calls(*raw_ids, name="read_file"):
    conversation = Conversation()
    for raw in raw_ids:
        conversation.assistant([ToolCall(id=raw, name=name)], origin=Origin("kimi"))
        conversation.user("next")
    return [one.call for one in conversation.ledger.values()]


def wire_ids(target, found):
    projection = Projection(target)
    return [projection.id(call, [], "") for call in found]


def test_canonical_ids_swap_their_prefix():
    """Seed: hist_tool_x is call_x for OpenAI and toolu_x for Anthropic."""
    found = calls("hist_tool_1", "hist_tool_2")
    assert wire_ids(OPENAI, found) == ["call_1", "call_2"]
    assert wire_ids(ANTHROPIC, found) == ["toolu_1", "toolu_2"]


def test_foreign_ids_are_made_from_the_canonical_one():
    (call,) = calls("functions.read_file:0")
    suffix = call.id.removeprefix("hist_tool_")
    assert wire_ids(ANTHROPIC, [call]) == [f"toolu_{suffix}"]
    assert wire_ids(OPENAI, [call]) == [f"call_{suffix}"]


def test_ids_of_the_targets_own_shape_are_kept():
    assert wire_ids(OPENAI, calls("call_abc")) == ["call_abc"]
    assert wire_ids(ANTHROPIC, calls("toolu_01A")) == ["toolu_01A"]
    assert wire_ids(MISTRAL, calls("aB3dE6gH9")) == ["aB3dE6gH9"]
    assert wire_ids(KIMI, calls("functions.read_file:7")) == ["functions.read_file:7"]


@pytest.mark.parametrize(
    ("provider", "raw", "is_kept"),
    [
        ("vllm", "chatcmpl-tool-1", True),
        ("vllm", "not a valid id", False),
        ("vllm", "x" * 41, False),
        ("kimi", "chatcmpl-tool-1", False),
        ("", "chatcmpl-tool-1", False),
    ],
)
def test_an_id_goes_back_to_the_provider_that_gave_it(provider, raw, is_kept):
    """Whatever its prefix, as long as the provider would take it."""
    chat = Conversation()
    chat.assistant([ToolCall(id=raw, name="read_file")], origin=Origin(provider))
    sent = render(chat, "vllm").turns[0].blocks[0].id
    assert (sent == raw) == is_kept


def test_a_reused_id_is_kept_once():
    found = calls("call_0", "call_0", "call_0")
    first, *others = wire_ids(OPENAI, found)
    assert first == "call_0"
    assert len({first, *others}) == 3


def test_too_long_ids_are_replaced():
    for length in (40, 41, 64, 65):
        (id,) = wire_ids(OPENAI, calls("call_" + "x" * (length - 5)))
        assert len(id) <= 40
        assert (id == "call_" + "x" * (length - 5)) == (length <= 40)


def test_kimi_numbers_run_over_the_whole_conversation():
    assert wire_ids(KIMI, calls("call_a", "call_b", "call_c")) == [
        "functions.read_file:0",
        "functions.read_file:1",
        "functions.read_file:2",
    ]


def test_kimi_number_steps_aside_for_a_number_in_use():
    ids = wire_ids(KIMI, calls("functions.read_file:1", "call_b"))
    assert ids == ["functions.read_file:1", "functions.read_file:2"]


def test_mistral_ids_are_nine_letters_or_digits_and_differ():
    ids = wire_ids(MISTRAL, calls(*(f"toolu_vrtx_01{n}" for n in range(300))))
    assert all(re.fullmatch("[A-Za-z0-9]{9}", id) for id in ids)
    assert len(set(ids)) == 300


def test_mistral_collision_with_a_native_id_is_resolved():
    """A native id that equals a hashed one given out before makes way."""
    (call,) = calls("call_a")
    (hashed,) = wire_ids(MISTRAL, [call])
    found = calls("call_a", hashed)
    ids = wire_ids(MISTRAL, found)
    assert ids[0] == hashed
    assert ids[1] != hashed
    assert re.fullmatch("[A-Za-z0-9]{9}", ids[1])


def test_gemini_gets_ids_only_back():
    assert wire_ids(GEMINI, calls("", "abcd1234")) == ["", "abcd1234"]


@pytest.mark.parametrize("own", ["a.b.c", "mcp:tool", "x" * 80, "日本", "", "9lives", "a b"])
def test_names_are_mapped_and_can_be_restored(own):
    projection = Projection(OPENAI)
    wire = projection.name(own)
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_-]{0,63}", wire) or wire == own
    assert projection.name(own) == wire
    if wire != own:
        assert projection.renamed == {wire: own}


def test_names_that_sanitising_would_merge_stay_apart():
    projection = Projection(OPENAI)
    names = ["a.b", "a:b", "a b", "a_b", "x" * 70 + "1", "x" * 70 + "2"]
    wires = [projection.name(name) for name in names]
    assert len(set(wires)) == len(names)
    assert wires[3] == "a_b"


def test_short_names_are_lengthened():
    target = Target(format="openai-chat", names=NameRule("[A-Za-z_][A-Za-z0-9_-]+", 64, 3))
    wire = Projection(target).name("ls")
    assert 3 <= len(wire) <= 64
    assert wire.startswith("ls_")


def test_rewinding_takes_back_exactly_what_came_after():
    found = calls("call_a", "call_b")
    projection = Projection(MISTRAL)
    first = projection.id(found[0], [], "")
    mark = projection.mark()
    second = projection.id(found[1], [], "")
    projection.rewind(mark)
    assert projection.ids == {found[0].id: first}
    assert projection.id(found[1], [], "") == second
