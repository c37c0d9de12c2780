"""The files that a long conversion writes: each beside its place until everything is there.

`OUT.part` grows while the work goes on. Beside it `OUT.part.json` says how much of the input is
done and how many bytes of each file belong to that. A run that was killed goes on from there: what
was written behind the last such mark is cut off and made again, so that the result is the same to
the byte.
"""

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.cli.converting import Done, Tally
from canonicall.cli.files import UnusableFile

if sys.platform != "win32":
    import fcntl

_CHUNKS_BETWEEN_MARKS = 8
_STATE_VERSION = 1


class Mark(Struct, frozen=True):
    """How far the work is, safely on the disk."""

    settings: dict[str, object]
    """What must be the same for the work to go on: the input, the target, the version."""
    line: int = 0
    offset: int = 0
    sizes: dict[str, int] = {}
    """How many bytes of each file belong to that."""
    tally: Tally = msgspec.field(default_factory=Tally)
    is_finished: bool = False
    """Everything is written; only the names may still be those of unfinished files."""
    version: int = _STATE_VERSION


def _claim(file: BinaryIO) -> None:
    """Have a file alone. The claim ends with the process, however that ends."""
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class PartFile:
    """One file, beside its place until it is kept."""

    def __init__(self, name: str, *, is_kept_empty: bool = True) -> None:
        self.place = Path(os.path.realpath(name))
        self.part = self.place.with_name(f"{self.place.name}.part")
        self._is_kept_empty = is_kept_empty
        self._file: BinaryIO | None = None

    def open(self, size: int) -> None:
        """Start anew, or behind the first `size` bytes of what is there."""
        try:
            self._file = self.part.open("ab")
            _claim(self._file)
            self._file.truncate(size)
        except BlockingIOError:
            what = "another run is writing it. Wait for its end, or choose another place."
            raise UnusableFile(str(self.part), what) from None
        except OSError as error:
            what = f"it cannot be written: {error.strerror}. Choose another place."
            raise UnusableFile(str(self.part), what) from None

    def write(self, data: bytes) -> None:
        if self._file is not None:
            self._file.write(data)

    def secure(self) -> int:
        """Have everything on the disk; how many bytes that are."""
        if self._file is None:
            return 0
        self._file.flush()
        os.fsync(self._file.fileno())
        return os.fstat(self._file.fileno()).st_size

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def keep(self) -> None:
        """Give it its name. Done again after a crash, it does nothing more."""
        if not self.part.exists():
            return
        if not self._is_kept_empty and not self.part.stat().st_size:
            # What an earlier run left under this name belonged to the output that is replaced.
            self.part.unlink()
            self.place.unlink(missing_ok=True)
            return
        if self.place.exists():
            shutil.copymode(self.place, self.part)
        self.part.replace(self.place)

    def discard(self) -> None:
        self.close()
        with suppress(OSError):
            self.part.unlink(missing_ok=True)


class ResumableFiles:
    """The files of one conversion. A `with` block that ends well gives them their names."""

    def __init__(self, files: dict[str, PartFile], state: str, settings: dict[str, object]) -> None:
        self._files = files
        self._state = Path(f"{os.path.realpath(state)}.part.json") if state else None
        self.mark = Mark(settings)
        self._since_mark = 0
        self._is_open = False

    def resume(self, name: str) -> None:
        """Go on from the mark of an earlier run, if there is one."""
        if self._state is None or not self._state.exists():
            return
        try:
            found = msgspec.json.decode(self._state.read_bytes(), type=Mark)
        except msgspec.DecodeError as error:
            what = f"this is not the state of a conversion: {error}. Run without --resume."
            raise UnusableFile(str(self._state), what) from None
        wanted = self.mark.settings
        changed = [key for key in wanted if found.settings.get(key) != wanted[key]]
        if changed or found.version != _STATE_VERSION:
            what = f"it is not what it was ({', '.join(changed) or 'version'})."
            raise UnusableFile(name, f"{what} Run without --resume to start anew.")
        missing = [key for key, size in found.sizes.items() if not self._has(key, size)]
        if missing and not found.is_finished:
            what = f"less is there than was written ({', '.join(missing)})."
            raise UnusableFile(str(self._state), f"{what} Run without --resume to start anew.")
        self.mark = found

    def __enter__(self) -> Self:
        if not self.mark.is_finished:
            for key, file in self._files.items():
                file.open(self.mark.sizes.get(key, 0))
            if self._state is not None and not self.mark.line:
                self._state.unlink(missing_ok=True)
        self._is_open = True
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self._finish()
        elif self.is_resumable and not issubclass(kind, UnusableFile):
            for file in self._files.values():
                # What is in the buffers is behind the mark: whether it gets to the disk is one.
                with suppress(OSError):
                    file.close()
        else:
            self.discard()

    @property
    def is_resumable(self) -> bool:
        """Whether something of the work of this run is safe."""
        return self._is_open and self._state is not None and self._state.exists()

    def add(self, done: Done) -> None:
        """Write what a chunk gave; now and then the mark moves on."""
        given = {
            "output": done.output,
            "rejected": b"".join(one.record for one in done.rejected),
            "report": done.report,
        }
        for key, file in self._files.items():
            file.write(given[key])
        self.mark.tally.add(done.tally)
        self.mark = replace(self.mark, line=done.line, offset=done.offset)
        self._since_mark += 1
        if self._since_mark == _CHUNKS_BETWEEN_MARKS:
            self._set_mark()

    def discard(self) -> None:
        """Leave nothing behind."""
        for file in self._files.values():
            file.discard()
        if self._state is not None:
            self._state.unlink(missing_ok=True)

    def _has(self, key: str, size: int) -> bool:
        file = self._files.get(key)
        return file is not None and file.part.exists() and file.part.stat().st_size >= size

    def _set_mark(self) -> None:
        sizes = {key: file.secure() for key, file in self._files.items()}
        self.mark = replace(self.mark, sizes=sizes)
        self._since_mark = 0
        if self._state is None:
            return
        beside = self._state.with_name(f"{self._state.name}.new")
        with beside.open("wb") as file:
            file.write(msgspec.json.encode(self.mark))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._state)

    def _finish(self) -> None:
        if not self.mark.is_finished:
            self.mark = replace(self.mark, is_finished=True)
            self._set_mark()
        for file in self._files.values():
            file.close()
            file.keep()
        if self._state is not None:
            self._state.unlink(missing_ok=True)
