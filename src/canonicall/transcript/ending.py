"""Ending: what a transcript needs at its very end, and only there.

It is put on at last and taken off again before the next turn is added, so it never becomes part of
the history.
"""

from itertools import groupby
from operator import itemgetter

from msgspec.structs import replace

from canonicall.blocks import Block, Text
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.transcript.placing import CONTINUE, Builder
from canonicall.transcript.policy import Policy
from canonicall.transcript.turns import Turn

_INSTRUCTING = ("system", "developer")


def finished(
    built: Builder, policy: Policy, *, marked: bool
) -> tuple[tuple[Turn, ...], list[Finding]]:
    """The turns with an end that the target accepts. `marked`: some block has a cache mark."""
    findings: list[Finding] = []
    turns, target = tuple(built.turns), built.target
    last = next((turn for turn in reversed(turns) if turn.role not in _INSTRUCTING), None)
    held = built.held
    is_refused = target.ends_with_user or bool(held)
    asks = last is not None and not (is_refused and last.role == "assistant")
    # What a request without a message asks is known to the provider that it continues.
    if not asks and not (policy.continues and last is None):
        why, fault = (
            ("There is nothing to answer yet.", Fault.INPUT)
            if last is None
            else ("The target does not continue an assistant message.", Fault.RENDER)
        )
        why += f" {CONTINUE!r} was put at the end."
        place = f"turns[{len(turns)}]"
        rule = "ends_with_user" if last is not None and target.ends_with_user else ""
        findings.append(Finding("ending_added", place, Action.ADDED, why, fault, rule=rule))
        turns = (*turns, Turn("user", (Text(text=CONTINUE),)))
    elif last is not None and last.role == "assistant" and target.trimmed_ending:
        turns = _trimmed(turns, findings)
    if held:
        turns = (*turns, *held)
    if marked:
        turns = _within_cache_marks(turns, target, findings)
    return turns, findings


def _trimmed(turns: tuple[Turn, ...], findings: list[Finding]) -> tuple[Turn, ...]:
    """The words that the model shall go on with, without white space behind them."""
    *before, last = turns
    words = last.blocks[-1] if last.blocks else None
    if not isinstance(words, Text) or words.text == words.text.rstrip():
        return turns
    why = "The target continues no words that end in white space; it was cut off."
    place = f"turns[{len(before)}]"
    findings.append(
        Finding("ending_trimmed", place, Action.CHANGED, why, Fault.RENDER, rule="trimmed_ending")
    )
    trimmed = replace(words, text=words.text.rstrip())
    return (*before, replace(last, blocks=(*last.blocks[:-1], trimmed)))


def _within_cache_marks(
    turns: tuple[Turn, ...], target: Target, findings: list[Finding]
) -> tuple[Turn, ...]:
    """The newest marks stay: they are what the next request reads."""
    marked = [
        (at, position)
        for at, turn in enumerate(turns)
        for position, block in enumerate(turn.blocks)
        if block.cache is not None
    ]
    surplus = marked[: max(len(marked) - target.cache_marks, 0)]
    if not surplus:
        return turns
    why = f"The target takes {target.cache_marks} cache marks; the oldest were left out."
    place = f"turns[{surplus[0][0]}]"
    findings.append(
        Finding("cache_mark_dropped", place, Action.DROPPED, why, Fault.RENDER, rule="cache_marks")
    )
    changed = list(turns)
    for at, places in groupby(surplus, key=itemgetter(0)):
        blocks: list[Block] = list(changed[at].blocks)
        for _, position in places:
            blocks[position] = replace(blocks[position], cache=None)
        changed[at] = replace(changed[at], blocks=tuple(blocks))
    return tuple(changed)
