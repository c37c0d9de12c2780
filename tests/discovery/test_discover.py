"""Discovery of endpoints that are odd, busy, broken or not there."""

import asyncio
import json
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.client.config import ClientConfig
from canonicall.client.model import HttpModel
from canonicall.client.transport import Timeouts, TransportError
from canonicall.discovery.addresses import DiscoveryError
from canonicall.discovery.discover import discover
from canonicall.discovery.profile_text import profile_text
from canonicall.facts.profile import load_profile
from canonicall.facts.registry import get_target, register_provider, unregister_provider
from canonicall.testing.exchange import SimResponse
from canonicall.testing.habits import models_of
from canonicall.testing.server import serve
from canonicall.testing.simulator import Simulator
from canonicall.wire.formats import FORMATS
from discovery.endpoints import KEY, URL, WHEN, Wire, found, simulated

from client_support import asked, question, weather


def test_a_host_that_takes_the_key_as_a_bearer_only():
    simulator = simulated("anthropic")

    def bearer_only(request):
        if "authorization" not in request.headers:
            return SimResponse.json(401, {"error": {"message": "no token"}})
        return simulator.answer(request)

    wire = Wire(bearer_only)
    info = asyncio.run(discover(URL, model="claude-x", key=KEY, transport=wire))
    assert (info.wire_format, info.auth) == ("anthropic", "bearer")
    profile = load_profile(profile_text(info, date=WHEN), "test")
    assert profile.endpoints["anthropic"].auth == "bearer"


def test_a_host_that_refuses_every_path_is_asked_until_a_format_is_taken():
    simulator = simulated("anthropic")

    def never_missing(request):
        answer = simulator.answer(request)
        if answer.status != 404:
            return answer
        return SimResponse.json(400, {"error": {"message": "bad request"}})

    wire = Wire(never_missing)
    info = asyncio.run(discover(URL, model="claude-haiku-4-5", key=KEY, transport=wire))
    assert info.wire_format == info.answer("wire_format") == "anthropic"
    assert "openai-chat" not in info.formats


@pytest.mark.parametrize(
    ("provider", "url", "format"),
    [
        ("openai", f"{URL}/v1/chat/completions", "openai-chat"),
        ("openai", f"{URL}/v1/responses", "openai-responses"),
        ("openai", f"{URL}/v1/", "openai-chat"),
        ("anthropic", f"{URL}/v1", "anthropic"),
        ("anthropic", f"{URL}/v1/messages", "anthropic"),
        ("gemini", f"{URL}/v1beta/models/gemini-3-pro-preview:generateContent", "gemini"),
        ("cohere", f"{URL}/v2/chat", "cohere"),
        ("ollama", f"{URL}/api/chat", "ollama"),
    ],
)
def test_any_address_that_people_have_will_do(provider, url, format):
    info, _ = found(simulated(provider), url)
    assert info.wire_format == format
    assert info.answer("structured_calls") is True


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "cohere", "ollama"])
def test_without_a_model_the_first_of_the_list_is_asked(provider):
    info, _ = found(simulated(provider, models=models_of(provider)), model="")
    assert info.model == models_of(provider)[0]
    assert info.models == models_of(provider)


