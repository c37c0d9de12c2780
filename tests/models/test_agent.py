"""`Agent` and `HttpModel` with a real model on a real server."""

import asyncio

import pytest

from canonicall import (
    Agent,
    CompleteEvent,
    Conversation,
    HttpModel,
    Message,
    Params,
    Request,
    Text,
    TextEvent,
    fold,
    get_target,
    tool,
)
from canonicall.client.config import ClientConfig
from models.llama_server import LONG, MODEL, LlamaServer

pytestmark = [pytest.mark.deep, pytest.mark.needs("models")]

TARGET = f"llamacpp:{MODEL}"


@pytest.mark.parametrize("config", ["calls", "leaks"], indirect=True)
async def test_a_task_with_a_tool(config: ClientConfig):
    """Whether the server reads the call, or leaves it in the text of the reply."""
    ran = []

    @tool
    async def get_weather(city: str) -> str:
        """The weather in a city."""
        ran.append(city)
        return "windy"

    async with HttpModel(config) as model:
        answer = await Agent(model, TARGET, tools=[get_weather]).ask("get_weather: Oslo?")
    assert ran == ["Oslo"]
    assert answer == "It is windy in Oslo."


@pytest.mark.parametrize("config", ["calls"], indirect=True)
async def test_two_replies_at_the_end_are_one_after_the_refusal(config: ClientConfig):
    """The server refuses them, and says so in words that the client knows."""
    conversation = Conversation()
    conversation.user("Hi.")
    for text in ("Hello", "You"):
        conversation.append(Message("assistant", (Text(text=text),)))
    told = []
    async with HttpModel(config, notices=told.append) as model:
        request = Request(conversation, params=Params(max_tokens=4))
        events = [event async for event in model.ask(request, get_target(TARGET))]
    assert fold(events).message.text
    assert [one.kind for one in told] == ["recovered", "answered"]


@pytest.mark.parametrize("config", ["endless"], indirect=True)
async def test_the_model_stops_when_the_run_is_cancelled(config: ClientConfig, llama: LlamaServer):
    async with HttpModel(config) as model:
        session = Agent(model, TARGET, params=Params(max_tokens=LONG)).session()
        heard = 0
        async for event in session.send("Tell a story."):
            heard += isinstance(event, TextEvent)
            if heard == 5 and isinstance(event, TextEvent):
                assert llama.slot("endless")["is_processing"]
                session.cancel()
        await session.close()
    assert isinstance(event, CompleteEvent)
    assert event.reason == "cancelled"
    slot = await asyncio.to_thread(llama.idle_slot, "endless")
    assert slot["n_prompt_tokens"] < LONG
