"""Arguments that come as values with a JSON path (Vertex: `partialArgs`), told as growing text.

The model writes its arguments in the order of the text, so each value can be told behind the last
one. A value that goes elsewhere cannot: its whole field is told once more at the end, and readers
of JSON take the last one of a name.
"""

import re
from typing import Any, TypeAlias

import msgspec

from canonicall.errors import MalformedBody
from canonicall.wire.gemini.fields import many_at
from canonicall.wire.reading import object_at, text_at

Path: TypeAlias = tuple[str | int, ...]

_STEP = re.compile(
    r"""\.([^.\[\]'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.DOTALL
)
_FOREIGN_ESCAPE = re.compile(r"""\\.|\"""", re.DOTALL)
_DEEPEST = 64
_json = msgspec.json.encode


class PartialArguments:
    """The arguments of one call as far as they have come."""

    def __init__(self) -> None:
        self._value: dict[str, Any] = {}
        self._text = _GrowingText()
        self._growing: Path = ()
        """Where the last string stands, if it said that it goes on."""
        self._told_late: dict[str, None] = {}
        """The fields of which something could not be told in order."""

    def add(self, piece: Any, where: str) -> str:
        """Take one value in. Returns the text that is new."""
        fields = object_at(piece, where)
        path = _path_of(fields, f"{where}.jsonPath")
        name, value = _value_of(fields, where)
        if not name:
            return ""
        goes_on = (fields.get("willContinue") or fields.get("will_continue")) is True
        is_more = isinstance(value, str) and path == self._growing
        _put(self._value, path, _Pieces([value]) if isinstance(value, str) else value, is_more)
        self._growing = path if goes_on and isinstance(value, str) else ()
        field = str(path[0])
        if field in self._told_late:
            return ""
        told = (
            self._text.more(path, value, goes_on)
            if is_more
            else self._text.value(path, value, goes_on)
        )
        if told is None:
            self._told_late[field] = None
        return told or ""

    def end(self, args: dict[str, Any]) -> str:
        """The text that is still missing; `args` are what the last piece said as a whole."""
        value = self.value
        for name, field in args.items():
            if name not in value or value[name] != field:
                self._value[name] = field
                self._told_late[name] = None
        value = self.value
        return self._text.end({name: value[name] for name in self._told_late})

    @property
    def value(self) -> dict[str, Any]:
        """The arguments, with their strings put together."""
        whole: dict[str, Any] = _joined(self._value)
        return whole


def put_together(pieces: Any, where: str) -> dict[str, Any]:
    """The arguments of a call that came with all their pieces."""
    whole = PartialArguments()
    for number, piece in enumerate(many_at(pieces, f"{where}.partialArgs")):
        whole.add(piece, f"{where}.partialArgs[{number}]")
    return whole.value


class _Pieces(list[str]):
    """A string that grows."""


class _Open:
    """An object or a list whose end has not been written."""

    def __init__(self, key: str | int, is_list: bool) -> None:
        self.key = key
        self.is_list = is_list
        self.names: set[str | int] = set()

    def takes(self, key: str | int) -> bool:
        """Whether `key` can be written behind what is there."""
        if self.is_list:
            return key == len(self.names)
        return isinstance(key, str) and key not in self.names


class _GrowingText:
    """JSON text that is written from front to back. Its opening bracket is taken as written."""

    def __init__(self) -> None:
        self._stack = [_Open("", is_list=False)]
        self._string: Path = ()
        """Where the string stands whose closing quote has not been written."""

    def more(self, path: Path, text: str, goes_on: bool) -> str | None:
        """More of a string; None where it is no longer open."""
        if path != self._string:
            return None
        return _inside(text) + ("" if goes_on else self._close_string())

    def value(self, path: Path, value: Any, goes_on: bool) -> str | None:
        """A new value; None where it cannot be written behind what is there."""
        depth = self._common_depth(path)
        if not self._stack[depth].takes(path[depth]):
            return None
        text = [self._close_string(), self._close_down_to(depth)]
        for key, inner in zip(path[depth:], (*path[depth + 1 :], None), strict=True):
            text.append(self._name(key))
            if inner is not None:
                self._stack.append(_Open(key, isinstance(inner, int)))
                text.append("[" if isinstance(inner, int) else "{")
        if isinstance(value, str) and goes_on:
            self._string = path
            return "".join((*text, '"', _inside(value)))
        return "".join((*text, _json(value).decode()))

    def end(self, fields: dict[str, Any]) -> str:
        """The end of the text, with `fields` told in front of it."""
        text = [self._close_string(), self._close_down_to(0)]
        for name, value in fields.items():
            text += (self._name(name), _json(value).decode())
        return "".join((*text, "}"))

    def _common_depth(self, path: Path) -> int:
        """How many of the open objects and lists the path leads through."""
        depth = 0
        for opened, key in zip(self._stack[1:], path[:-1], strict=False):
            if opened.key != key:
                break
            depth += 1
        return depth

    def _name(self, key: str | int) -> str:
        """What stands in front of a value: a comma, a name."""
        top = self._stack[-1]
        comma = "," if top.names else ""
        top.names.add(key)
        return comma if top.is_list else f"{comma}{_json(key).decode()}:"

    def _close_string(self) -> str:
        if not self._string:
            return ""
        self._string = ()
        return '"'

    def _close_down_to(self, depth: int) -> str:
        closed = "".join("]" if one.is_list else "}" for one in self._stack[:depth:-1])
        del self._stack[depth + 1 :]
        return closed


def _path_of(fields: dict[str, Any], where: str) -> Path:
    """The steps of a JSON path (RFC 9535) that names one place inside the arguments."""
    text = text_at(fields.get("jsonPath", fields.get("json_path")), where)
    steps: list[str | int] = []
    at = 1
    while text[:1] == "$" and (found := _STEP.match(text, at)):
        plain, index, single, double = found.groups()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(plain if plain is not None else _unquoted(single, double, where))
        at = found.end()
    if not steps or at < len(text) or not isinstance(steps[0], str) or len(steps) > _DEEPEST:
        raise MalformedBody(f"{text!r} is no path into the arguments.", where=where)
    return tuple(steps)


def _unquoted(single: str | None, double: str | None, where: str) -> str:
    text = double
    if text is None:
        swapped = {"\\'": "'", '"': '\\"'}
        text = _FOREIGN_ESCAPE.sub(lambda found: swapped.get(found[0], found[0]), single or "")
    try:
        return msgspec.json.decode(f'"{text}"', type=str)
    except msgspec.DecodeError:
        raise MalformedBody(f"{text!r} is no name.", where=where) from None


def _value_of(fields: dict[str, Any], where: str) -> tuple[str, Any]:
    """The name of the field that holds the value, and the value; no name where there is none."""
    for name in ("stringValue", "string_value"):
        if fields.get(name) is not None:
            return name, text_at(fields[name], f"{where}.{name}")
    for name in ("numberValue", "number_value", "boolValue", "bool_value"):
        if fields.get(name) is not None:
            return name, fields[name]
    # The enum of the one value NULL_VALUE: JSON writes it as null, or by its name.
    for name in ("nullValue", "null_value"):
        if name in fields:
            return name, None
    return "", None


def _put(root: dict[str, Any], path: Path, value: Any, is_more: bool) -> None:
    """Set the value at a path, or add to the string that is there."""
    node: Any = root
    for key, inner in zip(path, (*path[1:], None), strict=True):
        if not _fits(node, key):
            raise MalformedBody(f"there is no place for an argument at {path!r}.")
        is_new = key not in node if isinstance(node, dict) else key == len(node)
        if inner is not None:
            if is_new:
                _set(node, key, [] if isinstance(inner, int) else {})
            node = node[key]
        elif is_more:
            node[key] += value
        else:
            _set(node, key, value)


def _fits(node: Any, key: str | int) -> bool:
    if isinstance(node, dict):
        return isinstance(key, str)
    is_list = type(node) is list
    return is_list and isinstance(key, int) and key <= len(node)


def _set(node: Any, key: str | int, value: Any) -> None:
    if isinstance(node, list) and key == len(node):
        node.append(value)
    else:
        node[key] = value


def _joined(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _joined(field) for name, field in value.items()}
    if isinstance(value, _Pieces):
        return "".join(value)
    return [_joined(item) for item in value] if isinstance(value, list) else value


def _inside(text: str) -> str:
    """`text` as it stands between the quotes of JSON."""
    return _json(text)[1:-1].decode()
