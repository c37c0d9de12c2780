"""Why a reply ended and what it cost: the rules that all formats share.

The words and the figures are each format's own. What is here decides which of two answers counts:
the provider's word or the calls that are there, the word that came or the one the format has for
it, the figures that came or those made anew.
"""

from collections.abc import Callable, Iterable
from typing import Any

from canonicall.blocks import Block, Message, ToolCall
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import (
    CONTEXT_OVERFLOW,
    ERROR,
    FILTER,
    LENGTH,
    MALFORMED_CALL,
    PAUSED,
    REFUSAL,
    STOP,
    TOOL_CALLS,
    Usage,
)

OUTRANKS_CALLS = (LENGTH, FILTER, REFUSAL, PAUSED, MALFORMED_CALL, ERROR, CONTEXT_OVERFLOW)
"""The ends that stand: calls beside them are not to be run, or not all of them."""

_MOST = 2**63
"""More than any count there is, and more than JSON readers take for one."""


def finish_of(meaning: str, calls: bool) -> str:
    """Why a reply ended: what its word means, unless the calls in it say otherwise.

    A plain end beside calls hides them. Announced calls that are not there are a plain end: a
    client that waits for one would wait for ever.
    """
    if calls:
        return meaning if meaning in OUTRANKS_CALLS else TOOL_CALLS
    return STOP if meaning == TOOL_CALLS else meaning


def finish_told(message: Message) -> str:
    """The canonical word to write: as `finish_of` for one that was given, none for none."""
    return finish_of(message.finish, has_calls(message)) if message.finish else ""


def has_calls(message: Message) -> bool:
    """Whether a message calls tools that the client has to run."""
    return runs_calls(message.blocks)


def runs_calls(blocks: Iterable[Block]) -> bool:
    """The same of the blocks of a message."""
    kinds = [block.kind for block in blocks if type(block) is ToolCall]
    return kinds.count("server") < len(kinds)


def finish_findings(raw: Any, meaning: str, finish: str, where: str) -> tuple[Finding, ...]:
    """That the provider's word is not known, or that it announces calls that are not there."""
    if raw and not meaning:
        why = f"The finish reason {raw!r} is not known{'; the calls count' if finish else ''}."
        action = Action.CHANGED if finish else Action.KEPT
        return (Finding("unknown_finish", where, action, why, Fault.INPUT),)
    if meaning == TOOL_CALLS and finish == STOP:
        why = f"The finish reason {raw!r} announces calls, but there are none; it is a plain end."
        return (Finding("finish_corrected", where, Action.CHANGED, why, Fault.INPUT),)
    return ()


def is_kept(raw: Any, meaning: str, finish: str, written: str | None) -> bool:
    """Whether the provider's word is remembered: it says more than the word to be written."""
    return raw != written and meaning == finish


def own_figures(
    usage: Usage, decode: Callable[[dict[str, Any]], Usage | None], *needed: str
) -> dict[str, Any] | None:
    """The provider's own figures where they are of this format and still say the same."""
    native = usage.native
    if native is None or not native.keys() >= set(needed) or decode(native) != usage:
        return None
    return native


def count_of(figure: Any) -> int:
    """A number of tokens. Hosts write whole ones also as `3.0` or "3"; what is none counts as 0."""
    if figure is None:
        return 0
    if isinstance(figure, str) and figure.isascii() and figure.isdigit() and len(figure) < 19:
        return int(figure)
    if isinstance(figure, bool) or not isinstance(figure, (int, float)):
        return 0
    return int(figure) if 0 < figure < _MOST else 0
