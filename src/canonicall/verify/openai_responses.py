"""What the Responses API refuses: items in a row, a call and its output each one of them.

Calls may live in an earlier response that the request continues; outputs are then not orphans.
"""

from collections.abc import Iterator
from typing import Any

from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.lexical import Declared, id_fault, is_tool_name
from canonicall.verify.node import Node, WrongKind, plain
from canonicall.verify.offer import LONG_NAME, Chosen, Offer, Words, offer_violations
from canonicall.verify.openai_chat_settings import chosen
from canonicall.verify.openai_responses_items import (
    CALLS,
    OUTPUTS,
    PAIR_IDS,
    SEARCHES,
    id_violations,
    is_unasked,
    order_violations,
    pair_violations,
    reasoning_violations,
    type_of,
)
from canonicall.verify.openai_responses_settings import (
    choice_form,
    groups_of,
    item_fields,
    name_of_namespace,
    setting_violations,
    tool_violations,
)
from canonicall.verify.openai_schemas import (
    root_violations,
    schema_violations,
)
from canonicall.verify.refused import unknown_fields
from canonicall.verify.stored_state import is_delta, state_violations
from canonicall.verify.violation import Violation, refuse

RESPONSES = "platform.openai.com: responses API reference"
PARTS = {
    "assistant": {"output_text", "refusal", "input_text"},
    "user": {"input_text", "input_image", "input_file", "input_audio", "input_video"},
}
# Not among the supported files that the error text points to.
NO_FILES = ("audio/", "video/")
LONGEST_OUTPUT = 10_485_760
RESULT_PARTS = {"input_text": "text", "input_image": "image", "input_file": "document"}

WORDS = Words(
    RESPONSES,
    {
        "too_many_tools": (
            "Invalid '{place}': array too long. Expected an array with maximum length {limit}, "
            "but got an array with length {count} instead."
        ),
        "tools_missing": "",
        "bad_tool_name": (
            "Invalid '{place}.name': string does not match pattern. "
            "Expected a string that matches the pattern '^{pattern}$'."
        ),
        LONG_NAME: (
            "Invalid '{place}.name': string too long. Expected a string with maximum length "
            "{limit}, but got a string with length {count} instead."
        ),
        "choice_without_tools": "Tool choice must be specified together with 'tools' parameter.",
        "choice_names_unknown_tool": "Tool choice '{name}' not found in 'tools' parameter.",
        "choice_unsupported": "Invalid value for '{place}': '{mode}' is not supported.",
        "forced_choice_with_thinking": "Thinking mode does not support this tool_choice",
    },
)


def violations(body: dict[str, Any], target: Target) -> Iterator[Violation]:
    root = Node(body)
    items = _items(root)
    yield from setting_violations(root, target)
    yield from unknown_fields(root, target, "Unknown parameter: '{name}'.", RESPONSES)
    is_open = is_delta(root, target.format)
    yield from state_violations(root, target)
    if not items and not root.get("input") and not is_open:
        error = (
            "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be "
        )
        error += "provided."
        yield refuse("empty_input", "$.input", error, source=RESPONSES)
    for item in items:
        yield from _item(item, target)
        yield from item_fields(item, type_of(item), target)
    if target.item_ids:
        yield from id_violations(items)
        yield from reasoning_violations(items)
    yield from pair_violations(items, is_open=is_open)
    if target.calls_last:
        yield from order_violations(items)
    yield from _offer(root, items, target)


def _items(root: Node) -> list[Node]:
    value = root.get("input")
    if value is not None and not isinstance(value, str | list):
        raise WrongKind("$.input", "string or array", value)
    return root.nodes("input") if isinstance(value, list) else []


def _item(item: Node, target: Target) -> Iterator[Violation]:
    kind = type_of(item)
    if kind == "message":
        yield from _message(item)
    if is_unasked(item) or kind in PAIR_IDS or (kind in SEARCHES and not item.has("call_id")):
        pass
    elif kind in OUTPUTS or kind in CALLS or kind in SEARCHES:
        yield from _call_id(item, target)
    if kind == "function_call":
        yield from _function_call(item, target)
    if kind == "reasoning" and target.reasoning_refused and target.reasoning == "none":
        error = (
            "Reasoning input items can only be provided to a reasoning or computer use model. "
            "Remove reasoning items from your input and try again."
        )
        yield refuse("reasoning_refused", item.where, error, source="openai/openai-python#2364")
    if kind in {"function_call_output", "custom_tool_call_output"}:
        yield from _output(item, target)


def _message(item: Node) -> Iterator[Violation]:
    role = item.text("role")
    if role not in vocabulary("openai-responses").roles:
        error = (
            f"Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', "
            "and 'user'."
        )
        yield refuse("unknown_role", item.at("role"), error, source=RESPONSES)
    content = item.get("content")
    if content is None:
        error = f"Missing required parameter: '{plain(item.at('content'))}'."
        yield refuse("empty_message", item.where, error, source=RESPONSES)
    if not isinstance(content, list):
        item.text("content")
        return
    known = PARTS["assistant" if role == "assistant" else "user"]
    for part in item.nodes("content"):
        if part.text("type") not in known:
            names = ", ".join(f"'{name}'" for name in sorted(known))
            error = f"Invalid value: '{part.get('type')}'. Supported values are: {names}."
            yield refuse("bad_part", part.where, error, source=RESPONSES)
        yield from _file(part, "bad_part")


