"""Names with stars fit what a regular expression says, without its cost."""

import re

from hypothesis import given
from hypothesis import strategies as st

from canonicall.gateway.config import fits

LETTERS = st.text(alphabet="ab*", max_size=8)


@given(LETTERS, st.text(alphabet="ab", max_size=8))
def test_a_star_stands_for_anything(pattern, name):
    meant = ".*".join(re.escape(part) for part in pattern.split("*"))
    assert fits(pattern, name) is (re.fullmatch(meant, name) is not None)


def test_other_signs_stand_for_themselves():
    assert fits("gpt-4.1", "gpt-4.1")
    assert not fits("gpt-4.1", "gpt-4x1")
    assert not fits("m?", "m1")
    assert fits("[a]*", "[a]b")


def test_many_stars_and_a_long_name_that_does_not_fit():
    assert not fits("*a" * 30 + "*b", "a" * 100_000)
