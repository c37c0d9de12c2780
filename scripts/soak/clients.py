"""What clients do: one scenario after another, each with what it expects.

`Weather` is what is done to the gateway meanwhile: worker kills and full disks. A broken connection
is expected only if a worker was killed during the request, and a reply that is not stored only if
the disk was full.
"""

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp

from scripts.soak.fronts import (
    FRONTS,
    Answer,
    Outcome,
    Unexpected,
    asked,
    outcome,
    results,
    said,
    tools_of,
)
from scripts.soak.gateway import BACKS, BODY_SECONDS, CLIENT_KEY, HEAD_SECONDS
from scripts.soak.upstream import LONG, SHOWN, echo

_PATIENCE = 90.0
"""Seconds after which an answer is called a hang."""
_GRACE = 2.0
_LARGE = "Many words. " * 42_000
"""Some 500 KB."""
_MOST_TURNS = 6
_RESULT = "Sunny, 21 degrees"
_NOT_STORED = ("could not be stored", "store of the gateway cannot be")
"""In errors of a gateway whose disk is full: after the reply, and before it was asked for."""


class Broken(Exception):
    """A worker was killed while it answered."""


class NotStored(Exception):
    """The disk was full, so a conversation could not go on."""


class Weather:
    """When workers were killed and when the disk was full."""

    def __init__(self) -> None:
        self.killed = -1e9
        self.full_until = -1e9
        self.is_full = False

    def may_break(self, since: float) -> bool:
        """Whether a request that began then may have met a kill."""
        return self.killed > since - _GRACE

    def may_lose(self, since: float) -> bool:
        """Whether a request that began then may have met a full disk."""
        return self.is_full or self.full_until > since - _GRACE


