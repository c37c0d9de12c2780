"""Stored responses and conversations: what `previous_response_id`, `conversation` and item
references mean, by whichever target they were answered."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from canonicall.gateway.config import StoreSettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.fronts.front import page_size
from canonicall.gateway.keeping import Keeping
from canonicall.gateway.storage import locked, no_conversation, too_long
from canonicall.gateway.turn_tree import RESPONSE, Lease, Line, Storing, Whole

FORMAT = "openai-responses"
PREVIOUS, CONVERSATION = "previous_response_id", "conversation"
_ITEMS, _MOST_ITEMS = 20, 100
"""As many items as a page has (OpenAI: list input items)."""
_TOO_LONG = (
    "Your input exceeds the context window of this model. Please adjust your input and try again."
)


async def whole_response(
    body: dict[str, Any],
    keeping: Keeping,
    limits: StoreSettings,
    *,
    owner: str,
    holder: str,
    now: float,
) -> Whole:
    """`body` with the turns and items it refers to in its input; `owner` has stored them.

    A conversation is held in the name of `holder` then, who has to let go of it.
    """
    given = items_of(body.get("input"))
    before, conversation = body.get(PREVIOUS), conversation_of(body)
    if before is not None and conversation:
        what = f"Mutually exclusive parameters: '{PREVIOUS}' and '{CONVERSATION}'."
        raise Refused(400, "malformed", what, code="mutually_exclusive_parameters", param=PREVIOUS)
    named = [_id_of(item) for item in given if _is_reference(item)]
    known = await keeping.items(named, owner=owner) if named else {}
    items = [_resolved(item, known) for item in given]
    is_found = body.get("store") is not False
    if conversation:
        lease, said = await _held(conversation, keeping, limits, owner, holder, now)
        storing = Storing(kind=RESPONSE, input=items, lease=lease, is_found=is_found)
        return Whole(_without_references(body, [*said, *items]), storing=storing)
    line = await _line(before, keeping, owner) if before is not None else None
    stored = Storing(kind=RESPONSE, input=items, after=line) if is_found else None
    if line is None:
        return Whole(_without_references(body, items) if named else body, storing=stored)
    if passed := too_long(line, len(msgspec.json.encode(items)), limits):
        most = limits.max_turns if passed == "turns" else limits.max_bytes
        what = f"{_TOO_LONG} A chain of responses has at most {most} {passed}."
        raise Refused(400, "too_long", what, code="context_length_exceeded", param="input")
    said = [*await input_of(line, keeping, owner=owner), *line.last["response"].get("output", ())]
    keeper = "" if named else line.last.get("keeper", "")
    return Whole(_without_references(body, [*said, *items]), keeper, stored)


async def input_of(line: Line, keeping: Keeping, *, owner: str) -> list[Any]:
    """All that was said before the last reply of a line of turns."""
    said: list[Any] = []
    for turn in line.turns:
        base = turn.get(CONVERSATION)
        if base is not None:
            said += await _base(base, turn, keeping, owner)
        said += turn["input"]
        if turn is not line.last:
            said += turn["response"].get("output", ())
    return said


async def _base(
    base: Mapping[str, Any], turn: Mapping[str, Any], keeping: Keeping, owner: str
) -> list[Any]:
    """The items of the conversation that a turn continued."""
    if await keeping.conversations.head(base["id"], owner=owner) is None:
        raise _no_previous(turn["response"].get("id", ""))
    items = await keeping.conversations.items(base["id"], owner=owner, before=base["before"])
    return [one.data for one in items]


async def _line(id: Any, keeping: Keeping, owner: str) -> Line:
    found = await keeping.turns.line(RESPONSE, id, owner=owner) if isinstance(id, str) else None
    if found is None:
        raise _no_previous(id)
    return found


def _no_previous(id: Any) -> Refused:
    what = f"Previous response with id '{id}' not found."
    code = "previous_response_not_found"
    return Refused(400, "not_found", what, code=code, param=PREVIOUS)


async def _held(
    id: str, keeping: Keeping, limits: StoreSettings, owner: str, holder: str, now: float
) -> tuple[Lease, list[Any]]:
    """A conversation in the name of `holder`, and its items."""
    head = await keeping.conversations.take(id, holder, now, owner=owner)
    if head is None:
        raise no_conversation(id)
    if head.holder != holder:
        raise locked()
    refuse_too_large(head.size, limits)
    items = await keeping.conversations.items(id, owner=owner)
    return Lease(id, holder, owner, head.next), [one.data for one in items]


def refuse_too_large(size: int, limits: StoreSettings) -> None:
    """Refuse to add to a conversation that has as many bytes as it may."""
    if limits.max_bytes and size > limits.max_bytes:
        what = f"{_TOO_LONG} A conversation has at most {limits.max_bytes} bytes."
        raise Refused(400, "too_long", what, code="context_length_exceeded", param="input")


def unsupported(name: str) -> Refused:
    """The answer where nothing is stored, in the form that OpenAI has for organizations of which it
    stores nothing."""
    what = (
        f"{name} cannot be used: this gateway stores no conversations, and the model is not asked"
        " at OpenAI. Send all items in `input`."
    )
    return Refused(400, "unsupported", what, code="unsupported_parameter", param=name)


def conversation_of(body: Mapping[str, Any]) -> str:
    """The id of the conversation that a request continues; empty where it continues none.
    `Refused` where it names one in a way that nobody can read."""
    named = body.get(CONVERSATION)
    if named is None:
        return ""
    id = named.get("id") if isinstance(named, dict) else named
    if not isinstance(id, str) or not id:
        what = f"Invalid type for '{CONVERSATION}': expected an id, or an object with an 'id'."
        raise Refused(400, "malformed", what, code="invalid_type", param=CONVERSATION)
    return id


def _without_references(body: Mapping[str, Any], items: list[Any]) -> dict[str, Any]:
    rest = {name: one for name, one in body.items() if name not in (PREVIOUS, CONVERSATION)}
    return {**rest, "input": items}


def as_list(items: Sequence[Any], query: Mapping[str, str]) -> dict[str, Any]:
    """A page of listed items, the last first unless the query says otherwise."""
    items = list(items)
    if query.get("order") != "asc":
        items.reverse()
    places = {_id_of(item): at for at, item in enumerate(items)}
    begin = places.get(query.get("after", ""), -1) + 1
    end = begin + min(page_size(query.get("limit", ""), _ITEMS), _MOST_ITEMS)
    page = items[begin:end]
    edges = [_id_of(page[0]), _id_of(page[-1])] if page else [None, None]
    listed = {"object": "list", "data": page, "has_more": end < len(items)}
    return {**listed, "first_id": edges[0], "last_id": edges[1]}


def listed(item: Any, id: str) -> Any:
    """An item as it is listed: each has an id, and text is always in parts."""
    if not isinstance(item, dict):
        return item
    said = item.get("content")
    if isinstance(said, str):
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        item = {"type": "message", **item, "content": [{"type": kind, "text": said}]}
    return {"id": id, **item}


def _resolved(item: Any, known: Mapping[str, Any]) -> Any:
    if not _is_reference(item):
        return item
    if (id := _id_of(item)) in known:
        return known[id]
    what = (
        f"Item with id '{id}' not found. Items are not persisted when `store` is set to false."
        " Try again with `store` set to true, or remove this item from your input."
    )
    raise Refused(400, "not_found", what, param="input")


def _id_of(item: Any) -> str:
    id = item.get("id") if isinstance(item, dict) else None
    return id if isinstance(id, str) else ""


def items_of(given: Any) -> list[Any]:
    """The items of an input; text is one of the user."""
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given if isinstance(given, list) else []


def _is_reference(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "item_reference"
