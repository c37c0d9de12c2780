"""What a message in a session of pi says to the model.

Read in earendil-works/pi (1.4.0):

- Messages are as in packages/ai/src/types.ts: roles "system", "user", "assistant", "toolResult";
  content "text", "thinking" with `thinkingSignature`, "toolCall" with `thoughtSignature`, "image".
  For the Responses API the signature is the whole reasoning item as JSON text; of a thought that is
  `redacted` it is all there is.
- "bashExecution", "custom", "branchSummary" and "compactionSummary" become words of the user:
  packages/coding-agent/src/core/messages.ts (`convertToLlm`).
"""

from typing import Any

from canonicall.blocks import (
    Block,
    Media,
    Message,
    Origin,
    ResultContent,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from canonicall.importing.sessions.lines import object_in, objects_in, text_in
from canonicall.importing.sessions.seals import reasoning_item, sealed, signing_domain

_FORMATS = {
    "anthropic-messages": "anthropic",
    "openai-completions": "openai-chat",
    "openai-responses": "openai-responses",
    "azure-openai-responses": "openai-responses",
    "openai-codex-responses": "openai-responses",
    "bedrock-converse-stream": "bedrock",
    "google-generative-ai": "gemini",
    "google-gemini-cli": "gemini",
    "google-vertex": "gemini",
}
"""What pi calls each wire format: `KnownApi` in packages/ai/src/types.ts."""
_FINISH = {"stop": "stop", "length": "length", "toolUse": "tool_calls"}


def said_in(said: dict[str, Any]) -> Message | None:
    """What a message says to the model, None for nothing."""
    match said.get("role"):
        case "assistant":
            return _reply(said)
        case "toolResult":
            return Message("tool", (_result(said),))
        case "bashExecution" if not said.get("excludeFromContext"):
            return _command(said)
        case "branchSummary" | "compactionSummary":
            return Message("user", (Summary(text=text_in(said, "summary")),))
        case "system" | "user" | "custom" | "hookMessage" as role:
            content = tuple(content_of(said.get("content")))
            return Message("system" if role == "system" else "user", content)
    return None


def _reply(said: dict[str, Any]) -> Message:
    api, provider = text_in(said, "api"), text_in(said, "provider")
    format = _FORMATS.get(api, "")
    domain = signing_domain(provider, format)
    blocks = [_block(block, domain) for block in objects_in(said.get("content"))]
    return Message(
        "assistant",
        tuple(block for block in blocks if block is not None),
        origin=Origin(provider, format, model=text_in(said, "model")),
        finish=_FINISH.get(text_in(said, "stopReason"), ""),
    )


def _block(block: dict[str, Any], domain: str) -> Block | None:
    match block.get("type"):
        case "text":
            return Text(text=text_in(block, "text"))
        case "thinking":
            return _thought(block, domain)
        case "toolCall":
            return ToolCall(
                id=text_in(block, "id"),
                name=text_in(block, "name"),
                args=object_in(block.get("arguments")),
                opaque=sealed(domain, text_in(block, "thoughtSignature")),
            )
        case "image":
            return _image(block)
    return None


def _thought(block: dict[str, Any], domain: str) -> Thinking:
    signature = text_in(block, "thinkingSignature")
    if block.get("redacted") is True:
        return Thinking(opaque=sealed(domain, signature, "redacted"))
    item = reasoning_item(signature, domain)
    if item is not None:
        return item
    return Thinking(text=text_in(block, "thinking"), opaque=sealed(domain, signature))


def _result(said: dict[str, Any]) -> ToolResult:
    return ToolResult(
        call_id=text_in(said, "toolCallId"),
        content=tuple(content_of(said.get("content"))),
        error=said.get("isError") is True,
        name=text_in(said, "toolName"),
    )


def _command(said: dict[str, Any]) -> Message:
    """A command that the user ran, in words."""
    output = text_in(said, "output") or "(no output)"
    code = said.get("exitCode")
    ended = f"\nIt ended with code {code}." if isinstance(code, int) and code else ""
    told = "\nIt was cancelled." if said.get("cancelled") is True else ended
    text = f"Ran `{text_in(said, 'command')}`\n```\n{output}\n```{told}"
    return Message("user", (Text(text=text),))


def content_of(content: Any) -> list[ResultContent]:
    """Words and images: a text, or a list of parts."""
    if isinstance(content, str):
        return [Text(text=content)]
    made = (
        _image(block) if block.get("type") == "image" else Text(text=text_in(block, "text"))
        for block in objects_in(content)
    )
    return list(made)


def _image(block: dict[str, Any]) -> Media:
    return Media(media_type=text_in(block, "mimeType") or "image/*", data=text_in(block, "data"))
