"""Spans and metrics of agents, as the official SDK's exporters in memory receive them."""

import asyncio
import json

import pytest

from canonicall.blocks import Media, Message, Origin, Text, Thinking
from canonicall.reply import Reply, Usage
from canonicall.request import Params
from canonicall.runtime.agent import Agent, AgentFailed
from canonicall.runtime.model import LocalModel, ModelError
from canonicall.telemetry.observing import genai_observer
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset

trace = pytest.importorskip("opentelemetry.trace")
sdk = pytest.importorskip("opentelemetry.sdk.trace")
spans = pytest.importorskip("opentelemetry.sdk.trace.export")
in_memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
metrics = pytest.importorskip("opentelemetry.sdk.metrics")
metrics_export = pytest.importorskip("opentelemetry.sdk.metrics.export")


class Heard:
    """What the exporters received."""

    def __init__(self, **options):
        self._exporter = in_memory.InMemorySpanExporter()
        self.traces = sdk.TracerProvider()
        self.traces.add_span_processor(spans.SimpleSpanProcessor(self._exporter))
        self._reader = metrics_export.InMemoryMetricReader()
        self._meters = metrics.MeterProvider([self._reader])
        self.observer = genai_observer(
            tracer_provider=self.traces, meter_provider=self._meters, **options
        )

    @property
    def spans(self):
        return self._exporter.get_finished_spans()

    def named(self, name):
        (found,) = (span for span in self.spans if span.name == name)
        return found

    def metrics(self):
        (resource,) = self._reader.get_metrics_data().resource_metrics
        (scope,) = resource.scope_metrics
        return {metric.name: metric for metric in scope.metrics}


@tool
async def weather(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"


@tool
async def fail() -> str:
    """Fails."""
    raise ValueError("secret trouble")


@tool(timeout=0.01)
async def hang() -> str:
    """Hangs."""
    await asyncio.Event().wait()


TOOLS = Toolset.of(weather, fail, hang)
FIRST = says(
    "Looking.",
    call("weather", city="Rome"),
    call("fail"),
    call("hang"),
    usage=Usage(100, 20, cache_read_tokens=30),
)
LAST = Reply(
    Message(
        "assistant",
        (Text(text="Sunny."),),
        origin=Origin(model="gemini-9-001", response_id="r-1"),
        finish="stop",
    ),
    Usage(200, 5),
)


def run(heard, *steps, **options):
    model = LocalModel(ScriptedModel(steps))
    agent = Agent(
        model,
        "gemini:gemini-9",
        tools=[TOOLS],
        instructions="Be brief.",
        observer=heard.observer,
        **options,
    )
    return agent.ask_sync("How is the weather?")


def children(heard, parent):
    return sorted(
        span.name
        for span in heard.spans
        if span.parent is not None and span.parent.span_id == parent.context.span_id
    )


def test_a_run_is_a_tree_of_spans():
    heard = Heard(agent="Scout")
    run(heard, FIRST, LAST, params=Params(max_tokens=50, temperature=0.5, stop=("END",)))
    root = heard.named("invoke_agent Scout")
    assert root.parent is None
    assert children(heard, root) == [
        "chat gemini-9",
        "chat gemini-9",
        "execute_tool fail",
        "execute_tool hang",
        "execute_tool weather",
    ]
    assert len(heard.spans) == 6
    assert root.instrumentation_scope.schema_url == "https://opentelemetry.io/schemas/1.41.0"
    assert dict(root.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "Scout",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "gemini-9",
        "gen_ai.usage.input_tokens": 300,
        "gen_ai.usage.output_tokens": 25,
        "canonicall.run.end": "answered",
    }
    assert root.kind is trace.SpanKind.INTERNAL


def test_what_is_told_of_a_model():
    heard = Heard()
    run(heard, FIRST, LAST, params=Params(max_tokens=50, temperature=0.5, stop=("END",)))
    first, last = (span for span in heard.spans if span.name == "chat gemini-9")
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "gemini-9",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.stop_sequences": ("END",),
    }
    assert dict(first.attributes) == {
        **asked,
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 30,
    }
    assert dict(last.attributes) == {
        **asked,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.response.id": "r-1",
        "gen_ai.response.model": "gemini-9-001",
        "gen_ai.usage.input_tokens": 200,
        "gen_ai.usage.output_tokens": 5,
    }
    assert first.kind is trace.SpanKind.CLIENT


