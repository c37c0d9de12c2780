"""Sessions against simulated providers that refuse what the real ones refuse, without a socket."""

import asyncio
import itertools
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from canonicall.client.config import ClientConfig
from canonicall.client.model import HttpModel
from canonicall.client.transport import TransportError
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.testing.exchange import SimRequest
from canonicall.testing.script import call, says, thought
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset

from client_support import DirectResponse, settings, simulator, target

PLACES = [
    "openai",
    "openai/openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "cohere",
    "ollama",
]
"""Every format once."""


class Wire:
    """A transport to one simulator; its first answer ends behind so many pieces, or is whole.

    A quiet end looks like the end of the answer; any other one is an error of the connection.
    """

    def __init__(self, served, *, pieces=None, is_quiet=False):
        self._served = served
        self._pieces = pieces
        self._is_quiet = is_quiet
        self.lengths = []

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        address = urlsplit(url)
        path = f"{address.path}?{address.query}" if address.query else address.path
        answer = self._served.answer(SimRequest.of("POST", path, body, dict(headers)))
        response = DirectResponse(answer)
        pieces = list(response._pieces)
        end = len(pieces) if self._pieces is None or self.lengths else self._pieces
        self.lengths.append(len(pieces))
        response._pieces = self._until(pieces, end)
        return response

    def _until(self, pieces, end):
        yield from pieces[:end]
        if end < len(pieces) and not self._is_quiet:
            raise TransportError("cut.", where="here", phase="connection")

    async def close(self):
        pass


@asynccontextmanager
async def talking(place, *steps, tools=(), wire=None, faults=(), grace=0.05, **options):
    """A session with a scripted provider; `session.served` is the simulator."""
    served = simulator(place, *steps, faults=faults)
    async with asking(served, wire or {}) as model:
        toolset = Toolset.of(*tools)
        scheduler = Scheduler(toolset, grace=grace)
        session = Session(model, target(place), toolset, scheduler=scheduler, **options)
        session.served = served
        yield session
        await session.close()


@asynccontextmanager
async def asking(served, wire):
    """A client of one simulator, which it reaches through a `Wire` with these settings."""

    async def sleep(seconds):
        pass

    name = served.profile.name
    # Any host may be made to leak here.
    config = ClientConfig({name: settings("http://simulated", name)}, recover="always")
    made = Wire(served, **wire)
    async with HttpModel(config, transport=made, sleep=sleep, random=lambda: 0.5) as model:
        model.wire = made
        yield model


async def heard(session, text="Go."):
    return [event async for event in session.send(text)]


def noting(ran):
    """A tool that notes what it ran for."""

    @tool
    async def write(path: str, text: str = "") -> str:
        """Writes a file."""
        ran.append(path)
        await asyncio.sleep(0)
        return f"wrote {path}"

    return write


def thinks_and_writes(request):
    """Thinks and calls when it is first asked, also when that is asked again; then it is done."""
    last = list(request.conversation.messages)[-1]
    if (last.role, last.text) != ("user", "Go."):
        return says("Done.")
    return says(thought("Let me see."), "I will.", call("write", path="a", text="whole"))


async def cut_everywhere(place, *, is_quiet):
    """Sessions whose first answer broke off, one for each place where it can; then a question.

    The last of them had a whole answer.
    """
    for pieces in itertools.count():
        ran = []
        wire = {"pieces": pieces, "is_quiet": is_quiet}
        steps = [thinks_and_writes] * 6
        async with talking(place, *steps, tools=[noting(ran)], wire=wire) as one:
            await heard(one)
            events = await heard(one, "And?")
            length = one._model.wire.lengths[0]
        yield one, events, ran
        if pieces >= length:
            assert length > 1
            return


def statuses(session):
    """What the provider thought of the requests: 200, or why it refused."""
    return [one.violations or one.status for one in session.served.seen]


def outcomes(session):
    return [str(one.outcome) for one in session.conversation.ledger.values()]


def answers(session):
    return [one.result and one.result.text for one in session.conversation.ledger.values()]
