"""Agents, sub-agents and middleware: conveniences that change nothing about the loop."""

import gc
from inspect import signature
from typing import get_type_hints

import pytest
from msgspec.structs import replace

from canonicall.agent.limits import RunLimits
from canonicall.blocks import Message, Text, ToolResult
from canonicall.client.config import ClientConfig
from canonicall.client.model import HttpModel
from canonicall.errors import CanonicallError, InvalidValue, UnknownName
from canonicall.events import BlockStarted, StreamEnded, TextAdded
from canonicall.facts.registry import get_target
from canonicall.reply import Reply
from canonicall.request import Params
from canonicall.runtime.agent import Agent, AgentFailed
from canonicall.runtime.events import CompleteEvent
from canonicall.runtime.middleware import ToolMiddleware
from canonicall.runtime.model import LocalModel, ModelError
from canonicall.runtime.options import SessionOptions
from canonicall.runtime.session import Session
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.testing.server import serve
from canonicall.testing.simulator import Simulator
from canonicall.testing.small_model import SmallModel
from canonicall.tools.functions import tool


@tool
async def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def scripted(*steps):
    return LocalModel(ScriptedModel(steps))


def test_one_question_without_an_event_loop():
    agent = Agent(LocalModel(SmallModel(call_tools="*")), "openai", tools=[weather])
    assert "sunny in Paris" in agent.ask_sync("What is the weather in Paris?")


def test_connections_end_with_the_event_loop_they_belong_to(caplog):
    """Else each question would leave some behind, and asyncio would complain about them."""
    with serve(Simulator("anthropic", call_tools="*")) as server:
        config = ClientConfig({"anthropic": {"key": "any", "base_url": server.url}})
        agent = Agent(HttpModel(config), "anthropic:claude-sonnet-4-5", tools=[weather])
        for city in ("Paris", "Rome"):
            assert f"sunny in {city}" in agent.ask_sync(f"What is the weather in {city}?")
        del agent
        gc.collect()
    assert [one for one in caplog.messages if "Unclosed" in one] == []


def test_a_name_is_enough_for_an_agent(monkeypatch, caplog):
    """Keys and addresses are those of the environment."""
    with serve(Simulator("anthropic", keys=["secret"], call_tools="*")) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        agent = Agent("anthropic:claude-sonnet-4-5", tools=[weather])
        assert agent.target == get_target("anthropic:claude-sonnet-4-5")
        assert "sunny in Paris" in agent.ask_sync("What is the weather in Paris?")
        assert {one.status for one in server.simulators.seen} == {200}
        del agent
        gc.collect()
    assert [one for one in caplog.messages if "Unclosed" in one] == []


async def test_sessions_of_an_agent_share_its_connections(monkeypatch, caplog):
    with serve(Simulator("anthropic", call_tools="*")) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        async with Agent("anthropic:claude-sonnet-4-5", tools=[weather]) as agent:
            for city in ("Paris", "Rome"):
                assert f"sunny in {city}" in await agent.ask(f"What is the weather in {city}?")
        del agent
        gc.collect()
    assert [one for one in caplog.messages if "Unclosed" in one] == []


def test_who_is_asked_is_named_once():
    with pytest.raises(InvalidValue, match="does not say who is asked"):
        Agent(scripted("Hi."))
    with pytest.raises(InvalidValue, match="both 'openai' and 'gemini' shall be asked"):
        Agent("openai", "gemini")
    with pytest.raises(UnknownName, match="anthropic"):
        Agent("antropic:claude-sonnet-4-5")


def test_what_went_wrong_is_raised():
    agent = Agent(scripted(), "openai")
    with pytest.raises(
        AgentFailed, match=r"no answer \(failed\): the script has 0 replies"
    ) as caught:
        agent.ask_sync("Hello?")
    failed = caught.value
    assert isinstance(failed, CanonicallError)
    assert (failed.reason, failed.text, failed.complete.turns) == ("failed", "", 0)
    assert "the script has 0 replies" in failed.detail
    assert [message.text for message in failed.conversation.messages] == ["Hello?"]


class Cut:
    """A model whose stream ends in the middle of its text."""

    def __init__(self, why=""):
        self.why = why

    async def ask(self, request, target, *, notice=None):
        yield BlockStarted(0, Text(text=""))
        yield TextAdded(0, "The answer is")
        if self.why:
            raise ModelError(self.why, kind="dead")
        message = Message("assistant", (Text(text="The answer is"),), partial=True)
        yield StreamEnded(Reply(message), complete=False, why="cut")


@pytest.mark.parametrize(
    ("model", "options", "reason", "text"),
    [
        (Cut(), {}, "cut", "The answer is"),
        (Cut("the line is dead"), {}, "failed", "The answer is"),
        (scripted(""), {}, "answered", ""),
        (
            scripted(says(call("weather", city="Rome"))),
            {"limits": RunLimits(turns=1, at_turns="stop")},
            "limit",
            "",
        ),
    ],
)
async def test_an_answer_that_is_none_is_an_error(model, options, reason, text):
    """Text that was cut off is not returned as the answer."""
    agent = Agent(model, "openai", tools=[weather], **options)
    with pytest.raises(AgentFailed) as caught:
        await agent.ask("Hello?")
    assert (caught.value.reason, caught.value.text) == (reason, text)
    assert caught.value.kind == ("dead" if reason == "failed" else "")
    assert str(caught.value).startswith(f"there is no answer ({reason}): ")


