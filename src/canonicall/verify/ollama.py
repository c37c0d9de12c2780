"""What Ollama's own chat API refuses, and what its chat templates cannot print.

Ollama decodes the body into Go structs: a value of another kind is refused. It does not check that
calls and results belong together; but a template prints what it gets, and the model reads a result
without its call, so broken pairs are violations here too, without words of the provider.
"""

from collections.abc import Iterator
from typing import Any

from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.lexical import Declared, is_tool_name
from canonicall.verify.metaschema import shown
from canonicall.verify.node import KINDS, Node
from canonicall.verify.offer import Offer, Words, offer_violations
from canonicall.verify.outputs import Asked, OutputWords, output_violations
from canonicall.verify.pairing import Answer, Call, Said, broken_pairs
from canonicall.verify.refused import refused_fields
from canonicall.verify.schemas import Spot
from canonicall.verify.violation import Violation, refuse

TYPES = "ollama/ollama: api/types.go"
TEMPLATES = "ollama/ollama: server/prompt.go"
ROLES = vocabulary("ollama").roles
WORDS = Words(TYPES, {"too_many_tools": "", "tools_missing": "", "bad_tool_name": ""})


def violations(body: dict[str, Any], target: Target) -> Iterator[Violation]:
    root = Node(body)
    messages = root.nodes("messages")
    if not messages:
        yield refuse("empty_input", "$.messages", source=TEMPLATES)
    asked = 0
    for message in messages:
        asked = len(message.values("tool_calls")) or asked
        if message.text("role") not in ROLES:
            yield refuse("unknown_role", message.at("role"), source=TEMPLATES)
        yield from _content(message)
        for call in message.nodes("tool_calls"):
            yield from _call(call, target)
        if message.get("role") == "tool":
            yield from _result(message, asked, target)
    for broken in broken_pairs(map(_said, messages)):
        yield refuse(broken.code, broken.where, source=TEMPLATES)
    yield from _offer(root, messages, target)
    yield from refused_fields(root, target)
    yield from _output(root, target)


def _output(root: Node, target: Target) -> Iterator[Violation]:
    """`format`: "json", or a JSON Schema, or nothing."""
    form, where = root.get("format"), root.at("format")
    if form in (None, ""):
        return
    if form != "json" and not isinstance(form, dict):
        error = f'invalid format: {shown(form)}; expected "json" or a valid JSON Schema object'
        yield refuse("bad_output_format", where, error, source="ollama/ollama: llm/server.go")
        return
    asked = Asked(where, "object" if form == "json" else "schema")
    yield from output_violations(asked, target, OutputWords(TYPES))


def _go_kind(value: object) -> str:
    kind = "bool" if isinstance(value, bool) else KINDS.get(type(value), "number")
    return "number" if kind == "integer" else kind


def _unmarshal(value: object, field: str, wanted: str) -> str:
    field = f"ChatRequest.{field}"
    return f"json: cannot unmarshal {_go_kind(value)} into Go struct field {field} of type {wanted}"


def _content(message: Node) -> Iterator[Violation]:
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        error = _unmarshal(content, "messages.content", "string")
        yield refuse("bad_part", message.at("content"), error, source="BerriAI/litellm#11273")
        return
    said = any(message.get(key) for key in ("content", "tool_calls", "images", "thinking"))
    if not said and message.get("role") != "tool":
        yield refuse("empty_message", message.where, source=TEMPLATES)


def _call(call: Node, target: Target) -> Iterator[Violation]:
    function = call.node("function")
    if not is_tool_name(function.text("name"), target.names):
        yield refuse("bad_tool_name", function.at("name"), source=TYPES)
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        field = "messages.tool_calls.function.arguments"
        error = _unmarshal(arguments, field, "api.ToolCallFunctionArguments")
        where = function.at("arguments")
        yield refuse("arguments_not_object", where, error, source="ollama/ollama#12794")


def _result(message: Node, asked: int, target: Target) -> Iterator[Violation]:
    """Of several calls, the result says which one it answers; a single one needs no name."""
    names = message.text("tool_name") or message.text("tool_call_id") or message.text("name")
    if target.result_names_tool and asked > 1 and not names:
        yield refuse("result_without_name", message.where, source=TYPES)
    if not message.get("content") and not target.empty_results:
        yield refuse("empty_result", message.where, source=TEMPLATES)


def _said(message: Node) -> Said:
    if message.get("role") == "tool":
        return Said(message.where, answer=Answer(message.text("tool_call_id"), message.where))
    calls = message.nodes("tool_calls") if message.get("role") == "assistant" else []
    named = (Call(one.text("id"), one.node("function").text("name"), one.where) for one in calls)
    return Said(message.where, tuple(named))


def _offer(root: Node, messages: list[Node], target: Target) -> Iterator[Violation]:
    tools = root.nodes("tools")
    offer = Offer(
        "$.tools",
        tuple(Declared(tool.node("function").text("name"), tool.where) for tool in tools),
        is_given=root.has("tools"),
        is_used=any(one.get("tool_calls") or one.get("role") == "tool" for one in messages),
    )
    yield from offer_violations(offer, target, WORDS)
    for tool in tools:
        yield from _parameters(tool.node("function"))


def _parameters(function: Node) -> Iterator[Violation]:
    """`ToolFunctionParameters` and `ToolProperty` are structs; what they do not name is ignored."""
    schema, where = function.get("parameters"), function.at("parameters")
    field = "tools.function.parameters"
    if schema is None:
        return
    if not isinstance(schema, dict):
        yield _wrong_field(schema, f"ToolFunction.{field}", "api.ToolFunctionParameters", where)
        return
    wanted = {"type": (str, "string"), "required": (list, "[]string")}
    wanted["properties"] = (dict, "map[string]api.ToolProperty")
    for key, (kind, name) in wanted.items():
        value = schema.get(key)
        if value is not None and not isinstance(value, kind):
            yield _wrong_field(
                value, f"ToolFunctionParameters.{field}.{key}", name, f"{where}.{key}"
            )
    spot = Spot(schema, where)
    for at, value in enumerate(spot.values("required")):
        if not isinstance(value, str):
            place, go_field = f"{where}.required[{at}]", f"ToolFunctionParameters.{field}.required"
            yield _wrong_field(value, go_field, "string", place)
    for name, value in spot.properties.items():
        if value is not None and not isinstance(value, dict):
            place, go_field = f"{where}.properties.{name}", f"ToolFunctionParameters.{field}"
            yield _wrong_field(value, f"{go_field}.properties", "api.ToolProperty", place)


def _wrong_field(value: object, field: str, wanted: str, where: str) -> Violation:
    error = (
        f"json: cannot unmarshal {_go_kind(value)} into Go struct field {field} of type {wanted}"
    )
    return refuse("bad_tool_schema", where, error, source="ollama/ollama#14256: api/types.go")
