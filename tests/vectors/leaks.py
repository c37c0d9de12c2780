"""Prints how many vectors are still read if they leak: `python -m vectors.leaks`, in `tests/`.

A vector leaks if its text is the content of a structured reply, from a host that is known to print
its syntax, and every call in it is of a tool that was offered. `recovered` are read as the syntax
itself reads them. Of the others, `followed` have text after their calls, which makes them
quotations, and `otherwise` are read otherwise, each for a reason that a test names.
"""

import sys
from collections import Counter
from collections.abc import Iterator

from canonicall import Message, Reply, Target, Text, recover_calls
from vectors.rates import cases
from vectors.support import Case, offered, read

COLUMNS = ("vectors", "recovered", "followed", "otherwise")


def leaking() -> Iterator[Case]:
    """The vectors that can leak."""
    for one in cases():
        names = {(tool.get("function") or tool).get("name") for tool in offered(one.vector) or ()}
        called = [call.get("name") for call in one.vector.expected_calls]
        if not one.skipped and called and names.issuperset(called):
            yield one


def recovered(one: Case) -> Reply:
    """The reply of a host that is known to print the syntax of a vector."""
    target = Target("openai-chat", "host", leaks=(one.syntax.name,))
    told = Reply(Message("assistant", (Text(text=one.text),), finish="stop"))
    return recover_calls(told, offered(one.vector) or (), target=target)


def outcome(one: Case) -> str:
    """The column that a vector counts in."""
    found, own = recovered(one), read([one.text], one.syntax, one.vector)
    if [(call.name, call.args) for call in found.calls] == [
        (call.name, call.args) for call in own.calls
    ]:
        return "recovered"
    whys = [finding.why for finding in found.findings if finding.code == "call_quoted"]
    return "followed" if any("text follows" in why for why in whys) else "otherwise"


def rates() -> dict[str, Counter[str]]:
    """The counts of each format."""
    counted: dict[str, Counter[str]] = {}
    for one in leaking():
        counted.setdefault(one.vector.format, Counter()).update(("vectors", outcome(one)))
    return counted


def row(name: str, counts: Counter[str]) -> str:
    return f"{name:24}" + "".join(f"{counts[column]:>10}" for column in COLUMNS)


def table() -> str:
    """All formats, and the sum of them."""
    counted = rates()
    head = f"{'syntax':24}" + "".join(f"{column:>10}" for column in COLUMNS)
    rows = [row(name, counted[name]) for name in sorted(counted)]
    return "\n".join([head, *rows, row("all", sum(counted.values(), Counter()))])


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
