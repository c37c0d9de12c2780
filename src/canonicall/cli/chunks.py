"""A long file in chunks of lines, and work on them in several processes, in order.

At no time are more than a few chunks in memory, however long the file is and however slowly its
output is written.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from itertools import chain, cycle, islice
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import BinaryIO

from canonicall.cli.converting import Aim, Chunk, Done, convert_chunk
from canonicall.errors import CanonicallError
from canonicall.facts.registry import register_provider
from canonicall.importing.pieces import Piece

CHUNK_LINES = 256
CHUNK_BYTES = 512 * 1024
_CHUNKS_PER_WORKER = 3
"""How many are on their way for each process, so that none waits for work."""
_WORTH_PROCESSES = 4
"""Shorter files, in chunks, are done before a second process has started."""


class WorkerDied(CanonicallError):
    """A worker process ended before its work was done."""

    def __init__(self) -> None:
        super().__init__(
            "a worker process was ended from outside, perhaps for lack of memory."
            " Try again with a smaller --jobs."
        )


class CountedLines:
    """The lines of a file that is read from some place on. It knows where each of them ends."""

    def __init__(self, file: BinaryIO, *, line: int = 0, offset: int = 0) -> None:
        self._file = file
        self._line = line
        self._offset = offset
        self._ends: deque[tuple[int, int]] = deque()

    def __iter__(self) -> Iterator[bytes]:
        for line in self._file:
            self._line += 1
            self._offset += len(line)
            if line.strip():
                # Nobody asks for blank lines, and there may be any number of them.
                self._ends.append((self._line, self._offset))
            yield line

    def pieces(self) -> Iterator[Piece]:
        """Each line that is not blank, of a file that is known to have one document a line."""
        for line in self:
            if line.strip():
                yield Piece(line, self._line)

    def end_of(self, line: int) -> int:
        """Where a line ended that was read; asked in order, as what was asked is forgotten."""
        end = 0
        while self._ends and self._ends[0][0] <= line:
            _, end = self._ends.popleft()
        return end


def chunks(pieces: Iterable[Piece], lines: CountedLines) -> Iterator[Chunk]:
    """The lines of a file, some at a time."""
    held: list[Piece] = []
    size = end = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece.data)
        end = lines.end_of(piece.line)
        if size >= CHUNK_BYTES or len(held) == CHUNK_LINES:
            yield Chunk(tuple(held), piece.line, end)
            held, size = [], 0
    if held:
        yield Chunk(tuple(held), held[-1].line, end)


def all_done(work: Iterator[Chunk], aim: Aim, jobs: int) -> Generator[Done]:
    """Every chunk converted, in the order of the file."""
    first = list(islice(work, _WORTH_PROCESSES))
    if jobs == 1 or len(first) < _WORTH_PROCESSES:
        for group in (first, work):
            yield from (convert_chunk(chunk, aim) for chunk in group)
        return
    workers = [_Worker(aim) for _ in range(jobs)]
    waiting: deque[_Worker] = deque()
    try:
        for chunk, worker in zip(chain(first, work), cycle(workers), strict=False):
            if len(waiting) == jobs * _CHUNKS_PER_WORKER:
                yield waiting.popleft().take()
            worker.give(chunk)
            waiting.append(worker)
        while waiting:
            yield waiting.popleft().take()
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process that converts chunks, one after the other.

    The executors of the standard library can wait for ever after a worker was killed while it read
    a large piece of work. Here each worker has a connection of its own: where it ends, both sides
    know at once.
    """

    def __init__(self, aim: Aim) -> None:
        # A forked process would share locks and terminals; a spawned one is the same everywhere.
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_convert_chunks, args=(theirs, aim), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, chunk: Chunk) -> None:
        try:
            self._connection.send(chunk)
        except OSError:
            raise WorkerDied from None

    def take(self) -> Done:
        """The next chunk that is done, in the order in which they were given."""
        try:
            done: Done = self._connection.recv()
        except (EOFError, OSError):
            raise WorkerDied from None
        return done

    def end(self) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.join()


def _convert_chunks(connection: Connection, aim: Aim) -> None:
    """The life of a worker: until the parent closes the connection, or is gone."""
    # Ctrl-C is the parent's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for profile in aim.profiles:
        register_provider(profile, replace=True)
    given: SimpleQueue[Chunk | None] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, given), daemon=True).start()
    with suppress(OSError):
        while (chunk := given.get()) is not None:
            connection.send(convert_chunk(chunk, aim))


def _receive(connection: Connection, given: SimpleQueue[Chunk | None]) -> None:
    """Take work while other work is done, so that the parent never waits to hand it over."""
    with suppress(EOFError, OSError):
        while True:
            given.put(connection.recv())
    given.put(None)


def usable_cores() -> int:
    """How many cores this process may use."""
    count: Callable[[], int | None] = getattr(os, "process_cpu_count", os.cpu_count)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return count() or 1
