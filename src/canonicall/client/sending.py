"""One request sent once: an answer with its head, or the failure that it was."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from canonicall.client.config import ClientConfig
from canonicall.client.endpoints import Choose, MissingSetting, Outgoing, outgoing
from canonicall.client.failure import AttemptFailed, Failure, of_own, of_response, of_transport
from canonicall.client.keys import KeyPools
from canonicall.client.transport import Response, Transport, TransportError
from canonicall.target import Target

_MOST_OF_AN_ERROR = 200_000


class Means(Struct, frozen=True):
    """All that the outside gives: bytes, time, chance."""

    transport: Transport
    config: ClientConfig
    sleep: Callable[[float], Awaitable[None]]
    random: Callable[[], float]
    now: Callable[[], float]
    """Seconds since 1970."""
    elapsed: Callable[[], float]
    """Seconds of a clock that is never set."""
    keys: KeyPools


async def post(
    means: Means, target: Target, data: bytes, *, stream: bool, choose: Choose | None = None
) -> tuple[Response, Outgoing]:
    """The answer to a body, whose caller closes it; `AttemptFailed` where it is no reply.

    `choose` takes one of several keys.
    """
    try:
        sent = await outgoing(
            target, data, means.config, stream=stream, now=means.now, choose=choose
        )
    except MissingSetting as error:
        raise AttemptFailed(of_own(target, "setting", error)) from error
    try:
        response = await means.transport.post(
            sent.url, sent.headers, sent.body, sent.timeouts, proxy=sent.proxy
        )
    except TransportError as error:
        raise AttemptFailed(of_transport(target, error)) from error
    if response.status != 200:
        try:
            failure = await _refusal(means, response, sent, target)
        finally:
            response.close()
        raise AttemptFailed(failure)
    return response, sent


async def _refusal(means: Means, response: Response, sent: Outgoing, target: Target) -> Failure:
    data = b""
    try:
        async for chunk in response.chunks():
            data += chunk
            if len(data) > _MOST_OF_AN_ERROR:
                break
    except TransportError as error:
        if not data:
            return of_transport(target, error)
    return of_response(
        target, response.status, response.headers, data, secrets=sent.secrets, now=means.now()
    )
