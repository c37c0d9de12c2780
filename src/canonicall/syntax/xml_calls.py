"""Calls written as tags: a tag that names the tool, in it one tag for each argument.

`<invoke name="f"><parameter name="k">V</parameter></invoke>` and `<function=f><parameter=k>V...`
are the same here, and so are their spellings with a namespace or special tokens: a `TagForm` says
which. Models forget tags of every kind; what follows still tells where one thing ends:

- A missing end of an argument is replaced by the next argument or the end of the call.
- A missing end of a call is replaced by the end of its block or by the next call.
- Ends of blocks and calls that nothing opened mean nothing.
- A name inside of an argument's tag names the value that stands behind it.
- Words between the arguments of a call are kept, as text behind it, with a finding.
- A block with nothing in it says nothing.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

import msgspec
from msgspec import Struct

from canonicall.syntax.declaration import Opener, ReadCalls
from canonicall.syntax.json_calls import next_is
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.tag_heads import SELF_CLOSED, WORDS, Attributes, read_head, unread
from canonicall.syntax.xml_arguments import (
    IN_A_TAG,
    Arguments,
    block_is_empty,
    give_back,
    leave_block,
    words_between,
)
from canonicall.syntax.xml_values import ValueEnds, ValueKind, read_raw, read_value

KindOf: TypeAlias = Callable[[Attributes, tuple[str, ...]], ValueKind]

_CDATA, _CDATA_END = "<![CDATA[", "]]>"
_KEY = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_MOST_KEY = 128


class TagForm(Struct, frozen=True):
    """How the tags of one syntax are written."""

    blocks: tuple[str, ...]
    block_ends: tuple[str, ...]
    call: str
    """The beginning of the tag that names the tool, up to where the name or attributes follow."""
    call_ends: tuple[str, ...]
    parameters: tuple[str, ...]
    """The beginnings of the tags that name arguments."""
    parameter_ends: tuple[str, ...]
    leads: tuple[str, ...] = ("=", ' name="')
    """What stands between the beginning of a tag and the name."""
    name: str = "name"
    """The attribute with the name of the tool."""
    key: str = "name"
    """The attribute with the name of the argument."""
    attributes: str = "(?!)"
    """An expression for other attributes of its tags, as `name=value`. What else stands in a tag is
    left out, with a finding."""
    tag_end: str = ">"
    kind: KindOf | None = None
    """What the attributes of an argument's tag say about its value; else the schema decides."""
    is_trimmed: bool = False
    """Values stand on lines of their own between their tags."""
    is_paired: bool = False
    """They may do so: a line end after a value is no part of it if there is one before it."""
    unescape: Callable[[str], str] | None = None
    """Undoes the escapes of attributes, where the syntax has any."""
    named: Callable[[str, Output], str] | None = None
    """The name of the tool as it was offered, where models write it otherwise."""
    unwraps: tuple[str, ...] = ()
    """An argument of such a name that the tool does not have holds all the arguments."""
    fillers: tuple[str, ...] = ()
    """Tags around calls that mean nothing."""
    wrappers: tuple[str, ...] = ()
    """Tags around the arguments that mean nothing."""
    loose_ends: bool = False
    """`call_ends` are beginnings of tags: models write more into them before they close them."""
    cdata: bool = False
    """Values may stand in `<![CDATA[...]]>`, and then nothing inside counts as a tag."""

    def value_kind(self, types: tuple[str, ...]) -> ValueKind:
        """What is known about a value of which only the types are."""
        return ValueKind(types, is_trimmed=self.is_trimmed, is_paired=self.is_paired)


def tag_openers(form: TagForm, *, bare: bool = True) -> tuple[Opener, ...]:
    """The markers that open blocks of this form, and those of calls outside of any block."""
    looks = next_is(form.call, *form.blocks, *form.block_ends, *form.fillers)
    read = tagged_calls(form)
    blocks = [Opener(block, read, looks, closers=form.block_ends) for block in form.blocks]
    return (*blocks, *(bare_call_openers(form) if bare else ()))


