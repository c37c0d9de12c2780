"""WebSocket at /v1/responses: the events of a stream, many turns on one connection."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from canonicall.gateway import websocket
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import KeySettings, ServerSettings, StoreSettings
from canonicall.gateway.governance.keys import hash_of
from canonicall.gateway.server.connections import Bounds
from canonicall.gateway.server.worker import Serving, _config
from canonicall.testing.server import serve
from gateway_backs import BOTH, MORE, alias, models, thinking_world
from gateway_faults import Told
from gateway_support import World, ask
from sdk_fronts import ResponsesConversing, openai, responses_said

# openai 3.49.0 calls `websockets.sync.client.connect` in a way that websockets 17.1 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")
TOOLS = ResponsesConversing.tools
BACKS = [
    "deepseek/openai-chat",
    "anthropic/anthropic",
    "gemini/gemini",
    "bedrock/bedrock",
    "cohere/cohere",
    "openai/openai-responses",
]
CHAT, CLAUDE = alias(BACKS[0]), alias(BACKS[1])
KEY = "ck-for-a-test-0123456789"
RESULTS = ("sunny, 21 degrees", "12:30")
ENDS = ("response.completed", "response.failed", "response.incomplete", "error")


@pytest.fixture(scope="module")
def world() -> World:
    return thinking_world()


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[Any]:
    with serve(world.gateway(models())) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
        yield client
        client.close()


def turn(connection: Any, **asked: Any) -> list[Any]:
    """The events of one turn."""
    connection.response.create(**asked)
    return to_its_end(connection)


def to_its_end(connection: Any) -> list[Any]:
    events = []
    for event in connection:
        events.append(event)
        if event.type in ENDS:
            return events
    raise AssertionError(events)


def answered(response: Any) -> list[Any]:
    calls = responses_said(response).calls
    return [
        {"type": "function_call_output", "call_id": id, "output": result}
        for (id, _, _), result in zip(calls, RESULTS, strict=False)
    ]


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("back", BACKS)
def test_a_tool_task_of_four_turns(client: Any, back: str, store: bool) -> None:
    asked = {"model": alias(back), "tools": TOOLS, "store": store}
    with client.responses.connect() as connection:
        first = turn(connection, input=BOTH, **asked)
        assert [one.type for one in first][:2] == ["response.created", "response.in_progress"]
        assert [one.sequence_number for one in first] == list(range(len(first)))
        made = first[-1].response
        said = responses_said(made)
        assert [name for _, name, _ in said.calls] == ["get_weather", "local_time"]
        second = turn(connection, input=answered(made), previous_response_id=made.id, **asked)
        assert any(one.type == "response.output_text.delta" for one in second)
        made = second[-1].response
        assert all(result in made.output_text for result in RESULTS)
        # Another provider goes on.
        third = turn(
            connection, input=MORE, previous_response_id=made.id, **{**asked, "model": CLAUDE}
        )
        made = third[-1].response
        assert [args for _, _, args in responses_said(made).calls] == [{"city": "Oslo"}]
        fourth = turn(connection, input=answered(made), previous_response_id=made.id, **asked)
        assert RESULTS[0] in fourth[-1].response.output_text


def test_the_events_are_those_of_a_stream(client: Any) -> None:
    asked: dict[str, Any] = {"model": CHAT, "input": BOTH, "tools": TOOLS}
    with client.responses.create(stream=True, **asked) as stream:
        streamed = [one.type for one in stream]
    with client.responses.connect() as connection:
        assert [one.type for one in turn(connection, **asked)] == streamed


async def test_the_asynchronous_client_is_served(client: Any) -> None:
    own = openai.AsyncOpenAI(base_url=str(client.base_url), api_key="any", max_retries=0)
    async with own, own.responses.connect() as connection:
        await connection.response.create(model=CHAT, input="Hello.")
        async for event in connection:
            if event.type in ENDS:
                break
    assert event.response.output_text == "You said: Hello."


def test_a_response_is_prepared_without_a_model(world: World, client: Any) -> None:
    seen = len(world.of("deepseek").seen)
    with client.responses.connect() as connection:
        for store in (True, False):
            asked = {"model": CHAT, "store": store}
            warm = turn(connection, input=BOTH, generate=False, tools=TOOLS, **asked)
            assert [one.type for one in warm] == [
                "response.created",
                "response.in_progress",
                "response.completed",
            ]
            prepared = warm[-1].response
            assert (prepared.output, prepared.usage.output_tokens) == ([], 0)
            assert len(world.of("deepseek").seen) == seen
            more = turn(
                connection, input=[], previous_response_id=prepared.id, tools=TOOLS, **asked
            )
            assert len(responses_said(more[-1].response).calls) == 2
            seen += 1


def test_lanes_are_named_and_fork(client: Any) -> None:
    asked = {"model": CHAT, "store": False}
    with client.responses.connect() as connection:
        root = turn(connection, input="First.", stream_id="main", **asked)
        assert {one.stream_id for one in root} == {"main"}
        for lane in ("left", "right"):
            connection.response.create(
                input=f"To the {lane}.",
                stream_id=lane,
                previous_response_id=root[-1].response.id,
                **asked,
            )
        ended = {}
        while len(ended) < 2:
            last = to_its_end(connection)[-1]
            ended[last.stream_id] = last.response.output_text
        assert ended == {
            "left": "You said: To the left.",
            "right": "You said: To the right.",
        }


BAD = [
    ("no json", "The body is no JSON"),
    ("[1]", "has to be a JSON object"),
    ('{"type": "response.cancel"}', "'response.cancel' is not known"),
    ('{"type": "response.create", "background": true}', "`background` is not supported"),
    ('{"type": "response.create", "input": "Hi."}', "names no model"),
    ('{"type": "response.create", "model": "none", "input": "Hi."}', "no model is called"),
    ('{"type": "response.create", "stream_id": "a b"}', "must be a non-empty string"),
]


def test_a_bad_message_gets_an_error_and_the_next_one_is_served(client: Any) -> None:
    with client.responses.connect() as connection:
        for text, what in BAD:
            connection.send_raw(text)
            error = connection.recv()
            assert error.type == "error"
            assert what in error.error.message
            assert 400 <= error.status < 500
        connection.send_raw('{"type": "response.processed", "response_id": "resp_1"}')
        assert turn(connection, model=CHAT, input="Hi.")[-1].type == "response.completed"


def test_half_a_character_is_mended_and_reported(client: Any) -> None:
    with client.responses.connect() as connection:
        text = json.dumps({"type": "response.create", "model": CHAT, "input": "cut \ud83d"})
        connection.send_raw(text)
        made = to_its_end(connection)[-1].response
    assert made.output_text.startswith("You said: cut")
    id = made.id.removeprefix("resp_")
    report = client.get(f"{client.base_url}../canonicall/reports/{id}", cast_to=object)
    assert [one["action"] for one in report["request"][:1]] == ["changed"]


def test_steering_is_refused_as_an_event(client: Any) -> None:
    with client.responses.connect() as connection:
        connection.send({"type": "response.steer", "previous_response_id": "r", "input": "Stop."})
        failed = connection.recv()
    assert failed.type == "response.steer.failed"
    assert failed.error.code == "steering_not_supported"
    assert failed.steer.input == "Stop."


def test_an_unknown_response_is_not_continued(client: Any) -> None:
    with client.responses.connect() as connection:
        (error,) = turn(connection, model=CHAT, input="Hi.", previous_response_id="resp_no")
    assert (error.status, error.error.code) == (400, "previous_response_not_found")
    assert error.error.param == "previous_response_id"


def test_what_is_not_stored_belongs_to_its_connection(client: Any) -> None:
    asked = {"model": CHAT, "store": False}
    with client.responses.connect() as connection:
        made = turn(connection, input="Hi.", **asked)[-1].response
        with client.responses.connect() as other:
            (error,) = turn(other, input="And?", previous_response_id=made.id, **asked)
        assert error.error.code == "previous_response_not_found"
        again = turn(connection, input="And?", previous_response_id=made.id, **asked)
        told = [one.response for one in again if hasattr(one, "response")]
        assert {one.previous_response_id for one in told} == {made.id}
        made = told[-1]
        # A continuation that fails gives up what it continued.
        failed = {"input": "And?", "previous_response_id": made.id, "store": False}
        (error,) = turn(connection, model="none", **failed)
        assert error.status == 404
        (error,) = turn(connection, model=CHAT, **failed)
        assert error.error.code == "previous_response_not_found"


def test_named_lanes_are_limited(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "_MOST_LANES", 2)
    asked = {"model": CHAT, "input": "Hi."}
    with client.responses.connect() as connection:
        for lane in ("a", "b", "a", None):
            more = {} if lane is None else {"stream_id": lane}
            assert turn(connection, **asked, **more)[-1].type == "response.completed"
        (error,) = turn(connection, stream_id="c", **asked)
    assert error.error.code == "websocket_stream_limit_reached"
    assert error.stream_id == "c"


def test_an_old_connection_is_ended(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with client.responses.connect() as connection:
        assert turn(connection, model=CHAT, input="Hi.")[-1].type == "response.completed"
        monkeypatch.setattr(websocket, "_LONGEST", 0.0)
        (error,) = turn(connection, model=CHAT, input="Hi.")
        assert (error.status, error.error.code) == (400, "websocket_connection_limit_reached")
        assert list(connection) == []


def keyed(**settings: Any) -> dict[str, KeySettings]:
    return {"team": KeySettings(hash=hash_of(KEY), **settings)}


def test_a_wrong_key_is_refused_at_the_handshake(world: World) -> None:
    from websockets.exceptions import InvalidStatus  # noqa: PLC0415  with the judges

    with serve(world.gateway(models(), keys=keyed())) as server:
        for key, status in (("wrong", 401), (KEY, 0)):
            own = openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)
            if not status:
                with own.responses.connect() as connection:
                    assert turn(connection, model=CHAT, input="Hi.")[-1].response.output_text
                continue
            with pytest.raises(InvalidStatus) as caught, own.responses.connect():
                pass
            assert caught.value.response.status_code == status
            assert b"invalid_api_key" in caught.value.response.body
        own = openai.OpenAI(base_url=f"{server.url}/v2", api_key=KEY, max_retries=0)
        with pytest.raises(InvalidStatus) as caught, own.responses.connect():
            pass
        assert caught.value.response.status_code == 404


def test_limits_and_logs_are_those_of_requests(world: World) -> None:
    told = Told()
    gateway = world.gateway(models(), keys=keyed(requests_per_minute=2), watchers=[told])
    with serve(gateway) as server:
        own = openai.OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0)
        with own.responses.connect() as connection:
            for _ in range(2):
                assert turn(connection, model=CHAT, input="Hi.")[-1].type == "response.completed"
            (error,) = turn(connection, model=CHAT, input="Hi.")
    assert error.status == 429
    assert int(error.error.headers["retry-after"]) > 0
    assert [one.status for one in told.ends] == [200, 200, 429]
    assert told.ends[0].usage is not None
    assert told.ends[0].begun.key == "team"


def test_the_server_takes_websockets(world: World) -> None:
    limits = ServerSettings(max_body_bytes=12345)
    config = _config(world.gateway(), Bounds(limits))
    config.load()
    assert config.ws_protocol_class is not None
    assert config.ws_max_size == 12345


class Socket:
    """A client without a socket."""

    def __init__(self, gateway: Gateway, **scope: Any) -> None:
        self.incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.incoming.put_nowait({"type": "websocket.connect"})
        headers = [(b"authorization", b"Bearer any")]
        own = {"type": "websocket", "path": "/v1/responses", "headers": headers, **scope}
        self.task = asyncio.ensure_future(gateway(own, self.incoming.get, self.sent.put))

    def say(self, **event: Any) -> None:
        text = json.dumps({"type": "response.create", **event})
        self.incoming.put_nowait({"type": "websocket.receive", "text": text})

    async def event(self) -> Any:
        return json.loads((await self.sent.get())["text"])


class Silent:
    """A transport whose provider never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.is_cancelled = asyncio.Event()

    async def post(self, *given: Any, **options: Any) -> Any:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.is_cancelled.set()

    async def close(self) -> None:
        """Nothing is open."""


