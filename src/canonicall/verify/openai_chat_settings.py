"""What Chat Completions refuses around the messages: tools and tool choice."""

from collections import OrderedDict
from collections.abc import Iterator
from functools import partial

from canonicall.facts.target import Target
from canonicall.verify.efforts import CHAT as EFFORTS
from canonicall.verify.efforts import effort_violations
from canonicall.verify.lexical import Declared
from canonicall.verify.metaschema import DRAFT_7, faults
from canonicall.verify.node import Node, plain
from canonicall.verify.offer import LONG_NAME, Chosen, Offer, Words, offer_violations
from canonicall.verify.openai_chat_fields import tool_field_violations
from canonicall.verify.openai_outputs import chat_output
from canonicall.verify.openai_schemas import root_violations, schema_violations
from canonicall.verify.refused import refused_fields, unknown_fields
from canonicall.verify.remembered import right_for, unless_right
from canonicall.verify.schemas import Spot
from canonicall.verify.violation import Violation, refuse

CHAT = "platform.openai.com: chat completions API reference"
MISTRAL = "mistral-common: protocol/instruct/validator.py"

WORDS = Words(
    CHAT,
    {
        "empty_tools": (
            "Invalid '{place}': empty array. Expected an array with minimum length 1, "
            "but got an empty array instead."
        ),
        "too_many_tools": (
            "Invalid '{place}': array too long. Expected an array with maximum length {limit}, "
            "but got an array with length {count} instead."
        ),
        "tools_missing": "",
        "bad_tool_name": (
            "Invalid '{place}.function.name': string does not match pattern. "
            "Expected a string that matches the pattern '^{pattern}$'."
        ),
        LONG_NAME: (
            "Invalid '{place}.function.name': string too long. Expected a string with maximum "
            "length {limit}, but got a string with length {count} instead."
        ),
        "choice_without_tools": "'{place}' is only allowed when 'tools' are specified.",
        "choice_names_unknown_tool": "Tool choice '{name}' not found in 'tools' parameter.",
        "choice_unsupported": "Invalid value for '{place}': '{mode}' is not supported.",
        "forced_choice_with_thinking": "Thinking mode does not support this tool_choice",
    },
)


def is_mistral(target: Target) -> bool:
    """Mistral's validator is in force: nobody else has ids of one fixed length."""
    return target.ids.style == "short"


def setting_violations(root: Node, messages: list[Node], target: Target) -> Iterator[Violation]:
    words = "Unrecognized request argument supplied: {name}"
    yield from unknown_fields(root, target, words, CHAT)
    tools = root.nodes("tools")
    functions = [tool for tool in tools if tool.text("type") in {"", "function"}]
    custom = [tool for tool in tools if tool.get("type") == "custom"]
    offer = Offer(
        "$.tools",
        tuple(Declared(_name(tool), tool.where) for tool in (*functions, *custom)),
        others=len(tools) - len(functions) - len(custom),
        is_given=root.has("tools"),
        chosen=chosen(root, target),
        is_thinking=is_thinking(root, target),
        is_used=any(one.get("tool_calls") or one.get("role") == "tool" for one in messages),
    )
    yield from offer_violations(offer, target, WORDS)
    known = right_for(target) if functions else OrderedDict()
    for tool in functions:
        yield from unless_right(tool.fields, known, partial(_definition, tool, target))
    if root.has("parallel_tool_calls") and not tools and target.parallel_needs_tools:
        error = "'parallel_tool_calls' is only allowed when 'tools' are specified."
        yield refuse("choice_without_tools", "$.parallel_tool_calls", error, source=CHAT)
    yield from effort_violations(root, "reasoning_effort", target, EFFORTS)
    if tools and not target.tools_while_reasoning and root.get("reasoning_effort") != "none":
        error = f"Function tools with reasoning_effort are not supported for {target.model} in "
        error += "/v1/chat/completions. To use function tools, use /v1/responses or set "
        error += "reasoning_effort to 'none'."
        source = "BerriAI/litellm#34569"
        yield refuse("parameter_unsupported", "$.reasoning_effort", error, source=source)
    if "request" in target.fields.closed:
        yield from _choice_form(root)
        yield from _legacy_functions(root, target)
    yield from chat_output(root, target)
    yield from refused_fields(root, target)


def _legacy_functions(root: Node, target: Target) -> Iterator[Violation]:
    functions = root.nodes("functions")
    if isinstance(root.get("function_call"), dict):
        name = root.node("function_call").text("name")
        if name not in {one.text("name") for one in functions}:
            error = f"Invalid value for 'function_call': no function named '{name}' was specified "
            error += "in the 'functions' parameter."
            where, source = root.at("function_call"), "answers of the API, seen in 2026-09"
            yield refuse("choice_names_unknown_tool", where, error, source=source)
    count = len(functions)
    if count > target.max_tools:
        where, limit = root.at("functions"), target.max_tools
        yield from WORDS.refuse("too_many_tools", where, count=count, limit=limit)


