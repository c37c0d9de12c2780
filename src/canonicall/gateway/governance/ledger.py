"""What the workers of one port know together of their keys: what is spent, and what is revoked.

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
from canonicall.gateway.governance.windows import Spent

_HASH_BYTES = 72
"""`sha256:` and 64 digits, in words of 8 bytes."""
_NUMBER_BYTES = 8
_AT_ONCE = 10_000 * _HASH_BYTES
"""As much of the list of revoked keys as is read in one go."""


class LedgerError(CanonicallError):
    """There is no place for what workers have to know together."""


class Row(NamedTuple):
    """One key."""

    spent: Spent
    """In all workers: the same memory in each of them."""
    lock: "Lock"
    """To be held by whoever looks at it."""


class Ledger:
    """Made above the workers; each of them then says which one it is (`enter`)."""

    def __init__(self, workers: int) -> None:
        self._size = _HASH_BYTES + Spent.count(workers=workers) * _NUMBER_BYTES
        """Of a row."""
        try:
            self._rows = _nameless("canonicall-spent")
            self._revoked = _nameless("canonicall-revoked")
        except OSError as error:
            what = f"several workers need a file for temporary use: {error.strerror}."
            help = "Let TMPDIR be a folder that can be written, or set server.workers to 1."
            raise LedgerError(f"{what} {help}") from None
        # Whatever is written goes to the end, whoever wrote there before.
        flags = fcntl.fcntl(self._revoked, fcntl.F_GETFL)
        fcntl.fcntl(self._revoked, fcntl.F_SETFL, flags | os.O_APPEND)
        self._all = Lock(self._rows, 0, 0)
        self._worker = 0
        self._has_read = 0
        """How far this process has read the list of revoked keys."""

    def enter(self, worker: int) -> None:
        """This process is that worker from now on, in the place of one that may have died."""
        self._worker = worker
        with self._all:
            for row in self._mapped().values():
                row.spent.begin_anew()

    def rows(self, hashes: Iterable[str]) -> dict[str, Row]:
        """The row of each key. One that has none gets an empty one; none is ever taken away."""
        with self._all:
            known = self._mapped()
            new = sorted(set(hashes) - known.keys())
            for hash in new:
                # Written, so that there is room for it: memory without would end the process.
                empty = _named(hash).ljust(self._size, b"\0")
                os.pwrite(self._rows, empty, os.fstat(self._rows).st_size)
            return self._mapped() if new else known

    def revoke(self, hash: str) -> None:
        """Tell all workers that a key is revoked."""
        os.write(self._revoked, _named(hash))

    def newly_revoked(self) -> set[str]:
        """The keys that were revoked since this worker asked the last time, by any of them."""
        data = os.pread(self._revoked, _AT_ONCE, self._has_read)
        whole = len(data) - len(data) % _HASH_BYTES
        self._has_read += whole
        return {_name(data[at : at + _HASH_BYTES]) for at in range(0, whole, _HASH_BYTES)}

    def close(self) -> None:
        """Close the files, in this process."""
        os.close(self._rows)
        os.close(self._revoked)

    def _mapped(self) -> dict[str, Row]:
        """All rows there are, as memory."""
        end = os.fstat(self._rows).st_size
        if end == 0:
            return {}
        memory = memoryview(mmap.mmap(self._rows, end))
        found: dict[str, Row] = {}
        for at in range(0, end, self._size):
            name = _name(bytes(memory[at : at + _HASH_BYTES]))
            numbers = memory[at + _HASH_BYTES : at + self._size].cast("q")
            spent = Spent(numbers, worker=self._worker)
            found[name] = Row(spent, Lock(self._rows, at, self._size))
        return found


class Lock:
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


def _named(hash: str) -> bytes:
    return hash.encode().ljust(_HASH_BYTES, b"\0")


def _name(data: bytes) -> str:
    return data.rstrip(b"\0").decode()


def _nameless(purpose: str) -> int:
    """A file that nobody else can open; in memory, where the system has that."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(purpose)
    with tempfile.TemporaryFile(buffering=0) as opened:
        return os.dup(opened.fileno())
