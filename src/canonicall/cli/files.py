"""Files of the command line: read as lines, written whole or not at all.

"-" is standard input or output. A file is written without a name, and takes its place when it is
complete: neither Ctrl-C nor a kill nor a full disk leaves half of one, or anything beside it.
"""

import glob
import io
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import click

from canonicall.errors import CanonicallError

STANDARD = "-"
PATIENCE = 10.0
"""Seconds in which somebody has to write to a pipe that is read."""
_PAUSE = 0.01
_FIRST = 65536


class UnusableFile(CanonicallError):
    """A file does not hold what it should, or cannot be written; the text names the place."""

    def __init__(self, place: str, what: object) -> None:
        # "$" is all of the file, which is named already.
        super().__init__(f"{place}: {str(what).removeprefix('$: ')}")


def shown(name: str) -> str:
    """What a file is called in messages."""
    return "standard input" if name == STANDARD else click.format_filename(name)


def is_same_file(one: str, other: str) -> bool:
    """Whether two names are those of one file, by whatever way they lead there."""
    if STANDARD in (one, other):
        return False
    return os.path.realpath(one) == os.path.realpath(other)


@contextmanager
def reading(name: str) -> Iterator[BinaryIO]:
    """A file, or standard input, as bytes. A pipe that nobody writes to is an error."""
    if name != STANDARD and Path(os.path.realpath(name)).is_fifo():
        with _pipe(name) as file:
            yield file
        return
    with click.open_file(name, "rb") as file:
        yield cast(BinaryIO, file)


def _pipe(name: str) -> BinaryIO:
    """A named pipe once somebody writes to it: to open one the usual way may wait for ever."""
    number = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = _first_bytes(number, name)
        os.set_blocking(number, True)
    except BaseException:
        os.close(number)
        raise
    return cast(BinaryIO, io.BufferedReader(_Begun(number, first)))


def _first_bytes(number: int, name: str) -> bytes:
    """The first bytes of a pipe; none where somebody has it open, who will write or close it."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        try:
            if first := os.read(number, _FIRST):
                return first
        except BlockingIOError:
            return b""
        time.sleep(_PAUSE)
    what = f"this is a pipe, and nothing was written to it within {PATIENCE:g} s."
    raise UnusableFile(name, f"{what} Name a file, or use - and standard input.")


class _Begun(io.RawIOBase):
    """A pipe of which the first bytes were read already."""

    def __init__(self, number: int, first: bytes) -> None:
        self._file = io.FileIO(number)
        self._first = first

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if not self._first:
            return self._file.readinto(buffer)
        size = min(len(buffer), len(self._first))
        buffer[:size], self._first = self._first[:size], self._first[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def read_bytes(name: str) -> bytes:
    """All of a file, or of standard input."""
    with reading(name) as file:
        return file.read()


@contextmanager
def writing(name: str, *, wanted: Callable[[], bool] = lambda: True) -> Iterator[BinaryIO]:
    """A file, or standard output, to write to. The file appears when everything is written.

    `wanted` is asked at the very end whether it shall: if not, what was there stays.
    """
    place = Path(os.path.realpath(name))
    if name == STANDARD or (place.exists() and not place.is_file()):
        # A device or a pipe cannot be replaced, and must not be.
        with click.open_file(name, "wb") as file:
            yield cast(BinaryIO, file)
        return
    _clean(place)
    part = _opened(place, name)
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with part:
            yield part
            part.flush()
            os.fsync(part.fileno())
            if not wanted():
                return
            if place.exists():
                os.fchmod(part.fileno(), stat.S_IMODE(place.stat().st_mode))
            _name(part, beside)
        beside.replace(place)
    finally:
        with suppress(OSError):
            beside.unlink()


def _opened(place: Path, name: str) -> BinaryIO:
    """A file in the folder of `place` that has no name yet, where the system has such: whatever
    ends the program, nothing is left of it. Elsewhere it has the name that it gets in the end."""
    try:
        with suppress(OSError, AttributeError):
            return os.fdopen(os.open(place.parent, os.O_TMPFILE | os.O_RDWR, 0o666), "w+b")
        return place.with_name(f".{place.name}.{os.getpid()}.part").open("x+b")
    except OSError as error:
        what = f"it cannot be written: {error.strerror}. Choose another place."
        raise UnusableFile(name, what) from None


def _name(part: BinaryIO, beside: Path) -> None:
    """Give a file its name, unless it has one."""
    number = part.fileno()
    if not os.fstat(number).st_nlink:
        # A directory is named so that the link is made to what the name leads to.
        os.link(f"/proc/self/fd/{number}", beside, src_dir_fd=number, follow_symlinks=True)


def _clean(place: Path) -> None:
    """Remove what a run that was killed has left of `place`: others may be writing it now."""
    for left in place.parent.glob(f".{glob.escape(place.name)}.*.part"):
        owner = left.name.removesuffix(".part").rpartition(".")[2]
        if owner == str(os.getpid()) or (owner.isdigit() and not _is_running(int(owner))):
            left.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def back_up(name: str) -> str:
    """Copy a file to NAME.bak, or to the first of .bak1, .bak2, ... that is free."""
    backup, copy = _new_backup(name)
    try:
        with copy, Path(name).open("rb") as original:
            shutil.copyfileobj(original, copy)
        shutil.copystat(name, backup)
    except BaseException:
        backup.unlink(missing_ok=True)
        raise
    return str(backup)


def _new_backup(name: str) -> tuple[Path, BinaryIO]:
    number = 0
    while True:
        backup = Path(f"{name}.bak{number or ''}")
        try:
            return backup, backup.open("xb")
        except FileExistsError:
            number += 1
