"""Laws of compaction: whatever is left out, every interaction is whole or absent."""

from hypothesis import given
from hypothesis import strategies as st

from canonicall import (
    Conversation,
    Message,
    Summary,
    ToolCall,
    cut_points,
    drop,
    dump,
    load,
    shorten,
    summarise,
)
from canonicall.testing.strategies import conversations, entry_lists


def state(conversation):
    return {
        id: (one.outcome, one.result and (one.result.content, one.result.error), one.call.args)
        for id, one in conversation.ledger.items()
    }


@given(conversations(), st.data())
def test_summarising_keeps_interactions_whole(conversation, data):
    """What is left has the same state as before; what is gone is gone with call and result."""
    size = len(conversation)
    start, stop = sorted((data.draw(st.integers(0, size)), data.draw(st.integers(0, size))))
    before = state(conversation)
    compacted = summarise(conversation, stop, "What happened.", start=start)
    after = state(compacted.conversation)
    assert after == {id: before[id] for id in after}
    for one in conversation.ledger.open:
        assert one.id in after
    gone = before.keys() - after.keys()
    if gone:
        assert "compacted" in compacted.report
    assert state(conversation) == before


@given(conversations(), st.data())
def test_compacted_conversations_obey_the_same_laws(conversation, data):
    size = len(conversation)
    stop = data.draw(st.integers(0, size))
    for compacted in (drop(conversation, stop), shorten(conversation, 80, stop=stop)):
        new = compacted.conversation
        assert Conversation.of(new.entries) == new
        assert dict(load(dump(new)).conversation.ledger) == dict(new.ledger)
        calls = [call.id for message in new.messages for call in message.calls]
        assert calls == list(new.ledger)


@given(conversations(), entry_lists())
def test_cut_points_are_stable(conversation, more):
    """A point where the log may be cut stays one, whatever is appended later."""
    before = set(cut_points(conversation))
    for entry in more:
        conversation.append(entry)
    assert before <= set(cut_points(conversation))


@given(conversations())
def test_no_interaction_spans_a_cut_point(conversation):
    for point in cut_points(conversation):
        for one in conversation.ledger.values():
            if one.entry < point:
                assert not one.is_open
                assert one.result_entry < point
            elif one.result_entry is not None:
                assert one.result_entry >= point


@given(conversations())
def test_a_settled_conversation_may_be_cut_at_its_end(conversation):
    unsettled = any(one.is_open or one.is_stand_in for one in conversation.ledger.values())
    unsettled |= conversation.settled_until < len(conversation)
    assert (len(conversation) in cut_points(conversation)) == (not unsettled)


@given(conversations())
def test_every_dropped_entry_is_counted(conversation):
    """A summary of summaries still says how many original entries it stands for."""

    def weight(entries):
        total = 0
        for entry in entries:
            covers = 0
            if isinstance(entry, Message):
                covers = sum(b.covers for b in entry.blocks if isinstance(b, Summary))
            total += covers or 1
        return total

    compacted = drop(conversation, len(conversation))
    assert weight(compacted.conversation.entries) == weight(conversation.entries)


@given(st.lists(st.text(max_size=400), max_size=4), st.integers(80, 300))
def test_shortening_is_bounded_and_idempotent(words, limit):
    conversation = Conversation()
    for text in words:
        conversation.user(text)
        conversation.assistant([ToolCall(id="c", name="f", args={"text": text, "n": [text]})])
        conversation.result("c", text)
    short = shorten(conversation, limit, arguments=True)
    for message in short.conversation.messages:
        assert len(message.text) <= limit
        for call in message.calls:
            assert len(call.args["text"]) <= limit
        for result in message.results:
            assert len(result.text) <= limit
    again = shorten(short.conversation, limit, arguments=True)
    assert again.conversation == short.conversation
    assert not again.report.counts.get("shortened")
    long = sum(len(text) > limit for text in words)
    assert short.report.counts.get("shortened", 0) == 4 * long