class Clients:
    """Plays scenarios, and counts what came of them."""

    def __init__(self, url: str, hidden: tuple[str, ...], seed: int) -> None:
        self._url = url
        self._hidden = hidden
        self._random = random.Random(seed)  # noqa: S311  no secret
        self.weather = Weather()
        self.requests = Counter[str]()
        """By front, and what else was asked."""
        self.events = Counter[str]()
        """What clients did and saw beyond plain replies."""
        self.unexpected: list[str] = []
        self._session: aiohttp.ClientSession | None = None

    async def run(self, until: float, pause: float) -> None:
        """Play scenarios one after another until then, with a pause after each."""
        names, weights = zip(*_WEIGHTS.items(), strict=True)
        while time.monotonic() < until:
            (name,) = self._random.choices(names, weights)
            try:
                async with asyncio.timeout(2 * _PATIENCE):
                    await _SCENARIOS[name](self)
            except Broken:
                self.events["broken by a worker kill"] += 1
            except NotStored:
                self.events["refused on a full disk"] += 1
            except Unexpected as error:
                self._note(f"{name}: {error}")
            except Exception as error:  # noqa: BLE001  the others still run
                self._note(f"{name}: {type(error).__name__}: {error}")
            await asyncio.sleep(self._random.uniform(0.5, 1.5) * pause)

    def _note(self, what: str) -> None:
        """Note what was unexpected; a long run shows it at once."""
        self.unexpected.append(what)
        print(f"unexpected at {time.strftime('%H:%M:%S')}: {what}", file=sys.stderr, flush=True)

    async def __aenter__(self) -> Self:
        timeout = aiohttp.ClientTimeout(total=_PATIENCE)
        headers = {"authorization": f"Bearer {CLIENT_KEY}"}
        self._session = aiohttp.ClientSession(timeout=timeout, headers=headers)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._session is not None
        await self._session.close()

    async def send(
        self,
        path: str,
        body: Any = None,
        *,
        method: str = "",
        read: Callable[[aiohttp.ClientResponse], Awaitable[bytes]] | None = None,
    ) -> Answer:
        """One request and its answer; `Broken` where a kill broke it."""
        assert self._session is not None
        since = time.monotonic()
        method = method or ("GET" if body is None else "POST")
        try:
            async with self._session.request(method, self._url + path, json=body) as response:
                data = await (read(response) if read else response.read())
                return Answer(response.status, response.headers.get("content-type", ""), data)
        except (aiohttp.ClientError, ConnectionError) as error:
            if self.weather.may_break(since):
                raise Broken from None
            raise Unexpected(f"{method} {path}: the connection broke: {error!r}") from None
        except TimeoutError:
            raise Unexpected(f"{method} {path}: no answer in {_PATIENCE:g} s") from None

    async def ask(
        self, front: str, model: str, messages: list[Any], *, streams: bool, **more: Any
    ) -> Outcome:
        """A request for a reply, and what its answer means."""
        path, body = asked(front, model, messages, streams=streams, **more)
        self.requests[f"{front} {'streamed' if streams else 'whole'}"] += 1
        since = time.monotonic()
        found = outcome(front, await self.send(path, body), hidden=self._hidden)
        if any(sign in found.error for sign in _NOT_STORED):
            if not self.weather.may_lose(since):
                raise Unexpected(f"not stored on a disk with room: {found.error}")
            raise NotStored
        return found

    def chosen(self) -> tuple[str, str, bool]:
        """A front, a format of the upstream, and whether the reply is streamed."""
        some = self._random
        return some.choice(FRONTS), some.choice(tuple(BACKS)), some.random() < 0.5

    def text(self) -> str:
        """What a user says next."""
        return f"turn {self._random.randrange(10**9)}"

    async def single(self) -> None:
        """A question with some history."""
        front, back, streams = self.chosen()
        texts = [self.text() for _ in range(self._random.randint(1, 3))]
        messages = []
        for at, text in enumerate(texts):
            messages += [said(front, "user", text)]
            if at + 1 < len(texts):
                messages += [said(front, "assistant", echo(texts[: at + 1]))]
        found = await self.ask(front, f"steady-{back}", messages, streams=streams)
        _expect_text(found, echo(texts))

    async def large(self) -> None:
        """A body of 500 KB."""
        front, back, streams = self.chosen()
        message = said(front, "user", _LARGE)
        more = {"store": False} if front == "openai-responses" else {}
        found = await self.ask(front, f"steady-{back}", [message], streams=streams, **more)
        self.events["bodies of 500 KB"] += 1
        _expect_text(found, _LARGE[:SHOWN])

    async def tool_call(self) -> None:
        """A call, its result, and the reply to it."""
        front, back, streams = self.chosen()
        model, tools = f"steady-{back}", tools_of(front)
        first = said(front, "user", "call the tool")
        found = await self.ask(front, model, [first], streams=streams, tools=tools)
        calls = found.reply.calls if found.reply else ()
        if [one.args for one in calls] != [{"city": "Paris"}]:
            raise Unexpected(f"the calls are {calls!r}; {found.status} {found.error}")
        messages = [first, *results(front, calls[0], _RESULT)]
        found = await self.ask(front, model, messages, streams=streams, tools=tools)
        self.events["tool calls"] += 1
        if found.reply is None or _RESULT not in found.reply.message.text:
            raise Unexpected(f"the result is not in the reply: {found!r}")

    async def chain(self) -> None:
        """`previous_response_id`; a turn that a kill broke is asked again."""
        last: dict[str, Any] = {}
        texts: list[str] = []
        for _ in range(self._random.randint(2, _MOST_TURNS)):
            _, back, streams = self.chosen()
            since = time.monotonic()
            front, text = "openai-responses", self.text()
            try:
                found = await self.ask(
                    front, f"steady-{back}", [said(front, "user", text)], streams=streams, **last
                )
            except Broken:
                self.events["broken by a worker kill"] += 1
                continue
            _expect_text(found, echo([*texts, text]))
            assert found.reply is not None
            origin = found.reply.message.origin
            stored = await self.send(f"/v1/responses/{origin.response_id if origin else ''}")
            if stored.status != 200:
                if not self.weather.may_lose(since):
                    raise Unexpected(f"a reply was acknowledged and lost: {stored.body[:300]!r}")
                raise NotStored
            texts.append(text)
            last = {"previous_response_id": origin.response_id if origin else ""}
            self.events["turns of response chains"] += 1

    async def conversation(self) -> None:
        """`conversation`, deleted at its end."""
        since = time.monotonic()
        made = await self.send("/v1/conversations", {})
        if made.status != 200:
            if not self.weather.may_lose(since):
                raise Unexpected(f"no conversation: {made.status} {made.body[:300]!r}")
            raise NotStored
        id = json.loads(made.body)["id"]
        texts: list[str] = []
        front = "openai-responses"
        for _ in range(self._random.randint(2, _MOST_TURNS)):
            _, back, streams = self.chosen()
            texts.append(self.text())
            messages = [said(front, "user", texts[-1])]
            found = await self.ask(
                front, f"steady-{back}", messages, streams=streams, conversation=id
            )
            _expect_text(found, echo(texts))
            self.events["turns of conversations"] += 1
        since = time.monotonic()
        gone = await self.send(f"/v1/conversations/{id}", method="DELETE")
        if gone.status != 200 and not self.weather.may_lose(since):
            raise Unexpected(f"not deleted: {gone.status} {gone.body[:300]!r}")

    async def thread(self) -> None:
        """`thread` of Anthropic's Messages; a turn that a kill broke is asked again."""
        thread: dict[str, Any] = {"type": "create"}
        texts: list[str] = []
        front = "anthropic"
        for _ in range(self._random.randint(2, _MOST_TURNS)):
            _, back, streams = self.chosen()
            text = self.text()
            messages = [said(front, "user", text)]
            try:
                found = await self.ask(
                    front, f"steady-{back}", messages, streams=streams, thread=thread
                )
            except Broken:
                self.events["broken by a worker kill"] += 1
                continue
            _expect_text(found, echo([*texts, text]))
            assert found.reply is not None
            texts.append(text)
            origin = found.reply.message.origin
            id = origin.response_id if origin else ""
            thread = {"type": "continue", "previous_message_id": id}
            self.events["turns of threads"] += 1

    async def faulty(self) -> None:
        """An upstream that fails: any answer that clients of the front can read."""
        front, back, streams = self.chosen()
        message = said(front, "user", self.text())
        found = await self.ask(front, f"faulty-{back}", [message], streams=streams)
        how = "complete" if found.is_complete else "cut" if found.status == 200 else found.status
        self.events[f"answers of faulty upstreams: {how}"] += 1

    async def mixed(self) -> None:
        """A faulty upstream with a steady one after it: a complete reply, or a cut one."""
        front, back, streams = self.chosen()
        message = said(front, "user", self.text())
        found = await self.ask(front, f"mixed-{back}", [message], streams=streams)
        how = "complete" if found.is_complete else "cut" if found.status == 200 else found.status
        self.events[f"answers of chains: {how}"] += 1

    async def abort(self) -> None:
        """A client that leaves in the middle of a stream."""
        front, back, _ = self.chosen()
        path, body = asked(
            front, f"steady-{back}", [said(front, "user", "long, please")], streams=True
        )
        self.requests[f"{front} streamed"] += 1

        async def read_little(response: aiohttp.ClientResponse) -> bytes:
            data = await response.content.readany()
            response.close()
            return data

        await self.send(path, body, read=read_little)
        self.events["aborts mid-stream"] += 1

    async def slow_reader(self) -> None:
        """A client that reads slowly."""
        front, back, _ = self.chosen()
        messages = [said(front, "user", "long, please")]
        path, body = asked(front, f"steady-{back}", messages, streams=True)
        self.requests[f"{front} streamed"] += 1

        async def read_slowly(response: aiohttp.ClientResponse) -> bytes:
            pieces = []
            while piece := await response.content.read(32_768):
                pieces.append(piece)
                await asyncio.sleep(0.05)
            return b"".join(pieces)

        answer = await self.send(path, body, read=read_slowly)
        _expect_text(outcome(front, answer, hidden=self._hidden), LONG)
        self.events["slow readers"] += 1

    async def slow_sender(self) -> None:
        """A client that never sends the end of its head or of its body."""
        in_head = self._random.random() < 0.5
        seconds = HEAD_SECONDS if in_head else BODY_SECONDS
        where = urlsplit(self._url)
        half = f"POST /v1/messages HTTP/1.1\r\nhost: {where.netloc}\r\ncontent-length: 90\r\n"
        data = (half if in_head else half + '\r\n{"model":').encode()
        since = time.monotonic()
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            writer.write(data)
            async with asyncio.timeout(seconds + 30):
                answer = await reader.read()
        except TimeoutError:
            raise Unexpected(f"half a request is still open after {seconds + 30} s") from None
        except ConnectionError:
            answer = b""
        finally:
            writer.close()
        if b" 408 " not in answer:
            if self.weather.may_break(since):
                raise Broken
            raise Unexpected(f"half a request got {answer[:300]!r}")
        self.events["slow senders"] += 1

    async def operator(self) -> None:
        """What operators and clients look at."""
        for path in ("/healthz", "/readyz", "/v1/models", "/metrics"):
            since = time.monotonic()
            answer = await self.send(path)
            self.requests["operations"] += 1
            if answer.status == 503 and path == "/readyz" and self.weather.may_lose(since):
                self.events["not ready on a full disk"] += 1
            elif answer.status != 200:
                raise Unexpected(f"{path}: {answer.status} {answer.body[:300]!r}")


def _expect_text(found: Outcome, text: str) -> None:
    said_so = found.reply.message.text if found.reply else ""
    if not found.is_complete or said_so != text:
        shown = f"{found.status} {found.error} {said_so[:100]!r} ... {said_so[-100:]!r}"
        raise Unexpected(f"{text[:100]!r} was expected, and there was {shown}")


_SCENARIOS: dict[str, Callable[[Clients], Awaitable[None]]] = {
    "single": Clients.single,
    "large": Clients.large,
    "tool call": Clients.tool_call,
    "chain": Clients.chain,
    "conversation": Clients.conversation,
    "thread": Clients.thread,
    "faulty": Clients.faulty,
    "mixed": Clients.mixed,
    "abort": Clients.abort,
    "slow reader": Clients.slow_reader,
    "slow sender": Clients.slow_sender,
    "operator": Clients.operator,
}
_WEIGHTS = dict.fromkeys(_SCENARIOS, 2) | {
    "single": 6,
    "large": 1,
    "faulty": 6,
    "mixed": 4,
    "slow sender": 1,
    "operator": 1,
}
