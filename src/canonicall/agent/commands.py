"""What an agent's machine wants done. The driver does it, and tells the machine what came of it."""

from typing import TypeAlias

from msgspec import Struct

from canonicall.agent.batch import Batch
from canonicall.blocks import ToolCall
from canonicall.facts.target import Target
from canonicall.request import Request


class _Command(Struct, frozen=True, tag_field="command"):
    pass


class CallModel(_Command, frozen=True, tag="call_model"):
    """Ask the model; then `ModelReplied` or `ModelFailed`."""

    request: Request
    target: Target
    is_last: bool = False
    """Tools are forbidden: an answer in words is wanted, because a limit is reached."""


class RunBatch(_Command, frozen=True, tag="run_batch"):
    """Run these calls; then `CallEnded` for every one of them, in whatever order."""

    batch: Batch


class AskApproval(_Command, frozen=True, tag="ask_approval"):
    """Ask somebody about each of these calls; then `Decided` for every one."""

    calls: tuple[ToolCall, ...]


class AwaitExternal(_Command, frozen=True, tag="await_external"):
    """The results of these calls come from outside; then `Supplied` for every one."""

    calls: tuple[ToolCall, ...]


class StopCalls(_Command, frozen=True, tag="stop_calls"):
    """Stop what runs: the model, or calls; the machine still waits to hear how each ended."""

    call_ids: tuple[str, ...]
    model: bool = False
    why: str = ""


class Withdraw(_Command, frozen=True, tag="withdraw"):
    """Nobody need decide about these calls any more, or supply their results."""

    call_ids: tuple[str, ...]
    why: str = ""


class Finish(_Command, frozen=True, tag="finish"):
    """The run is over; the machine waits for the user."""

    reason: str
    """answered, limit, cancelled, failed, cut, corrections_exhausted, loop, idle."""
    detail: str = ""
    """Why, as text. A run without an answer always has one."""
    text: str = ""
    """The answer, where the conversation does not end with it: calls that were not run follow."""


Command: TypeAlias = (
    CallModel | RunBatch | AskApproval | AwaitExternal | StopCalls | Withdraw | Finish
)
