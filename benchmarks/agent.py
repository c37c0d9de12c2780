"""The agent's loop without its model and its tools: what a turn with ten calls costs by itself.

The model is scripted and answers at once, the tools do nothing. A turn is measured against a bare
event loop that runs ten tasks, in processor time. What a turn costs must not depend on how long
the conversation is: a session hands it over as it is, and a client renders with a `Renderer` that
goes on where it was.
"""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine
from time import process_time

from canonicall import Conversation, Message, Renderer, Text, ToolCall, tool
from canonicall.agent.limits import RunLimits
from canonicall.events import Event
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.folding import events_of
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.runtime.events import CompleteEvent, TextEvent
from canonicall.runtime.session import Session
from canonicall.tools.toolset import Toolset
from measuring import REPEATS, Ratio

TURNS = 50
CALLS = 10
SESSIONS = 1000
WORDS = 20


@tool
async def nothing(at: int) -> str:
    """Does nothing."""
    return f"done {at}"


TOOLS = Toolset.of(nothing)


class Scripted:
    """Calls ten tools in every turn, then says a word. With a renderer it renders each request."""

    def __init__(self, turns: int, renderer: Renderer | None = None) -> None:
        self._left = turns
        self._at = 0
        self._renderer = renderer

    async def ask(self, request: Request, target: Target, **_: object) -> AsyncIterator[Event]:
        del target
        if self._renderer is not None:
            self._renderer.render(request.conversation)
        self._left -= 1
        if self._left < 0:
            blocks: tuple[Text | ToolCall, ...] = (Text(text="Done."),)
        else:
            self._at += CALLS
            numbers = range(self._at, self._at + CALLS)
            blocks = tuple(ToolCall(id=f"c{at}", name="nothing", args={"at": at}) for at in numbers)
        for event in events_of(Reply(Message("assistant", blocks))):
            yield event


class Talking:
    """Streams its words one by one; everybody else may have a turn in between."""

    async def ask(self, request: Request, target: Target, **_: object) -> AsyncIterator[Event]:
        del request, target
        words = Message("assistant", tuple(Text(text=f"word {at} ") for at in range(WORDS)))
        for event in events_of(Reply(words)):
            await asyncio.sleep(0)
            yield event


def conversation_of(messages: int) -> Conversation:
    """A conversation of questions and answers."""
    made = Conversation()
    for at in range(messages // 2):
        made.user(f"Question {at}?")
        made.append(Message("assistant", (Text(text=f"Answer {at}."),)))
    return made


def seconds_per_turn(messages: int, *, render: bool = False) -> float:
    """One run of many turns; its first turn and what comes before are not counted."""

    async def run() -> float:
        conversation = conversation_of(messages)
        renderer = Renderer(get_target("anthropic")) if render else None
        if renderer is not None:
            renderer.render(conversation)
        session = Session(
            Scripted(TURNS, renderer),
            "anthropic",
            TOOLS,
            conversation=conversation,
            limits=RunLimits(turns=None),
        )
        begin = process_time()
        async for _ in session.send("Go."):
            pass
        taken = process_time() - begin
        await session.close()
        return taken / TURNS

    return _best(run)


def seconds_per_bare_turn() -> float:
    """Ten tasks that do nothing, one after another as often as a run has turns."""

    async def nothing_at_all(at: int) -> str:
        return f"done {at}"

    async def run() -> float:
        begin = process_time()
        for _ in range(TURNS):
            await asyncio.gather(*(nothing_at_all(at) for at in range(CALLS)))
        return (process_time() - begin) / TURNS

    return _best(run)


def seconds_of_streams() -> tuple[float, float]:
    """A thousand sessions that stream at the same time, and bare generators; for each event."""

    async def bare() -> float:
        async def consume() -> int:
            return len([0 async for _ in Talking().ask(None, None)])  # type: ignore[arg-type]

        begin = process_time()
        counts = await asyncio.gather(*(consume() for _ in range(SESSIONS)))
        return (process_time() - begin) / sum(counts)

    async def ours() -> float:
        heard = 0

        async def listen() -> None:
            nonlocal heard
            session = Session(Talking(), "openai", TOOLS)
            events = [event async for event in session.send("Talk.")]
            await session.close()
            assert sum(isinstance(event, TextEvent) for event in events) == WORDS
            assert isinstance(events[-1], CompleteEvent)
            heard += len(events)

        begin = process_time()
        await asyncio.gather(*(listen() for _ in range(SESSIONS)))
        return (process_time() - begin) / heard

    return _best(ours), _best(bare)


def bytes_per_idle_session() -> int:
    """What a session holds that has answered once and waits."""

    async def run() -> int:
        sessions = [Session(Talking(), "openai", TOOLS) for _ in range(100)]
        for session in sessions[:1]:
            async for _ in session.send("Warm up."):
                pass
        gc.collect()
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        more = [Session(Talking(), "openai", TOOLS) for _ in range(100)]
        for session in more:
            async for _ in session.send("Talk."):
                pass
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return (after - before) // len(more)

    return asyncio.run(run())


def ratios() -> list[Ratio]:
    """All comparisons of this subject."""
    bare, short, long = seconds_per_bare_turn(), seconds_per_turn(100), seconds_per_turn(2000)
    rendered = seconds_per_turn(100, render=True), seconds_per_turn(2000, render=True)
    ours, theirs = seconds_of_streams()
    return [
        Ratio("a turn of ten calls / ten bare tasks", short, bare, None),
        Ratio("a turn at 2,000 messages / at 100", long, short, 1.3),
        Ratio("the same, rendered by a client", rendered[1], rendered[0], 1.3),
        Ratio("an event of 1,000 sessions / of bare generators", ours, theirs, None),
    ]


def _best(run: Callable[[], Coroutine[None, None, float]]) -> float:
    found = []
    for _ in range(REPEATS):
        gc.collect()
        found.append(asyncio.run(run()))
    return min(found)


def main() -> None:
    """The figures themselves, for whoever looks for what takes the time."""
    print("Processor time: nothing here waits for anything.")
    print(f"{seconds_per_bare_turn() * 1e3:.3f} ms: ten bare tasks")
    for size in (100, 2000):
        print(f"{seconds_per_turn(size) * 1e3:.3f} ms: a turn of ten calls at {size:,} messages")
        print(f"{seconds_per_turn(size, render=True) * 1e3:.3f} ms: the same, rendered")
    ours, bare = seconds_of_streams()
    print(f"{ours * 1e6:.1f} µs: an event of 1,000 sessions; {bare * 1e6:.1f} of bare generators")
    print(f"{bytes_per_idle_session():,} bytes: an idle session")


if __name__ == "__main__":
    main()
