"""What the renderer does where more than one answer is right."""

from typing import Literal

from msgspec import Struct

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
