"""Compaction where others broke sessions: inside batches, in flight, around signed thinking."""

import pytest

from canonicall import (
    Conversation,
    InvalidValue,
    Media,
    Message,
    Opaque,
    Outcome,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UnknownCall,
    cut_points,
    drop,
    dump,
    load,
    render,
    shorten,
    summarise,
)


def call(id, name="read_file", **args):
    return ToolCall(id=id, name=name, args=args)


def batch_conversation():
    """system, user, assistant with three calls, their results one by one, assistant, user."""
    conversation = Conversation()
    conversation.system("Be brief.")
    conversation.user("Read three files.")
    conversation.assistant([call("c1"), call("c2"), call("c3")])
    for id in ("c1", "c2", "c3"):
        conversation.result(id, f"content {id} " * 40)
    conversation.assistant("Done.")
    conversation.user("Thanks. Another one.")
    return conversation


def test_cut_inside_a_parallel_batch_moves_to_its_edge():
    conversation = batch_conversation()
    assert cut_points(conversation) == (0, 1, 2, 6, 7, 8)
    compacted = summarise(conversation, 4, "The user asked for files.")
    assert "cut_moved" in compacted.report
    assert len(compacted.conversation.ledger) == 3
    assert [type(entry.blocks[0]) for entry in compacted.conversation.entries[:3]] == [
        Text,
        Summary,
        ToolCall,
    ]


def test_cut_while_a_batch_is_in_flight_never_takes_an_open_call():
    conversation = Conversation()
    conversation.user("Go.")
    conversation.assistant([call("c1"), call("c2")])
    conversation.result("c1", "one")
    compacted = drop(conversation, 3)
    assert [one.call.raw_id for one in compacted.conversation.ledger.open] == ["c2"]
    assert len(compacted.conversation.ledger) == 2
    compacted.conversation.result("c2", "two")
    assert not compacted.conversation.ledger.open


def test_the_summary_stands_where_the_stretch_was_and_counts_it():
    conversation = batch_conversation()
    compacted = summarise(conversation, 7, "Three files were read.")
    first, second, *rest = compacted.conversation.entries
    assert first.role == "system"
    (summary,) = second.blocks
    assert (summary.text, summary.covers) == ("Three files were read.", 6)
    assert [one.raw_id for one in summary.tombstones] == ["c1", "c2", "c3"]
    assert [entry.text for entry in rest] == ["Thanks. Another one."]
    assert len(conversation) == 8


def test_a_summary_of_a_summary_adds_up():
    once = summarise(batch_conversation(), 7, "Three files were read.").conversation
    twice = summarise(once, 3, "Earlier work.").conversation
    (summary,) = twice.entries[1].blocks
    assert (summary.text, summary.covers) == ("Earlier work.", 7)
    assert [one.raw_id for one in summary.tombstones] == ["c1", "c2", "c3"]


def test_instructions_inside_the_stretch_are_kept():
    conversation = Conversation()
    conversation.user("One.")
    conversation.append(Message("developer", (Text(text="From now on: French."),)))
    conversation.user("Two.")
    compacted = drop(conversation, 3).conversation
    assert [entry.role for entry in compacted.entries] == ["user", "developer"]


def test_a_late_result_of_a_dropped_call_does_not_bind_to_another():
    conversation = Conversation()
    conversation.assistant([call("call_0")])
    conversation.result("call_0", "first")
    conversation.result("call_0", "late copy")
    conversation.assistant([call("call_0", path="b")])
    compacted = drop(conversation, 2).conversation
    (one,) = compacted.ledger.values()
    assert one.is_open
    assert "late_result" in compacted.report


def test_shortening_keeps_both_ends_and_says_how_much_there_was():
    conversation = Conversation()
    conversation.assistant([call("c1")])
    conversation.result("c1", "head " + "x" * 5000 + " tail")
    compacted = shorten(conversation, 200)
    text = compacted.conversation.ledger[conversation.entries[0].calls[0].id].result.text
    assert len(text) == 200
    assert text.startswith("head ")
    assert text.endswith(" tail")
    assert "5,010 characters in all" in text
    assert compacted.report.counts == {"shortened": 1}
    assert compacted.conversation.entries[1].edited
    assert not compacted.conversation.entries[0].edited


