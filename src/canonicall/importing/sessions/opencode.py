"""Sessions of opencode: what `opencode export` prints, a session with its messages and their parts.

On disk opencode keeps a database, and before 1.2 one JSON file for the session, for each message
and for each part (storage/session, storage/message, storage/part); the command line reads both in
the same shape. Read in packages/opencode/src/session/message-v2.ts:

- A message is `{"info", "parts"}`; `info` has `id`, `role`, `time.created`, and for the assistant
  `providerID`, `modelID`, `parentID`, `summary`, `error` (`WithParts`, `User`, `Assistant`).
- Parts: "text" (`ignored` ones are not sent), "reasoning", "file", "tool", "step-start",
  "compaction" and others that are not sent (`Part`, `toModelMessages`). Every step of a reply is a
  message of its own there, with the results of its tools behind it.
- A "tool" part holds call and result: `callID`, `tool`, `state` with `status` "pending", "running",
  "completed" (`output`, `attachments`) or "error" (`error`). A completed one with `time.compacted`
  has lost its output. `toModelMessages` itself answers calls that were interrupted, so there is
  nothing to write back.
- `metadata` holds what the provider signed, by the provider's name: `anthropic.signature`,
  `openai.itemId` and `openai.reasoningEncryptedContent`, `google.thoughtSignature` (the AI SDK's
  names).
- A user message with a "compaction" part and the assistant's answer to it with `summary` stand for
  everything before (`filterCompacted`); with `tail_start_id` the messages from there on are kept.
- `revert` of the session names the message, and perhaps the part, from which on everything is taken
  out before the next prompt (`cleanup` in session/revert.ts).
"""

from typing import Any

