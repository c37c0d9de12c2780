"""Two drivers side by side.

In: the lines of two runs of the driver with the same plan, or two revisions to run it against. Out:
a `Comparison`: how many records there were and the groups of their differences. Lines are compared
as bytes; only those that differ are read. Nothing is stored: the drivers wait for each other.
"""

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import msgspec

from scripts.golden.contents import differences
from scripts.golden.groups import Groups, Source
from scripts.golden.plan import Names, Plan
from scripts.revisions import ROOT, Revision

_DRIVER = ("-m", "scripts.golden.driver")
_PIPE = 1 << 20
"""Bytes that a driver may be ahead of the other one."""


class DriverFailed(Exception):
    """A driver ended before its last record, or wrote what the other one did not."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two runs differ in."""

    records: dict[str, int]
    """How many records of each kind there were."""
    groups: Groups


class Progress:
    """Says to a person who waits how far it is. How much there is to do is not known."""

    def __init__(self, out: IO[str] = sys.stderr, seconds: float = 2.0) -> None:
        self._out = out
        self._seconds = seconds
        self._next = time.monotonic() + seconds

    def show(self, text: str) -> None:
        """A line every few seconds; on a terminal it replaces the previous one."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._seconds
        end = "\r" if self._out.isatty() else "\n"
        print(text, end=end, file=self._out, flush=True)

    def end(self) -> None:
        """Leave the line that was written over and over."""
        if self._out.isatty():
            print(file=self._out)


def compare(
    before: Iterable[bytes],
    after: Iterable[bytes],
    *,
    examples: int = 3,
    progress: Progress | None = None,
) -> Comparison:
    """The differences between the lines of two drivers."""
    groups = Groups(examples)
    count = different = 0
    last = b""
    for one, other in zip(before, after, strict=False):
        count += 1
        last = one
        if one != other:
            different += 1
            _add(groups, one, other)
        if progress is not None and not count % 4096:
            progress.show(f"{count:,} records, {different:,} differ")
    if progress is not None:
        progress.end()
    if not last.startswith(b"end\t"):
        raise DriverFailed(f"a driver ended after {count:,} records; its error is above")
    return Comparison(msgspec.json.decode(last[4:], type=dict[str, int]), groups)


def run_both(
    before: Revision, after: Revision, plan: Plan, *, examples: int = 3, quiet: bool = False
) -> Comparison:
    """Run the driver against two revisions at the same time and compare what it writes."""
    progress = None if quiet else Progress()
    with running(before, plan) as one, running(after, plan) as other:
        return compare(one, other, examples=examples, progress=progress)


@contextmanager
def running(revision: Revision, plan: Plan) -> Iterator[IO[bytes]]:
    """The lines of a driver at work against a revision. It is ended with the block."""
    run = subprocess.Popen(  # noqa: S603 -- our own driver
        [revision.python, *_DRIVER],
        env=revision.environment(),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=_PIPE,
        pipesize=_PIPE,
    )
    assert run.stdin is not None
    assert run.stdout is not None
    try:
        run.stdin.write(msgspec.json.encode(plan))
        run.stdin.close()
        yield run.stdout
    except BaseException:
        run.kill()
        raise
    finally:
        run.stdout.close()
        run.wait()
    if run.returncode:
        raise DriverFailed(f"the driver failed with {revision.label}")


def names(revision: Revision) -> Names:
    """The providers, formats and models that a revision knows."""
    asked = subprocess.run(  # noqa: S603 -- our own driver
        [revision.python, *_DRIVER, "--names"],
        env=revision.environment(),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=False,
    )
    if asked.returncode:
        raise DriverFailed(f"the driver failed with {revision.label}")
    return msgspec.json.decode(asked.stdout, type=Names)


def _add(groups: Groups, one: bytes, other: bytes) -> None:
    """Put two lines that differ into their groups."""
    *key, codes, content = one.rstrip(b"\n").split(b"\t", 5)
    *other_key, other_codes, other_content = other.rstrip(b"\n").split(b"\t", 5)
    if key != other_key or len(key) != 4:
        raise DriverFailed(f"the drivers wrote different records: {key} and {other_key}")
    source = Source(*(part.decode() for part in key))
    found = differences(source.kind, (codes, content), (other_codes, other_content))
    groups.add(source, found)
