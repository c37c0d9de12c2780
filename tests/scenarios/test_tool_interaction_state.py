"""Failure modes seen in the field, each by name, as far as they concern the stored state.

Every test feeds the conversation what a provider, a client or a runtime really sent when other
systems broke, and checks what the ledger then knows.
"""

from canonicall import (
    CallClosed,
    Conversation,
    Message,
    Opaque,
    Outcome,
    Status,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump,
    load,
    wording,
)
from scenarios.state_support import answers, call, codes, outcomes


def test_interrupt_leaves_an_open_call_that_the_ledger_names():
    conversation = Conversation()
    conversation.assistant([call("call_1", path="a"), call("call_2", path="b")])
    conversation.result("call_1", "a")
    conversation.user("Stop.")
    assert [one.call.raw_id for one in conversation.ledger.open] == ["call_2"]


def test_unanswered_call_at_the_very_end_then_resume():
    """The process was killed after the call was recorded; the resumed log still knows it."""
    conversation = Conversation()
    conversation.user("Delete it.")
    conversation.assistant([call("call_1", name="delete")])
    resumed = load(dump(conversation)).conversation
    (one,) = resumed.ledger.open
    resumed.close(one.id, Outcome.UNKNOWN, why="the process ended")
    assert not resumed.ledger.open
    assert resumed.ledger[one.id].status is Status.CANCELLED
    assert "may have taken effect" in wording(resumed.ledger[one.id].outcome)


def test_results_of_an_errored_assistant_message_stay_paired():
    """A cut reply is kept, marked as partial, with its calls: their results are no orphans."""
    conversation = Conversation()
    appended = conversation.assistant(
        [Text(text="Let me"), call("call_1", path="a")], partial=True, finish="error"
    )
    conversation.result("call_1", "a")
    assert appended.entries[0].partial
    assert answers(conversation) == ["a"]
    assert not conversation.report


def test_mid_stream_retry_after_a_dead_attempt():
    """The retry repeats the dead attempt's id; its result belongs to the retry."""
    conversation = Conversation()
    dead = conversation.assistant([call("call_1", name="pay", amount=5)], partial=True).calls[0]
    conversation.close(dead.id, Outcome.SUPERSEDED, why="the stream broke")
    retry = conversation.assistant([call("call_1", name="pay", amount=5)]).calls[0]
    conversation.result("call_1", "paid")
    assert dead.id != retry.id
    assert outcomes(conversation) == [Outcome.SUPERSEDED, Outcome.COMPLETED]


def test_mid_stream_retry_without_anybody_closing_the_dead_attempt():
    conversation = Conversation()
    conversation.assistant([call("call_1", name="pay", amount=5)], partial=True)
    appended = conversation.assistant([call("call_1", name="pay", amount=5)])
    conversation.result("call_1", "paid")
    assert "raw_id_taken_over" in codes(appended)
    assert answers(conversation) == [None, "paid"]


def test_the_same_reply_written_twice_with_canonical_ids():
    """A reply that was canonical already comes again: the second occurrence is a call of its own."""
    conversation = Conversation()
    stored = conversation.assistant([call("call_1")]).entries[0]
    conversation.result("call_1", "first")
    again = conversation.append(stored).calls[0]
    conversation.result("call_1", "second")
    assert again.id != stored.calls[0].id
    assert answers(conversation) == ["first", "second"]


def test_cancel_before_and_after_start_says_the_truth():
    """Started is `unknown`, not started is `not_run`; partial output is kept."""
    conversation = Conversation()
    calls = conversation.assistant([call("call_1", name="shell"), call("call_2", name="pay")]).calls
    conversation.close(
        calls[0].id, Outcome.UNKNOWN, why="user", partial_output=[Text(text="step 1 done")]
    )
    conversation.close(calls[1].id, Outcome.NOT_RUN, why="user")
    first, second = conversation.ledger.values()
    assert (first.outcome, first.result.text) == (Outcome.UNKNOWN, "step 1 done")
    assert (second.outcome, second.result) == (Outcome.NOT_RUN, None)


