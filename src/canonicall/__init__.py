"""canonicall: one conversation, any model.

Tool-calling conversations that stay valid, whichever provider speaks next.
"""

from importlib import import_module

# The function has the name of its folder: bound here, it is not replaced when the folder is loaded.
from canonicall.verify import verify

TYPE_CHECKING = False
"""What `typing` calls so, without loading it: `canonicall --help` would wait for that."""
if TYPE_CHECKING:
    from typing import Any

    # Collect the calls of a stream.
    from canonicall.accumulator import PartialCall, ToolCallAccumulator
    from canonicall.agent.counters import Counters, Tally

    # Say what becomes of a call that waits for approval.
    from canonicall.agent.inputs import Decided

    # How far a run may go.
    from canonicall.agent.limits import RunLimits
    from canonicall.agent.progress import LoopPolicy

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

    # One call, as others write it.
    from canonicall.calls import to_anthropic, to_generic, to_openai

    # Ask providers over HTTP.
    from canonicall.client.breaker import BreakerPolicy
    from canonicall.client.config import ClientConfig, ProviderConfig
    from canonicall.client.keys import KeyPolicy
    from canonicall.client.model import HttpModel
    from canonicall.client.retrying import RetryPolicy
    from canonicall.client.transport import Timeouts

    # Read what a provider or client wrote, write what a target accepts.
    from canonicall.codec import (
        Encoded,
        Translated,
        decode_request,
        decode_response,
        encode_request,
        encode_response,
        render,
        translate,
        translate_tools,
    )

    # Keep it short.
    from canonicall.compaction import Compacted, cut_points, drop, shorten, summarise

    # Write it.
    from canonicall.conversation import Appended, Conversation
    from canonicall.decisions import CallAsked, CallDecided, Rule, UserWentOn

    # Read a transcript that somebody stored, whatever it is.
    from canonicall.detection import detect_format

    # Find out how an endpoint calls tools.
    from canonicall.discovery.addresses import DiscoveryError
    from canonicall.discovery.discover import discover
    from canonicall.discovery.documentation import analyse_documentation, with_documentation
    from canonicall.discovery.profile_text import profile_text
    from canonicall.discovery.tooling import ToolingInfo

    # What can go wrong.
    from canonicall.errors import (
        CanonicallError,
        ForeignHistory,
        InvalidArguments,
        InvalidValue,
        MalformedBody,
        MostlyUnread,
        NewerVersion,
        StateElsewhere,
        UnknownCall,
        UnknownName,
        UnreadableConversation,
        UntranslatableSchema,
    )

    # What happens while a reply streams in.
    from canonicall.events import (
        ArgumentsAdded,
        BlockEnded,
        BlockStarted,
        ErrorReported,
        Event,
        FinishReported,
        MessageStarted,
        SignatureAdded,
        StreamEnded,
        TextAdded,
        ThinkingAdded,
        UsageReported,
    )

    # Who accepts what.
    from canonicall.facts.capabilities import Capabilities, get_capabilities
    from canonicall.facts.names import ProviderName
    from canonicall.facts.registry import (
        get_profile,
        get_rule,
        get_target,
        provider_names,
        register_provider,
        unregister_provider,
    )
    from canonicall.facts.schema_rules import SchemaRule, StrictRule
    from canonicall.facts.target import FieldRule, Format, IdRule, NameRule, Target
    from canonicall.findings import Action, Fault, Finding, Report
    from canonicall.folding import events_of, fold
    from canonicall.growing import GrowingJson

    # Check a call before it is run, tell its model what is wrong, make a result of what came back.
    from canonicall.guard.budget import CorrectionBudget, Refusal
    from canonicall.guard.feedback import ToolError
    from canonicall.guard.problems import UnknownField, WrongValue
    from canonicall.guard.results import Returned, result_blocks
    from canonicall.guard.sanitising import Limits
    from canonicall.guard.validation import Validated, validate_call

    # Name its calls.
    from canonicall.ids import (
        canonical_tool_id,
        is_canonical_tool_id,
        normalize_to_anthropic_tool_id,
        normalize_to_history_tool_id,
        normalize_to_openai_tool_id,
    )
    from canonicall.importing.documents import read_document
    from canonicall.importing.kinds import Document
    from canonicall.importing.tool_lists import detect_tools_format
    from canonicall.ledger import Interaction, Ledger
    from canonicall.outcome import Outcome, Status, wording
    from canonicall.parsers import ToolParser, get_parser, register_parser, unregister_parser

    # Store it.
    from canonicall.persisted import Loaded, dump, dump_entry, dump_header, load
    from canonicall.reply import Reply, Usage
    from canonicall.request import (
        OutputFormat,
        Params,
        Reasoning,
        Request,
        Tool,
        ToolChoice,
    )

    # Run an agent, hear what it does, and change what passes.
    from canonicall.runtime.agent import Agent, AgentFailed
    from canonicall.runtime.events import (
        AgentEvent,
        CompleteEvent,
        ErrorEvent,
        StatusEvent,
        TextEvent,
        ToolCallEvent,
        fold_events,
    )
    from canonicall.runtime.mcp import McpServer
    from canonicall.runtime.mcp_connection import McpConnectionError
    from canonicall.runtime.middleware import ToolMiddleware
    from canonicall.runtime.model import LocalModel, Model, ModelError, Repaired
    from canonicall.runtime.observer import Observer, RunObserver
    from canonicall.runtime.options import SessionOptions
    from canonicall.runtime.scheduler import Scheduler
    from canonicall.runtime.session import Session
    from canonicall.runtime.stats import SessionStats
    from canonicall.runtime.tooling import ToolingExchange, ToolingMiddleware, ToolingResponse

    # Keep sessions, and open them again.
    from canonicall.store.database import Database
    from canonicall.store.resuming import open_session
    from canonicall.store.sessions import SessionStore, Stored

    # Read a stream, write one.
    from canonicall.streams import StreamDecoder, StreamEncoder

    # Read calls that a model printed in its text.
    from canonicall.syntax.declaration import Opener, Syntax
    from canonicall.syntax.detection import detect_syntax, syntax_of_model
    from canonicall.syntax.parsing import Parsed, parse
    from canonicall.syntax.recovery import CallRecovery, recover_calls
    from canonicall.syntax.registry import (
        get_syntax,
        register_syntax,
        syntax_names,
        unregister_syntax,
    )
    from canonicall.syntax.scanner import TextScanner

    # Show operators how it goes.
    from canonicall.telemetry.counters import counters_json, counters_text, export_counters
    from canonicall.telemetry.observing import genai_observer

    # Make tools of functions, schemas and the lists of others, and run them.
    from canonicall.tools.bound import BoundTool
    from canonicall.tools.context import ToolContext
    from canonicall.tools.definitions import tool_from_schema, tools_from
    from canonicall.tools.functions import tool
    from canonicall.tools.mcp import mcp_result, tools_from_mcp
    from canonicall.tools.progress import Yields
    from canonicall.tools.stopped import ToolStopped
    from canonicall.tools.toolset import Toolset
    from canonicall.transcript.policy import Policy
    from canonicall.transcript.render import Renderer
    from canonicall.transcript.turns import Diagnostics, Transcript, Turn

    # Judge a body or a stream, explain a refusal.
    from canonicall.verify import Explanation, StreamChecker, Violation, explain, verify_stream

