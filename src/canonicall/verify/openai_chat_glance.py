"""Usual messages, judged at a glance: most conversations hold nothing else, and are long.

Whatever is unusual is not judged here but message by message. Both agree: what passes here passes
there; that is a law with a test.
"""

from typing import Any

from canonicall.facts.target import Target
from canonicall.verify.lexical import id_fault, is_tool_name

_SPEAKERS = ("user", "assistant", "system")
_WORDS = {"role", "content"}
_REPLY = {"role", "content", "tool_calls"}
_RESULT = {"role", "content", "tool_call_id"}
_CALL = {"id", "type", "function"}
_FUNCTION = {"name", "arguments"}


def are_usual(messages: list[Any], target: Target) -> bool:
    """Whether all messages are certainly accepted, but for the order of their roles."""
    names: dict[str, bool] = {}
    open_calls: set[str] = set()
    for message in messages:
        if message.__class__ is not dict:
            return False
        if message.get("role") == "tool":
            if not _is_answer(message, open_calls):
                return False
            open_calls.discard(message["tool_call_id"])
            continue
        found = None if open_calls else _usual_calls(message, names, target)
        if found is None:
            return False
        open_calls = found
    return not open_calls


def _is_answer(message: dict[str, Any], open_calls: set[str]) -> bool:
    id, content = message.get("tool_call_id"), message.get("content")
    if id.__class__ is not str or content.__class__ is not str:
        return False
    return bool(content) and id in open_calls and message.keys() == _RESULT


def _usual_calls(
    message: dict[str, Any], names: dict[str, bool], target: Target
) -> set[str] | None:
    """The ids of the calls of a message that is no result; None where it is unusual."""
    role, content = message.get("role"), message.get("content")
    is_said = content.__class__ is str and bool(content)
    if "tool_calls" not in message:
        is_known = role in _SPEAKERS or (role == "developer" and target.developer)
        return set() if is_said and is_known and message.keys() == _WORDS else None
    calls = message["tool_calls"]
    most = target.calls_per_message
    if (
        role != "assistant"
        or not message.keys() <= _REPLY
        or calls.__class__ is not list
        or not calls
        or not (content is None or (is_said and target.text_beside_calls))
        or (content is None and target.empty_content_beside_calls == "empty")
        or (most and len(calls) > most)
        or target.reasoning_placeholder is not None
        or target.arguments_checked
    ):
        return None
    ids: set[str] = set()
    for call in calls:
        if call.__class__ is not dict or call.keys() != _CALL or not _is_usual(call, names, target):
            return None
        ids.add(call["id"])
    return ids if len(ids) == len(calls) else None


def _is_usual(call: dict[str, Any], names: dict[str, bool], target: Target) -> bool:
    function, id = call["function"], call["id"]
    if function.__class__ is not dict or function.keys() != _FUNCTION or id.__class__ is not str:
        return False
    name, arguments = function["name"], function["arguments"]
    if name.__class__ is not str or arguments.__class__ is not str:
        return False
    is_named = names.get(name)
    if is_named is None:
        is_named = names[name] = is_tool_name(name, target.names)
    return is_named and not id_fault(id, target.ids)
