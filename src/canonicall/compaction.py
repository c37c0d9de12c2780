"""Compaction: a shorter conversation in which every tool interaction is still whole.

In: a conversation and what to leave out. Out: a new conversation, written through the same
boundary, and a report. A call and its completion are one atom: they are kept, shortened or
summarised together, and a call that is still open is never cut. The original is not touched.

Nothing vanishes from the log without a trace: a dropped stretch leaves an empty `Summary` that
says how many entries it stood for and has a tombstone of each call, so that late results are
recognised and no id on the wire changes its meaning. A shortened message is marked as edited.
"""

from collections.abc import Callable
from hashlib import sha256
from itertools import accumulate
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import (
    Block,
    CallClosed,
    Entry,
    Media,
    Message,
    ResultContent,
    Summary,
    Text,
    Tombstone,
    ToolCall,
    ToolResult,
)
from canonicall.conversation import Conversation
from canonicall.decisions import is_standing
from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding, Report
from canonicall.ids import base64url
from canonicall.ledger import Interaction

MIN_LIMIT = 80
"""The shortest limit that leaves room for the note about what was left out."""


class Compacted(Struct, frozen=True):
    """The compacted conversation and what was done to it."""

    conversation: Conversation
    report: Report


def cut_points(conversation: Conversation) -> tuple[int, ...]:
    """Where the log may be cut: before these entries no interaction is split.

    A point stays one for good, however the conversation goes on: a call that is open, or has only
    a stand-in for a result, rules out every point behind it.
    """
    size = len(conversation)
    # A running sum of how many interactions span each gap: +1 where one begins, -1 where it ends.
    change = [0] * (size + 2)
    for one in conversation.ledger.values():
        first, last = _span(one, size)
        change[first + 1] += 1
        change[last + 1] -= 1
    spanning = accumulate(change[: conversation.settled_until + 1])
    return tuple(point for point, count in enumerate(spanning) if count == 0)


def drop(conversation: Conversation, stop: int, *, start: int | None = None) -> Compacted:
    """Leave out the entries from `start` to `stop`.

    Instructions in between are kept, and decisions that stand for later calls.
    """
    return summarise(conversation, stop, "", start=start)


def summarise(
    conversation: Conversation, stop: int, text: str, *, start: int | None = None
) -> Compacted:
    """Put a summary in place of the entries from `start` to `stop`.

    Both are moved to cut points if need be, so that the stretch shrinks and never grows. `start`
    is the end of the leading instructions unless given; instructions in between are kept, and
    decisions that stand for later calls.
    """
    wanted = (_after_instructions(conversation) if start is None else start, stop)
    _check_range(conversation, *wanted)
    first, last = _inner_cut(conversation, *wanted)
    findings = _moved(wanted, (first, last)) if wanted[0] < wanted[1] else []
    all_entries = _with_calls_named(conversation)
    entries = all_entries[first:last]
    gone = [entry for entry in entries if not _is_kept(entry)]
    if not gone:
        why = "There is nothing between these points that could be left out."
        place = f"entries[{first}:{last}]"
        findings.append(Finding("nothing_to_compact", place, Action.KEPT, why, Fault.NONE))
        return Compacted(conversation.fork(), Report(tuple(findings)))
    covers = sum(_weight(entry) for entry in gone)
    dropped = _tombstones(conversation, gone)
    summary = Message("user", (Summary(text=text, covers=covers, tombstones=dropped),))
    kept = [entry for entry in entries if _is_kept(entry)]
    findings.append(_compacted_finding(conversation, first, last, len(gone)))
    left = [*all_entries[:first], summary, *kept, *all_entries[last:]]
    return _rebuilt(left, findings, strict=conversation.strict)


