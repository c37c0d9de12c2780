"""Files a model may look at: those in one folder, read only, of a bearable size.

Nothing outside is reached, neither by `..` nor by an absolute path nor by a link that leads out.
Names that begin with a dot are left alone: keys and the insides of programs are kept there.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from canonicall.errors import CanonicallError

MOST_LISTED = 500
MOST_LINES = 400
MOST_HITS = 100
_MOST_SEARCHED = 5000
_LARGEST = 1_000_000
"""Bytes of a file that is read or searched."""
_LONGEST_LINE = 400


class OutOfReach(CanonicallError):
    """A file that is not there, not text, too large, or none of the model's business."""


class Folder:
    """One folder and what is in it."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def listed(self, name: str) -> list[str]:
        """What is in a folder; folders end with a slash, files have their size."""
        place = self._inside(name)
        try:
            if not place.is_dir():
                raise OutOfReach(f"{name}: there is no such folder.")
            lines = [self._line(one) for one in sorted(place.iterdir()) if self._is_shown(one)]
        except OSError as error:
            raise OutOfReach(f"{name}: {error.strerror}.") from None
        if len(lines) > MOST_LISTED:
            more = len(lines) - MOST_LISTED
            lines = [*lines[:MOST_LISTED], f"[... {more:,} more ...]"]
        return lines

    def lines(self, name: str, first: int) -> list[str]:
        """Lines of a text file from a number on, counted from 1."""
        lines = self._text(self._inside(name), name).splitlines()
        shown = [line[:_LONGEST_LINE] for line in lines[first - 1 : first - 1 + MOST_LINES]]
        if len(lines) > first - 1 + len(shown):
            shown.append(f"[... {len(lines):,} lines in all; go on at {first + MOST_LINES} ...]")
        return shown

    def hits(self, text: str) -> list[str]:
        """Lines that hold a text, whatever the case, each with its place."""
        wanted = text.lower()
        found: list[str] = []
        for path in self._files():
            place = path.relative_to(self._root).as_posix()
            try:
                lines = self._text(path, place).splitlines()
            except OutOfReach:
                continue
            for number, line in enumerate(lines, 1):
                if wanted in line.lower():
                    found.append(f"{place}:{number}: {line.strip()[:_LONGEST_LINE]}")
                if len(found) >= MOST_HITS:
                    return [*found, "[... there may be more ...]"]
        return found

    def _inside(self, name: str) -> Path:
        try:
            place = (self._root / name).resolve()
        except (OSError, RuntimeError, ValueError):
            raise OutOfReach(f"{name}: this is no path.") from None
        if not place.is_relative_to(self._root):
            raise OutOfReach(f"{name}: it is outside the working folder.")
        if any(part.startswith(".") for part in place.relative_to(self._root).parts):
            raise OutOfReach(f"{name}: names that begin with a dot are not read.")
        return place

    def _text(self, path: Path, name: str) -> str:
        try:
            if not path.is_file():
                # A pipe or a device may never end.
                raise OutOfReach(f"{name}: there is no such file.")
            # The path has been followed to its end: a link there now was put there since.
            with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:  # noqa: PTH123
                data = file.read(_LARGEST + 1)
        except OSError as error:
            raise OutOfReach(f"{name}: {error.strerror}.") from None
        if len(data) > _LARGEST:
            raise OutOfReach(f"{name}: it is larger than {_LARGEST:,} bytes.")
        if b"\x00" in data:
            raise OutOfReach(f"{name}: it is not text.")
        return data.decode("utf-8", "replace")

    def _files(self) -> Iterator[Path]:
        """All files, without following links to folders."""
        left = _MOST_SEARCHED
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                path = Path(folder, name)
                if self._is_shown(path) and not path.is_symlink():
                    left -= 1
                    yield path
                if left <= 0:
                    return

    def _is_shown(self, path: Path) -> bool:
        if path.name.startswith("."):
            return False
        return not path.is_symlink() or path.resolve().is_relative_to(self._root)

    def _line(self, path: Path) -> str:
        if path.is_dir():
            return f"{path.name}/"
        return f"{path.name} ({path.stat().st_size:,} bytes)"
