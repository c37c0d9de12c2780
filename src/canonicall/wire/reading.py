"""Reading a body somebody else wrote: wrong shapes are refused with their path, the rest is taken.

Every decoder uses these and nothing else to take a parsed body apart, so that the same fault gives
the same error in every format.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from canonicall.blocks import Message, Native, Origin
from canonicall.conversation import Conversation
from canonicall.errors import InvalidValue, MalformedBody
from canonicall.findings import Finding
from canonicall.lookalikes import text_likeness
from canonicall.plain import plain_json

_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


def parse_body(
    body: bytes | str | dict[str, Any], findings: list[Finding] | None = None
) -> dict[str, Any]:
    """The JSON object in `body`; what had to be put right for it is told in `findings`."""
    return object_at(parse_json(body, [] if findings is None else findings), "$")


def parse_json(body: Any, findings: list[Finding]) -> Any:
    """The JSON value in `body`, parsed if it is not; what had to be put right is in `findings`."""
    return _parsed(body, findings) if isinstance(body, (bytes, str)) else body


def mended_json(data: bytes | str) -> tuple[Any, list[Finding]] | None:
    """JSON in which characters are halved, and where they stood; None for what is no JSON at all.

    Programs that cut text between the halves of an emoji write such escapes: clients that shorten
    results (JohnnyZ93/oai-compatible-copilot#271), hosts that stream
    (Kohaku-Lab/KohakuTerrarium#48). The strict parser refuses the whole for it.
    """
    may_be_halved = (
        b"\\u" in data if isinstance(data, bytes) else not data.isascii() or "\\u" in data
    )
    if not may_be_halved:
        return None
    try:
        value, findings = plain_json(json.loads(data), "$")
    except (ValueError, RecursionError, InvalidValue):
        return None
    return (value, findings) if findings else None


def _parsed(text: bytes | str, findings: list[Finding]) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError) as error:
        mended = mended_json(text)
        if mended is None:
            raise MalformedBody(_not_json(text, error)) from None
        findings += mended[1]
        return mended[0]
    except RecursionError:
        raise MalformedBody("the body is nested too deeply to be read.") from None


def _not_json(text: bytes | str, error: Exception) -> str:
    seen = text_likeness(text)
    if seen is not None:
        return f"the body is {seen.what}. {seen.instead}"
    return f"the body is not JSON: {error}."


def object_at(value: Any, where: str) -> dict[str, Any]:
    """`value`, which has to be an object."""
    if not isinstance(value, dict):
        raise MalformedBody(f"expected an object, got {kind_of(value)}.", where=where)
    return value


def list_at(value: Any, where: str) -> list[Any]:
    """`value`, which has to be a list; null counts as empty."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise MalformedBody(f"expected a list, got {kind_of(value)}.", where=where)
    return value


def objects_at(value: Any, where: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The items of a list of objects, each with its path."""
    for index, item in enumerate(list_at(value, where)):
        place = f"{where}[{index}]"
        yield object_at(item, place), place


def text_at(value: Any, where: str) -> str:
    """`value`, which has to be text; null counts as empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedBody(f"expected text, got {kind_of(value)}.", where=where)
    return value


def id_at(value: Any, where: str) -> str:
    """An id; clients also write null and "null" where there is none (Mistral's SDK does)."""
    id = text_at(value, where)
    return "" if id == "null" else id


def arguments_at(value: Any) -> tuple[str | None, dict[str, Any] | None]:
    """The arguments of a call as text, or as an object: what they came as. Null is an empty object.

    Any other value is kept as its text: a model wrote it, and what it wrote is reported when the
    text is parsed.
    """
    if value is None:
        return None, {}
    if isinstance(value, dict):
        return None, value
    return value if isinstance(value, str) else msgspec.json.encode(value).decode(), None


def number_at(owner: Mapping[str, Any], name: str, where: str = "$") -> Any:
    """The field `name` of the object at `where`, which has to be a number or null."""
    value = owner.get(name)
    if value is None or (type(value) in (int, float) and math.isfinite(value)):
        return value
    raise MalformedBody(f"expected a number, got {kind_of(value)}.", where=f"{where}.{name}")


def whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def split_data_url(url: str) -> tuple[str, str] | None:
    """Media type and base64 text of a `data:` address, None for any other.

    The type is in small letters, without parameters, and empty where the address names none. Data
    that is not base64 stays an address.
    """
    head, found, data = url.partition(",")
    if not found or head[:5].lower() != "data:" or head[-7:].lower() != ";base64":
        return None
    return head[5:-7].partition(";")[0].strip().lower(), data


def native_fields(format: str, value: dict[str, Any], known: Iterable[str]) -> Native | None:
    """The fields of `value` that are not `known`, None if there are none."""
    rest = {name: field for name, field in value.items() if name not in known}
    return Native(format, rest) if rest else None


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    return _KINDS.get(type(value), "a number")


ReadHistory: TypeAlias = Callable[
    [dict[str, Any], int, Origin, str, list[Finding]], Iterable[Message]
]
"""Reads the messages of a body from a number on; each is read by itself."""


class History(Struct, frozen=True):
    """A conversation as a body told it, and what was said of its messages."""

    conversation: Conversation
    findings: tuple[Finding, ...] = ()

    @classmethod
    def read(
        cls, read: ReadHistory, body: dict[str, Any], origin: Origin, domain: str
    ) -> "History":
        """All messages of a body."""
        findings: list[Finding] = []
        conversation = Conversation()
        # Reading all of them before the first is written takes a tenth less time than by turns.
        messages = list(read(body, 0, origin, domain, findings))
        conversation.extend(messages)
        return cls(conversation, tuple(findings))
