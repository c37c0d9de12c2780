"""Asking an endpoint: one request, one answer, with patience for limits and none for silence.

Only here does discovery wait and send. Every exchange is counted: a probe that goes wrong must not
turn into a hundred requests that somebody pays for.
"""

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

from canonicall.client.retrying import RetryPolicy, is_passing, retry_after
from canonicall.client.secrets import Secret
from canonicall.client.transport import ReadingTransport, Response, Timeouts, TransportError
from canonicall.discovery.answer import Answer

MOST_BYTES = 1_000_000
"""More of an answer is not read: no reply to a probe is that long."""


class Means(Struct, frozen=True):
    """All that the outside gives: bytes, time, chance."""

    transport: ReadingTransport
    sleep: Callable[[float], Awaitable[None]]
    random: Callable[[], float]
    now: Callable[[], float]
    timeouts: Timeouts
    retry: RetryPolicy
    progress: Callable[[str], None]
    proxy: str = ""


class OutOfRequests(Exception):
    """As many requests were sent as were allowed."""


class Asker:
    """Sends requests to one endpoint, a limited number of them."""

    def __init__(self, means: Means, key: Secret, most: int) -> None:
        self._means = means
        self._most = most
        self.key = key
        self.sent = 0

    @property
    def secrets(self) -> tuple[Secret, ...]:
        return (self.key,)

    def tell(self, what: str) -> None:
        """Say what is being done, to whoever waits."""
        self._means.progress(what)

    async def get(self, url: str, headers: Mapping[str, str]) -> Answer:
        """The answer to a question for something; `TransportError` where there is none."""
        means = self._means
        return await self._patiently(
            lambda: means.transport.get(url, headers, means.timeouts, proxy=means.proxy)
        )

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a request; `TransportError` where there is none."""
        means = self._means
        return await self._patiently(
            lambda: means.transport.post(url, headers, body, means.timeouts, proxy=means.proxy)
        )

    async def _patiently(self, send: Callable[[], Awaitable[Response]]) -> Answer:
        attempt = 1
        while True:
            if self.sent >= self._most:
                raise OutOfRequests(f"{self.sent} requests were sent, and no more are allowed")
            self.sent += 1
            answer = await self._once(send)
            if not is_passing(answer.status, answer.headers, answer.text[:2000]):
                return answer
            told = retry_after(answer.headers, self._means.now())
            delay = self._means.retry.delay(attempt, self._means.random, told=told)
            if delay is None:
                return answer
            self.tell(f"The endpoint is busy (HTTP {answer.status}): waiting {delay:.1f} s")
            await self._means.sleep(delay)
            attempt += 1

    async def _once(self, send: Callable[[], Awaitable[Response]]) -> Answer:
        response = await send()
        data, broken = b"", ""
        try:
            async for chunk in response.chunks():
                data += chunk
                if len(data) > MOST_BYTES:
                    broken = "the rest was not read"
                    break
        except TransportError as error:
            broken = error.what
        finally:
            response.close()
        return Answer(response.status, dict(response.headers), data, broken)
