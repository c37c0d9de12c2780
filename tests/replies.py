"""Replies with other calls, for comparing what two ways of telling one reply say."""

from collections.abc import Callable
from itertools import count

from msgspec.structs import replace

from canonicall.blocks import ToolCall
from canonicall.reply import Reply


def with_calls(reply: Reply, change: Callable[[ToolCall], ToolCall]) -> Reply:
    """`reply` with every call as `change` makes it."""
    blocks = tuple(
        change(block) if isinstance(block, ToolCall) else block for block in reply.message.blocks
    )
    return replace(reply, message=replace(reply.message, blocks=blocks))


def with_own_ids(reply: Reply) -> Reply:
    """`reply` with an id of its own for each call, which every encoder leaves alone."""
    numbers = count()
    return with_calls(reply, lambda call: replace(call, id=f"t{next(numbers)}"))


def unmarked(reply: Reply) -> Reply:
    """`reply` without the marks of calls that the token limit may have cut."""
    return with_calls(reply, lambda call: replace(call, truncated=False))
