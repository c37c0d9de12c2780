"""What stands beside the canonical fields of a block: native fields, opaque state, cache marks.

A null field means the same as a missing one and is read as missing.
"""

import re
from functools import partial
from typing import Any

from canonicall.blocks import Opaque
from canonicall.deltas import is_item_reference
from canonicall.facts.vocabulary import vocabulary
from canonicall.wire import carried
from canonicall.wire.openai_responses import FORMAT
from canonicall.wire.reading import text_at

ENCRYPTED = "encrypted"
ITEM_ID = "item_id"
FILE_ID = "file_id"
SERVER_BLOCK = "server_block"

ID_PREFIXES = vocabulary("openai-responses").item_prefixes
"""How the ids of items begin."""
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{0,64}")
_STORING_DOMAINS = vocabulary("openai-responses").storing_domains
_MADE = "_canonicall_"

_MARK = "prompt_cache_breakpoint"
# SDK response_input_text_param.py: other lifetimes are refused, so they become the default.
_LIFETIMES = ("30m", "12h")
own_fields = partial(carried.fields_of, FORMAT)
"""The native fields of this format, nothing for those of another one."""
native_of = partial(carried.native_of, FORMAT)
"""Some fields as native fields of this format, None if there are none."""


def rest_of(wire: dict[str, Any], *known: str) -> dict[str, Any]:
    """The fields of `wire` that are not `known`, without its type and cache mark."""
    return carried.set_fields(wire, (*known, "type", _MARK))


def made_id(prefix: str, suffix: str) -> str:
    """An item id for a client that wants one where no provider gave it."""
    return f"{prefix}{_MADE}{suffix}"


def domain_of_item(item: dict[str, Any], where: str, domain: str) -> str:
    """Who can read an item: nobody, where its id cannot be one that `domain` gave."""
    id = item_id(item, where)
    kind = str(item.get("type") or "message")
    prefix = "" if is_item_reference(item) else ID_PREFIXES.get(kind, "")
    call_id = item.get("call_id") or ""
    is_id = isinstance(call_id, str) and _CALL_ID.fullmatch(call_id) is not None
    is_stored = domain not in _STORING_DOMAINS or (id.startswith(prefix if id else "") and is_id)
    return domain if is_stored and _MADE not in id else carried.UNKNOWN_ISSUER


def opaque_id(item: dict[str, Any], where: str, domain: str) -> tuple[Opaque, ...]:
    """The id of an item as opaque state. One that was made for a client names nothing."""
    id = item_id(item, where)
    if _MADE in id:
        return ()
    return carried.opaque_of(domain_of_item(item, where, domain), ITEM_ID, id)


def item_id(item: dict[str, Any], where: str) -> str:
    """The id of an item; Bedrock Mantle writes `item_id` and `output_index`, as in a stream."""
    return text_at(item.get("id") or item.get("item_id"), f"{where}.id")


def decode_mark(part: dict[str, Any], where: str) -> str | None:
    """The cache mark of a part."""
    return carried.mark_at(part, _MARK, where)


def encode_mark(cache: str | None) -> dict[str, Any]:
    """The field of a cache mark."""
    if cache is None:
        return {}
    lifetime = {"ttl": cache} if cache in _LIFETIMES else {}
    return {_MARK: {"mode": "explicit", **lifetime}}
