"""A syntax, declared: how calls open, what reads them, how thoughts are marked, how to print it."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import ToolCall, ToolResult
from canonicall.request import Tool
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading

ReadCalls: TypeAlias = Callable[[Reader, Output], Reading[bool]]
"""Reads what stands behind an opening marker. False: it was no call, and is given back as text."""
Looks: TypeAlias = Callable[[Reader], Reading[bool]]
"""Whether what stands behind an opening marker looks like this syntax. It takes nothing, or white
space that means nothing there."""
Place: TypeAlias = Literal["anywhere", "line", "start"]
Notation: TypeAlias = Literal["json", "xml", "custom"]


class Opener(Struct, frozen=True):
    """A marker that opens calls."""

    marker: str
    """Empty where there is none: this is tried once, where a reply begins, and `looks` decides. It
    reads what is left of calls whose opening marker the prompt, or a host, has taken."""
    read: ReadCalls
    looks: Looks | None = None
    """Tells syntaxes with the same marker apart; None where the marker is enough."""
    place: Place = "anywhere"
    """Where it counts: anywhere, at the start of a line, or at the start of the reply."""
    detected_place: Place | None = None
    """Where it counts if no syntax was named; None where that makes no difference."""
    closers: tuple[str, ...] = ()
    """Markers that close what this one opens. They are text where nothing was opened, unless they
    are noise."""
    by_form: bool = False
    """Other text may begin with it as well: it opens calls only of tools that were offered, and
    there is nothing remarkable about it where it opens none."""
    only_named: bool = False
    """Counts only where its syntax was named: another one has the marker for its own, or it opens
    no calls and prose begins like that as well."""
    is_common: bool = False
    """Documents have it as well: where no syntax was named it counts only beside a tool list."""
    is_guarded: bool = False
    """Right behind a quotation mark it is spoken of, not meant."""
    ends_thinking: bool = False
    """It ends a thought, whatever its syntax says of others."""


class Syntax(Struct, frozen=True):
    """How one family of models prints its calls."""

    name: str
    openers: tuple[Opener, ...] = ()
    tool_openers: Callable[[Mapping[str, Tool]], tuple[Opener, ...]] | None = None
    """Makes further openers of the tools that were offered, where their names are the markers.
    Equal names have to make equal openers."""
    thinking: tuple[tuple[str, str], ...] = (("<think>", "</think>"),)
    """Pairs of markers around thoughts."""
    call_ends_thinking: bool = False
    """A call inside a thought ends it; else calls there are drafts and part of the thought."""
    noise: tuple[str, ...] = ()
    """Markers that mean nothing to the reader of the text: ends of turns, frames around words."""
    frames: tuple[str, ...] = ()
    """Expressions for all else that is left out without a finding where it frames no call: headers
    of messages, labels of thoughts and answers, marks around all calls."""
    models: tuple[str, ...] = ()
    """Patterns of the names of models that print this."""
    is_marked: bool = True
    """Calls are marked by tokens that prose does not have; else they are calls only by their form,
    and only tools that were offered are called."""
    kin_of: str = ""
    """The syntax that reads the same calls from the same markers: nothing in a text tells the two
    apart, so where none was named, that one's name is given."""
    notation: Notation = "json"
    """How arguments are written: as JSON, as tags, or in a way of their own."""
    prompt_opens_thinking: bool = False
    """Prompts of these models end inside of a thought, or may: the end of one that the text does
    not open is no text then, also where nobody said that the reply starts in thinking."""
    thinking_place: Place = "anywhere"
    """Where the markers of thoughts count."""
    keeps_blank: bool = False
    """White space at the beginning belongs to the words."""
    text_after_calls: bool = False
    """These models write text after their calls, as their template or model card shows: it does not
    make a leaked call a quotation."""
    print_calls: Callable[[tuple[ToolCall, ...]], str] | None = None
    """Prints calls as the model would; None where nobody prints it."""
    print_results: Callable[[tuple[ToolResult, ...]], str] | None = None
    """Prints results as the model's template does; None where there is no such form."""


def only_named(*openers: Opener) -> tuple[Opener, ...]:
    """Openers that count only where their syntax was named."""
    return tuple(replace(opener, only_named=True) for opener in openers)
