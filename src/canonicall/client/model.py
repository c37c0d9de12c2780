"""One model client for all providers: `Model` over HTTP, with a chain of targets to fall back on.

async with HttpModel(ClientConfig.from_environment(), fallbacks=["openai:gpt-5.2"]) as model:
    session = Session(model, "anthropic:claude-sonnet-4-5", tools)
"""

import asyncio
import random as chance
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, closing
from functools import partial
from types import TracebackType
from typing import Self

from canonicall.client.attempts import Attempts, NoReply
from canonicall.client.breaker import LocalBreakers, State
from canonicall.client.config import ClientConfig
from canonicall.client.encoder import Encoder, Renderings
from canonicall.client.failure import REFUSED, Failure
from canonicall.client.keys import KeyPools
from canonicall.client.learning import Learned
from canonicall.client.sending import Means
from canonicall.client.transport import Transport
from canonicall.events import Event, StreamEnded
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.request import Request
from canonicall.runtime.model import ModelError, Notice, Notify


class HttpModel:
    """Asks whatever target it is given, and the fallbacks where that one brings no reply.

    Connections are kept open between requests: close it, or use it in `async with`.
    """

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        config: ClientConfig | None = None,
        *,
        transport: Transport | None = None,
        fallbacks: Sequence[str | Target] = (),
        notices: Notify | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = chance.random,
        now: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """`notices` hears of retries, recoveries and switches, beside whoever asks.

        Without `config` keys and addresses come from the environment. `now` is the time of day,
        `elapsed` a clock that is never set.
        """
        self._fallbacks = tuple(map(get_target, fallbacks))
        self._notices = notices
        config = config or ClientConfig.from_environment()
        transport = transport or _usual_transport()
        keys = KeyPools(config.keys)
        self._means = Means(transport, config, sleep, random, now, elapsed, keys)
        self._renderings = Renderings()
        self._learned = Learned()
        self._breakers = LocalBreakers(config.breaker)

    def learned(self, target: str | Target) -> Target:
        """A target as experience has shown it: what it refused is not sent any more."""
        return self._learned.fit(get_target(target))

    async def ask(
        self, request: Request, target: Target, *, notice: Notify | None = None
    ) -> AsyncGenerator[Event, None]:
        """The events of the reply, as they come, from the first target that gives one."""
        notify = _to_all(self._notices, notice)

        encoder = Encoder(self._means.config, self._renderings, self._learned)
        attempts = Attempts(
            self._means,
            self._breakers,
            (target, *self._fallbacks),
            partial(encoder.form, request),
            notify,
        )
        try:
            opened = await attempts.open()
        except NoReply as error:
            raise _model_error(error.failures, attempts.target or target) from error
        events, end = opened.first, None
        with closing(attempts):
            async with aclosing(opened.rest):
                while events:
                    if isinstance(last := events[-1], StreamEnded):
                        end = last
                        events.pop()
                        attempts.answered(end.reply.usage, complete=end.complete)
                    for event in events:
                        yield event
                    events = await anext(opened.rest, [])
        if end is not None:
            # Whoever stops at the end leaves no connection behind.
            yield end

    def circuit(self, target: str | Target) -> State:
        """Whether a target is asked (closed), left alone (open), or tried (half_open)."""
        return self._breakers.of(get_target(target)).state(self._means.elapsed())

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


def _to_all(*listeners: Notify | None) -> Notify:
    """What tells all of them."""
    given = [one for one in listeners if one is not None]

    def notify(one: Notice) -> None:
        for listener in given:
            listener(one)

    return notify


def _usual_transport() -> Transport:
    try:
        from canonicall.client.aiohttp_transport import AiohttpTransport  # noqa: PLC0415  an extra
    except ImportError:
        what = "asking providers needs the package aiohttp: pip install 'canonicall[client]'"
        raise ModelError(what, kind="setting") from None
    return AiohttpTransport()


def _model_error(failures: Sequence[Failure], last_asked: Target) -> ModelError:
    """All that went wrong; status and kind are those of the target that was asked first.

    The diagnostics are those of the first request that was refused, else of the first that a
    provider answered with an error.
    """
    first, last = failures[0], failures[-1]
    refusals = sorted(failures, key=lambda one: one.kind != REFUSED)
    diagnoses = (one.diagnostics for one in refusals if one.diagnostics is not None)
    return ModelError(
        " | ".join(failure.message for failure in failures),
        status=first.status,
        kind=first.kind,
        # Refusals by those before it were told when the next one was asked.
        refused_by=last_asked.provider if last.kind == REFUSED else "",
        refused_model=last_asked.model,
        diagnostics=next(diagnoses, None),
    )