def test_signed_messages_and_instructions_are_not_shortened():
    long = "x" * 500
    seal = Opaque("anthropic", "signature", "sig")
    conversation = Conversation()
    conversation.system(long)
    conversation.assistant(
        [Thinking(text=long, opaque=(seal,)), Text(text=long), call("c1", text=long)]
    )
    conversation.result("c1", "ok")
    compacted = shorten(conversation, 100, arguments=True)
    assert compacted.conversation == conversation
    assert not compacted.report


def test_arguments_of_open_calls_are_not_shortened():
    long = "x" * 500
    conversation = Conversation()
    conversation.assistant([call("c1", text=long), call("c2", text=long)])
    conversation.result("c1", "ok")
    done, open_ = shorten(conversation, 100, arguments=True).conversation.entries[0].calls
    assert len(done.args["text"]) == 100
    assert done.raw is None
    assert open_.args["text"] == long


def test_media_in_results_becomes_a_note_on_request():
    image = Media(media_type="image/png", data="aGk=")
    conversation = Conversation()
    conversation.assistant([call("c1", name="screenshot")])
    conversation.result("c1", [Text(text="here"), image])
    conversation.user([image])
    assert shorten(conversation, 100).conversation == conversation
    short = shorten(conversation, 100, media=True).conversation
    assert short.entries[1].results[0].text == "here\n[image/png left out]"
    assert short.entries[2].blocks == (image,)


def test_partial_output_of_a_closing_is_shortened():
    conversation = Conversation()
    one = conversation.assistant([call("c1")]).calls[0]
    conversation.close(one.id, Outcome.UNKNOWN, partial_output=[Text(text="y" * 500)])
    short = shorten(conversation, 100).conversation
    assert len(short.ledger[one.id].result.text) == 100
    assert short.ledger[one.id].outcome is Outcome.UNKNOWN


def test_nothing_to_compact_is_said():
    conversation = Conversation()
    conversation.system("Be brief.")
    compacted = drop(conversation, 1)
    assert compacted.conversation == conversation
    assert "nothing_to_compact" in compacted.report


@pytest.mark.parametrize(("start", "stop"), [(0, 99), (-1, 2), (9, 9)])
def test_a_stretch_outside_the_conversation_is_refused(start, stop):
    with pytest.raises(InvalidValue, match="entries 0 to 8"):
        drop(batch_conversation(), stop, start=start)
    with pytest.raises(InvalidValue, match="entries 0 to 8"):
        shorten(batch_conversation(), 100, start=start, stop=stop)


def test_a_limit_without_room_for_the_note_is_refused():
    with pytest.raises(InvalidValue, match="80 or more"):
        shorten(batch_conversation(), 10)


def test_results_of_one_message_are_shortened_each():
    conversation = Conversation()
    conversation.assistant([call("c1"), call("c2")])
    conversation.append(
        Message(
            "tool",
            (
                ToolResult(call_id="c1", content=(Text(text="a" * 300),)),
                ToolResult(call_id="c2", content=(Text(text="short"),)),
            ),
        )
    )
    results = shorten(conversation, 100).conversation.entries[1].results
    assert [len(result.text) for result in results] == [100, 5]


def reused_ids():
    """Two calls with the raw id call_0, as hosts that count their calls give it."""
    conversation = Conversation()
    for text in ("one", "two"):
        conversation.user(f"Read {text}.")
        conversation.assistant([call("call_0", path=text)])
        conversation.result("call_0", f"content of {text}")
    conversation.user("And?")
    return conversation


def wire_ids(conversation, target):
    """The id that each call has on the wire."""
    return dict(render(conversation, target).ids)


