"""Sessions of pi: ~/.pi/agent/sessions/PROJECT/STAMP_ID.jsonl, one entry a line.

Read in badlogic/pi-mono:

- The first line is `{"type": "session", "id", "timestamp", "cwd", "version"}`; any other entry has
  `type`, `id`, `parentId`, `timestamp`, and together they are a tree of which the last entry is the
  leaf: packages/coding-agent/src/core/session-manager.ts (`SessionHeader`, `SessionEntryBase`,
  `buildSessionContext`). Version 1 has no ids: there the order counts.
- A "compaction" has `summary` and `firstKeptEntryId`: the summary comes first, then what was kept
  (the same file). "custom_message" is said to the model, "custom", "label" and others are not.
- Messages are as in packages/ai/src/types.ts: roles "user", "assistant", "toolResult"; content
  "text", "thinking" with `thinkingSignature`, "toolCall" with `thoughtSignature`, "image".
  For the Responses API the signature is the whole reasoning item as JSON text.
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
from canonicall.importing.kinds import Document, DocumentKind, WrittenBack
from canonicall.importing.sessions.lines import (
    HEAD_LENGTH,
    Line,
    Notes,
    first_object,
    object_in,
    objects_in,
    text_in,
)
from canonicall.importing.sessions.repairing import Exchange, Repair, made_uuid
from canonicall.importing.sessions.seals import reasoning_item, sealed, signing_domain

NAME = "pi"
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
_FINISH = {"stop": "stop", "length": "length", "toolUse": "tool_calls", "error": "error"}
_SPOKEN = ("message", "custom_message", "branch_summary")


def detects(data: bytes) -> bool:
    """Whether data begins as a session of pi."""
    if b'"session"' not in data[:HEAD_LENGTH]:
        return False
    first = first_object(data)
    return first.get("type") == "session" and {"id", "timestamp", "cwd"} <= first.keys()


def read(data: bytes) -> Document:
    """The conversation as pi would send it next."""
    notes = Notes()
    messages: list[Message] = []
    errors: list[Line] = []
    model = ""
    for line in _spoken(notes.lines(data), notes):
        message = _message(line)
        if message is None or (message.role == "assistant" and not message.blocks):
            errors.append(line)
            continue
        model = message.origin.model if message.origin else model
        messages.append(message)
    notes.errors(errors)
    return notes.document(NAME, messages, model)


def write_back(data: bytes) -> WrittenBack:
    """The session with a result for every call, and without results of no call."""
    repair = Repair(data)
    spoken = [line for line in _spoken(repair.lines, Notes()) if line.text("type") == "message"]
    exchanges = [_exchange(line) for line in spoken]
    by_number = {line.number: line for line in spoken}
    for missing in repair.missing(exchanges):
        call = by_number[missing.line]
        repair.insert(missing, _result_entry(call, missing.id, missing.name))
    for number, _ in repair.orphans(exchanges):
        repair.drop(number)
    return repair.written_back(link=("id", "parentId"))


KIND = DocumentKind(NAME, detects, read, is_whole_file=True, is_session=True, write_back=write_back)


def _spoken(lines: list[Line], notes: Notes) -> list[Line]:
    """The entries on the way from the root to the leaf that the model sees, in their order."""
    entries = [line for line in lines if line.text("type") != "session"]
    path = _path(entries)
    on_path = {line.number for line in path}
    notes.branch_left([line for line in entries if line.number not in on_path])
    compactions = [line for line in path if line.text("type") == "compaction"]
    notes.bookkeeping(line for line in path if line.text("type") not in (*_SPOKEN, "compaction"))
    spoken = [line for line in path if line.text("type") in _SPOKEN]
    if not compactions:
        return spoken
    last = compactions[-1]
    first_kept = last.text("firstKeptEntryId")
    begin = next((one.number for one in path if one.text("id") == first_kept), last.number)
    index = last.value.get("firstKeptEntryIndex")
    if isinstance(index, int) and 0 <= index < len(lines):
        # Version 1 counts entries instead of naming one.
        begin = lines[index].number
    notes.compacted([line for line in spoken if line.number < begin])
    return [last, *(line for line in spoken if line.number >= begin)]


def _path(entries: list[Line]) -> list[Line]:
    """From the root to the last entry. Without ids, all of them."""
    if not entries or not any(line.text("id") for line in entries):
        return entries
    by_id = {line.text("id"): line for line in entries}
    path: list[Line] = []
    seen: set[str] = set()
    at: Line | None = entries[-1]
    while at is not None and at.text("id") not in seen:
        seen.add(at.text("id"))
        path.append(at)
        at = by_id.get(at.text("parentId"))
    return path[::-1]


def _message(line: Line) -> Message | None:
    """What an entry says to the model, None for nothing."""
    kind = line.text("type")
    if kind in ("compaction", "branch_summary"):
        return Message("user", (Summary(text=line.text("summary")),))
    if kind == "custom_message":
        return Message("user", tuple(_content(line.value.get("content"))))
    return _said(line.object("message"))


def _said(said: dict[str, Any]) -> Message | None:
    match said.get("role"):
        case "assistant":
            return _reply(said)
        case "toolResult":
            return Message("tool", (_result(said),))
        case "bashExecution" if not said.get("excludeFromContext"):
            return _command(said)
        case "branchSummary" | "compactionSummary":
            return Message("user", (Summary(text=text_in(said, "summary")),))
        case "user" | "custom" | "hookMessage":
            return Message("user", tuple(_content(said.get("content"))))
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
        partial=said.get("stopReason") == "aborted",
    )


def _block(block: dict[str, Any], domain: str) -> Block | None:
    match block.get("type"):
        case "text":
            return Text(text=text_in(block, "text"))
        case "thinking":
            signature = text_in(block, "thinkingSignature")
            item = reasoning_item(signature, domain)
            if item is not None:
                return item
            return Thinking(text=text_in(block, "thinking"), opaque=sealed(domain, signature))
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


def _result(said: dict[str, Any]) -> ToolResult:
    return ToolResult(
        call_id=text_in(said, "toolCallId"),
        content=tuple(_content(said.get("content"))),
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


def _content(content: Any) -> list[ResultContent]:
    if isinstance(content, str):
        return [Text(text=content)]
    made = (
        _image(block) if block.get("type") == "image" else Text(text=text_in(block, "text"))
        for block in objects_in(content)
    )
    return list(made)


def _image(block: dict[str, Any]) -> Media:
    return Media(media_type=text_in(block, "mimeType") or "image/*", data=text_in(block, "data"))


def _exchange(line: Line) -> Exchange:
    said = line.object("message")
    if said.get("role") == "toolResult":
        return Exchange(line.number, results=(text_in(said, "toolCallId"),), is_only_results=True)
    calls = [
        (text_in(block, "id"), text_in(block, "name"))
        for block in objects_in(said.get("content"))
        if block.get("type") == "toolCall" and said.get("role") == "assistant"
    ]
    return Exchange(line.number, calls=tuple(calls))


def _result_entry(call: Line, id: str, name: str) -> dict[str, Any]:
    message = {
        "role": "toolResult",
        "toolCallId": id,
        "toolName": name,
        "content": [{"type": "text", "text": Repair.wording}],
        "isError": True,
        "timestamp": call.object("message").get("timestamp", 0),
    }
    entry: dict[str, Any] = {"type": "message", "timestamp": call.value.get("timestamp")}
    if call.text("id"):
        entry |= {"id": made_uuid(call.text("id"), id)[:8], "parentId": call.text("id")}
    return {**entry, "message": message}
