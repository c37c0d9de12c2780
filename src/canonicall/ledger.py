"""The ledger: one record for every tool call, from request to outcome.

It is the truth the renderer reads. Messages tell what was said; the ledger tells which call each
result belongs to, what state the call is in and how it ended. Three rules live here:

1. A call arms its raw id, a result consumes it. There is no set of ids seen: providers reuse them.
   When a later exchange arms an id again, results go to the later call; inside one exchange
   (assistant messages in a row) the first open occurrence wins.
2. A result never derives an id. It is resolved by evidence, strongest first: the canonical or raw
   id of its call, the id that a target was sent for it, the same id in another spelling if exactly
   one open call fits, and, for a result without an id, its position among the calls of the last
   exchange.
3. The first terminal state wins. Only a completion that was never more than a stand-in (synthetic,
   placed by position while its exchange lasts, or seen before its call) gives way to a real one.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import CallClosed, Tombstone, ToolCall, ToolResult
from canonicall.findings import Place
from canonicall.ids import HISTORY_PREFIX, Spellings, normalize_to_history_tool_id
from canonicall.outcome import Outcome, Status, status_of

SYNTHETIC = "synthetic"
EARLY = "early"
PLACED = "placed"
PARTIAL = "partial"
DUPLICATE_RESULT = "duplicate_result"
LATE_RESULT = "late_result"

SPELLED = 3
"""How many calls are looked for that a differently spelled id may mean."""
_STAND_INS = (SYNTHETIC, EARLY, PLACED)


class Interaction(Struct, frozen=True, gc=False):
    """A call, its lifecycle and its completion."""

    id: str
    call: ToolCall
    """The call as recorded: name, and the snapshot of its arguments."""
    turn_key: str
    entry: int
    """Index of the log entry that holds the call."""
    outcome: Outcome | None = None
    result: ToolResult | None = None
    """The effective completion, or the output so far while the call is open."""
    result_entry: int | None = None
    closed: bool = False
    """It ended by a closing, not by a result; what is in `result` is then partial output."""
    why: str = ""
    markers: tuple[str, ...] = ()
    """What is remarkable: "synthetic", "early", "placed", "partial",
    "duplicate_result", "late_result"."""
    set_aside: tuple[int, ...] = ()
    """Log entries with further results: earlier output, duplicates, late results."""

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.call.name

    @property
    def status(self) -> Status:
        """The state that follows from the outcome; `pending` while the call is open."""
        return status_of(self.outcome)

    @property
    def is_open(self) -> bool:
        """Whether the call has no outcome yet."""
        return self.outcome is None

    @property
    def is_stand_in(self) -> bool:
        """Whether a real completion may still take the place of this one."""
        return bool(self.markers) and any(marker in _STAND_INS for marker in self.markers)


class Ledger(Mapping[str, Interaction]):
    """Every interaction by canonical id, in call order. Written by the conversation only."""

    def __init__(self) -> None:
        self.records: dict[str, Interaction] = {}
        """By canonical id, without what was set aside since they were read. Do not change it."""
        self._open: dict[str, None] = {}
        # Nearly every id is armed once, and a deque is ten times as large as what it holds.
        self._armed: dict[str, tuple[int, tuple[str] | deque[str]]] = {}
        self._standing_in: dict[str, deque[str]] = {}
        """The armed calls that are not open, by raw id: some have only a stand-in."""
        self._latest_by_raw_id: dict[str, str] = {}
        self._exchange = 0
        self.exchange: list[str] = []
        """The calls of the last exchange, in order. Do not change it."""
        self.displaceable: dict[str, Interaction] = {}
        """The calls of the last exchange that were completed by position, as they were before: a
        result that names one takes its place. Do not change it."""
        self._placed: list[Place] = []
        """Where the results are that completed them."""
        self._takers: dict[Place, str] = {}
        """The calls of results whose log entry does not name them, by the place of the result."""
        self._buried: dict[str, Tombstone] = {}
        """The calls that were compacted away, by their ids, canonical and raw."""
        self._projected: dict[tuple[str, str, str], Mapping[str, str]] = {}
        """By target: the ids that it was sent, each with the call that it means there."""
        self._unspelled: list[str] = []
        self._spellings: Spellings | None = None
        """The raw ids in all spellings, once somebody asks for one."""
        self._unread: dict[str, list[int]] = {}
        """Entries set aside that are not in their interaction yet."""

    def __getitem__(self, id: str) -> Interaction:
        if self._unread and id in self._unread:
            # Thousands of duplicates of one result are written down once, when somebody looks.
            one = self.records[id]
            aside = (*one.set_aside, *self._unread.pop(id))
            self.records[id] = replace(one, set_aside=aside)
        return self.records[id]

    def __contains__(self, id: object) -> bool:
        return id in self.records

    def __iter__(self) -> Iterator[str]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def open(self) -> tuple[Interaction, ...]:
        """Calls without an outcome, in call order."""
        # A call that was completed by position stays listed until its exchange ends.
        known = (self.records[id] for id in self._open)
        return tuple(one for one in known if one.is_open)

    def knows(self, id: str) -> bool:
        """Whether a call had this id before, as its raw one or its canonical one."""
        return id in self._latest_by_raw_id or id in self.records

    def bury(self, tombstone: Tombstone) -> None:
        """Note a call that was compacted away."""
        self._buried[tombstone.id] = tombstone
        if tombstone.raw_id:
            self._buried[tombstone.raw_id] = tombstone

    def buried(self, id: str) -> Tombstone | None:
        """The call with this id that was compacted away."""
        if not self._buried:
            return None
        return self._buried.get(id) or self._buried.get(normalize_to_history_tool_id(id))

    def begin_exchange(self) -> None:
        """The next calls form a batch of their own."""
        self._exchange += 1
        self.exchange = []

    def record(self, call: ToolCall, turn_key: str, entry: int) -> tuple[str, ...]:
        """Open an interaction. Returns the open calls whose raw id this one takes over."""
        id, raw_id = call.id, call.raw_id
        self.records[id] = Interaction(id, call, turn_key, entry)
        self._open[id] = None
        self.exchange.append(id)
        if not raw_id:
            return ()
        self._unspelled.append(id)
        self._latest_by_raw_id[raw_id] = id
        armed = self._armed.get(raw_id)
        if armed is not None and armed[0] == self._exchange:
            ids = armed[1] if isinstance(armed[1], deque) else deque(armed[1])
            ids.append(id)
            self._armed[raw_id] = (self._exchange, ids)
            return ()
        self._armed[raw_id] = (self._exchange, (id,))
        if armed is None:
            return ()
        self._standing_in.pop(raw_id, None)
        return tuple(one for one in armed[1] if one in self._open)

    def named(self, id: str) -> Interaction | None:
        """The interaction an id means: canonical, raw, as a target was sent it, or re-prefixed."""
        exact = self.records.get(id)
        if exact is not None and (exact.outcome is None or exact.is_stand_in):
            return exact
        armed = self._armed.get(id)
        waiting = None if armed is None else self._unsettled(id, armed[1])
        if waiting is not None:
            return self.records[waiting]
        # Nothing is open under this id. The call that had it last explains a duplicate or late
        # result; failing that, `call_*` and `toolu_*` may be made from a canonical `hist_tool_*`.
        latest = self.records.get(self._latest_by_raw_id.get(id, id))
        if latest is None and self._projected:
            latest = self._sent_as(id)
        if latest is None and not id.startswith(HISTORY_PREFIX):
            return self.named(normalize_to_history_tool_id(id))
        return latest

    def remember(self, target: tuple[str, str, str], sent: Mapping[str, str]) -> None:
        """Note the ids that a target is sent: one that comes back means the same call.

        `target` is its provider, its model and its format. `sent` may grow: it is not copied.
        """
        self._projected.pop(target, None)
        self._projected[target] = sent

    def _sent_as(self, id: str) -> Interaction | None:
        """The call that a target was sent under this id; the target rendered for last counts."""
        for sent in reversed(self._projected.values()):
            one = self.records.get(sent.get(id, ""))
            if one is not None:
                return one
        return None

    def spelled(self, id: str) -> tuple[Interaction, ...]:
        """Open calls whose raw id may be the same as `id` in another spelling; the first few."""
        spellings = self._spellings = self._spellings or Spellings()
        for call in self._unspelled:
            spellings.add(self.records[call].call.raw_id, call)
        self._unspelled.clear()
        fitting = spellings.matching(id, self._open, SPELLED)
        return tuple(self.records[call] for call in fitting)

    def answered(self, result: ToolResult, place: Place) -> Interaction | None:
        """The call that the result at a place of the log belongs to; None for an orphan."""
        id = result.call_id if result.bound else self._takers.get(place)
        return self[id] if id in self.records else None

    def place(self, id: str, result: ToolResult, place: Place) -> None:
        """Complete an open call by position, until a result names it or the exchange ends."""
        before = self[id]
        self.displaceable.setdefault(id, before)
        self._takers[place] = id
        self._placed.append(place)
        after = _completed(before, result, place[0])
        if before.result_entry is not None:
            after = replace(after, set_aside=(*before.set_aside, before.result_entry))
        if not after.is_open:
            marker = EARLY if place[0] < before.entry else PLACED
            after = replace(after, markers=_added(after.markers, marker))
        self.records[id] = after

    def take_back(self) -> None:
        """Undo what was completed by position in this exchange."""
        self.records |= self.displaceable
        for place in self._placed:
            del self._takers[place]
        self._forget_placed()

    def settle(self) -> None:
        """The exchange is over: what was completed by position stays so."""
        for id in self.displaceable:
            one = self[id]
            if not one.is_open:
                self._open.pop(id, None)
            if PLACED in one.markers:
                kept = tuple(marker for marker in one.markers if marker != PLACED)
                self.records[id] = replace(one, markers=kept)
        self._forget_placed()

    def complete(self, id: str, result: ToolResult, entry: int) -> Interaction:
        """Write what a result means for its interaction and return the new record."""
        before = self.records[id]
        if before.outcome is not None and (result.synthetic or not before.is_stand_in):
            marker = LATE_RESULT if before.closed else DUPLICATE_RESULT
            self._unread.setdefault(id, []).append(entry)
            if marker in before.markers:
                return before
            after = replace(before, markers=(*before.markers, marker))
            self.records[id] = after
            return after
        after = before
        if before.outcome is None or result.outcome is not None:
            after = _completed(before, result, entry)
            if before.result_entry is not None:
                self._unread.setdefault(id, []).append(before.result_entry)
        if after.outcome is not None:
            self._open.pop(id, None)
        self.records[id] = after
        return after

    def complete_early(self, id: str, result: ToolResult, place: Place) -> Interaction:
        """Complete a call with a result that precedes it, until a better one comes."""
        self._takers[place] = id
        after = self.complete(id, result, place[0])
        if not after.is_open:
            after = replace(after, markers=_added(after.markers, EARLY))
            self.records[id] = after
        return after

    def close(self, closing: CallClosed, entry: int) -> Interaction | None:
        """End an open call without a result; None if it has ended already."""
        before = self[closing.call_id]
        if not (before.is_open or SYNTHETIC in before.markers):
            return None
        # Output so far is kept, unless the closing brings its own; a made-up result is not.
        result = before.result if before.is_open else None
        if closing.content:
            result = ToolResult(call_id=closing.call_id, content=closing.content)
        after = replace(
            before,
            outcome=closing.outcome,
            result=result,
            result_entry=entry,
            closed=True,
            why=closing.why,
            markers=tuple(marker for marker in before.markers if marker not in _STAND_INS),
            set_aside=_with_entry(before.set_aside, before.result_entry),
        )
        self.records[closing.call_id] = after
        self._open.pop(closing.call_id, None)
        return after

    def fork(self) -> "Ledger":
        """An independent copy."""
        twin = Ledger()
        twin.records = dict(self.records)
        twin._open = dict(self._open)
        twin._armed = {raw: (at, copy(ids)) for raw, (at, ids) in self._armed.items()}
        twin._standing_in = {raw: copy(ids) for raw, ids in self._standing_in.items()}
        twin._latest_by_raw_id = dict(self._latest_by_raw_id)
        twin._exchange = self._exchange
        twin.exchange = list(self.exchange)
        twin._buried = dict(self._buried)
        twin.displaceable, twin._placed = dict(self.displaceable), list(self._placed)
        twin._takers = dict(self._takers)
        twin._projected = dict(self._projected)
        twin._unspelled = [id for id, one in self.records.items() if one.call.raw_id]
        twin._unread = {id: list(entries) for id, entries in self._unread.items()}
        return twin

    def _forget_placed(self) -> None:
        self.displaceable.clear()
        self._placed.clear()

    def _unsettled(self, raw_id: str, ids: tuple[str] | deque[str]) -> str | None:
        """The first of `ids` that is open, else the first that has only a stand-in.

        What is not open any more is not read twice.
        """
        if isinstance(ids, tuple):
            is_waiting = ids[0] in self._open or self.records[ids[0]].is_stand_in
            return ids[0] if is_waiting else None
        while ids and ids[0] not in self._open:
            self._standing_in.setdefault(raw_id, deque()).append(ids.popleft())
        if ids:
            return ids[0]
        held = self._standing_in[raw_id]
        while held and not self.records[held[0]].is_stand_in:
            held.popleft()
        return held[0] if held else None


def _completed(before: Interaction, result: ToolResult, entry: int) -> Interaction:
    """`before` with a result, which ends it unless it is pending. An earlier one is set aside."""
    after = replace(before, outcome=result.outcome, result=result, result_entry=entry)
    if result.outcome is None:
        return replace(after, markers=_added(before.markers, PARTIAL))
    if before.result_entry is None and not before.markers and not result.synthetic:
        return after
    kept = tuple(marker for marker in before.markers if marker not in (*_STAND_INS, PARTIAL))
    return replace(after, markers=_added(kept, SYNTHETIC) if result.synthetic else kept)


def _added(markers: tuple[str, ...], marker: str) -> tuple[str, ...]:
    return markers if marker in markers else (*markers, marker)


def _with_entry(entries: tuple[int, ...], entry: int | None) -> tuple[int, ...]:
    return entries if entry is None else (*entries, entry)
