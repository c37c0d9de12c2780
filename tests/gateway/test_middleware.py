"""Middleware of one's own in the gateway, and what becomes of errors nobody has thought of."""

import logging
from typing import Any

import pytest
from msgspec.structs import replace

from canonicall import Reply, Request, Text, ToolMiddleware
from canonicall.gateway.config import Choice, ModelSettings
from gateway_support import UPSTREAM_KEY, World, ask

MODELS = {"fast": ModelSettings(choices=(Choice(target="anthropic:claude-x"),))}
BODY: dict[str, Any] = {"model": "fast", "messages": [{"role": "user", "content": "Hello."}]}
CHAT = "/v1/chat/completions"


class Framed(ToolMiddleware):
    """Says something before the question, and signs the answer."""

    def process_request(self, request: Request) -> Request:
        request.conversation.user("Be brief.")
        return request

    def process_response(self, reply: Reply) -> Reply:
        signed = (*reply.message.blocks, Text(text=" -- signed"))
        return replace(reply, message=replace(reply.message, blocks=signed))


class Broken(ToolMiddleware):
    """Fails, and names a secret doing so."""

    def process_request(self, request: Request) -> Request:
        raise RuntimeError(f"no such thing as {UPSTREAM_KEY}")


@pytest.mark.parametrize("stream", [False, True])
async def test_middleware_sees_requests_and_whole_replies(stream: bool) -> None:
    world = World()
    gateway = world.gateway(MODELS, middleware=[Framed()])
    answer = await ask(gateway, CHAT, {**BODY, "stream": stream})
    assert answer.status == 200
    assert b"-- signed" in answer.body
    assert "Be brief." in str(world.of("anthropic").seen[-1].body["messages"])
    await gateway.close()


async def test_with_middleware_nothing_is_forwarded_unseen() -> None:
    world = World()
    gateway = world.gateway(middleware=[Framed()])
    answer = await ask(gateway, CHAT, {**BODY, "model": "openai:gpt-4o"})
    assert "x-canonicall-forwarded" not in answer.headers
    assert "Be brief." in str(world.of("openai").seen[-1].body["messages"])
    await gateway.close()


@pytest.mark.parametrize("stream", [False, True])
async def test_middleware_that_fails_is_an_error_in_the_callers_shape(stream: bool) -> None:
    gateway = World().gateway(MODELS, middleware=[Broken()])
    answer = await ask(gateway, "/v1/messages", {**BODY, "max_tokens": 9, "stream": stream})
    assert answer.status == 500
    assert answer.json["error"]["type"] == "api_error"
    assert UPSTREAM_KEY not in answer.body.decode()
    await gateway.close()


@pytest.mark.parametrize("path", [CHAT, "/v1/models"])
async def test_an_error_nobody_thought_of_is_told_without_its_words(
    path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = World().gateway(MODELS)

    def fails(*_: object) -> None:
        raise RuntimeError(f"a bug that quotes {UPSTREAM_KEY}")

    monkeypatch.setattr(gateway.state.gate, "admit", fails)
    monkeypatch.setattr(gateway.state.gate, "identify", fails)
    with caplog.at_level(logging.ERROR, "canonicall.gateway"):
        answer = await ask(gateway, path, BODY if path == CHAT else None)
    assert answer.status == 500
    request_id = answer.headers["x-canonicall-request-id"]
    assert request_id in answer.json["error"]["message"]
    assert request_id in caplog.text
    assert "in fails" in caplog.text
    assert UPSTREAM_KEY not in caplog.text
    assert UPSTREAM_KEY not in answer.body.decode()
    await gateway.close()
