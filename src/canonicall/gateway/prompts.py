"""Stored prompts of OpenAI's Responses: messages from the settings, with values in their places.

Like instructions they hold for one request: a response that continues another names its own.
"""

import re
from collections.abc import Mapping
from typing import Any

from canonicall.gateway.config import PromptMessage, PromptSettings, PromptVersion
from canonicall.gateway.exchange import Refused

FIELD = "prompt"
_PLACE = re.compile(r"\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}")
_NAMES = "prompt.variables"


def prompt_model(body: Mapping[str, Any], prompts: Mapping[str, PromptSettings]) -> str:
    """The model that a stored prompt is for; empty where it says none, or is none."""
    named = body.get(FIELD)
    if not isinstance(named, dict):
        return ""
    try:
        return _version(named, prompts).model
    except Refused:
        return ""


def prompt_items(
    body: Mapping[str, Any], prompts: Mapping[str, PromptSettings]
) -> list[dict[str, Any]]:
    """The input items that the prompt of a request names."""
    named = body[FIELD]
    if not isinstance(named, dict) or not isinstance(named.get("id"), str):
        what = "Invalid type for 'prompt': expected an object with an 'id'."
        raise Refused(400, "malformed", what, code="invalid_type", param=FIELD)
    messages = _version(named, prompts).messages
    values = named.get("variables") or {}
    wanted = {name for one in messages for name in _PLACE.findall(one.content)}
    if not isinstance(values, dict) or set(values) != wanted:
        given = set(values) if isinstance(values, dict) else set()
        lacking, unknown = sorted(wanted - given), sorted(given - wanted)
        said = [f"missing: {', '.join(lacking)}"] if lacking else []
        said += [f"unknown: {', '.join(unknown)}"] if unknown else []
        what = (
            f"Invalid '{_NAMES}' for the prompt '{named['id']}': {'; '.join(said) or 'no object'}."
        )
        raise Refused(400, "malformed", what, param=_NAMES)
    return [_item(one, values) for one in messages]


def _version(named: Mapping[str, Any], prompts: Mapping[str, PromptSettings]) -> PromptVersion:
    id, version = named.get("id"), named.get("version")
    prompt = prompts.get(id) if isinstance(id, str) else None
    if prompt is None:
        raise Refused(404, "not_found", f"Prompt with id '{id}' not found.")
    chosen = prompt.default if version is None else version
    if not chosen:
        *_, chosen = prompt.versions
    found = prompt.versions.get(chosen) if isinstance(chosen, str) else None
    if found is None:
        what = f"Prompt with id '{id}' and version '{chosen}' not found."
        raise Refused(404, "not_found", what)
    return found


def _item(message: PromptMessage, values: Mapping[str, Any]) -> dict[str, Any]:
    """A message with the values in it; a value that is no text is a part of its own."""
    parts: list[dict[str, Any]] = []
    kind = "output_text" if message.role == "assistant" else "input_text"
    for at, piece in enumerate(_PLACE.split(message.content)):
        value = values[piece] if at % 2 else piece
        if isinstance(value, dict) and value.get("type") == "input_text":
            value = value.get("text", "")
        if isinstance(value, dict):
            parts.append(value)
        elif not isinstance(value, str):
            what = f"Invalid type for '{_NAMES}.{piece}': expected a string or an input part."
            raise Refused(400, "malformed", what, code="invalid_type", param=_NAMES)
        elif value and parts and parts[-1]["type"] == kind:
            parts[-1] = {"type": kind, "text": parts[-1]["text"] + value}
        elif value:
            parts.append({"type": kind, "text": value})
    return {"type": "message", "role": message.role, "content": parts}
