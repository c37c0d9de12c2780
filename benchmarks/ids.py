"""What a canonical id costs, next to the hash it cannot do without."""

from base64 import urlsafe_b64encode
from hashlib import sha256

from canonicall import Conversation, Message, Origin, ToolCall, canonical_tool_id
from measuring import Ratio, Side, compare

CALLS = 1_000
_PROVIDER = "kimi"


def ratios() -> list[Ratio]:
    """1,000 calls: hashed bare, named by the library, appended to a conversation."""
    raw_ids = [f"functions.read_file:{number}" for number in range(CALLS)]
    joined = [f"{_PROVIDER}|{raw_id}|read_file|turn_1|0" for raw_id in raw_ids]
    messages = [_message(raw_id) for raw_id in raw_ids]

    def bare() -> list[str]:
        return [urlsafe_b64encode(sha256(text.encode()).digest())[:24].decode() for text in joined]

    def named() -> list[str]:
        return [
            canonical_tool_id(
                provider_name=_PROVIDER,
                raw_id=raw_id,
                tool_name="read_file",
                turn_key="turn_1",
                call_index=0,
            )
            for raw_id in raw_ids
        ]

    def appended() -> Conversation:
        return Conversation.of(messages)

    assert named() == [f"hist_tool_{suffix}" for suffix in bare()]
    hashing = Side(bare, CALLS)
    return [
        compare("canonical_tool_id / bare hash", Side(named, CALLS), hashing, goal=5.0),
        compare("append of a call / bare hash", Side(appended, CALLS), hashing),
    ]


def _message(raw_id: str) -> Message:
    call = ToolCall(id=raw_id, name="read_file", args={"path": "code.py"})
    return Message("assistant", (call,), origin=Origin(_PROVIDER))
