"""Laws of the stored form: nothing changes by storing, and a crash loses at most one line."""

from hypothesis import given
from hypothesis import strategies as st

from canonicall import Conversation, dump, dump_entry, dump_header, load
from canonicall.testing.strategies import conversations, entry_lists


@given(conversations())
def test_loading_gives_back_what_was_stored(conversation):
    loaded = load(dump(conversation))
    assert loaded.conversation == conversation
    assert dict(loaded.conversation.ledger) == dict(conversation.ledger)
    assert dump(loaded.conversation) == dump(conversation)


@given(entry_lists())
def test_a_file_that_grew_line_by_line_is_the_same_file(appended):
    conversation = Conversation()
    lines = [dump_header()]
    for entry in appended:
        lines += map(dump_entry, conversation.append(entry).entries)
    assert b"".join(lines) == dump(conversation)
    assert load(iter(lines)).conversation == conversation


@given(conversations(), st.data())
def test_a_cut_at_any_byte_loses_at_most_the_last_line(conversation, data):
    whole = dump(conversation)
    cut = data.draw(st.integers(0, len(whole)))
    loaded = load(whole[:cut])
    finished = max(whole[:cut].count(b"\n") - 1, 0)
    assert finished <= len(loaded.conversation) <= finished + 1
    kept = conversation.entries[: len(loaded.conversation)]
    assert loaded.conversation.entries == kept
    assert dict(loaded.conversation.ledger) == dict(Conversation.of(kept).ledger)
    lost = whole[:cut].rpartition(b"\n")[2]
    if lost and len(loaded.conversation) == finished and (finished or b"\n" in whole[:cut]):
        assert "truncated_line" in loaded.report


@given(conversations(), entry_lists())
def test_a_loaded_conversation_goes_on_like_the_live_one(conversation, more):
    loaded = load(dump(conversation)).conversation
    for entry in more:
        assert loaded.append(entry) == conversation.append(entry)


@given(conversations(), st.binary(max_size=40), st.data())
def test_recovery_reads_every_sound_line(conversation, garbage, data):
    lines = dump(conversation).splitlines(keepends=True)
    at = data.draw(st.integers(1, len(lines)))
    bad = b"!" + garbage.replace(b"\n", b"").replace(b"\r", b"") + b"\n"
    loaded = load([*lines[:at], bad, *lines[at:]], recover=True)
    assert loaded.conversation == conversation
    assert "unreadable_line" in loaded.report
