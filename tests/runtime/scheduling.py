"""A batch that is run to its end, and tools that meet each other."""

import asyncio

from canonicall.agent.batch import plan
from canonicall.blocks import ToolCall
from canonicall.runtime.scheduler import Scheduler
from canonicall.tools.toolset import Toolset


def calls_of(*names):
    return [ToolCall(id=f"call-{n}", name=name, args={}) for n, name in enumerate(names)]


async def scheduled(*names, tools, stop=None, **options):
    """How the calls ended, in the order they did, and what they reported."""
    toolset = Toolset.of(*tools)
    scheduler = Scheduler(toolset, **options)
    ended, reported = [], []
    running = scheduler.start(
        plan(calls_of(*names), toolset),
        ended.append,
        progress=lambda call, value: reported.append(value),
    )
    if stop is not None:
        await stop(scheduler, running)
    await asyncio.gather(running, return_exceptions=True)
    scheduler.close()
    return ended, reported


def told(ended):
    return [(one.call_id, one.result.text if one.result else str(one.outcome)) for one in ended]


class Meeting:
    """Counts who is there at the same time."""

    def __init__(self, wanted=2):
        self.here = 0
        self.most = 0
        self.wanted = wanted
        self.complete = asyncio.Event()

    async def __aenter__(self):
        self.here += 1
        self.most = max(self.most, self.here)
        if self.here >= self.wanted:
            self.complete.set()

    async def __aexit__(self, *_):
        self.here -= 1
