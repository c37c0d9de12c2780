"""What the renderer makes of a conversation: turns, one for each wire message.

A turn holds canonical blocks that are ready to be written: ids and names are the target's, opaque
state and native fields are only what this target may get, results stand in call order. A format's
encoder maps a turn to wire messages without deciding anything.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from msgspec import Struct

from canonicall.blocks import Block, Native, Origin, Role, ToolCall, ToolResult
from canonicall.facts.target import Target
from canonicall.findings import Finding, Report


class Turn(Struct, frozen=True, gc=False):
    """One message for a target."""

    role: Role
    blocks: tuple[Block, ...] = ()
    origin: Origin | None = None
    native: Native | None = None
    prefix: bool = False
    """An assistant message at the very end that the model is to continue."""


class Diagnostics(Struct, frozen=True):
    """The ids that came in, the ids that went out, and every decision in between."""

    format: str
    provider: str
    seen: tuple[str, ...]
    """Canonical ids of the calls in the conversation."""
    emitted_calls: tuple[str, ...]
    """Wire ids of the calls, in order; empty where the target needs none."""
    emitted_results: tuple[str, ...]
    made_up: dict[str, str]
    """Canonical ids of the calls whose result is made up, with the outcome the model is told."""
    set_aside: tuple[str, ...]
    """Places of results that are not sent: orphans, duplicates, late ones."""
    faults: dict[str, int]
    """How many findings lie in the input, the state, the rendering, the projection."""
    model: str = ""

    def __str__(self) -> str:
        sent = f"{len(self.emitted_calls)} sent, {len(self.emitted_results)} results sent"
        named = f"{self.provider or 'any provider'}{self.model and f':{self.model}'}"
        lines = [
            f"for {named} ({self.format})",
            f"{len(self.seen)} calls seen, {sent}, {len(self.made_up)} of them made up",
        ]
        lines += (f"  made up: {id} told as {outcome}" for id, outcome in self.made_up.items())
        lines += (f"  not sent: {place}" for place in self.set_aside)
        lines += (f"  {count} findings of fault {fault}" for fault, count in self.faults.items())
        return "\n".join(lines)


class Transcript(Struct, frozen=True):
    """A conversation as one target accepts it."""

    turns: tuple[Turn, ...]
    ids: dict[str, str]
    """Canonical call id to the id on the wire."""
    names: dict[str, str]
    """Name on the wire to the tool's own name, for those that differ."""
    report: Report
    target: Target = Target(format="")

    @property
    def diagnostics(self) -> Diagnostics:
        """What a person or a program needs to find out why a provider refused the request."""
        return diagnose(self.turns, self.ids, self.report, self.target)

    @property
    def cache_marks(self) -> int:
        """How many blocks carry a cache mark."""
        return sum(block.cache is not None for turn in self.turns for block in turn.blocks)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was changed or noticed while rendering."""
        return self.report.findings


class KnownTurns:
    """The turns of one growing transcript as a format writes them; each is written once.

    A transcript only grows, so a turn that is known stands in its old place. What it gives is
    shared between the bodies it is given to: it must not be changed.
    """

    def __init__(self) -> None:
        self._turns: tuple[Turn, ...] = ()
        self._written: list[list[dict[str, Any]]] = []

    @property
    def counts(self) -> list[int]:
        """How many messages each turn of the last body was written as."""
        return [len(messages) for messages in self._written]

    def written(
        self,
        turns: Iterable[Turn],
        target: Target,
        write: Callable[[Turn, Target], list[dict[str, Any]]],
    ) -> list[dict[str, Any]]:
        """All messages of these turns; those that were written for the last body are taken."""
        turns = tuple(turns)
        known = zip(turns, self._turns, self._written, strict=False)
        written = [
            messages if turn is old else write(turn, target) for turn, old, messages in known
        ]
        written += [write(turn, target) for turn in turns[len(written) :]]
        self._turns, self._written = turns, written
        return list(chain.from_iterable(written))


_NOT_SENT = ("orphan_not_sent", "result_not_sent")


def diagnose(
    turns: tuple[Turn, ...], ids: dict[str, str], report: Report, target: Target
) -> Diagnostics:
    """Read the diagnostics off a finished transcript."""
    blocks = [block for turn in turns for block in turn.blocks]
    calls = [block for block in blocks if isinstance(block, ToolCall) and block.kind != "server"]
    results = [block for block in blocks if isinstance(block, ToolResult) and not block.opaque]
    # Results of calls that only the provider has stored answer none of these.
    wire_ids = set(ids.values())
    answers = (result for result in results if result.call_id in wire_ids)
    made_up = {
        canonical: str(result.outcome)
        for canonical, result in zip(ids, answers, strict=False)
        if result.synthetic
    }
    return Diagnostics(
        target.format,
        target.provider,
        tuple(ids),
        tuple(call.id for call in calls),
        tuple(result.call_id for result in results),
        made_up,
        tuple(finding.where for finding in report if finding.code in _NOT_SENT),
        dict(Counter(str(finding.fault) for finding in report)),
        target.model,
    )
