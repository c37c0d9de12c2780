"""What stands between the tags of a call: elements, JSON, or words, up to the closing tag.

A call is told when its first element or the bracket of its JSON is seen; words alone wait for the
closing tag, as a tag that is only mentioned opens no call. An argument that the schema says is a
text is passed on as it comes; lists wait for the end of the call, all others for their own end.

An element may also be called `parameter` or the like and have its name in it: `<parameter=k>`,
`<tool_param name="k">`. Other attributes mean nothing. A closing tag counts only if a tag follows,
so an argument may contain its own. What stands between elements and is none is kept, as text behind
the call. Of an argument said twice that is no list, the last counts, with a finding.

An element around all arguments (`<arguments>`, `<input>`) is a wrapper if the tool has no argument
of that name. It holds elements, JSON (also in CDATA or in a fence), or the one text of the tool.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from msgspec import Struct

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
from canonicall.syntax.typed_values import escaped, json_text, types_of
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
_KEYS = {"<name>": "</name>", "<key>": "</key>"}
_VALUE, _VALUE_END = "<value>", "</value>"
_LONGEST_KEY = 128
WRAPPERS = (
    *("arguments", "args", "parameters", "params", "input"),
    *("tool_arguments", "tool_args", "tool_parameters", "tool_params", "tool_input"),
)
"""Elements, and attributes, that hold all the arguments of a call."""
_CODE_FENCES = {CDATA: CDATA_END, "```json": "```", "```": "```"}


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


class Head(Struct, frozen=True):
    """What the tag of a call says beside the name of the tool."""

    id: str = ""
    arguments: str = "{}"
    """Arguments that are attributes, as JSON."""
    odd: str = ""
    """What means nothing."""


NO_HEAD = Head()


class Body:
    """Reads the body of one call, up to one of its closing tags."""

    def __init__(
        self,
        reader: Reader,
        output: Output,
        ends: tuple[str, ...],
        wrappers: tuple[str, ...] = (),
        head: Head = NO_HEAD,
    ) -> None:
        self._reader = reader
        self._output = output
        self._ends = ends
        self._wrappers = wrappers
        """Names of elements around all the arguments."""
        self._head = head

    def read(self, name: str, words: WordsToJson) -> Reading[bool]:
        """The body of a call of `name`. False if it is no call."""
        reader = self._reader
        blank = yield from reader.blank()
        if (yield from reader.accept(*self._ends)):
            return self.whole(name)
        if (yield from reader.peek()) == "{":
            return (yield from self._json(name))
        element = None
        if not (yield from reader.next_of(CDATA)):
            element = yield from reader.match(_ELEMENT, _LONGEST_TAG, _ELEMENT_BEGUN)
        if element is None:
            return (yield from self._words(name, words, blank))
        return (yield from self.elements(name, element))

    def whole(self, name: str, arguments: str = "{}") -> bool:
        """A call whose arguments are known."""
        call = self._named(name)
        if call is None:
            return False
        call.members(arguments)
        call.end(whole=True)
        return True

    def _named(self, name: str) -> Arguments | None:
        """A call of `name` with the arguments of its tag; None if it is no call."""
        call = Arguments(self._output)
        call.id(self._head.id)
        if not call.name(name):
            return None
        call.left_out(IN_A_TAG, self._head.odd)
        call.members(self._head.arguments)
        return call

    def _words(self, name: str, words: WordsToJson, blank: str) -> Reading[bool]:
        said = [blank]
        end = yield from self._reader.until(stops(*self._ends), said.append)
        text = "".join(said)
        made = words(text, self._output.tools.get(name)) if end else None
        if made is None or not self.whole(name, made):
            return False
        comments = _COMMENT.findall(text)
        is_kept = {comment: escaped(comment) in made for comment in set(comments)}
        for comment in comments:
            if not is_kept[comment]:
                self._output.left_out("A comment", comment)
        return True

    def _json(self, name: str) -> Reading[bool]:
        call = self._named(name)
        if call is None:
            return False
        whole = yield from self._object(call, self._ends)
        if whole and not (yield from self._reader.accept(*self._ends)):
            yield from self._reader.until(stops(*self._ends), call.stray.append)
        call.end(whole=whole)
        return True

    def _object(self, call: Arguments, ends: tuple[str, ...]) -> Reading[bool]:
        """All arguments as JSON. False if the text ended in them."""
        reader = self._reader
        pieces: list[str] = []
        call.is_given_whole = not call.is_begun
        sink = call.write if call.is_given_whole else pieces.append
        whole = yield from reader.json_value(sink, stops(*ends))
        is_cut = not whole and reader.at_end
        if whole:
            call.members("".join(pieces))
        elif pieces:
            call.left_out("An object of arguments that is not closed", "".join(pieces))
        yield from reader.blank()
        return not is_cut

    def elements(self, name: str, element: re.Match[str] | None = None) -> Reading[bool]:
        """Arguments as elements, of which the first opening tag may be taken already."""
        reader, call = self._reader, self._named(name)
        if call is None:
            return False
        members = _Members(reader, self._output, call, self._ends)
        whole = False
        while element is None or (yield from self._element(call, members, element)):
            yield from reader.blank()
            element = None
            if (yield from reader.accept(*self._ends)):
                whole = True
                break
            if reader.at_end:
                break
            if self._wrappers and (yield from self._is_wrapper_left(reader)):
                continue
            closing = yield from reader.match(_CLOSING, _LONGEST_TAG, _CLOSING_BEGUN)
            if closing is not None:
                call.left_out("A closing tag that closes nothing", closing[0])
                continue
            element = yield from reader.match(_ELEMENT, _LONGEST_TAG, _ELEMENT_BEGUN)
            if element is None and not (yield from self._between(call)):
                break
        members.end()
        call.end(whole=whole)
        return True

    def _between(self, call: Arguments) -> Reading[bool]:
        """Text in the place of an element. False if the reply ended in it."""
        reader = self._reader
        is_open = bool(self._wrappers) and not (call.is_begun or call.is_given_whole)
        if is_open and (yield from reader.peek()) == "{":
            return (yield from self._object(call, self._ends))
        # Words, or a tag that opens nothing.
        call.stray.append(reader.take(1))
        yield from reader.until(stops("<"), call.stray.append, consume=False)
        return True

    def _is_wrapper_left(self, reader: Reader) -> Reading[bool]:
        return bool((yield from reader.accept(*(f"</{one}>" for one in self._wrappers))))

    def _element(
        self, call: Arguments, members: "_Members", element: re.Match[str]
    ) -> Reading[bool]:
        """One element whose opening tag was taken. Whether it came to its end."""
        if call.is_given_whole:
            raw, whole = yield from read_raw(self._reader, ValueEnds((f"</{element[1]}>",)))
            call.stray.append(f"{element[0]}{raw}</{element[1]}>" if whole else element[0] + raw)
            return whole
        is_wrapper = element[1] in self._wrappers and element[1] not in call.known
        if not is_wrapper:
            return (yield from members.read(element))
        call.left_out(IN_A_TAG, _unread(element, element[1]))
        return bool(element[4]) or (yield from self._wrapped(call, element[1]))

    def _wrapped(self, call: Arguments, name: str) -> Reading[bool]:
        """The content of an element around all arguments, unless it is elements."""
        reader, close = self._reader, f"</{name}>"
        yield from reader.blank()
        fence = yield from reader.accept(*_CODE_FENCES)
        yield from reader.blank()
        if (yield from reader.peek()) == "{":
            fence_end = _CODE_FENCES.get(fence, close)
            if not (yield from self._object(call, (fence_end, close, *self._ends))):
                return False
            yield from reader.accept(fence_end)
            yield from reader.blank()
            yield from reader.accept(close)
            return True
        if not fence and (yield from reader.peek()) in ("<", ""):
            return True
        raw, whole = yield from read_raw(reader, ValueEnds((close,), ("<",)))
        made = words_as_argument(fence + raw, self._output.tools.get(call.tool))
        if not whole:
            call.cut(name, raw)
        elif made is not None:
            call.members(made)
        else:
            call.member(name, json_text(plain_text(fence + raw)))
        return whole


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
        close = f"</{tag}>"
        is_pair = key == tag and tag in _NAMED_INSIDE and key not in self._arguments.known
        if is_pair and not element[4]:
            said = yield from self._key_inside()
            key, close = (said, _VALUE_END) if said else (key, close)
        types = self._arguments.types(key)
        is_list = "array" in types
        if key in self._said and not is_list:
            why = f"{key!r} was given more than once; the last one counts."
            self._output.note("arguments_repaired", Action.CHANGED, why)
        self._said.add(key)
        self._arguments.left_out(IN_A_TAG, _unread(element, key))
        others = tuple((end, ()) for end in self._ends if end != close)
        ends = ValueEnds(closed=(close,), then=("<",), unclosed=others)
        if types == ("string",) and not element[4]:
            whole = yield from self._text(key, ends)
            return whole and (yield from self._is_left(tag, close))
        raw, whole = ("", True) if element[4] else (yield from read_raw(self._reader, ends))
        if whole and is_list:
            self._lists.setdefault(key, []).append(raw)
        elif whole:
            self._arguments.member(key, self._value(key, [raw]))
        else:
            self._arguments.cut(key, raw)
        return whole and (yield from self._is_left(tag, close))

    def _key_inside(self) -> Reading[str]:
        """The name of an argument, from an element before its value."""
        reader = self._reader
        mark = reader.mark()
        yield from reader.blank()
        opened = yield from reader.accept(*_KEYS)
        key = ""
        if opened:
            key, end = yield from reader.up_to(stops(_KEYS[opened]), _LONGEST_KEY)
            reader.take(len(end))
            yield from reader.blank()
            key = key.strip() if (yield from reader.accept(_VALUE)) else ""
        taken = reader.since(mark)
        if not key:
            reader.give_back(taken)
        return key

    def _is_left(self, tag: str, close: str) -> Reading[bool]:
        """Take the end of an element whose value was an element too."""
        if close == _VALUE_END:
            yield from self._reader.blank()
            yield from self._reader.accept(f"</{tag}>")
        return True

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
