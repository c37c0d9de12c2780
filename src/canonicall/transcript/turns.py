"""What the renderer makes of a conversation: turns, one for each wire message.

A turn holds canonical blocks that are ready to be written: ids and names are the target's, opaque
state and native fields are only what this target may get, results stand in call order. A format's
encoder maps a turn to wire messages without deciding anything.
"""

from msgspec import Struct

from canonicall.blocks import Block, Native, Origin, Role
from canonicall.findings import Finding, Report


class Turn(Struct, frozen=True):
    """One message for a target."""

    role: Role
    blocks: tuple[Block, ...] = ()
    origin: Origin | None = None
    native: Native | None = None
    prefix: bool = False
    """An assistant message at the very end that the model is to continue."""


class Transcript(Struct, frozen=True):
    """A conversation as one target accepts it."""

    turns: tuple[Turn, ...]
    ids: dict[str, str]
    """Canonical call id to the id on the wire."""
    names: dict[str, str]
    """Name on the wire to the tool's own name, for those that differ."""
    report: Report

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.report.findings