def shorten(
    conversation: Conversation,
    limit: int,
    *,
    start: int = 0,
    stop: int | None = None,
    arguments: bool = False,
    media: bool = False,
) -> Compacted:
    """Shorten texts and tool payloads from `start` to `stop` to `limit` characters each.

    Beginning and end of a text stay, a note says how much is missing. Instructions and messages
    with signed parts are left alone: a model's signed words must not be changed. `arguments`
    shortens long text in the arguments of finished calls too, `media` replaces media in results.
    """
    if limit < MIN_LIMIT:
        raise InvalidValue(
            f"{limit} is too short.", where="limit", help=f"Use {MIN_LIMIT} or more."
        )
    stop = len(conversation) if stop is None else stop
    _check_range(conversation, start, stop)
    shortener = _Shortener(conversation, limit, arguments=arguments, media=media)
    entries = [
        shortener.entry(entry, f"entries[{index}]") if start <= index < stop else entry
        for index, entry in enumerate(_with_calls_named(conversation))
    ]
    return _rebuilt(entries, shortener.findings, strict=conversation.strict)


class _Shortener:
    """Shortens entries and remembers what it did."""

    def __init__(
        self, conversation: Conversation, limit: int, *, arguments: bool, media: bool
    ) -> None:
        self._ledger = conversation.ledger
        self._limit = limit
        self._arguments = arguments
        self._media = media
        self.findings: list[Finding] = []

    def entry(self, entry: Entry, where: str) -> Entry:
        if not isinstance(entry, (Message, CallClosed)):
            return entry
        if isinstance(entry, CallClosed):
            return replace(entry, content=self._contents(entry.content, f"{where}.content"))
        if _is_instruction(entry) or any(block.opaque for block in entry.blocks):
            return entry
        blocks = tuple(
            self._block(block, f"{where}.blocks[{index}]")
            for index, block in enumerate(entry.blocks)
        )
        if all(new is old for new, old in zip(blocks, entry.blocks, strict=True)):
            return entry
        return replace(entry, blocks=blocks, edited=True)

    def _block(self, block: Block, where: str) -> Block:
        if isinstance(block, Text):
            return self._words(block, where)
        if isinstance(block, ToolResult) and block.content:
            content = self._contents(block.content, f"{where}.content")
            return block if content is block.content else replace(block, content=content)
        if isinstance(block, ToolCall) and self._arguments and not self._ledger[block.id].is_open:
            return self._call(block, where)
        return block

    def _words(self, block: Text, where: str) -> Text:
        text = self._text(block.text, where)
        return block if text is block.text else replace(block, text=text)

    def _contents(
        self, content: tuple[ResultContent, ...], where: str
    ) -> tuple[ResultContent, ...]:
        new = tuple(self._content(part, f"{where}[{n}]") for n, part in enumerate(content))
        changed = any(a is not b for a, b in zip(new, content, strict=True))
        return new if changed else content

    def _content(self, part: ResultContent, where: str) -> ResultContent:
        if isinstance(part, Text):
            return self._words(part, where)
        if isinstance(part, Media) and self._media:
            self._note(where, f"{part.media_type} was replaced by a note.")
            return Text(text=f"[{part.media_type} left out]")
        return part

    def _call(self, call: ToolCall, where: str) -> ToolCall:
        if call.args is None:
            return call
        args = _map_text(call.args, lambda text: self._text(text, f"{where}.args"))
        return call if args == call.args else replace(call, args=args, raw=None)

    def _text(self, text: str, where: str) -> str:
        if len(text) <= self._limit:
            return text
        note = f"\n[... {len(text):,} characters in all, the middle left out ...]\n"
        room = self._limit - len(note)
        tail = room // 3
        self._note(where, f"{len(text):,} characters were shortened to {self._limit:,}.")
        return text[: room - tail] + note + text[len(text) - tail :]

    def _note(self, where: str, why: str) -> None:
        self.findings.append(Finding("shortened", where, Action.CHANGED, why, Fault.NONE))


def _map_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map_text(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_text(item, change) for item in value]
    return value


def _rebuilt(entries: list[Entry], findings: list[Finding], *, strict: bool) -> Compacted:
    """The new conversation, through the write boundary. What it remarks is part of the report."""
    conversation = Conversation.of(entries)
    conversation.strict = strict
    return Compacted(conversation, Report((*findings, *conversation.report)))


