"""What the Messages API refuses.

Here: messages and their blocks. `anthropic_pairs` has calls and results, `anthropic_settings` what
stands around the messages: tools, tool choice, thinking, cache marks.
"""

import re
from collections.abc import Iterator
from typing import Any

from canonicall.facts.bases import base_target
from canonicall.facts.target import Target
from canonicall.verify.anthropic_compaction import KIND as COMPACTION
from canonicall.verify.anthropic_compaction import compaction_violations
from canonicall.verify.anthropic_instructions import place_violations, role_violations
from canonicall.verify.anthropic_pairs import HANDLING, Turn, is_silent, pair_violations, turns_of
from canonicall.verify.anthropic_settings import ERRORS, MESSAGES, setting_violations
from canonicall.verify.lexical import id_fault
from canonicall.verify.node import Node, dotted
from canonicall.verify.stored_state import is_delta, state_violations
from canonicall.verify.violation import Violation, refuse

# "Extra inputs are not permitted": anything else in these is refused.
MESSAGE_FIELDS = {"role", "content", "clear_at", "output_config"}
BLOCK_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller", "toolset_name"},
    "tool_result": {
        "type",
        "tool_use_id",
        "content",
        "is_error",
        "cache_control",
        "toolset_name",
    },
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    # A plain dump of the SDK's block adds `citations` and `text`, both null: that is refused.
    "compaction": {
        "type",
        "content",
        "encrypted_content",
        "signature",
        "tool_changes",
        "cache_control",
    },
    "fallback": {"type", "from", "to", "trigger"},
    "mcp_tool_listing": {"type", "mcp_server_name", "tools"},
}
# SDK message_create_params.py: "There is a limit of 100,000 messages in a single request."
MOST_MESSAGES = 100_000
SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
RESULT_CONTENT = base_target("anthropic").result_parts


def violations(body: dict[str, Any], target: Target) -> Iterator[Violation]:
    root = Node(body)
    messages = root.nodes("messages")
    if len(messages) > MOST_MESSAGES:
        error = f"messages: List should have at most {MOST_MESSAGES} items after validation, not "
        yield refuse("too_many_messages", "$.messages", f"{error}{len(messages)}", source=MESSAGES)
        return  # Nobody reads on.
    turns = turns_of(messages)
    is_open = is_delta(root, target.format)
    yield from state_violations(root, target)
    if not messages and not is_open:
        error = "messages: at least one message is required"
        yield refuse("empty_input", "$.messages", error, source=MESSAGES)
    yield from role_violations(messages, target)
    yield from place_violations(turns, is_open=is_open)
    yield from _ends(root, turns, target, is_open=is_open)
    for at, message in enumerate(messages):
        is_closed = "message" in target.fields.closed
        yield from _content(message, is_last=at == len(messages) - 1, is_closed=is_closed)
    summaries: list[Node] = []
    for turn in turns:
        for block in turn.blocks:
            yield from _block(block, turn, target)
            if block.get("type") == COMPACTION:
                summaries.append(block)
        yield from _thinking_last(turn)
    yield from compaction_violations(summaries)
    yield from pair_violations(turns, root.nodes("tools"), target, is_open=is_open)
    yield from setting_violations(root, turns, target)


def _ends(root: Node, turns: list[Turn], target: Target, *, is_open: bool) -> Iterator[Violation]:
    """`is_open`: the provider may keep what precedes the first turn."""
    if not turns:
        return
    # Docs "Compact on demand": a summary in place of what was said may begin a conversation.
    begins = bool(turns[0].blocks) and turns[0].blocks[0].get("type") == COMPACTION
    if target.starts_with_user and turns[0].role == "assistant" and not (begins or is_open):
        error = 'messages: first message must use the "user" role'
        yield refuse("must_start_with_user", turns[0].where, error, source=MESSAGES)
    last = turns[-1]
    if last.role != "assistant" or not last.blocks or last.of_type("tool_use"):
        return
    final = last.blocks[-1]
    if final.get("type") != "text":
        return  # A paused turn of a provider's own tool is sent back as it came.
    # SDK beta/message_create_params.py: a retry with this token goes on from what was said.
    if target.ends_with_user and not root.has("fallback_credit_token"):
        error = (
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )
        yield refuse("must_end_with_user", last.where, error, source=ERRORS)
    if final.text("text") != final.text("text").rstrip():
        error = "messages: final assistant content cannot end with trailing whitespace"
        yield refuse("trailing_whitespace", final.where, error, source=MESSAGES)


def _content(message: Node, *, is_last: bool, is_closed: bool) -> Iterator[Violation]:
    is_optional = is_last and message.get("role") == "assistant"
    if not message.get("content") and not is_optional and not is_silent(message):
        error = (
            f"{dotted(message.where)}: all messages must have non-empty content "
            "except for the optional final assistant message"
        )
        yield refuse("empty_message", message.where, error, source=MESSAGES)
    for name in sorted(message.fields.keys() - MESSAGE_FIELDS) if is_closed else ():
        yield unknown_field(message, name, dotted(message.at(name)))


_PLACES = {
    "tool_use": "call",
    "tool_result": "result",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
}
"""Where a block is, in the words of `FieldRule.closed`."""


def unknown_field(node: Node, name: str, place: str) -> Violation:
    error = f"{place}: Extra inputs are not permitted"
    return refuse("unknown_field", node.at(name), error, source=MESSAGES)


