"""A disk that is full: nothing is acknowledged that was not written, and operators see why."""

import asyncio
import json
import stat
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from canonicall import verify_stream
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, LogSettings, ModelSettings, StoreSettings
from canonicall.store.engine import StoreError
from gateway_support import Answer, World, ask

MODELS = {
    "own": ModelSettings(choices=(Choice(target="openai/openai-responses:gpt-5"),)),
    "other": ModelSettings(choices=(Choice(target="gemini:gemini-2.5-pro"),)),
    "claude": ModelSettings(choices=(Choice(target="anthropic:claude-opus-4-6"),)),
}
LONG = "A long question. " * 2000


@asynccontextmanager
async def gateway_at(folder: Path) -> AsyncGenerator[Gateway, None]:
    gateway = World().gateway(MODELS, store=StoreSettings(path=str(folder / "new" / "gateway.db")))
    try:
        yield gateway
    finally:
        await gateway.close()


async def fill(gateway: Gateway) -> None:
    """Let SQLite say what it says on a full disk."""
    await gateway.keeping.database.read("PRAGMA max_page_count=1")


async def make_room(gateway: Gateway) -> None:
    await gateway.keeping.database.read("PRAGMA max_page_count=1000000")


def run(folder: Path, test: Callable[[Gateway], Awaitable[None]]) -> None:
    async def held() -> None:
        async with gateway_at(folder) as gateway:
            await test(gateway)

    asyncio.run(held())


def response_of(answer: Answer) -> Any:
    """The response in a reply, whole or streamed."""
    if not answer.body.startswith(b"event:"):
        return answer.json
    frames = [one for one in answer.body.decode().split("\n\n") if "response.completed" in one]
    return json.loads(frames[-1].partition("data: ")[2])["response"]


