"""A tool run with JSON arguments, beside the conversion that does the core of it.

Bare means: `msgspec.convert` to a struct of the same fields, and the function called with them.
"""

from datetime import date

import msgspec

from canonicall import Tool, tool, tool_from_schema
from measuring import Ratio, Side, compare

CALLS = 2_000
ARGUMENTS = {"pattern": "def", "paths": ["src", "tests"], "since": "2026-01-02", "limit": 50}


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    pattern: str
    paths: list[str]
    since: date
    limit: int = 10


def search(pattern: str, paths: list[str], since: date, limit: int = 10) -> int:
    """Search files.

    Args:
        pattern: What to look for.
    """
    return limit if pattern and paths and since else 0


def ratios() -> list[Ratio]:
    """One unit is one call, or one tool made."""
    bound = tool(search)
    plain = tool_from_schema("search", bound.parameters, run=lambda arguments: arguments["limit"])
    assert bound.call(ARGUMENTS) == plain.call(ARGUMENTS) == 50

    def bare() -> None:
        for _ in range(CALLS):
            read = msgspec.convert(ARGUMENTS, Arguments)
            search(read.pattern, read.paths, read.since, read.limit)

    def called(made: object) -> Side:
        def work() -> None:
            for _ in range(CALLS):
                made.call(ARGUMENTS)  # type: ignore[attr-defined]

        return Side(work, CALLS)

    def made() -> None:
        for _ in range(100):
            tool(search)

    def written() -> None:
        for _ in range(100):
            schema = msgspec.json.schema(Arguments)
            Tool("search", "Search files.", schema)

    theirs = Side(bare, CALLS)
    return [
        compare("a function tool called / bare conversion and call", called(bound), theirs),
        compare("a tool with a schema called", called(plain), theirs),
        compare(
            "a tool made of a function / its schema alone", Side(made, 100), Side(written, 100)
        ),
    ]
