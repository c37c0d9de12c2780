"""The client over real HTTP, against simulated providers that are as strict as the real ones."""

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.blocks import ToolCall
from canonicall.conversation import Conversation
from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, TextAdded
from canonicall.facts.registry import provider_names
from canonicall.folding import fold
from canonicall.request import Params, Reasoning, Request, Tool, ToolChoice
from canonicall.runtime.events import CompleteEvent, StatusEvent
from canonicall.runtime.session import Session
from canonicall.testing.script import call, says, thought
from canonicall.testing.simulator import Simulator
from canonicall.tools.toolset import Toolset

from client_support import PLACES, arguments, asked, client, kinds, simulator, target, weather

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = Tool("weather", "The weather.", SCHEMA)
SAID = says("I will look.", call("weather", city="Paris"), call("weather", city="Rome"))


def talk(*said):
    conversation = Conversation()
    for one in said or ("How is the weather?",):
        conversation.user(one)
    return conversation


@each("place", PLACES)
async def test_a_streamed_reply_of_every_provider_in_every_format(place):
    """Words in pieces, both calls whole, usage and origin; what is streamed adds up to the reply."""
    served = simulator(place, SAID)
    async with client(served) as model:
        events, reply = await asked(model, Request(talk(), (TOOL,)), target(place))
    assert [one.status for one in served.seen] == [200]
    assert arguments(reply) == [{"city": "Paris"}, {"city": "Rome"}]
    assert "".join(one.text for one in events if isinstance(one, TextAdded)) == "I will look."
    assert reply.usage.input_tokens > 0
    assert reply.message.origin.provider == target(place).provider
    assert reply.message.origin.model
    assert fold(events).message.blocks == reply.message.blocks
    assert kinds(model) == ["answered"]
    assert model.told[0].usage == reply.usage


@each("place", PLACES)
async def test_a_whole_reply_of_every_provider_in_every_format(place):
    """`stream=False` asks for one body; the events are the same."""
    served = simulator(place, SAID)
    request = Request(talk(), (TOOL,), params=Params(stream=False))
    async with client(served) as model:
        events, reply = await asked(model, request, target(place))
    assert [one.status for one in served.seen] == [200]
    assert arguments(reply) == [{"city": "Paris"}, {"city": "Rome"}]
    assert "".join(one.text for one in events if isinstance(one, TextAdded)) == "I will look."


async def test_a_whole_reply_of_a_host_that_only_streams():
    """The stream is the client's own affair: nothing that the caller said was changed."""
    served = simulator("chatgpt-codex", SAID)
    request = Request(talk(), (TOOL,), params=Params(stream=False, max_tokens=9))
    async with client(served) as model:
        _, reply = await asked(model, request, target("chatgpt-codex"))
    (seen,) = served.seen
    assert (seen.body["store"], seen.body["stream"], seen.body["instructions"]) == (False, True, "")
    assert arguments(reply) == [{"city": "Paris"}, {"city": "Rome"}]


async def test_names_that_a_provider_refuses_are_mapped_there_and_back():
    """The model knows the tool by a name of its own; whoever asked hears the name they gave."""
    served = Simulator("openai", call_tools="*")
    tool = Tool("weather.now: today!", "The weather.", SCHEMA)
    async with client(served) as model:
        events, reply = await asked(model, Request(talk(), (tool,)), target("openai"))
    (sent,) = served.seen[0].body["tools"]
    assert sent["function"]["name"] != tool.name
    assert [one.name for one in reply.calls] == [tool.name]
    named = [one.block.name for one in events if isinstance(getattr(one, "block", None), ToolCall)]
    assert set(named) == {tool.name}


@pytest.mark.parametrize(
    "place", ["ollama", "vllm", "vllm/openai-responses", "kimi", "minimax/anthropic", "xai"]
)
async def test_calls_are_read_from_text_if_the_host_is_known_to_print_them(place):
    served = simulator(place.partition("/")[0], SAID, faults=["leaked_calls"])
    async with client(served) as model:
        events, reply = await asked(model, Request(talk(), (TOOL,)), target(place))
    assert arguments(reply) == [{"city": "Paris"}, {"city": "Rome"}]
    assert all(call.recovered for call in reply.calls)
    assert any(one.code == "call_recovered" for one in reply.findings)
    assert "call" not in "".join(one.text for one in events if isinstance(one, TextAdded))


@pytest.mark.parametrize("place", ["openai", "anthropic", "gemini", "bedrock", "cohere"])
async def test_text_of_other_hosts_is_read_only_if_that_is_wanted(place):
    for recover, wanted in (("known", []), ("always", [{"city": "Paris"}, {"city": "Rome"}])):
        served = simulator(place, SAID, faults=["leaked_calls"])
        async with client(served, recover=recover) as model:
            _, reply = await asked(model, Request(talk(), (TOOL,)), target(place))
        assert arguments(reply) == wanted
        assert ("<tool_call>" in reply.message.text) == (not wanted)


async def test_a_host_is_read_only_in_the_syntax_of_its_model():
    text = '[TOOL_CALLS]weather[ARGS]{"city": "Rome"}'
    for model_name, count in (("Qwen/Qwen3-32B", 0), ("mistralai/Devstral-Small-2507", 1)):
        async with client(simulator("vllm", says(text))) as model:
            _, reply = await asked(model, Request(talk(), (TOOL,)), target("vllm", model_name))
        assert len(reply.calls) == count


