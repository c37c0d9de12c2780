"""A driver without any event loop: does what the machine wants, at once, in a chosen order."""

from collections import deque

from canonicall.agent.commands import (
    AskApproval,
    AwaitExternal,
    CallModel,
    Finish,
    RunBatch,
    StopCalls,
)
from canonicall.agent.inputs import (
    CallEnded,
    Cancelled,
    Decided,
    ModelFailed,
    ModelReplied,
    Supplied,
    UserSaid,
)
from canonicall.agent.machine import Machine
from canonicall.blocks import Text
from canonicall.conversation import Conversation
from canonicall.facts.registry import get_target
from canonicall.outcome import Outcome
from canonicall.tools.toolset import Toolset


def said(text):
    return UserSaid((Text(text=text),))


def machine_for(*tools, target="openai", conversation=None, **options):
    return Machine(
        conversation or Conversation(), get_target(target), Toolset.of(*tools), **options
    )


class Driver:
    """Feeds one machine. What is to happen next is in `queue`, so a test can look at every step."""

    def __init__(self, machine, model, *, decide=None, supply=None, reverse=False):
        self.machine = machine
        self.model = model
        self.decide = decide or (lambda call: Decided(call.id, "allow"))
        self.supply = supply
        self.reverse = reverse
        self.queue = deque()
        self.commands = []
        self.run_calls = []
        self.finished = []

    def run(self, event, *, cancel_after=None):
        """Until nothing is left to do; `cancel_after` steps the user cancels."""
        self._feed(event)
        steps = 0
        while self.queue:
            if steps == cancel_after:
                self._feed(Cancelled())
            steps += 1
            if self.queue:
                self._feed(self.queue.popleft())
        return steps

    def _feed(self, event):
        for command in self.machine.step(event):
            self.commands.append(command)
            self._do(command)

    def _do(self, command):
        if isinstance(command, CallModel):
            self.queue.append(ModelReplied(self.model(command.request)))
        elif isinstance(command, RunBatch):
            ended = [self._call(call) for call in command.batch.calls]
            self.queue.extend(reversed(ended) if self.reverse else ended)
        elif isinstance(command, AskApproval):
            self.queue.extend(self.decide(call) for call in command.calls)
        elif isinstance(command, AwaitExternal):
            made = [Supplied(call.id, self.supply(call)) for call in command.calls if self.supply]
            self.queue.extend(made)
        elif isinstance(command, StopCalls):
            self._stop(command)
        elif isinstance(command, Finish):
            self.finished.append(command)

    def _call(self, call):
        self.run_calls.append((call.name, call.args))
        tool = self.machine.tools[call.name]
        try:
            value = tool.call(call.args or {})
        except Exception as error:  # noqa: BLE001  whatever a tool raises is its result
            value = error
        return CallEnded(call.id, tool.returned(value).result(call))

    def _stop(self, command):
        """What is on its way does not arrive; how far a call got is not known."""
        stopped = set(command.call_ids)
        kept = []
        for one in self.queue:
            if isinstance(one, CallEnded) and one.call_id in stopped:
                kept.append(CallEnded(one.call_id, outcome=Outcome.UNKNOWN, why=command.why))
            elif isinstance(one, ModelReplied) and command.model:
                kept.append(ModelFailed(command.why))
            else:
                kept.append(one)
        self.queue = deque(kept)


def outcomes(machine):
    return [(one.name, str(one.outcome)) for one in machine.conversation.ledger.values()]


def last_reason(driver):
    (finish,) = driver.finished[-1:]
    return finish.reason
