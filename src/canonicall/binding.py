"""Binding: calls get their canonical ids, results get their calls.

In: an admitted entry. Out: the entry with canonical ids, the ledger brought up to date, and
findings for everything out of the ordinary. This is the only place where an id is derived and the
only one that writes to the ledger.

Position is the weakest evidence there is. So a placement is provisional until the exchange ends: a
result that names the call takes it, whenever it comes, and the others are placed again. Within one
exchange results have the order of their calls; those that carry a tool's name, of the calls of it.

A result that precedes its call is placed too, if that call has no id either. If there are more
results than calls, the first ones are left over: clients cut off the head of their history.
"""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import CallClosed, Message, Summary, ToolCall, ToolResult
from canonicall.findings import Action, Fault, Finding, Place, in_words
from canonicall.ids import TurnKeys, derived_tool_id, is_canonical_tool_id
from canonicall.ledger import EARLY, Interaction, Ledger
from canonicall.outcome import MAY_HAVE_RUN, Outcome, infer_outcome

_RESULTS = {ToolResult}
_NO_CALL = "The result has no id and no call is open, so it answers nothing."


class Held(Struct, frozen=True, gc=False):
    """A result whose call is not certain yet, and where it is in the log."""

    result: ToolResult
    place: Place


class Binding:
    """What has to be remembered between entries to bind the next one."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._next_index: dict[str, int] = {}
        self._next_number = 0
        self._turn_keys = TurnKeys()
        self._early_results: dict[str, deque[Held]] = {}
        """Results that name a call which is not there yet, by the id they name."""
        self.placement = Placement(self.ledger)
        self._continues_exchange = False

    def fork(self) -> "Binding":
        """An independent copy."""
        twin = Binding()
        twin.ledger = self.ledger.fork()
        twin._next_index = dict(self._next_index)
        twin._next_number = self._next_number
        twin._turn_keys = self._turn_keys.fork()
        twin._early_results = {id: deque(held) for id, held in self._early_results.items()}
        twin.placement = self.placement.fork(twin.ledger)
        twin._continues_exchange = self._continues_exchange
        return twin

    @property
    def waiting_since(self) -> int | None:
        """The first log entry with a result that may still get its call, or another one."""
        since = self.placement.since
        if not self._early_results:
            return since
        entries = [one.place[0] for held in self._early_results.values() for one in held]
        return min(entries if since is None else (*entries, since), default=None)

    def knows(self, ended: ToolResult | CallClosed) -> bool:
        """Whether there is, or was before compaction, a call that a result or a closing names."""
        id, ledger = ended.call_id, self.ledger
        named = ledger.get(id) if ended.bound else ledger.named(id)
        return bool(named or ledger.buried(id)) or len(ledger.spelled(id)) == 1

    def has_calls_for(self, message: Message, entry: int) -> bool:
        """Whether every result of a message that names no call gets one, in its place."""
        if all(one.call_id and not one.placed for one in message.results):
            return True
        trial = self.fork()
        bound = trial.bind_message(message, entry, [])
        trial.placement.place()
        return all(
            trial.ledger.answered(block, (entry, position)) is not None
            for position, block in enumerate(bound.blocks)
            if isinstance(block, ToolResult)
        )

    def bind_message(self, message: Message, entry: int, findings: list[Finding]) -> Message:
        """`message` as it is to be written at position `entry` of the log."""
        if message.role == "assistant":
            return self._bind_reply(message, entry, findings)
        self._turn_keys.heard.append(message)
        self._continues_exchange = False
        kinds = set(map(type, message.blocks))
        if kinds != _RESULTS:
            self._hear(message, kinds)
            if ToolResult not in kinds:
                return message
        blocks = list(message.blocks)
        for position, block in enumerate(message.blocks):
            if type(block) is ToolResult:
                blocks[position] = self._bind_result(block, (entry, position), findings)
        return replace(message, blocks=tuple(blocks))

    def _bind_reply(self, message: Message, entry: int, findings: list[Finding]) -> Message:
        """The same for a message of the model."""
        if not self._continues_exchange:
            findings += self.placement.end_exchange()
            self.ledger.begin_exchange()
        turn_key = self._turn_keys.key_of(message)
        provider = message.origin.provider if message.origin is not None else ""
        blocks = list(message.blocks)
        for position, block in enumerate(message.blocks):
            if type(block) is ToolCall:
                place = (entry, position)
                blocks[position] = self._bind_call(block, provider, turn_key, place, findings)
            elif type(block) is ToolResult:
                blocks[position] = self._bind_result(block, (entry, position), findings)
        if self._early_results and self.ledger.exchange:
            self._early_results.clear()
        # After a cut reply another one is a new attempt: the id it repeats is a new call's.
        self._continues_exchange = not message.partial
        return replace(message, blocks=tuple(blocks), turn_key=turn_key)

    def _hear(self, message: Message, kinds: set[type]) -> None:
        """Take in a message that holds something else than results."""
        if kinds:
            self._early_results.clear()
            self.placement.forget_loose()
        if Summary in kinds:
            self._bury(message)

    def _bury(self, message: Message) -> None:
        """Note the calls that a summary takes the place of."""
        for block in message.blocks:
            for tombstone in block.tombstones if type(block) is Summary else ():
                self.ledger.bury(tombstone)
                self._next_number = max(self._next_number, tombstone.number + 1)

    def bind_closing(self, closing: CallClosed, entry: int, findings: list[Finding]) -> CallClosed:
        """`closing` as it is to be written at position `entry` of the log."""
        self._continues_exchange = False
        self.placement.place()
        where = f"entries[{entry}]"
        find = self.ledger.get if closing.bound else self.ledger.named
        one = find(closing.call_id) if closing.call_id else None
        if one is None:
            why = f"No call has the id {closing.call_id!r}, so nothing was closed."
            findings.append(Finding("orphan_closing", where, Action.SET_ASIDE, why, Fault.INPUT))
            return closing
        if EARLY in one.markers and one.id in self.ledger.displaceable:
            self.placement.take_back()
            one = self.ledger[one.id]
        closing = replace(closing, call_id=one.id, bound=True)
        if closing.outcome not in MAY_HAVE_RUN and (closing.content or _has_output(one)):
            closing = replace(closing, outcome=Outcome.UNKNOWN)
            why = f"{one.id} has given output, so it had started: how it ended is unknown."
            findings.append(Finding("outcome_corrected", where, Action.CHANGED, why, Fault.INPUT))
        if self.ledger.close(closing, entry) is None:
            code, action = "already_ended", Action.SET_ASIDE
            why = f"{one.id} had ended already ({one.outcome}); the first end stands."
        elif one.is_stand_in:
            code, action, why = "stand_in_replaced", Action.CHANGED, _replaces_stand_in(one)
        else:
            return closing
        findings.append(Finding(code, where, action, why, Fault.INPUT))
        return closing

    def _bind_call(
        self, call: ToolCall, provider: str, turn: str, place: Place, findings: list[Finding]
    ) -> ToolCall:
        given = call.id
        call = self._canonicalised(call, provider, turn, place, findings)
        for id in self.ledger.record(call, turn, place[0]):
            why = (
                f"The raw id {call.raw_id!r} still belonged to the unanswered call {id};"
                " results with it now belong to this call."
            )
            findings.append(_seen("raw_id_taken_over", place, Action.KEPT, why))
        if self._early_results:
            self._claim_early_result(call, given, place, findings)
        return call

    def _claim_early_result(
        self, call: ToolCall, given: str, place: Place, findings: list[Finding]
    ) -> None:
        held = self._early_results.get(given) or self._early_results.get(call.raw_id)
        if not held:
            return
        early = held.popleft()
        self.ledger.complete_early(call.id, replace(early.result, call_id=call.id), early.place)
        why = (
            f"The result in entries[{early.place[0]}] precedes this call;"
            " it counts as its result until another one comes."
        )
        findings.append(_seen("result_before_call", place, Action.MOVED, why))

    def _canonicalised(
        self, call: ToolCall, provider: str, turn: str, place: Place, findings: list[Finding]
    ) -> ToolCall:
        index = self._next_index.get(turn, 0)
        if not call.name:
            why = "The call names no tool."
            findings.append(_seen("missing_tool_name", place, Action.KEPT, why))
        number = self._next_number
        ledger = self.ledger
        if is_canonical_tool_id(call.id) and call.id not in ledger:
            index, number = max(index, call.index), max(number, call.number)
            self._next_index[turn], self._next_number = index + 1, number + 1
            return replace(call, index=index, number=number)
        raw_id = call.raw_id or call.id
        if not raw_id:
            why = "The call has no id; its turn and position identify it."
            told = Finding("missing_call_id", in_words(place), Action.ADDED, why, Fault.NONE)
            findings.append(told)
        elif ledger.knows(raw_id):
            why = f"The raw id {raw_id!r} was used before; turn and position tell them apart."
            findings.append(_seen("reused_call_id", place, Action.KEPT, why))
        id = derived_tool_id(provider, raw_id, call.name, turn, index)
        while id in ledger.records or ledger.buried(id) is not None:
            index += 1
            id = derived_tool_id(provider, raw_id, call.name, turn, index)
        self._next_index[turn], self._next_number = index + 1, number + 1
        return replace(call, id=id, raw_id=raw_id, index=index, number=number)

    def _bind_result(self, result: ToolResult, place: Place, findings: list[Finding]) -> ToolResult:
        call_id, ledger, outcome = result.call_id or result.raw_id, self.ledger, _outcome_of(result)
        if not call_id or result.placed:
            result = replace(result, call_id=call_id, outcome=outcome)
            self.placement.hold(Held(result, place))
            return result
        before = ledger.records.get(call_id) if result.bound else ledger.named(call_id)
        if before is None and not result.bound and ledger.buried(call_id) is None:
            before = self._spelled(call_id, place, findings)
        if before is None:
            result = replace(result, call_id=call_id, outcome=outcome)
            return self._hold_orphan(result, place, findings)
        if before.id in ledger.displaceable:
            self.placement.take_back()
            before = ledger[before.id]
        raw_id = result.raw_id or ("" if call_id == before.id else call_id)
        result = replace(result, call_id=before.id, raw_id=raw_id, outcome=outcome, bound=True)
        after = ledger.complete(before.id, result, place[0])
        _note_completion(before, after, result, place, findings)
        return result

    def _spelled(self, call_id: str, place: Place, findings: list[Finding]) -> Interaction | None:
        """The only open call whose id may be spelled like this."""
        fitting = self.ledger.spelled(call_id)
        if len(fitting) != 1:
            return None
        raw_id = fitting[0].call.raw_id
        why = f"The result names {call_id!r}; {raw_id!r} is the only open call that can be meant."
        findings.append(_seen("matched_by_spelling", place, Action.CHANGED, why))
        return fitting[0]

    def _hold_orphan(self, result: ToolResult, place: Place, findings: list[Finding]) -> ToolResult:
        """Set a result without a call aside. A reply that follows may still have its call."""
        gone = self.ledger.buried(result.call_id)
        if gone is not None:
            named = f"{gone.raw_id or gone.id} ({gone.name})"
            why = f"{named} was compacted away with its outcome, {gone.outcome}; this came later."
            findings.append(_seen("late_result", place, Action.SET_ASIDE, why))
            return result
        self._early_results.setdefault(result.call_id, deque()).append(Held(result, place))
        if result.bound:
            why = f"The call {result.call_id} is not part of the conversation any more."
        else:
            why = f"No call has the id {result.call_id!r}, so the result answers nothing."
            several = sorted(one.call.raw_id for one in self.ledger.spelled(result.call_id))
            if several:
                names = ", ".join(map(repr, several))
                why = f"{result.call_id!r} may mean several calls ({names}); it was given to none."
        findings.append(_seen("orphan_result", place, Action.SET_ASIDE, why))
        return result


class Placement:
    """The results without an id of the current exchange get their calls by position."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._before: list[Held] = []
        """From before the calls of this exchange."""
        self._after: list[Held] = []
        self._placed = 0
        """How many results after the calls have been looked at."""
        self._forgotten = 0
        """How many of these cannot belong to a later call, because another message followed."""
        self._loose: list[Held] = []
        """The others that found no call."""
        self._calls = 0
        """How many calls the exchange had when results were last placed."""
        self._waiting: _Waiting | None = None
        self.findings: list[Finding] = []
        """What is to be said as long as nothing else comes. Another list once it is said anew."""
        self._settled: dict[Place, ToolResult] = {}
        """The results that got a call for good and are not written so yet."""
        self._provisional: dict[Place, ToolResult] = {}
        """The same of this exchange, until they are taken back."""

    def fork(self, ledger: Ledger) -> "Placement":
        """An independent copy for a copy of the ledger."""
        twin = Placement(ledger)
        twin._before, twin._after = list(self._before), list(self._after)
        twin._loose, twin._placed = list(self._loose), self._placed
        twin._forgotten, twin._calls = self._forgotten, self._calls
        twin.findings = list(self.findings)
        return twin

    @property
    def since(self) -> int | None:
        """The first log entry with a result that may still get another call."""
        if not self._before and not self._after:
            return None
        held = (*self._before[:1], *self._after[:1])
        return min((one.place[0] for one in held), default=None)

    def hold(self, held: Held) -> None:
        """Take in a result without an id."""
        self._after.append(held)

    def take_back(self) -> None:
        """Undo every placement: a call was named, so the others are placed again."""
        self._ledger.take_back()
        self._provisional.clear()
        self._waiting = None
        self._placed = 0
        self._loose.clear()
        self.findings = []

    def place(self) -> None:
        """Give every result that is held its call, until the exchange ends."""
        calls = len(self._ledger.exchange)
        if self._before or (self._loose and calls > self._calls):
            self.take_back()
        elif self._placed == len(self._after):
            return
        if calls > self._calls:
            self._calls, self._waiting = calls, None
        waiting = self._waiting = self._waiting or _Waiting(self._ledger)
        for held in self._before[self._left_over() :]:
            self._complete(held, waiting.next(held.result, only_without_id=True))
        for index in range(self._placed, len(self._after)):
            held = self._after[index]
            one = waiting.next(held.result)
            self._complete(held, one)
            if one is None:
                self._note("orphan_result", held, Action.SET_ASIDE, _NO_CALL)
                if index >= self._forgotten:
                    self._loose.append(held)
        self._placed = len(self._after)

    def end_exchange(self) -> Sequence[Finding]:
        """Make all placements final. What found no call may precede one of the next exchange."""
        if not self._before and not self._after:
            self._calls = 0
            return ()  # Every result had an id.
        self.place()
        earlier = [] if self._ledger.exchange else self._before
        self._before = [*earlier, *self._loose]
        self._ledger.settle()
        self._settled |= self._provisional
        self._provisional = {}
        findings, self.findings = self.findings, []
        self._after, self._loose, self._waiting = [], [], None
        self._placed = self._forgotten = self._calls = 0
        return findings

    def new_places(self) -> dict[Place, ToolResult]:
        """The results that got a call since this was last asked, with the call."""
        if not self._settled and not self._provisional:
            return {}
        found = self._settled | self._provisional
        self._settled, self._provisional = {}, {}
        return found

    def forget_loose(self) -> None:
        """Another message came: what found no call until now belongs to none that follows."""
        if not self._before and not self._after:
            return
        if len(self._ledger.exchange) > self._calls:
            self.place()
        self._forgotten = len(self._after)
        self._loose.clear()
        if not self._ledger.exchange:
            self._before = []

    def _left_over(self) -> int:
        """How many of the results before the calls are more than there are calls."""
        if not self._before:
            return 0
        is_open = (self._ledger[id].is_open for id in self._ledger.exchange)
        return max(0, len(self._before) + len(self._after) - sum(is_open))

    def _complete(self, held: Held, one: Interaction | None) -> None:
        if one is None:
            return
        result = replace(held.result, call_id=one.id, placed=True)
        self._ledger.place(one.id, result, held.place)
        if not held.result.placed:
            self._provisional[held.place] = result
        if held.place[0] < one.entry:
            why = f"The result precedes {one.id}, which has no other; it counts as its result."
            self._note("result_before_call", held, Action.MOVED, why)
        else:
            why = f"The result does not name its call; by its position it answers {one.id}."
            self._note("matched_by_position", held, Action.CHANGED, why)

    def _note(self, code: str, held: Held, action: Action, why: str) -> None:
        self.findings.append(_seen(code, held.place, action, why))


