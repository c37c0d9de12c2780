"""Calls whose arguments are elements: the tag is the name, elements inside are members or items.

`<city>Tokyo</city>` is an argument, `<tags><item>a</item><item>b</item></tags>` a list. An argument
that the schema says is a string is passed on as it comes, elements and all; any other waits for its
end and is read as a tree, each leaf with the type that the schema gives it there. What has no
elements in it is read like any other bare value.
"""

import re
from typing import Any

from msgspec import Struct

from canonicall.syntax.declaration import Opener, ReadCalls
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.tag_heads import WORDS, read_head, unread
from canonicall.syntax.typed_values import json_of, json_text, member_schema, types_of
from canonicall.syntax.xml_arguments import (
    IN_A_TAG,
    Arguments,
    block_is_empty,
    give_back,
    leave_block,
)
from canonicall.syntax.xml_values import ValueEnds, ValueKind, read_raw, read_value

_ITEM = "item"
_TAG_NAME = re.compile(r"[^\s<>/\"'=]+")
_MOST_NAME = 256
_DEEPEST = 32
"""Elements inside of more elements than this stay text."""


class TreeForm(Struct, frozen=True):
    """How the tags of one syntax are written."""

    blocks: tuple[str, ...]
    block_ends: tuple[str, ...]
    call: str
    call_ends: tuple[str, ...]
    prefix: str = ""
    """What stands before every tag."""
    name: tuple[str, str] | None = None
    """The tags around the name of the tool; None where it is an attribute of the call's tag."""
    fillers: tuple[str, ...] = ()
    """Tags around arguments that mean nothing."""

    @property
    def open(self) -> str:
        return f"{self.prefix}<"

    def ends(self, name: str) -> tuple[str, ...]:
        """The closing tags of an element; the prefix before it is forgotten at times."""
        return tuple(dict.fromkeys((f"{self.prefix}</{name}>", f"</{name}>")))


def tree_openers(form: TreeForm) -> tuple[Opener, ...]:
    """The markers that open blocks of this form."""
    return tuple(Opener(block, _calls(form), closers=form.block_ends) for block in form.blocks)


def _calls(form: TreeForm) -> ReadCalls:
    def read(reader: Reader, output: Output) -> Reading[bool]:
        found = False
        while True:
            yield from reader.blank()
            if (yield from reader.accept(*form.block_ends)):
                return found or block_is_empty(output)
            mark = reader.mark()
            is_call = bool((yield from reader.accept(form.call)))
            is_read = is_call and (yield from _call(reader, output, form))
            raw = reader.since(mark)
            if is_call and not is_read and found:
                give_back(raw, output)
            if not is_read:
                if found:
                    yield from leave_block(reader, output, form.block_ends)
                return found
            found = True

    return read


def _call(reader: Reader, output: Output, form: TreeForm) -> Reading[bool]:
    """One call, of which the beginning of the opening tag was taken."""
    name, odd = yield from _name(reader, form)
    arguments = Arguments(output)
    if not arguments.name(name):
        return False
    arguments.left_out(IN_A_TAG, odd)
    arguments.end(whole=(yield from _members(reader, arguments, form)))
    return True


def _name(reader: Reader, form: TreeForm) -> Reading[tuple[str, str]]:
    """The name of the tool, and what else stands in its tag."""
    if form.name is None:
        head = (yield from read_head(reader, ">")) or {}
        return head.get("name", ""), f"{unread(head, 'name')} {head.get(WORDS, '')}".strip()
    yield from reader.blank()
    if not (yield from reader.accept(form.name[0])):
        return "", ""
    name, end = yield from reader.up_to(stops(form.name[1]), _MOST_NAME)
    reader.take(len(end))
    return name.strip(), ""


