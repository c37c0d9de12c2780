"""What is wrong with a configuration: all of it at once, each with its place and what to do."""

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from canonicall.errors import CanonicallError

ROOT = "$"
_MOST = 100
"""Errors that are told: whoever has more has another file in hand."""
_PARTS = re.compile(r"[\s:/@]+")
"""What messages cut a value at, to name one part of it."""
_SHORTEST = 4
"""Shorter values of the environment are no secrets."""
_SHORTEST_PART = 8
"""Shorter parts of a value are ordinary words, which messages have as well."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w-]*")
_KINDS = (
    (bool, "true or false"),
    (str, "text"),
    (int | float, "a number"),
    (dict, "a section"),
    (list, "a list"),
    (type(None), "nothing"),
)


class Problem(Struct, frozen=True):
    """One thing that is wrong, or only worth knowing. No value is quoted: it may be a key."""

    where: str
    """The path to it: `$.models.fast.choices[0].target`."""
    what: str
    help: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what} {self.help}".rstrip()


class UnusableSettings(CanonicallError, ValueError):
    """A configuration that nothing can be served with. `problems` are all that were found."""

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{file}: {one}" for one in self.problems))


class Problems:
    """What has been found so far."""

    def __init__(self) -> None:
        self._hidden: dict[str, str] = {}
        """Values of the environment, and parts of them: each with what is told in its place."""
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []

    def error(self, where: str, what: str, help: str = "") -> None:
        """Something that nothing can be served with.

        Where a place, something in it or what it is in is wrong already, this follows from that,
        and is not told.
        """
        if len(self.errors) >= _MOST:
            return
        places = [one.where for one in self.errors]
        if not any(_is_in(one, where) or _is_in(where, one) for one in places):
            self.errors.append(self._problem(where, what, help))

    def warn(self, where: str, what: str, help: str = "") -> None:
        """Something that is probably not meant, and can be served."""
        self.warnings.append(self._problem(where, what, help))

    def hide(self, value: str, reference: str) -> None:
        """Tell a reference where a message would quote the value, or a part of it: a setting that
        is wrong is often a key in the wrong place."""
        parts = [part for part in _PARTS.split(value) if len(part) >= _SHORTEST_PART]
        for part in (value, *parts):
            for form in (part, repr(part)[1:-1]):
                if len(form) >= _SHORTEST:
                    self._hidden.setdefault(form, reference)

    def _problem(self, where: str, what: str, help: str) -> Problem:
        # The whole before its parts.
        for value in sorted(self._hidden, key=len, reverse=True):
            what = what.replace(value, self._hidden[value])
            help = help.replace(value, self._hidden[value])
        return Problem(where, what, help)

    def raise_any(self, file: str) -> None:
        """Refuse the file where anything in it is wrong."""
        if self.errors:
            raise UnusableSettings(file, self.errors)


def _is_in(path: str, where: str) -> bool:
    return path.startswith(where) and path[len(where) : len(where) + 1] in ("", ".", "[")


def inside(where: str, name: str | int) -> str:
    """The path to something in what `where` leads to."""
    if isinstance(name, int):
        return f"{where}[{name}]"
    return f"{where}.{name}" if _PLAIN_NAME.fullmatch(name) else f'{where}["{name}"]'


def kind_of(value: Any) -> str:
    """What a value is, in a word: the value itself is not told."""
    return next((name for kind, name in _KINDS if isinstance(value, kind)), type(value).__name__)