class _Waiting:
    """The calls of an exchange, by what a result without an id may say of them.

    What a provider ran answers a call that the provider runs; other results answer the client's.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._calls: dict[tuple[str, bool, bool], deque[str]] = {}
        for id in ledger.exchange:
            call = ledger[id].call
            of_server = call.kind == "server"
            for only_without_id in (False,) if call.raw_id else (False, True):
                for name in dict.fromkeys(("", call.name)):
                    key = (name, only_without_id, of_server)
                    self._calls.setdefault(key, deque()).append(id)

    def next(self, result: ToolResult, *, only_without_id: bool = False) -> Interaction | None:
        """The first open call, of one tool if the result names it."""
        of_server = any(seal.kind == "server_block" for seal in result.opaque)
        calls = self._calls.get((result.name, only_without_id, of_server))
        while calls and not self._ledger[calls[0]].is_open:
            calls.popleft()
        return self._ledger[calls[0]] if calls else None


def split_misplaced_calls(
    message: Message, entry: int, findings: list[Finding]
) -> tuple[Message, ...]:
    """Calls are the model's: in any other role they become an assistant message of their own."""
    if message.role == "assistant" or ToolCall not in map(type, message.blocks):
        return (message,)
    why = (
        f"A {message.role} message held tool calls;"
        " they were written as an assistant message before it."
    )
    findings.append(
        Finding("call_in_wrong_role", f"entries[{entry}]", Action.MOVED, why, Fault.INPUT)
    )
    rest = tuple(block for block in message.blocks if not isinstance(block, ToolCall))
    calls = replace(message, role="assistant", blocks=message.calls)
    if not rest:
        return (calls,)
    return replace(calls, native=None), Message(message.role, rest, native=message.native)


