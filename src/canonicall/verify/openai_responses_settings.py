"""What the Responses API refuses around the items: fields it does not know, or does not find."""

import re
from collections.abc import Iterator

from canonicall.facts.target import Target
from canonicall.verify.efforts import RESPONSES, effort_violations
from canonicall.verify.node import Node, plain
from canonicall.verify.openai_chat_settings import allowed_mode
from canonicall.verify.openai_outputs import responses_output
from canonicall.verify.refused import refused_fields
from canonicall.verify.violation import Violation, refuse

CHOICES = "openai 3.49.0 (Python), types/responses; BerriAI/litellm#32505"
NAMESPACE = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONGEST_NAMESPACE = 64
PARAMS = {
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "reasoning": "reasoning",
}
"""Parameters by their canonical names, and the fields that hold them."""
# openai 3.49.0 (Python), types/responses: easy_input_message_param.py and others
ITEM_FIELDS = {
    "message": {"type", "role", "content", "id", "status", "phase"},
    "function_call": {
        *("type", "id", "call_id", "name", "arguments", "status", "namespace", "caller", "async"),
    },
    "function_call_output": {
        *("type", "id", "call_id", "output", "status", "caller", "name", "namespace"),
    },
}
"""The fields of items that are judged; of others nobody has reported."""


def item_fields(item: Node, kind: str, target: Target) -> Iterator[Violation]:
    """Fields of an item that the host does not have."""
    if "message" not in target.fields.closed:
        return
    for name in sorted(item.fields.keys() - ITEM_FIELDS.get(kind, item.fields.keys())):
        if item.has(name):
            error = f"Unknown parameter: '{plain(item.at(name))}'."
            source = "microsoft/agent-framework#2203"
            yield refuse("unknown_field", item.at(name), error, source=source)


def groups_of(tools: list[Node]) -> list[Node]:
    """The tools that hold others. What another tool has in a field `tools` is not looked at."""
    return [tool for tool in tools if tool.get("type") == "namespace"]


def tool_violations(root: Node) -> Iterator[Violation]:
    """Tools that are loaded later, and the search that loads them."""
    tools = root.nodes("tools")
    searches = [tool for tool in tools if tool.get("type") == "tool_search"]
    groups = groups_of(tools)
    inner = [one for group in groups for one in group.nodes("tools")]
    later = [tool for tool in (*tools, *inner) if tool.get("defer_loading") is True]
    source = "pydantic-ai 2.66.0, models/openai.py"
    if later and not searches:
        error = "Deferred tools require tools.tool_search."
        yield refuse("tool_search_missing", later[0].at("defer_loading"), error, source=source)
    for group in groups:
        yield from name_of_namespace(group, "name")
    for tool in searches:
        if tool.get("execution") == "client" and not tool.text("description"):
            error = f"Missing required parameter: '{plain(tool.at('description'))}'."
            yield refuse("missing_field", tool.at("description"), error, source=source)


def name_of_namespace(node: Node, key: str) -> Iterator[Violation]:
    """The name of a namespace, be it declared or that of a call."""
    name, place = node.text(key), plain(node.at(key))
    source = "OpenAPI: NamespaceToolParam and FunctionCallOutputItemParam"
    if name and not NAMESPACE.fullmatch(name):
        error = f"Invalid '{place}': string does not match pattern. Expected a string that matches "
        error += f"the pattern '^{NAMESPACE.pattern}$'."
        if len(name) > LONGEST_NAMESPACE:
            error = f"Invalid '{place}': string too long. Expected a string with maximum length "
            error += f"{LONGEST_NAMESPACE}, but got a string with length {len(name)} instead."
        yield refuse("bad_tool_name", node.at(key), error, source=source)


def choice_form(root: Node) -> Iterator[Violation]:
    """A choice that is an object: a function by its name, or a kind of tool that is offered."""
    choice = root.get("tool_choice")
    if not isinstance(choice, dict):
        return
    node = root.node("tool_choice")
    kind, where = node.text("type"), node.where
    if kind in {"function", "custom"} and not node.text("name"):
        error = f"Missing required parameter: '{plain(node.at('name'))}'."
        yield refuse("missing_field", node.at("name"), error, source=CHOICES)
    elif kind == "allowed_tools":
        yield from allowed_mode(node)
    elif kind not in {"function", "custom"} and kind not in _kinds(root):
        error = f"Tool choice '{kind}' not found in 'tools' parameter."
        yield refuse("choice_names_unknown_tool", where, error, source=CHOICES)


def _kinds(root: Node) -> set[str]:
    """The types of the tools, with and without a date or a `_preview`."""
    kinds = {tool.text("type") for tool in root.nodes("tools")}
    return (
        kinds
        | {kind.partition("_preview")[0] for kind in kinds}
        | {f"{kind}_preview" for kind in kinds}
    )


def setting_violations(root: Node, target: Target) -> Iterator[Violation]:
    if target.unstored and root.get("store") is not False:
        error = "Store must be set to false"
        yield refuse("parameter_unsupported", "$.store", error, source="openai/codex#26173")
    if target.stream_only and root.get("stream") is not True:
        error, source = "Stream must be set to true", "leookun/cursor-byok#14"
        yield refuse("parameter_unsupported", "$.stream", error, source=source)
    if target.instructions_required and not root.has("instructions"):
        error, source = "Instructions are required", "leookun/cursor-byok#88"
        yield refuse("missing_field", "$.instructions", error, source=source)
    yield from responses_output(root, target)
    yield from effort_violations(root, "reasoning.effort", target, RESPONSES)
    yield from refused_fields(root, target)
    for name in target.refused_params:
        field = PARAMS.get(name, "")
        if field and root.has(field):
            error, source = f"Unsupported parameter: {field}", "kortix-ai/suna#5124"
            yield refuse("parameter_unsupported", root.at(field), error, source=source)