async def test_a_client_that_goes_away_ends_what_it_asked_for(world: World) -> None:
    transport, told = Silent(), Told()
    gateway = world.gateway(models(), transport=transport, watchers=[told])
    client = Socket(gateway)
    assert (await client.sent.get())["type"] == "websocket.accept"
    client.say(model=CHAT, input="Hi.")
    client.say(model=CHAT, input="Hi.")
    await asyncio.wait_for(transport.asked.wait(), 5)
    client.incoming.put_nowait({"type": "websocket.disconnect", "code": 1001})
    await asyncio.wait_for(client.task, 5)
    assert transport.is_cancelled.is_set()
    assert [one.status for one in told.ends] == [499]
    assert gateway.state.open_requests == 0


class Gated:
    """A transport whose provider answers when the gate is open."""

    def __init__(self, world: World) -> None:
        self._inner = world.transport
        self.asked, self.gate = asyncio.Event(), asyncio.Event()

    async def post(self, *given: Any, **options: Any) -> Any:
        self.asked.set()
        await self.gate.wait()
        return await self._inner.post(*given, **options)

    async def close(self) -> None:
        """Nothing is open."""


def draining_gateway(world: World, **options: Any) -> tuple[Gateway, Serving]:
    gateway = world.gateway(models(), **options)
    gateway.serving = Serving()
    return gateway, gateway.serving