def _block(block: Node, turn: Turn, target: Target) -> Iterator[Violation]:
    kind = block.text("type")
    known = BLOCK_FIELDS.get(kind, block.fields.keys())
    is_closed = _PLACES.get(kind, "text") in target.fields.closed
    for name in sorted(block.fields.keys() - known) if is_closed else ():
        yield unknown_field(block, name, f"{dotted(block.where)}.{kind}.{name}")
    match kind:
        case "text":
            yield from _blank_text(block, turn)
        case "image" if turn.role == "assistant":
            place = dotted(block.where.rpartition("[")[0])
            error = f"{place}: 'image' blocks are not permitted within assistant turns."
            yield refuse("bad_part", block.where, error, source="epam/ai-dial-adapter-bedrock#306")
        case "tool_use":
            yield from _call(block, turn, target)
        case "tool_result":
            yield from _result(block, target)
        case "thinking" if not block.text("signature") and target.reasoning != "open":
            error = f"{dotted(block.where)}.thinking.signature: Field required"
            if block.has("signature"):
                error = f"{dotted(block.where)}: Invalid `signature` in `thinking` block"
            yield refuse("thinking_unsigned", block.where, error, source=ERRORS)
        case "redacted_thinking" if not block.text("data"):
            error = f"{dotted(block.where)}.redacted_thinking.data: Field required"
            yield refuse("thinking_unsigned", block.where, error, source=ERRORS)
        case "server_tool_use" if not SERVER_ID.fullmatch(block.text("id")):
            error = f"{dotted(block.where)}.server_tool_use.id: String should match pattern "
            error += f"'^{SERVER_ID.pattern}$'"
            yield refuse("bad_call_id", block.at("id"), error, source=ERRORS)


def _blank_text(block: Node, turn: Turn) -> Iterator[Violation]:
    text = block.text("text")
    # White space that Claude itself wrote beside other blocks is accepted back (recorded).
    is_beside = bool(text) and turn.role == "assistant" and len(turn.blocks) > 1
    if text.strip() or is_beside:
        return
    wanted = "contain non-whitespace text" if text else "be non-empty"
    error = f"messages: text content blocks must {wanted}"
    yield refuse("blank_text", block.where, error, source="stackblitz/bolt.new#7426")
    if block.has("cache_control"):
        error = f"{dotted(block.where)}.text: cache_control cannot be set for empty text blocks"
        source = "anthropics/claude-code#50082"
        yield refuse("cache_mark_on_blank_text", block.where, error, source=source)


def _call(block: Node, turn: Turn, target: Target) -> Iterator[Violation]:
    place = f"{dotted(block.where)}.tool_use"
    if turn.role != "assistant":
        message = place.partition(".content")[0]
        error = f"{message}: `tool_use` blocks can only be in `assistant` messages"
        yield refuse("calls_in_wrong_role", block.where, error, source=HANDLING)
    yield from _id(block, "id", place, target)
    name = block.text("name")
    if not name or len(name) > 200:
        limit = "at most 200 characters" if name else "at least 1 character"
        error = f"{place}.name: String should have {limit}"
        yield refuse("bad_tool_name", block.at("name"), error, source=MESSAGES)
    if not isinstance(block.get("input"), dict):
        error = f"{place}.input: Input should be a valid dictionary"
        yield refuse("arguments_not_object", block.at("input"), error, source=MESSAGES)


def _id(block: Node, key: str, place: str, target: Target) -> Iterator[Violation]:
    if code := id_fault(block.text(key), target.ids):
        wanted = {
            "missing_call_id": "Field required",
            "call_id_too_long": f"String should have at most {target.ids.max_length} characters",
            "bad_call_id": f"String should match pattern '^{target.ids.pattern}$'",
        }[code]
        yield refuse(code, block.at(key), f"{place}.{key}: {wanted}", source=MESSAGES)


def _result(block: Node, target: Target) -> Iterator[Violation]:
    place = f"{dotted(block.where)}.tool_result"
    yield from _id(block, "tool_use_id", place, target)
    content = block.get("content")
    if block.get("is_error") and not content:
        error = f"{place}: content cannot be empty if `is_error` is true"
        yield refuse("empty_result", block.where, error, source="bytedance/trae-agent#230")
    elif content == [] or (not content and not target.empty_results):
        error = f"{place}.content: content must not be empty"
        yield refuse("empty_result", block.where, error, source=HANDLING)
    if content is None or isinstance(content, str):
        return
    parts = block.nodes("content")
    for part in parts:
        if part.text("type") not in RESULT_CONTENT:
            error = f"{dotted(part.where)}: Input tag '{part.get('type')}' found using 'type' does "
            error += "not match any of the expected tags"
            yield refuse("bad_result_content", part.where, error, source=HANDLING)
        elif part.has("cache_control") and not target.marked_results:
            error = f"{dotted(part.where)}.cache_control: a mark stands on the result, not inside"
            source = "langchain-anthropic 1.7.7, which moves such marks; the words are not known"
            yield refuse("cache_mark_misplaced", part.where, error, source=source)
        elif block.get("is_error") and part.get("type") != "text":
            error = f'{place}: all content must be type "text" if "is_error" is true'
            yield refuse("error_result_not_text", part.where, error, source=HANDLING)


def _thinking_last(turn: Turn) -> Iterator[Violation]:
    if turn.role != "assistant" or not turn.blocks:
        return
    final = turn.blocks[-1]
    if final.get("type") in ("thinking", "redacted_thinking"):
        error = (
            f"{dotted(turn.where)}: The final block in an assistant message cannot be `thinking`."
        )
        yield refuse("thinking_last", final.where, error, source="tailcallhq/forgecode#2107")
