"""Sessions of Claude Code: ~/.claude/projects/PROJECT/SESSION.jsonl, one entry a line.

Anthropic documents no format. What is relied on here, and where it was read:

- An entry has `type`, `uuid`, `parentUuid`, `sessionId`, `timestamp`, `isSidechain`; those of type
  "user" and "assistant" have a `message` as the Messages API writes it: docs/jsonl-format.md in
  ticpu/claude-conversation-search-mcp (69,442 messages looked at), docs/JSONL-STRUCTURE.md in
  alicoding/claude-parser.
- One reply may be several lines, one for each block, with the same `message.id`:
  delexw/claude-code-trace#273.
- `parentUuid` cannot be trusted as a chain: it names lines that were never written
  (anthropics/claude-code#22526, #58554) and forks at every hook (#35024). So the order of the file
  counts, and only a prompt that takes an earlier prompt's place leaves a branch behind.
- A compaction writes a "system" entry of the subtype "compact_boundary" and behind it a user entry
  with `isCompactSummary`. In `compactMetadata`, `preservedMessages.uuids` stay, in older versions
  those from `headUuid` to `tailUuid` of `preservedSegment`: behind the summary, or before it where
  `anchorUuid` is the boundary itself (anthropics/claude-agent-sdk-typescript#431; the program,
  2.1.197).
- "content-replacement" has `replacements` of results that were too long: `toolUseId` and the
  `replacement` that the model sees (the program, 2.1.197).
- `isApiErrorMessage` marks what the program said, not the model: docs/jsonl-format.md, as above.
"""

from collections.abc import Sequence
from typing import Any

from canonicall.blocks import Message, Origin, Summary
from canonicall.errors import MalformedBody
from canonicall.importing.kinds import Document, DocumentKind, Sent, WrittenBack
from canonicall.importing.sessions.lines import (
    HEAD_LENGTH,
    NEXT_PROMPT,
    Line,
    Notes,
    first_object,
    object_in,
    objects_in,
    text_in,
)
from canonicall.importing.sessions.repairing import Exchange, Repair, made_uuid
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.messages import decode_messages

NAME = "claude-code"
_MARKS = (b'"sessionId"', b'"leafUuid"', b'"file-history-snapshot"')
_REPLACED = "content-replacement"
_RECORDS = ("summary", "file-history-snapshot")
"""Types a file may begin with that do not name the session."""


def detects(data: bytes) -> bool:
    """Whether data begins as a session of Claude Code."""
    if not any(mark in data[:HEAD_LENGTH] for mark in _MARKS):
        return False
    entry = first_object(data)
    is_entry = isinstance(entry.get("type"), str) and "payload" not in entry
    return is_entry and ("sessionId" in entry or entry["type"] in _RECORDS)


def read(data: bytes) -> Document:
    """The conversation as Claude Code would send it next."""
    notes = Notes()
    messages: list[Message] = []
    model = ""
    lines = notes.lines(data)
    replies = _merged(_shortened(_spoken(lines, notes), lines, notes))
    for reply in replies:
        model = reply.model or model
        try:
            messages += _decoded(reply, notes)
        except MalformedBody as error:
            notes.unreadable(reply.line.number, str(error))
    return notes.document(NAME, messages, model, _sent(replies, model))


def write_back(data: bytes) -> WrittenBack:
    """The session with a result for every call, and without results of no call."""
    repair = Repair(data)
    spoken = _spoken(repair.lines, Notes())
    exchanges = [
        Exchange(
            line.number,
            calls=tuple(
                (text_in(one, "id"), text_in(one, "name")) for one in _blocks(line, "tool_use")
            ),
            results=tuple(text_in(one, "tool_use_id") for one in _blocks(line, "tool_result")),
            is_only_results=_is_result(line),
        )
        for line in spoken
    ]
    by_number = {line.number: line for line in spoken}
    for missing in repair.missing(exchanges):
        repair.insert(missing, _result_entry(by_number[missing.line], missing.id))
    for line, ids in repair.orphans(exchanges):
        rest = [
            block
            for block in objects_in(by_number[line].object("message").get("content"))
            if text_in(block, "tool_use_id") not in ids
        ]
        message = {**by_number[line].object("message"), "content": rest}
        repair.drop(line, {**by_number[line].value, "message": message} if rest else None)
    return repair.written_back(link=("uuid", "parentUuid"))


