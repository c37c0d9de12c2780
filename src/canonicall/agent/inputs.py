"""What an agent's machine is told. The driver makes these from what happened outside."""

from typing import TypeAlias

from msgspec import Struct

from canonicall.blocks import Block, ResultContent, ToolCall, ToolResult
from canonicall.decisions import Rule, Scope, Verdict
from canonicall.facts.target import Target
from canonicall.outcome import Outcome
from canonicall.reply import Reply


class _Input(Struct, frozen=True, tag_field="input"):
    pass


class UserSaid(_Input, frozen=True, tag="user_said"):
    """Words for the model. While a run is under way they wait until no call is open."""

    blocks: tuple[Block, ...]


class ModelReplied(_Input, frozen=True, tag="model_replied"):
    """The model's reply, whole or as far as it came."""

    reply: Reply
    cost: float = 0.0
    seconds: float = 0.0
    target: Target | None = None
    """Who answered, where it is known; another than was asked, after a failover."""


class ModelFailed(_Input, frozen=True, tag="model_failed"):
    """There will be no reply. Whoever talks to the provider has tried what can be tried."""

    why: str
    said: Reply | None = None
    """What had come before, where somebody has read it: its words, and the calls that are whole."""
    seconds: float = 0.0


class CallEnded(_Input, frozen=True, tag="call_ended"):
    """A call of the batch came to its end: with a result, or without one."""

    call_id: str
    result: ToolResult | None = None
    outcome: Outcome | None = None
    """How it ended, where there is no result."""
    why: str = ""
    partial: tuple[ResultContent, ...] = ()
    """Output that had arrived before the end."""
    seconds: float = 0.0


class Decided(_Input, frozen=True, tag="decided"):
    """What somebody said to a call that needs approval."""

    call_id: str
    """Empty where it is about later calls only."""
    decision: Verdict
    reason: str = ""
    edited: ToolCall | None = None
    """The call to run in its place, with other arguments."""
    scope: Scope = "once"
    """Whether it stands for later calls too: those of the same tool, or those that `rule` means."""
    rule: Rule | None = None
    by: str = ""
    """Who says it."""


class Supplied(_Input, frozen=True, tag="supplied"):
    """The result of an external call."""

    call_id: str
    result: ToolResult


class Resumed(_Input, frozen=True, tag="resumed"):
    """The conversation was opened again: calls that waited when it was left go on waiting."""


class Cancelled(_Input, frozen=True, tag="cancelled"):
    """The user wants the run to stop."""

    why: str = "the user cancelled"


class ModelChosen(_Input, frozen=True, tag="model_chosen"):
    """Another model from the next turn of the user on: a turn stays with who began it."""

    target: Target


Input: TypeAlias = (
    UserSaid
    | ModelReplied
    | ModelFailed
    | CallEnded
    | Decided
    | Supplied
    | Resumed
    | Cancelled
    | ModelChosen
)
