"""Messages of the chat format in both forms, for the tests of what they are made of."""

from canonicall import Message, Native, Opaque, Origin, Thinking
from canonicall.transcript.turns import Turn
from canonicall.wire.openai_chat import FORMAT, TARGET
from canonicall.wire.openai_chat.messages import decode_messages, encode_turn

ORIGIN = Origin("openai", FORMAT, model="m")


def decode(*wire: dict, domain: str = "openai"):
    findings: list = []
    messages = list(decode_messages(list(wire), "$.messages", ORIGIN, domain, findings))
    return messages, [(finding.code, finding.where) for finding in findings]


def decoded(wire: dict) -> Message:
    (message,), findings = decode(wire)
    assert findings == []
    return message


def encode(*blocks, role="assistant", target=TARGET, **fields) -> dict:
    (wire,) = encode_turn(Turn(role, blocks, **fields), target)
    return wire


def native(**fields) -> Native:
    return Native(FORMAT, fields)


def thought(text: str, field: str, *opaque: Opaque, **more) -> Thinking:
    return Thinking(text=text, opaque=opaque, native=native(field=field, **more))
