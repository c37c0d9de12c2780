"""Fields inside messages, parts, calls and tools that a host does not have, where it refuses them.

Which places are closed is a rule of the target; most hosts read over what they do not know.
"""

import re
from collections.abc import Collection, Iterator

from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.node import Node, plain
from canonicall.verify.violation import Violation, refuse

SOURCE = "songquanpeng/one-api#1319: \"Unknown parameter: 'messages[1].tool_calls[0].index'.\""
# `annotations` are a field of replies. Recorded traffic: they are taken in a request as well.
_MESSAGE = {"role", "content", "tool_calls", "tool_call_id", "function_call", "annotations"}
_PART = {"type", "text"}
_CALL = set(vocabulary("openai-chat").call_fields)
_CALLED = {"name", "arguments"}
_FUNCTION = set(vocabulary("openai-chat").function_fields)


def field_violations(message: Node, target: Target) -> Iterator[Violation]:
    """What stands in a message, its parts and its calls that the host does not have."""
    closed = target.fields.closed
    if "message" in closed:
        yield from _unknown(message, _known_in(message, target))
    # "It tolerates it only under role system": reports of cache_control in parts.
    if "part" in closed and isinstance(message.get("content"), list) and not _instructs(message):
        for part in message.nodes("content"):
            marks = {target.cache_field} if target.cache_marks else set()
            known = {*_PART, part.text("type"), *target.fields.part, *marks}
            yield from _unknown(part, known)
    if "call" in closed and message.has("tool_calls"):
        for call in message.nodes("tool_calls"):
            yield from _unknown(call, _CALL)
            if not call.has("type"):
                error = f"Missing required parameter: '{plain(call.at('type'))}'."
                source = "openai 3.49.0 (Python), chat_completion_message_tool_call_union_param.py"
                yield refuse("missing_field", call.at("type"), error, source=source)
            if call.has("function"):
                yield from _unknown(call.node("function"), _CALLED)
    yield from _speaker(message, target)


def tool_field_violations(tool: Node, target: Target) -> Iterator[Violation]:
    """What stands in the definition of a function that the host does not have."""
    if "tool" in target.fields.closed and tool.has("function"):
        yield from _unknown(tool, {"type", "function"})
        yield from _unknown(tool.node("function"), _FUNCTION)


def _known_in(message: Node, target: Target) -> set[str]:
    known = {*_MESSAGE, *target.fields.message}
    if target.result_names_tool and message.get("role") == "tool":
        known.add("name")
    if target.reasoning != "none":
        known.add(target.reasoning_field)
    return known


def _instructs(message: Node) -> bool:
    return bool(message.get("role") == "system")


def _unknown(node: Node, known: Collection[str]) -> Iterator[Violation]:
    for name in node.fields:
        if name not in known and node.has(name):
            error = f"Unknown parameter: '{plain(node.at(name))}'."
            yield refuse("unknown_field", node.at(name), error, source=SOURCE)


def _speaker(message: Node, target: Target) -> Iterator[Violation]:
    """The name of the one who speaks; that of a tool has rules of its own."""
    pattern = target.speaker_names
    if not pattern or message.get("role") == "tool" or not message.has("name"):
        return
    if not re.fullmatch(pattern, message.text("name")):
        error = f"Invalid '{plain(message.at('name'))}': string does not match pattern. "
        error += f"Expected a string that matches the pattern '^{pattern}$'."
        source = "error text; docs of chat completions: name"
        yield refuse("bad_speaker_name", message.at("name"), error, source=source)