def _with_calls_named(conversation: Conversation) -> list[Entry]:
    """The log in which every result names its call: its position may change."""
    ledger, entries = conversation.ledger, list(conversation.entries)
    for at, entry in enumerate(entries):
        if not isinstance(entry, Message) or not any(not one.bound for one in entry.results):
            continue
        blocks = list(entry.blocks)
        for position, block in enumerate(blocks):
            one = ledger.answered(block, (at, position)) if isinstance(block, ToolResult) else None
            if isinstance(block, ToolResult) and one is not None and not block.bound:
                raw_id = block.raw_id or ("" if block.placed else block.call_id)
                named = replace(block, call_id=one.id, raw_id=raw_id, bound=True, placed=False)
                blocks[position] = named
        entries[at] = replace(entry, blocks=tuple(blocks))
    return entries


def _span(one: Interaction, size: int) -> tuple[int, int]:
    """The first and last log entry of an interaction, results that stood before the call included.

    Results that came after the end are left out: they have no effect, and counting them would
    take cut points away again.
    """
    ended_at = one.entry if one.result_entry is None else one.result_entry
    last = size if one.is_open or one.is_stand_in else max(one.entry, ended_at)
    return min(one.entry, ended_at, *one.set_aside), last


def _is_instruction(entry: Entry) -> bool:
    return isinstance(entry, Message) and entry.role in ("system", "developer")


def _is_kept(entry: Entry) -> bool:
    """Whether an entry stays when those around it go: it has a say in what comes later."""
    return _is_instruction(entry) or is_standing(entry)


def _after_instructions(conversation: Conversation) -> int:
    for index, entry in enumerate(conversation.entries):
        if not _is_instruction(entry):
            return index
    return len(conversation)


def _check_range(conversation: Conversation, start: int, stop: int) -> None:
    if not 0 <= start <= len(conversation) or not 0 <= stop <= len(conversation):
        raise InvalidValue(
            f"the stretch {start} to {stop} is not inside the conversation.",
            where="start, stop",
            help=f"It has entries 0 to {len(conversation)}.",
        )


def _inner_cut(conversation: Conversation, start: int, stop: int) -> tuple[int, int]:
    inside = [point for point in cut_points(conversation) if start <= point <= stop]
    return (inside[0], inside[-1]) if inside else (start, start)


def _moved(wanted: tuple[int, int], found: tuple[int, int]) -> list[Finding]:
    if wanted == found:
        return []
    why = (
        f"Cutting at {wanted[0]} and {wanted[1]} would split a tool call from its result;"
        f" the cut was made at {found[0]} and {found[1]}."
    )
    place = f"entries[{wanted[0]}:{wanted[1]}]"
    return [Finding("cut_moved", place, Action.CHANGED, why, Fault.NONE)]


def _weight(entry: Entry) -> int:
    """How many original entries an entry stands for."""
    covered = 0
    if isinstance(entry, Message):
        covered = sum(block.covers for block in entry.blocks if isinstance(block, Summary))
    return covered or 1


def _tombstones(conversation: Conversation, gone: list[Entry]) -> tuple[Tombstone, ...]:
    """What is left of the calls in these entries, and of those dropped before."""
    left: list[Tombstone] = []
    for entry in gone:
        for block in entry.blocks if isinstance(entry, Message) else ():
            if isinstance(block, Summary):
                left += block.tombstones
            elif isinstance(block, ToolCall):
                left.append(_tombstone(conversation.ledger[block.id]))
    return tuple(left)


def _tombstone(one: Interaction) -> Tombstone:
    content = one.result.content if one.result is not None else None
    return Tombstone(
        id=one.id,
        name=one.name,
        raw_id=one.call.raw_id,
        number=one.call.number,
        outcome=one.outcome,
        digest=base64url(sha256(msgspec.json.encode(content)).digest()[:12]) if content else "",
    )


def _compacted_finding(conversation: Conversation, first: int, last: int, gone: int) -> Finding:
    calls = sum(first <= one.entry < last for one in conversation.ledger.values())
    why = f"{gone} entries with {calls} finished tool calls were left out."
    return Finding("compacted", f"entries[{first}:{last}]", Action.DROPPED, why, Fault.NONE)
