"""What was proved of something: checks with their names, each held, broken or open, and evidence.

`Checking` collects. Whatever is raised while a case of a check runs breaks that check and ends
nothing else: what is under test was written by somebody, and may do anything.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, Self, TypeAlias

from msgspec import Struct

from canonicall.errors import CanonicallError

Kind: TypeAlias = Literal["provider", "syntax", "endpoint"]
State: TypeAlias = Literal["held", "broken", "open"]
"""held: it was seen to be so. broken: it was seen not to be so. open: it did not come up, or both
ways are right."""

_SHOWN = 5
"""Pieces of evidence that a check shows; the rest are counted."""
_LONGEST = 1000


class NotConforming(CanonicallError, AssertionError):
    """A check is broken. `conformance` has all of them."""

    def __init__(self, conformance: "Conformance") -> None:
        self.conformance = conformance
        super().__init__(str(conformance))


class Check(Struct, frozen=True):
    """One thing that has to hold."""

    name: str
    about: str
    state: State
    cases: int = 0
    """How often it was tried."""
    evidence: tuple[str, ...] = ()
    """Where it is broken, with what was seen; or why it is open."""


class Conformance(Struct, frozen=True):
    """All checks of one subject, in the order they were made."""

    kind: Kind
    subject: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[Check, ...]:
        return tuple(one for one in self.checks if one.state == "broken")

    @property
    def open(self) -> tuple[Check, ...]:
        return tuple(one for one in self.checks if one.state == "open")

    def __getitem__(self, name: str) -> Check:
        return {one.name: one for one in self.checks}[name]

    def raise_if_broken(self) -> Self:
        """The same, or `NotConforming` with every broken check: for the end of a test."""
        if self.broken:
            raise NotConforming(self)
        return self

    def __str__(self) -> str:
        shown = self.broken or self.checks
        lines = [f"{self.kind} {self.subject}: {len(self.broken)} of {len(self.checks)} broken"]
        for check in shown:
            lines.append(f"  {check.state} {check.name}: {check.about}")
            lines += [f"    {one}" for one in check.evidence]
        return "\n".join(lines)


class Checking:
    """Collects what the cases of checks have shown."""

    def __init__(self, about: Mapping[str, str]) -> None:
        """`about`: the checks by name, with what each of them says."""
        self._about = dict(about)
        self._cases = dict.fromkeys(about, 0)
        self._broken: dict[str, list[str]] = {name: [] for name in about}
        self._open: dict[str, list[str]] = {name: [] for name in about}

    @contextmanager
    def case(self, name: str, label: str) -> Iterator[None]:
        """One try of a check. What is raised inside is evidence against it, but for `Skipped`."""
        self._cases[name] += 1
        try:
            yield
        except Skipped:
            self._cases[name] -= 1
        except Broken as broken:
            self._broken[name].append(f"{label}: {broken}")
        except Exception as error:  # noqa: BLE001  whatever it is, it speaks about what is tested
            self._broken[name].append(f"{label}: {type(error).__name__}: {error}")

    def leave_open(self, name: str, why: str) -> None:
        """Say why a check shows nothing."""
        self._open[name].append(why)

    def report(self, kind: Kind, subject: str) -> Conformance:
        """What all cases together have shown."""
        return Conformance(kind, subject, tuple(map(self._check, self._about)))

    def _check(self, name: str) -> Check:
        broken, left = self._broken[name], self._open[name]
        state: State = "broken" if broken else "open" if left or not self._cases[name] else "held"
        told = broken or left or ([] if self._cases[name] else ["There was nothing to try."])
        more = [f"and {len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
        evidence = (*map(_short, told[:_SHOWN]), *more)
        return Check(name, self._about[name], state, self._cases[name], evidence)


class Broken(Exception):
    """Raised inside of a case: what was expected, and what was seen."""


class Skipped(Exception):
    """Raised inside of a case: there is nothing to try."""


def need(is_so: bool, what: str) -> None:
    """Break the check unless it is so."""
    if not is_so:
        raise Broken(what)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} ..."
