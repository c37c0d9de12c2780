"""A `TextForm` as a syntax: what a host was seen to print, read and printed by the data alone.

Markers are literal. A call is passed on when its arguments are whole; a call that the end of the
text cuts is kept, marked as truncated. An opening that a name and its arguments do not follow is
text. An opening that is hardly a marker (`[`) opens calls of offered tools only, and one that has
nothing but letters and a colon counts at the start of a line only.
"""

import re
from functools import lru_cache
from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.facts.target import TextForm
from canonicall.syntax.declaration import Notation, Opener, ReadCalls, Syntax
from canonicall.syntax.element_values import ENTITY, character_of
from canonicall.syntax.json_calls import json_calls
from canonicall.syntax.json_form import JsonForm, flat_form, plain_value
from canonicall.syntax.named_calls import LONGEST, close_call, read_arguments
from canonicall.syntax.output import Output
from canonicall.syntax.printing import bare_text, compact_json, with_printing
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.typed_values import json_of, json_or_text, json_text
from canonicall.syntax.xml_arguments import Arguments

NAME, KEY = "{name}", "{key}"
MARKUP = re.compile(r"[^\w\s.,:;!?'\"`()-]|_")
"""What prose hardly has."""
_WORD = re.compile(rf"[\w./-]{{1,{LONGEST}}}")
_PLAIN = re.compile(r"\S(?:[^\r\n]*\S)?")
_LINE_END = "\n"
_LEAST_MARKER = 3
_XML_SPECIAL = re.compile("[&<>\"']")


@lru_cache(maxsize=256)
def syntax_of_form(form: TextForm) -> Syntax:
    """The syntax that reads and prints calls of this form."""
    is_json = form.arguments == "object"
    read = _object_reader(form) if is_json else _Calls(form).read
    opener = Opener(
        form.opening,
        read,
        place="anywhere" if MARKUP.search(form.opening) else "line",
        by_form=is_weak(form.opening),
    )
    syntax = Syntax(name=form.name, openers=(opener,), notation=_notation(form))
    return with_printing(syntax, lambda calls: printed_form(form, calls))


def is_weak(opening: str) -> bool:
    """Whether an opening is too short to be a marker without the name of a tool after it."""
    return len(opening.strip()) < _LEAST_MARKER


def printed_form(form: TextForm, calls: tuple[ToolCall, ...]) -> str:
    """Calls as the host prints them."""
    text = ""
    for at, call in enumerate(calls):
        is_last = at + 1 == len(calls)
        end = form.closing if is_last or not form.joint else form.joint
        begin = "" if at and form.joint else form.opening
        text += begin + _print_call(form, call) + _named(end, call.name)
        text += "" if is_last or form.joint else "\n"
    return text


def _notation(form: TextForm) -> Notation:
    if form.arguments != "members":
        return "json"
    return "xml" if form.opening.startswith("<") else "custom"


def _named(marker: str, name: str) -> str:
    return marker.replace(NAME, name)


def _object_reader(form: TextForm) -> ReadCalls:
    names = JsonForm(names=(form.name_key,), arguments=(form.arguments_key,))
    flat = flat_form(form.name_key)
    closers = (form.closing,) if form.closing else ()
    held = names if form.arguments_key else flat
    return json_calls(*closers, form=held, marker=form.opening)


class _Calls:
    """Reads the calls after one opening: several, where a joint connects them."""

    def __init__(self, form: TextForm) -> None:
        self._form = form
        ends = [one.partition(NAME)[0] for one in (form.between, form.closing, form.joint)]
        # A marker is looked for up to the name in it: that is what is to be found out.
        self._name_ends = stops(*filter(None, ends))

    def read(self, reader: Reader, output: Output) -> Reading[bool]:
        """Whether calls follow the opening."""
        found = False
        while True:
            name = yield from self._name(reader)
            is_offered = name in output.tools or not is_weak(self._form.opening)
            if not name or not is_offered or not (yield from self._call(reader, output, name)):
                return found
            found = True
            joint = _named(self._form.joint, name)
            if not joint or not (yield from reader.accept(joint)):
                yield from self._close(reader, output, name)
                return True

    def _name(self, reader: Reader) -> Reading[str]:
        if self._form.between:
            name, _ = yield from reader.up_to(self._name_ends, LONGEST)
            return name if _PLAIN.fullmatch(name) else ""
        found = yield from reader.match(_WORD, LONGEST + 1)
        return "" if found is None else found[0]

    def _call(self, reader: Reader, output: Output, name: str) -> Reading[bool]:
        """What follows the name; False where it is no call."""
        form = self._form
        ends = tuple(_named(one, name) for one in (form.closing or _LINE_END, form.joint) if one)
        between = _named(form.between, name)
        if between and not (yield from reader.accept(between)):
            # A call without arguments may end after its name.
            if not (yield from reader.next_of(*ends)):
                return False
        elif form.arguments == "json":
            return (yield from self._json(reader, output, name, ends))
        return (yield from _Members(form, reader, Arguments(output), ends).read(name))

    def _json(
        self, reader: Reader, output: Output, name: str, ends: tuple[str, ...]
    ) -> Reading[bool]:
        yield from reader.blank()
        is_object = (yield from reader.peek()) in ("{", "[")
        if not is_object and not (yield from reader.next_of(*ends)):
            return False
        call = output.call()
        if not call.name(name):
            return False
        if not is_object:
            call.arguments("{}")
            return call.end()
        closers = (one for one in ends if one != _LINE_END)
        cut = yield from read_arguments(reader, call.arguments, stops(*closers))
        return call.end(truncated=cut)

    def _close(self, reader: Reader, output: Output, name: str) -> Reading[None]:
        closing = _named(self._form.closing, name)
        if closing and not (yield from reader.accept(closing)):
            yield from close_call(reader, output, (closing.strip(),), stops(closing.strip()))


