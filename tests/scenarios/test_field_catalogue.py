"""Every numbered row of the field catalogue has a test that is named after it: `test_k7_...`."""

import re
from collections import Counter
from pathlib import Path

import pytest

from components import component

TESTS = Path(__file__).parents[1]
FILES = "test_field_*.py"
"""Models are called K2 or K3 as well; tests of those stand elsewhere."""
ROW = re.compile(r"^\| ([A-K]\d+) \|", re.MULTILINE)
NAMED = re.compile(r"^(?:async )?def test_([a-k])0*(\d+)_", re.MULTILINE)


@pytest.fixture(scope="module")
def rows():
    return ROW.findall((component("reference") / "gateways.md").read_text())


@pytest.fixture(scope="module")
def named():
    """How many tests are named after each row."""
    return Counter(
        f"{letter.upper()}{number}"
        for one in TESTS.rglob(FILES)
        for letter, number in NAMED.findall(one.read_text())
    )


def test_every_row_has_a_test_by_name(rows, named):
    assert len(rows) == len(set(rows)) >= 186
    assert [row for row in rows if not named[row]] == []


def test_no_test_is_named_after_a_row_that_is_not_there(rows, named):
    """A row that was renumbered would leave its tests behind."""
    assert sorted(set(named) - set(rows)) == []
