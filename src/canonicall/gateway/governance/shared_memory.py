"""Counting for the workers of one port together: what keys have spent, and which are revoked.

Two files without a name, which the process above the workers makes before it forks: they end with
the last of them, and nothing is left on a disk. In the one each key has a row, which all workers
have in their memory and lock while they work on it: so limits are exact, however many workers
there are. The system gives a lock up when its holder dies. The other is a list of revoked keys
that only grows, of which each worker reads what is new to it.

Only for systems that can fork: nothing else runs several workers.
"""

import fcntl
import mmap
import os
import tempfile
from collections.abc import Iterable
from typing import NamedTuple

from canonicall.errors import CanonicallError
from canonicall.gateway.governance.limits import KeyLimits, KeyUse, LimitReached
from canonicall.gateway.governance.windows import Row

_HASH_BYTES = 72
"""`sha256:` and 64 digits, in words of 8 bytes."""
_NUMBER_BYTES = 8
_AT_ONCE = 10_000 * _HASH_BYTES
"""As much of the list of revoked keys as is read in one go."""


class SharedMemoryError(CanonicallError):
    """There is no place for what workers have to know together."""


class _Shared(NamedTuple):
    """One key."""

    row: Row
    """In all workers: the same memory in each of them."""
    lock: "_Lock"
    """To be held by whoever looks at it."""


class SharedLimiter:
    """Fits `Limiter`. Made above the workers; each then says which one it is (`enter`)."""

    is_shared = True

    def __init__(self, workers: int) -> None:
        self._size = _HASH_BYTES + Row.size(workers=workers) * _NUMBER_BYTES
        """Of a row."""
        try:
            self._rows = _nameless("canonicall-spent")
            self._revoked = _nameless("canonicall-revoked")
        except OSError as error:
            what = f"several workers need a file for temporary use: {error.strerror}."
            help = "Let TMPDIR be a folder that can be written, or set server.workers to 1."
            raise SharedMemoryError(f"{what} {help}") from None
        # Whatever is written goes to the end, whoever wrote there before.
        flags = fcntl.fcntl(self._revoked, fcntl.F_GETFL)
        fcntl.fcntl(self._revoked, fcntl.F_SETFL, flags | os.O_APPEND)
        self._all = _Lock(self._rows, 0, 0)
        self._worker = 0
        self._keys: dict[str, _Shared] = {}
        self._has_read = 0
        """How far this process has read the list of revoked keys."""

    def enter(self, worker: int) -> None:
        """This process is that worker from now on, in the place of one that may have died."""
        self._worker = worker
        with self._all:
            self._keys = self._mapped()
            for one in self._keys.values():
                one.row.begin_anew()

    def know(self, keys: Iterable[str]) -> None:
        """Give each key a row that has none; none is ever taken away."""
        with self._all:
            self._keys = self._mapped()
            new = sorted(set(keys) - self._keys.keys())
            for key in new:
                # Written, so that there is room for it: memory without would end the process.
                empty = _named(key).ljust(self._size, b"\0")
                os.pwrite(self._rows, empty, os.fstat(self._rows).st_size)
            if new:
                self._keys = self._mapped()

    async def begin(self, key: str, limits: KeyLimits, now: float) -> LimitReached | None:
        row, lock = self._keys[key]
        with lock:
            return row.begin(limits, now)

    def end(self, key: str, tokens: int, now: float) -> None:
        row, lock = self._keys[key]
        with lock:
            row.end(tokens, now)

    async def spent(self, key: str, now: float) -> KeyUse:
        row, lock = self._keys[key]
        with lock:
            return row.spent(now)

    async def revoke(self, key: str) -> None:
        os.write(self._revoked, _named(key))

    async def newly_revoked(self) -> set[str]:
        data = os.pread(self._revoked, _AT_ONCE, self._has_read)
        whole = len(data) - len(data) % _HASH_BYTES
        self._has_read += whole
        return {_name(data[at : at + _HASH_BYTES]) for at in range(0, whole, _HASH_BYTES)}

    def close(self) -> None:
        """Close the files, in this process."""
        os.close(self._rows)
        os.close(self._revoked)

    def _mapped(self) -> dict[str, _Shared]:
        """All rows there are, as memory."""
        end = os.fstat(self._rows).st_size
        if end == 0:
            return {}
        memory = memoryview(mmap.mmap(self._rows, end))
        found: dict[str, _Shared] = {}
        for at in range(0, end, self._size):
            name = _name(bytes(memory[at : at + _HASH_BYTES]))
            numbers = memory[at + _HASH_BYTES : at + self._size].cast("q")
            row = Row(numbers, worker=self._worker)
            found[name] = _Shared(row, _Lock(self._rows, at, self._size))
        return found


class _Lock:
    """A part of a file, for one process at a time; a length of 0 is all of it."""

    __slots__ = ("_at", "_file", "_length")

    def __init__(self, file: int, at: int, length: int) -> None:
        self._file = file
        self._at = at
        self._length = length

    def __enter__(self) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_EX, self._length, self._at)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN, self._length, self._at)


def _named(key: str) -> bytes:
    return key.encode().ljust(_HASH_BYTES, b"\0")


def _name(data: bytes) -> str:
    return data.rstrip(b"\0").decode()


def _nameless(purpose: str) -> int:
    """A file that nobody else can open; in memory, where the system has that."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(purpose)
    with tempfile.TemporaryFile(buffering=0) as opened:
        return os.dup(opened.fileno())
