"""Chunks of streamGenerateContent, and what is read in them."""

import json

from canonicall.blocks import Opaque
from canonicall.codec.streams import StreamDecoder

SEAL = Opaque("gemini-api", "signature", "c2VhbA==")


def chunk(*parts, **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}}
    if "finish" in fields:
        candidate["finishReason"] = fields.pop("finish")
    return {"candidates": [candidate], **fields}


def call(name="f", args=None, **fields):
    return {"functionCall": {"name": name, "args": args or {}}, **fields}


def piece(*values, more=True, **fields):
    held = {"partialArgs": list(values)} if values else {}
    return {"functionCall": {**fields, **held, **({"willContinue": True} if more else {})}}


def decode(*chunks, provider=""):
    decoder = StreamDecoder("gemini", provider=provider)
    events = decoder.feed(b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in chunks))
    return events + decoder.close()


def reply_of(*chunks):
    return decode(*chunks)[-1].reply


def blocks_of(*chunks):
    return reply_of(*chunks).message.blocks


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]
