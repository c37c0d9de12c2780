"""Sessions of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-*.json or .jsonl, and checkpoints.

Read in google-gemini/gemini-cli, packages/core/src:

- A session has `sessionId`, `projectHash`, `messages`; a message has `id`, `type` ("user",
  "gemini", "info", "error", "warning"), `content` (text, a part or parts) and, from the model,
  `model`, `thoughts`, `toolCalls` with `id`, `name`, `args`, `result`:
  services/chatRecordingTypes.ts.
- Results stand in `toolCalls`, in a message of the user with `functionResponse`, or in both.
- Newer files are JSON lines: first the metadata, then messages, of which a later one with the same
  `id` takes the place of the first; `$rewindTo` takes back a message and all behind it; `$set` with
  `messages` replaces them all: `loadConversationRecord` in services/chatRecordingService.ts.
- How it becomes a history, thoughts and calls from the content if they are there, else from the
  fields beside it: `convertSessionToClientHistory` in utils/sessionUtils.ts, by which messages that
  begin with "/" or "?" are commands to the program.
- A checkpoint of a tool call has `toolCall` and the history as `clientHistory`:
  utils/checkpointUtils.ts. What `/chat save` wrote is a bare list of contents, a body of Gemini.
"""

from collections.abc import Iterator
from typing import Any

from canonicall.blocks import Message, Origin
from canonicall.errors import MalformedBody
from canonicall.findings import Finding
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
    whole_object,
)
from canonicall.importing.sessions.repairing import Missing, Repair
from canonicall.wire.gemini import TARGET
from canonicall.wire.gemini.messages import decode_contents

NAME = "gemini-cli"
_SHOWN = ("info", "error", "warning")
_COMMANDS = ("/", "?", "<session_context>", "<hook_context>")


def detects(data: bytes) -> bool:
    """Whether data is a session or a checkpoint of Gemini CLI."""
    head = data[:HEAD_LENGTH]
    if b'"projectHash"' in head:
        first = first_object(data) or whole_object(data)
        return isinstance(first.get("sessionId"), str) and "projectHash" in first
    return b'"clientHistory"' in data and "toolCall" in (first_object(data) or whole_object(data))


def read(data: bytes) -> Document:
    """The conversation as Gemini CLI would send it next."""
    notes = Notes()
    checkpoint = whole_object(data)
    if checkpoint:
        notes.halves(data, "$")
    if "clientHistory" in checkpoint:
        history = checkpoint["clientHistory"]
        messages = _decoded(history, "", notes, "checkpoint")
        return notes.document(NAME, messages, "", _sent(list(objects_in(history)), ""))
    messages = []
    contents: list[dict[str, Any]] = []
    model = ""
    for line in _spoken(_records(data, notes), notes):
        model = line.text("model") or model
        said = _contents(line)
        contents += said
        try:
            messages += _decoded(said, model, notes, f"line {line.number}")
        except MalformedBody as error:
            notes.unreadable(line.number, str(error))
    return notes.document(NAME, messages, model, _sent(contents, model))


def write_back(data: bytes) -> WrittenBack:
    """The session with a result for every call: a message is written again, and the later counts.

    Only a file of lines can be written so; a file that is one document is left as it is.
    """
    repair = Repair(data)
    if "messages" in whole_object(data) or not repair.lines:
        return WrittenBack(data)
    end = repair.lines[-1].number
    spoken = _spoken(_records(data, Notes()), Notes())
    answered = {id for line in spoken for id in _answered(line)}
    for line in spoken:
        calls = list(objects_in(line.value.get("toolCalls")))
        lacking = [
            call for call in calls if not call.get("result") and text_in(call, "id") not in answered
        ]
        if not lacking:
            continue
        mended = [
            {**call, "result": _made_result(call)} if call in lacking else call for call in calls
        ]
        entries = [{**line.value, "toolCalls": mended}]
        for call in lacking:
            missing = Missing(line.number, end, text_in(call, "id"), text_in(call, "name"))
            repair.insert(missing, *entries)
            entries = []
    return repair.written_back()


KIND = DocumentKind(NAME, detects, read, is_whole_file=True, is_session=True, write_back=write_back)


