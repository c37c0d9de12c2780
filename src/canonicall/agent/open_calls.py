"""The calls of a turn, each from its check to its one end.

The machine asks the model; here it is settled what becomes of what the model wants: refused, run,
asked about, or waited for. What follows is given back as commands, and as ends of calls.
"""

from collections.abc import Iterable
from typing import TypeAlias

from msgspec.structs import replace

from canonicall.agent.batch import plan
from canonicall.agent.commands import AskApproval, AwaitExternal, Command, RunBatch, Withdraw
from canonicall.agent.counters import Tally
from canonicall.agent.inputs import CallEnded, Decided
from canonicall.agent.pending import Pending, waiting_calls
from canonicall.arguments import arguments_of
from canonicall.blocks import Message, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.decisions import WhilePending
from canonicall.facts.target import Target
from canonicall.guard.budget import CorrectionBudget
from canonicall.guard.validation import validate_call
from canonicall.outcome import Outcome
from canonicall.tools.bound import BoundTool
from canonicall.tools.toolset import Toolset

Followed: TypeAlias = list[Command | CallEnded]
"""What follows from a decision: things to do, and calls that are over."""

_LEFT = "the conversation was left while it was running"


class OpenCalls:
    """The calls that have not ended, as they are run."""

    def __init__(
        self,
        conversation: Conversation,
        tools: Toolset,
        tally: Tally,
        budget: CorrectionBudget,
        *,
        heeds_standing: bool = True,
    ) -> None:
        self._conversation = conversation
        self._tools = tools
        self._offered = tools.offered
        self._tally = tally
        self.budget = budget
        """What is left of the attempts to correct calls."""
        self._open: dict[str, ToolCall] = {}
        self._pending = Pending(conversation, heeds_standing=heeds_standing)

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def undecided(self) -> tuple[ToolCall, ...]:
        """Those that wait for somebody's decision."""
        return tuple(self._open[id] for id in self._pending.undecided)

    @property
    def running(self) -> tuple[str, ...]:
        """Those that wait for nobody."""
        return tuple(id for id in self._open if id not in self._pending)

    def start(self, calls: Iterable[ToolCall], target: Target) -> list[Command]:
        """Refuse what must not be run, and have the rest run, approved or supplied."""
        ready: list[ToolCall] = []
        to_ask: list[ToolCall] = []
        external: list[ToolCall] = []
        for call in calls:
            checked = validate_call(call, self._offered, budget=self.budget)
            self.budget = checked.budget or self.budget
            self._tally.count(target.provider, checked, model=target.model)
            if checked.result is not None:
                self._write(checked.result)
                continue
            tool = self._tools[call.name]
            said = None
            if _needs_approval(tool, checked.call):
                said = self._pending.by_rule(checked.call)
                if said is None:
                    to_ask.append(checked.call)
                    continue
            if said is not None and said.decision == "deny":
                self._conversation.close(call.id, Outcome.DENIED, why=said.reason)
            elif tool.external:
                external.append(checked.call)
            else:
                ready.append(checked.call)
        self._open.update((call.id, call) for call in (*ready, *to_ask, *external))
        commands: list[Command] = []
        if ready:
            commands.append(RunBatch(plan(ready, self._tools)))
        if to_ask:
            self._pending.add(to_ask, "approval", target.name)
            commands.append(AskApproval(tuple(to_ask)))
        if external:
            self._pending.add(external, "external", target.name)
            commands.append(AwaitExternal(tuple(external)))
        return commands

    def resume(self) -> tuple[ToolCall, ...]:
        """Take in the calls that waited when the conversation was left; those that it takes in.

        A call that is open and waits for nobody was running then, and nobody knows how it ended.
        """
        found = waiting_calls(self._conversation)
        waiting = {id: one for id, one in found.items() if one[0].name in self._tools}
        for one in self._conversation.ledger.open:
            if one.id not in waiting:
                self._conversation.close(one.id, Outcome.UNKNOWN, why=_LEFT)
        for id, (call, need) in waiting.items():
            self._open[id] = call
            self._pending.add_again(id, need)
        return tuple(self._open.values())

    def asked_again(self) -> list[Command]:
        """The questions that nobody has answered yet."""
        to_ask = self.undecided
        others = tuple(call for id, call in self._open.items() if call not in to_ask)
        commands: list[Command] = []
        if to_ask:
            commands.append(AskApproval(to_ask))
        if others:
            commands.append(AwaitExternal(others))
        return commands

    def decided(self, event: Decided, target: Target) -> Followed:
        """What was decided about a call, and what that means for others that wait."""
        call = self._open.get(event.call_id)
        if event.call_id and (call is None or not self._pending.takes(event)):
            # Withdrawn meanwhile, or decided by another one: the first decision counts.
            return []
        self._pending.decided(event, call)
        followed: Followed = [] if call is None else self._carried_out(event, call, target)
        if event.scope == "once":
            return followed
        for other in self.undecided:
            said = None if other is call else self._pending.by_rule(other)
            if said is not None:
                decided = Decided(other.id, said.decision, said.reason)
                followed += self._carried_out(decided, other, target)
        return followed

    def user_went_on(self, policy: WhilePending) -> Followed:
        """What becomes of calls that wait, now that the user said something else."""
        if not self._pending:
            return []
        self._pending.user_went_on(policy)
        if policy == "wait":
            return []
        return self.withdrawn(Outcome.SUPERSEDED, "the user said something else")

    def withdrawn(self, outcome: Outcome, why: str) -> Followed:
        """End the calls that nobody has decided about or supplied."""
        ids = self._pending.ids
        if not ids:
            return []
        ends = [CallEnded(id, None, self._pending.true_end(id, outcome), why) for id in ids]
        return [Withdraw(ids, why), *ends]

    def ended(self, event: CallEnded) -> bool:
        """Write the end of a call; whether it had none. What comes behind one changes nothing."""
        was_open = self._open.pop(event.call_id, None)
        self._pending.drop(event.call_id)
        result = event.result
        if result is not None:
            is_named = result.call_id == event.call_id
            self._write(result if is_named else replace(result, call_id=event.call_id))
        elif event.outcome is not None:
            self._conversation.close(
                event.call_id, event.outcome, why=event.why, partial_output=event.partial
            )
        return was_open is not None

    def _carried_out(self, said: Decided, call: ToolCall, target: Target) -> Followed:
        if said.decision == "deny":
            return [CallEnded(call.id, outcome=Outcome.DENIED, why=said.reason)]
        if said.edited is not None:
            checked = validate_call(replace(said.edited, id=call.id, name=call.name), self._offered)
            if checked.result is not None:
                return [CallEnded(call.id, checked.result)]
            call = self._open[call.id] = checked.call
        if self._tools[call.name].external:
            self._pending.add((call,), "external", target.name)
            return [AwaitExternal((call,))]
        self._pending.drop(call.id)
        return [RunBatch(plan((call,), self._tools))]

    def _write(self, result: ToolResult) -> None:
        self._conversation.append(Message("tool", (result,)))


def _needs_approval(tool: BoundTool, call: ToolCall) -> bool:
    """Whether somebody has to agree; also where the tool's own function cannot tell."""
    try:
        return tool.needs_approval(arguments_of(call), recovered=call.recovered)
    except Exception:  # noqa: BLE001  # a user's function; the loop must not break by it
        return True
