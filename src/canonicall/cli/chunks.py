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
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import BinaryIO

from canonicall.cli.converting import Aim, Chunk, Done, convert_chunk
from canonicall.errors import CanonicallError
from canonicall.importing.pieces import Piece

CHUNK_LINES = 256
CHUNK_BYTES = 512 * 1024
_WAITING_PER_JOB = 2
"""Chunks read ahead for each process, so that none waits for work."""
_WORTH_PROCESSES = 4
"""Shorter files, in chunks, are done before a second process has started."""


class WorkerDied(CanonicallError):
    """A worker process ended before its work was done."""

    def __init__(self) -> None:
        super().__init__(
            "a worker process was ended from outside, perhaps for lack of memory."
            " Try again with a smaller --jobs; --resume goes on where it stopped."
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
    # A forked process would share locks and terminals; a spawned one is the same everywhere.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare_worker)
    try:
        yield from _windowed(pool, (*first,), work, aim, jobs * (1 + _WAITING_PER_JOB))
    except BrokenProcessPool:
        raise WorkerDied from None
    finally:
        pool.shutdown(cancel_futures=True)


def _windowed(
    pool: ProcessPoolExecutor,
    first: Iterable[Chunk],
    rest: Iterable[Chunk],
    aim: Aim,
    window: int,
) -> Iterator[Done]:
    waiting: deque[Future[Done]] = deque()
    for group in (first, rest):
        for chunk in group:
            waiting.append(pool.submit(convert_chunk, chunk, aim))
            if len(waiting) == window:
                yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def usable_cores() -> int:
    """How many cores this process may use."""
    count: Callable[[], int | None] = getattr(os, "process_cpu_count", os.cpu_count)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return count() or 1


def _prepare_worker() -> None:
    """Ctrl-C is the parent's to handle, and a parent that was killed leaves no worker behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
