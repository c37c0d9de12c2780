"""What generateContent refuses around the contents: declarations and the calling config."""

import re
from collections.abc import Iterator
from functools import lru_cache

from canonicall.facts.target import Target
from canonicall.verify.gemini_fields import known_fields, unknown_in
from canonicall.verify.gemini_schemas import dialect_violations, schema_violations
from canonicall.verify.lexical import Declared
from canonicall.verify.node import Node
from canonicall.verify.offer import Chosen, Offer, Words, offer_violations
from canonicall.verify.outputs import Asked, OutputWords, of_output, output_violations
from canonicall.verify.refused import refused_fields
from canonicall.verify.schemas import Spot
from canonicall.verify.violation import Violation, refuse

CALLING = "ai.google.dev: function calling"
CONFIG = "google-genai 3.1.0, types.py: GenerateContentConfig"
MODES = {
    "MODE_UNSPECIFIED": "auto",
    "AUTO": "auto",
    "ANY": "required",
    "NONE": "none",
    "VALIDATED": "auto",
}

WORDS = Words(
    CALLING,
    {
        "too_many_tools": "At most {limit} function declarations can be specified, got {count}.",
        "tools_missing": "",
        "bad_tool_name": (
            "* GenerateContentRequest.{place}.name: [FIELD_INVALID] Invalid function name. Must "
            "start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores "
            "(_), dots (.), colons (:), or dashes (-), with a maximum length of {limit}."
        ),
        "duplicate_tool_name": "Duplicate function declaration found: {name}",
        "choice_without_tools": "Function calling config is set without function_declarations.",
        "choice_names_unknown_tool": (
            "Function calling config: allowed_function_names has unknown function '{name}'."
        ),
        "choice_unsupported": "Function calling mode {mode} is not supported.",
    },
)


def either(node: Node, name: str) -> str:
    """The spelling of a field that this object uses."""
    snake = _snake(name)
    return snake if node.has(snake) else name


@lru_cache(maxsize=128)
def _snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


def several(node: Node, key: str) -> list[Node]:
    """A single object stands for a list of one: protobuf's JSON reads it so (recorded)."""
    return [node.node(key)] if isinstance(node.get(key), dict) else node.nodes(key)


def setting_violations(root: Node, target: Target, *, is_used: bool) -> Iterator[Violation]:
    tools = several(root, "tools")
    declared = [
        one for tool in tools for one in several(tool, either(tool, "functionDeclarations"))
    ]
    others = sum(not tool.has(either(tool, "functionDeclarations")) for tool in tools)
    offer = Offer(
        "$.tools",
        tuple(Declared(one.text("name"), one.where) for one in declared),
        others=others,
        is_given=bool(tools),
        chosen=_chosen(root) if not root.has(either(root, "cachedContent")) else None,
        is_used=is_used and not root.has(either(root, "cachedContent")),
    )
    known = known_fields(target.fields)
    yield from unknown_in(root, known.request)
    for declaration in declared:
        yield from unknown_in(declaration, known.function)
    yield from offer_violations(offer, target, WORDS)
    yield from _allowed_names(root)
    if declared and others and not target.mixed_tools:
        error = "Multiple tools are supported only when they are all search tools."
        yield refuse("tools_mixed", "$.tools", error, source=CALLING)
    for declaration in declared:
        yield from schema_violations(declaration, target)
    yield from _output(root, target)
    yield from refused_fields(root, target)


def _output(root: Node, target: Target) -> Iterator[Violation]:
    """The format of the reply: one schema at most, beside the media type that it goes with."""
    config = root.node(either(root, "generationConfig"))
    dialect, plain = either(config, "responseSchema"), either(config, "responseJsonSchema")
    kind = config.text(either(config, "responseMimeType"))
    has_schema = config.has(dialect) or config.has(plain)
    if config.has(dialect) and config.has(plain):
        yield refuse("bad_output_format", config.at(dialect), source=CONFIG)
    if has_schema and kind in {"", "text/plain"}:
        where = config.at(dialect if config.has(dialect) else plain)
        yield refuse("bad_output_format", where, source=CONFIG)
    if kind == "application/json":
        asked = Asked(config.where, "schema" if has_schema else "object")
        yield from output_violations(asked, target, OutputWords(CONFIG))
    if config.has(dialect):
        place = "* GenerateContentRequest.generation_config.response_schema"
        spot = Spot(config.get(dialect), config.at(dialect))
        yield from of_output(dialect_violations(spot, place, target))


def _config(root: Node) -> Node:
    config = root.node(either(root, "toolConfig"))
    return config.node(either(config, "functionCallingConfig"))


def _chosen(root: Node) -> Chosen | None:
    config = _config(root)
    if not config.fields:
        return None
    mode = _mode(config)
    return Chosen(config.where, MODES.get(mode, mode), _names(config))


def _names(config: Node) -> tuple[str, ...]:
    """A single name means a list of one."""
    names = config.get(either(config, "allowedFunctionNames"))
    return (names,) if isinstance(names, str) else tuple(map(str, names or ()))


def _mode(config: Node) -> str:
    """Protobuf's JSON has names and numbers for the values of an enumeration."""
    value = config.get("mode")
    if isinstance(value, int | float):
        names = dict[float, str](enumerate(("AUTO", "AUTO", "ANY", "NONE", "VALIDATED")))
        return names.get(value, str(value))
    return config.text("mode").upper() or "AUTO"


def _allowed_names(root: Node) -> Iterator[Violation]:
    config = _config(root)
    key = either(config, "allowedFunctionNames")
    if _names(config) and _mode(config) in {"AUTO", "NONE"}:
        error = "Function calling config: allowed_function_names should be set only for ANY mode."
        yield refuse("choice_unsupported", config.at(key), error, source=CALLING)
