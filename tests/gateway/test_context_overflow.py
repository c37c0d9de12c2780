"""A conversation that is too long is refused in the form that clients of the front recognise, after
the provider was asked once."""

import asyncio
import json
import re
from typing import Any

import pytest

from canonicall.blocks import Text
from canonicall.client.failure import Failure
from canonicall.client.overflow import Overflow, overflow_of
from gateway_faults import BACKS, FRONTS, Faulty, Play, Upstream, said, stream_of
from gateway_sockets import Upstream as Host
from gateway_sockets import on_port, served, until
from gateway_support import Answer
from judges.sources import MISSING

anthropic = pytest.importorskip("anthropic", reason=MISSING)
openai = pytest.importorskip("openai", reason=MISSING)

OPENAI = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in"
    " 130123 tokens. Please reduce the length of the messages."
)
GOOGLE = "The input token count (130123) exceeds the maximum number of tokens allowed (128000)."
CLAUDE = "prompt is too long: 130123 tokens > 128000 maximum"


def google(message: str) -> dict[str, Any]:
    return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


def claude(message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def chat(message: str, code: str | None = "context_length_exceeded") -> dict[str, Any]:
    kind = "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": "messages", "code": code}}


REFUSALS = {
    "openai-chat": chat(OPENAI),
    "openai-responses": chat(OPENAI),
    "anthropic": claude(CLAUDE),
    "gemini": google(GOOGLE),
    "bedrock": {"message": "Input is too long for requested model."},
    "cohere": {"message": "too many tokens: total number of tokens in the prompt cannot exceed 9"},
    "ollama": {"error": "prompt too long; exceeded max context length by 12 tokens"},
}
WITH_FIGURES = ("openai-chat", "openai-responses", "anthropic", "gemini")


async def refused(front: str, back: str, *, streams: bool) -> tuple[Answer, int]:
    """What a client is told, and how often the provider was asked."""
    upstream = Upstream(Play.json(json.dumps(REFUSALS[back]).encode(), 400))
    faulty = Faulty(upstream, BACKS[back])
    answer = await faulty.ask(front, streams=streams)
    assert faulty.told.ends[0].status == 400
    await faulty.gateway.close()
    return answer, len(upstream.bodies)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("back", REFUSALS)
async def test_claude_code_recognises_it(back: str, streams: bool) -> None:
    answer, asked = await refused("anthropic", back, streams=streams)
    assert (answer.status, answer.json["error"]["type"], asked) == (400, "invalid_request_error", 1)
    message = answer.json["error"]["message"]
    assert message.startswith("prompt is too long")
    if back in WITH_FIGURES:
        assert message.startswith(CLAUDE)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("back", REFUSALS)
async def test_chat_clients_recognise_it(back: str, streams: bool) -> None:
    answer, asked = await refused("openai-chat", back, streams=streams)
    error = answer.json["error"]
    assert (answer.status, error["type"], asked) == (400, "invalid_request_error", 1)
    assert (error["code"], error["param"]) == ("context_length_exceeded", "messages")
    if back in WITH_FIGURES:
        assert error["message"].startswith(OPENAI)


@pytest.mark.parametrize("back", REFUSALS)
async def test_gemini_clients_recognise_it(back: str) -> None:
    answer, asked = await refused("gemini", back, streams=False)
    error = answer.json["error"]
    assert (answer.status, error["status"], asked) == (400, "INVALID_ARGUMENT", 1)
    if back in WITH_FIGURES:
        assert error["message"].startswith(GOOGLE)
    assert re.match(r"The input token count.* exceeds the maximum number", error["message"])


