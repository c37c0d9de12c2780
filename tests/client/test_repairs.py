"""What was changed for a request reaches those who run an agent: events, errors, the session's report."""

import msgspec
import pytest

from batches import each
from canonicall import (
    Action,
    Agent,
    AgentEvent,
    AgentFailed,
    Conversation,
    Diagnostics,
    ErrorEvent,
    Fault,
    Message,
    ModelError,
    Native,
    Repaired,
    Report,
    Request,
    Session,
    StatusEvent,
    Text,
    ToolCall,
    ToolResult,
    Toolset,
    encode_request,
)
from canonicall.client.encoder import Renderings
from canonicall.client.transport import TransportError
from canonicall.findings import Finding
from canonicall.runtime.model import LocalModel
from canonicall.testing.exchange import SimResponse
from canonicall.testing.script import ScriptedModel

from client_support import (
    PLACES,
    Direct,
    DirectResponse,
    asked,
    client,
    kinds,
    question,
    simulator,
    target,
    weather,
)

OPENAI, CLAUDE = "openai:gpt-5.2", "anthropic:claude-sonnet-4-5"


def damaged():
    """A conversation with an orphan and a call without a result."""
    return Conversation.of(
        [
            Message("user", (Text(text="Hi."),)),
            Message("tool", (ToolResult(call_id="call_9", content=(Text(text="42"),)),)),
            Message("assistant", (ToolCall(id="call_1", name="weather", args={"city": "Rome"}),)),
        ]
    )


async def run(model, goal, conversation=None, *texts, **options):
    session = Session(
        model, goal, Toolset.of(weather), conversation=conversation or Conversation(), **options
    )
    events = [event for text in texts or ("Go on.",) async for event in session.send(text)]
    await session.close()
    return session, events


def repairs(events):
    return [one for one in events if isinstance(one, StatusEvent) and one.kind == "repaired"]


async def test_a_request_that_was_changed_is_told_with_findings_and_diagnostics():
    steps = simulator("anthropic", "Well.", "Well, well.")
    async with client(steps, transport=Direct()) as model:
        session, events = await run(model, CLAUDE, damaged(), "Go on.", "And now?")
    first, second = repairs(events)
    codes = ["param_added", "orphan_not_sent", "result_made_up"]
    assert sorted(one.code for one in first.findings) == sorted(codes)
    told = first.diagnostics
    (canonical,) = session.conversation.ledger
    assert (told.provider, told.model, told.format) == (
        *("anthropic", "claude-sonnet-4-5", "anthropic"),
    )
    assert told.seen == (canonical,)
    assert told.emitted_calls == told.emitted_results
    assert told.made_up == {canonical: "result_lost"}
    assert told.set_aside == ("entries[1].blocks[0]",)
    assert told.faults == {"none": 1, "input": 1, "state": 1}
    assert first.detail.startswith(f"{CLAUDE}: ")
    assert "orphan_not_sent=1" in first.detail
    assert second.findings == first.findings


async def test_it_comes_before_the_reply():
    async with client(simulator("openai", "Well."), transport=Direct()) as model:
        _, events = await run(model, OPENAI, damaged())
    shown = [
        one.kind if isinstance(one, StatusEvent) else one.__struct_config__.tag for one in events
    ]
    assert shown.index("asking") < shown.index("repaired") < shown.index("text")


@each("place", PLACES)
def test_a_clean_request_is_not_told_wherever_it_goes(place):
    """Neither a limit that the format requires nor what the client itself asks for is a repair."""
    goal = target(place)
    conversation = Conversation()
    conversation.append(Message("system", (Text(text="Be brief."),)))
    conversation.user("How is Rome?")
    conversation.assistant([ToolCall(id="call_1", name="weather", args={"city": "Rome"})])
    conversation.result("call_1", "Sunny.")
    offered = tuple(Toolset.of(weather).offered.values())
    encoded = Renderings().rendered(Request(conversation, offered), goal).encoded
    assert Repaired.of(encoded) is None, encoded.report


@each("place", PLACES)
async def test_a_clean_run_says_nothing_and_has_an_empty_report(place):
    """What a provider replies goes back to it unchanged, thoughts and signed calls included."""
    texts = ("How is the weather in Paris?", "And in Rome?")
    async with client(simulator(place), transport=Direct()) as model:
        session, events = await run(model, target(place), None, *texts)
    assert {one.outcome for one in session.conversation.ledger.values()} == {"completed"}
    assert not repairs(events)
    assert not session.report
    assert "repaired" not in kinds(model)


def test_fields_of_another_format_have_their_finding_in_a_stream_too():
    """To ask for the usage of a stream must not put aside what the caller gave."""
    request = question()
    given = msgspec.structs.replace(request, native=Native("anthropic", {"mcp_servers": []}))
    goal = target("openai/openai-chat")
    streamed = Renderings().rendered(given, goal).encoded
    assert "param_dropped" in streamed.report
    assert streamed.body["stream_options"] == {"include_usage": True}