def _members(reader: Reader, arguments: Arguments, form: TreeForm) -> Reading[bool]:
    """The arguments, up to the end of the call. False if the text ended before."""
    others = (*form.block_ends, form.call)
    while True:
        yield from reader.blank()
        if form.fillers and (yield from reader.accept(*form.fillers)):
            continue
        if (yield from reader.accept(*form.call_ends)):
            return True
        if (yield from reader.next_of(*others)):
            return True
        if reader.at_end:
            return False
        mark = reader.mark()
        opened = yield from reader.accept(form.open)
        name = (yield from _tag_name(reader)) if opened else ""
        raw = reader.since(mark)
        if name:
            if not (yield from _member(reader, arguments, form, name)):
                return False
            continue
        said = [raw]
        expected = (form.open, *form.call_ends, *others)
        marker = yield from reader.until(stops(*expected), said.append, consume=False)
        arguments.stray.extend(said)
        if not marker:
            return False


def _tag_name(reader: Reader) -> Reading[str]:
    """The rest of an opening tag, if it is a name and nothing else."""
    name, end = yield from reader.up_to(stops(">", "<", "\n"), _MOST_NAME)
    if end != ">" or not _TAG_NAME.fullmatch(name):
        return ""
    reader.take(1)
    return name


def _member(reader: Reader, arguments: Arguments, form: TreeForm, name: str) -> Reading[bool]:
    """One argument, of which the opening tag was taken."""
    around = (*form.fillers, *form.call_ends, *form.block_ends)
    ends = ValueEnds(
        closed=form.ends(name),
        then=(form.open, *around),
        unclosed=tuple((end, (form.call, *form.block_ends)) for end in form.call_ends),
    )
    kind = ValueKind(arguments.types(name))
    if kind.streams:
        return (yield from read_value(reader, arguments, name, kind, ends))
    raw, whole = yield from read_raw(reader, ends)
    if whole:
        arguments.member(name, _Tree(form, arguments.schema).value(raw, arguments.schema_of(name)))
    else:
        arguments.cut(name, raw)
    return whole


class _Tree:
    """Reads the elements of an argument that is there as a whole."""

    def __init__(self, form: TreeForm, root: dict[str, Any]) -> None:
        self._form = form
        self._root = root
        self._begin = re.compile(rf"\s*{re.escape(form.open)}([^\s<>/\"'=]+)>")

    def value(self, text: str, schema: Any, depth: int = 0) -> str:
        """The JSON of one value."""
        children = self._children(text) if depth < _DEEPEST else None
        types = types_of(schema, self._root)
        may_have_elements = not types or "object" in types or "array" in types
        if not children or not may_have_elements:
            return json_of(text, types)[0]
        is_list = "array" in types or all(name == _ITEM for name, _ in children)
        if is_list and ("object" not in types or all(name == _ITEM for name, _ in children)):
            inner = member_schema(schema, None, self._root)
            return f"[{', '.join(self.value(raw, inner, depth + 1) for _, raw in children)}]"
        members = []
        for name, raw in children:
            inner = member_schema(schema, name, self._root)
            members.append(f"{json_text(name)}: {self.value(raw, inner, depth + 1)}")
        return "{" + ", ".join(members) + "}"

    def _children(self, text: str) -> list[tuple[str, str]] | None:
        """The elements of a text, None if it is not made of elements alone."""
        found: list[tuple[str, str]] = []
        at = 0
        while begin := self._begin.match(text, at):
            end = self._end(text, begin.end(), begin[1])
            if end is None:
                return None
            found.append((begin[1], text[begin.end() : end.start()]))
            at = end.end()
        return found if not text[at:].strip() else None

    def _end(self, text: str, at: int, name: str) -> re.Match[str] | None:
        """The closing tag of an element, with elements of the same name inside it."""
        tags = re.compile(
            rf"{re.escape(self._form.prefix)}<{re.escape(name)}>|"
            rf"(?:{'|'.join(map(re.escape, self._form.ends(name)))})"
        )
        depth = 1
        for found in tags.finditer(text, at):
            depth += -1 if "</" in found[0] else 1
            if not depth:
                return found
        return None
