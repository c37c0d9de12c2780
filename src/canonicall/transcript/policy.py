"""What a request is fitted to: the target, and what is done where more than one answer is right."""

from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.outcome import Outcome


class Policy(Struct, frozen=True):
    """Choices of the caller. The defaults lose the least and claim nothing untrue."""

    open_calls: Outcome = Outcome.RESULT_LOST
    """How a call without an outcome is told. A runtime that knows more writes it as a closing."""
    orphans: Literal["drop", "text"] = "drop"
    """A result without a call: left out, or told as text of the user."""
    continues: bool = False
    """The provider keeps earlier turns: results without a call here are sent, and nothing is put
    before the first turn or in place of one."""
    foreign_thinking: Literal["drop", "text"] = "drop"
    """Reasoning that the target cannot read: left out, or sent as plain words."""
    server_tools: Literal["drop", "text"] = "drop"
    """Calls another provider ran on its side: left out as a pair, or told as text."""
    schemas: Literal["fit", "refuse"] = "fit"
    """A schema the target cannot say: it says what it can, or `UntranslatableSchema` is raised."""
    strict_tools: Literal["exact", "made"] = "exact"
    """A strict tool whose schema strict mode cannot say: it is not strict there, or its schema is
    changed until it is."""


DEFAULT = Policy()


class Goal(Struct):
    """Where a request goes, and what was said on the way there. Every pass gets it."""

    target: Target
    policy: Policy = DEFAULT
    findings: list[Finding] = []
    """What was changed so far; a pass adds to it."""


Run = TypeVar("Run", bound=Callable[..., object])


class Pass(Struct, Generic[Run], frozen=True):
    """One step on the way of a request. All steps of a stage have the same signature."""

    name: str
    run: Run
    why: str
    """The reason for its place in the list."""
