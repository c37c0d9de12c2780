"""What is logged of a request is what happened: bodies, changes, and how it ended."""

import json
from pathlib import Path
from typing import Any

import pytest

from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, LogSettings, ModelSettings
from gateway_faults import BACKS, FRONTS, FULL, Faulty, Play, Upstream, stream_of
from gateway_sockets import HEAD, served, until
from gateway_sockets import Upstream as Host
from gateway_support import World, ask
from judges.sources import MISSING

anthropic = pytest.importorskip("anthropic", reason=MISSING)
openai = pytest.importorskip("openai", reason=MISSING)

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz"
SAID: list[Any] = [{"role": "user", "content": f"My key is {KEY}."}]
MODELS = {
    "same": ModelSettings(choices=(Choice(target="openai/openai-chat:gpt-5"),)),
    "other": ModelSettings(choices=(Choice(target="anthropic:claude-opus-4-6"),)),
}
ORPHAN = {"role": "tool", "tool_call_id": "call_0", "content": "15 degrees"}


def logging_gateway(file: Path, world: World | None = None, **options: Any) -> Gateway:
    """A gateway that logs bodies to a file."""
    log = LogSettings(file=str(file), bodies=True)
    return (world or World()).gateway(MODELS, log=log, is_observed=True, **options)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("model", MODELS)
async def test_bodies_are_logged_without_keys(model: str, tmp_path: Path) -> None:
    """Whole replies and streams, forwarded and translated; a stream as the client got it."""
    file = tmp_path / "log"
    gateway = logging_gateway(file)
    body = {"model": model, "messages": SAID}
    whole = await ask(gateway, "/v1/chat/completions", body)
    streamed = await ask(gateway, "/v1/chat/completions", {**body, "stream": True})
    await gateway.close()
    first, second = lines(file)
    assert first["request"]["messages"][0]["content"].startswith("My key is ")
    assert first["response"]["id"] == whole.json["id"]
    assert first["response"]["choices"][0]["finish_reason"] == "stop"
    events = streamed.body.decode().strip().split("\n\n")
    assert len(second["response"]) == len(events)
    assert second["response"][-1] == "data: [DONE]"
    assert (second["request"]["stream"], second["bytes_out"]) == (True, len(streamed.body))
    assert KEY not in file.read_text()


async def test_errors_and_what_was_mended_are_logged_as_they_came(tmp_path: Path) -> None:
    file = tmp_path / "log"
    gateway = logging_gateway(file)
    data = b'{"model": "nothing:there", "messages": [{"role": "user", "content": "\\ud83d"}]}'
    refused = await ask(gateway, "/v1/chat/completions", data)
    await gateway.close()
    (line,) = lines(file)
    assert (line["status"], line["response"]) == (404, refused.json)
    assert line["bytes_in"] == len(data)
    assert "ud83d" in line["request"]


async def test_the_log_of_a_long_stream_is_bounded(tmp_path: Path) -> None:
    """Its first events are written, and how long it was."""
    chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "word " * 40_000}}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = [b"data: %b\n\n" % json.dumps(one).encode() for one in (*[chunk] * 8, end)]
    upstream = Upstream(Play.stream("openai-chat", *events, b"data: [DONE]\n\n"))
    file = tmp_path / "log"
    gateway = logging_gateway(file, transport=upstream)
    body = {"model": "same", "messages": SAID, "stream": True}
    streamed = await ask(gateway, "/v1/chat/completions", body)
    await gateway.close()
    (line,) = lines(file)
    assert len(streamed.body) > 1_500_000
    assert len(line["response"]) < 263_000
    assert line["response"].startswith('[{"choices"')
    assert line["response"].endswith(f"({len(streamed.body)} bytes)")


async def test_no_body_is_kept_where_the_log_wants_none(tmp_path: Path) -> None:
    file = tmp_path / "log"
    log = LogSettings(file=str(file))
    gateway = World().gateway(MODELS, log=log, is_observed=True)
    await ask(gateway, "/v1/chat/completions", {"model": "same", "messages": SAID})
    await gateway.close()
    assert not {"request", "response"} & set(lines(file)[0])


def ends_late(format: str) -> Any:
    """A host that sends a whole stream, and closes the connection when the gateway does."""

    async def behave(host: Host) -> None:
        await host.write(HEAD + stream_of(FULL, format))
        await host.gone.wait()

    return behave


async def read_chat(url: str) -> str:
    asked = FRONTS["openai-chat"].streamed("m")[1]
    text = ""
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        async for chunk in await client.chat.completions.create(**asked):
            text += chunk.choices[0].delta.content or "" if chunk.choices else ""
    return text


async def read_messages(url: str) -> str:
    asked = FRONTS["anthropic"].whole("m")[1]
    text = ""
    async with (
        anthropic.AsyncAnthropic(base_url=url, api_key="any", max_retries=0) as client,
        client.messages.stream(**asked) as stream,
    ):
        async for event in stream:
            if event.type == "text":
                text += event.text
            elif event.type == "message_stop":
                break
    return text


@pytest.mark.parametrize("back", ["openai-chat", "anthropic"])
@pytest.mark.parametrize("read", [read_chat, read_messages])
async def test_a_stream_that_was_read_to_its_end_is_no_499(read: Any, back: str) -> None:
    """The SDKs close the connection at the last event, while the provider's is still open."""
    async with served(ends_late(back), back) as (door, host):
        assert "both" in await read(door.url)
        await until(lambda: host.gone.is_set() and bool(door.told.ends))
        end = door.told.ends[0]
        assert (end.status, end.is_complete) == (200, True)
        assert end.usage is not None
        assert end.usage.output_tokens > 0


async def test_a_client_that_leaves_before_the_end_is_a_499() -> None:
    async def behave(host: Host) -> None:
        *events, _ = stream_of(FULL, "openai-chat").split(b"\n\n")
        await host.write(HEAD + b"\n\n".join(events[:4]) + b"\n\n")
        await host.gone.wait()

    async with served(behave) as (door, host):
        client = await door.connect("openai-chat")
        await client.until(b"data:")
        client.leave()
        await until(lambda: host.gone.is_set() and bool(door.told.ends))
        assert (door.told.ends[0].status, door.told.ends[0].is_complete) == (499, False)


@pytest.mark.parametrize("streams", [False, True])
async def test_errors_say_what_was_changed_in_the_request(streams: bool) -> None:
    """The provider refuses the request after the gateway has changed it."""
    refusal = Play.json(b'{"error": {"message": "Something else is wrong."}}', 400)
    faulty = Faulty(Upstream(refusal), BACKS["anthropic"])
    body = {"model": "m", "messages": [*SAID, ORPHAN], "stream": streams}
    answer = await ask(faulty.gateway, "/v1/chat/completions", body)
    report = await faulty.report(answer)
    changes = answer.headers["x-canonicall-changes"]
    await faulty.gateway.close()
    assert answer.status == 400
    assert "orphan_result=1" in changes
    assert any(one["code"] == "orphan_result" for one in report["request"])


async def test_errors_before_a_target_is_known_say_what_was_mended() -> None:
    gateway = World().gateway(MODELS)
    data = b'{"model": "nothing:there", "messages": [{"role": "user", "content": "\\ud83d"}]}'
    mended = await ask(gateway, "/v1/chat/completions", data)
    plain = await ask(gateway, "/v1/chat/completions", {"model": "nothing:there", "messages": []})
    await gateway.close()
    assert (mended.status, plain.status) == (404, 404)
    assert mended.headers["x-canonicall-changes"].endswith("=1")
    assert plain.headers["x-canonicall-changes"] == "none"