@pytest.mark.parametrize("back", REFUSALS)
async def test_clients_of_responses_recognise_it(back: str) -> None:
    """In a stream by the event that Codex looks for, else by the code of the error."""
    answer, asked = await refused("openai-responses", back, streams=False)
    error = answer.json["error"]
    assert (answer.status, error["code"], asked) == (400, "context_length_exceeded", 1)
    assert error["param"] == "input"
    answer, asked = await refused("openai-responses", back, streams=True)
    assert (answer.status, asked) == (200, 1)
    assert answer.headers["content-type"] == "text/event-stream"
    *_, last = answer.body.decode().strip().split("\n\n")
    name, _, data = last.partition("\n")
    response = json.loads(data.removeprefix("data: "))["response"]
    assert (name, response["status"]) == ("event: response.failed", "failed")
    assert response["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize("front", FRONTS)
async def test_one_inside_of_a_stream_is_the_same(front: str) -> None:
    """OpenAI's Responses fail so, after the stream has begun: no breaker counts it."""
    failed = {
        "code": "context_length_exceeded",
        "message": "Your input exceeds the context window.",
    }
    event = {"type": "response.failed", "response": {"status": "failed", "error": failed}}
    data = b"event: response.failed\ndata: %b\n\n" % json.dumps(event).encode()
    upstream = Upstream(Play.stream("openai-responses", data))
    faulty = Faulty(upstream, BACKS["openai-responses"])
    answer = await faulty.ask(front)
    assert len(upstream.bodies) == 1
    assert faulty.told.ends[0].error == "context_overflow"
    assert not faulty.gateway.state.backs.shown()
    await faulty.gateway.close()
    told = answer.body.decode()
    assert re.search(r"prompt is too long|context_length_exceeded|input token count", told)


@pytest.mark.parametrize(
    ("front", "sign"),
    [
        ("anthropic", f'"message":"{CLAUDE}'),
        ("openai-chat", '"code":"context_length_exceeded"'),
        ("openai-responses", '"code":"context_length_exceeded"'),
        ("gemini", "The input token count (130123) exceeds"),
    ],
)
async def test_one_that_comes_after_the_head_of_a_stream_is_its_end(front: str, sign: str) -> None:
    """The head was sent to show signs of life."""
    body = json.dumps(REFUSALS["anthropic"]).encode()
    head = f"HTTP/1.1 400 Bad Request\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"

    async def behave(host: Host) -> None:
        await asyncio.sleep(0.5)
        await host.write(head.encode() + b"content-type: application/json\r\n\r\n" + body)

    async with served(behave, "anthropic", keep=0.05) as (door, _):
        client = await door.connect(front)
        status, told = await client.all()
        await until(lambda: bool(door.told.ends))
    assert status.startswith(b"HTTP/1.1 200")
    assert sign in told.decode()
    assert door.told.ends[0].error == "context_overflow"


async def test_a_fallback_with_a_larger_context_is_asked() -> None:
    refusal = Play.json(json.dumps(REFUSALS["openai-chat"]).encode(), 400)
    reply = Play.stream("anthropic", stream_of(said(Text(text="Yes.")), "anthropic"))
    upstream = Upstream(refusal, reply)
    faulty = Faulty(upstream, BACKS["openai-chat"], BACKS["anthropic"])
    answer = await faulty.ask("openai-chat")
    await faulty.gateway.close()
    assert answer.status == 200
    assert ["openai" in url for url in upstream.urls] == [True, False]


async def test_another_refusal_is_still_asked_in_another_form() -> None:
    refusal = Play.json(json.dumps(chat("Invalid value for something.", None)).encode(), 400)
    upstream = Upstream(refusal)
    faulty = Faulty(upstream, BACKS["openai-chat"])
    answer = await faulty.ask("openai-chat")
    await faulty.gateway.close()
    assert (answer.status, len(upstream.bodies) > 1) == (400, True)
    assert answer.json["error"]["code"] != "context_length_exceeded"


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        (CLAUDE, (130123, 128000)),
        (OPENAI, (130123, 128000)),
        (GOOGLE, (130123, 128000)),
        ("request (2009 tokens) exceeds the available context size (512 tokens)", (2009, 512)),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            (537812, 131072),
        ),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            (190000, 200000),
        ),
        (
            (
                "This endpoint's maximum context length is 32768 tokens. However, you requested about"
                " 42832 tokens (42832 of text input)."
            ),
            (42832, 32768),
        ),
        ("Range of input length should be [1, 30720]", (0, 30720)),
        ("Your input exceeds the context window of this model.", (0, 0)),
    ],
)
def test_the_figures_are_those_of_the_provider(text: str, figures: tuple[int, int]) -> None:
    failure = Failure(kind="refused", message=text, status=400, error=chat(text, None))
    assert overflow_of(failure) == Overflow(*figures)


@pytest.mark.parametrize("kind", ["rate_limited", "authentication", "overloaded"])
def test_a_status_that_says_something_else_counts_more(kind: str) -> None:
    assert overflow_of(Failure(kind=kind, message=CLAUDE, error=claude(CLAUDE))) is None


async def test_sdks_raise_it_as_what_it_is() -> None:
    """With the fields that programs look at, over a real connection."""
    upstream = Upstream(Play.json(json.dumps(REFUSALS["gemini"]).encode(), 400))
    faulty = Faulty(upstream, BACKS["gemini"])
    async with on_port(faulty.gateway) as url:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any") as client:
            with pytest.raises(openai.BadRequestError) as chat_raised:
                await client.chat.completions.create(**FRONTS["openai-chat"].whole("m")[1])
        async with anthropic.AsyncAnthropic(base_url=url, api_key="any") as client:
            with pytest.raises(anthropic.BadRequestError, match=CLAUDE):
                await client.messages.create(**FRONTS["anthropic"].whole("m")[1])
    await faulty.gateway.close()
    assert chat_raised.value.code == "context_length_exceeded"
    assert len(upstream.bodies) == 2
