"""What is stored once a request has its reply, and how much may be."""

from collections.abc import Sequence
from typing import Any

from canonicall.findings import Action, Fault, Finding
from canonicall.gateway.config import StoreSettings
from canonicall.gateway.conversation_store import Held, Item
from canonicall.gateway.exchange import Refused
from canonicall.gateway.keeping import Keeping
from canonicall.gateway.turn_tree import RESPONSE, Lease, Line, Storing
from canonicall.gateway.turns import Turn, target_name
from canonicall.store.engine import StoreError, Write

_LOCKED = "Another process is currently operating on this conversation."
_FAILED = "failed"


def too_long(after: Line, added: int, limits: StoreSettings) -> str:
    """Which limit a continuation would pass: `turns`, `bytes`, or none."""
    if limits.max_turns and after.number >= limits.max_turns:
        return "turns"
    return "bytes" if limits.max_bytes and after.size + added > limits.max_bytes else ""


async def store(turn: Turn, reply: dict[str, Any], keeping: Keeping, now: float) -> dict[str, Any]:
    """Store a reply with what it answers; the client can refer to it when this returns.

    Returns the fields that the reply has to have otherwise: a response that could not be written
    says that it is not stored. A thread or a conversation cannot go on without its last turn, so
    that is an error.
    """
    storing, id = turn.storing, reply.get("id")
    if storing is None or not isinstance(id, str):
        return {}
    try:
        await keeping.write(_steps(turn, storing, reply, keeping, now), now)
    except Held:
        lease = storing.lease
        if lease is not None and not await _is_there(lease, keeping):
            raise no_conversation(lease.conversation) from None
        raise locked() from None
    except StoreError as error:
        if storing.lease is not None or storing.kind != RESPONSE:
            what = "The reply could not be stored, so it could not be continued. Try again later."
            raise Refused(500, "internal", what) from error
        why = "The response could not be stored, so no request can refer to it."
        turn.on_reply.append(Finding("reply_not_stored", "reply", Action.CHANGED, why, Fault.STATE))
        return {"store": False}
    return {}


def _steps(
    turn: Turn, storing: Storing, reply: dict[str, Any], keeping: Keeping, now: float
) -> list[Write]:
    """The steps that store a reply."""
    id = reply["id"]
    kept: dict[str, Any] = {"response": reply, "input": storing.input}
    if storing.fields:
        kept["fields"] = storing.fields
    steps: list[Write] = []
    lease = storing.lease
    if lease is not None:
        kept["conversation"] = {"id": lease.conversation, "before": lease.before}
        if reply.get("status") != _FAILED:
            steps = _appended(storing.input, reply, lease, keeping, now, seed=turn.id)
    elif turn.is_forwarded and storing.kind == RESPONSE and storing.is_repeatable:
        kept["keeper"] = target_name(turn.target)
    if storing.is_found:
        steps += keeping.turns.added(
            storing.kind, id, kept, now, owner=turn.key, name=turn.id, after=storing.after
        )
        steps.append(keeping.items_of(reply, now, owner=turn.key))
    return steps


def locked() -> Refused:
    """OpenAI's answer while another response is added to a conversation."""
    what = f"{_LOCKED} Please retry in a few seconds."
    return Refused(400, "conflict", what, code="conversation_locked", param="conversation")


def no_conversation(id: str) -> Refused:
    """OpenAI's answer where there is no such conversation."""
    return Refused(404, "not_found", f"Conversation with id '{id}' not found.")


def named_items(items: Sequence[Any], seed: str) -> list[Item]:
    """Items under the ids that a conversation has for them: their own, or new ones."""
    made = []
    for at, item in enumerate(items):
        own = item.get("id") if isinstance(item, dict) else None
        kind = item.get("type", "message") if isinstance(item, dict) else ""
        prefix = _PREFIXES.get(kind, "item")
        made.append(Item(own if isinstance(own, str) and own else f"{prefix}_{seed}{at:04x}", item))
    return made


_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
    "compaction": "cmp",
}
"""How OpenAI's ids of items begin."""


async def _is_there(lease: Lease, keeping: Keeping) -> bool:
    head = await keeping.conversations.head(lease.conversation, owner=lease.owner)
    return head is not None


def _appended(
    given: Sequence[Any],
    reply: dict[str, Any],
    lease: Lease,
    keeping: Keeping,
    now: float,
    *,
    seed: str,
) -> list[Write]:
    items = named_items([*given, *reply.get("output", ())], seed)
    return keeping.conversations.added(
        lease.conversation, items, now, owner=lease.owner, holder=lease.holder
    )
