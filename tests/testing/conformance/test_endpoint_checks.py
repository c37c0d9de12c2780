"""The conformance of endpoints: simulators and the gateway have it; each fault breaks a check."""

import pytest

from batches import each
from canonicall.client.transport import TransportError
from canonicall.discovery.addresses import DiscoveryError
from canonicall.facts.registry import get_profile, provider_names
from canonicall.gateway.config import Choice, ModelSettings
from canonicall.reply import Usage
from canonicall.testing import Fault, Schedule, ScriptedModel, Simulator, call, says, serve
from canonicall.testing.conformance import NotConforming, check_endpoint, probe_endpoint
from canonicall.testing.conformance.endpoints import CHECKS
from canonicall.testing.habits import models_of
from canonicall.testing.transport import SimulatorTransport
from gateway_support import World

SPOKEN = [(name, format) for name in provider_names() for format in get_profile(name).formats]
# What each fault shows first. Two of them are only of chat streams, and two only take time.
BREAKS = {
    "reused_ids": "ids",
    "index_zero": "stream_grammar",
    "late_names": "stream_grammar",
    "cut_stream": "streamed",
    "cut_arguments": "call",
    "bad_arguments": "call",
    "error_in_200": "words",
    "rate_limited": "words",
    "overloaded": "words",
    "server_error": "words",
    "leaked_calls": "call",
    "empty_reply": "words",
}
KEY = "sk-test-0123456789abcdef"
TIMELY = {Fault.SLOW_STREAM, Fault.STALLED_STREAM}
ELSEWHERE = {Fault.THREAD_UNSUPPORTED}
"""No check sends a thread."""


async def at_once(seconds):
    del seconds


def checked(simulator, **options):
    transport = SimulatorTransport(lambda url: simulator)
    given = {"model": models_of(simulator.profile.name)[0], "key": "any", **options}
    if "provider" not in given:
        given.setdefault("format", simulator.profile.format)
    return check_endpoint("http://endpoint.test", transport=transport, sleep=at_once, **given)


@each(("name", "format"), SPOKEN)
def test_every_simulator_keeps_the_rules_of_its_provider(name, format):
    report = checked(
        Simulator(name, call_tools="*"), provider=name, format=format
    ).raise_if_broken()
    assert [check.name for check in report.checks] == list(CHECKS)


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault not in TIMELY | ELSEWHERE])
def test_a_fault_breaks_a_check(fault):
    report = checked(Simulator("openai", faults=Schedule([fault], repeat=True), call_tools="*"))
    broken = report[BREAKS[fault]]
    assert broken.state == "broken"
    assert "Received: " in broken.evidence[0]


def test_without_a_fault_everything_holds():
    report = checked(Simulator("openai", call_tools="*"))
    assert {check.state for check in report.checks} == {"held"}
    assert report.subject == "http://endpoint.test/v1 (openai-chat, gpt-5.2)"


def test_a_liberty_of_a_provider_is_one_only_where_the_provider_is_named():
    """Mistral tells the usage beside the reason to stop."""
    assert checked(Simulator("mistral", call_tools="*"))["stream_grammar"].state == "broken"
    assert checked(Simulator("mistral", call_tools="*"), provider="mistral").ok


def test_a_host_that_overlooks_a_missing_result_is_no_provider_that_refuses_it():
    """Ollama's chat endpoint takes anything; whoever claims to be OpenAI must not."""
    ollama = Simulator("ollama", call_tools="*")
    assert checked(ollama, format="openai-chat")["unpaired"].state == "open"
    report = checked(ollama, format="openai-chat", provider="openai")
    assert "the provider refuses it" in report["unpaired"].evidence[0]


def test_what_a_model_chooses_is_left_open():
    one = says(call("weather_report", city="Paris"))
    other = says(call("weather_report", city="Paris, France"))
    script = ["Hello.", one, "Hello.", other, "Sunny.", one]
    report = checked(Simulator("openai", model=ScriptedModel(script)))
    assert report.ok
    assert {one.name for one in report.open} == {"parallel", "streamed"}
    assert "Paris, France" in report["streamed"].evidence[0]


@pytest.mark.parametrize(("made", "state"), [(1024, "open"), (7, "broken")])
def test_a_model_that_goes_on_up_to_the_limit_is_no_fault_of_its_host(made, state):
    endless = says("I am so glad. " * 3, finish="length", usage=Usage(output_tokens=made))
    both = says(call("weather_report", city="Paris"), call("local_time", city="Paris"))
    script = [endless, both, "Hello.", both, "Sunny.", both]
    report = checked(Simulator("openai", model=ScriptedModel(script)))
    assert report["words"].state == state
    assert report.ok == (state == "open")


def test_a_stream_without_the_calls_of_the_reply_is_found():
    one = says(call("weather_report", city="Paris"), call("local_time", city="Paris"))
    script = ["Hello.", one, "Hello.", "I would rather not.", "Sunny.", one]
    report = checked(Simulator("openai", model=ScriptedModel(script)))
    assert "the stream has none" in report["streamed"].evidence[0]


def test_no_key_is_shown():
    simulator = Simulator(
        "openai", faults=Schedule([Fault.SERVER_ERROR], repeat=True), call_tools="*"
    )
    assert KEY not in str(checked(simulator, key=KEY))


def test_over_a_socket_and_with_a_list_of_models():
    with serve(Simulator("anthropic", call_tools="*")) as server:
        report = check_endpoint(server.url, format="anthropic", key="any").raise_if_broken()
    assert models_of("anthropic")[0] in report.subject


def test_nobody_there_is_told():
    with pytest.raises(DiscoveryError):
        check_endpoint("http://127.0.0.1:9", format="openai-chat", model="m")


def test_an_endpoint_that_goes_away_leaves_the_rest_open():
    simulator = Simulator("openai", call_tools="*")
    count = iter(range(100))

    def simulator_for(url):
        if next(count) > 4:
            raise TransportError("it is gone.", where=url, phase="connect")
        return simulator

    report = check_endpoint(
        "http://endpoint.test",
        format="openai-chat",
        model="gpt-5.2",
        key="any",
        transport=SimulatorTransport(simulator_for),
    )
    assert report["unpaired"].state == "open"
    assert "Not everything could be asked" in report["unpaired"].evidence[0]


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic", "gemini"])
async def test_the_gateway_conforms_in_every_format(format):
    """Whoever answers behind it: here one that speaks another format than any of its fronts."""
    choice = Choice(target=f"cohere:{models_of('cohere')[0]}")
    gateway = World().gateway({"any": ModelSettings(choices=(choice,))})
    with serve(gateway) as server:
        report = await probe_endpoint(server.url, format=format, model="any", key="any")
    report.raise_if_broken()
    assert "mend" in report["unpaired"].evidence[0]


def test_a_broken_endpoint_fails_a_test():
    with pytest.raises(NotConforming, match="share an id"):
        checked(
            Simulator("openai", faults=Schedule([Fault.REUSED_IDS], repeat=True), call_tools="*")
        ).raise_if_broken()
