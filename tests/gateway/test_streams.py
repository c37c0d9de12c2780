"""What every client is streamed from every back: the grammar of its format, to the last byte."""

import json
import time
from typing import Any

import pytest

from canonicall.codec import decode_response
from canonicall.events import StreamEnded
from canonicall.gateway.config import RepairSettings
from canonicall.reply import Reply
from canonicall.streams import StreamDecoder
from canonicall.testing import Simulator
from canonicall.testing.faults import Fault
from canonicall.verify import verify_stream
from front_bodies import FORMATS, request_of
from gateway_backs import BACKS, BOTH, MORE, alias, models, thinking_model, thinking_world
from gateway_support import World, ask


def streamed_reply(data: bytes, format: str) -> Reply:
    decoder = StreamDecoder(format)
    decoder.feed(data)
    end = decoder.close()[-1]
    assert isinstance(end, StreamEnded)
    assert end.complete, end.why
    return end.reply


def chunks_of(data: bytes) -> list[dict[str, Any]]:
    lines = [line[6:] for line in data.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


@pytest.mark.parametrize("format", FORMATS)
async def test_streams_of_every_back_follow_the_grammar_and_say_what_whole_replies_say(
    format: str,
) -> None:
    gateway = thinking_world().gateway(models())
    for back in BACKS:
        for question in (BOTH, MORE):
            path, body = request_of(format, alias(back), question, streamed=True)
            streamed = await ask(gateway, path, body)
            assert streamed.status == 200, (back, streamed.body)
            assert not verify_stream(streamed.body, format), back
            path, body = request_of(format, alias(back), question)
            whole = decode_response((await ask(gateway, path, body)).body, format)
            told = streamed_reply(streamed.body, format)
            assert told.finish == whole.finish, back
            assert [one.args for one in told.calls] == [one.args for one in whole.calls], back
            assert told.message.text == whole.message.text, back
    await gateway.close()


async def test_chat_streams_tell_their_cost_only_where_they_are_asked_to() -> None:
    gateway = thinking_world().gateway(models())
    for back in ("anthropic/anthropic", "openai/openai-chat", "vllm/openai-chat"):
        path, body = request_of("openai-chat", alias(back), BOTH, streamed=True)
        told = chunks_of((await ask(gateway, path, body)).body)
        assert not any(chunk.get("usage") for chunk in told), back
        body["stream_options"] = {"include_usage": True}
        told = chunks_of((await ask(gateway, path, body)).body)
        counted = [chunk for chunk in told if chunk.get("usage")]
        assert len(counted) == 1, back
        assert counted[0]["usage"]["completion_tokens"] > 0
    await gateway.close()


@pytest.mark.parametrize("streamed", [False, True])
async def test_replies_of_openais_formats_tell_when_they_were_made(streamed: bool) -> None:
    gateway = thinking_world().gateway(models())
    begun = int(time.time())
    for format, field in (("openai-chat", "created"), ("openai-responses", "created_at")):
        path, body = request_of(format, alias("cohere/cohere"), BOTH, streamed=streamed)
        data = (await ask(gateway, path, body)).body
        bodies = chunks_of(data) if streamed else [json.loads(data)]
        told = [one.get("response", one).get(field) for one in bodies]
        assert {begun <= one <= time.time() for one in told if one is not None} == {True}
        assert told[0] is not None
    await gateway.close()


@pytest.mark.parametrize("version", ["v1", "v1beta"])
async def test_gemini_streams_are_one_json_array_without_alt_sse(version: str) -> None:
    gateway = thinking_world().gateway(models())
    for back in ("anthropic/anthropic", "gemini/gemini"):
        path, body = request_of("gemini", alias(back), BOTH, streamed=True)
        path = path.replace("v1beta", version)
        array = await ask(gateway, path.partition("?")[0], body)
        assert array.headers["content-type"].startswith("application/json")
        chunks = json.loads(array.body)
        events = b"".join(b"data: " + json.dumps(one).encode() + b"\r\n\r\n" for one in chunks)
        calls = streamed_reply(events, "gemini").calls
        assert [call.name for call in calls] == ["get_weather", "local_time"]
    await gateway.close()


async def test_printed_calls_stay_text_where_the_settings_say_so() -> None:
    leaking = World(lambda name: Simulator(name, model=thinking_model, faults=[Fault.LEAKED_CALLS]))
    gateway = leaking.gateway(models(), repair=RepairSettings(recover="off"))
    path, body = request_of("anthropic", alias("ollama/ollama"), BOTH)
    reply = decode_response((await ask(gateway, path, body)).body, "anthropic")
    assert not reply.calls
    assert "to=functions.get_weather" in reply.message.text
    await gateway.close()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("format", FORMATS)
async def test_calls_that_a_model_prints_as_text_are_calls_for_every_client(
    format: str, streamed: bool
) -> None:
    leaking = World(
        lambda name: Simulator(name, model=thinking_model, faults=[Fault.LEAKED_CALLS] * 20)
    )
    gateway = leaking.gateway(models())
    for back in ("vllm/openai-chat", "vllm/openai-responses", "zai/anthropic", "ollama/ollama"):
        path, body = request_of(format, alias(back), BOTH, streamed=streamed)
        answer = await ask(gateway, path, body)
        if streamed:
            assert not verify_stream(answer.body, format), back
            reply = streamed_reply(answer.body, format)
        else:
            reply = decode_response(answer.body, format)
        assert [one.name for one in reply.calls] == ["get_weather", "local_time"], back
        assert reply.finish == "tool_calls", back
        assert "tool_call>" not in reply.message.text, back
    await gateway.close()