# Loaded when first asked for, so that a command or a script pays only for what it uses.
_NAMES_BY_MODULE = {
    "canonicall.accumulator": ("PartialCall", "ToolCallAccumulator"),
    "canonicall.agent.counters": ("Counters", "Tally"),
    "canonicall.agent.inputs": ("Decided",),
    "canonicall.agent.limits": ("RunLimits",),
    "canonicall.agent.progress": ("LoopPolicy",),
    "canonicall.blocks": (
        "CallClosed",
        "Code",
        "Media",
        "Message",
        "Native",
        "Opaque",
        "Origin",
        "Summary",
        "Text",
        "Thinking",
        "ToolCall",
        "ToolResult",
        "Unknown",
    ),
    "canonicall.calls": ("to_anthropic", "to_generic", "to_openai"),
    "canonicall.client.breaker": ("BreakerPolicy",),
    "canonicall.client.config": ("ClientConfig", "ProviderConfig"),
    "canonicall.client.keys": ("KeyPolicy",),
    "canonicall.client.model": ("HttpModel",),
    "canonicall.client.retrying": ("RetryPolicy",),
    "canonicall.client.transport": ("Timeouts",),
    "canonicall.codec": (
        "Encoded",
        "Translated",
        "decode_request",
        "decode_response",
        "encode_request",
        "encode_response",
        "render",
        "translate",
        "translate_tools",
    ),
    "canonicall.compaction": ("Compacted", "cut_points", "drop", "shorten", "summarise"),
    "canonicall.conversation": ("Appended", "Conversation"),
    "canonicall.discovery.addresses": ("DiscoveryError",),
    "canonicall.discovery.discover": ("discover",),
    "canonicall.discovery.documentation": ("analyse_documentation", "with_documentation"),
    "canonicall.discovery.profile_text": ("profile_text",),
    "canonicall.discovery.tooling": ("ToolingInfo",),
    "canonicall.decisions": ("CallAsked", "CallDecided", "Rule", "UserWentOn"),
    "canonicall.errors": (
        "CanonicallError",
        "ForeignHistory",
        "InvalidArguments",
        "InvalidValue",
        "MalformedBody",
        "MostlyUnread",
        "NewerVersion",
        "StateElsewhere",
        "UnknownName",
        "UnknownCall",
        "UnreadableConversation",
        "UntranslatableSchema",
    ),
    "canonicall.events": (
        "ArgumentsAdded",
        "BlockEnded",
        "BlockStarted",
        "ErrorReported",
        "Event",
        "FinishReported",
        "MessageStarted",
        "SignatureAdded",
        "StreamEnded",
        "TextAdded",
        "ThinkingAdded",
        "UsageReported",
    ),
    "canonicall.findings": ("Action", "Fault", "Finding", "Report"),
    "canonicall.folding": ("events_of", "fold"),
    "canonicall.growing": ("GrowingJson",),
    "canonicall.guard.budget": ("CorrectionBudget", "Refusal"),
    "canonicall.guard.feedback": ("ToolError",),
    "canonicall.guard.problems": ("UnknownField", "WrongValue"),
    "canonicall.guard.results": ("Returned", "result_blocks"),
    "canonicall.guard.sanitising": ("Limits",),
    "canonicall.guard.validation": ("Validated", "validate_call"),
    "canonicall.ids": (
        "canonical_tool_id",
        "is_canonical_tool_id",
        "normalize_to_anthropic_tool_id",
        "normalize_to_history_tool_id",
        "normalize_to_openai_tool_id",
    ),
    "canonicall.detection": ("detect_format",),
    "canonicall.importing.documents": ("read_document",),
    "canonicall.importing.kinds": ("Document",),
    "canonicall.importing.tool_lists": ("detect_tools_format",),
    "canonicall.ledger": ("Interaction", "Ledger"),
    "canonicall.outcome": ("Outcome", "Status", "wording"),
    "canonicall.parsers": ("ToolParser", "get_parser", "register_parser", "unregister_parser"),
    "canonicall.persisted": ("Loaded", "dump", "dump_entry", "dump_header", "load"),
    "canonicall.facts.capabilities": ("Capabilities", "get_capabilities"),
    "canonicall.facts.names": ("ProviderName",),
    "canonicall.facts.registry": (
        "get_profile",
        "get_rule",
        "get_target",
        "provider_names",
        "register_provider",
        "unregister_provider",
    ),
    "canonicall.reply": ("Reply", "Usage"),
    "canonicall.request": ("OutputFormat", "Params", "Reasoning", "Request", "Tool", "ToolChoice"),
    "canonicall.runtime.agent": ("Agent", "AgentFailed"),
    "canonicall.runtime.events": (
        "AgentEvent",
        "CompleteEvent",
        "ErrorEvent",
        "StatusEvent",
        "TextEvent",
        "ToolCallEvent",
        "fold_events",
    ),
    "canonicall.runtime.mcp": ("McpServer",),
    "canonicall.runtime.mcp_connection": ("McpConnectionError",),
    "canonicall.runtime.middleware": ("ToolMiddleware",),
    "canonicall.runtime.model": ("LocalModel", "Model", "ModelError", "Repaired"),
    "canonicall.runtime.observer": ("Observer", "RunObserver"),
    "canonicall.runtime.options": ("SessionOptions",),
    "canonicall.runtime.scheduler": ("Scheduler",),
    "canonicall.runtime.session": ("Session",),
    "canonicall.runtime.stats": ("SessionStats",),
    "canonicall.runtime.tooling": ("ToolingExchange", "ToolingMiddleware", "ToolingResponse"),
    "canonicall.store.database": ("Database",),
    "canonicall.store.resuming": ("open_session",),
    "canonicall.store.sessions": ("SessionStore", "Stored"),
    "canonicall.streams": ("StreamDecoder", "StreamEncoder"),
    "canonicall.syntax.declaration": ("Opener", "Syntax"),
    "canonicall.syntax.detection": ("detect_syntax", "syntax_of_model"),
    "canonicall.syntax.parsing": ("Parsed", "parse"),
    "canonicall.syntax.recovery": ("CallRecovery", "recover_calls"),
    "canonicall.syntax.registry": (
        "get_syntax",
        "register_syntax",
        "syntax_names",
        "unregister_syntax",
    ),
    "canonicall.syntax.scanner": ("TextScanner",),
    "canonicall.facts.target": ("FieldRule", "Format", "IdRule", "NameRule", "Target"),
    "canonicall.facts.schema_rules": ("SchemaRule", "StrictRule"),
    "canonicall.telemetry.counters": ("counters_json", "counters_text", "export_counters"),
    "canonicall.telemetry.observing": ("genai_observer",),
    "canonicall.tools.bound": ("BoundTool",),
    "canonicall.tools.context": ("ToolContext",),
    "canonicall.tools.definitions": ("tool_from_schema", "tools_from"),
    "canonicall.tools.functions": ("tool",),
    "canonicall.tools.mcp": ("mcp_result", "tools_from_mcp"),
    "canonicall.tools.progress": ("Yields",),
    "canonicall.tools.stopped": ("ToolStopped",),
    "canonicall.tools.toolset": ("Toolset",),
    "canonicall.transcript.policy": ("Policy",),
    "canonicall.transcript.render": ("Renderer",),
    "canonicall.transcript.turns": ("Diagnostics", "Transcript", "Turn"),
    "canonicall.verify": (
        "Explanation",
        "StreamChecker",
        "Violation",
        "explain",
        "verify_stream",
    ),
}
_HOME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}