async def test_a_server_that_ends_finishes_what_has_begun(world: World) -> None:
    transport = Gated(world)
    gateway, serving = draining_gateway(world, transport=transport)
    client = Socket(gateway)
    assert (await client.sent.get())["type"] == "websocket.accept"
    assert not serving.no_sockets.is_set()
    for text in ("One.", "Two."):
        client.say(model=CHAT, input=text)
    await asyncio.wait_for(transport.asked.wait(), 5)
    serving.draining.set()
    client.say(model=CHAT, input="Late.")
    error = await client.event()
    assert (error["type"], error["status"]) == ("error", 400)
    assert error["error"]["code"] == "websocket_connection_limit_reached"
    assert "shutting down" in error["error"]["message"]
    transport.gate.set()
    told = [await asyncio.wait_for(client.sent.get(), 5)]
    while told[-1]["type"] == "websocket.send":
        told.append(await asyncio.wait_for(client.sent.get(), 5))
    assert told.pop() == {"type": "websocket.close", "code": 1012}
    events = [json.loads(one["text"]) for one in told]
    ended = [one["response"] for one in events if one["type"] == "response.completed"]
    texts = [one["output"][-1]["content"][0]["text"] for one in ended]
    assert texts == ["You said: One.", "You said: Two."]
    await asyncio.wait_for(client.task, 5)
    assert serving.no_sockets.is_set()
    # What it was given is stored.
    assert (await ask(gateway, f"/v1/responses/{ended[-1]['id']}")).status == 200
    await gateway.close()