class _Members:
    """Reads arguments that are written one by one. Nothing is passed on before all are there."""

    def __init__(
        self, form: TextForm, reader: Reader, call: Arguments, ends: tuple[str, ...]
    ) -> None:
        self._form = form
        self._reader = reader
        self._call = call
        self._ends = ends
        self._lead = form.separator + form.before_key
        self._ended_by_line = not form.closing

    def read(self, name: str) -> Reading[bool]:
        """The arguments of a call of `name`; False where it is no call."""
        reader, found = self._reader, list[tuple[str, str, bool]]()
        cut: tuple[str, str] | None = None
        while not (yield from self._is_ended()):
            lead = self._lead if found else self._form.before_key
            if lead and not (yield from reader.accept(lead)):
                if not reader.at_end and not reader.take_begun(lead, *self._ends):
                    return False
                cut = ("", "")
                break
            key, end = yield from reader.up_to(stops(self._form.before_value), LONGEST)
            if not _PLAIN.fullmatch(key):
                return False
            reader.take(len(end))
            raw, is_text, is_whole = yield from self._value(key)
            if not is_whole:
                cut = (key, raw)
                break
            found.append((key, raw, is_text))
        if not self._call.name(name):
            return False
        for member in found:
            self._write(*member)
        if cut is not None and cut[0]:
            self._call.cut(*cut)
        self._call.end(whole=cut is None)
        return True

    def _is_ended(self) -> Reading[bool]:
        if (yield from self._reader.next_of(*self._ends)):
            return True
        return self._ended_by_line and self._reader.at_end

    def _value(self, key: str) -> Reading[tuple[str, bool, bool]]:
        """A value as it is written, whether its quotes say that it is text, and if it is whole."""
        form, reader, pieces = self._form, self._reader, list[str]()
        after = form.after_value.replace(KEY, key)
        quote = (yield from reader.next_of(form.quote)) if form.quote else ""
        is_text = bool(quote) and form.quoted == "strings"
        if quote and form.escapes == "json":
            whole = yield from reader.json_value(pieces.append)
            whole = whole and (not after or bool((yield from reader.accept(after))))
            return str(plain_value(pieces)), is_text, whole
        reader.take(len(quote))
        after = quote + after
        markers = (after + one for one in (self._lead, *self._ends) if after + one)
        found = yield from reader.until(stops(*markers), pieces.append, consume=False)
        raw = "".join(pieces)
        if found:
            reader.take(len(after))
        elif self._ended_by_line and raw.endswith(after):
            raw, found = raw.removesuffix(after), _LINE_END
        return raw, is_text, bool(found)

    def _write(self, key: str, raw: str, is_text: bool) -> None:
        """One argument, in the type that the schema says."""
        form, types = self._form, self._call.types(key)
        text = ENTITY.sub(_character, raw) if form.escapes == "xml" else raw
        if is_text:
            self._call.member(key, json_text(text))
            return
        is_literal = form.quote and form.quoted == "strings"
        written, is_mended = json_or_text(text, types) if is_literal else json_of(text, types)
        self._call.member(key, written)
        if is_mended:
            self._call.mended(key)


def _character(entity: re.Match[str]) -> str:
    return character_of(entity[0])


def _print_call(form: TextForm, call: ToolCall) -> str:
    """A call between its opening and its end."""
    arguments = arguments_of(call)
    if form.arguments == "object":
        held = {form.arguments_key: arguments} if form.arguments_key else arguments
        return compact_json({form.name_key: call.name, **held})
    if form.arguments == "json":
        said = compact_json(arguments)
    else:
        said = form.separator.join(_print_member(form, *one) for one in arguments.items())
    return call.name + _named(form.between, call.name) + said


def _print_member(form: TextForm, key: str, value: Any) -> str:
    text = bare_text(value)
    quote = form.quote if isinstance(value, str) or form.quoted == "all" else ""
    if form.escapes == "xml":
        text = _XML_SPECIAL.sub(lambda one: f"&#{ord(one[0])};", text)
    elif form.escapes == "json" and quote:
        text = compact_json(text)[1:-1] if quote == '"' else text.replace("\\", "\\\\")
    after = form.after_value.replace(KEY, key)
    return f"{form.before_key}{key}{form.before_value}{quote}{text}{quote}{after}"
