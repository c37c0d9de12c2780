"""What Chat Completions refuses, and what the many providers that speak it refuse besides.

The rules are OpenAI's; others come in by the target: Mistral's validator where ids are short,
demanded reasoning, roles in order. Tools and tool choice are in `openai_chat_settings`.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from canonicall.facts.registry import errors_of
from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.lexical import id_fault, is_tool_name
from canonicall.verify.node import Node, WrongKind, plain
from canonicall.verify.openai_chat_fields import field_violations
from canonicall.verify.openai_chat_glance import are_usual
from canonicall.verify.openai_chat_order import order_violations
from canonicall.verify.openai_chat_settings import (
    MISTRAL,
    is_mistral,
    is_thinking,
    setting_violations,
)
from canonicall.verify.pairing import Answer, Broken, Call, Said, broken_pairs
from canonicall.verify.violation import Violation, refuse

CHAT = "platform.openai.com: chat completions API reference"
ROLES = vocabulary("openai-chat").roles
# The families of media that a part can be.
FAMILIES = {
    "image_url": "image",
    "file": "document",
    "document_url": "document",
    "input_audio": "audio",
    "video_url": "video",
}


def violations(body: dict[str, Any], target: Target) -> Iterator[Violation]:
    root = Node(body)
    messages = root.nodes("messages")
    if not messages:
        error = (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, "
            "but got an empty array instead."
        )
        yield refuse("empty_input", "$.messages", error, source=CHAT)
    elif not are_usual(body["messages"], target):
        yield from message_violations(messages, root, target)
    yield from order_violations(messages, target)
    yield from setting_violations(root, messages, target)


def message_violations(messages: list[Node], root: Node, target: Target) -> Iterator[Violation]:
    """What is wrong in and between messages, their order apart."""
    for message in messages:
        yield from _role(message, target)
        yield from _content(message, target)
        yield from _calls(message, target)
        yield from field_violations(message, target)
        if message.get("role") == "tool":
            yield from _result(message, target)
        elif message.get("role") == "assistant":
            yield from _reasoning(message, root, target)
    yield from _pairs(messages, target)


def _role(message: Node, target: Target) -> Iterator[Violation]:
    role = message.text("role")
    known = [one for one in ROLES if one != "developer" or target.developer]
    if role not in known:
        names = ", ".join(f"'{one}'" for one in known[:-1]) + f", and '{known[-1]}'"
        error = f"Invalid value: '{role}'. Supported values are: {names}."
        yield refuse("unknown_role", message.at("role"), error, source=CHAT)


def _content(message: Node, target: Target) -> Iterator[Violation]:
    content = message.get("content")
    if isinstance(content, list) and message.get("role") in target.lists_refused:
        error = "Failed to deserialize the JSON body into the target type: "
        error += f"{plain(message.where)}: invalid type: sequence, expected a string"
        source = "BerriAI/litellm#6642 (assistant), Gitlawb/openclaude#774 (tool)"
        yield refuse("bad_part", message.at("content"), error, source=source)
    elif isinstance(content, list):
        yield from _parts(message, target)
    elif content is not None and not isinstance(content, str):
        raise WrongKind(message.at("content"), "string or array", content)
    if message.get("role") == "tool" or _is_said(message, target):
        return
    if isinstance(content, list):
        wanted = "empty array. Expected an array with minimum length 1, but got an empty array"
        error = f"Invalid '{plain(message.at('content'))}': {wanted} instead."
    elif is_mistral(target):
        error = "Assistant message must have either content or tool_calls, but not both."
    else:
        error = "Invalid value for 'content': expected a string, got null."
    yield refuse("empty_message", message.where, error, source=CHAT)


def _is_said(message: Node, target: Target) -> bool:
    """The message has content, or what may stand for it."""
    if target.reply_media and message.get("images"):
        return True
    if any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio")):
        content, taken = message.get("content"), target.empty_content_beside_calls
        if taken == "empty":
            return content is not None or "content" not in message.fields
        return not (target.blank_is_empty and taken == "omit" and content == "")
    needs_text = target.blank_is_empty or (
        is_mistral(target) and message.get("role") == "assistant"
    )
    content = message.get("content")
    return bool(content) or (content == "" and not needs_text)


def _parts(message: Node, target: Target) -> Iterator[Violation]:
    known = target.part_types
    is_open = message.get("role") in ("user", "tool")
    for part in message.nodes("content"):
        kind = part.text("type")
        if known and kind not in known:
            yield _unknown_part(part, target)
        elif kind == "input_audio" and "part" in target.fields.closed and not _hears(target):
            error = f"Invalid '{plain(message.where)}'. Content blocks are expected to be either "
            error += "text or image_url type."
            yield refuse("bad_part", part.where, error, source="recorded traffic of gpt-5-mini")
        elif kind in FAMILIES and not is_open:
            error = f"Invalid value: '{kind}'. Supported values are: 'text'."
            yield refuse("bad_part", part.where, error, source=CHAT)


def _hears(target: Target) -> bool:
    return "audio" in target.media


def _unknown_part(part: Node, target: Target) -> Violation:
    names, kind = [f"'{one}'" for one in target.part_types], part.text("type")
    own = errors_of(target.provider).parts
    if own is not None:
        place = plain(part.where).partition(".content")[0]
        error = own.text.replace("{kind}", kind).replace("{message}", place)
        return refuse("bad_part", part.where, error, source=own.source)
    if "part" in target.fields.closed:
        error = f"Invalid value: '{kind}'. Supported values are: {', '.join(names[:-1])}, and "
        source = "error text of Chat Completions"
    else:
        error = f"Invalid value: {kind}. Supported values are: {','.join(names[:-1])} and "
        source = "QwenLM/qwen-code#1838"
    return refuse("bad_part", part.where, f"{error}{names[-1]}.", source=source)


def _calls(message: Node, target: Target) -> Iterator[Violation]:
    if not message.has("tool_calls"):
        return
    calls = message.nodes("tool_calls")
    place = plain(message.at("tool_calls"))
    if not calls:
        error = (
            f"Invalid '{place}': empty array. Expected an array with minimum length 1, "
            "but got an empty array instead."
        )
        source = "openai/openai-python#2061"
        yield refuse("empty_tool_calls", message.at("tool_calls"), error, source=source)
    elif message.get("role") != "assistant":
        error = f"Additional properties are not allowed ('tool_calls' was unexpected) - '{place}'"
        yield refuse("calls_in_wrong_role", message.at("tool_calls"), error, source=CHAT)
    if target.calls_per_message and len(calls) > target.calls_per_message:
        error = "This model only supports single tool-calls at once!"
        source = "chat templates of Llama 3"
        yield refuse("too_many_calls", message.at("tool_calls"), error, source=source)
    if calls and message.get("content") and not target.text_beside_calls:
        error = "Assistant message must have either content or tool_calls, but not both."
        yield refuse("text_beside_calls", message.where, error, source=MISTRAL)
    for call in calls:
        yield from _call(call, target)


def _call(call: Node, target: Target) -> Iterator[Violation]:
    yield from _id(call, "id", target)
    if call.has("custom"):
        return
    function = call.node("function")
    name = function.text("name")
    if not is_tool_name(name, target.names):
        place = plain(function.at("name"))
        error = f"Invalid '{place}': string does not match pattern. Expected a string that matches "
        error += f"the pattern '^{target.names.pattern}$'."
        yield refuse("bad_tool_name", function.at("name"), error, source=CHAT)
    arguments = function.get("arguments")
    where = function.at("arguments")
    if isinstance(arguments, dict) and is_mistral(target):
        return  # mistralai types the arguments as a text or an object.
    if not isinstance(arguments, str):
        error = f"Invalid type for '{plain(where)}': expected a string."
        yield refuse("arguments_not_text", where, error, source=CHAT)
    elif target.arguments_checked and not _is_object(arguments):
        error = 'The "function.arguments" parameter of the code model must be in JSON format.'
        yield refuse(
            "arguments_not_json", where, error, source="DashScope error text; ollama openai.go"
        )


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def _id(node: Node, key: str, target: Target) -> Iterator[Violation]:
    id = node.text(key)
    code = id_fault(id, target.ids)
    if not code:
        return
    place, rule = plain(node.at(key)), target.ids
    if is_mistral(target) and not rule.refused:
        error = "Tool call id must be a non-empty string other than 'null' for tokenizer version 13"
        error += " or newer."
    elif is_mistral(target):
        error = (
            f"Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of {rule.max_length}."
        )
    else:
        error = {
            "missing_call_id": f"Missing required parameter: '{place}'.",
            "bad_call_id": f"Invalid '{place}': string does not match pattern '^{rule.pattern}$'.",
            "call_id_too_long": (
                f"Invalid '{place}': string too long. Expected a string with maximum length "
                f"{rule.max_length}, but got a string with length {len(id)} instead."
            ),
        }[code]
    yield refuse(code, node.at(key), error, source=MISTRAL if is_mistral(target) else CHAT)


def _result(message: Node, target: Target) -> Iterator[Violation]:
    yield from _id(message, "tool_call_id", target)
    name = message.text("name")
    if name and is_mistral(target) and not is_tool_name(name, target.names):
        error = f"Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and "
        error += f"dashes, with a maximum length of {target.names.max_length}."
        yield refuse("bad_tool_name", message.at("name"), error, source=MISTRAL)
    content = message.get("content")
    is_blank = not content and not target.empty_results
    if content is None or content == [] or is_blank:
        error = "Invalid value for 'content': expected a string, got null."
        if is_blank:
            error = "invalid params, chat content is empty (2013)"
        yield refuse("empty_result", message.where, error, source=CHAT)
    for part in message.nodes("content") if isinstance(content, list) else ():
        kind = part.text("type")
        if kind != "text" and FAMILIES.get(kind) not in target.result_media:
            error = (
                f"Invalid '{plain(message.where)}'. Content blocks are expected to be either text "
                "or image_url type."
            )
            yield refuse("bad_result_content", part.where, error, source=CHAT)


def _reasoning(message: Node, root: Node, target: Target) -> Iterator[Violation]:
    field = target.reasoning_field
    demanded = target.reasoning_placeholder is not None and is_thinking(root, target)
    if demanded and message.get("tool_calls") and not isinstance(message.get(field), str):
        error = f"The {field} in the thinking mode must be passed back to the API."
        source = "api-docs.deepseek.com: thinking mode"
        yield refuse("reasoning_missing", message.where, error, source=source)
    is_told = "message" in target.fields.closed
    if target.reasoning_refused and target.reasoning == "none" and not is_told:
        for key in sorted(message.fields.keys() & {"reasoning", "reasoning_content", "thinking"}):
            error = f"'{plain(message.where)}' : property '{key}' is unsupported"
            yield refuse("unknown_field", message.at(key), error, source="Groq error text")


def _pairs(messages: list[Node], target: Target) -> Iterator[Violation]:
    for broken in broken_pairs(map(_said, messages)):
        error = _mistral_error(broken) if is_mistral(target) else _pair_error(broken)
        source = MISTRAL if is_mistral(target) else CHAT
        yield refuse(broken.code, broken.where, error, source=source)


def _said(message: Node) -> Said:
    if message.get("role") == "tool":
        answer = Answer(message.text("tool_call_id"), message.where, message.text("name"))
        return Said(message.where, answer=answer)
    calls = message.nodes("tool_calls") if message.get("role") == "assistant" else []
    named = (Call(one.text("id"), one.node("function").text("name"), one.where) for one in calls)
    return Said(message.where, tuple(named))


def _pair_error(broken: Broken) -> str:
    ids = broken.names
    if broken.code in {"missing_result", "results_not_adjacent"}:
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ids
        )
    if broken.code == "orphan_result_sent":
        return (
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
            "message with 'tool_calls'."
        )
    return f"Invalid parameter: Duplicate value for 'tool_call_id' of '{ids}'."


def _mistral_error(broken: Broken) -> str:
    if broken.code in {"missing_result", "results_not_adjacent"}:
        return "Not the same number of function calls and responses"
    kind = "Unexpected" if broken.code == "orphan_result_sent" else "Duplicate"
    place = "assistant message" if broken.code == "duplicate_call_id" else "tool results"
    return f"{kind} tool call id {broken.names} in {place}"
