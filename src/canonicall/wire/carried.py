"""What a block carries beside its canonical fields: native fields, opaque state, cache marks.

Native fields go back to the format they came from and to no other. Known fields win over them.
"""

from collections.abc import Container
from typing import Any

from canonicall.blocks import Block, Native, Opaque
from canonicall.wire.reading import object_at, text_at

UNKNOWN_ISSUER = "unknown"
"""The signing domain of state that is plainly not its format's own: no target can read it."""


def native_of(format: str, fields: dict[str, Any]) -> Native | None:
    """`fields` as native fields of a format, None if there are none."""
    return Native(format, fields) if fields else None


def fields_of(
    format: str, native: Native | None, except_for: Container[str] = ()
) -> dict[str, Any]:
    """The fields in `native` if they are of `format`, else none: a new dict, free to be changed."""
    if native is None or native.format != format:
        return {}
    return {name: field for name, field in native.fields.items() if name not in except_for}


def set_fields(value: dict[str, Any], known: Container[str]) -> dict[str, Any]:
    """The fields of `value` that are not `known`, where null is as good as absent."""
    return {name: field for name, field in value.items() if name not in known and field is not None}


def filled_fields(value: dict[str, Any], known: Container[str]) -> dict[str, Any]:
    """The fields of `value` that are not `known`, where empty is as good as absent."""
    return {
        name: field
        for name, field in value.items()
        if name not in known and field not in (None, "", [], {})
    }


def with_rest(wire: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """`wire` with the native fields `rest`. A field that `wire` has wins."""
    return wire | {name: field for name, field in rest.items() if name not in wire}


def opaque_of(domain: str, kind: str, value: Any) -> tuple[Opaque, ...]:
    """Opaque state, where there is any."""
    return (Opaque(domain, kind, value),) if value else ()


def opaque_value(block: Block, kind: str) -> Any:
    """The opaque state of one kind, None where a block has none."""
    for one in block.opaque:
        if one.kind == kind:
            return one.value
    return None


def mark_at(owner: dict[str, Any], name: str, where: str) -> str | None:
    """The cache mark in a field of `owner`: its lifetime, "default", or None where it has none."""
    mark = owner.get(name)
    if mark is None:
        return None
    where = f"{where}.{name}"
    return text_at(object_at(mark, where).get("ttl"), f"{where}.ttl") or "default"
