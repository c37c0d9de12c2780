"""Which wire format a request or a reply has, judged by what only some formats write.

In: a parsed body. Out: the formats it can be, the likeliest first. Each mark found in a request
speaks for the formats that write it so; the formats with the most marks remain. A body of plain
text has no mark: it means the same in several formats, and `openai-chat`, the most spoken one, is
named first. One pass over the messages, whatever they hold. A whole reply is recognised by the
fields around its message; the body of an error and a piece of a stream are no replies.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

CANONICAL = "canonical"
"""A conversation in its stored form."""

Formats: TypeAlias = tuple[str, ...]

CHAT = ("openai-chat",)
ANTHROPIC = ("anthropic",)
BEDROCK = ("bedrock",)
COHERE = ("cohere",)
OLLAMA = ("ollama",)
FUNCTIONS = ("openai-chat", "cohere", "ollama")
"""Formats that wrap a tool in `function` and have system and tool messages."""
PLAIN = ("openai-chat", "anthropic", "cohere", "ollama")
"""Formats in which the text of a message may be a string."""
MESSAGES = (*PLAIN, "bedrock")
"""Formats with `messages`, in the order in which they are preferred."""

# Fields of a whole body.
_FIELDS: dict[str, Formats] = {
    "toolConfig": BEDROCK,
    "inferenceConfig": BEDROCK,
    "additionalModelRequestFields": BEDROCK,
    "guardrailConfig": BEDROCK,
    "modelId": BEDROCK,
    "anthropic_version": ANTHROPIC,
    "stop_sequences": ("anthropic", "cohere"),
    "mcp_servers": ANTHROPIC,
    "container": ANTHROPIC,
    "context_management": ANTHROPIC,
    "output_format": ANTHROPIC,
    "output_config": ANTHROPIC,
    "documents": COHERE,
    "citation_options": COHERE,
    "safety_mode": COHERE,
    "strict_tools": COHERE,
    "options": OLLAMA,
    "keep_alive": OLLAMA,
    "think": OLLAMA,
    "max_completion_tokens": CHAT,
    "stream_options": CHAT,
    "n": CHAT,
    "parallel_tool_calls": CHAT,
    "reasoning_effort": CHAT,
    "functions": CHAT,
    "function_call": CHAT,
    "logit_bias": CHAT,
    "top_logprobs": CHAT,
}
# Types of content parts.
_PARTS: dict[str, Formats] = {
    "text": ("openai-chat", "anthropic", "cohere"),
    "tool_use": ANTHROPIC,
    "tool_result": ANTHROPIC,
    "server_tool_use": ANTHROPIC,
    "redacted_thinking": ANTHROPIC,
    "image": ANTHROPIC,
    "image_url": ("openai-chat", "cohere"),
    "input_audio": CHAT,
    "file": CHAT,
    "refusal": CHAT,
}
# Fields of a message.
_MESSAGE_FIELDS: dict[str, Formats] = {
    "tool_calls": FUNCTIONS,
    "tool_plan": COHERE,
    "citations": COHERE,
    "images": OLLAMA,
    "tool_name": OLLAMA,
    "thinking": OLLAMA,
    "tool_call_id": ("openai-chat", "cohere"),
    "reasoning_content": CHAT,
    "reasoning_details": CHAT,
    "function_call": CHAT,
    "refusal": CHAT,
}
INTERACTIONS = "gemini-interactions"
"""An API whose bodies are recognised and not read."""
_INTERACTIONS = ("generation_config", "previous_interaction_id", "system_instruction")
"""Fields of Gemini's Interactions API, which also calls its messages `input`."""
_RESPONSES = ("previous_response_id", "conversation")
"""Fields that stand for messages the Responses API keeps; `prompt` does if it is an object."""


_HISTORY = ("messages", "contents", "input")
"""Fields that only requests have."""


def detect_format(body: Any) -> str | None:
    """The format of a request or a whole reply, None where it has none that is known.

    The body may be parsed, or JSON text. Where a request fits several alike, as for plain text, the
    first of `possible_formats`.
    """
    if isinstance(body, (bytes, str)):
        try:
            body = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    return reply_format(body) or request_format(body)


def request_format(body: Any) -> str | None:
    """The likeliest format of a request body, None where it is none."""
    return next(iter(possible_formats(body)), None)


def reply_format(body: Any) -> str | None:
    """The format of a whole reply, None where the body is something else."""
    if not isinstance(body, dict) or any(name in body for name in _HISTORY):
        return None
    return next((format for format, is_reply in _REPLIES.items() if is_reply(body)), None)


def _is_chat_reply(body: dict[str, Any]) -> bool:
    choices = body.get("choices")
    if body.get("object") == "chat.completion":
        return isinstance(choices, list)
    return any(isinstance(choice.get("message"), dict) for choice in _objects(choices))


def _is_responses_reply(body: dict[str, Any]) -> bool:
    has_output = isinstance(body.get("output"), list)
    return has_output and (body.get("object") == "response" or "status" in body)


def _is_anthropic_reply(body: dict[str, Any]) -> bool:
    """A message of the Responses API has the same type and role, but neither of these fields."""
    is_message = body.get("type") == "message" and isinstance(body.get("content"), list)
    return is_message and ("stop_reason" in body or "usage" in body)


def _is_gemini_reply(body: dict[str, Any]) -> bool:
    """A refused prompt has feedback instead of candidates."""
    feedback = body.get("promptFeedback", body.get("prompt_feedback"))
    return isinstance(body.get("candidates"), list) or isinstance(feedback, dict)


