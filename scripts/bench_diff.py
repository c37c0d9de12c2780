"""CPU time of the working tree compared with that of a revision: `make bench-diff REV=main`.

Each round starts two worker processes, one per revision. They run the same driver
(`benchmarks/subjects.py`) on the same inputs, in turn and never at the same time: first A then B,
after that B then A. A round gives one ratio for each subject, working tree / revision. Processes
do not live longer than a round because where code and data happen to lie in memory makes one faster
than another by one or two percent for as long as it lives.

The result is the median of the ratios and its 95 % confidence interval, read off the sorted ratios
(the interval of the sign test). It makes no assumption about their distribution, and it is robust:
of 15 rounds, three at either end are left out, so they may be as far off as they like.

A limit is broken only if the whole interval lies beyond it; then the exit code is 1. An interval
with the limit inside is unclear: more rounds make it narrower.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from math import ceil, comb
from statistics import median
from typing import IO, Any, NamedTuple

from scripts.revisions import ROOT, Revision, RevisionError, checkout

ROUNDS = 15
LIMIT = 1.03
CONFIDENCE = 0.95
BATCH_SECONDS = 0.05
"""How long one batch takes at least."""
WORKER = ROOT / "benchmarks" / "subjects.py"
_LINE = "{:26} {:>12} {:>12} {:>7}  {:17} {}"


class Spread(NamedTuple):
    """The median of some ratios and its confidence interval."""

    median: float
    low: float
    high: float

    def verdict(self, limit: float) -> str:
        """Whether the median is within a limit, as far as the interval shows."""
        if self.low > limit:
            return "BROKEN"
        return "within" if self.high <= limit else "unclear"


class Cost(NamedTuple):
    """Seconds of CPU time for one piece of work."""

    before: float
    after: float

    @property
    def ratio(self) -> float:
        return self.after / self.before


class Difference(NamedTuple):
    """What a subject costs in both revisions."""

    subject: str
    cost: Cost
    """The median of all rounds."""
    spread: Spread


def spread_of(ratios: Sequence[float]) -> Spread:
    """The median and its interval. Six ratios are the least that 95 % can be said of."""
    ordered = sorted(ratios)
    outside = _outside(len(ordered))
    return Spread(median(ordered), ordered[outside], ordered[-1 - outside])


def _outside(rounds: int) -> int:
    """How many ratios at each end lie outside of the interval.

    Each ratio is below the true median with probability one half. So the median is below the k-th
    smallest ratio with the probability that fewer than k of them are below it.
    """
    allowed = (1 - CONFIDENCE) / 2 * 2**rounds
    outside, ways = 0, 1
    while ways + comb(rounds, outside + 1) <= allowed:
        outside += 1
        ways += comb(rounds, outside)
    return outside


def difference_of(subject: str, costs: Sequence[Cost]) -> Difference:
    """What the rounds of one subject show."""
    before, after = median(one.before for one in costs), median(one.after for one in costs)
    return Difference(subject, Cost(before, after), spread_of([one.ratio for one in costs]))


class Worker:
    """A process that measures with the source of one revision."""

    def __init__(self, label: str, asked: IO[str], answered: IO[str]) -> None:
        self._label, self._asked, self._answered = label, asked, answered
        self.subjects: list[str] = self._answer("starting")

    def seconds(self, subject: str, batch: int, size: int) -> float:
        """The CPU time of one batch."""
        self._asked.write(json.dumps({"subject": subject, "batch": batch, "size": size}) + "\n")
        self._asked.flush()
        seconds: float = self._answer(subject)
        return seconds

    def _answer(self, what: str) -> Any:
        line = self._answered.readline()
        if not line:
            raise RevisionError(f"{self._label}: the worker has failed at {what}")
        return json.loads(line)


@contextmanager
def started(revision: Revision) -> Iterator[Worker]:
    """A worker of this revision, for as long as it is needed."""
    # Equal seeds, so that the order of sets is no difference.
    environment = {**revision.environment(), "PYTHONHASHSEED": "0"}
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: S603 -- the interpreter of the revision
        [revision.python, WORKER], env=environment, stdin=pipe, stdout=pipe, text=True
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Worker(revision.label, process.stdin, process.stdout)
        finally:
            process.kill()


class Comparison:
    """Two revisions, measured side by side."""

    def __init__(self, before: Revision, after: Revision, subjects: Sequence[str] = ()) -> None:
        self._before, self._after = before, after
        with started(before) as worker:
            known = worker.subjects
        unknown = [one for one in subjects if one not in known]
        if unknown:
            raise RevisionError(f"There is no subject {unknown[0]!r}; there are {', '.join(known)}")
        self.subjects = list(subjects) or known
        self._sizes: dict[str, int] = {}
        self._batches = count()

    def differences(self, rounds: int) -> list[Difference]:
        """What that many rounds show."""
        found = [self._round() for _ in range(rounds)]
        return [difference_of(one, [costs[one] for costs in found]) for one in self.subjects]

    def _round(self) -> dict[str, Cost]:
        """The cost of each subject in two new processes."""
        with started(self._before) as before, started(self._after) as after:
            return {one: self._cost(one, before, after) for one in self.subjects}

    def _cost(self, subject: str, before: Worker, after: Worker) -> Cost:
        """The mean of two batches in each process, after a small one that loads what is needed."""
        self._batch(subject, 1, before, after)
        size = self._sizes.get(subject) or self._batch_size(subject, before, after)
        self._sizes[subject] = size
        first = self._batch(subject, size, before, after)
        second = self._batch(subject, size, after, before)
        return Cost((first[0] + second[1]) / (2 * size), (first[1] + second[0]) / (2 * size))

    def _batch_size(self, subject: str, before: Worker, after: Worker) -> int:
        """How many pieces of work take long enough."""
        size = 1
        while (least := min(self._batch(subject, size, before, after))) < BATCH_SECONDS:
            size = ceil(size * min(10.0, 1.2 * BATCH_SECONDS / least))
        return size

    def _batch(self, subject: str, size: int, *workers: Worker) -> list[float]:
        """The seconds of each worker, one after the other, for the same new inputs."""
        batch = next(self._batches)
        return [worker.seconds(subject, batch, size) for worker in workers]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print a table, and say by the exit code whether a limit is broken."""
    asked = _parser().parse_args(arguments)
    try:
        before, after = checkout(asked.rev), checkout("")
        comparison = Comparison(before, after, asked.subjects)
        found = comparison.differences(asked.rounds)
    except RevisionError as error:
        print(error, file=sys.stderr)
        return 2
    print(
        f"CPU time of one piece of work, {asked.rounds} rounds: A is {before.label}, B is "
        f"{after.label}.\n"
    )
    print(_LINE.format("subject", "A", "B", "B / A", "95 % interval", f"limit {asked.limit:g}"))
    for one in found:
        print(_row(one, asked.limit))
    return int(any(one.spread.verdict(asked.limit) == "BROKEN" for one in found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rev", help="the revision to compare the working tree with")
    parser.add_argument(
        "--subjects", type=_names, default=(), metavar="A,B", help="all of them by default"
    )
    parser.add_argument("--rounds", type=_rounds, default=ROUNDS, help="%(default)s by default")
    parser.add_argument("--limit", type=float, default=LIMIT, help="%(default)s by default")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _rounds(text: str) -> int:
    if int(text) < ROUNDS:
        raise argparse.ArgumentTypeError(f"{ROUNDS} are the least")
    return int(text)


def _row(one: Difference, limit: float) -> str:
    spread = one.spread
    return _LINE.format(
        one.subject,
        f"{one.cost.before * 1e6:.1f} us",
        f"{one.cost.after * 1e6:.1f} us",
        f"{spread.median:.3f}",
        f"{spread.low:.3f} to {spread.high:.3f}",
        spread.verdict(limit),
    )


if __name__ == "__main__":
    sys.exit(main())
