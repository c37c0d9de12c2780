"""Running one tool, whatever kind of function it is: awaited, iterated, or in a thread."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor
from contextvars import copy_context
from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.tools.bound import BoundTool
from canonicall.tools.context import ToolContext
from canonicall.tools.progress import Yields


async def run_tool(tool: BoundTool, call: ToolCall, context: ToolContext, threads: Executor) -> Any:
    """What the tool returns or raises for this call.

    Functions that block run in a thread. One that gives back something to await or to iterate is
    followed to its end; what it yields on the way is progress.
    """
    try:
        return await _run(tool, arguments_of(call), context, threads)
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        # A tool that wants to end the process ends itself.
        raise RuntimeError(f"the tool raised {type(error).__name__}") from error


async def _run(
    tool: BoundTool, arguments: dict[str, Any], context: ToolContext, threads: Executor
) -> Any:
    style = tool.style
    if style == "coroutine":
        made = await tool.call(arguments, context)
    elif style == "async_generator":
        made = tool.call(arguments, context)
    else:
        run = copy_context().run
        loop = asyncio.get_running_loop()
        made = await loop.run_in_executor(threads, run, _blocking, tool, arguments, context)
        if inspect.isawaitable(made):
            made = await made
    if isinstance(made, AsyncIterator):
        return await _iterated(made, context.report)
    return made


def _blocking(tool: BoundTool, arguments: dict[str, Any], context: ToolContext) -> Any:
    """Runs in a thread: the function, and what it yields."""
    try:
        made = tool.call(arguments, context)
    except StopIteration as error:
        # No future can hold one.
        raise RuntimeError("the tool raised StopIteration") from error
    if not isinstance(made, Iterator) or not hasattr(made, "send"):
        return made
    yields = Yields()
    while True:
        try:
            value = next(made)
        except StopIteration as end:
            rest, result = yields.close(end.value)
            for one in rest:
                context.report(one)
            return result
        for one in yields.feed(value):
            context.report(one)


async def _iterated(values: AsyncIterator[Any], report: Callable[[Any], None]) -> Any:
    yields = Yields()
    async for value in values:
        for one in yields.feed(value):
            report(one)
    _, result = yields.close()
    return result
