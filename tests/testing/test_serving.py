"""Simulators over HTTP: as an ASGI application, on a port, and from the pytest fixture."""

import asyncio
import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import canonicall
from canonicall.testing.asgi import ConnectionCut, SimulatorApp
from canonicall.testing.server import ServerMissing, serve
from canonicall.testing.simulator import Simulator
from testing.asking import CHAT

HELLO = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}


def scope(path, *, method="POST"):
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"authorization", b"Bearer any")],
    }


def sent_by(app, path, body, *, leaves_after=None):
    """What an application sends; a client that leaves does so behind some messages."""
    pieces = [json.dumps(body).encode()[:10], json.dumps(body).encode()[10:]]
    sent = []

    async def receive():
        if pieces:
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}
        if leaves_after is None:
            await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope(path), receive, send))
    return sent


def test_a_request_in_pieces_is_answered_in_pieces():
    first, *pieces, last = sent_by(SimulatorApp(Simulator("openai")), CHAT, HELLO)
    assert first["status"] == 200
    assert (b"content-type", b"application/json") in first["headers"]
    assert b"You said: Hi" in b"".join(piece["body"] for piece in pieces)
    assert last == {"type": "http.response.body", "body": b"", "more_body": False}


def test_several_simulators_stand_under_their_names():
    app = SimulatorApp({"a": Simulator("openai"), "b": Simulator("anthropic")})
    assert sent_by(app, f"/a{CHAT}", HELLO)[0]["status"] == 200
    assert sent_by(app, f"/b{CHAT}", HELLO)[0]["status"] == 404
    lost = sent_by(app, f"/c{CHAT}", HELLO)
    assert lost[0]["status"] == 404
    assert b"There are: a, b." in lost[1]["body"]


def test_every_request_can_be_watched():
    seen = []
    app = SimulatorApp(
        Simulator("openai"),
        watch=lambda request, response: seen.append((request.path, response.status)),
    )
    sent_by(app, CHAT, HELLO)
    sent_by(app, "/nowhere", {})
    assert seen == [(CHAT, 200), ("/nowhere", 404)]


def test_a_cut_connection_is_left_to_the_server():
    app = SimulatorApp(Simulator("openai", faults=["cut_stream"]))
    with pytest.raises(ConnectionCut):
        sent_by(app, CHAT, {**HELLO, "stream": True})


def test_a_stalled_stream_ends_when_its_client_leaves():
    app = SimulatorApp(Simulator("openai", faults=["stalled_stream"]))
    sent = sent_by(app, CHAT, {**HELLO, "stream": True}, leaves_after=2)
    assert all(message.get("more_body", True) for message in sent)


def test_the_lifespan_of_an_application_is_confirmed():
    asked = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    sent = []

    async def receive():
        return next(asked)

    async def send(message):
        sent.append(message["type"])

    asyncio.run(SimulatorApp(Simulator("openai"))({"type": "lifespan"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def post(url, body, path=CHAT):
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    try:
        connection.request("POST", path, json.dumps(body), {"authorization": "Bearer any"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_port_is_open_for_the_length_of_the_block():
    with serve(Simulator("openai")) as server:
        assert post(server.url, HELLO)[0] == 200
        assert [one.status for one in server.simulators.seen] == [200]
        url = server.url
    with pytest.raises(ConnectionError):
        post(url, HELLO)


def test_a_cut_stream_is_an_incomplete_read():
    with (
        serve(Simulator("openai", faults=["cut_stream"])) as server,
        pytest.raises(http.client.IncompleteRead),
    ):
        post(server.url, {**HELLO, "stream": True})


def test_a_slow_stream_comes_to_its_end():
    with serve(Simulator("openai", faults=["slow_stream"])) as server:
        assert post(server.url, {**HELLO, "stream": True})[1].endswith(b"data: [DONE]\n\n")


def test_without_uvicorn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ServerMissing, match=r"canonicall\[server\]"):
        serve(Simulator("openai")).start()


PROGRAM = """
import http.client, json
from urllib.parse import urlsplit
from canonicall.testing import SimRequest, call, says

def post(url):
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body),
                       {"authorization": "Bearer any"})
    status = connection.getresponse().status
    connection.close()
    return status

def test_the_model_of_the_fixture_calls_tools(simulator):
    look = {"type": "function", "function": {"name": "look", "description": "Looks."}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Look"}], "tools": [look]}
    for options, reason in (({}, "tool_calls"), ({"call_tools": ()}, "stop")):
        server = simulator("openai", **options)
        request = SimRequest.of("POST", "/v1/chat/completions", body, {"authorization": "Bearer x"})
        answer = json.loads(server.simulators.answer(request).data)
        assert answer["choices"][0]["finish_reason"] == reason

def test_two_providers(simulator):
    scripted = simulator("vllm", script=[says(call("look")), "Done."])
    other = simulator("openai", faults=["rate_limited"])
    assert scripted.url != other.url
    assert [post(scripted.url) for _ in range(3)] == [200, 200, 500]
    assert post(other.url) == 429
    assert [one.status for one in scripted.simulators.seen] == [200, 200, 500]
"""


def test_the_fixture_serves_providers_for_one_test(tmp_path):
    """In a suite of its own, as others have it."""
    (tmp_path / "test_it.py").write_text(PROGRAM)
    # Where the package is not installed with its entry points, the plugin is named.
    (tmp_path / "conftest.py").write_text(
        "def pytest_configure(config):\n"
        "    if not config.pluginmanager.has_plugin('canonicall'):\n"
        "        config.pluginmanager.import_plugin('canonicall.testing.pytest_plugin')\n"
    )
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env = {**own, "PYTHONPATH": str(Path(canonicall.__file__).parents[1])}
    done = subprocess.run(
        [*run, tmp_path], capture_output=True, text=True, check=False, cwd=tmp_path, env=env
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
