"""State that only its issuer can read, carried through clients of another format.

A thought's state goes into the field that the front has for its own: the client gives it back
unread. What has no such field is kept in the store, under the id of the call beside it. Ids are
never used for it. Where it is lost, the renderer does without.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Block, Entry, Message, Opaque, Origin, Thinking, ToolCall
from canonicall.conversation import Conversation
from canonicall.ids import normalize_to_history_tool_id
from canonicall.request import Request

MARK = b"canonicall1."
_BEGINNING = b64encode(MARK).decode()
"""What packed state begins with; the mark is as long as makes that so."""
_BEGINNING_IN_JSON = f'"{_BEGINNING}'.encode()
_PLAIN = str.maketrans("-_", "+/")
"""Clients that hold signatures as bytes (google-genai) give them back in the other alphabet."""
_FIELDS = {"anthropic": "signature", "openai-responses": "encrypted", "gemini": "signature"}
"""The kind of state that a thought has in the front's own format."""
_ON_CALLS = ("gemini",)
"""The fronts whose calls have that field as well."""


class Carried(Struct, frozen=True, omit_defaults=True):
    """What was taken from a block, and who can read it."""

    provider: str
    model: str
    opaque: tuple[Opaque, ...]
    text: str | None = None
    """The words of a thought. Clients give them back in pieces, or not at all."""


class Kept(Struct, frozen=True, omit_defaults=True):
    """What the store keeps for one call: its own state, and the thoughts before it."""

    call: Carried | None = None
    thoughts: tuple[Carried, ...] = ()


def packed(carried: Carried) -> str:
    """One text that says it all."""
    return b64encode(MARK + msgspec.msgpack.encode(carried)).decode()


def unpacked(value: Any) -> Carried | None:
    """What a text says that `packed` wrote; None where it is another, or damaged."""
    if not is_packed(value):
        return None
    plain = value.translate(_PLAIN).rstrip("=")
    try:
        data = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        return msgspec.msgpack.decode(data[len(MARK) :], type=Carried)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def is_packed(value: Any) -> bool:
    """Whether a text looks like packed state, valid or not."""
    return isinstance(value, str) and value.startswith(_BEGINNING)


def has_packed(data: bytes) -> bool:
    """Whether there is packed state in a body: nobody but the gateway can read it."""
    return _BEGINNING_IN_JSON in data


def front_state(block: Block, origin: Origin, format: str, domain: str) -> tuple[Opaque, ...]:
    """The state of a block as a client of this front can carry it; () where it cannot.

    A thought without any is told apart from the front's own as well: it is read by its issuer only.
    """
    is_thought = isinstance(block, Thinking)
    if block.opaque and all(one.domain == domain for one in block.opaque):
        return block.opaque
    has_place = is_thought or (isinstance(block, ToolCall) and format in _ON_CALLS)
    if format not in _FIELDS or not has_place or not (block.opaque or is_thought):
        return ()
    text = block.text if isinstance(block, Thinking) else None
    carried = Carried(origin.provider, origin.model, block.opaque, text)
    return (Opaque(domain, _FIELDS[format], packed(carried)),)


def to_keep(message: Message, ids: Mapping[int, str], format: str) -> dict[str, Kept]:
    """What has to be stored of a reply, by canonical call id; `ids` by the place of the block."""
    origin = message.origin or Origin()
    kept: dict[str, Kept] = {}
    thoughts: list[Carried] = []
    for at, block in enumerate(message.blocks):
        if isinstance(block, Thinking) and format not in _FIELDS:
            if block.text or block.opaque:
                thoughts.append(Carried(origin.provider, origin.model, block.opaque, block.text))
        elif isinstance(block, ToolCall) and at in ids:
            own = None
            if block.opaque and format not in _ON_CALLS:
                own = Carried(origin.provider, origin.model, block.opaque)
            if own is not None or thoughts:
                kept[normalize_to_history_tool_id(ids[at])] = Kept(own, tuple(thoughts))
                thoughts = []
    return kept


def calls_in(messages: Iterable[Message]) -> list[str]:
    """The ids under which something may be stored for these messages."""
    return [
        _key(block)
        for message in messages
        if message.role == "assistant"
        for block in message.blocks
        if type(block) is ToolCall and block.kind != "server" and not block.opaque
    ]


def restored_messages(messages: Iterable[Message], kept: Mapping[str, Kept]) -> tuple[Message, ...]:
    """Messages that were just read, with the state that clients carried, and the store has."""
    return tuple(
        _restored(message, kept) if message.role == "assistant" else message for message in messages
    )


def restored(request: Request, kept: Mapping[str, Kept]) -> Request:
    """`request` with the state that clients carried, and that the store has."""
    changed = False
    entries: list[Entry] = []
    for entry in request.conversation.entries:
        is_reply = isinstance(entry, Message) and entry.role == "assistant"
        made = _restored(entry, kept) if isinstance(entry, Message) and is_reply else entry
        changed |= made is not entry
        entries.append(made)
    if not changed:
        return request
    return replace(request, conversation=Conversation.of(entries))


def _restored(entry: Message, kept: Mapping[str, Kept]) -> Message:
    blocks: list[Block] = []
    made_by: Carried | None = None
    has_thoughts = any(isinstance(block, Thinking) and block.opaque for block in entry.blocks)
    for block in map(_without_damaged, entry.blocks):
        carried = next(filter(None, (unpacked(one.value) for one in block.opaque)), None)
        if carried is not None:
            made_by = carried
            if isinstance(block, Thinking) and carried.text is not None:
                _drop_pieces(blocks, block.text, carried.text)
                block = replace(block, text=carried.text)  # noqa: PLW2901  as it was made
            blocks.append(replace(block, opaque=carried.opaque))
            continue
        found = kept.get(_key(block)) if isinstance(block, ToolCall) else None
        if found is None:
            blocks.append(block)
            continue
        if found.thoughts and not has_thoughts:
            made_by = found.thoughts[0]
            blocks = [one for one in blocks if not isinstance(one, Thinking)]
            thoughts = [Thinking(text=one.text or "", opaque=one.opaque) for one in found.thoughts]
            blocks = [*thoughts, *blocks]
        made_by = found.call or made_by
        own = block.opaque if found.call is None else found.call.opaque
        blocks.append(replace(block, opaque=own))
    if made_by is None:
        return entry if blocks == list(entry.blocks) else replace(entry, blocks=tuple(blocks))
    origin = replace(entry.origin or Origin(), provider=made_by.provider, model=made_by.model)
    return replace(entry, blocks=tuple(blocks), origin=origin)


def _without_damaged(block: Block) -> Block:
    """`block` without packed state that cannot be read: to anybody else it is a wrong signature."""
    kept = tuple(one for one in block.opaque if not _is_damaged(one.value))
    return block if len(kept) == len(block.opaque) else replace(block, opaque=kept)


def _is_damaged(value: Any) -> bool:
    return is_packed(value) and unpacked(value) is None


def _drop_pieces(blocks: list[Block], last: str, whole: str) -> None:
    """Drop the last blocks that are pieces of a thought, whose `last` piece has its state: a
    streamed thought goes back as one part for each chunk (google-genai)."""
    at, left, said = len(blocks), len(whole), last
    while whole.endswith(said, 0, left):
        left -= len(said)
        piece = blocks[at - 1] if at else None
        if not isinstance(piece, Thinking) or piece.opaque:
            break
        if not whole.endswith(piece.text, 0, left):
            break
        at, said = at - 1, piece.text
    if not left:
        del blocks[at:]


def _key(call: ToolCall) -> str:
    return normalize_to_history_tool_id(call.raw_id or call.id)