def answering(status, body, kind="application/json"):
    """An endpoint that answers everything alike."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Wire(lambda request: SimResponse(status, {"content-type": kind}, (data,)))


PAGE = b"<!doctype html><title>Welcome</title>"


@pytest.mark.parametrize(
    ("url", "wire", "words"),
    [
        ("api.example.com", None, "whole address"),
        ("ftp://example.com", None, "whole address"),
        ("http://[", None, "whole address"),
        ("https://me:secret@example.com", None, "key does not belong"),
        (URL, answering(200, PAGE, "text/html"), "a web page answers here"),
        (URL, answering(404, {"error": "nothing"}), "none of these formats answers"),
        (URL, answering(401, {"error": {"message": "bad key"}}), "key is missing or not valid"),
        (URL, answering(301, b"", "text/plain"), "leads to another"),
        (URL, answering(400, {"error": {"message": "no"}}), "lists no models"),
    ],
)
def test_what_cannot_be_found_out_is_told_with_what_to_do(url, wire, words):
    with pytest.raises(DiscoveryError, match=words) as caught:
        asyncio.run(discover(url, key=KEY, transport=wire or answering(200, {})))
    assert caught.value.help
    assert "secret" not in str(caught.value)


def test_nobody_answers():
    class Silent(Wire):
        async def get(self, url, headers, timeouts, *, proxy=""):
            raise TransportError("no connection: refused.", where=url, phase="connect")

    with pytest.raises(DiscoveryError, match="no connection"):
        asyncio.run(discover(URL, model="m", transport=Silent(None)))


class Breaking(Wire):
    """The connection breaks where a request holds some words."""

    def __init__(self, answer, *words):
        super().__init__(answer)
        self._words = words

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        if any(word in body for word in self._words):
            raise TransportError("it broke.", where=url, phase="connection")
        return await super().post(url, headers, body, timeouts)


def test_a_broken_exchange_leaves_only_its_own_questions_open():
    wire = Breaking(simulated("openai").answer, b'"stream":true', b'"developer"')
    info = asyncio.run(discover(URL, model="m", key=KEY, transport=wire))
    assert {"argument_streaming", "foreign_ids", "developer_role"} <= set(info.unknown)
    assert info.answer("choice_named") == "obeyed"
    (said,) = [one for one in info.statements if one.question == "argument_streaming"]
    assert "it broke" in said.evidence[0].received


def test_what_was_found_before_the_endpoint_went_away_is_kept():
    told = []
    wire = Breaking(simulated("openai").answer, b"tool_choice", b"tool_calls")
    info = asyncio.run(discover(URL, model="m", key=KEY, transport=wire, progress=told.append))
    assert info.answer("argument_streaming") == "pieces"
    assert {"choice_required", "choice_named", "foreign_ids"} <= set(info.unknown)
    assert told[-1].startswith("Stopped early")


def test_no_more_requests_are_sent_than_allowed():
    info, wire = found(simulated("generic"), most_requests=12)
    assert len(wire.log) == info.requests == 12
    assert info.answer("wire_format") == "openai-chat"
    with pytest.raises(DiscoveryError, match="limit of requests"):
        found(simulated("generic"), most_requests=1)


def test_no_key_is_in_what_is_found():
    simulator = simulated("openai")

    def talkative(request):
        answer = simulator.answer(request)
        return SimResponse(
            answer.status, answer.headers, (answer.data.replace(b"Paris", KEY.encode()),)
        )

    wire = Wire(talkative)
    info = asyncio.run(discover(URL, model="m", key=KEY, transport=wire))
    assert any(KEY in str(headers) for headers in wire.headers)
    proofs = [proof for one in info.statements for proof in one.evidence]
    assert proofs
    assert KEY not in str(info)
    assert KEY not in profile_text(info, date=WHEN)


@pytest.fixture(scope="module")
def port():
    """A provider of every wire format, on one port."""
    names = ("anthropic", "bedrock", "cohere", "gemini", "ollama", "openai")
    keys = [KEY, f"Bearer {KEY}"]
    with serve({name: Simulator(name, keys=keys, call_tools="*") for name in names}) as server:
        yield server.url


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_found_over_a_socket(port, format):
    name = format.partition("-")[0]
    model = models_of(name)[0]
    info = asyncio.run(discover(f"{port}/{name}", model=model, key=KEY, format=format))
    assert info.wire_format == format
    assert info.answer("structured_calls") is True
    assert info.answer("argument_streaming") is not None
    assert info.answer("usage_in_streams") is True


def test_over_a_socket_and_then_used_by_an_agents_client():
    """The profile that was written is all that a client needs."""
    simulator = Simulator("mistral", keys=[KEY], call_tools="*")

    async def main(url):
        info = await discover(url, key=KEY, timeouts=Timeouts(connect=5, first_byte=20))
        text = profile_text(info, date=WHEN, name="found-out", key_env="FOUND_OUT_KEY")
        register_provider(text)
        async with HttpModel(ClientConfig(environ={"FOUND_OUT_KEY": KEY})) as model:
            goal = get_target(f"found-out:{info.model}")
            _, reply = await asked(model, question(weather.tool), goal)
        return info, reply

    try:
        with serve(simulator) as server:
            info, reply = asyncio.run(main(server.url))
    finally:
        unregister_provider("found-out")
    assert info.models == models_of("mistral")
    assert [call.name for call in reply.calls] == ["weather"]
    assert simulator.seen[-1].status == 200


def deep(levels):
    value = "Paris"
    for _ in range(levels):
        value = {"city": value}
    return value


def test_arguments_of_hostile_depth_do_no_harm():
    call = {"type": "tool_use", "id": "toolu_1", "name": "weather_report", "input": deep(300)}
    body = {"type": "message", "role": "assistant", "content": [call], "stop_reason": "tool_use"}
    wire = Wire(lambda request: SimResponse.json(200, body))
    info = asyncio.run(discover(URL, model="m", key=KEY, format="anthropic", transport=wire))
    assert info.answer("structured_calls") is True


SOUND = [
    (200, b'{"object": "list", "data": [{"id": "m"}]}'),
    (400, b'{"error": {"message": "messages: field required", "type": "invalid_request_error"}}'),
    (200, b'{"choices": [{"message": {"tool_calls": [{"id": "a", "function": 7}]}}]}'),
    (200, b'{"choices": [{"message": {"content": "<tool_call>{}", "tool_calls": null}}]}'),
    (200, b'{"choices": [{"message": {"content": [{"type": "text"}], "tool_calls": [{}, 1]}}]}'),
    (200, b'{"candidates": [{"content": {"parts": [{"functionCall": {"name": null}}]}}]}'),
    (200, b'{"content": [{"type": "tool_use", "name": "weather_report", "input": []}]}'),
    (200, b"data: {}\n\ndata: [DONE]\n\n"),
    (429, b""),
]
STRANGE = st.tuples(st.sampled_from([200, 400, 404, 500]), st.binary(max_size=60))


@given(st.lists(st.sampled_from(SOUND) | STRANGE, min_size=1, max_size=6), st.sampled_from(FORMATS))
def test_no_endpoint_is_too_strange(answers, format):
    """Whatever comes back: statements, or an error that says what to do."""
    answered = cycle(answers)

    def answer(request):
        status, data = next(answered)
        return SimResponse(status, {"content-type": "application/json"}, (data,))

    options = {"model": "m", "key": KEY, "format": format, "sleep": _at_once}
    try:
        info = asyncio.run(discover(URL, transport=Wire(answer), **options))
    except DiscoveryError:
        return
    load_profile(profile_text(info, date=WHEN), "strange")


async def _at_once(seconds):
    del seconds