def _has_output(one: Interaction) -> bool:
    """Whether a call that is still open has given output."""
    return one.is_open and one.result is not None and bool(one.result.content)


def _outcome_of(result: ToolResult) -> Outcome | None:
    """The outcome a result means; none while it is pending."""
    outcome = result.outcome
    if outcome is not None and not (result.error and outcome is Outcome.COMPLETED):
        return outcome
    return infer_outcome(
        error=result.error,
        is_complete=result.is_complete,
        has_content=result.content is not None,
    )


def _note_completion(
    before: Interaction,
    after: Interaction,
    result: ToolResult,
    place: Place,
    findings: list[Finding],
) -> None:
    """Say what is worth saying about the result that turned `before` into `after`."""
    if after.result is result and before.outcome is None and after.outcome is not None:
        return
    if after.result is result and not before.is_open:
        code, action, why = "stand_in_replaced", Action.CHANGED, _replaces_stand_in(before)
    elif result.outcome is None:
        code = "result_pending"
        action = Action.KEPT if after.is_open else Action.SET_ASIDE
        why = f"The result of {before.id} is not complete; it does not end the call."
    else:
        action = Action.SET_ASIDE
        code, why = _why_set_aside(before, result)
    findings.append(_seen(code, place, action, why))


def _seen(code: str, place: Place, action: Action, why: str) -> Finding:
    return Finding(code, in_words(place), action, why, Fault.INPUT)


def _replaces_stand_in(one: Interaction) -> str:
    return f"{one.id} had only a stand-in for a result; this takes its place."


def _why_set_aside(before: Interaction, result: ToolResult) -> tuple[str, str]:
    first = before.result
    if before.closed or first is None:
        why = f"{before.id} had ended as {before.outcome} before this result came; it is on record."
        return "late_result", why
    if (first.content, first.error) == (result.content, result.error):
        return "duplicate_result", f"{before.id} has this very result already."
    return "conflicting_result", f"{before.id} has another result already; the first one stands."
