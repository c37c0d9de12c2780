"""Spans and metrics of agents, by OpenTelemetry's conventions for generative AI.

    invoke_agent                     a run, from what the user says to the end of the answer
    ├── chat {model}                 the model is asked
    └── execute_tool {name}          a tool runs; what it traces itself stands below it

Source: github.com/open-telemetry/semantic-conventions, docs/gen-ai/, gen-ai-spans.md,
gen-ai-agent-spans.md and gen-ai-metrics.md, in the version that `spans` names.
"""

from time import perf_counter
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import metrics, trace
from opentelemetry.trace import Span, SpanKind

from canonicall.agent.commands import Finish
from canonicall.agent.inputs import CallEnded, ModelFailed, ModelReplied
from canonicall.agent.limits import Spent
from canonicall.blocks import ToolCall
from canonicall.facts.target import Target
from canonicall.facts.telemetry_names import telemetry_name
from canonicall.outcome import Outcome
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.runtime.observer import Observer, RunObserver
from canonicall.telemetry.content import (
    as_json,
    input_messages,
    output_messages,
    result_content,
    system_instructions,
)
from canonicall.telemetry.spans import SCHEMA_URL, fail, tracer, usage_attributes

_TOKEN_BUCKETS = [4.0**power for power in range(14)]
_SECOND_BUCKETS = [0.01 * 2**power for power in range(14)]
_ENDS_WELL = ("answered", "cut", "limit")


class GenAIObserver(Observer):
    """Reports the runs of any number of sessions. Made by `genai_observer`."""

    def __init__(
        self,
        agent: str,
        content: bool,
        tracer_provider: trace.TracerProvider | None,
        meter_provider: metrics.MeterProvider | None,
    ) -> None:
        self.agent = agent
        self.content = content
        self.tracer = tracer(tracer_provider)
        meter = metrics.get_meter("canonicall", "", meter_provider, SCHEMA_URL)
        self.tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKEN_BUCKETS,
        )
        self.seconds = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECOND_BUCKETS,
        )

    def run_started(self) -> RunObserver:
        return _Run(self)


class _Run(RunObserver):
    """One run: its span, and those below it that are open."""

    def __init__(self, observer: GenAIObserver) -> None:
        self._observer = observer
        attributes = {"gen_ai.operation.name": "invoke_agent"}
        if observer.agent:
            attributes["gen_ai.agent.name"] = observer.agent
        name = f"invoke_agent {observer.agent}".rstrip()
        self._span = observer.tracer.start_span(name, attributes=attributes)
        self._context = trace.set_span_in_context(self._span)
        self._asking: _Asking | None = None
        self._tools: dict[str, Span] = {}
        self._read = self._written = 0

    def model_started(self, request: Request, target: Target) -> None:
        attributes = {"gen_ai.provider.name": telemetry_name(target.provider)}
        model = target.model or request.model
        if model:
            attributes["gen_ai.request.model"] = model
        self._span.set_attributes(attributes)
        self._asking = _Asking(self._observer, self._context, attributes, request)

    def model_ended(self, answer: ModelReplied | ModelFailed, error: str = "") -> None:
        if self._asking is None:
            return
        if isinstance(answer, ModelFailed):
            self._asking.failed(answer.why, error or "_OTHER")
        else:
            self._asking.answered(answer.reply)
            usage = answer.reply.usage
            if usage is not None:
                self._read += usage.input_tokens
                self._written += usage.output_tokens
        self._asking = None

    def tool_started(self, call: ToolCall) -> None:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
        }
        if self._observer.content:
            attributes["gen_ai.tool.call.arguments"] = as_json(call.args)
        span = self._observer.tracer.start_span(
            f"execute_tool {call.name}", self._context, attributes=attributes
        )
        self._tools[call.id] = span
        _enter(span, self._context)

    def tool_ended(self, call: ToolCall, end: CallEnded) -> None:
        span = self._tools.pop(call.id, None)
        if span is None:
            # It never began, or its end was told before.
            return
        result = end.result
        if result is None:
            fail(span, str(end.outcome or Outcome.UNKNOWN), end.why)
        elif result.error:
            fail(span, "tool_error", result.text if self._observer.content else "")
        if result is not None and self._observer.content:
            span.set_attribute("gen_ai.tool.call.result", as_json(result_content(result)))
        span.end()

    def run_ended(self, end: Finish, spent: Spent) -> None:
        del spent
        for span in self._tools.values():
            span.end()
        self._span.set_attribute("canonicall.run.end", end.reason)
        if self._read or self._written:
            self._span.set_attribute("gen_ai.usage.input_tokens", self._read)
            self._span.set_attribute("gen_ai.usage.output_tokens", self._written)
        if end.reason not in _ENDS_WELL:
            fail(self._span, end.reason, end.detail)
        self._span.end()


class _Asking:
    """One question to the model, from its start to its answer."""

    def __init__(
        self,
        observer: GenAIObserver,
        parent: contexts.Context,
        attributes: dict[str, str],
        request: Request,
    ) -> None:
        self._observer = observer
        self._attributes = {"gen_ai.operation.name": "chat", **attributes}
        told: dict[str, Any] = {**self._attributes, **_parameters(request)}
        if observer.content:
            messages = tuple(request.conversation.messages)
            told["gen_ai.input.messages"] = input_messages(messages)
            instructions = system_instructions(messages)
            if instructions:
                told["gen_ai.system_instructions"] = instructions
        name = f"chat {attributes.get('gen_ai.request.model', '')}".rstrip()
        self._span = observer.tracer.start_span(name, parent, SpanKind.CLIENT, attributes=told)
        _enter(self._span, parent)
        self._began = perf_counter()

    def answered(self, reply: Reply) -> None:
        origin = reply.message.origin
        if origin is not None and origin.model:
            self._attributes["gen_ai.response.model"] = origin.model
            self._span.set_attribute("gen_ai.response.model", origin.model)
        if origin is not None and origin.response_id:
            self._span.set_attribute("gen_ai.response.id", origin.response_id)
        if reply.finish:
            self._span.set_attribute("gen_ai.response.finish_reasons", [reply.finish])
        if reply.usage is not None:
            self._used(reply)
        if self._observer.content:
            self._span.set_attribute("gen_ai.output.messages", output_messages(reply.message))
        self._end()

    def failed(self, why: str, error: str) -> None:
        self._attributes["error.type"] = error
        fail(self._span, error, why)
        self._end()

    def _used(self, reply: Reply) -> None:
        usage = reply.usage
        if usage is None:
            return
        self._span.set_attributes(usage_attributes(usage))
        for kind, tokens in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            self._observer.tokens.record(tokens, {**self._attributes, "gen_ai.token.type": kind})

    def _end(self) -> None:
        self._observer.seconds.record(perf_counter() - self._began, self._attributes)
        self._span.end()


def _parameters(request: Request) -> dict[str, Any]:
    params = request.params
    named = {
        "gen_ai.request.max_tokens": params.max_tokens,
        "gen_ai.request.temperature": params.temperature,
        "gen_ai.request.top_p": params.top_p,
        "gen_ai.request.seed": params.seed,
        "gen_ai.request.stop_sequences": params.stop or None,
    }
    return {name: value for name, value in named.items() if value is not None}


def _enter(span: Span, parent: contexts.Context) -> None:
    """Make it the current span of this task, and of those it starts. The task ends with it."""
    contexts.attach(trace.set_span_in_context(span, parent))
