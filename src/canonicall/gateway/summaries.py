"""Summaries in the bodies of clients: packed on the way out, plain text again on the way in.

A client gives a summary back unread, in the item or block that its format has for it. Every
upstream gets the text of it, as a message of the user.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.gateway.exchange import Refused
from canonicall.gateway.opaque import Carried, is_packed, packed, unpacked
from canonicall.gateway.responses_state import items_of, listed

_KEPT_ROLES = ("user", "system", "developer")
_TYPE = "compaction"
_INTRODUCTION = "Summary of the conversation before this point, which it replaces:\n\n"
_Open: TypeAlias = Callable[[Any, str], Any]


class Summarised(Struct, frozen=True):
    """A summary, and the model that wrote it."""

    id: str
    text: str
    provider: str
    model: str

    @property
    def packed(self) -> str:
        """The text that clients carry."""
        return packed(Carried(self.provider, self.model, (), self.text))


def responses_item(summary: Summarised) -> dict[str, Any]:
    """The item of the Responses API (SDK response_compaction_item.py)."""
    id = f"cmp_{summary.id}"
    return {"type": _TYPE, "id": id, "encrypted_content": summary.packed}


def anthropic_block(summary: Summarised) -> dict[str, Any]:
    """The block of the Messages API (SDK beta_compaction_block.py)."""
    return {"type": _TYPE, "content": summary.text, "encrypted_content": summary.packed}


def kept_messages(body: Mapping[str, Any], id: str) -> list[dict[str, Any]]:
    """The messages that stay beside a summary: those of the user, and instructions.

    Each gets an id, and its content in parts, as items of a response have them.
    """
    return [
        {**listed(item, f"msg_{id}_{at}"), "type": "message", "status": "completed"}
        for at, item in enumerate(items_of(body.get("input")))
        if isinstance(item, dict)
        and item.get("type") in (None, "message")
        and item.get("role") in _KEPT_ROLES
    ]


def opened(body: dict[str, Any], format: str) -> dict[str, Any]:
    """`body` with the text of each summary that the gateway has packed. `Refused` where one is
    damaged: without it, the conversation that it replaces would be lost."""
    where, open_one = _OPENERS.get(format, ("", None))
    given = body.get(where)
    if open_one is None or not isinstance(given, list):
        return body
    items = [open_one(item, f"{where}[{at}]") for at, item in enumerate(given)]
    if all(new is old for new, old in zip(items, given, strict=True)):
        return body
    return {**body, where: items}


def _open_item(item: Any, where: str) -> Any:
    text = _text_in(item, where)
    return item if text is None else {"type": "message", "role": "user", "content": text}


def _open_message(message: Any, where: str) -> Any:
    """A message of the Messages API, whose blocks may be summaries."""
    blocks = message.get("content") if isinstance(message, dict) else None
    if not isinstance(blocks, list):
        return message
    texts = [_text_in(block, f"{where}.content[{at}]") for at, block in enumerate(blocks)]
    if all(text is None for text in texts):
        return message
    made = [
        block if text is None else {"type": "text", "text": text}
        for block, text in zip(blocks, texts, strict=True)
    ]
    # What the model said after the summary remains its own.
    is_all = all(text is not None for text in texts)
    return {**message, "role": "user" if is_all else message.get("role"), "content": made}


_OPENERS: dict[str, tuple[str, _Open]] = {
    "openai-responses": ("input", _open_item),
    "anthropic": ("messages", _open_message),
}


def _text_in(item: Any, where: str) -> str | None:
    """The text of a summary that the gateway has packed; None where it is something else."""
    if not isinstance(item, dict) or item.get("type") != _TYPE:
        return None
    value = item.get("encrypted_content")
    if not is_packed(value):
        return None
    carried = unpacked(value)
    if carried is None or carried.text is None:
        # OpenAI's own text for it.
        named = f" for item {item['id']}" if isinstance(item.get("id"), str) else ""
        what = (
            f"The encrypted content{named} could not be verified."
            " Reason: Encrypted content could not be decrypted or parsed."
        )
        code = "invalid_encrypted_content"
        raise Refused(400, "malformed", what, code=code, param=where)
    return _INTRODUCTION + carried.text
