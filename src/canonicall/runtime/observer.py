"""Observers: whoever wants to know of a run without having a part in it, such as telemetry.

An observer is asked for one `RunObserver` when a run begins. Its methods are called at once, where
things happen: `model_started` in the task that asks the model, `tool_started` in the one that the
tool inherits its context from. They change nothing and must not raise.
"""

from canonicall.agent.commands import Finish
from canonicall.agent.inputs import CallEnded, ModelFailed, ModelReplied
from canonicall.agent.limits import Spent
from canonicall.blocks import ToolCall
from canonicall.facts.target import Target
from canonicall.request import Request


class RunObserver:
    """Hears of one run. Override what is needed; everything else is let pass."""

    def model_started(self, request: Request, target: Target) -> None:
        """The model is asked now."""

    def model_ended(self, answer: ModelReplied | ModelFailed, error: str = "") -> None:
        """It answered, or will not. `error` is what kind of failure it was, in a word."""

    def tool_started(self, call: ToolCall) -> None:
        """A tool begins to run."""

    def tool_ended(self, call: ToolCall, end: CallEnded) -> None:
        """A call ended, also one that never began. A late result is told once more."""

    def run_ended(self, end: Finish, spent: Spent) -> None:
        """The run is over."""


class Observer:
    """Hears that a run begins, of any number of sessions. This one is not interested."""

    def run_started(self) -> RunObserver:
        """The one who hears of the rest of this run."""
        return _NOBODY


_NOBODY = RunObserver()
