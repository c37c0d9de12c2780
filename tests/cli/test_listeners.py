"""What a person sees of a run."""

import pytest

from canonicall.cli.listeners import Screen
from canonicall.runtime.events import CompleteEvent


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("reason", ["answered", "limit"])
def test_a_run_without_an_answer_shows_why(capsys, reason, streams):
    end = CompleteEvent(reason=reason, detail="the model gave no answer")
    Screen(streams=streams).hear(end)
    assert capsys.readouterr().err == f"ended: {reason} (the model gave no answer)\n"


def test_an_answer_needs_no_remark(capsys):
    Screen(streams=False).hear(CompleteEvent(reason="answered", text="Sunny."))
    assert capsys.readouterr() == ("Sunny.\n", "")