def test_what_is_told_of_tools():
    heard = Heard()
    run(heard, FIRST, LAST)
    good, bad, late = (heard.named(f"execute_tool {name}") for name in ("weather", "fail", "hang"))
    assert good.attributes["gen_ai.tool.call.id"].startswith("hist_tool_")
    assert {name: value for name, value in good.attributes.items() if name[-3:] != ".id"} == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.type": "function",
    }
    assert good.status.is_ok or good.status.is_unset
    assert (bad.attributes["error.type"], bad.status.is_ok) == ("tool_error", False)
    assert (late.attributes["error.type"], late.status.is_ok) == ("timed_out", False)
    assert good.kind is trace.SpanKind.INTERNAL


def test_metrics():
    heard = Heard()
    run(heard, FIRST, LAST)
    found = heard.metrics()
    assert set(found) == {"gen_ai.client.token.usage", "gen_ai.client.operation.duration"}
    usage = found["gen_ai.client.token.usage"]
    assert usage.unit == "{token}"
    sums = {}
    for point in usage.data.data_points:
        kind = point.attributes["gen_ai.token.type"]
        sums[kind] = sums.get(kind, 0) + point.sum
        assert point.attributes["gen_ai.provider.name"] == "gcp.gemini"
        assert point.explicit_bounds[:4] == (1, 4, 16, 64)
        assert point.explicit_bounds[-1] == 67108864
    assert sums == {"input": 300, "output": 25}
    duration = found["gen_ai.client.operation.duration"]
    assert duration.unit == "s"
    assert sum(point.count for point in duration.data.data_points) == 2
    bounds = duration.data.data_points[0].explicit_bounds
    assert (bounds[0], bounds[-1], len(bounds)) == (0.01, 81.92, 14)


SAID = ("Be brief", "How is", "Looking", "Rome", "sunny", "secret trouble", "Sunny")


def everything_told(heard):
    told = [span.to_json() for span in heard.spans]
    return "".join(told)


def test_what_was_said_stays_here_unless_it_is_wanted():
    heard = Heard()
    run(heard, FIRST, LAST)
    assert [word for word in SAID if word in everything_told(heard)] == []
    heard = Heard(content=True)
    run(heard, FIRST, LAST)
    assert [word for word in SAID if word not in everything_told(heard)] == []


def test_what_was_said_has_the_form_of_the_conventions():
    heard = Heard(content=True)
    picture = Message("user", (Media(media_type="image/png", data="AAAA"),))
    link = Message("user", (Media(media_type="application/pdf", url="https://host.test/a"),))

    @tool
    async def draw() -> list[Text | Media]:
        """Draws."""
        return [Text(text="here"), Media(media_type="image/png", data="BBBB")]

    async def talk():
        steps = says(Thinking(text="hm"), "Yes.", call("draw")), "Done."
        model = LocalModel(ScriptedModel(steps))
        agent = Agent(
            model, "openai:m", tools=[draw], instructions="Obey.", observer=heard.observer
        )
        session = agent.session()
        session.conversation.extend((picture, link))
        async for _ in session.send("Draw."):
            pass
        await session.close()

    asyncio.run(talk())
    first, last = (span for span in heard.spans if span.name == "chat m")
    told = {
        name: json.loads(value) for name, value in first.attributes.items() if "essages" in name
    }
    blob = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA"}
    uri = {"type": "uri", "modality": "document", "mime_type": "application/pdf"}
    assert told["gen_ai.input.messages"] == [
        {"role": "user", "parts": [blob]},
        {"role": "user", "parts": [{**uri, "uri": "https://host.test/a"}]},
        {"role": "user", "parts": [{"type": "text", "content": "Draw."}]},
    ]
    (said,) = told["gen_ai.output.messages"]
    assert (said["role"], said["finish_reason"]) == ("assistant", "tool_calls")
    assert [part["type"] for part in said["parts"]] == ["reasoning", "text", "tool_call"]
    assert json.loads(first.attributes["gen_ai.system_instructions"]) == [
        {"type": "text", "content": "Obey."}
    ]
    *_, answered = json.loads(last.attributes["gen_ai.input.messages"])
    (part,) = answered["parts"]
    assert part["type"] == "tool_call_response"
    assert [one["type"] for one in part["response"]] == ["text", "blob"]


