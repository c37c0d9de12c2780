"""Chunks of a chat stream, and what is read in them."""

import json

from canonicall import StreamDecoder, fold

FORMAT = "openai-chat"
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def frame(body):
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def chunk(delta=None, finish=None, index=0, **rest):
    choice = {"index": index, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c1", "model": "m", "choices": [choice], **rest}


def piece(index=0, id=None, name=None, arguments=None, **rest):
    """One entry of `tool_calls`; what is not given is not there."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not None}
    fields = {"index": index, "id": id, "function": function or None, **rest}
    return {key: value for key, value in fields.items() if value is not None}


def calls(*pieces):
    return chunk({"tool_calls": list(pieces)})


def decoded(*bodies, done=True):
    decoder = StreamDecoder(FORMAT)
    data = b"".join(map(frame, bodies)) + (b"data: [DONE]\n\n" if done else b"")
    events = decoder.feed(data) + decoder.close()
    assert events == [one for byte in split(data) for one in byte]
    return events


def split(data):
    """The events byte by byte."""
    decoder = StreamDecoder(FORMAT)
    for at in range(len(data)):
        yield decoder.feed(data[at : at + 1])
    yield decoder.close()


def reply_of(*bodies, finish="tool_calls"):
    return fold(decoded(*bodies, chunk(finish=finish)))


def said(reply):
    return [(call.id, call.name, call.raw) for call in reply.calls]


def of_type(events, *types):
    return [event for event in events if isinstance(event, types)]


WHOLE = [("1", "f", '{"a": 1}')]