async def test_a_connection_without_a_turn_is_closed_at_once(world: World) -> None:
    gateway, serving = draining_gateway(world)
    client = Socket(gateway)
    await client.sent.get()
    serving.draining.set()
    assert await client.sent.get() == {"type": "websocket.close", "code": 1012}
    await asyncio.wait_for(client.task, 5)
    await gateway.close()


async def test_a_client_that_goes_away_meanwhile_ends_its_turn(world: World) -> None:
    transport = Silent()
    gateway, serving = draining_gateway(world, transport=transport)
    client = Socket(gateway)
    await client.sent.get()
    client.say(model=CHAT, input="Hi.")
    await asyncio.wait_for(transport.asked.wait(), 5)
    serving.draining.set()
    client.incoming.put_nowait({"type": "websocket.disconnect", "code": 1001})
    await asyncio.wait_for(client.task, 5)
    assert transport.is_cancelled.is_set()
    await gateway.close()


@pytest.mark.deep
@pytest.mark.parametrize(("drain", "signals"), [(30, 1), (0, 1), (30, 2)])
def test_a_process_that_ends_drains_its_connections(
    tmp_path: Path, drain: int, signals: int
) -> None:
    """The last event comes where there is time for it; the code of the close says to come back. A
    second signal waits for nobody."""
    from websockets.exceptions import ConnectionClosed  # noqa: PLC0415  with the judges
    from websockets.sync.client import connect  # noqa: PLC0415

    program = Path(__file__).with_name("killed_gateway.py")
    process = subprocess.Popen(
        [sys.executable, str(program), str(tmp_path / "store.db"), str(drain)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    try:
        url = json.loads(process.stdout.readline())["text"].replace("http", "ws")
        with connect(f"{url}/v1/responses", max_size=None) as client:
            asked = {"type": "response.create", "model": CLAUDE, "input": "x" * 200_000}
            client.send(json.dumps(asked))
            kinds = [json.loads(client.recv(timeout=30))["type"]]
            for _ in range(signals):
                process.send_signal(signal.SIGTERM)
                time.sleep(0.1)
            with pytest.raises(ConnectionClosed) as caught:
                kinds.extend(json.loads(message)["type"] for message in client)
        if signals == 1:
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 1012
        assert kinds[0] == "response.created"
        assert (kinds[-1] in ENDS) == (drain > 0 and signals == 1)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


async def test_a_long_message_is_refused(world: World) -> None:
    gateway = world.gateway(models(), server=ServerSettings(max_body_bytes=200))
    client = Socket(gateway)
    await client.sent.get()
    client.say(model=CHAT, input="x" * 300)
    error = await client.event()
    assert (error["status"], error["type"]) == (413, "error")
    client.incoming.put_nowait({"type": "websocket.disconnect"})
    await client.task


async def test_a_server_without_responses_to_handshakes_gets_a_close(world: World) -> None:
    client = Socket(world.gateway(models()), path="/v1/messages")
    assert await client.sent.get() == {"type": "websocket.close", "code": 1008}
    await client.task


async def test_an_error_of_a_stream_is_one_object(world: World) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(json.loads(message["text"]))

    async def pieces() -> Any:
        yield b'event: error\ndata: {"type":"error","code":"c","message":"m","param":null,'
        yield b'"sequence_number":3}\n\ndata: [DONE]\n\n'

    await websocket.SocketOutlet(send).pieces(pieces())
    error = {"type": "server_error", "code": "c", "message": "m", "param": None}
    assert sent == [{"type": "error", "sequence_number": 3, "error": error}]


async def test_a_message_to_nobody_is_no_error() -> None:
    async def send(message: Any) -> None:
        raise OSError

    await websocket.SocketOutlet(send).event({"type": "response.created"})


async def test_the_stored_turn_of_a_connection_is_found_over_http(world: World) -> None:
    gateway = world.gateway(models())
    client = Socket(gateway)
    await client.sent.get()
    client.say(model=CHAT, input="Hi.")
    while (event := await client.event())["type"] != "response.completed":
        pass
    client.incoming.put_nowait({"type": "websocket.disconnect"})
    await client.task
    answer = await ask(gateway, f"/v1/responses/{event['response']['id']}")
    assert answer.json["output"] == event["response"]["output"]


async def test_too_many_waiting_turns_are_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "_MOST_WAITING", 2)
    client = Socket(world.gateway(models(), transport=Silent()))
    await client.sent.get()
    for _ in range(3):
        client.say(model=CHAT, input="Hi.")
    error = await client.event()
    assert (error["type"], error["status"]) == ("error", 429)
    client.incoming.put_nowait({"type": "websocket.disconnect"})
    await asyncio.wait_for(client.task, 5)


def test_the_turns_of_a_lane_follow_each_other(client: Any) -> None:
    with client.responses.connect() as connection:
        for text in ("One.", "Two.", "Three."):
            connection.response.create(model=CHAT, input=text)
        turns = [to_its_end(connection) for _ in range(3)]
    assert [one[-1].response.output_text for one in turns] == [
        f"You said: {text}" for text in ("One.", "Two.", "Three.")
    ]
    for one in turns:
        assert [event.sequence_number for event in one] == list(range(len(one)))


def test_another_key_can_neither_continue_nor_compact(world: World) -> None:
    theirs = "ck-of-another-0123456789"
    both = {**keyed(), "other": KeySettings(hash=hash_of(theirs))}
    with ExitStack() as opened, serve(world.gateway(models(), keys=both)) as server:
        own, other = (
            opened.enter_context(
                openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)
            )
            for key in (KEY, theirs)
        )
        with own.responses.connect() as connection:
            made = turn(connection, model=CHAT, input="Hi.")[-1].response
            again = turn(connection, model=CHAT, input="And?", previous_response_id=made.id)
            assert again[-1].type == "response.completed"
        with other.responses.connect() as connection:
            (error,) = turn(connection, model=CHAT, input="And?", previous_response_id=made.id)
        assert error.error.code == "previous_response_not_found"
        with pytest.raises(openai.BadRequestError) as caught:
            other.responses.compact(model=CHAT, previous_response_id=made.id)
        assert caught.value.code == "previous_response_not_found"
        assert own.responses.compact(model=CHAT, previous_response_id=made.id).output


