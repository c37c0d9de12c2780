"""Spans of requests, as the official SDK's exporter in memory receives them."""

import subprocess
import sys
from contextvars import copy_context

import pytest

from canonicall.gateway.governance.traces import request_traces
from canonicall.reply import Usage
from gateway.governance.told import begun, served

trace = pytest.importorskip("opentelemetry.trace")
sdk = pytest.importorskip("opentelemetry.sdk.trace")
export = pytest.importorskip("opentelemetry.sdk.trace.export")
in_memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture
def heard():
    exporter = in_memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    traces = request_traces(provider)

    def watch(one=None, **fields):
        one = one or begun()
        traces.begun(one)
        traces.ended(served(of=one, **fields))
        return exporter.get_finished_spans()[-1]

    watch.spans = exporter.get_finished_spans
    watch.traces = traces
    return watch


def test_a_request_is_a_span(heard):
    span = heard(
        begun(key="team"),
        target="gemini:gemini-9",
        usage=Usage(10, 5, cache_read_tokens=3),
        findings=(("call_closed", 2),),
    )
    assert (span.name, span.kind) == ("chat m", trace.SpanKind.CLIENT)
    assert span.parent is None
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "gemini-9",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 3,
        "http.response.status_code": 200,
        "canonicall.front": "anthropic",
        "canonicall.key": "team",
        "canonicall.attempts": 1,
        "canonicall.forwarded": False,
        "canonicall.complete": True,
        "canonicall.findings": ("call_closed",),
    }
    assert span.status.is_unset
    assert span.instrumentation_scope.schema_url == "https://opentelemetry.io/schemas/1.41.0"


def test_it_stands_in_the_trace_of_the_client(heard):
    span = heard(begun(traceparent=f"00-{TRACE}-{PARENT}-01", tracestate="vendor=1"))
    assert f"{span.context.trace_id:032x}" == TRACE
    assert f"{span.parent.span_id:016x}" == PARENT
    assert span.parent.is_remote
    assert span.context.trace_state.get("vendor") == "1"


@pytest.mark.parametrize("sent", ["", "nonsense", f"00-{'0' * 32}-{PARENT}-01", f"ff-{TRACE}-x"])
def test_a_trace_that_cannot_be_read_begins_a_new_one(heard, sent):
    assert heard(begun(traceparent=sent, tracestate="=,=")).parent is None


def test_a_request_that_is_traced_by_the_client_but_not_sampled_is_left_out(heard):
    one = begun(traceparent=f"00-{TRACE}-{PARENT}-00")
    heard.traces.begun(one)
    heard.traces.ended(served(of=one))
    assert heard.spans() == ()


def test_what_fails_says_of_what(heard):
    span = heard(status=429, error="rate_limited")
    assert (span.attributes["error.type"], span.status.is_ok) == ("rate_limited", False)
    assert heard(status=502).attributes["error.type"] == "502"


def test_other_actions_keep_their_name(heard):
    assert heard(begun(action="count")).name == "count m"
    assert heard(begun(action="models", model=""), target="").name == "models"


def test_requests_at_the_same_time_do_not_mix(heard):
    first, second = begun(id="1", model="a"), begun(id="2", model="b")
    # As in the gateway, each in a task of its own.
    one, other = copy_context(), copy_context()
    one.run(heard.traces.begun, first)
    other.run(heard.traces.begun, second)
    one.run(heard.traces.ended, served(of=first, status=201))
    other.run(heard.traces.ended, served(of=second, status=202))
    other.run(heard.traces.ended, served(of=second, status=203))
    assert [span.parent for span in heard.spans()] == [None, None]
    told = [(one.name, one.attributes["http.response.status_code"]) for one in heard.spans()]
    assert told == [("chat a", 201), ("chat b", 202)]


def test_every_name_is_one_of_the_conventions(heard):
    """The judge is their own package."""
    registry = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {value for name, value in vars(registry).items() if name.startswith("GEN_AI_")}
    span = heard(usage=Usage(1, 2, 3, 4))
    used = {name for name in span.attributes if name.startswith("gen_ai.")}
    assert used <= known
    assert len(used) == 7


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from canonicall.gateway.governance.traces import request_traces
print(request_traces())
"""


def test_without_opentelemetry_there_is_none():
    shown = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "None"
