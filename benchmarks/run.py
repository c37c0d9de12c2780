"""Runs the benchmarks and prints ratios: `make bench`, or `python benchmarks/run.py --help`.

Every other file in this folder that has a function `ratios` is a subject. A goal that is missed is
shown and changes nothing else: machines differ, and a benchmark is no test. The exception are the
must-rows of `growth`, which do not depend on the machine: one that is missed ends the run with 1.
`make test-all` runs them with a margin for noise: `benchmarks/run.py --only growth --margin 20`.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from measuring import Ratio

_COLUMNS = ("subject", "what", "ours", "other", "ratio", "goal", "met")
_LEFT = ("subject", "what")
_MET = {True: "yes", False: "NO", None: ""}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for and print it."""
    subjects = discovered()
    asked = _parser(subjects).parse_args(arguments)
    chosen = asked.only or subjects
    if asked.json:
        found = [(name, ratio) for name in chosen for ratio in import_module(name).ratios()]
        print(json.dumps([_as_record(name, ratio) for name, ratio in found], indent=2))
        return _exit_code((ratio for _, ratio in found), asked.margin)
    print("Seconds are for one unit: a call, a message, an entry. Best of several repeats.\n")
    found = [(name, ratio) for name in chosen for ratio in _measured(name)]
    rows = [_as_row(name, ratio) for name, ratio in found]
    print("\n".join(_table([dict(zip(_COLUMNS, _COLUMNS, strict=True)), *rows])))
    return _exit_code((ratio for _, ratio in found), asked.margin)


def _exit_code(found: Iterable[Ratio], margin: float) -> int:
    """1 if a must-row is missed by more than so many percent."""
    must = ((ratio, ratio.goal) for ratio in found if ratio.must)
    allowed = 1 + margin / 100
    missed = [
        ratio.what for ratio, goal in must if goal is not None and ratio.ratio > goal * allowed
    ]
    for what in missed:
        print(f"missed, and it must not be: {what}", file=sys.stderr)
    return 1 if missed else 0


def discovered() -> list[str]:
    """The names of all subjects, in order."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    others = [name for name in names if name != Path(__file__).stem]
    return [name for name in others if hasattr(import_module(name), "ratios")]


def _parser(subjects: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Print speed as ratios measured side by side.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--only", action="append", choices=subjects, metavar="NAME", help=", ".join(subjects)
    )
    parser.add_argument(
        "--margin",
        type=float,
        default=0,
        metavar="PERCENT",
        help="how far a must-row may miss its goal, for noise; %(default)s by default",
    )
    return parser


def _measured(name: str) -> list[Ratio]:
    """The ratios of one subject. A person who waits sees which one is running."""
    if sys.stderr.isatty():
        print(f"measuring {name} ...", file=sys.stderr)
    found: list[Ratio] = import_module(name).ratios()
    return found


def _as_record(name: str, ratio: Ratio) -> dict[str, object]:
    return {"subject": name, **ratio._asdict(), "ratio": ratio.ratio, "met": ratio.met}


def _as_row(name: str, ratio: Ratio) -> dict[str, str]:
    return {
        "subject": name,
        "what": ratio.what,
        "ours": _duration(ratio.ours),
        "other": _duration(ratio.theirs),
        "ratio": f"{ratio.ratio:.2f}",
        "goal": "" if ratio.goal is None else f"<= {ratio.goal:g}",
        "met": _MET[ratio.met],
    }


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"


def _table(rows: list[dict[str, str]]) -> Iterator[str]:
    widths = {column: max(len(row[column]) for row in rows) for column in _COLUMNS}
    for row in rows:
        cells = [
            row[column].ljust(width) if column in _LEFT else row[column].rjust(width)
            for column, width in widths.items()
        ]
        yield "  ".join(cells).rstrip()


if __name__ == "__main__":
    sys.exit(main())
