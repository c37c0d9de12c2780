"""A model that is silent: signs of life reach the client, and its SDK reads the stream all the same;
an error behind the first sign is told inside the stream."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors

from canonicall import verify_stream
from canonicall.blocks import Text
from gateway.test_faults_cut import ended
from gateway_faults import CLIENT_KEY, FRONTS, UPSTREAM_KEY, assert_no_key, said, stream_of
from gateway_sockets import HEAD, Upstream, served, until

SIGNS = 0.03
"""Seconds without anything, after which a sign is sent."""
SIGN = {
    "openai-chat": b": keep-alive",
    "openai-responses": b": keep-alive",
    "anthropic": b"event: ping",
    "gemini": b"\n",
}
WORDS = "Sunny"
ARRAY = "/v1beta/models/m:streamGenerateContent"


def slow(back: str) -> Callable[[Upstream], Awaitable[None]]:
    """Silent before the first byte and behind the words, until the client has seen enough."""
    data = stream_of(said(Text(text=WORDS)), back)
    at = data.index(b"\n\n", data.index(WORDS.encode())) + 2

    async def behave(upstream: Upstream) -> None:
        await upstream.may_go_on.acquire()
        await upstream.write(HEAD + data[:at])
        await upstream.may_go_on.acquire()
        await upstream.write(data[at:])

    return behave


async def after_a_while(upstream: Upstream) -> None:
    """Let the upstream go on when several signs were due."""
    for _ in range(2):
        await asyncio.sleep(5 * SIGNS)
        upstream.may_go_on.release()


async def refuses(upstream: Upstream) -> None:
    await upstream.may_go_on.acquire()
    body = json.dumps({"error": {"message": f"No such tool, {UPSTREAM_KEY}."}}).encode()
    head = f"HTTP/1.1 400 Bad Request\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    await upstream.write(head.encode() + body)


BACK_OF = {"openai-chat": "anthropic", "anthropic": "openai-chat"}


@pytest.mark.parametrize("is_same", [True, False], ids=["forwarded", "translated"])
@pytest.mark.parametrize("front", FRONTS)
async def test_signs_of_life_before_the_first_byte_and_between(front: str, is_same: bool) -> None:
    back = front if is_same else BACK_OF.get(front, "anthropic")
    async with served(slow(back), back, keep=SIGNS) as (door, upstream):
        # An empty line ends an event of Gemini; a second one is a sign.
        sign = b"\n\n\r\n1\r\n\n" if front == "gemini" else SIGN[front]
        client = await door.connect(front)
        await client.until(SIGN[front])
        upstream.may_go_on.release()
        await client.until(sign, after=WORDS.encode())
        upstream.may_go_on.release()
        head, body = await client.all()
    assert b" 200 " in head
    assert not list(verify_stream(body, front))
    end = ended(front, body)
    assert (end.complete, end.reply.message.text) == (True, WORDS)
    assert_no_key(head, body)


@pytest.mark.parametrize("back", ["gemini", "anthropic"], ids=["forwarded", "translated"])
async def test_signs_of_life_in_a_json_array(back: str) -> None:
    async with served(slow(back), back, keep=SIGNS) as (door, upstream):
        client = await door.send(ARRAY, FRONTS["gemini"].body)
        await client.until(b"1\r\n\n")
        upstream.may_go_on.release()
        await client.until(b"1\r\n\n", after=WORDS.encode())
        upstream.may_go_on.release()
        _, body = await client.all()
    parts = [one["candidates"][0]["content"]["parts"][0] for one in json.loads(body)]
    assert "".join(part["text"] for part in parts) == WORDS


async def streamed(front: str, url: str) -> str:
    """The words that the SDK of a front reads."""
    match front:
        case "openai-chat" | "openai-responses":
            return await _by_openai(front, url)
        case "anthropic":
            client = anthropic.AsyncAnthropic(base_url=url, api_key=CLIENT_KEY, max_retries=0)
            asked: Any = FRONTS[front].body
            async with client, client.messages.stream(model="m", **asked) as stream:
                return await stream.get_final_text()
        case _:
            return await asyncio.to_thread(_by_google, url)


def _by_google(url: str) -> str:
    options: Any = {"base_url": url}
    with genai.Client(api_key=CLIENT_KEY, http_options=options) as client:
        chunks = client.models.generate_content_stream(model="m", contents="The weather?")
        return "".join(chunk.text or "" for chunk in chunks)


async def _by_openai(front: str, url: str) -> str:
    text = ""
    asked: Any = FRONTS[front].body
    async with openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key=CLIENT_KEY, max_retries=0
    ) as client:
        if front == "openai-chat":
            async for chunk in await client.chat.completions.create(
                model="m", stream=True, **asked
            ):
                text += "".join(one.delta.content or "" for one in chunk.choices)
            return text
        async for event in await client.responses.create(model="m", stream=True, **asked):
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type == "response.failed":
                assert event.response.error is not None
                raise openai.OpenAIError(event.response.error.message)
    return text


@pytest.mark.parametrize("front", FRONTS)
async def test_the_sdk_reads_the_stream_with_its_signs(front: str) -> None:
    back = BACK_OF.get(front, "anthropic")
    async with served(slow(back), back, keep=SIGNS) as (door, upstream):
        words, _ = await asyncio.gather(streamed(front, door.url), after_a_while(upstream))
    assert words == WORDS


@pytest.mark.parametrize("front", FRONTS)
async def test_an_error_behind_the_first_sign_is_raised_by_the_sdk(front: str) -> None:
    async with served(refuses, BACK_OF.get(front, "anthropic"), keep=SIGNS) as (door, upstream):
        letting_go = asyncio.ensure_future(after_a_while(upstream))
        with pytest.raises(
            (openai.OpenAIError, anthropic.AnthropicError, errors.APIError), match="No such tool"
        ) as caught:
            await streamed(front, door.url)
        await letting_go
        assert_no_key(str(caught.value))
        await until(lambda: bool(door.told.ends))
        (end,) = door.told.ends
        assert (end.status, end.error) == (400, "refused")
