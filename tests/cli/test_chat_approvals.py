"""`canonicall chat` where calls need approval: what a person says, and what stays of it."""

import time

import pytest

from canonicall.agent.pending import waiting_calls
from cli.talks import calls, outcomes, refused_by
from cli.terminal import CTRL_C, ENTER


@pytest.mark.parametrize(
    ("answers", "ends", "told"),
    [
        (["y"], "completed", "paid 3"),
        (["n"], "denied", "the user said no"),
        (["n too much"], "denied", "too much"),
        (["what?", "yes"], "completed", "paid 3"),
    ],
)
def test_a_person_decides(chat, history, answers, ends, told):
    one = chat(calls("pay", amount=3), "So be it.")
    one.answer("Pay.")
    for answer in answers:
        one.answer(answer)
    assert told in one.answer("/quit")
    assert one.end()[0] == 0
    assert outcomes(history()) == [("pay", ends)]


def test_always_is_for_the_rest_of_the_talk(chat, history):
    one = chat(calls("pay", amount=1), calls("pay", amount=2), "Paid.", calls("pay", amount=3), "x")
    one.answer("Pay.")
    one.answer("a")
    one.answer("Pay again.")
    assert "needs your approval" not in one.answer("/quit")
    assert one.end()[0] == 0
    assert outcomes(history()) == [("pay", "completed")] * 3


@pytest.mark.deep
def test_always_is_still_in_force_when_the_session_is_continued(chat, history, tmp_path):
    """What was allowed is in the session, not in the program; --deny has the last word."""
    one = chat(calls("pay", amount=1), "Paid.")
    one.answer("Pay.")
    one.answer("a")
    one.answer("/quit")
    assert one.end()[0] == 0
    one = chat(calls("pay", amount=2), "Paid again.")
    one.answer("Pay.")
    shown = one.answer("/quit")
    assert "[pay] allowed by the rule pay" in shown
    assert "needs your approval" not in shown
    assert one.end()[0] == 0
    one = chat(calls("pay", amount=3), "Not paid.", options=["--deny"])
    one.answer("Pay.")
    one.answer("/quit")
    assert one.end()[0] == 0
    assert outcomes(history()) == [("pay", "completed")] * 2 + [("pay", "denied")]


@pytest.fixture
def left_waiting(chat, history):
    """A session whose program was killed while a call waited for approval."""
    one = chat(calls("pay", amount=3), "Never said.")
    one.answer("Pay.")
    assert "needs your approval" in one.prompt()
    while not waiting_calls(history()):
        # What was written is on its way to the disk.
        time.sleep(0.01)
    one.kill()


@pytest.mark.deep
@pytest.mark.parametrize(
    ("answer", "ends", "told"), [("y", "completed", "paid 3"), ("n why?", "denied", "why?")]
)
def test_a_call_that_waited_when_the_program_ended_is_asked_about_again(
    chat, history, left_waiting, answer, ends, told
):
    one = chat("So be it.")
    shown = one.answer(answer)
    assert "Waiting for approval since the session was left: 1." in shown
    assert 'pay {"amount":3} needs your approval' in shown
    shown = one.answer("/quit")
    assert f"[pay] done: {told}" in shown or f"[pay] denied: {told}" in shown
    assert "So be it." in shown
    assert one.end()[0] == 0
    assert outcomes(history()) == [("pay", ends)]
    assert refused_by(history()) == []


@pytest.mark.deep
def test_ctrl_c_at_a_call_that_waited_leaves_it_not_run(chat, history, left_waiting):
    one = chat("Never said.")
    one.prompt()
    one.type(CTRL_C)
    assert "ended: cancelled" in one.prompt()
    one.type(CTRL_C)
    assert one.end()[0] == 130
    assert outcomes(history()) == [("pay", "not_run")]
    assert refused_by(history()) == []


@pytest.mark.deep
def test_a_session_that_is_gone_back_to_asks_about_what_waits_in_it(chat, history, left_waiting):
    one = chat("Done.", options=["--session", "other"])
    one.answer("/resume s")
    assert "needs your approval" in one.answer("y")
    assert "Done." in one.answer("/quit")
    assert one.end()[0] == 0
    assert outcomes(history()) == [("pay", "completed")]


@pytest.mark.deep
def test_where_calls_are_denied_those_that_waited_were_not_run(chat, history, left_waiting):
    one = chat("Hello.", options=["--deny"])
    assert "needs your approval" not in one.answer("Hello?")
    one.answer("/quit")
    assert one.end()[0] == 0
    assert outcomes(history()) == [("pay", "not_run")]
    assert refused_by(history()) == []


def test_a_rule_is_proposed_for_calls_like_this_one(chat, history):
    one = chat(calls("pay", amount=1), calls("pay", amount=1), calls("pay", amount=2), "Paid.")
    one.answer("Pay.")
    one.answer("r")
    one.prompt()
    one.wait_for('in one command): pay {"amount":1}')
    one.type(ENTER)
    shown = one.answer("n")
    assert "[pay] allowed by the rule" in shown
    assert shown.count("needs your approval") == 1
    one.answer("/quit")
    assert one.end()[0] == 0
    ends = ["completed", "completed", "denied"]
    assert outcomes(history()) == [("pay", end) for end in ends]


def test_the_arguments_can_be_edited(chat, history):
    one = chat(calls("pay", amount=300), "Paid.")
    one.answer("Pay.")
    one.answer("e")
    one.prompt()
    one.type("\x15no json" + ENTER)
    assert "That is no JSON object" in one.prompt()
    one.type("\x15" + '{"amount": 3}' + ENTER)
    assert "paid 3\n" in one.answer("/quit")
    assert one.end()[0] == 0
    assert outcomes(history()) == [("pay", "completed")]
