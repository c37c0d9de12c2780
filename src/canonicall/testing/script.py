"""Models without a provider: replies written down beforehand, and the words to write them with.

A *model* here is anything that is called with a `Request` and returns a `Reply`. Ids, signatures
and figures are not its business: a simulator adds them in its provider's own form.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from canonicall.blocks import Block, Message, Text, Thinking, ToolCall
from canonicall.errors import CanonicallError
from canonicall.reply import STOP, TOOL_CALLS, Reply, Usage
from canonicall.request import Request

Model: TypeAlias = Callable[[Request], Reply]
Step: TypeAlias = Reply | str | Model


class ScriptEnded(CanonicallError):
    """A scripted model was asked more often than its script has replies."""

    def __init__(self, length: int) -> None:
        self.length = length
        super().__init__(
            f"the script has {length} replies and was asked for one more."
            " Add a reply, or let the last one repeat with `repeat=True`."
        )


def says(*blocks: str | Block, finish: str = "", usage: Usage | None = None) -> Reply:
    """A reply of these blocks; bare text is words. It finishes as its blocks say."""
    made = tuple(Text(text=block) if isinstance(block, str) else block for block in blocks)
    has_calls = any(isinstance(block, ToolCall) for block in made)
    finish = finish or (TOOL_CALLS if has_calls else STOP)
    return Reply(Message("assistant", made, finish=finish), usage)


def call(name: str, args: Mapping[str, Any] | None = None, /, **more: Any) -> ToolCall:
    """A call of the tool `name`."""
    return ToolCall(name=name, args={**(args or {}), **more})


def thought(text: str) -> Thinking:
    """A thought that stands before the words."""
    return Thinking(text=text)


class ScriptedModel:
    """Gives the replies of a script one after another, whatever it is asked.

    A step is a reply, bare text, or a function of the request. `requests` keeps what was asked.
    """

    def __init__(self, steps: Iterable[Step], *, repeat: bool = False) -> None:
        self._steps = tuple(steps)
        self._repeat = repeat
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        at = len(self.requests)
        if at >= len(self._steps) and not (self._repeat and self._steps):
            raise ScriptEnded(len(self._steps))
        self.requests.append(request)
        step = self._steps[min(at, len(self._steps) - 1)]
        if isinstance(step, str):
            return says(step)
        return step if isinstance(step, Reply) else step(request)
