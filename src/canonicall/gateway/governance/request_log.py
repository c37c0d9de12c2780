"""The request log: one JSON line for each request that has ended.

Lines are made and written by a thread, so a slow disk or a full pipe does not hold up the loop.
What cannot be kept for it is left out and counted, and the next line that is written says so.
Headers are never written; bodies only where that is asked for, without what looks like a key.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, BinaryIO, Self

import msgspec

from canonicall.client.redaction import redacted, redacted_text
from canonicall.client.secrets import Secret, hide
from canonicall.errors import CanonicallError
from canonicall.gateway.config import LogSettings
from canonicall.gateway.served import Begun, Served, Watcher
from canonicall.gateway.turns import shown_tokens
from canonicall.store.batches import Waiting

_MOST_WAITING = 64 * 1024 * 1024
"""Bytes of memory for lines that wait to be written."""
_OF_A_LINE = 1024
"""What a line without bodies takes, about."""
_MOST_AT_ONCE = 200
LARGEST_BODY = 1024 * 1024
"""Bytes of a body that are searched for keys; more would delay other requests. Of a longer stream
the first events are written, of any other longer body its length."""
_MOST_OF_A_BODY = 256 * 1024
_LONGEST_END = 5.0
_ONLY_OWNER = 0o600


class LogFileError(CanonicallError):
    """The file of the log cannot be written."""


class RequestLog(Watcher):
    """Writes to an open file. `close` writes what is waiting."""

    def __init__(
        self,
        file: BinaryIO,
        *,
        bodies: bool = False,
        secrets: Iterable[Secret] = (),
        clock: Callable[[], float] = time.time,
        most_waiting: int = _MOST_WAITING,
        close_file: bool = False,
    ) -> None:
        self._file = file
        self._bodies = bodies
        self._secrets = tuple(secrets)
        self._clock = clock
        self._close_file = close_file
        self._waiting: Waiting[tuple[float, Served]] = Waiting(most_at_once=_MOST_AT_ONCE)
        self._sizes = _Sizes(most_waiting)
        self._thread = threading.Thread(target=self._serve, name="request log", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, settings: LogSettings, secrets: Iterable[Secret] = ()) -> Self | None:
        """As the settings say; None where they want none."""
        if not settings.file:
            return None
        if settings.file == "-":
            return cls(sys.stderr.buffer, bodies=settings.bodies, secrets=secrets)
        try:
            number = os.open(
                settings.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode=_ONLY_OWNER
            )
        except OSError as error:
            what = f"$.log.file: {settings.file} cannot be written: {error.strerror}."
            help = "Give a path in a folder that is there, or - for standard error."
            raise LogFileError(f"{what} {help}") from None
        file = os.fdopen(number, "ab")
        return cls(file, bodies=settings.bodies, secrets=secrets, close_file=True)

    def begun(self, begun: Begun) -> None:
        """Nothing is written until it has ended."""

    def ended(self, served: Served) -> None:
        """Have it written."""
        if not self._bodies and (served.request_body or served.response_body):
            served = msgspec.structs.replace(served, request_body=b"", response_body=b"")
        if self._sizes.take(_size(served)):
            self._waiting.put((self._clock(), served))

    def close(self) -> None:
        """Write what is waiting, but do not wait for a reader who is gone."""
        self._waiting.end()
        self._thread.join(_LONGEST_END)

    def _serve(self) -> None:
        for batch in self._waiting.batches():
            self._write(batch)
        if self._close_file:
            self._file.close()

    def _write(self, batch: list[tuple[float, Served]]) -> None:
        lost = self._sizes.lost
        lines = [self._line(at, served) for at, served in batch]
        if lost:
            lines.insert(0, msgspec.json.encode({"time": _moment(batch[0][0]), "lost": lost}))
        try:
            self._file.write(b"\n".join((*lines, b"")))
            self._file.flush()
        except (OSError, ValueError):
            # A full disk or a closed pipe: they are lost, and told of when writing works again.
            self._sizes.lose(len(batch))
        else:
            self._sizes.told(lost)
        self._sizes.free(sum(_size(served) for _, served in batch))

    def _line(self, at: float, served: Served) -> bytes:
        try:
            return self._full_line(at, served)
        except Exception as error:  # noqa: BLE001  one odd request must not end the log
            told = {"time": _moment(at), "status": served.status, "failed": type(error).__name__}
            return msgspec.json.encode(told)

    def _full_line(self, at: float, served: Served) -> bytes:
        told = _told(at, served)
        if self._bodies:
            told["request"] = _body(served.request_body, len(served.request_body))
            told["response"] = _body(served.response_body, served.bytes_out)
        line = msgspec.json.encode(told)
        if not self._secrets:
            return line
        return hide(line.decode(), self._secrets).encode()


class _Sizes:
    """How much waits, and how many lines were lost. Two threads use it."""

    def __init__(self, most_waiting: int) -> None:
        self._lock = threading.Lock()
        self._most = most_waiting
        self._waiting = 0
        self.lost = 0

    def take(self, size: int) -> bool:
        """Whether there is room for it."""
        with self._lock:
            if self._waiting and self._waiting + size > self._most:
                self.lost += 1
                return False
            self._waiting += size
            return True

    def free(self, size: int) -> None:
        with self._lock:
            self._waiting -= size

    def lose(self, count: int) -> None:
        with self._lock:
            self.lost += count

    def told(self, count: int) -> None:
        with self._lock:
            self.lost -= count


def _size(served: Served) -> int:
    return _OF_A_LINE + len(served.request_body) + len(served.response_body)


def _told(at: float, served: Served) -> dict[str, Any]:
    begun = served.begun
    return {
        "time": _moment(at),
        "id": _plain(begun.id),
        "key": begun.key,
        "front": begun.front,
        "action": begun.action,
        "model": _plain(begun.model),
        "target": _plain(served.target),
        "status": served.status,
        "error": served.error,
        "stream": begun.streams,
        "complete": served.is_complete,
        "forwarded": served.is_forwarded,
        "attempts": served.attempts,
        "seconds": round(served.seconds, 6),
        "first_byte_seconds": round(served.first_byte_seconds, 6),
        "upstream_seconds": round(served.upstream_seconds, 6),
        "bytes_in": served.bytes_in,
        "bytes_out": served.bytes_out,
        "tokens": shown_tokens(served.usage, is_estimated=served.is_estimated),
        "findings": dict(served.findings),
    }


def _plain(text: str) -> str:
    """What a client calls things, as text that can be written: it may be anything."""
    return redacted_text(text.encode("utf-8", "replace").decode())


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _body(data: bytes, size: int) -> Any:
    """A body, or the beginning of its text where it is long. Keys are gone before it is cut.

    `size`: the bytes of the whole body, of which `data` may be the beginning.
    """
    if len(data) > LARGEST_BODY or (size and not data):
        return f"({size} bytes)"
    body = redacted(data)
    text = body if isinstance(body, str) else msgspec.json.encode(body).decode()
    if len(text) <= _MOST_OF_A_BODY and size <= len(data):
        return body
    length = f"{size} bytes" if size > len(data) else f"{len(text)} characters"
    return f"{text[:_MOST_OF_A_BODY]}… ({length})"
