"""Binding: calls get their canonical ids, results get their calls.

In: an admitted entry. Out: the entry with canonical ids, the ledger brought up to date, and
findings for everything out of the ordinary. This is the only place where an id is derived and the
only one that writes to the ledger.
"""

from msgspec.structs import replace

from canonicall.blocks import CallClosed, Message, ToolCall, ToolResult
from canonicall.findings import Action, Fault, Finding, Place, in_words
from canonicall.ids import derived_tool_id, is_canonical_tool_id
from canonicall.ledger import Interaction, Ledger
from canonicall.outcome import MAY_HAVE_RUN, Outcome, infer_outcome
from canonicall.turn_keys import TurnKeys


class Binding:
    """What has to be remembered between entries to bind the next one."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._next_index: dict[str, int] = {}
        self._next_number = 0
        self._turn_keys = TurnKeys()
        self._early_results: dict[str, list[tuple[ToolResult, int]]] = {}
        self._continues_exchange = False

    def fork(self) -> "Binding":
        """An independent copy."""
        twin = Binding()
        twin.ledger = self.ledger.fork()
        twin._next_index = dict(self._next_index)
        twin._next_number = self._next_number
        twin._turn_keys = self._turn_keys.fork()
        twin._early_results = {id: list(held) for id, held in self._early_results.items()}
        twin._continues_exchange = self._continues_exchange
        return twin

    @property
    def waiting_since(self) -> int | None:
        """The first log entry with a result that a reply might still claim."""
        entries = [at for held in self._early_results.values() for _, at in held]
        return min(entries, default=None)

    def bind_message(self, message: Message, entry: int, findings: list[Finding]) -> Message:
        """`message` as it is to be written at position `entry` of the log."""
        by_model = message.role == "assistant"
        turn_key = message.turn_key
        if by_model:
            if not self._continues_exchange:
                self.ledger.begin_exchange()
            turn_key = self._turn_keys.key_of(message)
        elif self._early_results and not _all_results(message):
            self._early_results.clear()
        elif message.role != "tool" and ToolResult not in map(type, message.blocks):
            self._continues_exchange = False
            return message
        provider = message.origin.provider if message.origin is not None else ""
        blocks = list(message.blocks)
        for position, block in enumerate(message.blocks):
            if type(block) is ToolCall:
                place = (entry, position)
                blocks[position] = self._bind_call(block, provider, turn_key, place, findings)
            elif type(block) is ToolResult:
                blocks[position] = self._bind_result(block, (entry, position), findings)
        if by_model:
            self._early_results.clear()
        # After a cut reply another one is a new attempt: the id it repeats is a new call's.
        self._continues_exchange = by_model and not message.partial
        return replace(message, blocks=tuple(blocks), turn_key=turn_key)

    def bind_closing(self, closing: CallClosed, entry: int, findings: list[Finding]) -> CallClosed:
        """`closing` as it is to be written at position `entry` of the log."""
        self._continues_exchange = False
        where = f"entries[{entry}]"
        find = self.ledger.get if closing.bound else self.ledger.named
        one = find(closing.call_id) if closing.call_id else None
        if one is None:
            why = f"No call has the id {closing.call_id!r}, so nothing was closed."
            findings.append(Finding("orphan_closing", where, Action.SET_ASIDE, why, Fault.INPUT))
            return closing
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
        result, at = held.pop(0)
        self.ledger.complete_early(call.id, result, at)
        why = (
            f"The result in entries[{at}] stands before this call;"
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
        if is_canonical_tool_id(call.id) and call.id not in self.ledger:
            index, number = max(index, call.index), max(number, call.number)
            self._next_index[turn], self._next_number = index + 1, number + 1
            return replace(call, index=index, number=number)
        raw_id = call.raw_id or call.id
        if not raw_id:
            why = "The call has no id; its turn and position identify it."
            findings.append(_seen("missing_call_id", place, Action.ADDED, why))
        elif self.ledger.knows(raw_id):
            why = f"The raw id {raw_id!r} was used before; turn and position tell them apart."
            findings.append(_seen("reused_call_id", place, Action.KEPT, why))
        id = derived_tool_id(provider, raw_id, call.name, turn, index)
        while id in self.ledger:
            index += 1
            id = derived_tool_id(provider, raw_id, call.name, turn, index)
        self._next_index[turn], self._next_number = index + 1, number + 1
        return replace(call, id=id, raw_id=raw_id, index=index, number=number)

    def _bind_result(self, result: ToolResult, place: Place, findings: list[Finding]) -> ToolResult:
        call_id = result.call_id or result.raw_id
        outcome = _outcome_of(result)
        if result.bound:
            before = self.ledger.get(call_id)
        else:
            before = self.ledger.named(call_id) if call_id else None
            before = before or self._placed(result, call_id, place, findings)
        if before is None:
            result = replace(result, call_id=call_id, outcome=outcome)
            return self._hold_orphan(result, place, findings)
        if result.bound:
            result = replace(result, outcome=outcome)
        else:
            raw_id = result.raw_id or ("" if call_id == before.id else call_id)
            result = replace(result, call_id=before.id, raw_id=raw_id, bound=True, outcome=outcome)
        after = self.ledger.complete(before.id, result, place[0])
        _note_completion(before, after, result, place, findings)
        return result

    def _placed(
        self, result: ToolResult, call_id: str, place: Place, findings: list[Finding]
    ) -> Interaction | None:
        """The interaction that a result which names none belongs to; None for an orphan."""
        placed = self.ledger.placed(call_id, result.name)
        if placed is not None:
            why = f"The result does not name its call; by its place it answers {placed.id}."
            findings.append(_seen("matched_by_position", place, Action.CHANGED, why))
        return placed

    def _hold_orphan(self, result: ToolResult, place: Place, findings: list[Finding]) -> ToolResult:
        """Set a result without a call aside. A reply that follows at once may still claim it."""
        if result.bound:
            why = f"The call {result.call_id} is not part of the conversation any more."
        elif result.call_id:
            self._early_results.setdefault(result.call_id, []).append((result, place[0]))
            why = f"No call has the id {result.call_id!r}, so the result answers nothing."
        else:
            why = "The result has no id and no call is open, so it answers nothing."
        findings.append(_seen("orphan_result", place, Action.SET_ASIDE, why))
        return result


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


def _all_results(message: Message) -> bool:
    return all(isinstance(block, ToolResult) for block in message.blocks)


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
