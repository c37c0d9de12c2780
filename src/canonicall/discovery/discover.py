"""`discover`: an address in, `ToolingInfo` out, with as few requests as will do."""

import asyncio
import random as chance
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.endpoints import is_loopback
from canonicall.client.retrying import RetryPolicy
from canonicall.client.secrets import Secret
from canonicall.client.transport import ReadingTransport, Timeouts, TransportError
from canonicall.discovery.addresses import DiscoveryError, Place, checked
from canonicall.discovery.asking import Asker, Means, OutOfRequests
from canonicall.discovery.identifying import Identified, identified
from canonicall.discovery.parts import PLAN
from canonicall.discovery.probing import Probing
from canonicall.discovery.text_calls import Prove
from canonicall.discovery.tooling import ToolingInfo, tooling_of

MOST_REQUESTS = 60
"""Refused requests and lists of models among them; about eight of them bring a reply."""
_ANY_KEY = "no-key-was-given"
"""Hosts on this machine need no key, but some that stand in for a service want to see one."""
TIMEOUTS = Timeouts(connect=10.0, first_byte=60.0, between_bytes=30.0, total=120.0)


async def discover(  # noqa: PLR0913  each is a choice of its own
    url: str,
    *,
    model: str = "",
    key: str | Secret = "",
    format: str = "",
    transport: ReadingTransport | None = None,
    timeouts: Timeouts = TIMEOUTS,
    retry: RetryPolicy | None = None,
    progress: Callable[[str], None] | None = None,
    most_requests: int = MOST_REQUESTS,
    prove: Prove | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    random: Callable[[], float] = chance.random,
    now: Callable[[], float] = time.time,
) -> ToolingInfo:
    """Find out how the endpoint at `url` calls tools.

    Without `model` the first one that the endpoint lists is asked. `format` names the wire format
    where an endpoint speaks several. What cannot be found out stays unknown; `DiscoveryError` says
    why nothing can be. `prove` checks a form of calls in text that was learned, and gives what is
    wrong with it: `canonicall.testing.conformance.broken_checks`.
    """
    address = checked(url)
    async with asking(
        address,
        key=key,
        transport=transport,
        timeouts=timeouts,
        retry=retry,
        progress=progress,
        most_requests=most_requests,
        sleep=sleep,
        random=random,
        now=now,
    ) as asker:
        found = await identified(asker, address, model=model, format=format)
        return await _probed(asker, found, prove)


@asynccontextmanager
async def asking(  # noqa: PLR0913  each is a choice of its own
    address: str,
    *,
    key: str | Secret = "",
    transport: ReadingTransport | None = None,
    timeouts: Timeouts = TIMEOUTS,
    retry: RetryPolicy | None = None,
    progress: Callable[[str], None] | None = None,
    most_requests: int = MOST_REQUESTS,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    random: Callable[[], float] = chance.random,
    now: Callable[[], float] = time.time,
) -> AsyncGenerator[Asker, None]:
    """Whoever asks the endpoint at `address`, for the length of a block."""
    proxy = ClientConfig.from_environment().proxy_of(ProviderConfig(), address)
    own = transport or _usual_transport()
    patience = retry or RetryPolicy(attempts=4)
    means = Means(own, sleep, random, now, timeouts, patience, progress or _nobody, proxy)
    secret = key if isinstance(key, Secret) else Secret(key.strip())
    if not secret and is_loopback(urlsplit(address).hostname or ""):
        secret = Secret(_ANY_KEY)
    try:
        yield Asker(means, secret, most_requests)
    except OutOfRequests:
        help = "Raise most_requests, or name the format."
        what = "the limit of requests was reached before a format was found."
        raise DiscoveryError(what, where=address, help=help) from None
    finally:
        if transport is None:
            await own.close()


async def _probed(asker: Asker, found: Identified, prove: Prove | None) -> ToolingInfo:
    """What the first place shows that takes a plain request; else the error of the first."""
    refusals: list[DiscoveryError] = []
    for place, statement in found.places:
        probing = Probing(asker, place, found.model, prove)
        probing.statements["wire_format"] = statement
        try:
            await _probe_all(asker, probing)
        except DiscoveryError as error:
            refusals.append(error)
        else:
            others = () if found.refuses_any_path else found.places[len(refusals) + 1 :]
            return _summed_up(asker, found, probing, [place, *(one for one, _ in others)])
    raise refusals[0]


async def _probe_all(asker: Asker, probing: Probing) -> None:
    try:
        if await probing.calls():
            await probing.streamed()
            for probe in PLAN:
                await probing.probe(probe)
    except (OutOfRequests, TransportError) as error:
        # What was found so far stands; the rest stays unknown.
        asker.tell(f"Stopped early: {error}")


def _summed_up(
    asker: Asker, found: Identified, probing: Probing, places: list[Place]
) -> ToolingInfo:
    """All that was found, for the first of the places; the others are said to answer."""
    place = places[0]
    return ToolingInfo(
        url=place.base,
        model=found.model,
        models=found.models,
        wire_format=place.format,
        formats={one.format: one.base for one in places},
        auth=place.auth,
        learned=tuple(probing.learned),
        ids=probing.seen_ids,
        requests=asker.sent,
        **tooling_of(
            probing.statements,
            place.format,
            probing.calls_told or probing.first,
            probing.printed,
            asker.secrets,
        ),
    )


def _usual_transport() -> ReadingTransport:
    try:
        from canonicall.client.aiohttp_transport import AiohttpTransport  # noqa: PLC0415  an extra
    except ImportError:
        help = "pip install 'canonicall[client]'"
        what = "asking endpoints needs the package aiohttp."
        raise DiscoveryError(what, where="discover", help=help) from None
    return AiohttpTransport()


def _nobody(what: str) -> None:
    del what
