"""One loop for all replies: what is asked for again, and whom, is the same however it is asked."""

import json
from typing import Any

import pytest

from canonicall.client import encoder
from canonicall.codec.encode import encode_request
from canonicall.gateway.config import RepairSettings
from canonicall.testing.exchange import SimResponse
from gateway_support import ask
from scenarios import upstreams
from scenarios.scripted_hosts import Hosts, asked, model, no_connection, question, saying, stream

GPT, CLAUDE = "openai/openai-chat:gpt-4o", "anthropic:claude-sonnet-4-5"
WAYS = {"forwarded": "openai-chat", "translated": "anthropic"}
"""The front at which a request to GPT is passed through each of both ways."""
HALF = b'{"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Pa'
NOTHING: dict[str, Any] = {"id": "c", "object": "chat.completion", "choices": []}
OVERLOADED = {"error": {"type": "server_error", "message": "Overloaded."}}


def body(data: bytes) -> SimResponse:
    return SimResponse(200, {"content-type": "application/json"}, (data,))


async def report_of(gateway: Any, answer: Any) -> dict[str, Any]:
    id = answer.headers["x-canonicall-request-id"]
    told: dict[str, Any] = (await ask(gateway, f"/canonicall/reports/{id}")).json
    return told


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("broken", [HALF, json.dumps(NOTHING).encode()], ids=["half", "nothing"])
async def test_a_whole_reply_that_is_none_is_asked_for_again(way: str, broken: bytes) -> None:
    """The connection ended in order, and what came is no reply."""
    hosts = Hosts({"openai": [body(broken)]}, saying("Paris."))
    gateway = hosts.gateway(model(GPT))
    front = WAYS[way]
    answer = await asked(gateway, front, question(front))
    assert (answer.status, len(hosts.sent)) == (200, 2)
    assert answer.headers.get("x-canonicall-forwarded", "false") == str(way == "forwarded").lower()
    assert b"Paris." in answer.body
    await gateway.close()


async def test_a_stream_that_the_client_gets_whole_is_asked_for_again() -> None:
    """Nothing of it was passed on, though its words had begun."""
    start = upstreams.sse({"type": "message-start", "id": "r", "delta": {"message": {}}})
    text = upstreams.cohere("content-start", 0, content={"type": "text", "text": ""})
    words = upstreams.cohere("content-delta", 0, content={"text": "Par"})
    hosts = Hosts({"cohere": [stream(start, text, words, cut=True)]}, saying("Paris."))
    gateway = hosts.gateway(model("cohere:c"))
    answer = await asked(gateway, "openai-chat", question("openai-chat"))
    assert (answer.status, len(hosts.sent)) == (200, 2)
    assert answer.json["choices"][0]["message"]["content"] == "Paris."
    await gateway.close()


async def test_a_fallback_gets_the_bytes_that_it_would_get_as_the_first() -> None:
    """It speaks the format of the client; the one before it did not."""
    hosts = Hosts({"anthropic": [no_connection()]}, saying("Here."))
    gateway = hosts.gateway(model(CLAUDE, GPT))
    answer = await asked(gateway, "openai-chat", question("openai-chat"))
    assert answer.headers["x-canonicall-forwarded"] == "true"
    first = Hosts({}, saying("Here."))
    other = first.gateway(model(GPT))
    await asked(other, "openai-chat", question("openai-chat"))
    assert hosts.sent[-1] == first.sent[-1]
    await gateway.close()
    await other.close()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("streams", [True, False])
async def test_the_last_of_a_chain_is_waited_for(way: str, streams: bool) -> None:
    busy = SimResponse.json(503, OVERLOADED)
    hosts = Hosts({"cohere": [no_connection()], "openai": [busy, busy]}, saying("Here."))
    gateway = hosts.gateway(model("cohere:c", GPT))
    front = WAYS[way]
    answer = await asked(gateway, front, question(front), streams=streams)
    assert (answer.status, len(hosts.waits)) == (200, 2)
    report = await report_of(gateway, answer)
    kinds = [one["kind"] for one in report["notices"] if one["kind"] != "repaired"]
    assert kinds == ["switched", "retrying", "retrying", "answered"]
    assert [one["kind"] for one in report["failures"]] == ["connection"]
    assert report["attempts"] == 4
    await gateway.close()


async def test_a_refusal_that_was_put_right_is_no_failure() -> None:
    """Refused as it came, accepted in another form, by the same target."""
    refusal = {"error": {"type": "invalid_request_error", "message": "Something is wrong here."}}
    hosts = Hosts({"openai": [SimResponse.json(400, refusal)]}, saying("Here."))
    gateway = hosts.gateway(model(GPT, CLAUDE))
    answer = await asked(gateway, "openai-chat", question("openai-chat"))
    assert (answer.status, [to for to, _ in hosts.sent]) == (200, ["openai", "openai"])
    report = await report_of(gateway, answer)
    assert report["failures"] == []
    kinds = [one["kind"] for one in report["notices"]]
    assert kinds == ["recovered", "answered"]
    await gateway.close()


async def test_strict_mode_asks_no_fallback_that_would_need_changes() -> None:
    """The first takes the temperature as it is, and is down; the other does not."""
    hosts = Hosts({"gemini": [no_connection()] * 9}, saying("Here."))
    chain = model("gemini:gemini-2.5-pro", CLAUDE)
    gateway = hosts.gateway(chain, repair=RepairSettings(strict=True))
    sent = question("openai-chat") | {"temperature": 1.8}
    answer = await asked(gateway, "openai-chat", sent)
    assert [to for to, _ in hosts.sent] == ["gemini"]
    assert answer.status == 502
    await gateway.close()


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The targets for which requests were encoded, in order."""
    seen: list[str] = []

    def counted(*given: Any, **options: Any) -> Any:
        seen.append(given[1].provider)
        return encode_request(*given, **options)

    monkeypatch.setattr(encoder, "encode_request", counted)
    return seen


@pytest.mark.parametrize("strict", [True, False])
async def test_a_request_is_encoded_once(encoded: list[str], strict: bool) -> None:
    gateway = Hosts({}, saying("Here.")).gateway(
        model(CLAUDE), repair=RepairSettings(strict=strict)
    )
    answer = await asked(gateway, "openai-chat", question("openai-chat"))
    assert (answer.status, encoded) == (200, ["anthropic"])
    await gateway.close()


async def test_what_was_learnt_costs_one_rendering(encoded: list[str]) -> None:
    """One for each form that is sent; whether a lesson concerns a request is seen by its form."""
    words = "Unsupported parameter: 'temperature' is not supported with this model."
    refusal = SimResponse.json(400, {"error": {"message": words, "type": "invalid_request_error"}})
    hosts = Hosts({"openai": [refusal, refusal]}, saying("One.", "Two."))
    gateway = hosts.gateway(model(GPT))
    warm = question("openai-chat") | {"temperature": 0.5}
    answer = await asked(gateway, "openai-chat", warm)
    assert (answer.status, len(hosts.sent), len(encoded)) == (200, 3, 2)
    answer = await asked(gateway, "openai-chat", warm)
    assert (answer.status, len(hosts.sent), len(encoded)) == (200, 4, 3)
    assert "temperature" not in hosts.bodies("openai")[-1]
    await gateway.close()
