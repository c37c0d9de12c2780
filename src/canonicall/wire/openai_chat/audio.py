"""Sound a model made: `audio` beside the content of an assistant message.

A response has id, data and transcript; a request refers to it by the id alone. The transcript is a
text of its own, so that a target without sound still gets the words.
"""

from collections.abc import Sequence
from typing import Any

from canonicall.blocks import Block, Media, Native, Opaque, Text
from canonicall.wire.openai_chat import FORMAT
from canonicall.wire.openai_chat.native import HINT, field_of, native_rest, own_fields
from canonicall.wire.reading import object_at, text_at

_AUDIO = "audio"


def decode_audio(value: Any, where: str, domain: str) -> tuple[Block, ...]:
    """The transcript and the sound. Snowflake sends an object with nothing in it: that is none."""
    if value is None:
        return ()
    audio = object_at(value, where)
    id = text_at(audio.get("id"), f"{where}.id")
    data = text_at(audio.get("data"), f"{where}.data")
    transcript = text_at(audio.get("transcript"), f"{where}.transcript")
    blocks: list[Block] = []
    if transcript:
        blocks.append(Text(text=transcript, native=Native(FORMAT, {HINT: _AUDIO})))
    if id or data:
        native = native_rest(audio, ("id", "data", "transcript"))
        opaque = (Opaque(domain, "item_id", id),) if id else ()
        media = Media(media_type="audio/*", data=data or None, opaque=opaque, native=native)
        blocks.append(media)
    return tuple(blocks)


def own_sound(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks that `audio` stands for: none where the sound has lost its id."""
    if not any(map(_id_of, blocks)):
        return ()
    return tuple(block for block in blocks if _id_of(block) or field_of(block) == _AUDIO)


def encode_audio_reference(blocks: Sequence[Block]) -> dict[str, Any]:
    """The field for a request."""
    ids = [_id_of(block) for block in own_sound(blocks) if _id_of(block)]
    return {_AUDIO: {"id": ids[0]}} if ids else {}


def encode_audio(blocks: Sequence[Block]) -> dict[str, Any]:
    """The field for a response."""
    field: dict[str, Any] = {}
    for block in own_sound(blocks):
        if isinstance(block, Text):
            field["transcript"] = block.text
        elif isinstance(block, Media):
            rest = own_fields(block.native)
            field |= {"id": _id_of(block), "data": block.data or "", **rest}
    return {_AUDIO: field} if field else {}


def _id_of(block: Block) -> str:
    """The id of sound that a model made."""
    if not isinstance(block, Media) or not block.media_type.startswith("audio/"):
        return ""
    return next((str(one.value) for one in block.opaque if one.kind == "item_id"), "")
