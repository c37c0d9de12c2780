"""Projection: canonical ids and names to a target's own form, one to one.

Call and result get the same id because both ask here. An id that the target gave itself, or that
has its shape, is kept the first time it occurs (prompt caches hit, models see what they wrote);
every other one is made from the canonical id. What was given out is not changed by later calls.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from typing import TypeAlias

from canonicall.blocks import Tombstone, ToolCall
from canonicall.facts.target import IdRule, NameRule, Target
from canonicall.findings import Action, Fault, Finding
from canonicall.ids import HISTORY_PREFIX

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_UNNAMED = "unnamed_tool"


Marked: TypeAlias = tuple[int, int, tuple[int, int]]
"""How many ids and names were given out, how many ids are reserved, how many items were sent."""
NOTHING: Marked = (0, 0, (0, 0))


class Projection:
    """The ids and names given out in one render."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.ids: dict[str, str] = {}
        self._taken_ids: dict[str, str] = {}
        self._reserved: list[str] = []
        self._next_numbers: dict[str, int] = {}
        """By a numbered id that is taken: a number from which on another may be free."""
        self._names: dict[str, str] = {}
        self._taken_names: dict[str, str] = {}
        self.items: dict[str, None] = {}
        """The ids of stored items that were sent, in their order."""
        self._rare = (0, 0)
        """How many ids are reserved, and how many items were sent."""

    @property
    def sent(self) -> Mapping[str, str]:
        """The wire ids, each with the canonical id that it stands for."""
        return self._taken_ids

    @property
    def renamed(self) -> dict[str, str]:
        """Wire name to own name, for the names that differ."""
        return {wire: own for own, wire in self._names.items() if wire != own}

    def name(self, own: str) -> str:
        """The wire name of a tool."""
        known = self._names.get(own)
        if known is not None:
            return known
        wire = _fit_name(own, self._target.names)
        salt = 0
        while self._taken_names.get(wire, own) != own:
            salt += 1
            wire = _hashed_name(own, self._target.names, salt)
        self._names[own] = wire
        self._taken_names[wire] = own
        return wire

    def id(
        self,
        call: ToolCall,
        findings: list[Finding],
        where: str,
        *,
        foreign: bool = False,
        own: bool = False,
    ) -> str:
        """The wire id of a call; the empty text where the target needs none.

        `foreign` says that another wire format gave the raw id, `own` that the target itself did.
        """
        known = self.ids.get(call.id)
        if known is not None:
            return known
        rule = self._target.ids
        native = self._is_native(call, rule, own=own) and not (foreign and rule.style == "echoed")
        wire = call.raw_id if native else self._made(call, rule)
        if wire and wire != call.raw_id and call.raw_id in self._taken_ids:
            why = f"The id {call.raw_id!r} stands for another call already; this one is {wire!r}."
            findings.append(Finding("id_replaced", where, Action.CHANGED, why, Fault.PROJECTION))
        self.ids[call.id] = wire
        if wire:
            self._taken_ids[wire] = call.id
        return wire

    def reserve(self, call: Tombstone | ToolCall) -> None:
        """Keep the id of a call that was compacted away, or that the provider ran, from others."""
        raw_id = call.raw_id
        if raw_id and raw_id not in self._taken_ids:
            self._taken_ids[raw_id] = call.id
            self._reserved.append(raw_id)
            self._rare = (len(self._reserved), len(self.items))

    def note_items(self, ids: Iterable[str]) -> None:
        """Take in the ids of stored items that are sent."""
        self.items |= dict.fromkeys(ids)
        self._rare = (len(self._reserved), len(self.items))

    def mark(self) -> Marked:
        """How much was given out so far."""
        return len(self.ids), len(self._names), self._rare

    def rewind(self, mark: Marked) -> None:
        """Take back what was given out after `mark`."""
        self._next_numbers.clear()
        self._rare = mark[2]
        while len(self._reserved) > self._rare[0]:
            del self._taken_ids[self._reserved.pop()]
        while len(self.ids) > mark[0]:
            _, wire = self.ids.popitem()
            self._taken_ids.pop(wire, None)
        while len(self._names) > mark[1]:
            _, wire = self._names.popitem()
            self._taken_names.pop(wire, None)
        while len(self.items) > self._rare[1]:
            self.items.popitem()

    def _is_native(self, call: ToolCall, rule: IdRule, *, own: bool) -> bool:
        raw = call.raw_id
        if not raw or raw in self._taken_ids or len(raw) > rule.max_length:
            return False
        if raw.startswith(HISTORY_PREFIX):
            return False
        if rule.style == "prefixed" and not own and not raw.startswith(rule.prefix):
            return False
        if _pattern(rule.pattern).fullmatch(raw) is None:
            return False
        return rule.style != "numbered" or raw.startswith(f"functions.{self.name(call.name)}:")

    def _made(self, call: ToolCall, rule: IdRule) -> str:
        if rule.style == "echoed":
            return ""
        if rule.style == "numbered":
            return self._numbered(call)
        suffix = call.id.removeprefix(HISTORY_PREFIX)
        wire = rule.prefix + suffix
        salt = 0
        fits = rule.style == "prefixed" and len(wire) <= rule.max_length
        while not fits or wire in self._taken_ids:
            length = rule.max_length if rule.style == "short" else 24
            prefix = "" if rule.style == "short" else rule.prefix
            wire = prefix + _letters(f"{call.id}#{salt}", length)
            salt += 1
            fits = True
        return wire

    def _numbered(self, call: ToolCall) -> str:
        prefix, number = f"functions.{self.name(call.name)}:", call.number
        passed: list[str] = []
        while (wire := f"{prefix}{number}") in self._taken_ids:
            passed.append(wire)
            number = self._next_numbers.get(wire, number + 1)
        # The next search jumps over what this one has passed.
        self._next_numbers.update(dict.fromkeys(passed, number))
        return wire


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache(maxsize=4096)
def _fit_name(own: str, rule: NameRule) -> str:
    """`own` where it fits the rule, else something close to it that does."""
    fits = rule.min_length <= len(own) <= rule.max_length
    if fits and _pattern(rule.pattern).fullmatch(own) is not None:
        return own
    return _hashed_name(own, rule, 0)


def _hashed_name(own: str, rule: NameRule, salt: int) -> str:
    readable = re.sub(r"[^A-Za-z0-9_-]", "_", own or _UNNAMED)
    if not re.match(r"[A-Za-z_]", readable):
        readable = f"t_{readable}"
    ending = "_" + _letters(f"{own}#{salt}", 8)
    return readable[: rule.max_length - len(ending)] + ending


def _letters(text: str, length: int) -> str:
    """`length` letters and digits that `text` always gives."""
    number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    letters = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        letters.append(_ALPHABET[digit])
    return "".join(letters)
