"""Traces that go on at the provider: which hosts hear of which span, and whose headers are read."""

import subprocess
import sys

import pytest

from canonicall.client.config import ClientConfig
from canonicall.client.endpoints import outgoing
from canonicall.client.model import HttpModel
from canonicall.client.secrets import Secret
from canonicall.client.sigv4 import AwsCredentials
from canonicall.conversation import Conversation
from canonicall.facts.registry import get_target
from canonicall.request import Request
from canonicall.runtime.agent import Agent
from canonicall.telemetry.observing import genai_observer
from canonicall.telemetry.propagation import continued, trace_headers
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.testing.transport import SimulatorTransport
from canonicall.tools.functions import tool
from traced import PARENT, TRACE, TRACEPARENT, Listening, Spans, traceparent_of

trace = pytest.importorskip("opentelemetry.trace")


@pytest.fixture
def spans():
    return Spans()


@pytest.fixture
def tracer(spans):
    return spans.provider.get_tracer("test")


@tool
async def weather(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"


def client(simulator, **own):
    """A client of a simulator."""
    config = ClientConfig({"openai": {"key": "sk-0123456789", **own}})
    return HttpModel(config, transport=SimulatorTransport(lambda url: simulator))


async def asked(model):
    conversation = Conversation()
    conversation.user("Hello.")
    return [event async for event in model.ask(Request(conversation), get_target("openai:gpt-5"))]


async def test_each_question_of_an_agent_goes_out_in_the_name_of_its_span(spans):
    script = ScriptedModel([says(call("weather", city="Rome")), "Sunny."])
    one = Listening("openai", model=script)
    observer = genai_observer(tracer_provider=spans.provider)
    async with client(one, sends_trace=True) as model:
        agent = Agent(model, "openai:gpt-5", tools=[weather], observer=observer)
        session = agent.session()
        [event async for event in session.send("How is the weather?")]
        await session.close()
    told = [headers["traceparent"] for headers in one.heard]
    assert told == [traceparent_of(span) for span in spans.named("chat gpt-5")]
    assert len(set(told)) == 2
    assert len({one.split("-")[1] for one in told}) == 1


async def test_without_an_observer_it_is_the_span_of_whoever_asks(tracer):
    one = Listening("openai")
    async with client(one, sends_trace=True) as model:
        with tracer.start_as_current_span("mine") as span:
            await asked(model)
        await asked(model)
    inside, outside = one.heard
    assert inside["traceparent"] == traceparent_of(span)
    assert "tracestate" not in inside
    assert "traceparent" not in outside


async def test_no_host_is_told_unless_that_was_switched_on(tracer):
    one = Listening("openai")
    async with client(one) as model:
        with tracer.start_as_current_span("mine"):
            await asked(model)
    assert not {"traceparent", "tracestate", "baggage"} & set(one.heard[0])


async def headers_of(goal, **own):
    config = ClientConfig({goal.partition(":")[0]: {"sends_trace": True, **own}})
    sent = await outgoing(get_target(goal), b"{}", config, stream=True, now=lambda: 0.0)
    return sent.headers


async def test_what_the_settings_send_themselves_stays_and_is_sent_once(tracer):
    with tracer.start_as_current_span("mine"):
        own = {"TraceParent": TRACEPARENT}
        headers = await headers_of("openai:gpt-5", key="sk-0123456789", headers=own)
    assert headers["traceparent"] == TRACEPARENT
    assert [name.lower() for name in headers].count("traceparent") == 1
    assert "tracestate" not in headers


async def test_a_signature_does_not_cover_them(tracer):
    """Whatever stands between client and host may go on with the trace."""
    aws = AwsCredentials("AKIA0123456789", Secret("secret-0123456789"))
    with tracer.start_as_current_span("mine") as span:
        headers = await headers_of("bedrock:amazon.nova-x", aws=aws, values={"region": "eu-west-1"})
    assert headers["traceparent"] == traceparent_of(span)
    assert "trace" not in headers["authorization"]


async def test_baggage_stays_at_home(tracer):
    baggage = pytest.importorskip("opentelemetry.baggage")
    contexts = pytest.importorskip("opentelemetry.context")
    token = contexts.attach(baggage.set_baggage("user", "somebody"))
    try:
        with tracer.start_as_current_span("mine"):
            assert set(trace_headers()) == {"traceparent"}
    finally:
        contexts.detach(token)


def test_a_trace_goes_on():
    context = trace.get_current_span(continued(TRACEPARENT, "a=1,b=2")).get_span_context()
    assert (f"{context.trace_id:032x}", f"{context.span_id:016x}") == (TRACE, PARENT)
    assert context.is_remote
    assert context.trace_state.to_header() == "a=1,b=2"


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "nonsense",
        TRACEPARENT.upper(),
        TRACEPARENT + "-more",
        TRACEPARENT + "\r\nx: y",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{PARENT}-01",
        f"01-{TRACE}-{PARENT}-01-" + "x" * 500,
        "0" * 100_000,
    ],
)
def test_what_is_no_trace_is_ignored(sent):
    assert continued(sent, "a=1") is None


@pytest.mark.parametrize(
    "state", ["=,=", "a=1\r\nx: y", "a=" + "x" * 600, ",".join(f"k{n}=1" for n in range(100))]
)
def test_a_state_that_cannot_be_read_is_left_out_and_the_trace_goes_on(state):
    context = trace.get_current_span(continued(TRACEPARENT, state)).get_span_context()
    assert f"{context.trace_id:032x}" == TRACE
    assert context.trace_state.to_header() == ""


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from canonicall.telemetry.propagation import continued, trace_headers
print(trace_headers(), continued("%s", ""))
"""


def test_without_opentelemetry_there_is_no_trace():
    shown = subprocess.run(
        [sys.executable, "-c", WITHOUT % TRACEPARENT], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "{} None"