async def test_the_same_request_is_told_once_however_often_it_is_sent():
    steps = simulator("openai", "Well.", faults=["overloaded"])
    async with client(steps, transport=Direct()) as model:
        await run(model, OPENAI, damaged())
    assert kinds(model) == ["repaired", "retrying", "answered"]


async def test_a_fallback_has_its_own():
    async with client(
        simulator("openai", faults=["server_error"] * 3),
        simulator("anthropic", "Well."),
        transport=Direct(),
        fallbacks=[CLAUDE],
    ) as model:
        _, events = await run(model, OPENAI, damaged())
    assert [one.diagnostics.provider for one in repairs(events)] == ["openai", "anthropic"]


async def test_the_report_of_a_session_has_each_finding_once():
    steps = simulator("anthropic", "One.", "Two.", "Three.")
    async with client(steps, transport=Direct()) as model:
        session, events = await run(model, CLAUDE, damaged(), "1", "2", "3")
    assert len(repairs(events)) == 3
    assert isinstance(session.report, Report)
    assert session.report.counts == {"param_added": 1, "orphan_not_sent": 1, "result_made_up": 1}


class Changing:
    """A model whose requests are changed in another place each time."""

    def __init__(self, each):
        self._each = each
        self._asked = 0
        self._model = LocalModel(ScriptedModel(["Well."], repeat=True))

    async def ask(self, request, target, *, notice=None):
        encoded = encode_request(request, target)
        first = self._asked * self._each
        self._asked += 1
        findings = tuple(
            Finding("tool_renamed", f"tools[{n}]", Action.CHANGED, "It was.", Fault.PROJECTION)
            for n in range(first, first + self._each)
        )
        told = Repaired.of(msgspec.structs.replace(encoded, report=Report(findings)))
        notice(told)
        async for event in self._model.ask(request, target):
            yield event


async def test_a_model_of_your_own_can_tell_and_the_report_has_a_limit():
    session, events = await run(Changing(600), OPENAI, None, "1", "2")
    assert [len(one.findings) for one in repairs(events)] == [600, 600]
    assert len(session.report) == 1000
    assert session.report.notes == ("200 more findings are not listed.",)


async def test_what_is_repeated_counts_once_at_the_limit_too():
    changing = Changing(1000)
    session = Session(changing, OPENAI)
    for text in ("1", "2"):
        changing._asked = 0
        assert [event async for event in session.send(text)]
    await session.close()
    assert (len(session.report), session.report.notes) == (1000, ())


class Refusing:
    """A provider that refuses everything."""

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        error = {"error": {"message": "Nope.", "type": "invalid_request_error"}}
        return DirectResponse(SimResponse.json(400, error))

    async def close(self):
        pass


async def test_a_refused_request_carries_its_diagnostics():
    async with client(simulator("openai"), transport=Refusing()) as model:
        session, events = await run(model, OPENAI, damaged())
    (error,) = [one for one in events if isinstance(one, ErrorEvent)]
    assert error.kind == "refused"
    assert isinstance(error.diagnostics, Diagnostics)
    assert error.diagnostics.seen == tuple(session.conversation.ledger)
    assert error.diagnostics.faults == {"input": 1, "state": 1}


async def test_the_error_of_the_model_and_of_the_agent_carry_them_too():
    request = Request(damaged())
    async with client(simulator("openai"), transport=Refusing()) as model:
        with pytest.raises(ModelError) as caught:
            await asked(model, request, target("openai"))
        with pytest.raises(AgentFailed) as failed:
            await Agent(model, OPENAI).ask("Hi.")
    assert caught.value.diagnostics.seen == tuple(request.conversation.ledger)
    assert failed.value.diagnostics.provider == "openai"


async def test_a_connection_that_fails_says_nothing_of_the_request():
    async with client(simulator("openai"), transport=Unreachable()) as model:
        with pytest.raises(ModelError) as caught:
            await asked(model, Request(damaged()), target("openai"))
    assert caught.value.diagnostics is None


async def test_of_several_failures_the_refusal_counts():
    async with client(
        simulator("openai", faults=["server_error"] * 3),
        simulator("anthropic"),
        transport=OnlyOpenai(),
        fallbacks=[CLAUDE],
    ) as model:
        with pytest.raises(ModelError) as caught:
            await asked(model, Request(damaged()), target("openai"))
    assert caught.value.diagnostics.provider == "anthropic"


class Unreachable:
    async def post(self, *given, **options):
        raise TransportError("nobody answers", where="openai", phase="connect")

    async def close(self):
        pass


class OnlyOpenai(Direct):
    """Anthropic refuses everything."""

    async def post(self, url, *rest, **options):
        asked = Refusing() if "anthropic" in url else super()
        return await asked.post(url, *rest, **options)


async def test_events_with_findings_are_lines_of_json_that_can_be_read_again():
    async with client(simulator("openai"), transport=Refusing()) as model:
        _, events = await run(model, OPENAI, damaged())
    for event in events:
        line = msgspec.json.encode(event)
        assert b"\n" not in line
        assert msgspec.json.decode(line, type=AgentEvent) == event
    plain = msgspec.json.encode(StatusEvent(kind="asking"))
    assert plain == b'{"type":"status","kind":"asking"}'