KIND = DocumentKind(NAME, detects, read, is_whole_file=True, is_session=True, write_back=write_back)


class _Reply:
    """One message, of one line or of several."""

    def __init__(self, line: Line) -> None:
        message = line.object("message")
        self.line = line
        self.role = line.text("type")
        content = message.get("content")
        self.content: Any = list(content) if isinstance(content, list) else content
        self.model = text_in(message, "model") if self.role == "assistant" else ""
        self.id = text_in(message, "id") if self.role == "assistant" else ""


def _spoken(lines: Sequence[Line], notes: Notes) -> list[Line]:
    """The entries that the model would see, in their order."""
    spoken = [line for line in lines if _is_message(line)]
    notes.bookkeeping(line for line in lines if not _is_message(line) and not _is_boundary(line))
    aside = [line for line in spoken if line.value.get("isSidechain") is True]
    # The file of a sub-agent has nothing else: there it is the conversation.
    if len(aside) < len(spoken):
        notes.side_chain(aside)
        spoken = [line for line in spoken if line.value.get("isSidechain") is not True]
    notes.errors([line for line in spoken if line.value.get("isApiErrorMessage") is True])
    spoken = [line for line in spoken if line.value.get("isApiErrorMessage") is not True]
    # Parents that were never written say nothing about branches.
    written = {line.text("uuid") for line in lines} - {""}
    return _on_last_branch(_after_compaction(lines, spoken, notes), written, notes)


def _after_compaction(lines: Sequence[Line], spoken: list[Line], notes: Notes) -> list[Line]:
    """The last summary, the messages that were kept behind it, and what came later."""
    boundaries = [line for line in lines if _is_boundary(line)]
    summaries = [line for line in spoken if _is_summary(line)]
    if not boundaries and not summaries:
        return spoken
    last = boundaries[-1] if boundaries else summaries[-1]
    before = [line for line in spoken if line.number < last.number]
    after = [line for line in spoken if line.number >= last.number]
    kept, is_first = _preserved(last, before)
    numbers = {line.number for line in kept}
    notes.compacted([line for line in before if line.number not in numbers])
    summary = [line for line in after if _is_summary(line)]
    later = [line for line in after if not _is_summary(line)]
    return [*kept, *summary, *later] if is_first else [*summary, *kept, *later]


def _preserved(boundary: Line, before: list[Line]) -> tuple[list[Line], bool]:
    """What a compaction has kept, and whether that stands before the summary."""
    metadata = boundary.object("compactMetadata")
    messages = object_in(metadata.get("preservedMessages"))
    segment = object_in(metadata.get("preservedSegment"))
    uuids = messages.get("uuids")
    if isinstance(uuids, list) and _all_text(uuids):
        wanted = set(uuids)
        kept = [line for line in before if line.text("uuid") in wanted]
    else:
        places = {line.text("uuid"): at for at, line in enumerate(before)}
        first = places.get(text_in(segment, "headUuid"), len(before))
        last = places.get(text_in(segment, "tailUuid"), -1)
        kept = before[first : last + 1]
    anchor = text_in(messages, "anchorUuid") or text_in(segment, "anchorUuid")
    return kept, bool(anchor) and anchor == boundary.text("uuid")


def _shortened(spoken: list[Line], lines: Sequence[Line], notes: Notes) -> list[Line]:
    """The entries, with results that were too long as the model sees them."""
    instead = {
        text_in(one, "toolUseId"): text_in(one, "replacement")
        for line in lines
        if line.text("type") == _REPLACED
        for one in objects_in(line.value.get("replacements"))
    }
    long = {
        line.number
        for line in spoken
        if any(text_in(one, "tool_use_id") in instead for one in _blocks(line, "tool_result"))
    }
    notes.edited([line for line in spoken if line.number in long])
    return [_with_results(line, instead) if line.number in long else line for line in spoken]