def bare_call_openers(form: TagForm) -> tuple[Opener, ...]:
    """The markers that open calls outside of any block."""
    return tuple(Opener(form.call + lead, tagged_calls(form, lead)) for lead in form.leads)


def _leave_unread(raw: str, reader: Reader, output: Output, form: TagForm) -> None:
    """A tag of a call that could not be read. In a block it is text; outside of one another reader
    may know its form."""
    if form.blocks:
        give_back(raw, output)
    else:
        reader.give_back(raw)


def tagged_calls(form: TagForm, begun: str = "") -> ReadCalls:
    """A reader of calls. `begun`: what of the first call's tag stood in the opening marker."""
    ends = (*form.block_ends, *form.call_ends)
    frames = (*form.blocks, *form.fillers)

    def read(reader: Reader, output: Output) -> Reading[bool]:
        found = bool(begun) and (yield from _call(reader, output, form, begun))
        if begun and not found:
            return False
        while True:
            yield from reader.blank()
            if frames and (yield from reader.accept(*frames)):
                continue
            mark = reader.mark()
            is_call = bool((yield from reader.accept(form.call)))
            is_read = is_call and (yield from _call(reader, output, form))
            raw = reader.since(mark)
            if is_call and not is_read:
                if found:
                    _leave_unread(raw, reader, output, form)
                return found
            end = "" if is_read else (yield from reader.accept(*ends))
            if end in form.block_ends:
                return found or block_is_empty(output)
            if not is_read and not end:
                break
            found = found or is_read
        if found:
            yield from leave_block(reader, output, form.block_ends)
        return found

    return read


def _call(reader: Reader, output: Output, form: TagForm, begun: str = "") -> Reading[bool]:
    """One call, of which the beginning of the opening tag was taken."""
    head = yield from _head(reader, form, begun)
    if head is None or WORDS in head:
        return False
    name = head.get(form.name, "")
    arguments = Arguments(output)
    if not arguments.name(form.named(name, output) if form.named else name):
        return False
    arguments.left_out(IN_A_TAG, unread(head, form.name, frames=form.attributes))
    whole = SELF_CLOSED in head or (yield from _body(reader, arguments, form))
    arguments.end(whole=whole)
    return True


def _body(reader: Reader, arguments: Arguments, form: TagForm) -> Reading[bool]:
    """The arguments, up to the end of the call. False if the text ended before."""
    ends = _value_ends(form, arguments)
    others = (*form.block_ends, *form.blocks, form.call)
    expected = (*form.parameters, *form.call_ends, *others)
    yield from reader.blank()
    is_json = (yield from reader.peek()) == "{"
    if is_json and not (yield from _json_body(reader, arguments)):
        return False
    while True:
        yield from reader.blank()
        if (yield from reader.accept(*form.call_ends)):
            if form.loose_ends:
                head = yield from _head(reader, form)
                repeated = f"{form.name}={re.escape(arguments.tool)}"
                arguments.left_out(IN_A_TAG, unread(head or {}, "", frames=repeated))
            return True
        if form.wrappers and (yield from reader.accept(*form.wrappers)):
            continue
        if (yield from reader.accept(*form.parameters)):
            if not (yield from _parameter(reader, arguments, form, ends)):
                return False
        elif (yield from reader.next_of(*others)) or (yield from reader.turn_has_ended()):
            return True
        elif not (yield from words_between(reader, arguments, expected)):
            return arguments.is_given_whole


def _json_body(reader: Reader, arguments: Arguments) -> Reading[bool]:
    """Arguments that stand as one JSON object in the call."""
    arguments.is_given_whole = True
    return (yield from reader.json_value(arguments.write))


