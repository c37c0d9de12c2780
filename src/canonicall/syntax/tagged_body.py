"""What stands between the tags of a call: elements, JSON, or words, up to the closing tag.

A call is told when its first element or the bracket of its JSON is seen; words alone wait for the
closing tag, as a tag that is only mentioned opens no call. An argument that the schema says is a
text is passed on as it comes; lists wait for the end of the call, all others for their own end.

An element may also be called `parameter` or the like and have its name in it: `<parameter=k>`,
`<tool_param name="k">`. Other attributes mean nothing. A closing tag counts only if a tag follows,
so an argument may contain its own. What stands between elements and is none is kept, as text behind
the call. Of an argument said twice that is no list, the last counts, with a finding.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from canonicall.findings import Action
from canonicall.request import Tool
from canonicall.syntax.element_values import (
    CDATA,
    CDATA_END,
    ENTITY,
    LONGEST_ENTITY,
    TrimmedText,
    character_of,
    element_json,
    plain_text,
)
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.typed_values import escaped, json_of, json_text, types_of
from canonicall.syntax.xml_arguments import IN_A_TAG, Arguments
from canonicall.syntax.xml_values import ValueEnds, read_raw

WordsToJson: TypeAlias = Callable[[str, Tool | None], str | None]
"""Makes arguments of words, as JSON; None if they are none."""

SHELLS = ("bash", "shell", "command", "run")
_ELEMENT = re.compile(
    r"""<([^\s<>/"'=!?]+)(?:=["']?([^\s<>"']+)["']?)?((?:\s+[^\s=<>"'/]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(/?)>"""
)
_ELEMENT_BEGUN = re.compile(
    r"""(?:<(?:[^\s<>/"'=!?]+(?:=["']?(?:[^\s<>"']+["']?)?)?"""
    r"""(?:\s+[^\s=<>"'/]+\s*=\s*(?:"[^"]*"|'[^']*'))*"""
    r"""(?:\s+[^\s=<>"'/]+\s*(?:=\s*(?:"[^"]*|'[^']*)?)?|\s*/?))?)?\Z"""
)
_CLOSING = re.compile(r"</[^<>]{1,80}>")
"""A closing tag that closes nothing: it means nothing."""
_CLOSING_BEGUN = re.compile(r"(?:<(?:/[^<>]{0,80})?)?\Z")
_NAME_ATTRIBUTE = re.compile(r"""\sname\s*=\s*["']([^"']*)["']""")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
_LONGEST_TAG = 512
_NAMED_INSIDE = ("parameter", "param", "tool_param", "argument", "arg")


def words_as_argument(words: str, tool: Tool | None) -> str | None:
    """Words as the one text that a tool takes."""
    key = _word_argument(tool)
    text = plain_text(words)
    return None if key is None or not text else f"{{{json_text(key)}:{json_text(text)}}}"


def _word_argument(tool: Tool | None) -> str | None:
    """The name of the one text that a tool needs, or takes; None if there is no such."""
    schema = (tool.parameters or {}) if tool is not None else {}
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return "command" if tool is not None and tool.name in SHELLS else None
    texts = [key for key, inner in properties.items() if types_of(inner, schema) == ("string",)]
    required = schema.get("required")
    needed = [key for key in texts if isinstance(required, list) and key in required]
    return next((str(keys[0]) for keys in (needed, texts) if len(keys) == 1), None)


class Body:
    """Reads the body of one call, up to one of its closing tags."""

    def __init__(
        self,
        reader: Reader,
        output: Output,
        ends: tuple[str, ...],
        fillers: tuple[str, ...] = (),
        odd: str = "",
    ) -> None:
        self._reader = reader
        self._output = output
        self._ends = ends
        self._fillers = fillers
        """Tags around the elements that mean nothing."""
        self._odd = odd
        """What stood in the tag of the call and means nothing."""

    def read(self, name: str, words: WordsToJson) -> Reading[bool]:
        """The body of a call of `name`. False if it is no call."""
        reader = self._reader
        blank = yield from reader.blank()
        if (yield from reader.accept(*self._ends)):
            return self.told(name, "{}")
        if (yield from reader.peek()) == "{":
            return (yield from self._json(name))
        element = None
        if not (yield from reader.next_of(CDATA)):
            element = yield from reader.match(_ELEMENT, _LONGEST_TAG, _ELEMENT_BEGUN)
        if element is None:
            return (yield from self._words(name, words, blank))
        return (yield from self.elements(name, element))

    def told(self, name: str, arguments: str) -> bool:
        """A call whose arguments are known."""
        call = Arguments(self._output)
        if not self._is_told(call, name):
            return False
        call.is_given_whole = True
        call.write(arguments)
        call.end(whole=True)
        return True

    def _is_told(self, call: Arguments, name: str) -> bool:
        """Tell of a call of `name`, if it is one."""
        if not call.name(name):
            return False
        call.left_out(IN_A_TAG, self._odd)
        return True

    def _words(self, name: str, words: WordsToJson, blank: str) -> Reading[bool]:
        said = [blank]
        end = yield from self._reader.until(stops(*self._ends), said.append)
        text = "".join(said)
        made = words(text, self._output.tools.get(name)) if end else None
        if made is None or not self.told(name, made):
            return False
        comments = _COMMENT.findall(text)
        is_kept = {comment: escaped(comment) in made for comment in set(comments)}
        for comment in comments:
            if not is_kept[comment]:
                self._output.left_out("A comment", comment)
        return True

    def _json(self, name: str) -> Reading[bool]:
        reader, call = self._reader, Arguments(self._output)
        if not self._is_told(call, name):
            return False
        call.is_given_whole = True
        whole = yield from reader.json_value(call.write, stops(*self._ends))
        is_cut = not whole and reader.at_end
        if not is_cut:
            yield from reader.blank()
            if not (yield from reader.accept(*self._ends)):
                yield from reader.until(stops(*self._ends), call.stray.append)
        call.end(whole=not is_cut)
        return True

    def elements(self, name: str, element: re.Match[str] | None = None) -> Reading[bool]:
        """Arguments as elements, of which the first opening tag may be taken already."""
        reader, call = self._reader, Arguments(self._output)
        if not self._is_told(call, name):
            return False
        members = _Members(reader, self._output, call, self._ends)
        whole = False
        while element is None or (yield from members.read(element)):
            yield from reader.blank()
            element = None
            if (yield from reader.accept(*self._ends)):
                whole = True
                break
            if reader.at_end:
                break
            if self._fillers and (yield from reader.accept(*self._fillers)):
                continue
            closing = yield from reader.match(_CLOSING, _LONGEST_TAG, _CLOSING_BEGUN)
            if closing is not None:
                call.left_out("A closing tag that closes nothing", closing[0])
                continue
            element = yield from reader.match(_ELEMENT, _LONGEST_TAG, _ELEMENT_BEGUN)
            if element is None:  # Words, or a tag that opens nothing.
                call.stray.append(reader.take(1))
                yield from reader.until(stops("<"), call.stray.append, consume=False)
        members.end()
        call.end(whole=whole)
        return True


