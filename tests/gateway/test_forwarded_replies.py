"""What is read beside a forwarded stream: its last event, and the reply that is stored."""

import json
from typing import Any

import pytest

from canonicall.gateway.forwarded_replies import ReplyReader, reply_in
from components import needs
from judges.anthropic_stream import accumulated

from streaming import recorded_streams

LIKE_THE_END = "event: message_stop\nevent: response.completed\n"


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def message(*texts: str) -> list[bytes]:
    start = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m"}
    block = {"type": "text", "text": ""}
    return [
        event("message_start", message={**start, "usage": {"input_tokens": 1}}),
        event("content_block_start", index=0, content_block=block),
        *(
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
            for text in texts
        ),
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1}),
        event("message_stop"),
    ]


def response(text: str) -> list[bytes]:
    return [
        event("response.output_text.delta", delta=text),
        event("response.completed", response={"id": "resp_1", "output": [], "text": text}),
        event("other"),
    ]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_last_event_of_a_message_is_held(size: int) -> None:
    events = message("Hello. ", LIKE_THE_END)
    pieces = [b"".join(events[at : at + size]) for at in range(0, len(events), size)]
    reader = ReplyReader("anthropic", "anthropic")
    split = [reader.split(piece) for piece in pieces]
    assert b"".join(now for now, _ in split) == b"".join(events[:-1])
    assert b"".join(last for _, last in split) == events[-1]
    reply = reader.reply()
    assert reply is not None
    assert reply["id"] == "msg_1"
    assert [one["text"] for one in reply["content"]] == ["Hello. " + LIKE_THE_END]


@pytest.mark.parametrize("ending", ["completed", "incomplete", "failed"])
def test_the_last_event_of_a_response_is_held(ending: str) -> None:
    events = [
        one.replace(b"response.completed", f"response.{ending}".encode()) for one in response("x")
    ]
    reader = ReplyReader("openai-responses", "openai")
    now, last = reader.split(b"".join(events))
    assert (now, last) == (events[0], b"".join(events[1:]))
    assert reader.reply() == {"id": "resp_1", "output": [], "text": "x"}


def test_text_is_no_event() -> None:
    reader = ReplyReader("openai-responses", "openai")
    data = event("response.output_text.delta", delta=LIKE_THE_END)
    assert reader.split(data) == (data, b"")
    assert reader.reply() is None


def test_an_event_without_its_name_is_known_by_its_data() -> None:
    reader = ReplyReader("anthropic", "anthropic")
    bare = [one.partition(b"\n")[2] for one in message("Hello.")]
    _, last = reader.split(b"".join(bare))
    assert last == bare[-1]
    assert reader.reply() is not None


@pytest.mark.parametrize("data", [b"", b"[]", b"nothing", b"\xff"])
def test_what_is_no_object_is_no_reply(data: bytes) -> None:
    assert reply_in(data) is None


@needs("corpus")
def test_what_is_stored_is_what_the_sdk_accumulates() -> None:
    """Block by block, without what is null, and without the caller that calls have by default."""
    unequal = []
    for id, _, data in recorded_streams("anthropic-messages"):
        reader = ReplyReader("anthropic", "anthropic")
        reader.split(data)
        reply, wanted = reader.reply(), accumulated(data)
        assert reply is not None
        if _bare(reply["content"]) != _bare(wanted["content"]) or reply["id"] != wanted["id"]:
            unequal.append(id)
    assert not unequal


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        fields = {name: one for name, one in value.items() if one is not None}
        if fields.get("caller") == {"type": "direct"}:
            del fields["caller"]
        return {name: _bare(one) for name, one in fields.items()}
    return [_bare(one) for one in value] if isinstance(value, list) else value