from canonicall.blocks import (
    Block,
    Media,
    Message,
    Opaque,
    Origin,
    ResultContent,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from canonicall.importing.kinds import Document, DocumentKind
from canonicall.importing.sessions.lines import (
    HEAD_LENGTH,
    Line,
    Notes,
    object_in,
    objects_in,
    text_in,
    whole_object,
)
from canonicall.importing.sessions.seals import signing_domain
from canonicall.wire.reading import split_data_url

NAME = "opencode"
_CLEARED = "The output of this tool was removed to save space."
_NOT_SENT = ("text/plain", "application/x-directory")
"""Files that stand in the message as text already."""
_SEALS = {
    "signature": "signature",
    "thoughtSignature": "signature",
    "redactedData": "redacted",
    "reasoningEncryptedContent": "encrypted",
    "itemId": "item_id",
}


def detects(data: bytes) -> bool:
    """Whether data is an exported session."""
    head = data[:HEAD_LENGTH]
    if b'"info"' not in head or not data.lstrip().startswith(b"{"):
        return False
    value = whole_object(data)
    messages = value.get("messages")
    is_one = isinstance(value.get("info"), dict) and isinstance(messages, list)
    return is_one and all({"info", "parts"} <= one.keys() for one in objects_in(messages))


def read(data: bytes) -> Document:
    """The conversation as opencode would send it next."""
    notes = Notes()
    session = whole_object(data)
    notes.halves(data, "$")
    lines = [Line(at, one) for at, one in enumerate(objects_in(session.get("messages")), 1)]
    lines.sort(key=lambda line: (_created(line), text_in(line.object("info"), "id")))
    lines = _before_revert(lines, object_in(object_in(session.get("info")).get("revert")), notes)
    messages: list[Message] = []
    errors: list[Line] = []
    model = ""
    for line, covers in _after_compaction(lines, notes):
        info = line.object("info")
        if covers:
            messages.append(Message("user", (Summary(text=_words(line), covers=covers),)))
        elif info.get("role") == "user":
            messages += _question(line)
        elif _failed(line):
            errors.append(line)
        else:
            model = text_in(info, "modelID") or model
            messages += _steps(line)
    notes.errors(errors)
    return notes.document(NAME, messages, model)


KIND = DocumentKind(NAME, detects, read, is_whole_file=True, is_session=True)


def _before_revert(lines: list[Line], revert: dict[str, Any], notes: Notes) -> list[Line]:
    """The messages up to the point that the user went back to."""
    ids = [text_in(line.object("info"), "id") for line in lines]
    if text_in(revert, "messageID") not in ids[1:]:
        return lines
    begin = ids.index(text_in(revert, "messageID"))
    kept = lines[:begin]
    parts = _parts(lines[begin])
    part_ids = [text_in(part, "id") for part in parts]
    if text_in(revert, "partID") in part_ids[1:]:
        before = parts[: part_ids.index(text_in(revert, "partID"))]
        kept.append(Line(lines[begin].number, {**lines[begin].value, "parts": before}))
    notes.branch_left(lines[begin:])
    return kept


def _after_compaction(lines: list[Line], notes: Notes) -> list[tuple[Line, int]]:
    """The messages that count. With one that is a summary, how many it stands for."""
    asked = {
        text_in(line.object("info"), "id"): at
        for at, line in enumerate(lines)
        if any(part.get("type") == "compaction" for part in _parts(line))
    }
    answers = [
        at
        for at, line in enumerate(lines)
        if line.object("info").get("summary") is True
        and text_in(line.object("info"), "parentID") in asked
        and not line.object("info").get("error")
    ]
    if not answers:
        return [(line, 0) for line in lines]
    answer = answers[-1]
    question = asked[text_in(lines[answer].object("info"), "parentID")]
    tail = {text_in(part, "tail_start_id") for part in _parts(lines[question])} - {""}
    ids = [text_in(line.object("info"), "id") for line in lines]
    begin = next((at for at in range(question) if ids[at] in tail), question)
    notes.compacted(lines[:begin])
    kept = [*lines[begin:question], *lines[answer + 1 :]]
    return [(lines[answer], max(begin, 1)), *((line, 0) for line in kept)]


def _question(line: Line) -> list[Message]:
    blocks: list[Block] = []
    for part in _parts(line):
        if part.get("type") == "text" and not part.get("ignored") and part.get("text"):
            blocks.append(Text(text=text_in(part, "text")))
        elif part.get("type") == "file" and part.get("mime") not in _NOT_SENT:
            blocks.append(_file(part))
    return [Message("user", tuple(blocks))] if blocks else []


def _steps(line: Line) -> list[Message]:
    """A reply: each step of it, and behind a step the results of its tools."""
    info = line.object("info")
    domain = signing_domain(text_in(info, "providerID"), "")
    origin = Origin(text_in(info, "providerID"), model=text_in(info, "modelID"))
    messages: list[Message] = []
    said: list[Block] = []
    results: list[ToolResult] = []
    for part in [*_parts(line), {"type": "step-start"}]:
        if part.get("type") != "step-start":
            said += _blocks(part, domain)
            results += _results(part)
            continue
        if said:
            messages.append(Message("assistant", tuple(said), origin=origin))
        if results:
            messages.append(Message("tool", tuple(results)))
        said, results = [], []
    return messages


def _blocks(part: dict[str, Any], domain: str) -> list[Block]:
    match part.get("type"):
        case "text":
            return [Text(text=text_in(part, "text"))] if part.get("text") else []
        case "reasoning":
            return [Thinking(text=text_in(part, "text"), opaque=_seals(part, domain))]
        case "tool":
            args = object_in(object_in(part.get("state")).get("input"))
            id, name = text_in(part, "callID"), text_in(part, "tool")
            signed = tuple(one for one in _seals(part, domain) if one.kind == "signature")
            return [ToolCall(id=id, name=name, args=args, opaque=signed)]
    return []


def _results(part: dict[str, Any]) -> list[ToolResult]:
    """The result of a tool that has ended; one that was interrupted has none."""
    state = object_in(part.get("state"))
    status = state.get("status")
    if part.get("type") != "tool" or status not in ("completed", "error"):
        return []
    content: list[ResultContent] = []
    if status == "error":
        content.append(Text(text=text_in(state, "error")))
    elif object_in(state.get("time")).get("compacted"):
        content.append(Text(text=_CLEARED))
    else:
        content.append(Text(text=text_in(state, "output")))
        content += (_file(one) for one in objects_in(state.get("attachments")))
    return [
        ToolResult(
            call_id=text_in(part, "callID"),
            content=tuple(content),
            error=status == "error",
            name=text_in(part, "tool"),
        )
    ]


def _seals(part: dict[str, Any], domain: str) -> tuple[Opaque, ...]:
    held = object_in(part.get("metadata")).values()
    return tuple(
        Opaque(domain, _SEALS[name], value)
        for fields in held
        for name, value in object_in(fields).items()
        if name in _SEALS and isinstance(value, str) and value
    )


def _file(part: dict[str, Any]) -> Media:
    url = text_in(part, "url")
    inline = split_data_url(url)
    media_type = text_in(part, "mime") or "image/*"
    name = text_in(part, "filename") or None
    if inline is not None:
        return Media(media_type=media_type, data=inline[1], name=name)
    return Media(media_type=media_type, url=url, name=name)


def _failed(line: Line) -> bool:
    """A reply that ended with an error; one that the user stopped counts as far as it got."""
    error = object_in(line.object("info").get("error"))
    got_somewhere = any(part.get("type") in ("text", "tool") for part in _parts(line))
    return bool(error) and not (error.get("name") == "MessageAbortedError" and got_somewhere)


def _words(line: Line) -> str:
    texts = [text_in(part, "text") for part in _parts(line) if part.get("type") == "text"]
    return "\n".join(texts)


def _parts(line: Line) -> list[dict[str, Any]]:
    return list(objects_in(line.value.get("parts")))


def _created(line: Line) -> float:
    created = object_in(line.object("info").get("time")).get("created")
    return created if isinstance(created, int | float) else 0
