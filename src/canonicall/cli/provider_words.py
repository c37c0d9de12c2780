"""How an answer on a provider's page is put into words."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.target import Target

Answer: TypeAlias = Callable[[Target], str]


class Fact(Struct, frozen=True):
    """One question about a target, with the field of `Target` that answers it."""

    field: str
    question: str
    answer: Answer
    """The answer as Markdown; "" where there is none to give."""
    also: str = ""
    """Another field that the same answer tells."""


def quoted(text: str) -> str:
    """A text as code in a cell of a table."""
    escaped = text.replace("|", "\\|").replace("\n", " ")
    return f"`` {escaped} ``" if "`" in escaped else f"`{escaped}`"


def listed(values: Iterable[Any], none: str = "none") -> str:
    return ", ".join(quoted(str(value)) for value in values) or none


def yes_no(field: str, yes: str = "yes", no: str = "no") -> Answer:
    return lambda target: yes if getattr(target, field) else no


def only(field: str, told: str) -> Answer:
    """An answer worth giving only where the field is set."""
    return lambda target: told if getattr(target, field) else ""


def unless(field: str) -> Answer:
    """An answer worth giving only where the field is not set."""
    return lambda target: "" if getattr(target, field) else "no"


def named(field: str, words: dict[str, str]) -> Answer:
    return lambda target: words[getattr(target, field)]


def each(field: str) -> Answer:
    return lambda target: listed(getattr(target, field))
