"""Events of a streamed message, and what is read in them."""

import json

from canonicall.codec.streams import StreamDecoder

USAGE = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}
START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE,
    },
}
STOP = {"type": "message_stop"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}


def start(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, **fields):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def text(index, words):
    return delta(index, "text_delta", text=words)


def arguments(index, piece):
    return delta(index, "input_json_delta", partial_json=piece)


def stop(index):
    return {"type": "content_block_stop", "index": index}


def ending(reason="end_turn", **usage):
    fields = {"stop_reason": reason, "stop_sequence": None}
    return {"type": "message_delta", "delta": fields, "usage": {"output_tokens": 7, **usage}}


def body(*events, named=True):
    frames = []
    for event in events:
        name = f"event: {event['type']}\n" if named else ""
        frames.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(frames).encode()


def events_of_stream(*events, named=True):
    decoder = StreamDecoder("anthropic")
    return decoder.feed(body(*events, named=named)) + decoder.close()


def reply_of(*events):
    return events_of_stream(*events)[-1].reply


def block_of(*events):
    """The only block of a message."""
    [block] = reply_of(START, *events, ending(), STOP).message.blocks
    return block


def picked(events, *kinds):
    return [event for event in events if isinstance(event, kinds)]
