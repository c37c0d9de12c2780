"""The trace of a client through the gateway: which hosts hear of it, and in whose name."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, ModelSettings, Settings
from canonicall.gateway.governance.traces import request_traces
from canonicall.testing import Simulator
from gateway_support import World, ask, simulated_providers
from traced import PARENT, TRACE, TRACEPARENT, Listening, Spans, traceparent_of

trace = pytest.importorskip("opentelemetry.trace")

CHAT = "/v1/chat/completions"
CLAUDE = "anthropic:claude-opus-4-5"
MODELS = {
    "same": ModelSettings(choices=(Choice(target="openai:gpt-5.2"),)),
    "other": ModelSettings(choices=(Choice(target=CLAUDE),)),
    "both": ModelSettings(choices=(Choice(target="openai:gpt-5.2"),), fallbacks=(CLAUDE,)),
}


class Traced:
    """A gateway whose spans and upstream headers are kept."""

    def __init__(self, *, sends: tuple[str, ...] = ("openai", "anthropic"), **faults: Any) -> None:
        self.spans = Spans()
        self._world = World(lambda name: Listening(name, faults=faults.get(name, ())))
        providers = {
            name: replace(one, sends_trace=name in sends)
            for name, one in simulated_providers(("openai", "anthropic")).items()
        }
        watcher = request_traces(self.spans.provider)
        assert watcher is not None
        self.gateway = Gateway(
            Settings(providers=providers, models=MODELS),
            transport=self._world.transport,
            watchers=[watcher],
        )

    def heard(self, provider: str) -> list[dict[str, str]]:
        simulator: Simulator = self._world.of(provider)
        assert isinstance(simulator, Listening)
        return simulator.heard

    async def ask(self, model: str, *, stream: bool = False, **headers: str) -> None:
        body = {"model": model, "messages": [{"role": "user", "content": "Hello."}]}
        answer = await ask(self.gateway, CHAT, {**body, "stream": stream}, headers=headers)
        assert answer.status == 200
        assert answer.is_ended

    @property
    def last(self) -> Any:
        return self.spans.finished[-1]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("model", "host"), [("same", "openai"), ("other", "anthropic")])
async def test_the_host_goes_on_with_the_trace_of_the_client(model, host, stream):
    """Forwarded or translated, in one piece or streamed: below the gateway's span, not beside it."""
    one = Traced()
    await one.ask(model, stream=stream, traceparent=TRACEPARENT, tracestate="vendor=1")
    (heard,) = one.heard(host)
    assert heard["traceparent"] == traceparent_of(one.last) != TRACEPARENT
    assert heard["tracestate"] == "vendor=1"
    assert f"{one.last.context.trace_id:032x}" == TRACE
    assert f"{one.last.parent.span_id:016x}" == PARENT
    assert one.last.attributes["canonicall.forwarded"] is (model == "same")


async def test_without_a_trace_of_the_client_there_is_a_new_one_for_each_request():
    one = Traced()
    await one.ask("same")
    await one.ask("same")
    told = [headers["traceparent"] for headers in one.heard("openai")]
    assert told == [traceparent_of(span) for span in one.spans.finished]
    assert len({text.split("-")[1] for text in told}) == 2
    assert [span.parent for span in one.spans.finished] == [None, None]


@pytest.mark.parametrize("sent", ["nonsense", TRACEPARENT + "-x", "00-" + "z" * 400, "0" * 9000])
async def test_a_header_that_is_no_trace_reaches_nobody(sent):
    one = Traced()
    await one.ask("same", traceparent=sent, tracestate="vendor=1")
    (heard,) = one.heard("openai")
    assert heard["traceparent"] == traceparent_of(one.last)
    assert one.last.parent is None
    assert "tracestate" not in heard


async def test_a_state_that_is_too_long_is_not_passed_on():
    one = Traced()
    await one.ask("same", traceparent=TRACEPARENT, tracestate="vendor=" + "x" * 600)
    (heard,) = one.heard("openai")
    assert TRACE in heard["traceparent"]
    assert "tracestate" not in heard


async def test_hosts_learn_nothing_unless_that_was_switched_on():
    """Neither the gateway's span nor what the client sent."""
    one = Traced(sends=())
    for model in ("same", "other"):
        await one.ask(model, traceparent=TRACEPARENT, tracestate="vendor=1", baggage="a=b")
    for headers in (*one.heard("openai"), *one.heard("anthropic")):
        assert not {"traceparent", "tracestate", "baggage"} & set(headers)
    assert f"{one.last.context.trace_id:032x}" == TRACE


async def test_every_host_that_is_asked_for_a_request_is_told():
    one = Traced(openai=["server_error"] * 5)
    await one.ask("both", traceparent=TRACEPARENT)
    heard = [*one.heard("openai"), *one.heard("anthropic")]
    assert len(heard) > 1
    assert {headers["traceparent"] for headers in heard} == {traceparent_of(one.last)}


async def test_it_is_switched_for_each_provider():
    one = Traced(sends=("anthropic",), openai=["server_error"] * 5)
    await one.ask("both", traceparent=TRACEPARENT)
    assert all("traceparent" not in headers for headers in one.heard("openai"))
    assert one.heard("openai")
    (heard,) = one.heard("anthropic")
    assert heard["traceparent"] == traceparent_of(one.last)


async def test_what_the_client_does_not_want_sampled_stays_so_at_the_host():
    one = Traced()
    await one.ask("same", traceparent=f"00-{TRACE}-{PARENT}-00")
    (heard,) = one.heard("openai")
    assert heard["traceparent"].startswith(f"00-{TRACE}-")
    assert heard["traceparent"].endswith("-00")
    assert one.spans.finished == ()


async def test_requests_at_the_same_time_do_not_mix():
    one = Traced()
    traces = [f"{n:032x}" for n in range(1, 6)]
    await asyncio.gather(
        *(one.ask("other", stream=True, traceparent=f"00-{id}-{PARENT}-01") for id in traces)
    )
    told = {headers["traceparent"] for headers in one.heard("anthropic")}
    assert told == {traceparent_of(span) for span in one.spans.finished}
    assert sorted(text.split("-")[1] for text in told) == traces


async def test_behind_a_request_its_span_is_not_the_current_one():
    await Traced().ask("same", traceparent=TRACEPARENT)
    assert not trace.get_current_span().get_span_context().is_valid


async def test_where_nothing_is_traced_nothing_is_sent():
    world = World(Listening)
    providers = {
        name: replace(one, sends_trace=True)
        for name, one in simulated_providers(("openai", "anthropic")).items()
    }
    gateway = Gateway(Settings(providers=providers, models=MODELS), transport=world.transport)
    body = {"model": "same", "messages": [{"role": "user", "content": "Hello."}]}
    answer = await ask(gateway, CHAT, body, headers={"traceparent": TRACEPARENT})
    assert answer.status == 200
    simulator = world.of("openai")
    assert isinstance(simulator, Listening)
    assert "traceparent" not in simulator.heard[0]


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from canonicall.gateway.config import read_settings
text = b"providers: {openai: {key: sk-0123456789, sends_trace: true}}"
print(*read_settings(text, "gateway.yaml", {}).warnings)
"""


def test_whoever_switches_it_on_without_opentelemetry_is_told():
    shown = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert "$.providers.openai.sends_trace: opentelemetry is not installed." in shown.stdout
