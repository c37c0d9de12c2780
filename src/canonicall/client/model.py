"""One model client for all providers: `Model` over HTTP, with a chain of targets to fall back on.

async with HttpModel(ClientConfig.from_environment(), fallbacks=["openai:gpt-5.2"]) as model:
    session = Session(model, "anthropic:claude-sonnet-4-5", tools)
"""

import asyncio
import random as chance
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Self

from canonicall.client.config import ClientConfig
from canonicall.client.exchange import Exchange, Means
from canonicall.client.failure import REFUSED, AttemptFailed, Failure
from canonicall.client.learning import Learned
from canonicall.client.notices import Switched
from canonicall.client.rendering import Renderings
from canonicall.client.transport import Transport
from canonicall.events import Event, StreamEnded
from canonicall.providers.registry import get_target
from canonicall.request import Request
from canonicall.runtime.model import ModelError, Notice, Notify
from canonicall.target import Target


class HttpModel:
    """Asks whatever target it is given, and the fallbacks where that one brings no reply.

    Connections are kept open between requests: close it, or use it in `async with`.
    """

    def __init__(
        self,
        config: ClientConfig | None = None,
        *,
        transport: Transport | None = None,
        fallbacks: Sequence[str | Target] = (),
        notices: Notify | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = chance.random,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`notices` hears of retries, recoveries and switches, beside whoever asks.

        Without `config` keys and addresses come from the environment.
        """
        self._fallbacks = tuple(map(get_target, fallbacks))
        self._notices = notices
        self._means = Means(
            transport or _usual_transport(),
            config or ClientConfig.from_environment(),
            sleep,
            random,
            now,
            time.monotonic,
        )
        self._renderings = Renderings()
        self._learned = Learned()

    def learned(self, target: str | Target) -> Target:
        """A target as experience has shown it: what it refused is not sent any more."""
        return self._learned.fit(get_target(target))

    async def ask(
        self, request: Request, target: Target, *, notice: Notify | None = None
    ) -> AsyncGenerator[Event, None]:
        """The events of the reply, as they come, from the first target that gives one."""

        def notify(one: Notice) -> None:
            for listener in (self._notices, notice):
                if listener is not None:
                    listener(one)

        chain = list(dict.fromkeys((target, *self._fallbacks)))
        failures: list[Failure] = []
        for at, goal in enumerate(chain):
            if at:
                last = failures[-1]
                notify(Switched(chain[at - 1], goal, last.message, last.kind == REFUSED))
            exchange = Exchange(self._means, self._renderings, self._learned, notify)
            try:
                async with aclosing(exchange.events(request, goal)) as events:
                    async for event in events:
                        if isinstance(event, StreamEnded):
                            end = event
                        else:
                            yield event
            except AttemptFailed as failed:
                failures.append(failed.failure)
            else:
                # Whoever stops at the end leaves no connection behind.
                yield end
                return
        raise _model_error(failures, chain[-1])

    async def close(self) -> None:
        """Close all connections."""
        await self._means.transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _usual_transport() -> Transport:
    try:
        from canonicall.client.aiohttp_transport import AiohttpTransport  # noqa: PLC0415  an extra
    except ImportError:
        what = "asking providers needs the package aiohttp: pip install 'canonicall[client]'"
        raise ModelError(what, kind="setting") from None
    return AiohttpTransport()


def _model_error(failures: list[Failure], last: Target) -> ModelError:
    """All that went wrong; status and kind are those of the target that was asked for."""
    return ModelError(
        " | ".join(failure.message for failure in failures),
        status=failures[0].status,
        kind=failures[0].kind,
        # Refusals by those before it were told when the next one was asked.
        refused_by=last.provider if failures[-1].kind == REFUSED else "",
    )
