"""Tokens are counted for every reply: also for streams of clients that ask for no figures."""

import json
from typing import Any

import pytest

from canonicall.blocks import Text
from canonicall.gateway.config import Choice, KeySettings, ModelSettings
from canonicall.gateway.governance.keys import hash_of
from canonicall.gateway.usage import asking_usage, without_usage
from gateway_faults import BACKS, Faulty, Front, Play, Told, Upstream, said, stream_of
from gateway_sockets import HEAD, on_port, served, until
from gateway_sockets import Upstream as Host
from gateway_support import World, ask
from judges.sources import MISSING

openai = pytest.importorskip("openai", reason=MISSING)

KEY = "ck-for-a-test-0123456789"
SAID: list[Any] = [{"role": "user", "content": "Hello. " * 100}]
MODELS = {
    "same": ModelSettings(choices=(Choice(target="openai/openai-chat:gpt-5"),)),
    "other": ModelSettings(choices=(Choice(target="anthropic:claude-opus-4-6"),)),
}
CHAT = Front("openai-chat", "/v1/chat/completions", {"messages": SAID})
CHUNK = b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":'
HELLO = b'[{"index":0,"delta":{"role":"assistant","content":"Hello \\"usage\\":null."}'
PLAIN = (
    CHUNK + HELLO + b',"finish_reason":null}]}\n\n',
    CHUNK + b'[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)
"""A stream as OpenAI sends it to a client that did not ask for tokens."""
COUNTED = (
    CHUNK + HELLO + b',"finish_reason":null}],"usage":null}\n\n',
    CHUNK + b'[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n',
    CHUNK + b'[],"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107}}\n\n',
    b"data: [DONE]\n\n",
)
"""The same to one that did."""


@pytest.mark.parametrize("model", MODELS)
async def test_a_token_limit_stops_plain_streams_as_it_stops_whole_replies(model: str) -> None:
    """With the official SDK, which asks for no figures."""
    passed = []
    for streams in (False, True):
        limited = {"team": KeySettings(hash=hash_of(KEY), tokens_per_minute=300)}
        gateway = World().gateway(MODELS, keys=limited)
        async with (
            on_port(gateway) as url,
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
        ):
            passed.append(await _until_limited(client, model, streams=streams))
        await gateway.close()
    assert passed[0] == passed[1] < 8


async def _until_limited(client: Any, model: str, *, streams: bool) -> int:
    """How many of eight requests are served."""
    for at in range(8):
        try:
            made = await client.chat.completions.create(model=model, messages=SAID, stream=streams)
        except openai.RateLimitError:
            return at
        if streams:
            async for chunk in made:
                assert chunk.usage is None
                assert chunk.choices
    return 8


@pytest.mark.parametrize("pieces", [COUNTED, (b"".join(COUNTED),)])
async def test_figures_are_kept_from_a_client_that_did_not_ask(pieces: tuple[bytes, ...]) -> None:
    upstream = Upstream(Play.stream("openai-chat", *pieces))
    faulty = Faulty(upstream, BACKS["openai-chat"])
    answer = await faulty.ask(CHAT)
    report = await faulty.report(answer)
    await faulty.gateway.close()
    assert json.loads(upstream.bodies[0])["stream_options"] == {"include_usage": True}
    assert answer.body == b"".join(PLAIN)
    usage = faulty.told.ends[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (100, 7)
    assert report["tokens"] == {"input_tokens": 100, "output_tokens": 7}


async def test_a_client_that_asks_gets_the_bytes_as_they_are() -> None:
    upstream = Upstream(Play.stream("openai-chat", *COUNTED))
    faulty = Faulty(upstream, BACKS["openai-chat"])
    asking = Front(CHAT.format, CHAT.path, {**CHAT.body, "stream_options": {"include_usage": True}})
    answer = await faulty.ask(asking)
    await faulty.gateway.close()
    assert answer.body == b"".join(COUNTED)


async def test_a_host_that_refuses_the_question_is_asked_without_it() -> None:
    """From then on at once; the tokens are estimated, which the log and the report say."""

    def host(url: str, body: bytes) -> Play:
        del url
        if b"stream_options" in body:
            return Play.json(b'{"error":{"message":"Unknown parameter: stream_options."}}', 400)
        return Play.stream("openai-chat", *PLAIN)

    upstream = Upstream(host)
    faulty = Faulty(upstream, BACKS["openai-chat"])
    for _ in range(2):
        answer = await faulty.ask(CHAT)
        assert answer.body == b"".join(PLAIN)
    report = await faulty.report(answer)
    count = await ask(faulty.gateway, "/v1/responses/input_tokens", {"model": "m", "input": SAID})
    await faulty.gateway.close()
    assert ["stream_options" in body.decode() for body in upstream.bodies] == [True, False, False]
    first, second = faulty.told.ends
    assert first.usage == second.usage is not None
    assert (first.is_estimated, first.is_forwarded) == (True, True)
    assert report["tokens"] == {
        "input_tokens": second.usage.input_tokens,
        "output_tokens": 5,
        "estimated": True,
    }
    assert abs(count.json["input_tokens"] - second.usage.input_tokens) < 20


@pytest.mark.parametrize("streams", [False, True])
async def test_any_reply_without_figures_is_estimated(streams: bool) -> None:
    """Forwarded or translated, whole or streamed."""
    message = {"role": "assistant", "content": "Hello to all of you."}
    whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-5"}
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]  # type: ignore[assignment]
    play = Play.stream("openai-chat", *PLAIN) if streams else Play.json(json.dumps(whole).encode())
    faulty = Faulty(Upstream(play), BACKS["openai-chat"])
    body = {"model": "m", "messages": SAID, "max_tokens": 100, "stream": streams}
    for path in ("/v1/chat/completions", "/v1/messages"):
        await ask(faulty.gateway, path, body)
    await faulty.gateway.close()
    for end in faulty.told.ends:
        assert end.status == 200
        assert end.is_estimated
        assert end.usage is not None
        assert (end.usage.input_tokens > 150, end.usage.output_tokens > 3) == (True, True)


@pytest.mark.parametrize("back", ["openai-chat", "anthropic"])
async def test_a_client_that_leaves_a_stream_has_used_tokens(back: str) -> None:
    async def behave(host: Host) -> None:
        events = stream_of(said(Text(text="word " * 400)), back).split(b"\n\n")
        begin = [one for one in events if b"word" in one or b"_start" in one]
        await host.write(HEAD + b"\n\n".join(begin) + b"\n\n")
        await host.gone.wait()

    async with served(behave, back) as (door, _):
        client = await door.connect("openai-chat")
        await client.until(b"word")
        client.leave()
        await until(lambda: bool(door.told.ends))
        (end,) = door.told.ends
    assert (end.status, end.is_estimated) == (499, True)
    assert end.usage is not None
    assert end.usage.output_tokens >= 400


async def test_a_request_that_nobody_answered_has_used_none() -> None:
    told = Told()
    refusal = Play.json(b'{"error":{"message":"No."}}', 401)
    faulty = Faulty(Upstream(refusal), BACKS["openai-chat"], watchers=(told,))
    await faulty.ask(CHAT)
    await faulty.gateway.close()
    assert told.ends[0].usage is None


def test_the_question_changes_nothing_else() -> None:
    data = b' {"model": "m",  "stream": true}'
    body = json.loads(data)
    asking, sent = asking_usage(data, body)
    assert asking == b' {"stream_options":{"include_usage":true},"model": "m",  "stream": true}'
    assert json.loads(asking) == sent
    body["stream_options"] = {"include_obfuscation": False}
    asking, sent = asking_usage(json.dumps(body).encode(), body)
    assert json.loads(asking) == sent
    assert sent["stream_options"] == {"include_obfuscation": False, "include_usage": True}


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"choices":[],"prompt_filter_results":[]}\n\n',
        b'data: {"choices":[{"index":0}],"usage":{"total_tokens":9}}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\"usage\\":null"}}]}\r\n\r\n',
        b": a comment\n\n",
    ],
)
def test_other_events_stay_as_they_are(event: bytes) -> None:
    assert without_usage(event) == event