def _call_id(item: Node, target: Target) -> Iterator[Violation]:
    id = item.text("call_id")
    place, rule = plain(item.at("call_id")), target.ids
    if code := id_fault(id, rule):
        error = {
            "missing_call_id": f"Missing required parameter: '{place}'.",
            "bad_call_id": f"Invalid '{place}': string does not match pattern '^{rule.pattern}$'.",
            "call_id_too_long": (
                f"Invalid '{place}': string too long. Expected a string with maximum length "
                f"{rule.max_length}, but got a string with length {len(id)} instead."
            ),
        }[code]
        yield refuse(code, item.at("call_id"), error, source=RESPONSES)


def _function_call(item: Node, target: Target) -> Iterator[Violation]:
    if not is_tool_name(item.text("name"), target.names):
        error = (
            f"Invalid '{plain(item.at('name'))}': string does not match pattern. "
            f"Expected a string that matches the pattern '^{target.names.pattern}$'."
        )
        yield refuse("bad_tool_name", item.at("name"), error, source=RESPONSES)
    yield from name_of_namespace(item, "namespace")
    if not isinstance(item.get("arguments"), str):
        error = f"Invalid type for '{plain(item.at('arguments'))}': expected a string."
        yield refuse("arguments_not_text", item.at("arguments"), error, source=RESPONSES)


def _output(item: Node, target: Target) -> Iterator[Violation]:
    output = item.get("output")
    if isinstance(output, str) and len(output) > LONGEST_OUTPUT:
        error = (
            f"Invalid '{plain(item.at('output'))}': string too long. Expected a string with "
            f"maximum length {LONGEST_OUTPUT}, but got a string with length {len(output)} instead."
        )
        yield refuse("bad_result_content", item.where, error, source=RESPONSES)
    if output is None or (not output and not target.empty_results):
        error = f"Missing required parameter: '{plain(item.at('output'))}'."
        yield refuse("empty_result", item.where, error, source=RESPONSES)
    for part in item.nodes("output") if isinstance(output, list) else ():
        family = RESULT_PARTS.get(part.text("type"), "")
        if family != "text" and family not in target.result_media:
            names = ", ".join(f"'{name}'" for name in RESULT_PARTS)
            error = f"Invalid value: '{part.get('type')}'. Supported values are: {names}."
            yield refuse("bad_result_content", part.where, error, source=RESPONSES)
        yield from _file(part, "bad_result_content")


def _file(part: Node, code: str) -> Iterator[Violation]:
    """Sound and film are no files: the address of the data says what it is (recorded)."""
    if part.text("type") != "input_file":
        return
    kind = part.text("file_data").partition(";")[0].removeprefix("data:")
    if kind.startswith(NO_FILES):
        where = part.at("file_data")
        error = (
            f"Invalid file data: '{plain(where)}'. Expected a base64-encoded data URL with a valid "
            "file MIME type (e.g. 'data:text/plain;base64,SGVsbG8sIFdvcmxkIQ=='), but got "
            f"unsupported MIME type '{kind}'. Please see "
            "https://platform.openai.com/docs/assistants/tools/file-search#supported-files for "
            "supported file types."
        )
        yield refuse(code, where, error, source="pydantic/pydantic-ai: recorded refusal of sound")


def _offer(root: Node, items: list[Node], target: Target) -> Iterator[Violation]:
    tools = root.nodes("tools")
    if "request" in target.fields.closed:
        yield from tool_violations(root)
    functions = [tool for tool in tools if tool.text("type") in {"function", "custom"}]
    later = [item for item in items if type_of(item) in {"additional_tools", "tool_search_output"}]
    holders = [*groups_of(tools), *later]
    inner = [tool for one in holders for tool in one.nodes("tools")]
    named = [tool for tool in functions if tool.text("name")]
    is_elsewhere = any(_may_choose(one, target) for one in holders)
    is_open = is_elsewhere or is_delta(root, target.format)
    offer = Offer(
        "$.tools",
        tuple(Declared(tool.text("name"), tool.where) for tool in named),
        others=len(tools) - len(named) + len(inner),
        is_given=root.has("tools"),
        chosen=None if is_open else _choice(root, target),
        is_used=any(type_of(item) in OUTPUTS for item in items),
    )
    # Each tool is read before the choice among them (recorded: a missing name is told first).
    for tool in functions:
        yield from _definition(tool, target)
    if "request" in target.fields.closed:
        yield from choice_form(root)
    yield from offer_violations(offer, target, WORDS)


def _may_choose(holder: Node, target: Target) -> bool:
    """Whether a choice may name one of the tools that a tool or an item holds."""
    is_late = holder.get("type") == "additional_tools"
    return bool(holder.nodes("tools")) and (target.late_choice or not is_late)


def _choice(root: Node, target: Target) -> Chosen | None:
    """Without tools, `auto` and `none` are what is done anyway (recorded)."""
    is_idle = not root.values("tools") and root.get("tool_choice") in ("auto", "none")
    return None if is_idle else chosen(root, target)


def _definition(tool: Node, target: Target) -> Iterator[Violation]:
    name, schema = tool.text("name"), tool.get("parameters")
    if not name:
        error = f"Missing required parameter: '{plain(tool.at('name'))}'."
        yield refuse("missing_field", tool.at("name"), error, source=RESPONSES)
    if schema is None or tool.get("type") != "function":
        return
    where = tool.at("parameters")
    if target.schemas.checked:
        # Where `strict` is left out, the server tries and falls back (OpenAPI, FunctionTool).
        is_strict = tool.get("strict") is True
        yield from schema_violations(name, schema, where, is_strict=is_strict)
    else:
        yield from root_violations(name, schema, where)
