"""A model's answer in canonical form."""

from typing import Any

from msgspec import Struct

from canonicall.blocks import Message, Native, ToolCall
from canonicall.findings import Finding

STOP = "stop"
TOOL_CALLS = "tool_calls"
LENGTH = "length"
CONTEXT_OVERFLOW = "context_overflow"
STOP_SEQUENCE = "stop_sequence"
FILTER = "filter"
REFUSAL = "refusal"
PAUSED = "paused"
MALFORMED_CALL = "malformed_call"
ERROR = "error"
"""Why a model stopped, in canonical words; the empty text where it did not say."""


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens of one exchange. `input_tokens` is everything read, cached or not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    native: dict[str, Any] | None = None
    """The provider's own figures, as they came."""


class Reply(Struct, frozen=True):
    """An assistant message with what belongs to the exchange as a whole.

    Ids of calls are the provider's raw ones until the message is appended to a conversation.
    """

    message: Message
    usage: Usage | None = None
    findings: tuple[Finding, ...] = ()
    native: Native | None = None

    @property
    def finish(self) -> str:
        """Why the model stopped, such as "stop" or "tool_calls"; empty where it did not say."""
        return self.message.finish

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the message, in order."""
        return self.message.calls
