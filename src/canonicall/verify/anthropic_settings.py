"""What the Messages API refuses around the messages: tools, tool choice, thinking, cache marks."""

import re
from collections.abc import Iterator
from functools import partial

from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.anthropic_compaction import asked_violations
from canonicall.verify.anthropic_marks import mark_violations
from canonicall.verify.anthropic_outputs import messages_output
from canonicall.verify.anthropic_pairs import Turn
from canonicall.verify.anthropic_parameters import parameter_violations
from canonicall.verify.anthropic_schemas import schema_violations
from canonicall.verify.lexical import Declared, is_tool_name, repeated_names
from canonicall.verify.node import Node, dotted
from canonicall.verify.refused import refused_fields, unknown_fields
from canonicall.verify.remembered import right_for, unless_right
from canonicall.verify.stored_state import is_delta
from canonicall.verify.thinking import thinking_violations
from canonicall.verify.violation import Violation, refuse

MESSAGES = "platform.claude.com: messages API reference"
ERRORS = "platform.claude.com: errors"
THINKING = "platform.claude.com: thinking-tool-workflows"
CHOICES = vocabulary("anthropic").choices
# The types of tools that the caller runs; all others are the provider's.
OWN = ("", "custom")
PROVIDED = re.compile(r".+_\d{8}|mcp_toolset")
# tool_param.py
TOOL_FIELDS = {
    *("name", "input_schema", "description", "type", "strict", "cache_control", "defer_loading"),
    *("input_examples", "eager_input_streaming", "allowed_callers"),
}
# tool_choice_none_param.py and its siblings
SERIAL = "disable_parallel_tool_use"
CHOICE_FIELDS = {
    "auto": {"type", SERIAL},
    "any": {"type", SERIAL},
    "tool": {"type", "name", SERIAL},
    "none": {"type"},
}


def setting_violations(root: Node, turns: list[Turn], target: Target) -> Iterator[Violation]:
    tools = root.nodes("tools")
    words = "{name}: Extra inputs are not permitted"
    yield from unknown_fields(root, target, words, MESSAGES)
    if not root.has("max_tokens"):
        error = "max_tokens: Field required"
        yield refuse("missing_field", "$.max_tokens", error, source=MESSAGES)
    yield from _system(root)
    yield from _tools(tools, target)
    is_open = is_delta(root, target.format)
    if is_open:
        yield from _kept_by_thread(root)
    else:
        yield from _tools_missing(tools, turns, target)
    yield from _choice(root, tools, target, is_open=is_open)
    yield from thinking_violations(root, target)
    yield from parameter_violations(root, target)
    yield from _leading_thinking(root, turns, is_open=is_open)
    yield from _thinking_while_off(root, turns)
    yield from messages_output(root, target)
    yield from refused_fields(root, target)
    yield from asked_violations(root, target)
    yield from mark_violations(root, target)
    yield from _deferred(tools)


def _system(root: Node) -> Iterator[Violation]:
    if isinstance(root.get("system"), str):
        return
    for block in root.nodes("system"):
        text = block.text("text")
        if block.get("type") == "text" and not text.strip():
            wanted = "contain non-whitespace text" if text else "be non-empty"
            error = f"system: text content blocks must {wanted}"
            yield refuse("blank_text", block.where, error, source="stackblitz/bolt.new#7426")


def _tools(tools: list[Node], target: Target) -> Iterator[Violation]:
    if target.max_tools and len(tools) > target.max_tools:
        error = f"tools: List should have at most {target.max_tools} items"
        yield refuse("too_many_tools", "$.tools", error, source=MESSAGES)
    own = [tool for tool in tools if tool.text("type") in OWN]
    yield from _provided(tools, target)
    for tool in own if "tool" in target.fields.closed else ():
        for name in sorted(tool.fields.keys() - TOOL_FIELDS):
            error = f"{dotted(tool.where)}.custom.{name}: Extra inputs are not permitted"
            yield refuse("unknown_field", tool.at(name), error, source=MESSAGES)
    declared = [Declared(tool.text("name"), tool.where) for tool in own]
    for named in declared:
        if not is_tool_name(named.name, target.names):
            limits = f"{{{target.names.min_length},{target.names.max_length}}}"
            pattern = target.names.pattern.removesuffix("+") + limits
            error = f"{dotted(named.where)}.custom.name: String should match pattern '^{pattern}$'"
            yield refuse("bad_tool_name", f"{named.where}.name", error, source=MESSAGES)
    for named in repeated_names(declared):
        error = "tools: Tool names must be unique."
        yield refuse("duplicate_tool_name", named.where, error, source=MESSAGES)
    if own:
        declared_here = [tool.fields for tool in own]
        judge = partial(schema_violations, own, target)
        yield from unless_right(declared_here, right_for(target), judge)


def _provided(tools: list[Node], target: Target) -> Iterator[Violation]:
    """Tools of the provider's own: a date says which one, and not every host has all of them."""
    is_closed = "tool" in target.fields.closed
    for tool in tools:
        kind = tool.text("type")
        is_unknown = is_closed and not PROVIDED.fullmatch(kind)
        if kind in OWN or not (is_unknown or tool.text("name") in target.unreplayed):
            continue
        error = f"{dotted(tool.where)}: Input tag '{kind}' found using 'type' does not match any of"
        error += " the expected tags"
        yield refuse("parameter_unsupported", tool.where, error, source="error text of the API")


