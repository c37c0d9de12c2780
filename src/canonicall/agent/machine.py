"""The loop: asks the model, has its calls run, and asks again, until there is an answer.

One machine for every driver: streaming or not, a chat, a sub-agent, a gateway, a test. It awaits
nothing: `step` takes what happened and gives back what is to be done. The conversation is valid at
every moment in between: a call is open until it has its one end.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from canonicall.agent.commands import (
    CallModel,
    Command,
    Finish,
    StopCalls,
)
from canonicall.agent.counters import Tally
from canonicall.agent.ending import leads_nowhere, no_answer
from canonicall.agent.inputs import (
    CallEnded,
    Cancelled,
    Decided,
    Input,
    ModelChosen,
    ModelFailed,
    ModelReplied,
    Resumed,
    Supplied,
    UserSaid,
)
from canonicall.agent.limits import RunLimits, Spent, limit_reached
from canonicall.agent.open_calls import Followed, OpenCalls
from canonicall.agent.progress import LoopPolicy, Progress
from canonicall.blocks import Message, ToolCall
from canonicall.conversation import Conversation
from canonicall.decisions import WhilePending
from canonicall.errors import InvalidValue
from canonicall.facts.target import Target
from canonicall.guard.budget import CorrectionBudget
from canonicall.outcome import Outcome
from canonicall.request import Params, Request, ToolChoice
from canonicall.tools.toolset import Toolset

_FORBIDDEN = "Tools are not available any more in this turn: answer in words."


class Machine:
    """One agent at work on one conversation."""

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        conversation: Conversation,
        target: Target,
        tools: Toolset,
        *,
        limits: RunLimits | None = None,
        budget: CorrectionBudget | None = None,
        params: Params | None = None,
        loops: LoopPolicy | None = None,
        while_pending: WhilePending = "wait",
        standing_decisions: bool = True,
        tally: Tally | None = None,
    ) -> None:
        """`standing_decisions`: whether what was decided about later calls has a say; without
        them somebody is asked about every call that needs approval."""
        self.conversation = conversation
        self.target = target
        """Who is asked; a change takes effect when the user speaks again. After a failover, who
        answered, until the run ends."""
        self.tools = tools
        self.limits = limits or RunLimits()
        self.spent = Spent()
        self.tally = tally or Tally()
        self._params = params or Params()
        self._first_budget = budget or CorrectionBudget()
        self._loops = loops or LoopPolicy()
        self._progress = Progress(self._loops)
        self._next_target = target
        self._offered = tools.offered
        self._waiting: list[UserSaid] = []
        self._calls = OpenCalls(
            conversation,
            tools,
            self.tally,
            self._first_budget,
            heeds_standing=standing_decisions,
        )
        self._turn: tuple[ToolCall, ...] = ()
        self._words = ""
        """What the model said in this turn."""
        self._last_words = ""
        """What it said where tools were forbidden; it may have called some beside."""
        self._asking = False
        self._is_last = False
        self._is_reminded = False
        """The model was told that no tool is left, after it had called one all the same."""
        self._stopped: Cancelled | None = None
        self._ending: Finish | None = None
        """How the run is to end after the last answer."""
        self._while_pending = while_pending
        self._steps: dict[type, Callable[[Any], list[Command]]] = {
            UserSaid: self._user_said,
            ModelReplied: self._replied,
            ModelFailed: self._failed,
            CallEnded: self._ended,
            Decided: self._decided,
            Supplied: self._supplied,
            Resumed: self._resumed,
            Cancelled: self._cancel,
            ModelChosen: self._chosen,
        }

    @property
    def is_idle(self) -> bool:
        """Whether no run is under way."""
        return not self._asking and not self._calls

    @property
    def only_waits(self) -> bool:
        """Whether a run is under way in which nothing runs: it waits for somebody."""
        return bool(self._calls) and not self._asking and not self._calls.running

    @property
    def undecided(self) -> tuple[ToolCall, ...]:
        """The calls that wait for somebody's decision."""
        return self._calls.undecided

    def step(self, event: Input) -> list[Command]:
        """What is to be done, now that this has happened."""
        return self._steps[type(event)](event)

    def _user_said(self, event: UserSaid) -> list[Command]:
        """Begin a run; while one is under way, wait until no call is open."""
        if not self.is_idle:
            self._waiting.append(event)
            return self._followed(self._calls.user_went_on(self._while_pending))
        self._begin_run()
        self.conversation.append(Message("user", event.blocks))
        return self._ask()

    def _resumed(self, event: Resumed) -> list[Command]:
        """Go on with the calls that waited when the conversation was left, if there are any."""
        del event
        if not self.is_idle:
            return []
        self._turn = self._calls.resume()
        if not self._turn:
            return [Finish("idle", "no call waits")]
        self._begin_run()
        return self._calls.asked_again()

    def _begin_run(self) -> None:
        self.target = self._next_target
        self.spent = Spent()
        self._calls.budget = self._first_budget
        self._progress = Progress(self._loops)
        self._ending = self._stopped = None
        self._is_reminded = False
        self._words = self._last_words = ""

    def _ask(self) -> list[Command]:
        """The next turn of the model, unless a limit says otherwise."""
        self._take_in_waiting()
        reached = limit_reached(self.limits, self.spent)
        if reached is not None and self._ending is None:
            told = f"{reached.name} reached {reached.limit:g}"
            if reached.name in ("turns", "tool_calls"):
                name = "tool_loop_max_iterations"
                self.tally.add(self.target.provider, name, model=self.target.model)
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
        if event.target is not None:
            # After a failover the run stays with who answered: the one before has failed for good.
            self.target = event.target
        self.spent = self.spent.with_turn(event)
        message = event.reply.message
        self._words = message.text
        calls = self.conversation.append(message).calls
        self._turn = tuple(call for call in calls if call.kind != "server")
        if self._stopped is not None:
            self._close(self._turn, Outcome.NOT_RUN, self._stopped.why)
            return self._finish(Finish("cancelled", self._stopped.why))
        if self._is_last and self._ending is not None:
            return self._last_answered(self._ending, message)
        if not self._turn:
            return self._answered(message)
        return self._calls.start(self._turn, self.target) or self._turn_over()

    def _answered(self, message: Message) -> list[Command]:
        """A reply without calls: the end, unless the user has said more in the meantime."""
        if self._waiting:
            return self._ask()
        return self._finish(Finish("cut" if message.partial else "answered", no_answer(message)))

    def _last_answered(self, end: Finish, message: Message) -> list[Command]:
        """The end, unless the model called tools once more: then it is told so, and asked again.

        Not every target can forbid calls: Bedrock has no choice `none`, and wants tools declared
        where the history has calls. What became of its calls is understood by every model.
        """
        self._close(self._turn, Outcome.NOT_RUN, _FORBIDDEN)
        self._last_words = message.text if message.text.strip() else self._last_words
        if self._turn and not self._is_reminded:
            self._is_reminded = True
            return self._ask()
        why = no_answer(message)
        if not why:
            return self._finish(end)
        if self._last_words:
            return self._finish(replace(end, text=self._last_words))
        return self._finish(replace(end, detail=f"{end.detail}; {why}"))

    def _decided(self, event: Decided) -> list[Command]:
        return self._followed(self._calls.decided(event, self.target))

    def _followed(self, steps: Followed) -> list[Command]:
        """The commands among these, and those that follow from the ends of calls."""
        commands: list[Command] = []
        for one in steps:
            commands += self._ended(one) if isinstance(one, CallEnded) else [one]
        return commands

    def _supplied(self, event: Supplied) -> list[Command]:
        return self._ended(CallEnded(event.call_id, event.result))

    def _chosen(self, event: ModelChosen) -> list[Command]:
        self._next_target = event.target
        return []

    def _ended(self, event: CallEnded) -> list[Command]:
        """The end of a call; behind that of the last one the turn is over."""
        if not self._calls.ended(event):
            return []
        self.spent = self.spent.with_call(event.seconds)
        return [] if self._calls or self._asking else self._turn_over()

    def _turn_over(self) -> list[Command]:
        """Every call of the turn has its end: ask again, or stop where it leads nowhere."""
        if self._stopped is not None:
            return self._finish(Finish("cancelled", self._stopped.why))
        watched = [call for call in self._turn if not self._is_polling(call)]
        ledger = self.conversation.ledger
        self._progress.add(self._words, ((call, ledger[call.id].result) for call in watched))
        self._ending = self._ending or leads_nowhere(self._progress, self._calls.budget)
        if self._ending and self._ending.reason == "loop" and self._loops.at_loop == "stop":
            return self._finish(self._ending)
        return self._ask()

    def _is_polling(self, call: ToolCall) -> bool:
        return call.name in self.tools and self.tools[call.name].polling

    def _failed(self, event: ModelFailed) -> list[Command]:
        if not self._asking:
            raise _out_of_turn("a failure of the model")
        self._asking = False
        end = Finish("failed", event.why)
        if self._stopped is not None:
            end = Finish("cancelled", self._stopped.why)
        if event.said is None:
            self.spent = replace(self.spent, seconds=self.spent.seconds + event.seconds)
            return self._finish(end)
        self.spent = self.spent.with_turn(ModelReplied(event.said, seconds=event.seconds))
        calls = self.conversation.append(event.said.message).calls
        own = (call for call in calls if call.kind != "server")
        self._close(own, Outcome.NOT_RUN, end.detail)
        return self._finish(end)

    def _cancel(self, event: Cancelled) -> list[Command]:
        """Stop what runs. Calls that wait for an answer from outside will not be run at all."""
        if self.is_idle or self._stopped is not None:
            return []
        self._stopped = event
        running = self._calls.running
        commands: list[Command] = []
        if running or self._asking:
            commands.append(StopCalls(running, self._asking, event.why))
        return commands + self._followed(self._calls.withdrawn(Outcome.NOT_RUN, event.why))

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

    def _close(self, calls: Iterable[ToolCall], outcome: Outcome, why: str) -> None:
        for call in calls:
            self.conversation.close(call.id, outcome, why=why)


def _out_of_turn(what: str) -> InvalidValue:
    return InvalidValue(
        f"{what} came, and the machine did not wait for it.",
        where="step",
        help="Answer each command once.",
    )
