"""What the workers of one port know together of their keys: what is spent, and what is revoked.

Two files without a name, which the process above the workers makes before it forks: they end with
the last of them, and nothing is left on a disk. In the one each key has a row, which a worker
locks, reads and writes back for each request: so limits are exact, however many workers there are.
The system gives a lock up when its holder dies. The other is a list of revoked keys that only
grows, of which each worker reads what is new to it.

Only for systems that can fork: nothing else runs several workers.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterable
from struct import Struct

from canonicall.errors import CanonicallError
from canonicall.gateway.governance.windows import KEPT_OF_WINDOW, Spent, Window

_HASH_BYTES = 72
"""`sha256:` and 64 digits, in words of 8 bytes."""
_AT_ONCE = 10_000 * _HASH_BYTES
"""As much of the list of revoked keys as is read in one go."""
_RUNNING = Struct("=q")


class LedgerError(CanonicallError):
    """There is no place for what workers have to know together."""


class Ledger:
    """Made above the workers; each of them then says which one it is (`enter`)."""

    def __init__(self, workers: int) -> None:
        self._layout = _Layout(workers)
        try:
            self._rows = _nameless("canonicall-spent")
            self._revoked = _nameless("canonicall-revoked")
            # Whatever is written goes to the end, whoever wrote there before.
            flags = fcntl.fcntl(self._revoked, fcntl.F_GETFL)
            fcntl.fcntl(self._revoked, fcntl.F_SETFL, flags | os.O_APPEND)
        except OSError as error:
            what = f"several workers need a file for temporary use: {error.strerror}."
            help = "Let TMPDIR be a folder that can be written, or set server.workers to 1."
            raise LedgerError(f"{what} {help}") from None
        self._worker = 0
        self._has_read = 0
        """How far this process has read the list of revoked keys."""

    def enter(self, worker: int) -> None:
        """This process is that worker from now on. What ran in one before it runs no more."""
        self._worker = worker
        with _Locked(self._rows, 0, 0):
            for at in range(0, os.fstat(self._rows).st_size, self._layout.size):
                os.pwrite(self._rows, _RUNNING.pack(0), at + self._layout.running_of(worker))

    def rows(self, hashes: Iterable[str]) -> "dict[str, Row]":
        """The row of each key. One that has none gets an empty one; none is ever taken away."""
        size = self._layout.size
        with _Locked(self._rows, 0, 0):
            end = os.fstat(self._rows).st_size
            known = {os.pread(self._rows, _HASH_BYTES, at): at for at in range(0, end, size)}
            found: dict[str, Row] = {}
            for hash in hashes:
                name = hash.encode().ljust(_HASH_BYTES, b"\0")
                if name not in known:
                    os.pwrite(self._rows, name.ljust(size, b"\0"), end)
                    known[name] = end
                    end += size
                found[hash] = Row(self._rows, known[name], self._layout, self._worker)
        return found

    def revoke(self, hash: str) -> None:
        """Tell all workers that a key is revoked."""
        os.write(self._revoked, hash.encode().ljust(_HASH_BYTES, b"\0"))

    def newly_revoked(self) -> set[str]:
        """The keys that were revoked since this worker asked the last time, by any of them."""
        data = os.pread(self._revoked, _AT_ONCE, self._has_read)
        whole = len(data) - len(data) % _HASH_BYTES
        self._has_read += whole
        names = (data[at : at + _HASH_BYTES] for at in range(0, whole, _HASH_BYTES))
        return {name.rstrip(b"\0").decode() for name in names}

    def close(self) -> None:
        """Close the files, in this process."""
        os.close(self._rows)
        os.close(self._revoked)


class Row:
    """What one key has spent, in all workers. `with row as spent` holds it, and keeps what is
    changed; an error leaves it as it was."""

    __slots__ = ("_at", "_file", "_layout", "_locked", "_running", "_spent", "_worker")

    def __init__(self, file: int, at: int, layout: "_Layout", worker: int) -> None:
        self._file = file
        self._at = at + _HASH_BYTES
        self._layout = layout
        self._locked = _Locked(file, at, layout.size)
        self._worker = worker
        self._running: list[int] = []
        """In each worker."""
        self._spent = Spent()

    def __enter__(self) -> Spent:
        self._locked.__enter__()
        layout = self._layout
        numbers = layout.numbers.unpack(os.pread(self._file, layout.numbers.size, self._at))
        self._running = list(numbers[layout.windows :])
        self._spent = Spent(
            running=sum(self._running),
            requests=Window(numbers[:KEPT_OF_WINDOW]),
            tokens=Window(numbers[KEPT_OF_WINDOW : layout.windows]),
        )
        return self._spent

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                os.pwrite(self._file, self._written(), self._at)
        finally:
            self._locked.__exit__()

    def _written(self) -> bytes:
        spent, running = self._spent, self._running
        running[self._worker] += spent.running - sum(running)
        return self._layout.numbers.pack(*spent.requests.kept(), *spent.tokens.kept(), *running)


class _Layout:
    """Where things stand in a row: hash, requests, tokens, and what runs in each worker."""

    def __init__(self, workers: int) -> None:
        self.windows = 2 * KEPT_OF_WINDOW
        self.numbers = Struct(f"={self.windows + workers}q")
        # A power of two, so that no row lies across the end of a page: the system writes what is
        # in one page wholly or not at all, even for a process that is killed.
        self.size = 1 << (_HASH_BYTES + self.numbers.size - 1).bit_length()

    def running_of(self, worker: int) -> int:
        return _HASH_BYTES + (self.windows + worker) * _RUNNING.size


class _Locked:
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


def _nameless(purpose: str) -> int:
    """A file that nobody else can open; in memory, where the system has that."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(purpose)
    with tempfile.TemporaryFile(buffering=0) as opened:
        return os.dup(opened.fileno())