def test_a_page_in_a_browser_needs_a_key(world: World, client: Any) -> None:
    from websockets.exceptions import InvalidStatus  # noqa: PLC0415  with the judges

    page = {"Origin": "http://page.example"}
    with (
        pytest.raises(InvalidStatus) as caught,
        client.responses.connect(extra_headers=page),
    ):
        pass
    assert caught.value.response.status_code == 403
    with serve(world.gateway(models(), keys=keyed())) as server:
        own = openai.OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0)
        with own.responses.connect(extra_headers=page) as connection:
            assert turn(connection, model=CHAT, input="Hi.")[-1].type == "response.completed"


async def test_a_task_goes_on_after_a_restart(world: World, tmp_path: Path) -> None:
    store = StoreSettings(path=str(tmp_path / "store.db"))
    made: dict[str, Any] = {}
    for text, model in ((BOTH, CHAT), ("", CLAUDE), (MORE, CHAT), ("", CLAUDE)):
        gateway = world.gateway(models(), store=store)
        client = Socket(gateway)
        await client.sent.get()
        given = text or answered(openai.types.responses.Response.model_validate(made))
        more = {"previous_response_id": made["id"]} if made else {}
        client.say(model=model, input=given, tools=TOOLS, **more)
        while (event := await client.event())["type"] not in ENDS:
            pass
        made = event["response"]
        client.incoming.put_nowait({"type": "websocket.disconnect"})
        await client.task
        await gateway.close()
    assert made["output"][-1]["content"][0]["text"] == f"It is so: {RESULTS[0]}."
