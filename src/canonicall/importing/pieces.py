"""A file as its documents: one, or one a line, without holding more than a line in memory.

In: the lines of a file. Out: the bytes of each document, with the line it stands in. A file is read
line by line where its first line is a document by itself and another line follows, or is no
beginning of one and the second is a document: the rest of a log that was cut. Otherwise all of it
is one document.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec
from msgspec import Struct

from canonicall.errors import MalformedBody
from canonicall.importing.documents import AUTO, kind_of, without_mark
from canonicall.importing.halves import without_halves

MOST_BYTES = 512 * 1024 * 1024
"""The most bytes of one document, or of one line; the longest sessions have a hundred million."""
_BEGINNINGS = (b"{", b"[")


class Piece(Struct, frozen=True):
    """The bytes of one document."""

    data: bytes
    line: int = 0
    """The line it stands in, from 1; 0 where the whole file is the document."""


def pieces(lines: Iterable[bytes], format: str = AUTO) -> Iterator[Piece]:
    """The documents of a file, one after the other. A file without any is one empty document."""
    numbered = enumerate(_bounded(lines), 1)
    before: list[bytes] = []
    for number, line in numbered:
        before.append(line)
        if without_mark(line).strip():
            if _stands_alone(line, format):
                yield from _line_by_line(number, line, numbered)
                return
            if without_mark(line).lstrip()[:1] in _BEGINNINGS:
                break
            second = next(((at, line) for at, line in numbered if line.strip()), (0, b""))
            if _stands_alone(second[1], format):
                yield from _line_by_line(number, line, chain([second], numbered))
                return
            before.append(second[1])
            break
    rest = (line for _, line in numbered)
    yield Piece(_joined(chain(before, rest)))


def _bounded(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines; `MalformedBody` at one that does not end."""
    read = getattr(lines, "readline", None)
    if read is None:
        yield from lines
        return
    while line := read(MOST_BYTES + 1):
        _check(len(line))
        yield line


def _joined(lines: Iterable[bytes]) -> bytes:
    """All lines as one document; `MalformedBody` where there is no end of them."""
    kept: list[bytes] = []
    size = 0
    for line in lines:
        size += len(line)
        _check(size)
        kept.append(line)
    return b"".join(kept)


def _check(size: int) -> None:
    if size > MOST_BYTES:
        what = f"the document has more than {MOST_BYTES:,} bytes."
        raise MalformedBody(f"{what} Give a file with one document a line, or a shorter one.")


def _stands_alone(line: bytes, format: str) -> bool:
    """Whether a first line is a document of its own, and not the beginning of one."""
    if kind_of(line, format).is_whole_file:
        return False
    try:
        return isinstance(msgspec.json.decode(without_halves(without_mark(line))), dict | list)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _line_by_line(number: int, first: bytes, rest: Iterator[tuple[int, bytes]]) -> Iterator[Piece]:
    """Each line that is not blank. A single one is the whole file."""
    others = ((at, line) for at, line in rest if line.strip())
    second = next(others, None)
    if second is None:
        yield Piece(first)
        return
    yield Piece(first, number)
    yield Piece(second[1], second[0])
    yield from (Piece(line, at) for at, line in others)
