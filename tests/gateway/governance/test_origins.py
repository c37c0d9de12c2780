"""Web pages that try to use a gateway: foreign hosts, foreign origins, CORS."""

import asyncio
import json
from typing import Any

import pytest

from canonicall.gateway.config import (
    Choice,
    KeySettings,
    ModelSettings,
    ServerSettings,
    Settings,
    exposure,
)
from canonicall.gateway.governance.keys import hash_of
from gateway_support import Answer, World, ask

MODELS = {"fast": ModelSettings(choices=(Choice(target="anthropic:claude-opus-4-6"),))}
SAID = {"model": "fast", "messages": [{"role": "user", "content": "Hello?"}]}
EVERYWHERE = (
    ("POST", "/v1/chat/completions", SAID),
    ("POST", "/v1/responses", {"model": "fast", "input": "Hello?"}),
    ("POST", "/v1/messages", {**SAID, "max_tokens": 9}),
    ("POST", "/v1beta/models/fast:generateContent", {"contents": []}),
    ("GET", "/v1/models", None),
    ("GET", "/healthz", None),
    ("GET", "/metrics", None),
    ("GET", "/canonicall/admin/config", None),
    ("GET", "/nothing/here", None),
)
KEY = "sk-client-0123456789"
KEYS = {"desk": KeySettings(hash=hash_of(KEY))}


def asked(headers: dict[str, str], *, method: str, path: str, body: Any, **settings: Any) -> Answer:
    async def run() -> Answer:
        gateway = World().gateway(MODELS, **settings)
        try:
            return await ask(gateway, path, body, method=method, headers=headers)
        finally:
            await gateway.close()

    return asyncio.run(run())


def chat(headers: dict[str, str], **settings: Any) -> Answer:
    method, path, body = EVERYWHERE[0]
    return asked(headers, method=method, path=path, body=body, **settings)


@pytest.mark.parametrize(("method", "path", "body"), EVERYWHERE)
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8400", "origin": "http://evil.example:8400"},
        {"host": "127.0.0.1:8400", "origin": "https://evil.example"},
        {"host": "localhost:8400", "origin": "null"},
        {"host": "localhost.evil.example"},
        {"host": "[2001:db8::1]:8400"},
    ],
    ids=lambda one: " ".join(one.values()),
)
def test_a_page_cannot_use_a_gateway_without_keys(
    method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    """Also with a body that browsers send without asking first."""
    answer = asked({**headers, "content-type": "text/plain"}, method=method, path=path, body=body)
    assert answer.status == 403
    assert b"server.allowed_" in answer.body
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8400", "localhost", "LOCALHOST:1", "[::1]:8400", "127.0.0.9", "localhost."]
)
def test_programs_on_this_machine_are_answered(host: str) -> None:
    assert chat({"host": host}).status == 200
    assert chat({"host": host, "origin": f"http://{host}"}).status == 200


@pytest.mark.parametrize("host", ["gateway.internal", "A.Team.Example:80"])
def test_names_that_are_allowed_are_answered(host: str) -> None:
    server = ServerSettings(allowed_hosts=("gateway.internal", "*.team.example"))
    assert chat({"host": host, "origin": f"https://{host}"}, server=server).status == 200
    assert chat({"host": "other.example"}, server=server).status == 403


def test_the_address_it_is_bound_to_is_allowed() -> None:
    server = ServerSettings(host="192.0.2.7", open=True, allowed_hosts=("gw",))
    assert chat({"host": "192.0.2.7:8400"}, server=server).status == 200


def test_a_gateway_with_keys_answers_to_every_host() -> None:
    shown = {"authorization": f"Bearer {KEY}", "origin": "https://evil.example"}
    answer = chat({**shown, "host": "gateway.example"}, keys=KEYS)
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("keys", [{}, KEYS])
def test_two_hosts_are_refused(keys: dict[str, KeySettings]) -> None:
    gateway = World().gateway(MODELS, keys=keys)
    sent: list[dict[str, Any]] = []

    async def run() -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": json.dumps(SAID).encode()}

        async def send(message: Any) -> None:
            sent.append(message)

        hosts = [(b"host", b"localhost"), (b"host", b"evil.example")]
        shown = (b"authorization", f"Bearer {KEY}".encode())
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/chat/completions",
            "headers": [*hosts, shown],
            "client": ("127.0.0.1", 1),
        }
        await gateway(scope, receive, send)
        await gateway.close()

    asyncio.run(run())
    assert Answer(sent).status == 400


@pytest.mark.parametrize("host", ["a b", "a,b", "http://a", "user@a", "a:b", "", "[::1"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    assert chat({"host": host}).status == 400


PAGE = "https://app.example.com"
SHARED = ServerSettings(allowed_origins=(PAGE,))


def test_a_page_that_is_named_may_ask_and_read() -> None:
    wanted = {"access-control-request-method": "POST", "access-control-request-headers": "x-a"}
    before = asked(
        {"host": "gw.example", "origin": PAGE, **wanted},
        method="OPTIONS",
        path="/v1/chat/completions",
        body=None,
        server=SHARED,
        keys=KEYS,
    )
    assert before.status == 204
    assert before.headers["access-control-allow-headers"] == "x-a"
    assert before.headers["access-control-allow-origin"] == PAGE
    shown = {"host": "gw.example", "origin": PAGE, "authorization": f"Bearer {KEY}"}
    for headers, status in ((shown, 200), ({**shown, "authorization": "Bearer no"}, 401)):
        answer = chat(headers, server=SHARED, keys=KEYS)
        assert answer.status == status
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert answer.headers["vary"] == "origin"


def test_a_page_that_is_not_named_may_not_read() -> None:
    other = {"host": "gw.example", "origin": "https://other.example"}
    answer = chat({**other, "authorization": f"Bearer {KEY}"}, server=SHARED, keys=KEYS)
    assert "access-control-allow-origin" not in answer.headers
    wanted = {"access-control-request-method": "POST"}
    before = asked(
        {**other, **wanted},
        method="OPTIONS",
        path="/v1/chat/completions",
        body=None,
        server=SHARED,
        keys=KEYS,
    )
    assert before.status != 204


@pytest.mark.parametrize(
    ("server", "is_exposed"),
    [
        ({"host": "127.0.0.1"}, False),
        ({"host": "192.0.2.7"}, True),
        ({"host": "192.0.2.7", "open": True}, True),
        ({"host": "192.0.2.7", "allowed_hosts": ("gw",)}, True),
        ({"host": "192.0.2.7", "open": True, "allowed_hosts": ("gw",)}, False),
    ],
)
def test_other_machines_need_two_settings(server: dict[str, Any], is_exposed: bool) -> None:
    problem = exposure(Settings(server=ServerSettings(**server)))
    assert (problem is not None) == is_exposed
    if problem is not None:
        assert "open: true" in problem.help
        assert "allowed_hosts" in problem.help