def _parameter(
    reader: Reader, arguments: Arguments, form: TagForm, ends: ValueEnds
) -> Reading[bool]:
    """One argument, of which the beginning of the opening tag was taken."""
    head = yield from _head(reader, form)
    key = None if head is None else head.get(form.key)
    arguments.stray.append((head or {}).get(WORDS, ""))
    if head == {} and not arguments.is_given_whole:
        key = yield from _key_inside(reader, arguments, form)
        ends = _loose_ends(form)
    is_alone = bool(key) and not arguments.is_given_whole
    known = form.key if is_alone else ""
    arguments.left_out(IN_A_TAG, unread(head or {}, known, frames=form.attributes))
    if head is None or not key or arguments.is_given_whole:
        raw, whole = yield from read_raw(reader, ends)
        if whole or head is not None:
            arguments.stray.append(raw)
        else:
            arguments.left_out("A tag, in which the text ended,", raw)
        return whole
    if SELF_CLOSED in head:
        arguments.member(key, '""')
        return True
    if key in form.unwraps and not arguments.takes(key):
        return (yield from _wrapped(reader, arguments, key, ends))
    if form.cdata and (yield from reader.accept(_CDATA)):
        ends = ValueEnds(closed=tuple(f"{_CDATA_END}{end}" for end in form.parameter_ends))
    types = arguments.types(key)
    kind = form.kind(head, types) if form.kind else form.value_kind(types)
    return (yield from read_value(reader, arguments, key, kind, ends))


def _key_inside(reader: Reader, arguments: Arguments, form: TagForm) -> Reading[str]:
    """A name that stands in the tag's place for a value; the value follows behind the tag.

    Qwen3-Coder does so at times: `<parameter>city</parameter>Basel`.
    """
    mark = reader.mark()
    said, end = yield from reader.up_to(stops(*form.parameter_ends), _MOST_KEY)
    reader.take(len(end))
    raw = reader.since(mark)
    key = said.strip()
    is_key = bool(end) and _KEY.fullmatch(key) is not None and arguments.takes(key)
    if is_key and not (yield from reader.follows(0, *form.parameters, *form.call_ends)):
        return key
    reader.give_back(raw)
    return ""


def _wrapped(reader: Reader, arguments: Arguments, key: str, ends: ValueEnds) -> Reading[bool]:
    """All the arguments as one, if the tool has them all; else an argument like others."""
    raw, whole = yield from read_raw(reader, ends)
    if not whole:
        arguments.cut(key, raw)
        return False
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        value = raw
    if isinstance(value, dict) and all(map(arguments.takes, value)):
        arguments.members(raw)
    else:
        arguments.member(key, msgspec.json.encode(value).decode())
    return True


def _loose_ends(form: TagForm) -> ValueEnds:
    """Where a value ends that stands behind its tag."""
    around = (form.call, *form.blocks, *form.block_ends, *form.fillers)
    nexts = (*form.parameters, *form.call_ends)
    return ValueEnds(
        closed=form.parameter_ends,
        then=(*nexts, *around),
        unclosed=tuple((tag, ()) for tag in (*nexts, *form.block_ends)),
    )


def _value_ends(form: TagForm, arguments: Arguments) -> ValueEnds:
    """Where a value ends in this call."""
    known = tuple(arguments.known)
    nexts = tuple(
        (begin + lead, tuple(key + close for key in known for close in '">/\n'))
        for begin in form.parameters
        for lead in form.leads
    )
    around = (form.call, *form.blocks, *form.block_ends, *form.fillers)
    return ValueEnds(
        closed=form.parameter_ends,
        then=(*form.parameters, *form.call_ends, *form.wrappers, *around),
        unclosed=(
            *nexts,
            *((end, () if form.loose_ends else around) for end in form.call_ends),
            *((end, (form.call, *form.blocks)) for end in form.block_ends if form.blocks),
        ),
    )


def _head(reader: Reader, form: TagForm, begun: str = "") -> Reading[Attributes | None]:
    """The rest of an opening tag of this form."""
    head = yield from read_head(reader, form.tag_end, begun)
    if head is not None and form.unescape:
        return {name: form.unescape(value) for name, value in head.items()}
    return head
