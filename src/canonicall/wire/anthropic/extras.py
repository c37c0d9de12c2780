"""What stands beside the canonical fields of a block or tool: cache marks and native fields.

A null field means the same as a missing one and is read as missing.
"""

from functools import partial
from typing import Any

from canonicall.blocks import Native
from canonicall.facts.vocabulary import vocabulary
from canonicall.findings import Action, Fault, Finding
from canonicall.wire import carried
from canonicall.wire.anthropic import TARGET

FORMAT = TARGET.format
own_fields = partial(carried.fields_of, FORMAT)
"""The native fields of this format, nothing for those of another one."""
native_of = partial(carried.native_of, FORMAT)
"""Some fields as native fields of this format, None if there are none."""

_MARK = "cache_control"
_KIND = "ephemeral"
# Other lifetimes and fields are refused, so lifetimes become the default.
_LIFETIMES = vocabulary(FORMAT).lifetimes
_MARK_FIELDS = set(vocabulary(FORMAT).mark_fields)


def decode_cache(owner: dict[str, Any], where: str) -> str | None:
    """The cache mark of `owner`."""
    return carried.mark_at(owner, _MARK, where)


def with_sound_mark(owner: dict[str, Any], where: str, findings: list[Finding]) -> dict[str, Any]:
    """`owner` with a mark that says nothing but what marks can say."""
    mark = owner.get(_MARK)
    if not isinstance(mark, dict) or mark == {"type": _KIND}:
        return owner
    lifetime = mark.get("ttl")
    # A lifetime that is no text is refused where the mark is read.
    is_known = not isinstance(lifetime, str) or lifetime in _LIFETIMES
    if is_known and mark.get("type") == _KIND and mark.keys() <= _MARK_FIELDS:
        return owner
    why = "There is no such cache mark; it is one of the usual kind now."
    place = f"{where}.{_MARK}"
    findings.append(Finding("cache_mark_changed", place, Action.CHANGED, why, Fault.INPUT))
    sound = {name: mark[name] for name in mark if name in _MARK_FIELDS} | {"type": _KIND}
    if not is_known:
        del sound["ttl"]
    return owner | {_MARK: sound}


def with_one_mark(owner: dict[str, Any], where: str, findings: list[Finding]) -> dict[str, Any]:
    """A block with a mark as `with_sound_mark` gives it, and with none in its content: the last of
    those is its own then.

    Providers count marks wherever they are. The parts of a result are blocks of their own.
    """
    content = owner.get("content")
    marks: list[Any] = []
    if isinstance(content, (list, dict)) and owner.get("type") != "tool_result":
        content = _without_marks(content, marks)
    if not marks:
        return with_sound_mark(owner, where, findings)
    why = "The cache marks inside this block are one on the block as a whole now."
    place = f"{where}.content"
    findings.append(Finding("cache_mark_changed", place, Action.CHANGED, why, Fault.INPUT))
    own = [mark for mark in (*marks, owner.get(_MARK)) if isinstance(mark, dict)]
    marked = {**owner, "content": content, _MARK: own[-1] if own else None}
    return with_sound_mark(marked, where, findings)


def _without_marks(value: Any, marks: list[Any]) -> Any:
    """Blocks without their marks, which are put into `marks`."""
    if isinstance(value, list):
        return [_without_marks(one, marks) for one in value]
    if not isinstance(value, dict):
        return value
    plain = without_mark(value)
    if "content" in plain:
        plain["content"] = _without_marks(plain["content"], marks)
    if value.get(_MARK) is not None:
        marks.append(value[_MARK])
    return plain


def decode_rest(owner: dict[str, Any], *known: str) -> Native | None:
    """The fields of `owner` that are not `known`, and what its mark says beyond a lifetime."""
    rest = carried.set_fields(owner, (*known, "type", _MARK))
    mark = owner.get(_MARK)
    if isinstance(mark, dict) and mark.keys() - {"type", "ttl"}:
        rest[_MARK] = {name: mark[name] for name in mark if name not in ("type", "ttl")}
    return native_of(rest)


def without_mark(block: dict[str, Any]) -> dict[str, Any]:
    """`block` whole but for its cache mark, which is counted and moved like any other."""
    return {name: field for name, field in block.items() if name != _MARK}


def with_extras(
    wire: dict[str, Any], *, cache: str | None = None, native: Native | None = None
) -> dict[str, Any]:
    """`wire` with its native fields and its cache mark. A field that `wire` has wins."""
    if cache is None and native is None and _MARK not in wire:
        return wire
    extras = own_fields(native)
    full = carried.with_rest(wire, extras)
    full.pop(_MARK, None)
    if cache is not None:
        lifetime = {"ttl": cache} if cache in _LIFETIMES else {}
        full[_MARK] = {"type": "ephemeral"} | lifetime | extras.get(_MARK, {})
    return full