def _with_results(line: Line, instead: dict[str, str]) -> Line:
    content = [
        {**block, "content": instead[text_in(block, "tool_use_id")]}
        if text_in(block, "tool_use_id") in instead
        else block
        for block in objects_in(line.object("message").get("content"))
    ]
    message = {**line.object("message"), "content": content}
    return Line(line.number, {**line.value, "message": message})


def _on_last_branch(spoken: list[Line], written: set[str], notes: Notes) -> list[Line]:
    """Without what followed a prompt that another prompt took the place of."""
    by_parent: dict[str, list[Line]] = {}
    for line in spoken:
        parent = line.text("parentUuid")
        is_prompt = line.text("type") == "user" and not _is_result(line)
        if is_prompt and parent in written and not line.value.get("isMeta"):
            by_parent.setdefault(parent, []).append(line)
    left = {line.text("uuid") for group in by_parent.values() for line in group[:-1]} - {""}
    # Whatever descends from it is written behind it.
    for line in spoken:
        if line.text("parentUuid") in left:
            left.add(line.text("uuid"))
    left.discard("")
    notes.branch_left([line for line in spoken if line.text("uuid") in left])
    return [line for line in spoken if line.text("uuid") not in left]


def _merged(spoken: list[Line]) -> list[_Reply]:
    """Messages; the lines of one reply are one message, whatever results stand between them."""
    merged: list[_Reply] = []
    by_id: dict[str, _Reply] = {}
    for line in spoken:
        reply = _Reply(line)
        first = by_id.get(reply.id) if reply.id else None
        if (
            first is not None
            and isinstance(first.content, list)
            and isinstance(reply.content, list)
        ):
            first.content += reply.content
            continue
        merged.append(reply)
        if reply.id:
            by_id[reply.id] = reply
    return merged


def _sent(replies: list[_Reply], model: str) -> Sent:
    """The messages as Claude Code sends them: what the user says in a row is one message."""
    messages: list[dict[str, Any]] = []
    for role, content in [*((one.role, one.content) for one in replies), ("user", NEXT_PROMPT)]:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        is_more = role == "user" and messages and messages[-1]["role"] == role
        if is_more and isinstance(blocks, list) and isinstance(messages[-1]["content"], list):
            messages[-1] = {"role": role, "content": [*messages[-1]["content"], *blocks]}
        else:
            messages.append({"role": role, "content": blocks})
    return Sent(TARGET.format, {"model": model, "messages": messages})


def _decoded(reply: _Reply, notes: Notes) -> list[Message]:
    found: list[Any] = []
    wire = {"role": reply.role, "content": reply.content}
    origin = Origin(TARGET.provider, TARGET.format, model=reply.model)
    messages = decode_messages([wire], origin, TARGET.domain, found)
    notes.told(found, f"line {reply.line.number}")
    if _is_summary(reply.line):
        text = "\n".join(message.text for message in messages)
        return [Message("user", (Summary(text=text),))]
    return messages


def _result_entry(call: Line, id: str) -> dict[str, Any]:
    """An entry as Claude Code writes one for a tool that failed, at the time of its call."""
    block = {
        "type": "tool_result",
        "tool_use_id": id,
        "content": Repair.wording,
        "is_error": True,
    }
    known = ("isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "timestamp")
    return {
        "parentUuid": call.text("uuid"),
        **{name: call.value[name] for name in known if name in call.value},
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "uuid": made_uuid(call.text("sessionId"), id),
    }


def _is_message(line: Line) -> bool:
    return line.text("type") in ("user", "assistant") and isinstance(
        line.value.get("message"), dict
    )


def _is_boundary(line: Line) -> bool:
    return line.text("type") == "system" and line.text("subtype") == "compact_boundary"


def _is_summary(line: Line) -> bool:
    return line.value.get("isCompactSummary") is True


def _is_result(line: Line) -> bool:
    """Whether an entry of the user holds results and nothing else."""
    results = _blocks(line, "tool_result")
    return bool(results) and len(results) == len(line.object("message")["content"])


def _blocks(line: Line, kind: str) -> list[dict[str, Any]]:
    content = line.object("message").get("content")
    return [block for block in objects_in(content) if block.get("type") == kind]


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
