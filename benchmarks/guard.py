"""A typical call checked before it is run, beside the bare validator that does the core of it.

Bare means: a compiled validator for each tool, found by the name of the call, and nothing about
control characters, limits, findings or what to tell the model.
"""

import jsonschema_rs

from canonicall import Tool, ToolCall, validate_call
from measuring import Ratio, Side, compare

CALLS = 2_000
TOOLS = 20


def ratios() -> list[Ratio]:
    """One unit is one call."""
    tools = {f"tool_{n}": Tool(f"tool_{n}", parameters=schema(n)) for n in range(TOOLS)}
    listed = list(tools.values())
    bare = {
        name: jsonschema_rs.validator_for(tool.parameters, offline=True)
        for name, tool in tools.items()
    }
    call = ToolCall(id="call_1", name="tool_7", args=arguments())
    plain = ToolCall(id="call_1", name="tool_7", args={**arguments(), "pattern": "def validate"})
    text = ToolCall(id="call_1", name="tool_7", args={**arguments(), "limit": "50"})
    assert validate_call(call, tools).call is call
    assert validate_call(text, tools).call.args == arguments()

    def valid() -> None:
        for _ in range(CALLS):
            bare[call.name].is_valid(call.args)

    theirs = Side(valid, CALLS)

    def ours(call: ToolCall, offered: dict[str, Tool] | list[Tool], count: int = CALLS) -> Side:
        def work() -> None:
            for _ in range(count):
                validate_call(call, offered)

        return Side(work, count)

    return [
        compare("a sound call, tools by name / bare validator", ours(call, tools), theirs, goal=3),
        compare("the same, nothing in it escaped", ours(plain, tools), theirs, goal=3),
        compare("a sound call, tools as a list", ours(call, listed), theirs),
        compare("a call with one argument to coerce", ours(text, tools, CALLS // 10), theirs),
    ]


def schema(number: int) -> dict[str, object]:
    """The schema of a search tool, as coding agents have them."""
    return {
        "type": "object",
        "description": f"Search, variant {number}.",
        "properties": {
            "pattern": {"type": "string", "description": "A regular expression."},
            "path": {"type": "string"},
            "glob": {"type": "string"},
            "mode": {"type": "string", "enum": ["content", "files", "count"]},
            "limit": {"type": "integer", "minimum": 1},
            "context": {
                "type": "object",
                "properties": {"before": {"type": "integer"}, "after": {"type": "integer"}},
                "additionalProperties": False,
            },
            "kinds": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["pattern", "path"],
        "additionalProperties": False,
    }


def arguments() -> dict[str, object]:
    return {
        "pattern": "def validate_\\w+",
        "path": "src/canonicall",
        "mode": "content",
        "limit": 50,
        "context": {"before": 2, "after": 4},
        "kinds": ["py", "md"],
    }
