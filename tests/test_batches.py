"""A batch runs every case, names each that failed, and counts them."""

from types import SimpleNamespace

import pytest

from batches import each, summary


def ran(test, *, case="", **fixtures):
    """What a batch says of itself, and how it ended."""
    said = []
    config = SimpleNamespace(getoption={"case": case}.get)
    request = SimpleNamespace(
        config=config, node=SimpleNamespace(name="check", user_properties=said)
    )
    try:
        test(request, **fixtures)
    except (AssertionError, pytest.fail.Exception, pytest.skip.Exception) as error:
        return dict(said), f"{type(error).__name__}: {error}"
    return dict(said), "passed"


def test_every_failing_case_is_named_with_its_reason_and_the_others_run():
    seen = []

    @each("number", range(5))
    def check(number):
        seen.append(number)
        if number == 3:
            raise KeyError("lost")
        assert number != 1, "one is not wanted"

    said, end = ran(check)
    assert seen == [0, 1, 2, 3, 4]
    assert said["checks"] == 5
    assert "2 of 5 cases failed" in end
    assert "\n1: one is not wanted" in end
    assert "\n3: KeyError: 'lost' (line" in end
    assert "test_batches.py" in end


def test_what_pytest_itself_says_of_a_case_counts_for_that_case_alone():
    """An expected failure, a case that is left out, and an exception that was not raised."""

    @each("number", range(4))
    def check(number):
        if number == 0:
            pytest.skip("says nothing")
        if number == 1:
            pytest.xfail("known")
        if number == 2:
            with pytest.raises(ValueError, match="never"):
                pass

    said, end = ran(check)
    assert said == {"checks": 3, "expected failures": 1, "left out": {"says nothing": 1}}
    assert "1 of 3 cases failed" in end
    assert "\n2: Failed: DID NOT RAISE" in end


def test_several_run_every_combination_and_are_named_as_with_parametrize():
    seen = []

    @each(("letter", "number"), [("a", 1), pytest.param("b", 2, id="two")])
    @each("record", [{"id": "r"}], ids=lambda one: one["id"].upper())
    @each("size", [10, 20], ids=["small", "large"])
    def check(letter, number, record, size, fixture):
        seen.append((letter, number, size, fixture))
        pytest.fail("always")

    _, end = ran(check, fixture="f")
    assert seen == [("a", 1, 10, "f"), ("a", 1, 20, "f"), ("b", 2, 10, "f"), ("b", 2, 20, "f")]
    names = [line.partition(":")[0] for line in end.splitlines()[1:]]
    assert names == ["a-1-R-small", "a-1-R-large", "two-R-small", "two-R-large"]


def test_cases_are_made_when_the_test_runs_from_the_parameters_they_name():
    @each("number", lambda least: range(least, 5))
    async def check(number, least):
        assert number >= least

    assert ran(check, least=2) == ({"checks": 3, "expected failures": 0, "left out": {}}, "passed")


def test_too_few_cases_fail():
    @each("number", list, least=3)
    def check(number):
        pass

    assert ran(check)[1] == "Failed: there are only 0 cases; 3 at least are expected"


def test_one_case_can_be_chosen_by_its_name():
    @each("name", ["one", "two", "twenty"])
    def check(name):
        assert name.startswith("tw")

    assert ran(check, case="tw")[0]["checks"] == 2
    assert ran(check, case="three")[1].startswith("Skipped: no case")


def test_a_batch_with_nothing_but_cases_that_are_left_out_is_skipped():
    @each("name", ["one", "two"])
    def check(name):
        pytest.skip("says nothing")

    assert ran(check)[1] == "Skipped: says nothing"


def test_the_summary_counts_cases_and_names_what_was_left_out():
    batch = [("checks", 1200), ("expected failures", 2), ("left out", {"says nothing": 3})]
    reports = [SimpleNamespace(user_properties=one) for one in ([], batch, batch)]
    assert list(summary(reports)) == [
        "2,401 checks in 3 tests, 4 of them failed as expected",
        "6 cases left out: says nothing",
    ]


def test_the_summary_says_how_many_cases_of_each_value_passed():
    @each("kind", ["good", "bad"], counted=True)
    @each("number", range(3))
    def check(kind, number):
        if number == 0:
            pytest.skip("nothing")
        assert kind == "good" or number == 1

    said, _ = ran(check)
    (_, *lines) = summary([SimpleNamespace(user_properties=list(said.items()))])
    assert lines == [
        "2 cases left out: nothing",
        "check: 6 cells, 3 passed, 1 failed, 2 left out",
        "  good: 2 of 2 passed",
        "  bad: 1 of 2 passed",
    ]
