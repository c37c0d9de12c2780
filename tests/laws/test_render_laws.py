"""Laws of rendering that hold for turns, whatever the wire format makes of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import CallClosed, Conversation, Message, Text, ToolCall, ToolResult
from canonicall.facts.target import IdRule, Target
from canonicall.testing.strategies import conversations, entry_lists
from canonicall.transcript.render import Renderer, render

TARGETS = [
    Target(format="openai-chat", domain="openai", developer=True, custom_tools=True),
    Target(
        format="anthropic",
        domain="anthropic",
        ids=IdRule(prefix="toolu_", max_length=64),
        results="user_message",
        result_error_flag=True,
        system="top",
        system_later=False,
        merge_roles=True,
        starts_with_user=True,
        ends_with_user=True,
        reasoning="signed",
    ),
    Target(
        format="gemini",
        domain="gemini-api",
        ids=IdRule(style="echoed", pattern=".+", max_length=200),
        results="own_user_message",
        system="top",
        system_later=False,
        merge_roles=True,
        starts_with_user=True,
        ends_with_user=True,
        reasoning="signed",
        signature_sentinel="skip",
    ),
    Target(
        format="openai-chat",
        domain="mistral",
        ids=IdRule(style="short", prefix="", pattern="[A-Za-z0-9]{9}", max_length=9),
        user_after_results=False,
        ends_with_user=True,
        reasoning="open",
        text_beside_calls=False,
        empty_results=False,
    ),
    Target(
        format="openai-chat",
        domain="kimi",
        ids=IdRule(style="numbered", pattern=".+", max_length=200),
        reasoning="open",
        reasoning_placeholder=" ",
        calls_per_message=1,
    ),
]
targets = st.sampled_from(TARGETS)
any_target = pytest.mark.parametrize("target", TARGETS, ids=lambda one: one.domain)


def calls_of(transcript):
    return [
        block
        for turn in transcript.turns
        for block in turn.blocks
        if isinstance(block, ToolCall) and block.kind != "server"
    ]


def results_of(transcript):
    return [
        block
        for turn in transcript.turns
        if turn.role != "assistant"
        for block in turn.blocks
        if isinstance(block, ToolResult)
    ]


@given(conversations(), targets)
def test_every_call_is_followed_by_its_result_in_call_order(conversation, target):
    """Pairing, placement and order: seen from each reply, the next results are its own."""
    waiting = []
    for turn in render(conversation, target).turns:
        results = [block for block in turn.blocks if isinstance(block, ToolResult)]
        if turn.role == "assistant":
            assert waiting == []
            waiting = [
                (call.id, call.name)
                for call in turn.blocks
                if isinstance(call, ToolCall) and call.kind != "server"
            ]
            continue
        for result in results:
            assert (result.call_id, result.name) == waiting.pop(0)
        if not results:
            assert waiting == []
    assert waiting == []


@given(conversations(), targets)
def test_ids_are_one_to_one(conversation, target):
    transcript = render(conversation, target)
    given_out = [id for id in transcript.ids.values() if id]
    assert len(set(given_out)) == len(given_out)
    assert len(calls_of(transcript)) == len(results_of(transcript)) == len(transcript.ids)


@given(conversations(), targets)
def test_rendering_is_deterministic(conversation, target):
    assert render(conversation, target) == render(conversation.fork(), target)


@given(entry_lists(), targets)
def test_incremental_rendering_equals_full_rendering(appended, target):
    """L9, after every single entry."""
    conversation = Conversation()
    renderer = Renderer(target)
    for entry in appended:
        conversation.append(entry)
        assert renderer.render(conversation) == render(conversation, target)


@given(conversations(), targets)
def test_one_more_turn_changes_nothing_before_it(conversation, target):
    """L4: what stands before a reply is the same after the reply, if nothing in it is open."""
    for index, entry in enumerate(conversation.entries):
        if not isinstance(entry, Message) or entry.role != "assistant":
            continue
        before = Conversation.of(conversation.entries[:index])
        unsettled = any(one.is_open or one.is_stand_in for one in before.ledger.values())
        if unsettled or before.settled_until < len(before):
            continue
        renderer = Renderer(target)
        renderer.render(before)
        closed = tuple(renderer._builder.turns)
        whole = Renderer(target)
        whole.render(conversation)
        assert tuple(whole._builder.turns[: len(closed)]) == closed or _only_extended(
            closed, whole._builder.turns
        )


def _only_extended(closed, turns):
    """Without a reply in between, words of the same role may join the last message at its end."""
    *head, last = closed
    return tuple(turns[: len(head)]) == tuple(head) and (
        turns[len(head)].blocks[: len(last.blocks)] == last.blocks
    )


@given(conversations(), targets)
def test_no_turn_is_empty_and_no_text_is_blank(conversation, target):
    for turn in render(conversation, target).turns:
        assert turn.blocks
        for block in turn.blocks:
            assert not isinstance(block, Text) or block.text.strip() or block.opaque


@given(conversations(), targets)
def test_every_word_is_sent_once_or_named_in_a_finding(conversation, target):
    """L6 for text: each text that is not blank is in one turn, or a finding names its place."""
    transcript = render(conversation, target)
    sent = [
        block.text for turn in transcript.turns for block in turn.blocks if isinstance(block, Text)
    ]
    for index, entry in enumerate(conversation.entries):
        if not isinstance(entry, Message):
            continue
        for position, block in enumerate(entry.blocks):
            if isinstance(block, Text) and block.text.strip():
                place = f"entries[{index}].blocks[{position}]"
                assert block.text in sent or place in {one.where for one in transcript.report}


@any_target
def test_an_empty_conversation_has_something_to_answer(target):
    turns = render(Conversation(), target).turns
    assert [turn.role for turn in turns] == ["user"]


@given(entry_lists(), targets)
def test_what_was_asked_and_decided_changes_nothing_that_is_sent(appended, target):
    """Records are data beside the conversation: with them and without, the turns are the same."""
    spoken = [entry for entry in appended if isinstance(entry, Message | CallClosed)]
    with_records, without = Conversation.of(appended), Conversation.of(spoken)
    assert render(with_records, target).turns == render(without, target).turns
    assert list(with_records.ledger) == list(without.ledger)
    assert list(with_records.messages) == list(without.messages)
