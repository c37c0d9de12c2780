"""The words of hosts that speak the format of another and refuse in a voice of their own.

The verifier tells a rule of a format in the words of the format's owner. Here stands what other
hosts are reported to say, by the code of the rule; `{index}` is the number of the message, `{role}`
its role, `{id}` the id it answers, `{call}` the id of the call, `{field}` the name of a field,
`{choice}` the tool choice. Each text is quoted from an issue or a repository about that host.
"""

import re
from typing import Any

from canonicall.facts.target import Target
from canonicall.verify.violation import Violation

_PAIRS = ("missing_result", "orphan_result_sent", "results_not_adjacent", "duplicate_result_sent")
_SHAPES = (*_PAIRS, "must_start_with_user", "empty_message", "empty_input", "blank_text")
_WORDS: dict[str, dict[str, str]] = {
    "deepseek": {
        "json_word_missing": (
            "Prompt must contain the word 'json' in some form to use 'response_format' of type"
            " 'json_object'"
        ),
        **dict.fromkeys(
            ("missing_result", "results_not_adjacent"),
            "An assistant message with 'tool_calls' must be followed by tool messages responding to"
            " each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
        ),
        "unknown_role": (
            "Failed to deserialize the JSON body into the target type: messages[{index}].role:"
            " unknown variant `{role}`, expected one of `system`, `user`, `assistant`, `tool`,"
            " `latest_reminder`"
        ),
    },
    "ollama": {
        "empty_message": "invalid message content type: <nil>",
        "arguments_not_json": "invalid tool call arguments",
    },
    "groq": {"unknown_field": "property '{field}' is unsupported"},
    "kimi": {
        "orphan_result_sent": "Invalid request: tool_call_id {id} is not found",
        "missing_call_id": "Invalid request: tool_call_id  is not found",
        **dict.fromkeys(
            ("choice_unsupported", "forced_choice_with_thinking"),
            "tool_choice '{choice}' is incompatible with thinking enabled",
        ),
        "reasoning_missing": (
            "thinking is enabled but reasoning_content is missing in assistant tool call message at"
            " index {index}"
        ),
    },
    "mistral": {"unknown_field": "{field}: Extra inputs are not permitted"},
    "minimax": {
        **dict.fromkeys(
            _PAIRS, "invalid params, tool call result does not follow tool call (2013)"
        ),
        **dict.fromkeys(
            ("orphan_result_sent", "missing_call_id"),
            "invalid params, tool result's tool id({id}) not found (2013)",
        ),
        "arguments_not_json": (
            "invalid params, invalid function arguments json string, tool_call_id: {call} (2013)"
        ),
        "missing_field": "invalid params, function parameters is empty (2013)",
        "empty_message": "invalid params, chat content is empty (2013)",
        "empty_result": "invalid params, chat content is empty (2013)",
    },
    "zai": dict.fromkeys(
        _SHAPES, "The messages parameter is illegal. Please check the documentation."
    ),
    "qwen": {
        "json_word_missing": (
            "<400> InternalError.Algo.InvalidParameter: 'messages' must contain the word 'json' in"
            " some form, to use 'response_format' of type 'json_object'."
        ),
        "arguments_not_json": (
            '<400> InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the'
            " code model must be in JSON format."
        ),
        **dict.fromkeys(
            ("missing_result", "results_not_adjacent"),
            '<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must'
            ' be followed by tool messages responding to each "tool_call_id".',
        ),
        "unknown_role": (
            "<400> InternalError.Algo.InvalidParameter: {role} is not one of ['system',"
            " 'assistant', 'user', 'tool', 'function']"
        ),
        "orphan_result_sent": (
            '<400> InternalError.Algo.InvalidParameter: messages with role "tool" must be a'
            ' response to a preceeding message with "tool_calls".'
        ),
    },
}
# Recorded, or quoted in issues about the API.
_OPENAI_CODES = {
    "bad_item_id": "invalid_value",
    "bad_part": "invalid_value",
    "bad_speaker_name": "invalid_value",
    "bad_result_content": "invalid_value",
    "bad_tool_schema": "invalid_function_parameters",
    "call_id_too_long": "string_above_max_length",
    "missing_call_id": "missing_required_parameter",
    "missing_field": "missing_required_parameter",
    "parameter_unsupported": "unsupported_parameter",
    "strict_schema": "invalid_function_parameters",
    "thinking_unsigned": "invalid_encrypted_content",
    "too_many_tools": "array_above_max_length",
    "unknown_field": "unknown_parameter",
    "unknown_role": "invalid_value",
}
_CODES = {
    "azure": _OPENAI_CODES,
    "openai": _OPENAI_CODES,
    "mistral": {"parameter_unsupported": "3051"},
    "zai": {**dict.fromkeys(_SHAPES, "1214"), "parameter_unsupported": "1210"},
}
"""What stands in the field `code` beside the words."""
# Removed in January of 2026 (vercel/ai#15713).
_STATUSES = {("xai", "$.search_parameters"): 410}
_INDEX = re.compile(r"messages\[(\d+)\]")
_CALL = re.compile(r"messages\[(\d+)\]\.tool_calls\[(\d+)\]")


def told_by(provider: str, violation: Violation, body: dict[str, Any]) -> str:
    """What this host says about a violation; empty where it is not known."""
    words = _WORDS.get(provider, {}).get(violation.code, "")
    found = _INDEX.search(violation.where)
    index = int(found[1]) if found else 0
    words = words.replace("{field}", violation.where.rpartition(".")[2])
    choice = body.get("tool_choice")
    words = words.replace("{choice}", choice if isinstance(choice, str) else "specified")
    words = words.replace("{call}", _id_of_call(violation.where, body))
    words = words.replace("{role}", _of_message("role", body, index))
    words = words.replace("{id}", _of_message("tool_call_id", body, index))
    return words.replace("{index}", str(index))


def code_of(target: Target, violation: Violation) -> str:
    """The code of the error at this host, where it has any."""
    if not target.format.startswith("openai"):
        return ""
    return _CODES.get(target.provider, {}).get(violation.code, "")


def status_of(target: Target, violation: Violation, usual: int) -> int:
    """The status of the answer at this host, where it is not the usual one."""
    return _STATUSES.get((target.provider, violation.where), usual)


def _id_of_call(where: str, body: dict[str, Any]) -> str:
    """The id of the call at a place of the body, if there is one."""
    found = _CALL.search(where)
    if found is None:
        return ""
    message = _entry(body, "messages", int(found[1]))
    return _text(_entry(message, "tool_calls", int(found[2])), "id")


def _of_message(field: str, body: dict[str, Any], index: int) -> str:
    return _text(_entry(body, "messages", index), field)


def _entry(owner: dict[str, Any], name: str, index: int) -> dict[str, Any]:
    """An object in a list; an empty one where a broken body has something else there."""
    listed = owner.get(name)
    entry = listed[index] if isinstance(listed, list) and index < len(listed) else None
    return entry if isinstance(entry, dict) else {}


def _text(owner: dict[str, Any], name: str) -> str:
    value = owner.get(name)
    return value if isinstance(value, str) else ""
