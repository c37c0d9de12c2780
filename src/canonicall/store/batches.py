"""What waits for the one thread that writes it: taken in order, as many at a time as are there.

A write to a disk costs about the same for one thing as for many, so whatever came while the last
one was under way goes together.
"""

from collections.abc import Iterator
from queue import SimpleQueue
from typing import Generic, TypeVar

_Thing = TypeVar("_Thing")


class Waiting(Generic[_Thing]):
    """Any thread puts things in; one takes them out until the end."""

    def __init__(self, *, most_at_once: int) -> None:
        self._most_at_once = most_at_once
        self._queue: SimpleQueue[_Thing | None] = SimpleQueue()
        """None is the end."""

    def put(self, thing: _Thing) -> None:
        self._queue.put(thing)

    def end(self) -> None:
        """Nothing more comes: `batches` ends with what is there."""
        self._queue.put(None)

    def batches(self) -> Iterator[list[_Thing]]:
        """What there is to do, each time at least one thing; waits where there is none."""
        is_last = False
        while not is_last and (first := self._queue.get()) is not None:
            batch = [first]
            while len(batch) < self._most_at_once and not self._queue.empty():
                more = self._queue.get()
                if more is None:
                    is_last = True
                    break
                batch.append(more)
            yield batch
