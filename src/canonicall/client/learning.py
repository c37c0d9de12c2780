"""What a refusal teaches: which fields of the target were wrong, as data.

In: a provider's error, the body it answers, the target. Out: the fields to render with once more.
A change that leads to the same bytes is none, and one that was accepted is kept for the session.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from canonicall.client.error_words import fields_in
from canonicall.facts.lessons import Fields, lessons
from canonicall.facts.target import Target
from canonicall.verify.explainer import Explanation, explain

UNKNOWN = "unknown"
"""The code of a refusal that nobody understands."""


class Change(Struct, frozen=True):
    """What to do differently, and why."""

    code: str
    fields: Fields
    why: str = ""

    def of(self, target: Target) -> Target:
        """`target` with the change."""
        return replace(target, **self.fields)


def change_for(
    error: Any, words: str, body: dict[str, Any], target: Target
) -> tuple[Change | None, Explanation]:
    """The change that may put a refusal right, and what is known of the refusal.

    `error`: as the provider sent it. `words`: its text. None where nothing would help.
    """
    told = explain(
        error if isinstance(error, (str, bytes, dict)) else words, request=body, target=target
    )
    codes = [entry.code for entry in told.entries]
    known = lessons()
    if known.hopeless.intersection(codes) or known.chance.intersection(codes):
        return None, told
    for entry in told.entries:
        fields = _effective(_fields(entry.code, words, target), target)
        if fields:
            return Change(entry.code, fields, entry.meaning), told
    narrow = _effective(known.narrowest, target)
    return (Change(UNKNOWN, narrow, "nobody knows why") if narrow else None), told


def is_chance(told: Explanation) -> bool:
    """Whether the same request may be accepted the next time."""
    return any(entry.code in lessons().chance for entry in told.entries)


def is_outside(explanation: Explanation) -> bool:
    """Whether a refusal is known to have nothing to do with how the request is written: in another
    form the same conversation is refused again."""
    return bool(explanation) and all(entry.outside for entry in explanation.entries)


class Learned:
    """What was learnt about targets, for as long as a client lives."""

    def __init__(self, *, is_shared: bool = False) -> None:
        """`is_shared`: by conversations that have nothing to do with each other."""
        self._is_shared = is_shared
        self._fields: dict[Target, Fields] = {}

    def fit(self, target: Target) -> Target:
        """`target` as experience has shown it."""
        # Of most nothing is ever learnt, and a target takes a while to be looked up.
        fields = self._fields.get(target) if self._fields else None
        return replace(target, **fields) if fields else target

    def keep(self, target: Target, change: Change) -> None:
        """Remember a change that was accepted, where it says something to whoever comes next."""
        if self._is_shared and change.code in lessons().of_one_conversation:
            return
        self._fields[target] = {**self._fields.get(target, {}), **change.fields}


def _fields(code: str, words: str, target: Target) -> Fields:
    told = fields_in(code, words, target)
    return told or lessons().change(code, target.format)


def _effective(fields: Fields, target: Target) -> Fields:
    """The fields that are not as the target has them already; lists only grow or shrink."""
    return {
        name: value for name, value in _merged(fields, target) if value != getattr(target, name)
    }


def _merged(fields: Fields, target: Target) -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if name == "refused_params":
            yield name, tuple(dict.fromkeys((*target.refused_params, *value)))
        elif name == "choice_modes":
            yield name, tuple(mode for mode in target.choice_modes if mode in value)
        else:
            yield name, value
