"""Outcomes: inference without a single deciding field, and wording that tells the truth."""

import itertools

import pytest

from canonicall import Outcome, Status, wording
from canonicall.outcome import MAY_HAVE_RUN, infer_outcome, status_of


@pytest.mark.parametrize("error", [True, False])
@pytest.mark.parametrize("is_complete", [True, False, None])
@pytest.mark.parametrize("has_content", [True, False])
def test_inference_ladder(error, is_complete, has_content):
    """Error first, then is_complete, then content, else pending."""
    expected = None
    if error:
        expected = Outcome.FAILED
    elif is_complete is True or (is_complete is None and has_content):
        expected = Outcome.COMPLETED
    got = infer_outcome(error=error, is_complete=is_complete, has_content=has_content)
    assert got is expected


def test_every_outcome_has_a_status_and_a_wording_of_its_own():
    assert len({wording(one) for one in Outcome}) == len(Outcome)
    assert all(status_of(one) is not Status.PENDING for one in Outcome)
    assert status_of(None) is Status.PENDING


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_model_is_never_told_not_run_when_it_may_have(outcome):
    says_not_run = "not run" in wording(outcome)
    assert says_not_run == (outcome not in MAY_HAVE_RUN)


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.TIMED_OUT, Outcome.RESULT_LOST])
def test_possible_side_effects_are_named(outcome):
    assert "may have" in wording(outcome)
    assert "Check the actual state" in wording(outcome)


def test_a_reason_is_added():
    assert wording(Outcome.DENIED, "writes outside the project").endswith(
        "Reason: writes outside the project"
    )


def test_wordings_are_constant():
    """Prompt caches hit only if the same outcome gives the same bytes."""
    for one, other in itertools.product(Outcome, repeat=2):
        assert (wording(one, "x") == wording(other, "x")) == (one is other)
