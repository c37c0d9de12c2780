"""Why a reply ended and what it cost: the rules that all formats share.

The words and the figures are each format's own. What is here decides which of two answers counts:
the provider's word or the calls beside it, the figures that came or those made anew.
"""

from collections.abc import Callable
from typing import Any

from canonicall.blocks import Message
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import (
    CONTEXT_OVERFLOW,
    ERROR,
    FILTER,
    LENGTH,
    MALFORMED_CALL,
    PAUSED,
    REFUSAL,
    TOOL_CALLS,
    Usage,
)

OUTRANKS_CALLS = (LENGTH, FILTER, REFUSAL, PAUSED, MALFORMED_CALL, ERROR, CONTEXT_OVERFLOW)
"""The ends that stand: calls beside them are not to be run, or not all of them."""


def finish_of(word: str, beside_calls: bool) -> str:
    """The canonical word; calls in the reply count for more than the word for a plain end."""
    return TOOL_CALLS if beside_calls and word not in OUTRANKS_CALLS else word


def has_calls(message: Message) -> bool:
    """Whether a message calls tools that the client has to run."""
    return any(call.kind != "server" for call in message.calls)


def unknown_finish(raw: str, finish: str, where: str) -> tuple[Finding, ...]:
    """That the provider's word `raw` is not known, if it gave one."""
    if finish or not raw:
        return ()
    why = f"The finish reason {raw!r} is unknown."
    return (Finding("unknown_finish", where, Action.KEPT, why, Fault.INPUT),)


def own_figures(
    usage: Usage, decode: Callable[[dict[str, Any]], Usage | None], *needed: str
) -> dict[str, Any] | None:
    """The provider's own figures where they are of this format and still say the same."""
    native = usage.native
    if native is None or not native.keys() >= set(needed) or decode(native) != usage:
        return None
    return native
