"""What stands beside the canonical fields of a block: native fields, opaque state, cache marks.

A null field means the same as a missing one and is read as missing.
"""

from functools import partial
from typing import Any

from canonicall.wire import carried
from canonicall.wire.openai_responses.target import FORMAT

ENCRYPTED = "encrypted"
ITEM_ID = "item_id"
FILE_ID = "file_id"
SERVER_BLOCK = "server_block"

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


def decode_mark(part: dict[str, Any], where: str) -> str | None:
    """The cache mark of a part."""
    return carried.mark_at(part, _MARK, where)


def encode_mark(cache: str | None) -> dict[str, Any]:
    """The field of a cache mark."""
    if cache is None:
        return {}
    lifetime = {"ttl": cache} if cache in _LIFETIMES else {}
    return {_MARK: {"mode": "explicit", **lifetime}}