class _Members:
    """Makes arguments of elements."""

    def __init__(
        self, reader: Reader, output: Output, arguments: Arguments, ends: tuple[str, ...]
    ) -> None:
        self._reader = reader
        self._output = output
        self._arguments = arguments
        self._ends = ends
        self._lists: dict[str, list[str]] = {}
        """Lists may go on with another element of their name."""
        self._said: set[str] = set()

    def read(self, element: re.Match[str]) -> Reading[bool]:
        """The value of an element whose opening tag was taken. Whether it came to its end."""
        tag, key = element[1], self._key(element)
        types = self._arguments.types(key)
        is_list = "array" in types
        if key in self._said and not is_list:
            why = f"{key!r} was given more than once; the last one counts."
            self._output.note("arguments_repaired", Action.CHANGED, why)
        self._said.add(key)
        self._arguments.left_out(IN_A_TAG, _unread(element, key))
        close = f"</{tag}>"
        others = tuple((end, ()) for end in self._ends if end != close)
        ends = ValueEnds(closed=(close,), then=("<",), unclosed=others)
        if types == ("string",) and not element[4]:
            return (yield from self._text(key, ends))
        raw, whole = ("", True) if element[4] else (yield from read_raw(self._reader, ends))
        if whole and is_list:
            self._lists.setdefault(key, []).append(raw)
        elif whole:
            self._arguments.member(key, self._value(key, [raw]))
        else:
            self._arguments.cut(key, raw)
        return whole

    def end(self) -> None:
        """No more elements come: the lists are whole."""
        for key, raws in self._lists.items():
            self._arguments.member(key, self._value(key, raws))

    def _value(self, key: str, raws: list[str]) -> str:
        call = self._arguments
        left_out = partial(call.left_out, IN_A_TAG)
        return element_json(raws, call.schema_of(key), call.schema, left_out)

    def _key(self, element: re.Match[str]) -> str:
        if element[1] not in _NAMED_INSIDE or element[1] in self._arguments.known:
            return element[1]
        attribute = _NAME_ATTRIBUTE.search(element[3])
        return element[2] or (attribute[1] if attribute is not None else "") or element[1]

    def _text(self, key: str, ends: ValueEnds) -> Reading[bool]:
        """A text up to its closing tag; it streams."""
        reader, write = self._reader, self._arguments.write
        write(self._arguments.key(key) + '"')
        text = TrimmedText(lambda piece: write(escaped(piece)))
        unclosed = dict(ends.unclosed)
        marks = stops(*ends.closed, *unclosed, "&", CDATA)
        while True:
            mark = yield from reader.until(marks, text.add, consume=False)
            if mark == "&":
                entity = yield from reader.match(ENTITY, LONGEST_ENTITY)
                text.keep(character_of(entity[0]) if entity is not None else reader.take(1))
            elif mark == CDATA:
                reader.take(len(mark))
                yield from reader.until(stops(CDATA_END), text.keep)
            elif not mark:
                text.end()
                return False
            elif mark in unclosed or (yield from reader.follows(len(mark), *ends.then)):
                reader.take(0 if mark in unclosed else len(mark))
                text.end()
                write('"')
                return True
            else:
                text.add(reader.take(len(mark)))


def _unread(element: re.Match[str], key: str) -> str:
    """What stands in the tag of an element beside its name."""
    named = _NAME_ATTRIBUTE.search(element[3]) if key != element[1] and key != element[2] else None
    odd = element[3] if named is None else element[3].replace(named[0], "", 1)
    return f"{odd} {element[2] or ''}" if key != element[2] else odd


def attribute_json(raw: str, key: str, tool: Tool | None) -> str:
    """The JSON of an argument that stands in an attribute."""
    schema = (tool.parameters or {}) if tool is not None else {}
    properties = schema.get("properties")
    inner = properties.get(key) if isinstance(properties, dict) else None
    return json_of(plain_text(raw), types_of(inner, schema))[0]
