"""Sessions of pi: ~/.pi/agent/sessions/PROJECT/STAMP_ID.jsonl, one entry a line.

Read in earendil-works/pi (1.4.0):

- The first line is `{"type": "session", "id", "timestamp", "cwd", "version"}`; any other entry has
  `type`, `id`, `parentId`, `timestamp`, and together they are a tree of which the last entry is the
  leaf: packages/coding-agent/src/core/session-manager.ts (`SessionHeader`, `SessionEntryBase`,
  `buildSessionContext`). Version 1 has no ids: there the order counts.
- A "compaction" has `summary` and `firstKeptEntryId`: the summary comes first, then what was kept
  (the same file). Instructions are kept by its `systemMessage` alone.
- "custom_message" is said to the model, "custom", "label", "usage" and others are not. A
  "context_edit" gives the entry `targetId` another content, or takes it out: the last one counts
  (`buildSessionProjection`, the same file).
- Replies with the `stopReason` "error" or "aborted" are not sent again, nor are their calls
  answered (`transformMessages` in packages/ai).
"""

from typing import Any

from canonicall.blocks import Message, Summary
from canonicall.importing.kinds import Document, DocumentKind, WrittenBack
from canonicall.importing.sessions.lines import (
    HEAD_LENGTH,
    Line,
    Notes,
    first_object,
    objects_in,
    text_in,
)
from canonicall.importing.sessions.pi_messages import content_of, said_in
from canonicall.importing.sessions.repairing import Exchange, Repair, made_uuid

NAME = "pi"
_SPOKEN = ("message", "custom_message", "branch_summary")
_CUT_SHORT = ("error", "aborted")
_EDIT = "context_edit"


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
    unsaid: list[Line] = []
    model = ""
    for line in _spoken(notes.lines(data), notes):
        said = _messages(line)
        messages += said
        unsaid += () if said else (line,)
        model = next((one.origin.model for one in said if one.origin), model)
    notes.bookkeeping(unsaid)
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
    known = (*_SPOKEN, "compaction", _EDIT)
    notes.bookkeeping(line for line in path if line.text("type") not in known)
    kept = _after_compaction(lines, path, notes)
    failed = [line for line in kept if _is_cut_short(line)]
    notes.errors(failed)
    numbers = {line.number for line in failed}
    return _edited([line for line in kept if line.number not in numbers], notes)


def _after_compaction(lines: list[Line], path: list[Line], notes: Notes) -> list[Line]:
    """The last summary, what was kept behind it, and what came later."""
    compactions = [line for line in path if line.text("type") == "compaction"]
    spoken = [line for line in path if line.text("type") in (*_SPOKEN, _EDIT)]
    if not compactions:
        return spoken
    last = compactions[-1]
    first_kept = last.text("firstKeptEntryId")
    begin = next((one.number for one in path if one.text("id") == first_kept), last.number)
    index = last.value.get("firstKeptEntryIndex")
    if isinstance(index, int) and 0 <= index < len(lines):
        # Version 1 counts entries instead of naming one.
        begin = lines[index].number
    kept = [
        line
        for line in spoken
        if line.number > last.number
        or (line.number >= begin and line.object("message").get("role") != "system")
    ]
    numbers = {line.number for line in kept}
    notes.compacted([line for line in spoken if line.number not in numbers])
    return [last, *kept]


def _edited(spoken: list[Line], notes: Notes) -> list[Line]:
    """The entries with the content that they were given later."""
    edits = {line.text("targetId"): line for line in spoken if line.text("type") == _EDIT}
    notes.edited([line for line in spoken if line.text("id") in edits])
    return [
        _withcontent_of(line, edits[line.text("id")]) if line.text("id") in edits else line
        for line in spoken
        if line.text("type") != _EDIT
        and (line.text("id") not in edits or edits[line.text("id")].object("replacement"))
    ]


def _withcontent_of(line: Line, edit: Line) -> Line:
    content = edit.object("replacement").get("content")
    if "message" not in line.value:
        return Line(line.number, {**line.value, "content": content})
    said = line.object("message")
    if said.get("role") != "user" and isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return Line(line.number, {**line.value, "message": {**said, "content": content}})


def _is_cut_short(line: Line) -> bool:
    said = line.object("message")
    is_empty = not isinstance(said.get("content"), list) or not said["content"]
    return said.get("role") == "assistant" and (said.get("stopReason") in _CUT_SHORT or is_empty)


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


def _messages(line: Line) -> list[Message]:
    """What an entry says to the model."""
    kind = line.text("type")
    said = said_in(line.object("systemMessage" if kind == "compaction" else "message"))
    messages = [said] if said else []
    if kind in ("compaction", "branch_summary") and line.text("summary"):
        messages.append(Message("user", (Summary(text=line.text("summary")),)))
    if kind == "custom_message":
        messages.append(Message("user", tuple(content_of(line.value.get("content")))))
    return messages


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
