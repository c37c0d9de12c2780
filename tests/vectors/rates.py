"""Prints how many vectors each syntax reads as expected: `python -m vectors.rates`, in `tests/`.

`vectors` are those that say something about us. `read` are read as expected, `cut` of them with a
call beside that the end of the text cut, which is kept and marked here and left out by the engine.
`otherwise` are read otherwise, each for a reason that a test names.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module

from vectors.support import Case, all_vectors, read, wrong_in

MODULES = ("ad_hoc_tags", "hermes", "json_bare", "json_marked", "named", "python_like", "tags")
COLUMNS = ("vectors", "read", "cut", "otherwise", "skipped")


def cases() -> Iterator[Case]:
    """Every vector, as the test of its format reads it."""
    modules = [import_module(f"vectors.test_{name}") for name in MODULES]
    by_format = {format: module for module in modules for format in module.FORMATS}
    for vector in all_vectors():
        yield by_format[vector.format].case_of(vector)


def outcomes(one: Case) -> Iterator[str]:
    """The columns that a vector counts in."""
    if one.skipped:
        yield "skipped"
        return
    yield "vectors"
    reply = read([one.text], one.syntax, one.vector)
    if wrong_in(one, reply):
        yield "otherwise"
        return
    yield "read"
    if len(one.vector.expected_calls) < len(reply.calls):
        yield "cut"


def rates() -> dict[str, Counter[str]]:
    """The counts of each format."""
    counted: dict[str, Counter[str]] = {}
    for one in cases():
        counted.setdefault(one.vector.format, Counter()).update(outcomes(one))
    return counted


def row(name: str, counts: Counter[str]) -> str:
    share = f"{counts['read'] / counts['vectors']:7.1%}" if counts["vectors"] else "      -"
    return f"{name:24}" + "".join(f"{counts[column]:>10}" for column in COLUMNS) + f"  {share}"


def table() -> str:
    """All formats, and the sum of them."""
    counted = rates()
    head = f"{'syntax':24}" + "".join(f"{column:>10}" for column in COLUMNS) + "     rate"
    rows = [row(name, counted[name]) for name in sorted(counted)]
    return "\n".join([head, *rows, row("all", sum(counted.values(), Counter()))])


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