def _name(tool: Node) -> str:
    kind = "custom" if tool.get("type") == "custom" else "function"
    return tool.node(kind).text("name")


def _definition(tool: Node, target: Target) -> Iterator[Violation]:
    if not tool.has("function"):
        error = f"Missing required parameter: '{plain(tool.at('function'))}'."
        yield refuse("missing_field", tool.at("function"), error, source=CHAT)
        return
    yield from tool_field_violations(tool, target)
    function = tool.node("function")
    name, where, schema = (
        function.text("name"),
        function.at("parameters"),
        function.get("parameters"),
    )
    if schema is None:
        if target.schema_required:
            yield refuse("missing_field", where, "Field required", source=MISTRAL)
    elif target.schemas.draft == "draft-07":
        yield from _draft_7(Spot(schema, where))
    elif target.schemas.checked:
        is_strict = function.get("strict") is True
        yield from schema_violations(name, schema, where, is_strict=is_strict)
    else:
        yield from root_violations(name, schema, where)


def _draft_7(root: Spot) -> Iterator[Violation]:
    if not isinstance(root.schema, dict):
        error = "Input should be a valid dictionary"
        yield refuse("bad_tool_schema", root.where, error, source=MISTRAL)
        return
    for fault in faults(root, DRAFT_7):
        error = f"Invalid tool schema: {fault.what}"
        yield refuse("invalid_schema", fault.where, error, source=MISTRAL)


def _choice_form(root: Node) -> Iterator[Violation]:
    """A choice that is an object says which kind it is, and has the object of that kind."""
    if not isinstance(root.get("tool_choice"), dict):
        return
    node = root.node("tool_choice")
    kind = node.text("type")
    if kind not in {"function", "custom", "allowed_tools"}:
        error = f"Invalid value: '{kind}'. Supported values are: 'function', 'custom', and "
        error += "'allowed_tools'."
        yield refuse("choice_unsupported", node.at("type"), error, source=CHAT)
    elif not node.has(kind):
        error = f"Missing required parameter: '{plain(node.at(kind))}'."
        yield refuse("missing_field", node.at(kind), error, source=CHAT)
    elif kind == "allowed_tools":
        yield from allowed_mode(node.node(kind))


def allowed_mode(allowed: Node) -> Iterator[Violation]:
    """What may be said of a list of allowed tools."""
    mode = allowed.text("mode")
    if mode not in {"auto", "required"}:
        error = f"Invalid value: '{mode}'. Supported values are: 'auto' and 'required'."
        yield refuse("choice_unsupported", allowed.at("mode"), error, source=CHAT)


def chosen(root: Node, target: Target) -> Chosen | None:
    choice = root.get("tool_choice")
    where = root.at("tool_choice")
    if choice is None:
        return None
    if isinstance(choice, str):
        # Mistral's word, which routers take too; a host that looks closely does not know it.
        is_known = is_mistral(target) or "request" not in target.fields.closed
        return Chosen(where, "required" if choice == "any" and is_known else choice)
    node = root.node("tool_choice")
    match node.get("type"):
        case "function" | "custom":
            return Chosen(where, "named", (_chosen_name(node),), is_named=True)
        case "allowed_tools":
            inner = node.node("allowed_tools") if node.has("allowed_tools") else node
            # Hosts that do not know this choice read over it, or refuse it whatever it names.
            is_known = "request" in target.fields.closed
            tools = inner.nodes("tools") if is_known else []
            named = [one for one in tools if one.get("type") in ("function", "custom")]
            return Chosen(where, inner.text("mode"), tuple(map(_chosen_name, named)))
        case kind:
            name = _chosen_name(node) if kind is None else ""
            return Chosen(where, str(kind), (name,) if name else (), is_named=True)


def _chosen_name(choice: Node) -> str:
    """The tool that a choice names, inside or outside of the object of its kind."""
    inner = (choice.node(kind) for kind in ("function", "custom") if choice.has(kind))
    return next(inner, choice).text("name")


def is_thinking(root: Node, target: Target) -> bool:
    """Thinking is on: the request says so, or the model thinks unless the request says no."""
    thinking = root.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind == "disabled" or root.get("enable_thinking") is False:
        return False
    if root.get("reasoning_effort") == "none":
        return False
    is_asked = kind is not None or root.get("enable_thinking") is True
    return is_asked or (target.thinks and target.reasoning_placeholder is not None)
