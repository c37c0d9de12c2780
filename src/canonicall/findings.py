"""Findings: how canonicall says what it saw, changed or left out.

Whatever may drop, change or add something returns findings, so nothing happens in silence.
A finding is for people (`why`) and for programs (`code`, `where`, `action`, `fault`). Findings of
a request that was encoded also have their places in both bodies (`came`, `went`) and the fact that
asked for the change (`rule`). `docs/findings.md` lists every code.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Self, TypeAlias

from msgspec import Struct


class Action(StrEnum):
    """What was done about it."""

    KEPT = "kept"
    """Stored or sent as it is; the finding is for information."""
    CHANGED = "changed"
    ADDED = "added"
    MOVED = "moved"
    SET_ASIDE = "set_aside"
    """Still stored, but without effect: it will not reach a model."""
    DROPPED = "dropped"
    REFUSED = "refused"
    """A provider would not accept it, or a call must not be run."""


class Fault(StrEnum):
    """Where the cause lies."""

    INPUT = "input"
    """What was handed in: a provider's reply, a client's transcript, a caller's value."""
    STATE = "state"
    """The canonical conversation contradicts itself."""
    RENDER = "render"
    """Pairing, ordering or placing for a target."""
    PROJECTION = "projection"
    """Ids or names on their way to a target's own form."""
    NONE = "none"
    """Nothing is wrong: the caller asked for it, or the target needs it in every such request."""


Place: TypeAlias = tuple[int, int]
"""Where a block stands: entry and position. It is put into words only for a finding."""


def in_words(place: Place) -> str:
    """The path of a block."""
    entry, position = place
    return f"entries[{entry}].blocks[{position}]"


class Finding(Struct, frozen=True, gc=False):
    """One thing seen or done: a stable `code`, its place, and a sentence for a person."""

    code: str
    where: str
    action: Action
    why: str
    fault: Fault
    came: str = ""
    """JSON path in the body that came in; empty for what was added, and where it is not known."""
    went: str = ""
    """JSON path in the body that goes out; empty for what was dropped, and where it is not known.
    """
    rule: str = ""
    """The key of the fact that asked for the change, `<profile>.<rule>`: `get_rule` gives its
    source. Empty where no fact did."""

    def __str__(self) -> str:
        return f"{self.where}: {self.why} [{self.code}, {self.action}]"


class Report(Struct, frozen=True):
    """The findings of one operation, in the order they were made."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What the report does not cover, in sentences: that a body names no model, for example."""

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Self:
        """A report of these findings."""
        return cls(tuple(findings))

    @property
    def counts(self) -> dict[str, int]:
        """How often each code occurs, in order of first occurrence."""
        return dict(Counter(finding.code for finding in self.findings))

    @property
    def changes(self) -> tuple[Finding, ...]:
        """The findings that say that something is not as it was."""
        return tuple(one for one in self.findings if one.action is not Action.KEPT)

    @property
    def has_repairs(self) -> bool:
        """Whether something had to be changed, apart from additions that are not faults."""
        return any(
            one.fault is not Fault.NONE or one.action is not Action.ADDED for one in self.changes
        )

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __contains__(self, wanted: object) -> bool:
        """`"orphan_result" in report` asks for a code; a finding can be asked for as well."""
        if not isinstance(wanted, str):
            return wanted in self.findings
        return wanted in [one.code for one in self.findings]

    def __str__(self) -> str:
        found = [str(one) for one in self.findings] or ["nothing to report"]
        return "\n".join((*found, *self.notes))
