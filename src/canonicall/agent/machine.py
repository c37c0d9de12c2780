"""The loop: asks the model, has its calls run, and asks again, until there is an answer.

One machine for every driver: streaming or not, a chat, a sub-agent, a gateway, a test. It awaits
nothing: `step` takes what happened and gives back what is to be done. The conversation is valid at
every moment in between: a call is open until it has its one end.
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace

from canonicall.agent.batch import plan
from canonicall.agent.commands import (
    AskApproval,
    AwaitExternal,
    CallModel,
    Command,
    Finish,
    RunBatch,
    StopCalls,
    Withdraw,
)
from canonicall.agent.counters import Tally
from canonicall.agent.ending import leads_nowhere
from canonicall.agent.inputs import (
    CallEnded,
    Cancelled,
    Decided,
    Input,
    ModelChosen,
    ModelFailed,
    ModelReplied,
    Supplied,
    UserSaid,
)
from canonicall.agent.limits import Limits, Spent, limit_reached
from canonicall.agent.progress import Progress
from canonicall.blocks import Message, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.errors import InvalidValue
from canonicall.guard.budget import CorrectionBudget
from canonicall.guard.validation import validate_call
from canonicall.outcome import Outcome
from canonicall.request import Params, Request, ToolChoice
from canonicall.target import Target
from canonicall.tools.toolset import Toolset

WhilePending: TypeAlias = Literal["wait", "supersede"]
"""What becomes of calls that wait for an approval or a result when the user says something else:
they go on waiting, and the words with them; or they are over."""
_FORBIDDEN = "Tools are not available any more in this turn: answer in words."


class Machine:
    """One agent at work on one conversation."""

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        conversation: Conversation,
        target: Target,
        tools: Toolset,
        *,
        limits: Limits | None = None,
        budget: CorrectionBudget | None = None,
        params: Params | None = None,
        while_pending: WhilePending = "wait",
        tally: Tally | None = None,
    ) -> None:
        self.conversation = conversation
        self.target = target
        """Who is asked; a change takes effect when the user speaks again."""
        self.tools = tools
        self.limits = limits or Limits()
        self.spent = Spent()
        self.tally = tally or Tally()
        self._params = params or Params()
        self._first_budget = budget or CorrectionBudget()
        self._budget = self._first_budget
        self._progress = Progress()
        self._next_target = target
        self._offered = tools.offered
        self._waiting: list[UserSaid] = []
        self._open: dict[str, ToolCall] = {}
        """The calls of the turn that have not ended, as they are run."""
        self._turn: tuple[ToolCall, ...] = ()
        self._asking = False
        self._is_last = False
        self._is_reminded = False
        """The model was told that no tool is left, after it had called one all the same."""
        self._stopped: Cancelled | None = None
        self._ending: Finish | None = None
        """How the run is to end after the last answer."""
        self._pending: dict[str, None] = {}
        """The open calls that wait for a decision or for a result from outside."""
        self._while_pending = while_pending
        self._steps: dict[type, Callable[[Any], list[Command]]] = {
            UserSaid: self._user_said,
            ModelReplied: self._replied,
            ModelFailed: self._failed,
            CallEnded: self._ended,
            Decided: self._decided,
            Supplied: self._supplied,
            Cancelled: self._cancel,
            ModelChosen: self._chosen,
        }

    @property
    def is_idle(self) -> bool:
        """Whether no run is under way."""
        return not self._asking and not self._open

    def step(self, event: Input) -> list[Command]:
        """What is to be done, now that this has happened."""
        return self._steps[type(event)](event)

    def _user_said(self, event: UserSaid) -> list[Command]:
        """Begin a run; while one is under way, wait until no call is open."""
        if not self.is_idle:
            self._waiting.append(event)
            if self._while_pending == "supersede" and self._pending:
                return self._withdrawn(Outcome.SUPERSEDED, "the user said something else")
            return []
        self.target = self._next_target
        self.spent = Spent()
        self._budget = self._first_budget
        self._progress = Progress()
        self._ending = self._stopped = None
        self._is_reminded = False
        self.conversation.append(Message("user", event.blocks))
        return self._ask()

    def _ask(self) -> list[Command]:
        """The next turn of the model, unless a limit says otherwise."""
        self._take_in_waiting()
        reached = limit_reached(self.limits, self.spent)
        if reached is not None and self._ending is None:
            told = f"{reached.name} reached {reached.limit:g}"
            if reached.name in ("turns", "tool_calls"):
                self.tally.add(self.target.provider, "tool_loop_max_iterations")
            if reached.policy == "stop":
                return self._finish(Finish("limit", told))
            self._ending = Finish("limit", told)
        self._is_last = self._ending is not None
        choice = ToolChoice(mode="none") if self._is_last and self._offered else None
        offered = tuple(self._offered.values())
        request = Request(self.conversation, offered, choice, self._params)
        self._asking = True
        return [CallModel(request, self.target, self._is_last)]

    def _replied(self, event: ModelReplied) -> list[Command]:
        if not self._asking:
            raise _out_of_turn("a reply of the model")
        self._asking = False
        self._count_turn(event)
        message = event.reply.message
        calls = self.conversation.append(message).calls
        self._turn = tuple(call for call in calls if call.kind != "server")
        if self._stopped is not None:
            self._close(self._turn, Outcome.NOT_RUN, self._stopped.why)
            return self._finish(Finish("cancelled", self._stopped.why))
        if self._is_last and self._ending is not None:
            return self._last_answered(self._ending)
        if not self._turn:
            return self._answered(is_cut=message.partial)
        return self._start(self._turn)

    def _answered(self, *, is_cut: bool) -> list[Command]:
        """Words without calls: the end, unless the user has said more in the meantime."""
        if self._waiting:
            return self._ask()
        return self._finish(Finish("cut" if is_cut else "answered"))

    def _last_answered(self, end: Finish) -> list[Command]:
        """The end, unless the model called tools once more: then it is told so, and asked again.

        Not every target can forbid calls: Bedrock has no choice `none`, and wants tools declared
        where the history has calls. What became of its calls is understood by every model.
        """
        self._close(self._turn, Outcome.NOT_RUN, _FORBIDDEN)
        if not self._turn or self._is_reminded:
            return self._finish(end)
        self._is_reminded = True
        return self._ask()

    def _start(self, calls: tuple[ToolCall, ...]) -> list[Command]:
        """Refuse what must not be run, and have the rest run, approved or supplied."""
        ready: list[ToolCall] = []
        to_ask: list[ToolCall] = []
        external: list[ToolCall] = []
        for call in calls:
            checked = validate_call(call, self._offered, budget=self._budget)
            self._budget = checked.budget or self._budget
            self.tally.count(self.target.provider, checked)
            if checked.result is not None:
                self._write(checked.result)
                continue
            self._open[call.id] = checked.call
            tool = self.tools[call.name]
            if tool.needs_approval(checked.call.args or {}):
                to_ask.append(checked.call)
            elif tool.external:
                external.append(checked.call)
            else:
                ready.append(checked.call)
        commands: list[Command] = []
        if ready:
            commands.append(RunBatch(plan(ready, self.tools)))
        if to_ask:
            commands.append(AskApproval(tuple(to_ask)))
        if external:
            commands.append(AwaitExternal(tuple(external)))
        self._pending = dict.fromkeys(call.id for call in (*to_ask, *external))
        return commands or self._turn_over()

    def _decided(self, event: Decided) -> list[Command]:
        call = self._open.get(event.call_id)
        if event.call_id not in self._pending or call is None:
            # Withdrawn meanwhile, or decided by another one: the first decision counts.
            return []
        if event.decision == "deny":
            return self._ended(CallEnded(event.call_id, outcome=Outcome.DENIED, why=event.reason))
        if event.edited is not None:
            call = replace(event.edited, id=call.id, name=call.name)
            checked = validate_call(call, self._offered)
            if checked.result is not None:
                return self._ended(CallEnded(call.id, checked.result))
            call = checked.call
            self._open[call.id] = call
        if self.tools[call.name].external:
            return [AwaitExternal((call,))]
        del self._pending[call.id]
        return [RunBatch(plan((call,), self.tools))]

    def _supplied(self, event: Supplied) -> list[Command]:
        return self._ended(CallEnded(event.call_id, event.result))

    def _chosen(self, event: ModelChosen) -> list[Command]:
        self._next_target = event.target
        return []

    def _withdrawn(self, outcome: Outcome, why: str) -> list[Command]:
        """End the calls that nobody has decided about or supplied."""
        ids = tuple(self._pending)
        commands: list[Command] = [Withdraw(ids, why)]
        for id in ids:
            commands += self._ended(CallEnded(id, outcome=outcome, why=why))
        return commands

    def _ended(self, event: CallEnded) -> list[Command]:
        """Write the end of a call. What comes after it is recorded, and changes nothing."""
        was_open = self._open.pop(event.call_id, None)
        self._pending.pop(event.call_id, None)
        result = event.result
        if result is not None:
            is_named = result.call_id == event.call_id
            self._write(result if is_named else replace(result, call_id=event.call_id))
        elif event.outcome is not None:
            self.conversation.close(
                event.call_id, event.outcome, why=event.why, partial_output=event.partial
            )
        if was_open is None:
            return []
        self.spent = replace(
            self.spent,
            tool_calls=self.spent.tool_calls + 1,
            seconds=self.spent.seconds + event.seconds,
        )
        return [] if self._open or self._asking else self._turn_over()

    def _turn_over(self) -> list[Command]:
        """Every call of the turn has its end: ask again, or stop where it leads nowhere."""
        if self._stopped is not None:
            return self._finish(Finish("cancelled", self._stopped.why))
        watched = [call for call in self._turn if not self._is_polling(call)]
        ledger = self.conversation.ledger
        self._progress = self._progress.after((call, ledger[call.id].result) for call in watched)
        self._ending = self._ending or leads_nowhere(self._progress, self._budget)
        return self._ask()

    def _is_polling(self, call: ToolCall) -> bool:
        return call.name in self.tools and self.tools[call.name].polling

    def _failed(self, event: ModelFailed) -> list[Command]:
        if not self._asking:
            raise _out_of_turn("a failure of the model")
        self._asking = False
        self.spent = replace(self.spent, seconds=self.spent.seconds + event.seconds)
        if self._stopped is not None:
            return self._finish(Finish("cancelled", self._stopped.why))
        return self._finish(Finish("failed", event.why))

    def _cancel(self, event: Cancelled) -> list[Command]:
        """Stop what runs. Calls that wait for an answer from outside will not be run at all."""
        if self.is_idle or self._stopped is not None:
            return []
        self._stopped = event
        running = tuple(id for id in self._open if id not in self._pending)
        commands: list[Command] = []
        if running or self._asking:
            commands.append(StopCalls(running, self._asking, event.why))
        if self._pending:
            commands += self._withdrawn(Outcome.NOT_RUN, event.why)
        return commands

    def _finish(self, end: Finish) -> list[Command]:
        self._asking = False
        self._ending = None
        self._is_last = False
        self._turn = ()
        self._take_in_waiting()
        return [end]

    def _take_in_waiting(self) -> None:
        """What the user said meanwhile; no call is open now, so it cannot come between."""
        for said in self._waiting:
            self.conversation.append(Message("user", said.blocks))
        self._waiting.clear()

    def _write(self, result: ToolResult) -> None:
        self.conversation.append(Message("tool", (result,)))

    def _close(self, calls: Iterable[ToolCall], outcome: Outcome, why: str) -> None:
        for call in calls:
            self.conversation.close(call.id, outcome, why=why)

    def _count_turn(self, event: ModelReplied) -> None:
        usage = event.reply.usage
        tokens = 0 if usage is None else usage.input_tokens + usage.output_tokens
        self.spent = replace(
            self.spent,
            turns=self.spent.turns + 1,
            tokens=self.spent.tokens + tokens,
            cost=self.spent.cost + event.cost,
            seconds=self.spent.seconds + event.seconds,
        )


def _out_of_turn(what: str) -> InvalidValue:
    return InvalidValue(
        f"{what} came, and the machine did not wait for it.",
        where="step",
        help="Answer each command once.",
    )
