"""Calls as a name and pairs of tags: `<tool_call>f<arg_key>k</arg_key><arg_value>V</arg_value>...`

A name with no argument behind it is a call if the end of the call follows. Models also write all
arguments as one JSON object behind the name. Line ends between the tags mean nothing, also where
they were escaped (`\\n` as two characters). What holds for values in xml_values.py holds here; an
argument that is named and has no value is left out, with a finding.
"""

import re

from msgspec import Struct

from canonicall.syntax.declaration import Looks, Opener, ReadCalls
from canonicall.syntax.json_calls import next_is
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.typed_values import types_of
from canonicall.syntax.xml_arguments import (
    Arguments,
    block_is_empty,
    give_back,
    leave_block,
    words_between,
)
from canonicall.syntax.xml_values import ValueEnds, ValueKind, read_value

_ESCAPED_LINE = "\\n"
_NAME = re.compile(r"""[^\s<>{}\[\]()"'=,]+""")
_MOST_NAME = 256


class KeyForm(Struct, frozen=True):
    """The tags of one syntax."""

    call: str = "<tool_call>"
    call_end: str = "</tool_call>"
    block: str = ""
    """A tag around all calls, where there is one."""
    block_end: str = ""
    separator: str = ""
    """What stands behind the name, where something does."""
    key: tuple[str, str] = ("<arg_key>", "</arg_key>")
    """The tags around the name of an argument. The second may be the one before the value."""
    type: tuple[str, str] = ("", "")
    """The tags around the type of an argument, where it says that itself."""
    value: tuple[str, str] = ("<arg_value>", "</arg_value>")

    @property
    def blocks(self) -> tuple[str, ...]:
        return (self.block,) if self.block else ()

    @property
    def block_ends(self) -> tuple[str, ...]:
        return (self.block_end,) if self.block_end else ()


def key_openers(form: KeyForm) -> tuple[Opener, ...]:
    """The markers that open calls of this form."""
    return (
        *(
            Opener(
                block, _block(form), next_is(form.call, *form.block_ends), closers=form.block_ends
            )
            for block in form.blocks
        ),
        Opener(form.call, _calls(form), looks=_is_named(form)),
    )


def _is_named(form: KeyForm) -> Looks:
    """Whether a name comes next, or the end: not JSON, and no tag of another syntax."""

    def looks(reader: Reader) -> Reading[bool]:
        yield from reader.blank()
        if (yield from reader.next_of(form.call_end)):
            return True
        return (yield from reader.peek()) not in ("", "{", "[", "<")

    return looks


def _block(form: KeyForm) -> ReadCalls:
    """Calls up to the end of a block around them."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        found = False
        while True:
            yield from reader.blank()
            if (yield from reader.accept(form.block_end)):
                return found or block_is_empty(output)
            mark = reader.mark()
            is_call = bool((yield from reader.accept(form.call)))
            is_read = is_call and (yield from _call(reader, output, form))
            raw = reader.since(mark)
            if is_read:
                found = True
            elif is_call and found:
                give_back(raw, output)
            else:
                if found:
                    yield from leave_block(reader, output, form.block_ends)
                return found

    return read


def _calls(form: KeyForm) -> ReadCalls:
    """One call outside of any block; the end of a block that was not opened means nothing."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        if (yield from reader.accept(form.call_end)):
            return block_is_empty(output)
        if not (yield from _call(reader, output, form)):
            return False
        if form.block_end and (yield from reader.follows(0, form.block_end)):
            yield from reader.blank()
            yield from reader.accept(form.block_end)
        return True

    return read


def _call(reader: Reader, output: Output, form: KeyForm) -> Reading[bool]:
    """One call, of which the opening tag was taken."""
    name = yield from _name(reader, form)
    arguments = Arguments(output)
    if not arguments.name(name):
        return False
    arguments.end(whole=(yield from _body(reader, arguments, form)))
    return True


def _name(reader: Reader, form: KeyForm) -> Reading[str]:
    """The name, if it is one and a call goes on behind it."""
    yield from reader.blank()
    said, end = yield from reader.up_to(stops("\n", "<", ">", "{", _ESCAPED_LINE), _MOST_NAME)
    name = said.strip()
    if not end or not _NAME.fullmatch(name):
        return ""
    yield from reader.accept(">")
    yield from _blanks(reader)
    if form.separator and (yield from reader.accept(form.separator)):
        yield from _blanks(reader)
    nexts = (form.key[0], "{", form.call_end, form.call, *form.block_ends)
    goes_on = yield from reader.next_of(*nexts)
    return name if goes_on or reader.at_end else ""


def _blanks(reader: Reader) -> Reading[None]:
    """White space, and line ends that were escaped."""
    while True:
        yield from reader.blank()
        if not (yield from reader.accept(_ESCAPED_LINE)):
            return


def _body(reader: Reader, arguments: Arguments, form: KeyForm) -> Reading[bool]:
    """The arguments, up to the end of the call. False if the text ended before."""
    ends = _value_ends(form, arguments)
    others = (form.call, *form.block_ends)
    expected = (form.key[0], form.call_end, *others)
    if (yield from reader.peek()) == "{":
        arguments.is_given_whole = True
        whole = yield from reader.json_value(arguments.write, stops(form.call_end))
        if not whole and reader.at_end:
            return False
    while True:
        yield from _blanks(reader)
        if (yield from reader.accept(form.call_end)):
            return True
        if (yield from reader.accept(form.key[0])):
            if not (yield from _argument(reader, arguments, form, ends)):
                return False
        elif (yield from reader.next_of(*others)) or (yield from reader.turn_has_ended()):
            return True
        elif not (yield from words_between(reader, arguments, expected)):
            return arguments.is_given_whole


def _argument(
    reader: Reader, arguments: Arguments, form: KeyForm, ends: ValueEnds
) -> Reading[bool]:
    """One argument, of which the tag before the name was taken."""
    pieces: list[str] = []
    key_ends = stops(form.key[1], form.value[0])
    end = yield from reader.until(key_ends, pieces.append, consume=False)
    if end == form.key[1] != form.value[0]:
        reader.take(len(end))
    key = "".join(pieces).strip()
    yield from _blanks(reader)
    if not end or not key or reader.at_end:
        arguments.left_out("The name of an argument without its value", key)
        return False
    if (yield from reader.next_of(form.key[0], form.call_end)):
        arguments.missing(key)
        return True
    said_type = yield from _type(reader, form)
    yield from reader.accept(form.value[0])
    kind = ValueKind(arguments.types(key) or types_of({"type": said_type}, {}))
    return (yield from read_value(reader, arguments, key, kind, ends))


def _type(reader: Reader, form: KeyForm) -> Reading[str]:
    """The type of an argument, if it says one."""
    begin, end = form.type
    if not begin or not (yield from reader.accept(begin)):
        return ""
    said, marker = yield from reader.up_to(stops(end, form.value[0]), _MOST_NAME)
    if marker == end:
        reader.take(len(end))
        yield from _blanks(reader)
    return said.strip()


def _value_ends(form: KeyForm, arguments: Arguments) -> ValueEnds:
    around = (form.call, *form.block_ends)
    return ValueEnds(
        closed=(form.value[1],),
        then=(form.key[0], form.call_end, _ESCAPED_LINE, *around),
        unclosed=(
            (form.key[0], tuple(key + form.key[1] for key in arguments.known)),
            (form.call_end, around),
            *((end, (form.call, *form.blocks)) for end in form.block_ends),
        ),
    )
