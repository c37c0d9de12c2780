"""One request sent once: an answer with its head, or the failure that it was.

A request that was refused is written to a file, where that is wanted.
"""

import os
from asyncio import to_thread
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import mkstemp

from msgspec import Struct
from msgspec.structs import replace

from canonicall.client.config import ClientConfig
from canonicall.client.endpoints import Choose, MissingSetting, Outgoing, outgoing
from canonicall.client.failure import (
    REFUSED,
    AttemptFailed,
    Failure,
    of_own,
    of_response,
    of_transport,
)
from canonicall.client.keys import KeyPools
from canonicall.client.refusals import RefusedRequest
from canonicall.client.transport import Response, Transport, TransportError
from canonicall.facts.target import Target
from canonicall.transcript.turns import Diagnostics

MOST_OF_AN_ERROR = 200_000
_MOST_FILES = 1000
"""A folder with as many refused requests gets no more."""


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


async def post(  # noqa: PLR0913  each is a choice of its own
    means: Means,
    target: Target,
    data: bytes,
    *,
    stream: bool,
    compacts: bool = False,
    choose: Choose | None = None,
    headers: Mapping[str, str] | None = None,
    diagnose: Callable[[], Diagnostics | None] | None = None,
) -> tuple[Response, Outgoing]:
    """The answer to a body, whose caller closes it; `AttemptFailed` where it is no reply.

    `compacts`: the body asks for a summary of a conversation, which has a path of its own.
    `choose` takes one of several keys. `headers` are sent beside those of the target. `diagnose`
    gives the diagnostics of the body, where it is refused and saved.
    """
    try:
        sent = await outgoing(
            target,
            data,
            means.config,
            stream=stream,
            compacts=compacts,
            now=means.now,
            choose=choose,
        )
    except MissingSetting as error:
        raise AttemptFailed(of_own(target, "setting", error)) from error
    try:
        response = await means.transport.post(
            sent.url,
            {**sent.headers, **headers} if headers else sent.headers,
            sent.body,
            sent.timeouts,
            proxy=sent.proxy,
        )
    except TransportError as error:
        raise AttemptFailed(of_transport(target, error)) from error
    if response.status != 200:
        try:
            failure, answer = await _refusal(means, response, sent, target)
        finally:
            response.close()
        if failure.kind == REFUSED and (folder := means.config.save_refused):
            told = diagnose() if diagnose is not None else None
            made = partial(RefusedRequest.of, secrets=sent.secrets, diagnostics=told)
            # To look through a long body takes a while, and so may the disk.
            refused = await to_thread(made, target, data, (response.status, answer))
            file = await to_thread(_saved, refused, Path(folder)) if refused else ""
            failure = replace(failure, saved=file)
        raise AttemptFailed(failure)
    return response, sent


async def _refusal(
    means: Means, response: Response, sent: Outgoing, target: Target
) -> tuple[Failure, bytes]:
    """The failure that an answer is, and the body of the answer."""
    data = b""
    try:
        async for chunk in response.chunks():
            data += chunk
            if len(data) > MOST_OF_AN_ERROR:
                break
    except TransportError as error:
        if not data:
            return of_transport(target, error), data
    failure = of_response(
        target, response.status, response.headers, data, secrets=sent.secrets, now=means.now()
    )
    return failure, data


def _saved(refused: RefusedRequest, folder: Path) -> str:
    """The file of a refused request; empty where there is none, because the folder is full or
    cannot be written to. A run does not end for that."""
    file = folder / refused.file_name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists():
            return str(file)
        if sum(one.suffix == file.suffix for one in folder.iterdir()) >= _MOST_FILES:
            return ""
        # Only its owner can read what `mkstemp` makes.
        number, part = mkstemp(".part", f"{file.stem}.", folder)
        try:
            with os.fdopen(number, "wb") as out:
                out.write(refused.data)
            Path(part).replace(file)
        finally:
            Path(part).unlink(missing_ok=True)
    except OSError:
        return ""
    return str(file)
