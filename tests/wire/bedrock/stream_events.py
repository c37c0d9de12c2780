"""Events of ConverseStream, and what is read in them."""

import json

from canonicall.codec.streams import StreamDecoder
from canonicall.framing.eventstream import write_frame

USAGE = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
METADATA = ("metadata", {"usage": USAGE, "metrics": {"latencyMs": 7}, "p": "abc"})


def start(number, **block):
    return "contentBlockStart", {"contentBlockIndex": number, "start": block, "p": "ab"}


def delta(number, **piece):
    return "contentBlockDelta", {"contentBlockIndex": number, "delta": piece, "p": "abcd"}


def stop(number):
    return "contentBlockStop", {"contentBlockIndex": number, "p": "a"}


def ends(reason):
    return "messageStop", {"stopReason": reason, "p": "abcdef"}


def call(number, *pieces, name="search", id="tooluse_1", **more):
    yield start(number, toolUse={"toolUseId": id, "name": name, **more})
    for piece in pieces:
        yield delta(number, toolUse={"input": piece})


def decoded(*frames, provider=""):
    decoder = StreamDecoder("bedrock", provider=provider)
    data = b"".join(write_frame(name, json.dumps(body).encode()) for name, body in frames)
    return decoder.feed(data) + decoder.close()


def reply_of(*frames, reason="end_turn"):
    ended = decoded(("messageStart", {"role": "assistant"}), *frames, ends(reason), METADATA)[-1]
    assert ended.complete
    return ended.reply
