"""Histories of agent frameworks: shapes that are mistaken for requests, and what they are.

In: a parsed body, or a list of messages. Out: nothing, or a `ForeignHistory` that names the
framework. Frameworks store their messages in forms of their own that no provider accepts. Some
decoders would read parts of them, the rest would be lost. `SHAPES` is the table: one entry for each
form, with the marks that no wire format has.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.errors import ForeignHistory

Message: TypeAlias = dict[str, Any]


class Shape(Struct, frozen=True):
    """One form in which a framework stores messages."""

    framework: str
    form: str
    """The function or type that gives this form."""
    instead: str
    """What to do to get a request."""
    matches: Callable[[Message], bool]
    """Whether a message can only be of this form."""


_LANGCHAIN_TYPES = tuple(
    name
    for kind in ("human", "ai", "system", "tool", "function", "chat", "developer", "remove")
    for name in (kind, f"{'AI' if kind == 'ai' else kind.capitalize()}MessageChunk")
)
_KINDS = ("request", "response")
_MODEL_PARTS = ("tool-call", "tool-result", "tool-approval-request", "tool-approval-response")


def _is_langchain(message: Message) -> bool:
    kind = message.get("type")
    return isinstance(kind, str) and kind in _LANGCHAIN_TYPES and "role" not in message


def _is_message_to_dict(message: Message) -> bool:
    return isinstance(message.get("data"), dict) and _is_langchain(message)


def _is_message_dump(message: Message) -> bool:
    return "content" in message and _is_langchain(message)


def _is_dumpd(message: Message) -> bool:
    return "lc" in message and isinstance(message.get("kwargs"), dict)


def _is_pydantic_ai(message: Message) -> bool:
    return message.get("kind") in _KINDS and isinstance(message.get("parts"), list)


def _is_model_message(message: Message) -> bool:
    parts = _objects(message.get("content"))
    return any("toolCallId" in part and part.get("type") in _MODEL_PARTS for part in parts)


def _is_ui_message(message: Message) -> bool:
    """A message of Gemini has parts as well, but no id, and its parts need no type."""
    parts = [one for one in _objects(message.get("parts")) if isinstance(one.get("type"), str)]
    is_stored = "id" in message and "content" not in message
    return any(is_stored or "toolCallId" in one or "toolInvocation" in one for one in parts)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


_TO_OPENAI = "Convert it with langchain_core.messages.convert_to_openai_messages first"
_SENT = "Give the request body that {} sends to its provider instead"
SHAPES = (
    # https://reference.langchain.com/python/langchain_core/messages/
    Shape("LangChain", "messages_to_dict", f"{_TO_OPENAI}.", _is_message_to_dict),
    Shape("LangChain", "model_dump of its messages", f"{_TO_OPENAI}.", _is_message_dump),
    Shape("LangChain", "dumpd", f"{_TO_OPENAI}.", _is_dumpd),
    # https://ai.pydantic.dev/message-history/
    Shape(
        "pydantic-ai",
        "ModelMessagesTypeAdapter",
        f"{_SENT.format('pydantic-ai')}.",
        _is_pydantic_ai,
    ),
    # https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message
    Shape(
        "Vercel AI SDK",
        "ModelMessage",
        f"{_SENT.format('the SDK')} (`request.body` of a result).",
        _is_model_message,
    ),
    # https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message
    Shape(
        "Vercel AI SDK",
        "UIMessage",
        "Convert it with convertToModelMessages, and give the request body that the SDK sends.",
        _is_ui_message,
    ),
)
"""Every form that is known, the more special ones first."""
_HISTORY = ("messages", "input", "contents")
_MARKS = frozenset({"kind", "lc", "parts", "type"})


def framework_shape(value: Any) -> Shape | None:
    """The form in which a framework stored the messages in `value`, None where none did."""
    held = [value[name] for name in _HISTORY if name in value] if isinstance(value, dict) else []
    for history in held or ([value] if isinstance(value, dict) else value,):
        for message in history if isinstance(history, list) else ():
            if type(message) is not dict:
                continue
            if type(message.get("content")) is str and _MARKS.isdisjoint(message):
                continue  # Nearly all messages are like this, so this is all that they cost.
            if not _is_plain(message):
                found = next((shape for shape in SHAPES if shape.matches(message)), None)
                if found is not None:
                    return found
    return None


def _is_plain(message: Message) -> bool:
    """Whether a message has none of the fields that the shapes are recognised by."""
    if "kind" in message or "lc" in message:
        return False
    if "parts" in message:
        if "role" not in message or "content" in message:
            return False
        held, mark = message["parts"], "type"
    else:
        if "role" not in message and message.get("type") in _LANGCHAIN_TYPES:
            return False
        held, mark = message.get("content"), "toolCallId"
    if type(held) is list:
        for part in held:
            if type(part) is dict and mark in part:
                return False
    return True


def refuse_framework(value: Any, format: str = "") -> None:
    """Raise `ForeignHistory` if `value` is the history of a framework instead of a request."""
    shape = framework_shape(value)
    if shape is not None:
        raise ForeignHistory(shape.framework, form=shape.form, instead=shape.instead, format=format)
