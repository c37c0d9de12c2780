"""Files of the command line: read as lines, written whole or not at all.

"-" is standard input or output. A file is written beside its place and renamed when it is complete,
so that neither Ctrl-C nor a full disk leaves half of one.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

import click

from canonicall.errors import CanonicallError

STANDARD = "-"


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
    """A file, or standard input, as bytes."""
    with click.open_file(name, "rb") as file:
        yield cast(BinaryIO, file)


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
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    opened = _opened(beside, name)
    try:
        with opened as part:
            yield part
            part.flush()
            os.fsync(part.fileno())
        if not wanted():
            beside.unlink()
            return
        if place.exists():
            shutil.copymode(place, beside)
        beside.replace(place)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _opened(beside: Path, name: str) -> BinaryIO:
    try:
        return beside.open("xb")
    except OSError as error:
        what = f"it cannot be written: {error.strerror}. Choose another place."
        raise UnusableFile(name, what) from None


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
