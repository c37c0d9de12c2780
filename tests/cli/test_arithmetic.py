"""Arithmetic from text: right, and never anything else than arithmetic."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.cli.arithmetic import NotArithmetic, calculate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2+3*4", 14),
        ("(2 + 3) * 4", 20),
        ("-2**2", -4),
        ("2**3**2", 512),
        ("2^-1", 0.5),
        ("10/4", 2.5),
        ("10/5", 2),
        ("7 // 2 + 7 % 4", 6),
        ("--3", 3),
        (".5e1", 5.0),
        ("sqrt(16) + max(1, 2, 3)", 7.0),
        ("round(PI, 2)", 3.14),
        (str(10**30) + "+1", 10**30 + 1),
    ],
)
def test_expressions_have_the_value_they_should(expression, value):
    found = calculate(expression)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "a number is missing"),
        ("2 +", "a number is missing"),
        ("2 3", "'3' was not expected"),
        ("(1", "')' is missing"),
        ("1/0", "zero"),
        ("9**9**9", "too large"),
        ("1e308*10", "too large"),
        ("10**1000 * 10**1000", "too large"),
        ("(-8)**0.5", "no real number"),
        ("sqrt(-1)", "no result"),
        ("__import__('os')", "'_' at character 1 has no meaning"),
        ("x.y", "'.' at character 2 has no meaning"),
        ("open(1)", "'open' is not known"),
        ("[1]", "'[' at character 1"),
        ("(" * 200 + "1" + ")" * 200, "nested"),
        ("-" * 400 + "1", "nested"),
        ("1+" * 300 + "1", "more than 500 characters"),
    ],
)
def test_what_is_no_arithmetic_is_refused_with_a_reason(expression, words):
    with pytest.raises(NotArithmetic, match=re.escape(words)):
        calculate(expression)


@given(st.text(alphabet="0123456789.+-*/%^()e, sqrtmax", max_size=60))
def test_any_text_has_a_finite_value_or_a_reason(expression):
    try:
        value = calculate(expression)
    except NotArithmetic:
        return
    assert math.isfinite(float(value)) if isinstance(value, float) else value.bit_length() <= 4096


NUMBERS = st.integers(-1000, 1000)


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from("+-*"), st.sampled_from("+-*"))
def test_whole_numbers_agree_with_python(a, b, c, first, second):
    """Python is the judge here; the text is made of numbers and signs alone."""
    text = f"{a} {first} ({b}) {second} {c}"
    assert calculate(text) == eval(text)  # noqa: S307
