"""What a person sees of a run."""

import pytest

from canonicall.cli.listeners import Screen
from canonicall.findings import Action, Fault, Finding
from canonicall.runtime.events import CompleteEvent, StatusEvent


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("reason", ["answered", "limit"])
def test_a_run_without_an_answer_shows_why(capsys, reason, streams):
    end = CompleteEvent(reason=reason, detail="the model gave no answer")
    Screen(streams=streams).hear(end)
    assert capsys.readouterr().err == f"ended: {reason} (the model gave no answer)\n"


def test_an_answer_needs_no_remark(capsys):
    Screen(streams=False).hear(CompleteEvent(reason="answered", text="Sunny."))
    assert capsys.readouterr() == ("Sunny.\n", "")


def _renamed(n):
    why = f"The tool 'a.{n}' is sent as 'a_{n}'."
    return Finding("tool_renamed", f"tools[{n}]", Action.CHANGED, why, Fault.PROJECTION)


def test_what_was_changed_in_requests_is_shown_once(capsys):
    screen = Screen(streams=True)
    screen.hear(StatusEvent(kind="repaired", findings=(_renamed(0),)))
    screen.hear(StatusEvent(kind="repaired", findings=(_renamed(0),)))
    screen.hear(StatusEvent(kind="repaired", findings=tuple(map(_renamed, range(3)))))
    assert capsys.readouterr().err.splitlines() == [
        "repaired: tools[0]: The tool 'a.0' is sent as 'a_0'.",
        "repaired: 2 changes (tool_renamed=2), the first at tools[1]: The tool 'a.1' is sent as 'a_1'.",
    ]
