"""Arithmetic as people write it: a text in, a number out. Nothing else can be said in it.

Numbers, `+ - * / // % ** ^`, brackets, a few functions and constants. Whole numbers stay exact.
Every size is bounded, so that no expression takes long.
"""

import math
import re
from collections.abc import Callable
from typing import TypeAlias

from canonicall.errors import CanonicallError

Number: TypeAlias = int | float

_LONGEST = 500
_DEEPEST = 50
_MOST_BITS = 4096
"""Of a whole number: more than anybody reads."""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[a-zA-Z]+)|(?P<sign>\*\*|//|[-+*/%^(),]))"
)
_CONSTANTS = {"pi": math.pi, "e": math.e}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "ceil": math.ceil,
    "cos": math.cos,
    "floor": math.floor,
    "ln": math.log,
    "log": math.log10,
    "max": max,
    "min": min,
    "round": round,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
}


class NotArithmetic(CanonicallError):
    """The text is no arithmetic, or has no number for a result."""


def calculate(expression: str) -> Number:
    """The value of an expression."""
    if len(expression) > _LONGEST:
        raise NotArithmetic(f"it has more than {_LONGEST} characters.")
    try:
        value = _Expression(_tokens(expression)).whole()
    except (ArithmeticError, TypeError, ValueError) as error:
        raise NotArithmetic(f"it has no result: {error}.") from None
    return _bounded(value)


def _tokens(expression: str) -> list[str]:
    found: list[str] = []
    at, text = 0, expression.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotArithmetic(f"{text[at:].strip()[:1]!r} at character {at + 1} has no meaning.")
        found.append(match.group().strip())
        at = match.end()
    return found


class _Expression:
    """Reads from left to right: sums of products of signed powers."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> Number:
        value = self._sum()
        if self._next:
            raise NotArithmetic(f"{self._next!r} was not expected there.")
        return value

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._next
        self._at += 1
        return token

    def _expect(self, sign: str) -> None:
        if self._take() != sign:
            raise NotArithmetic(f"{sign!r} is missing.")

    def _sum(self) -> Number:
        value = self._product()
        while self._next in ("+", "-"):
            sign, other = self._take(), self._product()
            value = _bounded(value + other if sign == "+" else value - other)
        return value

    def _product(self) -> Number:
        value = self._signed()
        while self._next in ("*", "/", "//", "%"):
            value = _bounded(_multiplied(value, self._take(), self._signed()))
        return value

    def _signed(self) -> Number:
        """A sign binds less than a power: -2**2 is -4."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotArithmetic(f"it is nested more than {_DEEPEST} deep.")
        if self._next in ("+", "-"):
            value = -self._signed() if self._take() == "-" else self._signed()
        else:
            value = self._operand()
            if self._next in ("**", "^"):
                self._take()
                value = _power(value, self._signed())
        self._depth -= 1
        return value

    def _operand(self) -> Number:
        word = self._take()
        if word == "(":
            value = self._sum()
            self._expect(")")
            return value
        if word[:1].isalpha():
            return self._named(word.lower())
        if not word or not (word[0].isdigit() or word[0] == "."):
            raise NotArithmetic(f"a number is missing before {word or 'the end'!r}.")
        return int(word) if word.isdigit() else float(word)

    def _named(self, name: str) -> Number:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name not in _FUNCTIONS:
            known = ", ".join((*_CONSTANTS, *_FUNCTIONS))
            raise NotArithmetic(f"{name!r} is not known. There are: {known}.")
        self._expect("(")
        arguments = [self._sum()]
        while self._next == ",":
            self._take()
            arguments.append(self._sum())
        self._expect(")")
        return _FUNCTIONS[name](*arguments)


def _multiplied(value: Number, sign: str, other: Number) -> Number:
    if sign == "*":
        return value * other
    if sign == "//":
        return value // other
    if sign == "%":
        return value % other
    is_exact = isinstance(value, int) and isinstance(other, int) and other and value % other == 0
    return value // other if is_exact else value / other


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if base.bit_length() * exponent > _MOST_BITS:
            raise NotArithmetic("the power is too large.")
        return int(base**exponent)
    result = float(base) ** exponent
    if isinstance(result, complex):
        raise NotArithmetic("a root of a negative number is no real number.")
    return float(result)


def _bounded(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise NotArithmetic("the number is too large.")
    if isinstance(value, float) and not math.isfinite(value):
        raise NotArithmetic("the number is too large, or none at all.")
    return value
