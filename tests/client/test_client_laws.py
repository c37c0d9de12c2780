"""What holds wherever a stream is cut and wherever a question is cancelled."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.client.transport import TransportError
from canonicall.events import BlockEnded, MessageStarted, StreamEnded, TextAdded
from canonicall.request import Tool
from canonicall.testing.script import call, says

from client_support import PLACES, Direct, asked, client, kinds, question, simulator, target

TOOL = Tool(
    "weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}}
)
WORDS = "I will look at the weather."
SAID = says(WORDS, call("weather", city="Paris"), call("weather", city="Rome"))


class Counting(Direct):
    """Knows how many answers are open."""

    def __init__(self):
        self.open = 0
        self.asked = 0

    async def post(self, *request, **more):
        self.asked += 1
        await asyncio.sleep(0)
        self.open += 1
        return Counted(self, await super().post(*request, **more))


class Counted:
    def __init__(self, transport, response):
        self._transport, self._response = transport, response
        self.status, self.headers = response.status, response.headers

    def chunks(self):
        return self._response.chunks()

    def close(self):
        self._transport.open -= 1


class Cutting(Counting):
    """Breaks the first answer off behind so many bytes, and gives it in pieces of any size."""

    def __init__(self, share, size):
        super().__init__()
        self._share, self._size = share, size

    async def post(self, *request, **more):
        response = await super().post(*request, **more)
        response.chunks = self._cut(response.chunks, is_first=self.asked == 1)
        return response

    def _cut(self, chunks, *, is_first):
        async def cut():
            data = b"".join([chunk async for chunk in chunks()])
            end = int(len(data) * self._share) if is_first else len(data)
            for at in range(0, end, self._size):
                await asyncio.sleep(0)
                yield data[at : min(at + self._size, end)]
            if end < len(data):
                raise TransportError("cut.", where="here", phase="connection")

        return cut


async def heard_of(place, transport):
    served = simulator(place, SAID, SAID)
    async with client(served, transport=transport) as model:
        events, reply = await asked(model, question(TOOL), target(place))
    return events, reply, kinds(model)


@given(st.sampled_from(PLACES), st.floats(0, 0.999), st.integers(1, 400))
def test_a_reply_is_whole_or_partial_and_never_told_twice(place, share, size):
    """Wherever the first answer breaks: it is asked for again in silence, or what came is kept."""
    transport = Cutting(share, size)
    events, reply, told = asyncio.run(heard_of(place, transport))
    shown = "".join(event.text for event in events if isinstance(event, TextAdded))
    assert sum(isinstance(event, MessageStarted) for event in events) <= 1
    assert sum(isinstance(event, StreamEnded) for event in events) == 1
    assert transport.open == 0
    ended = [
        event.block.name
        for event in events
        if isinstance(event, BlockEnded) and hasattr(event.block, "name")
    ]
    if told[0] == "retrying":
        assert events[-1].complete
        assert (shown, transport.asked) == (WORDS, 2)
        assert len(reply.calls) == len(ended) == 2
    else:
        assert transport.asked == 1
        assert WORDS.startswith(shown)
        if not events[-1].complete:
            assert reply.message.partial
            whole = [one for one in reply.calls if not one.truncated]
            assert len(whole) <= len(ended)


@pytest.mark.parametrize("faults", [[], ["overloaded"], ["error_in_200"]])
async def test_wherever_a_question_is_cancelled_no_answer_stays_open(faults):
    """Cancelled after so many steps of the event loop, up to the whole length of the exchange."""
    for steps in range(200):
        transport = Counting()
        served = simulator("openai", SAID, SAID, faults=faults)
        async with client(served, transport=transport) as model:
            asking = asyncio.ensure_future(asked(model, question(TOOL), target("openai")))
            for _ in range(steps):
                await asyncio.sleep(0)
            is_over = asking.done()
            asking.cancel()
            await asyncio.wait([asking])
            assert transport.open == 0
        if is_over:
            assert steps > 5
            return
    pytest.fail("the exchange has more steps than that")


async def test_whoever_stops_reading_leaves_nothing_open():
    """A loop that is left in the midst closes the answer as soon as the events are let go."""
    transport = Counting()
    async with client(simulator("openai", SAID), transport=transport) as model:
        events = model.ask(question(TOOL), target("openai"))
        async for event in events:
            if isinstance(event, TextAdded):
                break
        assert transport.open == 1
        await events.aclose()
        assert transport.open == 0


async def test_at_the_end_of_a_reply_its_connection_is_free():
    transport = Counting()
    async with client(simulator("openai", SAID), transport=transport) as model:
        async for event in model.ask(question(TOOL), target("openai")):
            if isinstance(event, StreamEnded):
                assert transport.open == 0
