"""Items of the Responses API in both forms, for the tests of what they are made of."""

from msgspec.structs import replace

from canonicall.blocks import Opaque, Origin
from canonicall.transcript.turns import Turn
from canonicall.wire.openai_responses import FORMAT, TARGET
from canonicall.wire.openai_responses.messages import decode_input, encode_turn

ORIGIN = Origin(provider="openai", format=FORMAT, model="m")
NO_CUSTOM = replace(TARGET, custom_tools=False)


def decode(*items):
    messages, findings = decode_input(list(items), origin=ORIGIN, domain="openai")
    assert not findings
    return messages


def encode(role, *blocks, native=None, target=TARGET):
    return encode_turn(Turn(role, blocks, native=native), target)


def own(kind, value):
    return (Opaque("openai", kind, value),)


def user(content):
    return {"role": "user", "content": content}
