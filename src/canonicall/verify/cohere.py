"""What Cohere's chat API (version 2) refuses.

Cohere publishes no texts for its refusals; the violations have none either, only the rule.
"""

from collections.abc import Iterator
from typing import Any

from canonicall.facts.target import Target
from canonicall.verify.lexical import Declared, id_fault, is_tool_name
from canonicall.verify.node import Node, WrongKind
from canonicall.verify.offer import Chosen, Offer, Words, offer_violations
from canonicall.verify.outputs import Asked, OutputWords, output_violations
from canonicall.verify.pairing import Answer, Call, Said, broken_pairs
from canonicall.verify.refused import refused_fields
from canonicall.verify.schemas import Spot, walk
from canonicall.verify.violation import Violation, refuse

CHAT = "docs.cohere.com: chat API v2 reference"
TOOLS = "docs.cohere.com: tool use"
STRICT = "docs.cohere.com: parameter types for tool use, strict_tools"
OUTPUT = "cohere SDK: response_format_v2.py and json_response_format_v2.py"
MOST_STRICT_FIELDS = 200
PARTS = {
    "user": {"text", "image_url"},
    "assistant": {"text", "thinking"},
    "system": {"text"},
    "tool": {"text", "document"},
}
MODES = {"REQUIRED": "required", "NONE": "none"}
WORDS = Words(
    TOOLS,
    {
        "too_many_tools": "",
        "tools_missing": "",
        "bad_tool_name": "",
        "choice_without_tools": "",
        "choice_unsupported": "",
    },
)


def violations(body: dict[str, Any], target: Target) -> Iterator[Violation]:
    root = Node(body)
    messages = root.nodes("messages")
    if not messages:
        yield refuse("empty_input", "$.messages", source=CHAT)
    for message in messages:
        role = message.text("role")
        if role not in PARTS:
            yield refuse("unknown_role", message.at("role"), source=CHAT)
            continue
        yield from _content(message, role)
        yield from _calls(message, role, target)
        if role == "tool":
            yield from _id(message, "tool_call_id", target)
    for broken in broken_pairs(map(_said, messages)):
        yield refuse(broken.code, broken.where, source=TOOLS)
    yield from _end(messages, target)
    yield from _offer(root, messages, target)
    yield from _output(root, target)
    yield from refused_fields(root, target)


def _content(message: Node, role: str) -> Iterator[Violation]:
    content = message.get("content")
    if isinstance(content, list):
        for part in message.nodes("content"):
            if part.text("type") not in PARTS[role]:
                code = "bad_result_content" if role == "tool" else "bad_part"
                yield refuse(code, part.where, source=CHAT)
    elif content is not None and not isinstance(content, str):
        raise WrongKind(message.at("content"), "string or array", content)
    if content or (role == "assistant" and message.get("tool_calls")):
        return
    if role == "tool" and content == "":
        return
    code = "empty_result" if role == "tool" else "empty_message"
    yield refuse(code, message.where, source=CHAT)


def _calls(message: Node, role: str, target: Target) -> Iterator[Violation]:
    if not message.has("tool_calls"):
        return
    calls = message.nodes("tool_calls")
    where = message.at("tool_calls")
    if role != "assistant":
        yield refuse("calls_in_wrong_role", where, source=CHAT)
    if message.get("content") and calls and not target.text_beside_calls:
        yield refuse("text_beside_calls", message.where, source=TOOLS)
    for call in calls:
        yield from _id(call, "id", target)
        function = call.node("function")
        if not is_tool_name(function.text("name"), target.names):
            yield refuse("bad_tool_name", function.at("name"), source=CHAT)
        if not isinstance(function.get("arguments"), str):
            yield refuse("arguments_not_text", function.at("arguments"), source=CHAT)


def _id(node: Node, key: str, target: Target) -> Iterator[Violation]:
    if code := id_fault(node.text(key), target.ids):
        yield refuse(code, node.at(key), source=CHAT)


def _said(message: Node) -> Said:
    if message.get("role") == "tool":
        return Said(message.where, answer=Answer(message.text("tool_call_id"), message.where))
    calls = message.nodes("tool_calls") if message.get("role") == "assistant" else []
    named = (Call(one.text("id"), one.node("function").text("name"), one.where) for one in calls)
    return Said(message.where, tuple(named))


def _end(messages: list[Node], target: Target) -> Iterator[Violation]:
    if not messages or not target.ends_with_user:
        return
    last = messages[-1]
    if last.get("role") == "assistant" and not last.get("tool_calls"):
        yield refuse("must_end_with_user", last.where, source=CHAT)


def _offer(root: Node, messages: list[Node], target: Target) -> Iterator[Violation]:
    tools = root.nodes("tools")
    mode = root.text("tool_choice")
    # Only these two words are known, and only in capitals.
    chosen = Chosen("$.tool_choice", MODES.get(mode, mode.upper())) if mode else None
    offer = Offer(
        "$.tools",
        tuple(Declared(tool.node("function").text("name"), tool.where) for tool in tools),
        is_given=root.has("tools"),
        chosen=chosen,
        is_used=any(one.get("tool_calls") or one.get("role") == "tool" for one in messages),
    )
    yield from offer_violations(offer, target, WORDS)
    if root.get("strict_tools") is True:
        yield from _strict(tools)


def _output(root: Node, target: Target) -> Iterator[Violation]:
    """The format of the reply: any JSON object, maybe by a schema, which is that of an object."""
    form = root.node("response_format")
    schema, where = form.get("json_schema"), form.at("json_schema")
    if form.text("type") not in {"", "text", "json_object"}:
        yield refuse("bad_output_format", form.at("type"), source=OUTPUT)
    elif form.get("type") == "json_object":
        asked = Asked(form.where, "object" if schema is None else "schema")
        yield from output_violations(asked, target, OutputWords(OUTPUT))
        kind = schema.get("type", "object") if isinstance(schema, dict) else schema
        if schema is not None and kind != "object":
            yield refuse("bad_output_format", where, source=OUTPUT)
    elif schema is not None:
        yield refuse("bad_output_format", where, source=OUTPUT)


def _strict(tools: list[Node]) -> Iterator[Violation]:
    """With `strict_tools`: 200 fields in all, and no tool with optional parameters only."""
    fields = 0
    for tool in tools:
        function = tool.node("function")
        root = Spot(function.get("parameters"), function.at("parameters"))
        fields += sum(len(spot.properties) for spot in walk(root))
        if root.properties and not root.required:
            yield refuse("strict_schema", root.where, source=STRICT)
    if fields > MOST_STRICT_FIELDS:
        yield refuse("schema_too_complex", "$.tools", source=STRICT)
