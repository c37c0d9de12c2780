"""Laws of the conversation: any sequence of appends, however wrong, ends in a sound state."""

import re
from collections import Counter

from hypothesis import example, given
from msgspec.structs import replace

from canonicall import (
    Action,
    CallClosed,
    Conversation,
    Message,
    Outcome,
    Status,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_canonical_tool_id,
)
from canonicall.testing.strategies import conversations, entries, entry_lists


def blocks_of(conversation, kind):
    return [
        (f"entries[{index}].blocks[{position}]", block)
        for index, entry in enumerate(conversation.entries)
        if isinstance(entry, Message)
        for position, block in enumerate(entry.blocks)
        if isinstance(block, kind)
    ]


def call_of(conversation, where, result):
    """The id of the call that a result belongs to, as the ledger has it."""
    entry, position = map(int, re.findall(r"\d+", where))
    one = conversation.ledger.answered(result, (entry, position))
    return result.call_id if one is None else one.id


def unplaced(conversation):
    """The messages without what positions were taken for."""
    return [
        tuple(
            replace(block, call_id="", placed=False)
            if isinstance(block, ToolResult) and block.placed
            else block
            for block in message.blocks
        )
        for message in conversation.messages
    ]


def places(conversation, *actions):
    return {one.where for one in conversation.report if not actions or one.action in actions}


@given(conversations())
def test_every_call_has_one_interaction_with_an_id_of_its_own(conversation):
    calls = [call for _, call in blocks_of(conversation, ToolCall)]
    assert [call.id for call in calls] == list(conversation.ledger)
    assert len(set(conversation.ledger)) == len(calls)
    assert all(is_canonical_tool_id(call.id) for call in calls)
    assert all(conversation.ledger[call.id].call == call for call in calls)


@given(conversations())
def test_calls_live_in_assistant_messages_only(conversation):
    for message in conversation.messages:
        assert message.role == "assistant" or not message.calls


@given(conversations())
def test_every_call_has_at_most_one_effective_completion(conversation):
    """Of all results of a call, at most one is neither set aside nor pending."""
    set_aside = places(conversation, Action.SET_ASIDE)
    effective = Counter(
        call_of(conversation, where, result)
        for where, result in blocks_of(conversation, ToolResult)
        if where not in set_aside and result.outcome is not None and not result.synthetic
    )
    assert all(count == 1 for count in effective.values())
    for id in effective:
        assert not conversation.ledger[id].is_open


@given(conversations())
def test_no_result_is_lost_without_a_finding(conversation):
    """A result either completes its call or has a finding at its place."""
    effective = {
        (one.result_entry, id) for id, one in conversation.ledger.items() if one.result is not None
    }
    told = places(conversation)
    for where, result in blocks_of(conversation, ToolResult):
        entry = int(where.split("]")[0].removeprefix("entries["))
        counts = (entry, call_of(conversation, where, result)) in effective
        replaced = any(
            entry in one.set_aside or one.result == result for one in conversation.ledger.values()
        )
        assert counts or replaced or where in told


@example(
    [
        Message("assistant", (ToolCall(id="call_1", name="f", args={}),)),
        Message("tool", (ToolResult(call_id="call_1", content=(), is_complete=False),)),
        CallClosed("call_1", Outcome.NOT_RUN),
    ]
)
@given(entry_lists())
def test_everything_said_is_in_the_log(appended):
    """Words, thoughts and payloads of every appended entry are stored, unchanged and once.

    A closing that says of a call with output that it did not run is corrected, with a finding.
    """
    conversation = Conversation.of(appended)
    corrected = [one.where for one in conversation.report if one.code == "outcome_corrected"]
    given = [entry.outcome for entry in appended if isinstance(entry, CallClosed)]
    kept = [
        (Outcome.UNKNOWN if f"entries[{at}]" in corrected else before, entry.outcome)
        for at, entry in enumerate(conversation.entries)
        if isinstance(entry, CallClosed)
        for before in (given.pop(0),)
    ]
    assert all(expected == outcome for expected, outcome in kept)

    def spoken(entries):
        said = Counter()
        for entry in entries:
            if isinstance(entry, CallClosed):
                said["closing", entry.why] += 1
                continue
            if not isinstance(entry, Message):
                said["record", type(entry).__name__, repr(getattr(entry, "rule", ""))] += 1
                continue
            for block in entry.blocks:
                if isinstance(block, (Text, Thinking, Summary)):
                    said[type(block).__name__, block.text] += 1
                elif isinstance(block, ToolResult):
                    said["result", repr(block.content), block.error] += 1
                elif isinstance(block, ToolCall):
                    said["call", block.name, block.raw, block.kind] += 1
        return said

    assert spoken(conversation.entries) == spoken(appended)


@given(entry_lists(), entries())
def test_the_first_terminal_state_wins(before, late):
    """Once a call has really ended, no further entry changes how it ended."""
    conversation = Conversation.of(before)
    settled = {
        id: (one.outcome, one.result, one.result_entry)
        for id, one in conversation.ledger.items()
        if not one.is_open and not one.is_stand_in
    }
    conversation.append(late)
    for id, ended in settled.items():
        one = conversation.ledger[id]
        assert (one.outcome, one.result, one.result_entry) == ended


@given(conversations())
def test_status_follows_from_the_outcome(conversation):
    for one in conversation.ledger.values():
        assert (one.status is Status.PENDING) == one.is_open
        if one.result is not None and one.result.error and not one.is_stand_in and not one.why:
            assert one.status is not Status.COMPLETE
    assert [one.id for one in conversation.ledger.open] == [
        id for id, one in conversation.ledger.items() if one.is_open
    ]


@given(conversations(), entry_lists())
def test_writing_the_log_again_changes_nothing(conversation, more):
    """Replay is idempotent, and what comes after a replay is as if there had been none."""
    again = Conversation.of(conversation.entries)
    assert again == conversation
    assert dict(again.ledger) == dict(conversation.ledger)
    for entry in more:
        assert again.append(entry) == conversation.append(entry)
    assert dict(again.ledger) == dict(conversation.ledger)


@given(conversations(), entry_lists(), entry_lists())
def test_forks_are_independent(conversation, mine, yours):
    entries, ledger = list(conversation.entries), dict(conversation.ledger)
    twin = conversation.fork()
    for entry in yours:
        twin.append(entry)
    assert list(conversation.entries) == entries
    assert dict(conversation.ledger) == ledger
    straight = Conversation.of(entries)
    for entry in mine:
        assert conversation.append(entry) == straight.append(entry)


@given(entry_lists())
def test_equal_input_gives_equal_conversations(appended):
    one, other = Conversation.of(appended), Conversation.of(appended)
    assert one == other
    assert dict(one.ledger) == dict(other.ledger)
    assert one.report == other.report


@given(entry_lists())
def test_it_does_not_matter_in_how_many_parts_a_log_is_written(appended):
    """At once, entry by entry, or with a copy in between: the same log, ledger and findings.

    Only what a position was taken for when it was written may differ: the ledger knows better.
    """
    whole, single = Conversation.of(appended), Conversation()
    for at, entry in enumerate(appended):
        single.append(entry)
        if at == len(appended) // 2:
            single = single.fork()
    assert unplaced(single) == unplaced(whole)
    assert dict(single.ledger) == dict(whole.ledger)
    assert single.ledger.open == whole.ledger.open
    assert Counter(single.report) == Counter(whole.report)