@pytest.mark.parametrize("target", ["openai", "anthropic", "mistral", "kimi", "openai-responses"])
def test_an_id_on_the_wire_keeps_its_meaning_after_a_drop(target):
    """`call_0` meant the first call. The second one keeps the id it was sent with."""
    if target == "openai-responses":
        target = "openai/openai-responses"
    conversation = reused_ids()
    before = wire_ids(conversation, target)
    after = wire_ids(drop(conversation, 3).conversation, target)
    assert len(after) == 1
    assert after.items() <= before.items()
    again = load(dump(drop(conversation, 3).conversation)).conversation
    assert wire_ids(again, target) == after


def test_a_dropped_call_leaves_a_tombstone():
    conversation = reused_ids()
    first = next(iter(conversation.ledger.values()))
    dropped = drop(conversation, 3).conversation
    (tombstone,) = dropped.entries[0].blocks[0].tombstones
    assert (tombstone.id, tombstone.raw_id) == (first.id, "call_0")
    assert (tombstone.name, tombstone.outcome) == ("read_file", Outcome.COMPLETED)
    assert tombstone.digest
    twice = drop(dropped, 4).conversation
    names = [one.raw_id for one in twice.entries[0].blocks[0].tombstones]
    assert names == ["call_0", "call_0"]


def test_the_late_result_of_a_dropped_call_is_recognised():
    conversation = Conversation()
    conversation.user("Go.")
    (made,) = conversation.assistant([call("call_7")]).calls
    conversation.close("call_7", Outcome.TIMED_OUT)
    conversation.user("And?")
    dropped = drop(conversation, 3).conversation
    for id in ("call_7", made.id, made.id.replace("hist_tool_", "toolu_")):
        (finding,) = dropped.result(id, "late").findings
        assert finding.code == "late_result"
        assert "call_7 (read_file)" in finding.why


def test_the_late_result_of_a_dropped_call_is_not_given_to_one_of_a_similar_id():
    """`call_7` is the exact id of the call that is gone, and only a spelling of `toolu_7`."""
    conversation = Conversation()
    conversation.assistant([call("call_7")])
    conversation.close("call_7", Outcome.TIMED_OUT)
    conversation.user("And?")
    dropped = drop(conversation, 2).conversation
    (made,) = dropped.assistant([call("toolu_7")]).calls
    (finding,) = dropped.result("call_7", "late").findings
    assert finding.code == "late_result"
    assert dropped.ledger[made.id].is_open


@pytest.mark.parametrize("compact", [lambda one: drop(one, 3), lambda one: shorten(one, 100)])
def test_a_strict_conversation_stays_strict(compact):
    """It knows the calls that were dropped: their late results are recognised, not refused."""
    conversation = Conversation(strict=True)
    conversation.user("Go.")
    conversation.assistant([call("call_7")])
    conversation.close("call_7", Outcome.TIMED_OUT)
    conversation.user("And?")
    compacted = compact(conversation).conversation
    with pytest.raises(UnknownCall):
        compacted.result("call_8", "?")
    assert "late_result" in [one.code for one in compacted.result("call_7", "late").findings]


def test_a_result_of_a_dropped_call_is_not_held_for_a_call_that_reuses_its_id():
    """The result is in an instruction, which stays; the call that follows has the same raw id."""
    conversation = Conversation()
    kept = Message("system", (call("hist_tool_a"), ToolResult(call_id="", error=True)))
    conversation.append(kept)
    (made,) = conversation.assistant([call("hist_tool_a")]).calls
    assert conversation.ledger[made.id].is_open
    dropped = drop(conversation, 2, start=0).conversation
    assert dropped.ledger[made.id].is_open
    assert "late_result" in dropped.report


def test_an_equal_turn_after_a_drop_gets_other_ids():
    """The same call is made again after the first one was dropped: it is another call."""
    conversation = reused_ids()
    first = next(iter(conversation.ledger))
    dropped = drop(conversation, 3).conversation
    (made,) = dropped.assistant([call("call_0", path="one")]).calls
    assert made.id != first
    assert made.number == 2
