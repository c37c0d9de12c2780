import inspect
import shutil
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

import canonicall
from scripts import bench_diff
from scripts.bench_diff import (
    Comparison,
    Cost,
    Difference,
    Spread,
    _outside,
    difference_of,
    main,
    spread_of,
)
from scripts.revisions import ROOT, Revision, RevisionError, checkout

NOISE = (-0.011, 0.004, 0.009, -0.002, 0.0, 0.013, -0.006, 0.001, -0.009, 0.003, 0.007, -0.004)
ROUNDS = [NOISE[at % len(NOISE)] for at in range(15)]


@pytest.mark.parametrize(
    ("rounds", "outside"), [(6, 0), (8, 0), (9, 1), (12, 2), (15, 3), (20, 5), (25, 7), (40, 13)]
)
def test_the_interval_is_that_of_the_sign_test(rounds, outside):
    """The ranks are those of published tables for the median at 95 %."""
    assert _outside(rounds) == outside


def test_the_interval_holds_the_median_in_95_of_100_cases_for_skewed_ratios():
    random = Random(7)  # noqa: S311 -- the same numbers in every run
    held = 0
    for _ in range(2_000):
        spread = spread_of([random.lognormvariate(0, 0.3) for _ in range(15)])
        held += spread.low <= 1.0 <= spread.high
    assert 0.95 <= held / 2_000 < 0.98


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        pytest.param([1 + noise for noise in ROUNDS], "within", id="equal"),
        pytest.param([1.05 + noise for noise in ROUNDS], "BROKEN", id="slower"),
        pytest.param([0.9 + noise for noise in ROUNDS], "within", id="faster"),
        pytest.param([1.03 + noise for noise in ROUNDS], "unclear", id="at the limit"),
        pytest.param([1 + 20 * noise for noise in ROUNDS], "unclear", id="noisy"),
    ],
)
def test_a_limit_is_broken_only_if_the_whole_interval_lies_beyond_it(ratios, verdict):
    assert spread_of(ratios).verdict(1.03) == verdict


def test_three_outliers_of_fifteen_do_not_widen_the_interval_beyond_the_other_rounds():
    others = [1 + noise for noise in ROUNDS[3:]]
    for outliers in ([9.0, 7.0, 30.0], [0.1, 0.2, 0.01]):
        spread = spread_of([*others, *outliers])
        assert min(others) <= spread.low <= spread.median <= spread.high <= max(others)


def test_the_ratio_is_that_of_each_round_and_not_of_the_medians():
    """A machine that becomes slow in the middle slows both."""
    costs = [Cost(2.0, 2.1)] * 8 + [Cost(6.0, 6.3)] * 7
    found = difference_of("subject", costs)
    assert found.spread.low == pytest.approx(1.05)
    assert found.spread.high == pytest.approx(1.05)


class FakeWorker:
    """Takes as long as it is told, and notes what it was asked."""

    subjects = ("parse", "verify")

    def __init__(self, label, seconds, asked):
        self.label, self._seconds, self.asked = label, seconds, asked

    def seconds(self, subject, batch, size):
        self.asked.append((self.label, subject, batch, size))
        return self._seconds * size


@pytest.fixture
def asked(monkeypatch):
    """What workers were asked; B takes 2 % more CPU time than A."""
    asked: list[tuple[str, str, int, int]] = []

    @contextmanager
    def started(revision):
        yield FakeWorker(revision.label, {"A": 0.010, "B": 0.0102}[revision.label], asked)

    monkeypatch.setattr(bench_diff, "started", started)
    return asked


A, B = (Revision(label, ROOT, Path("python")) for label in "AB")


def test_workers_are_asked_in_turn_for_the_same_batches_and_none_twice(asked):
    (found,) = Comparison(A, B, ["parse"]).differences(3)
    assert found.cost == pytest.approx((0.010, 0.0102))
    pairs = [asked[at : at + 2] for at in range(0, len(asked), 2)]
    assert all(one[1:] == other[1:] and one[0] != other[0] for one, other in pairs)
    batches = [first[2] for first, _ in pairs]
    assert len(set(batches)) == len(batches)
    measured = [first[0] for first, _ in pairs if first[3] > 1]
    assert measured[-6:] == ["A", "B"] * 3


def test_a_batch_takes_some_tens_of_milliseconds(asked):
    Comparison(A, B).differences(1)
    last = [(subject, size) for _, subject, _, size in asked if size > 1][-1]
    assert last == ("verify", 6)


def test_a_subject_that_does_not_exist_is_an_error(asked):
    with pytest.raises(RevisionError, match="no subject 'speed'; there are parse, verify"):
        Comparison(A, B, ["speed"])


@pytest.mark.parametrize(("ratio", "code"), [(1.0, 0), (1.05, 1)])
def test_the_exit_code_says_whether_a_limit_is_broken(ratio, code, monkeypatch, capsys):
    spread = Spread(ratio, ratio - 0.01, ratio + 0.01)
    found = [Difference("parse", Cost(1e-6, ratio * 1e-6), spread)]
    monkeypatch.setattr(bench_diff, "checkout", lambda rev: Revision(rev, ROOT, Path("python")))
    monkeypatch.setattr(bench_diff, "Comparison", lambda *_: FakeComparison(found))
    assert main(["HEAD"]) == code
    assert ("BROKEN" in capsys.readouterr().out) == bool(code)


class FakeComparison:
    def __init__(self, found):
        self._found = found

    def differences(self, rounds):
        return self._found


def test_a_revision_that_cannot_be_used_is_one_line_and_exit_code_2(monkeypatch, capsys):
    def checkout(rev):
        raise RevisionError(f"{rev}: not found")

    monkeypatch.setattr(bench_diff, "checkout", checkout)
    assert main(["no-such-revision"]) == 2
    assert capsys.readouterr().err == "no-such-revision: not found\n"


def test_fewer_than_fifteen_rounds_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["HEAD", "--rounds", "14"])
    assert "15 are the least" in capsys.readouterr().err


@pytest.mark.deep
def test_every_subject_can_be_measured():
    """One round of all: the driver works with the working tree."""
    comparison = Comparison(checkout(""), checkout(""))
    assert all(one.cost.before > 0 for one in comparison.differences(1))


@pytest.mark.deep
def test_a_revision_against_itself_breaks_no_limit():
    tree = checkout("")
    (found,) = Comparison(tree, tree, ["chat-anthropic"]).differences(25)
    assert found.spread.verdict(1.03) != "BROKEN"


@pytest.mark.deep
def test_five_percent_more_work_breaks_a_limit_of_three_percent(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    source = inspect.getsourcefile(canonicall.translate)
    changed = tmp_path / Path(source or "").relative_to(ROOT)
    changed.write_text(changed.read_text("utf-8") + MORE_WORK, "utf-8")
    comparison = Comparison(checkout(""), checkout(str(tmp_path)), ["chat-anthropic"])
    (found,) = comparison.differences(25)
    assert found.spread.verdict(1.03) == "BROKEN"


MORE_WORK = """

from time import process_time

without_more_work = translate

def translate(*args, **options):
    begin = process_time()
    result = without_more_work(*args, **options)
    end = process_time()
    until = end + 0.05 * (end - begin)
    while process_time() < until:
        pass
    return result
"""
"""Five percent of what a call has cost, in a busy loop."""