def test_late_result_after_cancel_is_recorded_and_overwrites_nothing():
    conversation = Conversation()
    one = conversation.assistant([call("call_1", name="shell")]).calls[0]
    conversation.close(one.id, Outcome.UNKNOWN, why="user cancelled")
    appended = conversation.result("call_1", "it had finished")
    assert codes(appended) == ["late_result"]
    after = conversation.ledger[one.id]
    assert after.outcome is Outcome.UNKNOWN
    assert after.markers == ("late_result",)
    assert conversation.entries[after.set_aside[0]].results[0].text == "it had finished"


def test_cancelling_what_has_finished_changes_nothing():
    conversation = Conversation()
    one = conversation.assistant([call("call_1", name="pay")]).calls[0]
    conversation.result("call_1", "paid")
    appended = conversation.close(one.id, Outcome.NOT_RUN)
    assert codes(appended) == ["already_ended"]
    assert conversation.ledger[one.id].outcome is Outcome.COMPLETED


def test_a_failure_is_never_turned_into_a_success():
    """Whatever other field says otherwise, an error marker decides, and survives storing."""
    conversation = Conversation()
    conversation.assistant([call(f"call_{n}") for n in range(4)])
    text = (Text(text="boom"),)
    for n, result in enumerate(
        [
            ToolResult(content=text, error=True),
            ToolResult(content=text, error=True, is_complete=True),
            ToolResult(content=text, error=True, outcome=Outcome.COMPLETED),
            ToolResult(content=None, error=True, is_complete=False),
        ]
    ):
        named = ToolResult(
            call_id=f"call_{n}",
            content=result.content,
            error=result.error,
            is_complete=result.is_complete,
            outcome=result.outcome,
        )
        conversation.append(Message("tool", (named,)))
    loaded = load(dump(conversation)).conversation
    assert outcomes(loaded) == [Outcome.FAILED] * 4
    assert all(one.status is Status.ERROR for one in loaded.ledger.values())


def test_result_before_its_call():
    """The stored order is wrong: the result still counts, once, and the call is no duplicate."""
    conversation = Conversation()
    early = conversation.result("call_1", "content")
    later = conversation.assistant([call("call_1")])
    assert codes(early) == ["orphan_result"]
    assert codes(later) == ["result_before_call"]
    assert answers(conversation) == ["content"]
    assert len(conversation.ledger) == 1


def test_result_before_its_call_gives_way_to_the_one_behind_it():
    """An orphan of a trimmed history must not answer a new call that reuses its id for good."""
    conversation = Conversation()
    conversation.result("call_0", "of a trimmed call")
    conversation.assistant([call("call_0")])
    appended = conversation.result("call_0", "the real one")
    assert codes(appended) == ["stand_in_replaced"]
    assert answers(conversation) == ["the real one"]


def test_an_orphan_does_not_wait_for_ever():
    """With other words in between, a result without a call is not guessed onto a later call."""
    conversation = Conversation()
    conversation.result("call_0", "of a trimmed call")
    conversation.user("Next question.")
    conversation.assistant([call("call_0")])
    assert answers(conversation) == [None]


def test_duplicate_result_is_idempotent():
    conversation = Conversation()
    conversation.assistant([call("call_1")])
    conversation.result("call_1", "same")
    appended = conversation.result("call_1", "same")
    assert codes(appended) == ["duplicate_result"]
    assert answers(conversation) == ["same"]


def test_conflicting_result_is_set_aside():
    conversation = Conversation()
    conversation.assistant([call("call_1")])
    conversation.result("call_1", "first")
    appended = conversation.result("call_1", "second")
    assert codes(appended) == ["conflicting_result"]
    assert answers(conversation) == ["first"]


def test_a_real_result_beats_a_synthetic_one():
    conversation = Conversation()
    conversation.assistant([call("call_1")])
    stand_in = ToolResult(call_id="call_1", content=(Text(text="[interrupted]"),), synthetic=True)
    conversation.append(Message("tool", (stand_in,)))
    assert conversation.ledger.open == ()
    conversation.result("call_1", "real")
    appended = conversation.append(Message("tool", (stand_in,)))
    assert codes(appended) == ["conflicting_result"]
    assert answers(conversation) == ["real"]
    (one,) = conversation.ledger.values()
    assert not one.is_stand_in