def test_every_name_is_one_of_the_conventions():
    """The judge is their own package."""
    registry = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {value for name, value in vars(registry).items() if name.startswith("GEN_AI_")}
    heard = Heard(agent="Scout", content=True)
    run(heard, FIRST, LAST, params=Params(max_tokens=50, temperature=0.5, top_p=0.9, seed=1))
    used = {name for span in heard.spans for name in span.attributes}
    for metric in heard.metrics().values():
        used |= {name for point in metric.data.data_points for name in point.attributes}
    assert used - known == {"error.type", "canonicall.run.end"}
    assert len(used) > 20


class Broken:
    """Raises what a provider's client would."""

    def __init__(self, error):
        self.error = error

    async def ask(self, request, target, **_):
        raise self.error
        yield


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelError("too many", status=429, kind="rate_limit"), "rate_limit"),
        (ModelError("bad", status=400), "400"),
        (ModelError("?"), "_OTHER"),
        (ValueError("?"), "ValueError"),
    ],
)
def test_a_model_that_fails(error, kind):
    heard = Heard()
    with pytest.raises(AgentFailed):
        Agent(Broken(error), "openai", observer=heard.observer).ask_sync("Hello?")
    chat, root = heard.named("chat"), heard.named("invoke_agent")
    assert (chat.attributes["error.type"], root.attributes["error.type"]) == (kind, "failed")
    assert not chat.status.is_ok
    (point,) = heard.metrics()["gen_ai.client.operation.duration"].data.data_points
    assert point.attributes["error.type"] == kind


async def test_a_run_that_is_cancelled_leaves_no_span_open():
    heard = Heard()
    started = asyncio.Event()

    class Slow:
        async def ask(self, request, target, **_):
            started.set()
            await asyncio.Event().wait()
            yield

    session = Agent(Slow(), "openai", observer=heard.observer).session()

    async def cancel():
        await started.wait()
        session.cancel()

    cancelling = asyncio.ensure_future(cancel())
    async for _ in session.send("Hello?"):
        pass
    await cancelling
    await session.close()
    assert {span.name: span.attributes["error.type"] for span in heard.spans} == {
        "chat": "cancelled",
        "invoke_agent": "cancelled",
    }


def test_what_a_tool_traces_itself_stands_below_it_also_another_agent():
    heard = Heard()
    tracer = heard.traces.get_tracer("theirs")

    @tool
    def trace_it() -> str:
        """Runs in a thread."""
        with tracer.start_as_current_span("theirs"):
            return "traced"

    inner = Agent(
        LocalModel(ScriptedModel([says(call("trace_it")), "Inner."])),
        "openai:inner",
        tools=[trace_it],
        observer=heard.observer,
    )
    outer = Agent(
        LocalModel(ScriptedModel([says(call("scout", task="x")), "Outer."])),
        "openai:outer",
        tools=[inner.as_tool("scout", "Finds out.")],
        observer=heard.observer,
    )
    outer.ask_sync("Go.")
    by_id = {span.context.span_id: span for span in heard.spans}
    (one,) = (span for span in heard.spans if span.name == "theirs")
    path = []
    while one is not None:
        path.append(one.name)
        one = by_id[one.parent.span_id] if one.parent else None
    assert path == [
        "theirs",
        "execute_tool trace_it",
        "invoke_agent",
        "execute_tool scout",
        "invoke_agent",
    ]


async def test_sessions_at_the_same_time_do_not_mix():
    heard = Heard()
    agents = [
        Agent(
            LocalModel(ScriptedModel([says(call("weather", city=f"{at}")), "Done."])),
            f"openai:m{at}",
            tools=[weather],
            observer=heard.observer,
        )
        for at in range(10)
    ]
    await asyncio.gather(*(agent.ask("Go.") for agent in agents))
    roots = [span for span in heard.spans if span.name == "invoke_agent"]
    assert len(roots) == 10
    for root in roots:
        model = root.attributes["gen_ai.request.model"]
        assert children(heard, root) == [f"chat {model}"] * 2 + ["execute_tool weather"]
