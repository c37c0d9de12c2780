"""What a value is that was given in place of a request or a reply.

In: a parsed JSON value, or the text that could not be parsed. Out: what it looks like and what to
do with it, for the error that refuses it. Nothing here decides whether a body is read: its decoder
does, and asks here when it finds nothing to read. `_OBJECTS` is the table, the more special entries
first.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

from msgspec import Struct

from canonicall.deltas import other_state_api, state_fields
from canonicall.detection import CANONICAL, possible_formats, reply_format
from canonicall.errors import MalformedBody

TITLES = {
    "openai-chat": "Chat Completions",
    "openai-responses": "the Responses API",
    "anthropic": "the Messages API",
    "gemini": "Gemini",
    "bedrock": "Bedrock Converse",
    "cohere": "Cohere",
    "ollama": "Ollama",
}
"""What the formats are called in sentences."""
HISTORY_FIELD = {"gemini": "contents", "openai-responses": "input"}
"""Where a request has its messages; `messages` in the formats that are not listed."""
_REPLY_FIELDS = {
    "openai-chat": ("choices",),
    "openai-responses": ("output", "status"),
    "anthropic": ("content", "stop_reason"),
    "gemini": ("candidates", "promptFeedback", "prompt_feedback"),
    "bedrock": ("output", "stopReason"),
    "cohere": ("message", "finish_reason"),
    "ollama": ("message", "done"),
}
"""Fields of replies: a body with none of them is something else."""
_EMBEDDING = ("encoding_format", "dimensions")


class Likeness(Struct, frozen=True):
    """What something looks like."""

    what: str
    """As it is called after "this is"."""
    instead: str = ""
    """What to do with it."""
    kind: Literal["request", "reply", ""] = ""
    format: str = ""
    """The format of a request or a reply."""
    is_envelope: bool = False
    """It is something that programs send, and no model prints."""

    def instead_of(self, wanted: Literal["request", "reply"], format: str) -> str:
        """The sentences for somebody who expects a request, or a reply, of a format.

        `format` may be the name of a provider, while nothing is known of the body.
        """
        title = TITLES.get(format, format)
        if not self.kind:
            field = HISTORY_FIELD.get(format, "messages")
            has = f" A request of {title} has its messages in `{field}`."
            instead = f" {self.instead}" if self.instead else has if wanted == "request" else ""
            return f"this is {self.what}, not a {wanted} of {title}.{instead}"
        if self.kind == wanted:
            return f"this is {self.what}, not of {title}. Name its format: {self.format!r}."
        read = "decode_response" if self.kind == "reply" else "decode_request"
        return f"this is {self.what}, not a {wanted}. Read it with {read}(body, {self.format!r})."


def has_history(body: dict[str, Any], format: str) -> bool:
    """Whether a body has the field in which a request of this format has its messages."""
    if body.get(HISTORY_FIELD.get(format, "messages")) is not None:
        return format != "openai-responses" or _embedding(body) is None
    return bool(state_fields(body, format))


def refuse_other_request(value: Any, format: str) -> None:
    """Raise `MalformedBody` if `value` has no place for the messages of a request of `format`."""
    if isinstance(value, dict):
        if has_history(value, format) and other_state_api(value) is None:
            return
        field = HISTORY_FIELD.get(format, "messages")
        if field in value and value[field] is None:
            what = f"`{field}` is null. A request of {TITLES[format]} has its messages there."
            raise MalformedBody(what, where=f"$.{field}")
    raise MalformedBody(likeness(value).instead_of("request", format))


def with_likeness(error: MalformedBody, body: dict[str, Any], format: str) -> MalformedBody:
    """`error` of reading a request, with what the body looks like if that is another format."""
    possible = possible_formats(body)
    if type(error) is not MalformedBody or not possible or format in possible:
        return error
    looks = f"The body looks like a request of {TITLES[possible[0]]} ({possible[0]!r})."
    return MalformedBody(f"{error.what} {looks}", where=error.where)


def refuse_other_reply(value: Any, format: str) -> None:
    """Raise `MalformedBody` if `value` has none of the fields of a reply of this format."""
    if not isinstance(value, dict) or not _has_reply(value, format) or _event(value) is not None:
        raise MalformedBody(likeness(value).instead_of("reply", format))


def _has_reply(body: dict[str, Any], format: str) -> bool:
    return any(body.get(name) is not None for name in _REPLY_FIELDS[format])


def reply_error(error: MalformedBody, body: dict[str, Any], format: str) -> MalformedBody:
    """`error` of reading a reply, or a better one if the body is recognised as something else."""
    seen = likeness(body)
    is_known = bool(seen.kind or seen.instead) and (seen.kind, seen.format) != ("reply", format)
    if is_known or not _has_reply(body, format):
        return MalformedBody(seen.instead_of("reply", format))
    return error


def possible_histories(body: dict[str, Any]) -> tuple[str, ...]:
    """The fields of `body` in which some format has its messages."""
    return tuple(name for name in ("messages", "contents", "input") if name in body)


def likeness(value: Any) -> Likeness:
    """What a JSON value looks like."""
    if isinstance(value, dict):
        return next(found for of in _OBJECTS if (found := of(value)) is not None)
    if isinstance(value, list):
        return _list(value)
    kind = {str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
    return Likeness(kind, "Give the whole body, which is a JSON object.")


def is_stream(text: bytes | str) -> bool:
    """Whether a text is a stream of server-sent events."""
    return bool(_STREAM.match(_start(text)))


def _start(text: bytes | str) -> str:
    start = text[:_START].decode("utf-8", "replace") if isinstance(text, bytes) else text[:_START]
    return start.removeprefix("\ufeff").lstrip()


_START = 400
"""How many characters show what a text is."""


def text_likeness(text: bytes | str) -> Likeness | None:
    """What a text is that is not JSON; None where nothing is known of it."""
    start = _start(text)
    if not start:
        return Likeness("empty", "Give the whole body, which is a JSON object.")
    if _STREAM.match(start):
        what = "the text of a stream (server-sent events)"
        return Likeness(what, "Give its bytes to StreamDecoder, or a body that is one JSON object.")
    if re.match(r"[{\[].*[}\]][ \t\r]*\n\s*[{\[]", start):
        return Likeness("several JSON documents, one a line", "Give one line at a time.")
    return None


_STREAM = re.compile(r"(:[^\n]*\s+)*(event: ?\w|data: ?[\[{]|(id|retry): ?\S+\s*\n(event|data):)")


def _list(items: list[Any]) -> Likeness:
    objects = [one for one in items if isinstance(one, dict)]
    if objects and any("role" in one for one in objects):
        field = "contents" if any("parts" in one for one in objects) else "messages"
        return Likeness("a list of messages", f'Give the whole body: {{"{field}": [...]}}.')
    if objects and any(one.get("type") in _ITEMS for one in objects):
        return Likeness("a list of items", 'Give the whole body: {"input": [...]}.')
    if objects and any("function" in one or "input_schema" in one for one in objects):
        return Likeness("a list of tools", "Give the whole body of a request.")
    return Likeness("a list" if items else "an empty list", "Give the whole body, an object.")


_ITEMS = ("message", "function_call", "function_call_output", "reasoning", "custom_tool_call")


def _mcp(body: dict[str, Any]) -> Likeness | None:
    if "jsonrpc" in body:
        what = "an MCP message (JSON-RPC)"
    elif "isError" in body and isinstance(body.get("content"), list):
        what = "the result of an MCP tool"
    else:
        return None
    instead = "Give the request that is sent to the model, or the model's reply."
    return Likeness(what, instead, is_envelope=True)


_BATCHES = (
    # https://platform.openai.com/docs/guides/batch
    (("custom_id", "body"), "body"),
    (("custom_id", "response"), "response.body"),
    # https://docs.anthropic.com/en/docs/build-with-claude/batch-processing
    (("custom_id", "params"), "params"),
    (("custom_id", "result"), "result.message"),
    # https://ai.google.dev/gemini-api/docs/batch-api
    (("key", "request"), "request"),
    (("key", "response"), "response"),
    # https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-data.html
    (("recordId", "modelOutput"), "modelOutput"),
    (("recordId", "modelInput"), "modelInput"),
)
"""Fields that a line of a batch file has, and where its body is."""


def _batch(body: dict[str, Any]) -> Likeness | None:
    for (name, held), place in _BATCHES:
        if name in body and isinstance(body.get(held), dict):
            instead = f"Give what is in its `{place}`."
            return Likeness("a line of a batch file", instead, is_envelope=True)
    return None


_EVENTS = {
    "anthropic": ("message_", "content_block_"),
    "openai-responses": ("response.",),
    "cohere": ("message-", "content-", "tool-call-", "tool-plan-", "citation-"),
}
_BEDROCK_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "messageStop")


def _event(body: dict[str, Any]) -> Likeness | None:
    kind = body.get("type")
    named = kind if isinstance(kind, str) else ""
    of = next((format for format, begun in _EVENTS.items() if named.startswith(begun)), "")
    choices = list(_objects(body.get("choices")))
    if any("delta" in one for one in choices) and not any("message" in one for one in choices):
        of = "openai-chat"
    elif any(isinstance(body.get(name), dict) for name in _BEDROCK_EVENTS):
        of = "bedrock"
    if not of:
        return None
    what = f"one event of a stream of {TITLES[of]}"
    instead = "Give the bytes of the whole stream to StreamDecoder."
    return Likeness(what, instead, is_envelope=True)


def _reply(body: dict[str, Any]) -> Likeness | None:
    format = reply_format(body)
    return Likeness(f"a reply of {TITLES[format]}", "", "reply", format) if format else None


def _error(body: dict[str, Any]) -> Likeness | None:
    error = body.get("error")
    told = error.get("message") if isinstance(error, dict) else error
    if body.keys() <= {"message", "Message", "__type", "code"} and body:
        told = body.get("message", body.get("Message"))
    if not isinstance(told, str) or not told:
        return None
    shown = told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."
    is_envelope = isinstance(error, dict)
    instead = "`explain` says what an error means."
    return Likeness(f"the body of an error ({shown})", instead, is_envelope=is_envelope)


_LONGEST = 200


def _embedding(body: dict[str, Any]) -> Likeness | None:
    if "input" not in body or not any(name in body for name in _EMBEDDING):
        return None
    return Likeness("a request for embeddings", "Only requests for a reply can be read.")


def _completion(body: dict[str, Any]) -> Likeness | None:
    if not isinstance(body.get("prompt"), (str, list)) or possible_histories(body):
        return None
    what = "a request of the legacy Completions API"
    return Likeness(what, 'Give its text as a message: {"role": "user", "content": ...}.')


def _state_api(body: dict[str, Any]) -> Likeness | None:
    api = other_state_api(body)
    if api is None:
        return None
    return Likeness(api.what, f"This API is not supported. {api.instead}")


def _request(body: dict[str, Any]) -> Likeness | None:
    format = next(iter(possible_formats(body)), "")
    if format == CANONICAL:
        return Likeness("a stored conversation of canonicall", "Read it with load().")
    return Likeness(f"a request of {TITLES[format]}", "", "request", format) if format else None


def _other(body: dict[str, Any]) -> Likeness:
    if "role" in body and ("content" in body or "parts" in body):
        return Likeness("a single message", "Give the whole body of a request.")
    if isinstance(body.get("thread"), dict):
        return Likeness("a run of the Assistants API", "Give the messages of its thread.")
    if isinstance(body.get("conversations"), list):
        instead = "Write each as a message: `role` for `from`, `content` for `value`."
        return Likeness("a conversation in the ShareGPT form", instead)
    if not body:
        return Likeness("an empty object")
    named = ", ".join(list(map(str, body))[:_MOST_NAMED])
    return Likeness(f"an object with the fields {named}")


_MOST_NAMED = 6


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


_OBJECTS: tuple[Callable[[dict[str, Any]], Likeness | None], ...] = (
    *(_mcp, _batch, _event, _reply),
    *(_state_api, _embedding, _completion, _request, _error, _other),
)