@pytest.mark.parametrize("model", ["own", "other"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_response_that_is_not_stored_says_so(tmp_path: Path, model: str, stream: bool) -> None:
    async def test(gateway: Gateway) -> None:
        body = {"model": model, "input": LONG, "stream": stream}
        stored = await ask(gateway, "/v1/responses", body)
        assert response_of(stored)["store"] is True
        await fill(gateway)
        lost = await ask(gateway, "/v1/responses", body)
        assert lost.status == 200
        shown = response_of(lost)
        assert shown["store"] is False
        if not stream:
            assert "reply_not_stored=1" in lost.headers["x-canonicall-changes"]
        report = await gateway.keeping.report(lost.headers["x-canonicall-request-id"])
        assert report is not None
        assert "reply_not_stored" in [one["code"] for one in report["response"]]
        again = {"model": model, "input": "And?", "previous_response_id": shown["id"]}
        if model == "other":
            # OpenAI may have stored what it answered itself.
            assert (await ask(gateway, "/v1/responses", again)).status == 400
        await make_room(gateway)
        kept = await ask(gateway, "/v1/responses", body)
        assert response_of(kept)["store"] is True
        again["previous_response_id"] = response_of(kept)["id"]
        assert (await ask(gateway, "/v1/responses", again)).status == 200

    run(tmp_path, test)


@pytest.mark.parametrize("model", ["claude", "other"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_thread_that_cannot_go_on_is_an_error(tmp_path: Path, model: str, stream: bool) -> None:
    async def test(gateway: Gateway) -> None:
        await fill(gateway)
        body = {
            "model": model,
            "max_tokens": 99,
            "stream": stream,
            "thread": {"type": "create"},
            "messages": [{"role": "user", "content": LONG}],
        }
        answer = await ask(gateway, "/v1/messages", body)
        if not stream:
            assert (answer.status, answer.json["error"]["type"]) == (500, "api_error")
        else:
            assert verify_stream(answer.body, "anthropic").findings == ()
        assert b"could not be stored" in answer.body
        assert b"message_stop" not in answer.body
        assert b"gateway.db" not in answer.body

    run(tmp_path, test)


@pytest.mark.parametrize("model", ["own", "other"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_that_cannot_grow_is_an_error(
    tmp_path: Path, model: str, stream: bool
) -> None:
    async def test(gateway: Gateway) -> None:
        made = await ask(gateway, "/v1/conversations", {})
        await fill(gateway)
        body = {
            "model": model,
            "input": LONG,
            "conversation": made.json["id"],
            "stream": stream,
        }
        answer = await ask(gateway, "/v1/responses", body)
        if not stream:
            assert (answer.status, answer.json["error"]["type"]) == (500, "server_error")
        else:
            assert verify_stream(answer.body, "openai-responses").findings == ()
            assert b"could not be stored" in answer.body
            assert b"event: response.completed" not in answer.body

    run(tmp_path, test)


def test_the_gateway_is_not_ready_until_it_can_write_again(tmp_path: Path) -> None:
    async def test(gateway: Gateway) -> None:
        assert (await ask(gateway, "/readyz")).status == 200
        await fill(gateway)
        await ask(gateway, "/v1/responses", {"model": "other", "input": LONG})
        answer = await ask(gateway, "/readyz")
        assert answer.status == 503
        assert answer.json["why"] == ["the store cannot be written: database or disk is full"]
        await make_room(gateway)
        assert (await ask(gateway, "/readyz")).status == 200

    run(tmp_path, test)


def test_what_is_stored_is_for_its_user_alone(tmp_path: Path) -> None:
    async def test(gateway: Gateway) -> None:
        await ask(gateway, "/v1/responses", {"model": "other", "input": "Hello?"})
        folder = tmp_path / "new"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()}
        assert set(modes) >= {"gateway.db", "gateway.db-wal"}
        assert set(modes.values()) == {0o600}

    run(tmp_path, test)


def test_a_log_is_for_its_user_alone(tmp_path: Path) -> None:
    async def write() -> None:
        log = LogSettings(file=str(tmp_path / "requests.log"))
        gateway = World().gateway(MODELS, log=log, is_observed=True)
        await ask(gateway, "/v1/responses", {"model": "other", "input": "Hello?"})
        await gateway.close()

    asyncio.run(write())
    assert stat.S_IMODE((tmp_path / "requests.log").stat().st_mode) == 0o600


def broken(gateway: Gateway, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every read and write fail."""

    async def fail(*_: Any) -> Any:
        raise StoreError(f"{path}: disk I/O error")

    for name in ("read", "do", "ask"):
        monkeypatch.setattr(gateway.keeping.database, name, fail)


def test_a_store_that_cannot_be_used_is_told_at_every_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the error of the front, without the place of the store."""

    async def test(gateway: Gateway) -> None:
        conversation = (await ask(gateway, "/v1/conversations", {})).json["id"]
        responses = [
            await ask(gateway, "/v1/responses", {"model": model, "input": "Hi"})
            for model in ("own", "other")
        ]
        thread = {"type": "create"}
        message = {"role": "user", "content": "Hi"}
        turn = {"model": "claude", "max_tokens": 99, "messages": [message], "thread": thread}
        first = await ask(gateway, "/v1/messages", turn)
        broken(gateway, str(tmp_path / "gateway.db"), monkeypatch)
        last = {"type": "continue", "previous_message_id": first.json["id"]}
        id = responses[0].json["id"]
        items = f"/v1/conversations/{conversation}/items"
        asked: list[tuple[str, Any, str]] = [
            ("/v1/conversations", {}, ""),
            (f"/v1/conversations/{conversation}", None, "GET"),
            (f"/v1/conversations/{conversation}", None, "DELETE"),
            (items, None, "GET"),
            (items, {"items": [message]}, ""),
            (f"/v1/responses/{id}", None, "GET"),
            (f"/v1/responses/{id}", None, "DELETE"),
            ("/v1/responses/input_tokens", _after(id, "own"), ""),
            ("/v1/messages", turn | {"thread": last}, ""),
            ("/v1/messages", turn | {"thread": last, "stream": True}, ""),
        ]
        for model in ("own", "other"):
            for stream in (False, True):
                body = {"model": model, "input": "And?", "stream": stream}
                asked.append(("/v1/responses", body | {"conversation": conversation}, ""))
                asked.append(("/v1/responses", body | {"previous_response_id": id}, ""))
        for path, body, method in asked:
            answer = await ask(gateway, path, body, method=method)
            where = (path, method, body, answer.body)
            assert answer.status == 500, where
            assert "store" in answer.json["error"]["message"], where
            assert b"gateway.db" not in answer.body, where

    run(tmp_path, test)


def _after(id: str, model: str) -> dict[str, Any]:
    return {"model": model, "input": "And?", "previous_response_id": id}