def _tools_missing(tools: list[Node], turns: list[Turn], target: Target) -> Iterator[Violation]:
    used = any(turn.of_type("tool_use", "tool_result") for turn in turns)
    if target.tools_with_history and used and not tools:
        error = "Requests which have `tool_use` or `tool_result` blocks must define tools."
        yield refuse("tools_missing", "$.tools", error, source="strands-agents, litellm")


def _kept_by_thread(root: Node) -> Iterator[Violation]:
    """What a thread keeps, and refuses where a request that continues it repeats it."""
    for name in ("system", "tools"):
        if root.has(name):
            source = "anthropic 2.8.0, lib/threads/_thread_state.py: CREATE_ONLY_FIELDS"
            why = "The thread that the request continues keeps this field."
            yield refuse("parameter_unsupported", root.at(name), source=source, why=why)


def _choice(root: Node, tools: list[Node], target: Target, *, is_open: bool) -> Iterator[Violation]:
    """`is_open`: the tools may be kept by the provider."""
    if not root.has("tool_choice"):
        return
    choice = root.node("tool_choice")
    kind = choice.text("type")
    if is_open:
        pass
    elif not tools:
        error = "tool_choice: tool_choice may only be specified while providing tools"
        yield refuse("choice_without_tools", choice.where, error, source=MESSAGES)
    elif kind == "tool" and choice.text("name") not in {tool.text("name") for tool in tools}:
        error = f"Tool '{choice.get('name')}' not found in provided tools"
        yield refuse("choice_names_unknown_tool", choice.at("name"), error, source=MESSAGES)
    if CHOICES.get(kind) not in target.choice_modes:
        error = f'tool_choice: type "{kind}" is not supported for this model.'
        if CHOICES.get(kind) == "required":
            error = 'tool_choice: type "tool" and "any" are not supported for this model.'
        yield refuse("choice_unsupported", choice.where, error, source=ERRORS)
    known = CHOICE_FIELDS.get(kind, choice.fields.keys())
    for name in sorted(choice.fields.keys() - known) if "request" in target.fields.closed else ():
        error = f"tool_choice.{kind}.{name}: Extra inputs are not permitted"
        source = "QuantumNous/new-api#2763"
        yield refuse("unknown_field", choice.at(name), error, source=source)
    is_thinking = root.node("thinking").get("type") == "enabled"
    if CHOICES.get(kind) == "required" and is_thinking and not target.forced_choice_with_reasoning:
        error = "Thinking may not be enabled when tool_choice forces tool use."
        yield refuse("forced_choice_with_thinking", choice.where, error, source=ERRORS)


def _leading_thinking(root: Node, turns: list[Turn], *, is_open: bool) -> Iterator[Violation]:
    """With manual thinking, the loop that is being answered begins with reasoning; `is_open`: it
    may have begun before the first turn."""
    if root.node("thinking").get("type") != "enabled":
        return
    asked = [
        at
        for at, turn in enumerate(turns)
        if turn.role == "user" and len(turn.of_type("tool_result")) < len(turn.blocks)
    ]
    if is_open and not asked:
        return
    loop = turns[asked[-1] + 1 :] if asked else turns
    first = next((turn for turn in loop if turn.role == "assistant" and turn.blocks), None)
    if first is None:
        return
    head = first.blocks[0]
    if head.get("type") not in ("thinking", "redacted_thinking"):
        error = (
            f"{dotted(head.where)}.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{head.get('type')}`. When `thinking` is enabled, a final `assistant` message must "
            "start with a thinking block (preceeding the lastmost set of `tool_use` and "
            "`tool_result` blocks)."
        )
        yield refuse("thinking_missing", head.where, error, source="anthropics/claude-code#11978")


def _thinking_while_off(root: Node, turns: list[Turn]) -> Iterator[Violation]:
    if root.node("thinking").get("type") != "disabled" or not turns:
        return
    if turns[-1].role != "assistant":
        return
    for block in turns[-1].of_type("thinking", "redacted_thinking"):
        error = (
            f"{dotted(block.where)}: When thinking is disabled, an `assistant` message in the "
            "final position cannot contain `thinking`. To use thinking blocks, enable `thinking` "
            "in your request."
        )
        source = "tailcallhq/forgecode#1853"
        yield refuse("thinking_while_off", block.where, error, source=source)


def _deferred(tools: list[Node]) -> Iterator[Violation]:
    """Tools that are loaded later: not all of them, and none with a mark."""
    if tools and all(tool.get("defer_loading") is True for tool in tools):
        error = "At least one tool must have defer_loading=false. All tools cannot be deferred."
        why = "All tools are to be loaded later, and none is there to find them."
        source = "nearai/ironclaw#7274"
        yield refuse("tools_missing", "$.tools", error, source=source, why=why)
    for tool in tools:
        if tool.get("defer_loading") is True and tool.has("cache_control"):
            error = (
                f"Tool '{tool.get('name')}' cannot have both defer_loading=true and cache_control "
                "set. Tools with defer_loading cannot use prompt caching."
            )
            where = tool.at("cache_control")
            source = "router-for-me/CLIProxyAPI#4561"
            yield refuse("cache_mark_on_deferred_tool", where, error, source=source)
