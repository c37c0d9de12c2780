"""The ledger: one record for every tool call, from request to outcome.

It is the truth the renderer reads. Messages tell what was said; the ledger tells which call each
result belongs to, what state the call is in and how it ended. Three rules live here:

1. A call arms its raw id, a result consumes it. There is no set of ids seen: providers reuse them.
   When a later exchange arms an id again, results go to the later call; inside one exchange
   (assistant messages in a row) the first open occurrence wins.
2. A result never derives an id. It names its call by canonical id, by raw id, or by position among
   the open calls of the last exchange, in this order.
3. The first terminal state wins. Only a completion that was never more than a stand-in (synthetic,
   or seen before its call) gives way to a real one.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import CallClosed, ToolCall, ToolResult
from canonicall.ids import HISTORY_PREFIX, normalize_to_history_tool_id
from canonicall.outcome import Outcome, Status, status_of

SYNTHETIC = "synthetic"
EARLY = "early"
PARTIAL = "partial"
DUPLICATE_RESULT = "duplicate_result"
LATE_RESULT = "late_result"

_STAND_INS = (SYNTHETIC, EARLY)


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
    """What is remarkable: "synthetic", "early", "partial", "duplicate_result", "late_result"."""
    set_aside: tuple[int, ...] = ()
    """Log entries with further results: earlier output, duplicates, late results."""

    @property
    def name(self) -> str:
        return self.call.name

    @property
    def status(self) -> Status:
        return status_of(self.outcome)

    @property
    def is_open(self) -> bool:
        return self.outcome is None

    @property
    def is_stand_in(self) -> bool:
        """Whether a real completion may still take the place of this one."""
        return bool(self.markers) and any(marker in _STAND_INS for marker in self.markers)


class _Places:
    """The calls of one exchange by what a result without their id may say of them.

    It is filled only when such a result comes; most exchanges never have one.
    """

    def __init__(self) -> None:
        self.known = 0
        """How many calls of the exchange are in here."""
        self._waiting: dict[tuple[str, bool], deque[str]] = {}

    def add(self, call: ToolCall) -> None:
        self.known += 1
        for only_without_id in (False,) if call.raw_id else (False, True):
            for name in ("", call.name):
                self.of(name, only_without_id=only_without_id).append(call.id)

    def of(self, name: str, *, only_without_id: bool) -> deque[str]:
        """The calls of a tool, or of any, in order."""
        return self._waiting.setdefault((name, only_without_id), deque())


class Ledger(Mapping[str, Interaction]):
    """Every interaction by canonical id, in call order. Written by the conversation only."""

    def __init__(self) -> None:
        self._interactions: dict[str, Interaction] = {}
        self._open: dict[str, None] = {}
        # Nearly every id is armed once, and a deque is ten times as large as what it holds.
        self._armed: dict[str, tuple[int, tuple[str] | deque[str]]] = {}
        self._latest_by_raw_id: dict[str, str] = {}
        self._exchange = 0
        self._exchange_ids: list[str] = []
        self._places: _Places | None = None
        self._unread: dict[str, list[int]] = {}
        """Entries set aside that are not in their interaction yet."""

    def __getitem__(self, id: str) -> Interaction:
        if self._unread and id in self._unread:
            # Thousands of duplicates of one result are written down once, when somebody looks.
            one = self._interactions[id]
            aside = (*one.set_aside, *self._unread.pop(id))
            self._interactions[id] = replace(one, set_aside=aside)
        return self._interactions[id]

    def __contains__(self, id: object) -> bool:
        return id in self._interactions

    def __iter__(self) -> Iterator[str]:
        return iter(self._interactions)

    def __len__(self) -> int:
        return len(self._interactions)

    @property
    def open(self) -> tuple[Interaction, ...]:
        """Calls without an outcome, in call order."""
        return tuple(self._interactions[id] for id in self._open)

    def knows(self, id: str) -> bool:
        """Whether a call had this id before, as its raw one or its canonical one."""
        return id in self._latest_by_raw_id or id in self._interactions

    def begin_exchange(self) -> None:
        """The next calls form a batch of their own."""
        self._exchange += 1
        self._exchange_ids = []
        self._places = None

    def record(self, call: ToolCall, turn_key: str, entry: int) -> tuple[str, ...]:
        """Open an interaction. Returns the open calls whose raw id this one takes over."""
        id, raw_id = call.id, call.raw_id
        self._interactions[id] = Interaction(id, call, turn_key, entry)
        self._open[id] = None
        self._exchange_ids.append(id)
        if not raw_id:
            return ()
        self._latest_by_raw_id[raw_id] = id
        armed = self._armed.get(raw_id)
        if armed is not None and armed[0] == self._exchange:
            ids = armed[1] if isinstance(armed[1], deque) else deque(armed[1])
            ids.append(id)
            self._armed[raw_id] = (self._exchange, ids)
            return ()
        self._armed[raw_id] = (self._exchange, (id,))
        return () if armed is None else tuple(one for one in armed[1] if one in self._open)

    def named(self, id: str) -> Interaction | None:
        """The interaction an id means, whether canonical, raw, or a canonical one re-prefixed."""
        exact = self._interactions.get(id)
        if exact is not None and (exact.outcome is None or exact.is_stand_in):
            return exact
        armed = self._armed.get(id)
        if armed is not None:
            waiting = self._unsettled(armed[1])
            for candidate in waiting:
                if candidate in self._open:
                    return self._interactions[candidate]
            if waiting:
                return self._interactions[waiting[0]]
        # Nothing is open under this id. The call that had it last explains a duplicate or late
        # result; failing that, `call_*` and `toolu_*` may be made from a canonical `hist_tool_*`.
        latest = self._interactions.get(self._latest_by_raw_id.get(id, id))
        if latest is None and not id.startswith(HISTORY_PREFIX):
            return self.named(normalize_to_history_tool_id(id))
        return latest

    def placed(self, call_id: str, name: str) -> Interaction | None:
        """The first open call of the last exchange that a result does not contradict.

        A result whose id no call has can only answer a call that came without an id.
        """
        if call_id.startswith(HISTORY_PREFIX):
            return None
        places = self._places = self._places or _Places()
        for id in self._exchange_ids[places.known :]:
            places.add(self._interactions[id].call)
        waiting = places.of(name, only_without_id=bool(call_id))
        while waiting and waiting[0] not in self._open:
            waiting.popleft()
        return self._interactions[waiting[0]] if waiting else None

    def complete(self, id: str, result: ToolResult, entry: int) -> Interaction:
        """Write what a result means for its interaction and return the new record."""
        before = self._interactions[id]
        if before.outcome is not None and (result.synthetic or not before.is_stand_in):
            marker = LATE_RESULT if before.closed else DUPLICATE_RESULT
            self._unread.setdefault(id, []).append(entry)
            if marker in before.markers:
                return before
            after = replace(before, markers=(*before.markers, marker))
            self._interactions[id] = after
            return after
        before = self[id]
        if result.outcome is None:
            after = before
            if before.outcome is None:
                after = replace(
                    before,
                    result=result,
                    result_entry=entry,
                    markers=_added(before.markers, PARTIAL),
                    set_aside=_with_entry(before.set_aside, before.result_entry),
                )
        else:
            after = _completed(before, result, entry)
            self._open.pop(id, None)
        self._interactions[id] = after
        return after

    def complete_early(self, id: str, result: ToolResult, entry: int) -> Interaction:
        """Complete a call with a result that stood before it, until a better one comes."""
        after = self.complete(id, result, entry)
        if not after.is_open:
            after = replace(after, markers=_added(after.markers, EARLY))
            self._interactions[id] = after
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
        self._interactions[closing.call_id] = after
        self._open.pop(closing.call_id, None)
        return after

    def fork(self) -> "Ledger":
        """An independent copy."""
        twin = Ledger()
        twin._interactions = dict(self._interactions)
        twin._open = dict(self._open)
        twin._armed = {raw: (at, copy(ids)) for raw, (at, ids) in self._armed.items()}
        twin._latest_by_raw_id = dict(self._latest_by_raw_id)
        twin._exchange = self._exchange
        twin._exchange_ids = list(self._exchange_ids)
        twin._unread = {id: list(entries) for id, entries in self._unread.items()}
        return twin

    def _unsettled(self, ids: tuple[str] | deque[str]) -> tuple[()] | tuple[str] | deque[str]:
        """`ids` from the first that can still take a result. What is settled is not read twice."""
        while ids and not (ids[0] in self._open or self._interactions[ids[0]].is_stand_in):
            if isinstance(ids, tuple):
                return ()
            ids.popleft()
        return ids


def _completed(before: Interaction, result: ToolResult, entry: int) -> Interaction:
    after = replace(before, outcome=result.outcome, result=result, result_entry=entry)
    if before.result_entry is None and not before.markers and not result.synthetic:
        return after
    kept = tuple(marker for marker in before.markers if marker not in (*_STAND_INS, PARTIAL))
    return replace(
        after,
        markers=_added(kept, SYNTHETIC) if result.synthetic else kept,
        set_aside=_with_entry(before.set_aside, before.result_entry),
    )


def _added(markers: tuple[str, ...], marker: str) -> tuple[str, ...]:
    return markers if marker in markers else (*markers, marker)


def _with_entry(entries: tuple[int, ...], entry: int | None) -> tuple[int, ...]:
    return entries if entry is None else (*entries, entry)