def _is_bedrock_reply(body: dict[str, Any]) -> bool:
    output = body.get("output")
    return isinstance(output, dict) and isinstance(output.get("message"), dict)


def _is_cohere_reply(body: dict[str, Any]) -> bool:
    return isinstance(body.get("message"), dict) and "finish_reason" in body


def _is_ollama_reply(body: dict[str, Any]) -> bool:
    return isinstance(body.get("message"), dict) and isinstance(body.get("done"), bool)


_REPLIES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "openai-chat": _is_chat_reply,
    "openai-responses": _is_responses_reply,
    "anthropic": _is_anthropic_reply,
    "gemini": _is_gemini_reply,
    "bedrock": _is_bedrock_reply,
    "cohere": _is_cohere_reply,
    "ollama": _is_ollama_reply,
}


def possible_formats(body: Any) -> Formats:
    """Every format that a request body can be, the likeliest first."""
    if not isinstance(body, dict):
        return ()
    if body.get("canonicall") == "conversation":
        return (CANONICAL,)
    if "contents" in body:
        return ("gemini",)
    if "messages" in body:
        return _spoken_for(body)
    # A reply of the Responses API repeats the fields that continue a conversation.
    has_items = "input" in body or any(name in body for name in _RESPONSES)
    has_items = has_items or isinstance(body.get("prompt"), dict)
    is_other = _is_interaction(body) or reply_format(body) is not None
    return ("openai-responses",) if has_items and not is_other else ()


def other_api(body: Any) -> str:
    """The API that a body is for, if it is recognised and its format is not one of those read."""
    is_other = isinstance(body, dict) and _is_interaction(body) and not possible_formats(body)
    return INTERACTIONS if is_other else ""


def _is_interaction(body: dict[str, Any]) -> bool:
    """Gemini's Interactions API; no item of the Responses API is called `user_input`."""
    first = next(_objects(body.get("input")), {})
    return any(name in body for name in _INTERACTIONS) or first.get("type") == "user_input"


def _spoken_for(body: dict[str, Any]) -> Formats:
    """The formats with the most marks. A mark counts once, however often it occurs."""
    marks = dict(_marks_of_body(body))
    for message in _objects(body["messages"]):
        marks |= dict(_marks_of_message(message))
    votes = Counter(format for formats in marks.values() for format in formats)
    most = max(votes.values(), default=0)
    if not most:
        return PLAIN
    return tuple(format for format in MESSAGES if votes[format] == most)


def _marks_of_body(body: dict[str, Any]) -> Iterator[tuple[str, Formats]]:
    for name in _FIELDS.keys() & body.keys():
        yield name, _FIELDS[name]
    for tool in _objects(body.get("tools")):
        if "input_schema" in tool or ("name" in tool and "function" not in tool):
            yield "tools.name", ANTHROPIC
        elif "function" in tool:
            yield "tools.function", FUNCTIONS
    system = body.get("system")
    if system is not None:
        is_bare = any("text" in part and "type" not in part for part in _objects(system))
        yield "system", BEDROCK if is_bare else ANTHROPIC
    choice = body.get("tool_choice")
    if isinstance(choice, str):
        yield "tool_choice", COHERE if choice.isupper() else CHAT
    elif isinstance(choice, dict):
        yield "tool_choice", CHAT if "function" in choice else ANTHROPIC
    thinking = body.get("thinking")
    if isinstance(thinking, dict):
        yield from _marks_of_thinking(thinking)


def _marks_of_thinking(thinking: dict[str, Any]) -> Iterator[tuple[str, Formats]]:
    """`{"type": "enabled"}` alone is also how hosts of the chat format switch thinking on."""
    if "budget_tokens" in thinking or "display" in thinking or thinking.get("type") == "adaptive":
        yield "thinking", ANTHROPIC
    elif "token_budget" in thinking:
        yield "thinking", COHERE


def _marks_of_message(message: dict[str, Any]) -> Iterator[tuple[str, Formats]]:
    for name in _MESSAGE_FIELDS.keys() & message.keys():
        yield f"message.{name}", _MESSAGE_FIELDS[name]
    role = message.get("role")
    if role in ("developer", "function"):
        yield "role", CHAT
    elif role in ("system", "tool"):
        yield f"role {role}", FUNCTIONS
    for part in _objects(message.get("content")):
        yield from _marks_of_part(part)
    for call in _objects(message.get("tool_calls")):
        held = call.get("function")
        if isinstance(held, dict):
            as_text = isinstance(held.get("arguments"), str)
            yield f"arguments {as_text}", ("openai-chat", "cohere") if as_text else OLLAMA


def _marks_of_part(part: dict[str, Any]) -> Iterator[tuple[str, Formats]]:
    kind = part.get("type")
    if not isinstance(kind, str):
        yield "part", BEDROCK
    elif kind == "thinking":
        # Mistral writes the thought as a list of parts.
        thought = part.get("thinking")
        sealed = ANTHROPIC if "signature" in part else ("anthropic", "cohere")
        yield "part thinking", CHAT if isinstance(thought, list) else sealed
    elif kind == "document":
        yield "part document", COHERE if "document" in part else ANTHROPIC
    elif kind in _PARTS:
        yield f"part {kind}", _PARTS[kind]
    if "cache_control" in part:
        yield "cache_control", ("anthropic", "openai-chat")


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list; anything else has none."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