def test_progress_keeps_a_call_open_until_its_result():
    conversation = Conversation()
    conversation.assistant([call("call_1", name="build")])
    progress = ToolResult(call_id="call_1", content=(Text(text="10 %"),), is_complete=False)
    appended = conversation.append(Message("tool", (progress,)))
    assert codes(appended) == ["result_pending"]
    assert len(conversation.ledger.open) == 1
    conversation.result("call_1", "built")
    (one,) = conversation.ledger.values()
    assert (one.result.text, one.outcome, one.markers) == ("built", Outcome.COMPLETED, ())


def test_progress_is_kept_as_partial_output_when_the_call_is_cancelled():
    conversation = Conversation()
    one = conversation.assistant([call("call_1", name="build")]).calls[0]
    progress = ToolResult(call_id="call_1", content=(Text(text="half"),), is_complete=False)
    conversation.append(Message("tool", (progress,)))
    conversation.close(one.id, Outcome.UNKNOWN)
    assert conversation.ledger[one.id].result.text == "half"


def test_a_refused_subset_of_a_batch_is_answered_too():
    conversation = Conversation()
    calls = conversation.assistant([call("call_1"), call("call_2"), call("call_3")]).calls
    conversation.result("call_1", "ok")
    conversation.close(calls[1].id, Outcome.DENIED, why="not allowed")
    assert [one.id for one in conversation.ledger.open] == [calls[2].id]
    conversation.close_open(Outcome.NOT_RUN)
    assert outcomes(conversation) == [Outcome.COMPLETED, Outcome.DENIED, Outcome.NOT_RUN]


def test_calls_in_a_tool_message_are_taken_out():
    conversation = Conversation()
    appended = conversation.append(
        Message(
            "tool",
            (
                call("call_1"),
                ToolResult(call_id="call_1", content=(Text(text="done"),)),
                Text(text="3 images omitted"),
            ),
        )
    )
    assert codes(appended) == ["call_in_wrong_role"]
    assert [entry.role for entry in conversation.entries] == ["assistant", "tool"]
    assert conversation.entries[1].text == "3 images omitted"
    assert answers(conversation) == ["done"]


def test_arguments_cut_by_the_token_limit_are_kept_but_not_readable():
    """Half an argument is not `{}`: the text stays, the parsed form says there is none."""
    conversation = Conversation()
    appended = conversation.assistant(
        [ToolCall(id="call_1", name="write_file", raw='{"path": "a.py", "content": "def')],
        finish="length",
    )
    assert codes(appended) == ["arguments_unreadable"]
    assert appended.calls[0].args is None
    assert appended.calls[0].raw.endswith('"def')


def test_signed_thinking_is_stored_byte_for_byte_with_its_domain():
    seal = Opaque("anthropic", "signature", "EqQBCkYIBBgC/+==")
    conversation = Conversation()
    conversation.assistant([Thinking(text="", opaque=(seal,)), call("toolu_1")])
    loaded = load(dump(conversation)).conversation
    assert loaded.entries[0].blocks[0].opaque == (seal,)
    assert "EqQB" not in loaded.entries[0].calls[0].id


def test_only_what_happened_is_stored():
    """An open call stays open in storage: no stand-in result leaks into the log."""
    conversation = Conversation()
    conversation.assistant([call("call_1")])
    conversation.user("Go on.")
    text = dump(conversation).decode()
    assert "tool_result" not in text
    assert len(load(text.encode()).conversation.ledger.open) == 1


def test_a_closing_is_stored_as_an_event_and_survives_resume():
    conversation = Conversation()
    one = conversation.assistant([call("call_1")]).calls[0]
    conversation.close(one.id, Outcome.DENIED, why="not allowed")
    resumed = load(dump(conversation)).conversation
    assert isinstance(resumed.entries[-1], CallClosed)
    assert resumed.ledger[one.id].outcome is Outcome.DENIED
    assert resumed.ledger[one.id].why == "not allowed"
