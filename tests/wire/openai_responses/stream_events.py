"""Events of a streamed response, and what is read in them."""

import json

from canonicall.codec.streams import StreamDecoder
from canonicall.events import ArgumentsAdded, StreamEnded

USAGE = {
    "input_tokens": 3,
    "input_tokens_details": {"cached_tokens": 1},
    "output_tokens": 2,
    "output_tokens_details": {"reasoning_tokens": 1},
    "total_tokens": 5,
}


def sse(*events, named=True):
    frames = []
    for event in events:
        name = f"event: {event['type']}\n" if named and "type" in event else ""
        frames.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(frames).encode()


def read(*events, tail=b"", named=True):
    decoder = StreamDecoder("openai-responses")
    return decoder.feed(sse(*events, named=named) + tail) + decoder.close()


def created(**fields):
    response = {"id": "resp_1", "model": "gpt", "status": "in_progress", "output": [], **fields}
    return {"type": "response.created", "response": response}


def ended(word="completed", output=(), **fields):
    response = {"id": "resp_1", "model": "gpt", "status": word, "output": list(output), **fields}
    return {"type": f"response.{word}", "response": response}


def added(index, item):
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index, item):
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind, index, text, **fields):
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **fields}


def call(arguments="", status="in_progress", number=1, **fields):
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": "f",
        "arguments": arguments,
        "status": status,
        **fields,
    }


def message(*texts, status="completed"):
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    fields = {"role": "assistant", "content": content, "status": status}
    return {"type": "message", "id": "msg_1", **fields}


def arguments(events, index=0):
    return "".join(one.text for one in of(ArgumentsAdded, events) if one.index == index)


def of(kind, events):
    return [one for one in events if type(one) is kind]


def reply(events):
    assert type(events[-1]) is StreamEnded
    return events[-1].reply