async def test_nothing_is_read_from_text_if_no_tool_may_be_chosen():
    asks = Request(talk(), (TOOL,), ToolChoice("none"))
    for whole in (False, True):
        text = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'
        served = simulator("vllm", says(text))
        async with client(served, recover="always") as model:
            params = Params(stream=False) if whole else Params()
            _, reply = await asked(model, replace(asks, params=params), target("vllm"))
        assert not reply.calls
        assert reply.message.text == text


async def test_leaks_are_read_under_the_names_the_model_knows():
    served = Simulator("vllm", faults=["leaked_calls"], call_tools="*")
    tool = Tool("weather.now", "The weather.", SCHEMA)
    async with client(served) as model:
        _, reply = await asked(model, Request(talk(), (tool,)), target("vllm"))
    assert [one.name for one in reply.calls] == ["weather.now"]


async def test_without_tools_words_stay_words():
    served = simulator(
        "openai", says('<tool_call>{"name": "weather", "arguments": {}}</tool_call>')
    )
    async with client(served) as model:
        _, reply = await asked(model, Request(talk()), target("openai"))
    assert not reply.calls
    assert "<tool_call>" in reply.message.text


@pytest.mark.parametrize("fault", ["reused_ids", "index_zero", "late_names"])
async def test_what_hosts_do_to_calls_does_no_harm(fault):
    served = simulator("openai", SAID, SAID, "Done.", faults=[fault] * 3)
    async with client(served) as model:
        session = Session(model, target("openai"), Toolset.of(weather))
        events = [event async for event in session.send("How is the weather?")]
    assert events[-1].text == "Done."
    ledger = session.conversation.ledger
    assert [ledger[id].result.text for id in ledger] == ["sunny in Paris", "sunny in Rome"] * 2
    assert [one.status for one in served.seen] == [200] * 3


async def test_one_conversation_that_every_provider_goes_on_with():
    """Every turn another provider and format, all on one conversation; no one refuses anything."""
    served = {name: Simulator(name, call_tools="*") for name in provider_names()}
    async with client(*served.values()) as model:
        session = Session(
            model,
            target(PLACES[0]),
            Toolset.of(weather),
            params=Params(max_tokens=4000, reasoning=Reasoning(enabled=True, budget=2000)),
        )
        for place in (*PLACES, PLACES[0]):
            session.use(target(place))
            events = [event async for event in session.send("How is the weather in Paris?")]
            assert isinstance(events[-1], CompleteEvent)
            assert events[-1].reason == "answered", (place, events[-1].detail)
            assert "weather says sunny in" in events[-1].text, place
    statuses = {one.status for each in served.values() for one in each.seen}
    assert statuses == {200}
    assert {notice.kind for notice in model.told} == {"answered", "repaired"}
    origins = [one.origin for one in session.conversation.messages if one.role == "assistant"]
    asked_at = [f"{one.provider}/{one.format}" for one in origins]
    assert list(dict.fromkeys(asked_at)) == PLACES


async def test_a_turn_costs_what_is_new_and_says_the_same():
    """The renderer is kept: what is sent for the second turn begins as the first did."""
    served = simulator("openai", "One.", "Two.")
    async with client(served) as model:
        session = Session(model, target("openai"))
        for text in ("First.", "Second."):
            async for _ in session.send(text):
                pass
        (kept,) = model._renderings._kept.values()
    assert len(kept._renderers) == 1
    first, second = (one.body["messages"] for one in served.seen)
    assert second[: len(first)] == first


async def test_conversations_that_are_gone_are_forgotten():
    async with client(simulator("openai", "One.")) as model:
        conversation = talk()
        await asked(model, Request(conversation), target("openai"))
        assert len(model._renderings._kept) == 1
        del conversation
        import gc  # noqa: PLC0415

        gc.collect()
        assert not model._renderings._kept


async def test_a_session_tells_what_the_client_does():
    served = simulator("anthropic", "Hello.", faults=["overloaded"])
    async with client(served) as model:
        session = Session(model, target("anthropic"))
        events = [event async for event in session.send("Hi.")]
    told = [one for one in events if isinstance(one, StatusEvent) and one.kind != "written"]
    assert [one.kind for one in told] == ["asking", "retrying", "answered"]
    assert told[1].detail.count("anthropic") == 1  # who it was is said once


async def test_thoughts_are_streamed_and_come_back_signed():
    """The next turn sends the signature back, and its provider takes it."""
    first = says(thought("Let me see."), call("weather", city="Paris"))
    served = simulator("anthropic", first, "Sunny.")
    async with client(served) as model:
        session = Session(model, target("anthropic"), Toolset.of(weather))
        events = [event async for event in session.send("How is the weather?")]
    assert events[-1].text == "Sunny."
    assert served.seen[1].body["messages"][1]["content"][0]["type"] == "thinking"


async def test_arguments_come_in_pieces_and_end_whole():
    served = simulator("bedrock", SAID)
    async with client(served) as model:
        events, _ = await asked(model, Request(talk(), (TOOL,)), target("bedrock"))
    assert sum(isinstance(one, ArgumentsAdded) for one in events) > 2
    begun = [one.index for one in events if isinstance(one, BlockStarted)]
    assert sorted(begun) == sorted(one.index for one in events if isinstance(one, BlockEnded))
