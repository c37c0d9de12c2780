"""Settings are changed under load: every request ends as it began, and nothing old stays open."""

import asyncio
from contextlib import AsyncExitStack

import msgspec

from canonicall.blocks import Text
from canonicall.client.aiohttp_transport import AiohttpTransport
from canonicall.codec import encode_response
from canonicall.gateway.app import Gateway
from gateway_faults import CLIENT_HEADERS, FRONTS, Told, said
from gateway_sockets import settings_for, until
from gateway_support import Answer, ask
from loopback import listening, open_files

RELOADS = 5
EACH = 40
"""Requests between two reloads: 200 in all, none of which is answered before the last one."""


class House:
    """An upstream that answers with its name, when it is told to."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.waiting = 0
        self.may_answer = asyncio.Event()
        self.url = ""

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        self.waiting += 1
        await self.may_answer.wait()
        body = msgspec.json.encode(encode_response(said(Text(text=self._name)), "openai-chat"))
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        await writer.drain()


async def test_a_reload_under_load_loses_nothing() -> None:
    files = open_files()
    async with AsyncExitStack() as opened:
        houses = [House("first"), House("second")]
        for house in houses:
            port = await opened.enter_async_context(listening(house.connected))
            house.url = f"http://127.0.0.1:{port}"
        await reloaded_under_load(houses)
    await until(lambda: open_files() <= files)


async def reloaded_under_load(houses: list[House]) -> None:
    told = Told()
    gateway = Gateway(settings_for(houses[0].url, "openai-chat", keep_alive=60), watchers=(told,))
    asked: list[tuple[str, str, asyncio.Future[Answer]]] = []
    old = []
    for reload in range(RELOADS):
        name = ("first", "second")[reload % 2]
        for at in range(EACH):
            front = list(FRONTS)[at % len(FRONTS)]
            path, body = FRONTS[front].whole("m")
            sending = asyncio.ensure_future(ask(gateway, path, body, headers=CLIENT_HEADERS))
            asked.append((name, front, sending))
        await until(lambda: sum(one.waiting for one in houses) == len(asked))
        old.append(gateway.state)
        after = settings_for(houses[(reload + 1) % 2].url, "openai-chat", keep_alive=60)
        await gateway.reload(after)
    assert [state.open_requests for state in old] == [EACH] * RELOADS
    for house in houses:
        house.may_answer.set()
    for name, front, sending in asked:
        answer = await sending
        assert (answer.status, name in answer.body.decode()) == (200, True), (front, answer.body)
    assert [end.status for end in told.ends] == [200] * RELOADS * EACH
    assert [state.open_requests for state in old] == [0] * RELOADS
    for state in old:
        transport = state.backs.means.transport
        assert isinstance(transport, AiohttpTransport)
        assert transport._session is None
    await gateway.close()
