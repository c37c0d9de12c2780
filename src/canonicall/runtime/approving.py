"""Approvers: functions that a program gives a session, to be asked before anybody else is."""

from collections.abc import Callable
from typing import TypeAlias

from canonicall.agent.inputs import Decided
from canonicall.blocks import ToolCall

Approver: TypeAlias = Callable[[ToolCall], Decided | bool | None]
"""Says yes, no, or None to have somebody decide later with `Session.decide`."""


def approved(approve: Approver, call: ToolCall) -> Decided | None:
    """What an approver says. Where it breaks, nobody has agreed."""
    try:
        said = approve(call)
    except Exception as error:  # noqa: BLE001  # a call that waits for ever would be worse
        why = f"asking for approval raised {type(error).__name__}: {error}"
        return Decided(call.id, "deny", why)
    if isinstance(said, bool):
        return Decided(call.id, "allow" if said else "deny")
    return said
