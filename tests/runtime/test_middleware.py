"""Middleware that breaks: the call or the turn it was asked about has a clear end, and all is valid."""

import pytest
from msgspec.structs import replace

from canonicall.blocks import Text, ToolResult
from canonicall.codec import encode_request
from canonicall.facts.registry import provider_names
from canonicall.outcome import Outcome
from canonicall.request import Request
from canonicall.runtime.events import CompleteEvent, ErrorEvent
from canonicall.runtime.middleware import ToolMiddleware
from canonicall.runtime.model import LocalModel
from canonicall.runtime.session import Session
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset
from canonicall.verify import verify

RAN = []


@tool
async def weather(city: str) -> str:
    """The weather."""
    RAN.append(city)
    return f"secret of {city}"


STEPS = (says("I look.", call("weather", city="Paris"), call("weather", city="Rome")), "Done.")
HOOKS = ("process_request", "process_response", "process_call", "process_result")


def broken(hook, what, *, about="Paris"):
    """A middleware of which one hook raises, or gives back nonsense, for one of the calls."""

    def act(self, *values):
        value = values[-1]
        is_about = getattr(values[0], "args", None) in (None, {"city": about})
        if not is_about:
            return value
        if what == "raises":
            raise ValueError("no")
        return None

    return type("Broken", (ToolMiddleware,), {hook: act})()


async def run(*middleware, **options):
    RAN.clear()
    model = LocalModel(ScriptedModel(STEPS))
    session = Session(model, "openai", Toolset.of(weather), middleware=middleware, **options)
    events = [event async for event in session.send("Go.")]
    await session.close()
    assert session.machine.is_idle
    assert not session.conversation.ledger.open
    assert sum(isinstance(event, CompleteEvent) for event in events) == 1
    conversation = session.conversation.fork()
    conversation.user("And now?")
    for name in provider_names():
        assert list(verify(encode_request(Request(conversation, model="m"), name).body, name)) == []
    return session.conversation, events


@pytest.mark.parametrize("what", ["raises", "gives back nonsense"])
@pytest.mark.parametrize("hook", HOOKS)
async def test_whatever_a_hook_does_the_run_ends_and_its_history_is_valid(hook, what):
    await run(broken(hook, what))


@pytest.mark.parametrize("hook", ["process_request", "process_response"])
async def test_a_turn_that_a_hook_breaks_fails_and_says_why(hook):
    conversation, events = await run(broken(hook, "raises"))
    (error,) = [event for event in events if isinstance(event, ErrorEvent)]
    assert error.kind == "middleware"
    assert error.message.endswith("raised ValueError: no")
    assert (events[-1].reason, events[-1].detail) == ("failed", error.message)
    assert [message.role for message in conversation.messages] == ["user"]


async def test_a_call_that_a_hook_breaks_is_not_run_and_the_others_are():
    conversation, events = await run(broken("process_call", "raises"))
    first, second = conversation.ledger.values()
    assert first.outcome is Outcome.NOT_RUN
    assert "raised ValueError: no" in first.why
    assert (second.outcome, second.result.text) == (Outcome.COMPLETED, "secret of Rome")
    assert RAN == ["Rome"]
    assert events[-1].reason == "answered"


async def test_a_result_that_a_hook_breaks_is_lost_not_shown():
    """The hook may have been there to hide something; and the tool has run, which is not denied."""
    conversation, events = await run(broken("process_result", "raises"))
    first, second = conversation.ledger.values()
    assert first.outcome is Outcome.RESULT_LOST
    assert "raised ValueError: no" in first.why
    assert first.result is None
    assert second.outcome is Outcome.COMPLETED
    assert RAN == ["Paris", "Rome"]
    assert events[-1].reason == "answered"


class Rewrites(ToolMiddleware):
    """Makes another call of a call."""

    def __init__(self, **changes):
        self.changes = changes

    def process_call(self, call):
        return replace(call, **self.changes)


async def test_a_call_stays_the_same_call_whatever_is_changed_about_it():
    conversation, _ = await run(Rewrites(id="other", args={"city": "Bern"}))
    assert [one.result.text for one in conversation.ledger.values()] == ["secret of Bern"] * 2


async def test_a_tool_that_does_not_exist_is_not_run():
    conversation, _ = await run(Rewrites(name="missing"))
    for one in conversation.ledger.values():
        assert one.outcome is Outcome.NOT_RUN
        assert "'missing'" in one.why


class Answers(ToolMiddleware):
    def process_call(self, call):
        return ToolResult(call_id="whatever", content=(Text(text="known"),))


async def test_an_answer_of_the_middleware_is_that_of_the_call():
    conversation, _ = await run(Answers())
    assert [one.result.text for one in conversation.ledger.values()] == ["known", "known"]


def raises(*values):
    raise ValueError("no")


@pytest.mark.parametrize(
    ("declared", "ends"),
    [
        ({"approval": "always"}, ("denied", "asking for approval raised ValueError: no")),
        ({"approval": raises}, ("denied", "asking for approval raised ValueError: no")),
        ({"resources": raises}, ("completed", "")),
    ],
)
async def test_functions_of_a_user_that_raise_hang_nothing(declared, ends):
    """Who is not able to tell whether approval is needed needs it; nobody who breaks has agreed."""

    @tool(**declared)
    async def act() -> str:
        """Acts."""
        return "done"

    model = LocalModel(ScriptedModel([says(call("act"), call("act")), "Done."]))
    session = Session(model, "openai", Toolset.of(act), approve=raises)
    events = [event async for event in session.send("Go.")]
    await session.close()
    assert events[-1].reason == "answered"
    assert [(str(one.outcome), one.why) for one in session.conversation.ledger.values()] == [
        ends,
        ends,
    ]