__all__ = [
    "Action",
    "Agent",
    "AgentEvent",
    "AgentFailed",
    "Appended",
    "ArgumentsAdded",
    "BlockEnded",
    "BlockStarted",
    "BoundTool",
    "BreakerPolicy",
    "CallAsked",
    "CallClosed",
    "CallDecided",
    "CallRecovery",
    "CanonicallError",
    "Capabilities",
    "ClientConfig",
    "Code",
    "Compacted",
    "CompleteEvent",
    "Conversation",
    "CorrectionBudget",
    "Counters",
    "Database",
    "Decided",
    "Diagnostics",
    "DiscoveryError",
    "Document",
    "Encoded",
    "ErrorEvent",
    "ErrorReported",
    "Event",
    "Explanation",
    "Fault",
    "FieldRule",
    "Finding",
    "FinishReported",
    "ForeignHistory",
    "Format",
    "GrowingJson",
    "HttpModel",
    "IdRule",
    "Interaction",
    "InvalidArguments",
    "InvalidValue",
    "KeyPolicy",
    "Ledger",
    "Limits",
    "Loaded",
    "LocalModel",
    "LoopPolicy",
    "MalformedBody",
    "McpConnectionError",
    "McpServer",
    "Media",
    "Message",
    "MessageStarted",
    "Model",
    "ModelError",
    "MostlyUnread",
    "NameRule",
    "Native",
    "NewerVersion",
    "Observer",
    "Opaque",
    "Opener",
    "Origin",
    "Outcome",
    "OutputFormat",
    "Params",
    "Parsed",
    "PartialCall",
    "Policy",
    "ProviderConfig",
    "ProviderName",
    "Reasoning",
    "Refusal",
    "Renderer",
    "Repaired",
    "Reply",
    "Report",
    "Request",
    "RetryPolicy",
    "Returned",
    "Rule",
    "RunLimits",
    "RunObserver",
    "Scheduler",
    "SchemaRule",
    "Session",
    "SessionOptions",
    "SessionStats",
    "SessionStore",
    "SignatureAdded",
    "StateElsewhere",
    "Status",
    "StatusEvent",
    "Stored",
    "StreamChecker",
    "StreamDecoder",
    "StreamEncoder",
    "StreamEnded",
    "StrictRule",
    "Summary",
    "Syntax",
    "Tally",
    "Target",
    "Text",
    "TextAdded",
    "TextEvent",
    "TextScanner",
    "Thinking",
    "ThinkingAdded",
    "Timeouts",
    "Tool",
    "ToolCall",
    "ToolCallAccumulator",
    "ToolCallEvent",
    "ToolChoice",
    "ToolContext",
    "ToolError",
    "ToolMiddleware",
    "ToolParser",
    "ToolResult",
    "ToolStopped",
    "ToolingExchange",
    "ToolingInfo",
    "ToolingMiddleware",
    "ToolingResponse",
    "Toolset",
    "Transcript",
    "Translated",
    "Turn",
    "Unknown",
    "UnknownCall",
    "UnknownField",
    "UnknownName",
    "UnreadableConversation",
    "UntranslatableSchema",
    "Usage",
    "UsageReported",
    "UserWentOn",
    "Validated",
    "Violation",
    "WrongValue",
    "Yields",
    "analyse_documentation",
    "canonical_tool_id",
    "counters_json",
    "counters_text",
    "cut_points",
    "decode_request",
    "decode_response",
    "detect_format",
    "detect_syntax",
    "detect_tools_format",
    "discover",
    "drop",
    "dump",
    "dump_entry",
    "dump_header",
    "encode_request",
    "encode_response",
    "events_of",
    "explain",
    "export_counters",
    "fold",
    "fold_events",
    "genai_observer",
    "get_capabilities",
    "get_parser",
    "get_profile",
    "get_rule",
    "get_syntax",
    "get_target",
    "is_canonical_tool_id",
    "load",
    "mcp_result",
    "normalize_to_anthropic_tool_id",
    "normalize_to_history_tool_id",
    "normalize_to_openai_tool_id",
    "open_session",
    "parse",
    "profile_text",
    "provider_names",
    "read_document",
    "recover_calls",
    "register_parser",
    "register_provider",
    "register_syntax",
    "render",
    "result_blocks",
    "shorten",
    "summarise",
    "syntax_names",
    "syntax_of_model",
    "to_anthropic",
    "to_generic",
    "to_openai",
    "tool",
    "tool_from_schema",
    "tools_from",
    "tools_from_mcp",
    "translate",
    "translate_tools",
    "unregister_parser",
    "unregister_provider",
    "unregister_syntax",
    "validate_call",
    "verify",
    "verify_stream",
    "with_documentation",
    "wording",
]


def __getattr__(name: str) -> "Any":
    if name not in _HOME:
        raise AttributeError(f"module 'canonicall' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
