"""What stands beside the canonical fields of a block or tool: cache marks and native fields.

A null field means the same as a missing one and is read as missing.
"""

from typing import Any

from canonicall.blocks import Native
from canonicall.wire.anthropic.target import TARGET
from canonicall.wire.reading import object_at, text_at

FORMAT = TARGET.format

_MARK = "cache_control"
# SDK cache_control_ephemeral_param.py: other lifetimes are refused, so they become the default.
_LIFETIMES = ("5m", "1h")


def decode_cache(owner: dict[str, Any], where: str) -> str | None:
    """The cache mark of `owner`: its lifetime, "default", or None where it has none."""
    mark = owner.get(_MARK)
    if mark is None:
        return None
    where = f"{where}.{_MARK}"
    return text_at(object_at(mark, where).get("ttl"), f"{where}.ttl") or "default"


def decode_rest(owner: dict[str, Any], *known: str) -> Native | None:
    """The fields of `owner` that are not `known`, and what its mark says beyond a lifetime."""
    rest = {
        name: field
        for name, field in owner.items()
        if name not in known and name not in ("type", _MARK) and field is not None
    }
    mark = owner.get(_MARK)
    if isinstance(mark, dict) and mark.keys() - {"type", "ttl"}:
        rest[_MARK] = {name: mark[name] for name in mark if name not in ("type", "ttl")}
    return Native(FORMAT, rest) if rest else None


def without_mark(block: dict[str, Any]) -> dict[str, Any]:
    """`block` whole but for its cache mark, which is counted and moved like any other."""
    return {name: field for name, field in block.items() if name != _MARK}


def own_fields(native: Native | None) -> dict[str, Any]:
    """The fields in `native` if they are this format's, else none."""
    return native.fields if native is not None and native.format == FORMAT else {}


def with_extras(
    wire: dict[str, Any], *, cache: str | None = None, native: Native | None = None
) -> dict[str, Any]:
    """`wire` with its native fields and its cache mark. A field that `wire` has wins."""
    extras = own_fields(native)
    full = wire | {name: field for name, field in extras.items() if name not in wire}
    full.pop(_MARK, None)
    if cache is not None:
        lifetime = {"ttl": cache} if cache in _LIFETIMES else {}
        full[_MARK] = {"type": "ephemeral"} | lifetime | extras.get(_MARK, {})
    return full