async def test_the_last_words_at_a_limit_are_an_answer():
    model = scripted(says(call("weather", city="Rome")), "Sunny, I think.")
    agent = Agent(model, "openai", tools=[weather], limits=RunLimits(turns=1))
    assert await agent.ask("Rome?") == "Sunny, I think."


async def test_an_agent_as_a_tool_that_fails_is_a_failed_call():
    inner = Agent(scripted(), "gemini")
    outer = Agent(
        scripted(says(call("scout", task="Rome?")), "Alas."),
        "anthropic",
        tools=[inner.as_tool("scout", "Finds things out.")],
    )
    session = outer.session()
    async for _ in session.send("Go."):
        pass
    (one,) = session.conversation.ledger.values()
    assert one.outcome == "failed"
    assert "there is no answer (failed): the script has 0 replies" in one.result.text
    await session.close()


def made(maker, **options):
    """An agent, or a session, with these options."""
    return maker(scripted("Hi."), "openai", **options)


@pytest.mark.parametrize("maker", [Agent, Session])
@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("limit", "Did you mean 'limits'?"),
        ("aprove", "Did you mean 'approve'?"),
        ("max_turns", "There are: model, target, tools, "),
    ],
)
def test_an_unknown_option_is_refused_at_once(maker, option, told):
    with pytest.raises(TypeError) as caught:
        made(maker, **{option: 1})
    assert f"{maker.__name__} has no option {option!r}. {told}" in str(caught.value)


def test_a_session_of_an_agent_refuses_unknown_options_too():
    with pytest.raises(TypeError, match="Did you mean 'limits'"):
        Agent(scripted("Hi."), "openai").session(limit=1)


def test_every_option_of_a_session_is_a_typed_keyword_of_the_agent():
    options = get_type_hints(SessionOptions)
    own = {"self", "model", "target", "tools", "instructions", "conversation", "save_refused"}
    own.add("recover")
    for maker in (Agent, Session):
        parameters = signature(maker.__init__).parameters
        assert set(parameters) - own == set(options)
        assert all(one.kind is not one.VAR_KEYWORD for one in parameters.values())
        hints = get_type_hints(maker.__init__)
        assert {name: hints[name] for name in options} == options


def test_options_of_a_session_count_before_those_of_the_agent():
    agent = Agent(scripted("Hi."), "openai", limits=RunLimits(turns=3), params=Params(seed=1))
    session = agent.session(limits=RunLimits(turns=5))
    assert session.machine.limits.turns == 5


async def test_instructions_are_the_first_message():
    agent = Agent(scripted("Hi."), "openai", instructions="Be brief.")
    session = agent.session()
    async for _ in session.send("Hello?"):
        pass
    roles = [(message.role, message.text) for message in session.conversation.messages]
    assert roles == [("system", "Be brief."), ("user", "Hello?"), ("assistant", "Hi.")]
    await session.close()


async def test_an_agent_as_a_tool_of_another():
    """The inner one has a session of its own: nothing of it is in the outer conversation."""
    inner = Agent(
        scripted(says(call("weather", city="Rome")), "Sunny in Rome."), "gemini", tools=[weather]
    )
    outer = Agent(
        scripted(says(call("scout", task="Rome?")), "All is well."),
        "anthropic",
        tools=[inner.as_tool("scout", "Finds things out.")],
    )
    session = outer.session()
    async for _ in session.send("Go."):
        pass
    (one,) = session.conversation.ledger.values()
    assert (one.name, one.result.text) == ("scout", "Sunny in Rome.")
    await session.close()


class Recorder(ToolMiddleware):
    """Writes down what passes, and changes a little of it."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def process_request(self, request):
        self.log.append((self.name, "request"))
        return request

    def process_response(self, reply):
        self.log.append((self.name, "response"))
        return reply

    def process_call(self, call):
        self.log.append((self.name, "call"))
        return replace(call, args={"city": call.args["city"].upper()})

    def process_result(self, call, result):
        self.log.append((self.name, "result"))
        return replace(result, content=(Text(text=f"{self.name}({result.text})"),))


async def test_middleware_goes_in_order_and_back_in_reverse():
    log = []
    chain = [Recorder("a", log), Recorder("b", log)]
    agent = Agent(
        scripted(says(call("weather", city="Paris")), "Done."),
        "openai",
        tools=[weather],
        middleware=chain,
    )
    session = agent.session()
    async for _ in session.send("Go."):
        pass
    (one,) = session.conversation.ledger.values()
    assert one.result.text == "a(b(sunny in PARIS))"
    assert log[:8] == [
        ("a", "request"),
        ("b", "request"),
        ("b", "response"),
        ("a", "response"),
        ("a", "call"),
        ("b", "call"),
        ("b", "result"),
        ("a", "result"),
    ]
    await session.close()


class Cache(ToolMiddleware):
    """Answers itself: the tool is not run."""

    def process_call(self, call):
        return ToolResult(call_id=call.id, content=(Text(text="from the cache"),))


async def test_middleware_can_answer_a_call_itself():
    @tool
    async def never() -> str:
        """Must not be run."""
        raise AssertionError("it was run")

    agent = Agent(
        scripted(says(call("never")), "Done."), "openai", tools=[never], middleware=[Cache()]
    )
    session = agent.session()
    events = [event async for event in session.send("Go.")]
    (one,) = session.conversation.ledger.values()
    assert one.result.text == "from the cache"
    assert sum(isinstance(event, CompleteEvent) for event in events) == 1
    await session.close()
