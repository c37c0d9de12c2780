"""A syntax, declared: how calls open, what reads them, how thoughts are marked, how to print it."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

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


class Opener(Struct, frozen=True):
    """A marker that opens calls."""

    marker: str
    read: ReadCalls
    looks: Looks | None = None
    """Tells syntaxes with the same marker apart; None where the marker is enough."""
    place: Place = "anywhere"
    """Where it counts: anywhere, at the start of a line, or at the start of the reply."""
    closers: tuple[str, ...] = ()
    """Markers that close what this one opens. They are text where nothing was opened."""
    by_form: bool = False
    """Other text may begin with it as well: it opens calls only of tools that were offered, and
    there is nothing remarkable about it where it opens none."""


class Syntax(Struct, frozen=True):
    """How one family of models prints its calls."""

    name: str
    openers: tuple[Opener, ...] = ()
    tool_openers: Callable[[Mapping[str, Tool]], tuple[Opener, ...]] | None = None
    """Makes further openers of the tools that were offered, where their names are the markers."""
    thinking: tuple[tuple[str, str], ...] = (("<think>", "</think>"),)
    """Pairs of markers around thoughts."""
    call_ends_thinking: bool = False
    """A call inside a thought ends it; else calls there are drafts and part of the thought."""
    noise: tuple[str, ...] = ()
    """Markers that mean nothing to the reader of the text: ends of turns, frames around words."""
    models: tuple[str, ...] = ()
    """Patterns of the names of models that print this."""
    is_marked: bool = True
    """Calls are marked by tokens that prose does not have; else they are calls only by their form,
    and only tools that were offered are called."""
    is_guarded: bool = False
    """A marker right behind a quotation mark is spoken of, not meant."""
    print_calls: Callable[[tuple[ToolCall, ...]], str] | None = None
    """Prints calls as the model would; None where nobody prints it."""
    print_results: Callable[[tuple[ToolResult, ...]], str] | None = None
    """Prints results as the model's template does; None where there is no such form."""


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call to be printed."""
    return call.args if call.args is not None else {}
