"""`benchmarks/run.py` ends with 1 if a must-row is missed, and `make test-all` runs those rows."""

import re
import sys
from importlib import import_module
from types import SimpleNamespace

import pytest

from scripts.revisions import ROOT

NAMES = ("growth", "measuring", "run", "sized_bodies", "sized_streams")


@pytest.fixture
def benchmarks(monkeypatch):
    """The modules of the folder, which import each other by their bare names."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    modules = SimpleNamespace(**{name: import_module(name) for name in NAMES})
    yield modules
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("ratio", "must", "code"), [(4.0, True, 0), (5.1, True, 1), (5.1, False, 0), (4.0, False, 0)]
)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_must_row_that_is_missed_ends_the_run_with_1(
    ratio, must, code, more, benchmarks, monkeypatch, capsys
):
    row = benchmarks.measuring.Ratio("messages: read", ratio, 1.0, 5.0, must=must)
    monkeypatch.setattr(benchmarks.run, "discovered", lambda: ["growth"])
    monkeypatch.setattr(benchmarks.growth, "ratios", lambda: [row])
    assert benchmarks.run.main(["--only", "growth", *more]) == code
    assert ("missed" in capsys.readouterr().err) == bool(code)


@pytest.mark.parametrize(("ratio", "code"), [(5.9, 0), (6.1, 1)])
def test_a_margin_is_for_noise(ratio, code, benchmarks, monkeypatch):
    row = benchmarks.measuring.Ratio("messages: read", ratio, 1.0, 5.0, must=True)
    monkeypatch.setattr(benchmarks.run, "discovered", lambda: ["growth"])
    monkeypatch.setattr(benchmarks.growth, "ratios", lambda: [row])
    assert benchmarks.run.main(["--only", "growth", "--margin", "20"]) == code


@pytest.mark.parametrize(
    ("power", "noise", "is_met", "attempts"),
    [(1, [], True, 1), (2, [], False, 3), (1, [2.0, 1.5, 1.0], True, 3), (1, [2.0], True, 2)],
    ids=["linear", "quadratic", "linear, twice disturbed", "linear, once disturbed"],
)
def test_a_row_that_seems_missed_is_measured_again(
    power, noise, is_met, attempts, benchmarks, monkeypatch
):
    """Time is made up here. `noise`: by how much each long run is disturbed."""
    growth, now, long_runs = benchmarks.growth, 0.0, []
    monkeypatch.setattr(growth, "process_time", lambda: now)

    def work(size):
        nonlocal now
        seconds = float(size) ** power
        if size == growth.LONG:
            seconds *= noise[len(long_runs)] if len(long_runs) < len(noise) else 1.0
            long_runs.append(size)
        now += seconds

    row = growth._grown("", int, {"work": work})["work"]
    assert row.must
    assert row.met is is_met
    assert len(long_runs) == attempts


def test_make_test_all_runs_the_must_rows():
    recipe = re.search(
        r"^test-all:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    assert recipe is not None
    assert "benchmarks/run.py --only growth --margin 20\n" in recipe[1]