def _records(data: bytes, notes: Notes) -> list[Line]:
    """The messages of a session after all that was said about them later."""
    whole = whole_object(data)
    if "messages" in whole:
        return [Line(at, one) for at, one in enumerate(objects_in(whole["messages"]), 1)]
    records: dict[str, Line] = {}
    taken_back: list[Line] = []
    for line in notes.lines(data):
        if "$rewindTo" in line.value:
            ids = list(records)
            at = ids.index(line.text("$rewindTo")) if line.text("$rewindTo") in records else 0
            taken_back += (records.pop(id) for id in ids[at:])
        elif isinstance(line.value.get("id"), str):
            records[line.text("id")] = line
        else:
            update = line.object("$set") if "$set" in line.value else line.value
            if isinstance(update.get("messages"), list):
                given = objects_in(update["messages"])
                records = {text_in(one, "id"): Line(line.number, one) for one in given}
    notes.branch_left(taken_back)
    return list(records.values())


def _spoken(records: list[Line], notes: Notes) -> list[Line]:
    """The messages that go to the model."""
    notes.errors([line for line in records if line.text("type") in _SHOWN])
    own = (line for line in records if not _is_said(line) and line.text("type") not in _SHOWN)
    notes.bookkeeping(own)
    return [line for line in records if _is_said(line)]


def _contents(line: Line) -> list[dict[str, Any]]:
    """A message as contents: what the user or the model said, and the results of its calls."""
    parts = _parts(line.value.get("content"))
    if line.text("type") == "user":
        return [{"role": "user", "parts": parts}]
    calls = list(objects_in(line.value.get("toolCalls")))
    if not any("functionCall" in part or part.get("thought") for part in parts):
        thoughts = [_thought(one) for one in objects_in(line.value.get("thoughts"))]
        made = [{"functionCall": _picked(call, "id", "name", "args")} for call in calls]
        parts = [*thoughts, *parts, *made]
    answers = [part for call in calls for part in _result_parts(call)]
    said = [{"role": "model", "parts": parts}] if parts else []
    return [*said, {"role": "user", "parts": answers}] if answers else said


def _sent(contents: list[dict[str, Any]], model: str) -> Sent:
    prompt = {"role": "user", "parts": [{"text": NEXT_PROMPT}]}
    return Sent(TARGET.format, {"model": model, "contents": [*contents, prompt]})


def _decoded(contents: Any, model: str, notes: Notes, place: str) -> list[Message]:
    found: list[Finding] = []
    origin = Origin(TARGET.provider, TARGET.format, model=model)
    messages = decode_contents(contents, domain=TARGET.domain, origin=origin, findings=found)
    notes.told(found, place)
    return messages


def _parts(content: Any) -> list[dict[str, Any]]:
    """A text, a part, or a list of these, as parts. An empty text is none."""
    given = content if isinstance(content, list) else [content]
    parts = ({"text": one} if isinstance(one, str) else one for one in given)
    return [part for part in parts if isinstance(part, dict) and part != {"text": ""}]


def _thought(thought: dict[str, Any]) -> dict[str, Any]:
    subject, description = text_in(thought, "subject"), text_in(thought, "description")
    text = f"**{subject}** {description}" if subject else description
    return {"text": text, "thought": True}


def _result_parts(call: dict[str, Any]) -> list[dict[str, Any]]:
    result = call.get("result")
    if isinstance(result, str) and result:
        response = _picked(call, "id", "name") | {"response": {"output": result}}
        return [{"functionResponse": response}]
    return _parts(result) if result else []


def _made_result(call: dict[str, Any]) -> list[dict[str, Any]]:
    response = _picked(call, "id", "name") | {"response": {"error": Repair.wording}}
    return [{"functionResponse": response}]


def _answered(line: Line) -> Iterator[str]:
    """The calls that a message of the user has results of."""
    if line.text("type") == "user":
        for part in _parts(line.value.get("content")):
            yield text_in(object_in(part.get("functionResponse")), "id")


def _is_said(line: Line) -> bool:
    is_asked = line.text("type") == "user" and not _is_command(line)
    return is_asked or line.text("type") == "gemini"


def _is_command(line: Line) -> bool:
    said = "".join(text_in(part, "text") for part in _parts(line.value.get("content"))).strip()
    has_more = any("text" not in part for part in _parts(line.value.get("content")))
    return not has_more and (not said or said.startswith(_COMMANDS))


def _picked(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value[name] for name in names if name in value}
