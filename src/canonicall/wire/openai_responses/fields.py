"""What stands beside the canonical fields of a block: native fields, opaque state, cache marks.

A null field means the same as a missing one and is read as missing.
"""

from typing import Any

from canonicall.blocks import Block, Native, Opaque
from canonicall.wire.openai_responses.target import FORMAT
from canonicall.wire.reading import object_at, text_at

ENCRYPTED = "encrypted"
ITEM_ID = "item_id"
FILE_ID = "file_id"
SERVER_BLOCK = "server_block"

_MARK = "prompt_cache_breakpoint"
# SDK response_input_text_param.py: other lifetimes are refused, so they become the default.
_LIFETIMES = ("30m", "12h")


def rest_of(wire: dict[str, Any], *known: str) -> dict[str, Any]:
    """The fields of `wire` that are not `known`, without its type and cache mark."""
    return {
        name: field
        for name, field in wire.items()
        if name not in known and name not in ("type", _MARK) and field is not None
    }


def native_of(fields: dict[str, Any]) -> Native | None:
    """`fields` as native fields of this format, None if there are none."""
    return Native(FORMAT, fields) if fields else None


def own_fields(native: Native | None) -> dict[str, Any]:
    """The fields in `native` if they are this format's, else none."""
    return native.fields if native is not None and native.format == FORMAT else {}


def with_rest(wire: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """`wire` with the native fields `rest`. A field that `wire` has wins."""
    return wire | {name: field for name, field in rest.items() if name not in wire}


def opaque_of(domain: str, kind: str, value: Any) -> tuple[Opaque, ...]:
    """Opaque state, where there is any."""
    return (Opaque(domain, kind, value),) if value else ()


def opaque_value(block: Block, kind: str) -> Any:
    """The opaque state of one kind, None where a block has none."""
    return next((one.value for one in block.opaque if one.kind == kind), None)


def id_at(value: Any, where: str) -> str:
    """A call id; clients also write null and "null" where there is none."""
    id = text_at(value, where)
    return "" if id == "null" else id


def decode_mark(part: dict[str, Any], where: str) -> str | None:
    """The cache mark of a part: its lifetime, "default", or None where it has none."""
    mark = part.get(_MARK)
    if mark is None:
        return None
    where = f"{where}.{_MARK}"
    return text_at(object_at(mark, where).get("ttl"), f"{where}.ttl") or "default"


def encode_mark(cache: str | None) -> dict[str, Any]:
    """The field of a cache mark."""
    if cache is None:
        return {}
    lifetime = {"ttl": cache} if cache in _LIFETIMES else {}
    return {_MARK: {"mode": "explicit", **lifetime}}
