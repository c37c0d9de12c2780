"""canonicall: one conversation, any model.

Tool-calling conversations that stay valid, whichever provider speaks next.
"""

# What a conversation is made of.
from canonicall.blocks import (
    CallClosed,
    Code,
    Media,
    Message,
    Native,
    Opaque,
    Origin,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)

# Keep it short.
from canonicall.compaction import Compacted, cut_points, drop, shorten, summarise

# Write it.
from canonicall.conversation import Appended, Conversation

# What can go wrong.
from canonicall.errors import (
    CanonicallError,
    InvalidValue,
    MalformedBody,
    NewerVersion,
    UnknownName,
    UnreadableConversation,
)
from canonicall.findings import Action, Fault, Finding, Report

# Name its calls.
from canonicall.ids import (
    canonical_tool_id,
    is_canonical_tool_id,
    normalize_to_anthropic_tool_id,
    normalize_to_history_tool_id,
    normalize_to_openai_tool_id,
)
from canonicall.ledger import Interaction, Ledger
from canonicall.outcome import Outcome, Status, wording

# Store it.
from canonicall.persisted import Loaded, dump, dump_entry, dump_header, load

__all__ = [
    "Action",
    "Appended",
    "CallClosed",
    "CanonicallError",
    "Code",
    "Compacted",
    "Conversation",
    "Fault",
    "Finding",
    "Interaction",
    "InvalidValue",
    "Ledger",
    "Loaded",
    "MalformedBody",
    "Media",
    "Message",
    "Native",
    "NewerVersion",
    "Opaque",
    "Origin",
    "Outcome",
    "Report",
    "Status",
    "Summary",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Unknown",
    "UnknownName",
    "UnreadableConversation",
    "canonical_tool_id",
    "cut_points",
    "drop",
    "dump",
    "dump_entry",
    "dump_header",
    "is_canonical_tool_id",
    "load",
    "normalize_to_anthropic_tool_id",
    "normalize_to_history_tool_id",
    "normalize_to_openai_tool_id",
    "shorten",
    "summarise",
    "wording",
]
