"""What a report says of checks, and what breaks one."""

import msgspec
import pytest

from canonicall import CanonicallError
from canonicall.testing import conformance
from canonicall.testing.conformance import Check, Conformance, NotConforming
from canonicall.testing.conformance.report import Broken, Checking, Skipped, need


def checked():
    checking = Checking({"a": "A holds.", "b": "B holds.", "c": "C holds.", "d": "D holds."})
    with checking.case("a", "one"):
        need(True, "never said")
    with checking.case("b", "one"):
        raise Broken("seen otherwise")
    with checking.case("b", "two"):
        {}["missing"]
    with checking.case("c", "one"):
        raise Skipped
    return checking


def test_each_check_is_held_broken_or_open():
    report = checked().report("syntax", "mine")
    assert [(one.name, one.state, one.cases) for one in report.checks] == [
        ("a", "held", 1),
        ("b", "broken", 2),
        ("c", "open", 0),
        ("d", "open", 0),
    ]
    assert report["b"].evidence == ("one: seen otherwise", "two: KeyError: 'missing'")
    assert [one.name for one in report.broken] == ["b"]
    assert [one.name for one in report.open] == ["c", "d"]
    assert not report.ok
    with pytest.raises(KeyError):
        _ = report["e"]


def test_what_is_broken_is_raised_with_its_evidence():
    """For a test it is a failed assertion, for a program one of our errors."""
    with pytest.raises(NotConforming) as caught:
        checked().report("syntax", "mine").raise_if_broken()
    assert isinstance(caught.value, AssertionError | CanonicallError)
    assert "one: seen otherwise" in str(caught.value)
    assert "A holds." not in str(caught.value)


def test_what_holds_is_returned():
    report = Conformance("provider", "mine", (Check("a", "A holds.", "held", 1),))
    assert report.raise_if_broken() is report
    assert str(report) == "provider mine: 0 of 1 broken\n  held a: A holds."


def test_a_check_that_was_left_open_is_not_held():
    checking = Checking({"a": "A holds."})
    with checking.case("a", "one"):
        checking.leave_open("a", "Both ways are right.")
    assert checking.report("endpoint", "x")["a"] == Check(
        "a", "A holds.", "open", 1, ("Both ways are right.",)
    )


def test_evidence_is_short_and_counted():
    checking = Checking({"a": "A holds."})
    for number in range(9):
        with checking.case("a", str(number)):
            raise Broken("x\n" * 3000)
    evidence = checking.report("provider", "x")["a"].evidence
    assert len(evidence) == 6
    assert evidence[-1] == "and 4 more"
    assert all(len(one) < 1100 and "\n" not in one for one in evidence)


def test_a_report_is_json():
    report = checked().report("syntax", "mine")
    assert msgspec.json.decode(msgspec.json.encode(report), type=Conformance) == report


def test_names_are_loaded_when_they_are_used():
    assert set(conformance.__all__) == set(conformance._HOME)
    for name in conformance.__all__:
        assert getattr(conformance, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = conformance.nothing
