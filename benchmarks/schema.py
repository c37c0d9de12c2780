"""Lists of tools fitted to a target: the first time, and when the same list is sent again.

Beside it stands writing the same schemas as JSON, which every request does anyway. A hundred and
twenty-eight tools have nested schemas with references, as servers of tools have them.
"""

import msgspec

from canonicall import Policy, Tool, get_target
from canonicall.transcript import schemas
from canonicall.transcript.schemas import fitted_tools
from measuring import Ratio, Side, compare

TOOLS = 128
TARGETS = ("openai", "anthropic", "gemini", "bedrock", "ollama", "mistral")
COLD = 40
"""How many times the cost of writing the list a first fitting may be: about five milliseconds."""


def ratios() -> list[Ratio]:
    """One unit is one list of tools."""
    tools = tuple(Tool(f"tool_{n}", "Does it.", schema(n)) for n in range(TOOLS))
    policy = Policy()
    written = Side(lambda: [msgspec.json.encode(tool.parameters) for tool in tools], 1)
    found = []
    for provider in TARGETS:
        rule = get_target(provider).schemas

        def warm(rule: object = rule) -> object:
            return fitted_tools(tools, rule, policy)  # type: ignore[arg-type]

        def cold(rule: object = rule) -> object:
            schemas._known.cache_clear()  # noqa: SLF001 - the first time is what is measured
            return fitted_tools(tools, rule, policy)  # type: ignore[arg-type]

        again = 12 if provider in ("gemini", "ollama") else 3
        found += [
            compare(f"{TOOLS} tools for {provider}, first time", Side(cold, 1), written, goal=COLD),
            compare(f"{TOOLS} tools for {provider}, again", Side(warm, 1), written, goal=again),
        ]
    return found


def schema(number: int) -> dict[str, object]:
    """Nested objects, options, lists of types, constants, and a definition used twice."""
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": f"The id, variant {number}.", "minLength": 1},
            "kind": {"const": f"kind_{number}"},
            "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 100},
            "filter": {
                "type": "object",
                "properties": {
                    "field": {"type": "string", "enum": ["a", "b", "c"]},
                    "value": {"anyOf": [{"type": "string"}, {"type": "number"}]},
                    "not_before": {"type": "string", "format": "date-time"},
                },
                "required": ["field"],
                "additionalProperties": False,
            },
            "from": {"$ref": "#/$defs/Point"},
            "to": {"$ref": "#/$defs/Point"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
        },
        "required": ["id"],
        "additionalProperties": False,
        "$defs": {
            "Point": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
                "required": ["x", "y"],
            }
        },
    }
