"""Sessions of Codex CLI: ~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl, one record a line.

Read in the sources of openai/codex:

- A line is `{"timestamp", "ordinal", "type", "payload"}`: `RolloutLine` and `RolloutItem` in
  codex-rs/history/src/lib.rs. A "turn_context" names the `model` of what follows. Lines count from
  0 where `history_mode` is "paginated"; without an `ordinal` in its last line such a file is not
  opened any more (codex-rs/rollout/src/ordinal.rs).
- The payload of a "response_item" is an item of the Responses API, mostly without its id:
  `ResponseItem` in codex-rs/protocol/src/models.rs. "ghost_snapshot" is made by the program.
- What other agents said is an item "agent_message" or a line "inter_agent_communication"
  (`InterAgentCommunication.to_model_input_item` in codex-rs/protocol/src/protocol.rs).
- "compacted" replaces all before it: by `replacement_history`, or by what the user said and the
  summary `message` behind it (codex-rs/core/src/session/rollout_reconstruction.rs).
- The event "thread_rolled_back" takes `num_turns` turns of the user back. What the program says in
  the user's name begins no turn, and goes with the turn it stands before
  (`drop_last_n_user_turns` in codex-rs/core/src/context_manager/history.rs).
- Before RolloutLine the first line was the metadata (`id`, `timestamp`, `instructions`) and the
  others were bare items.
"""

import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Message, Origin, Summary
from canonicall.errors import MalformedBody
from canonicall.importing.kinds import Document, DocumentKind, Sent, WrittenBack
from canonicall.importing.sessions.lines import (
    HEAD_LENGTH,
    NEXT_PROMPT,
    Line,
    Notes,
    first_object,
    objects_in,
    text_in,
)
from canonicall.importing.sessions.repairing import Exchange, Repair
from canonicall.wire.openai_responses import TARGET
from canonicall.wire.openai_responses.messages import decode_input

NAME = "codex"
_ITEM_PLACE = re.compile(r"^\$\.input\[(\d+)\]")
_SNAPSHOT = "ghost_snapshot"
_CONTEXT = re.compile(r"\s*(?:# AGENTS\.md instructions|<([a-z_]+)[ >].*</\1>\s*$)", re.DOTALL)
"""What the program says in the user's name: where it runs, skills, that a turn was stopped."""
_SEARCH = "tool_search_call"
_OUTPUTS = {
    "function_call": "function_call_output",
    "local_shell_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    _SEARCH: "tool_search_output",
}
"""Calls that Codex answers, and with what."""
_NOTHING_FOUND = {"status": "completed", "execution": "client", "tools": []}


def detects(data: bytes) -> bool:
    """Whether data begins as a session of Codex."""
    head = data[:HEAD_LENGTH]
    if b'"session_meta"' not in head and b'"instructions"' not in head:
        return False
    first = first_object(data)
    if first.get("type") == "session_meta":
        return isinstance(first.get("payload"), dict)
    is_old = {"id", "timestamp", "instructions"} <= first.keys()
    return is_old and "input" not in first and "messages" not in first


def read(data: bytes) -> Document:
    """The conversation as Codex would send it next."""
    notes = Notes()
    history = _history(notes.lines(data), notes)
    messages: list[Message] = []
    run: list[_Item] = []
    for item in history:
        if run and (item.summary or item.model != run[0].model):
            messages += _decoded(run, notes)
            run = []
        if item.summary:
            messages.append(Message("user", (Summary(text=item.summary),)))
        else:
            run.append(item)
    messages += _decoded(run, notes)
    model = history[-1].model if history else ""
    said = [*map(_sent_item, history), _prompt(NEXT_PROMPT)]
    return notes.document(
        NAME, messages, model, Sent(TARGET.format, {"model": model, "input": said})
    )


def write_back(data: bytes) -> WrittenBack:
    """The session with an output for every call, and without outputs of no call."""
    repair = Repair(data)
    by_number = {line.number: line for line in repair.lines}
    history = _history(repair.lines, Notes())
    own = [item for item in history if not item.summary and not item.is_replacement]
    exchanges = [_exchange(item) for item in own]
    replaced = {id for item in history if item.is_replacement for id, _ in _exchange(item).calls}
    calls = [item.value for item in own if _is_call(item)]
    kinds = {text_in(call, "call_id"): text_in(call, "type") for call in calls}
    for missing in repair.missing(exchanges):
        kind = kinds[missing.id]
        said = _NOTHING_FOUND if kind == _SEARCH else {"output": Repair.wording}
        output = {"type": _OUTPUTS[kind], "call_id": missing.id, **said}
        line = by_number[missing.line]
        repair.insert(missing, _like(line, output) if "payload" in line.value else output)
    for number, ids in repair.orphans(exchanges):
        if not ids <= replaced:
            repair.drop(number)
    return repair.written_back(count="ordinal")


KIND = DocumentKind(NAME, detects, read, is_whole_file=True, is_session=True, write_back=write_back)


def _like(line: Line, payload: dict[str, Any]) -> dict[str, Any]:
    """A line for an item, at the time of another line."""
    known = {name: line.value[name] for name in line.value if name in ("timestamp", "ordinal")}
    return {**known, "type": "response_item", "payload": payload}


class _Item(Struct, frozen=True):
    """An item of the history, and where it stands."""

    line: Line
    value: dict[str, Any]
    model: str
    summary: str = ""
    """What was said before, where the item stands for it."""
    is_replacement: bool = False


def _history(lines: list[Line], notes: Notes) -> list[_Item]:
    """The items that the model would see, in their order."""
    history: list[_Item] = []
    model = ""
    records: list[Line] = []
    for line in lines:
        kind, payload = line.text("type"), line.object("payload")
        if "payload" not in line.value:
            # A bare item of an older version, or its first line.
            kind, payload = ("response_item", line.value) if kind else ("", {})
        if kind == "inter_agent_communication":
            kind, payload = "response_item", _agent_message(payload)
        if kind == "response_item" and payload.get("type") != _SNAPSHOT:
            history.append(_Item(line, _in_words(payload), model))
        elif kind == "compacted":
            history = _compacted(line, payload, history, model, notes)
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            history = _rolled_back(payload.get("num_turns"), history, notes)
        else:
            records.append(line)
            named = payload.get("model") if kind == "turn_context" else None
            model = named if isinstance(named, str) else model
    notes.bookkeeping(records)
    return history


def _compacted(
    line: Line, payload: dict[str, Any], history: list[_Item], model: str, notes: Notes
) -> list[_Item]:
    if isinstance(payload.get("replacement_history"), list):
        notes.compacted([item.line for item in history])
        replaced = objects_in(payload["replacement_history"])
        return [_Item(line, _in_words(item), model, is_replacement=True) for item in replaced]
    kept = [item for item in history if _begins_turn(item)]
    notes.compacted([item.line for item in history if not _begins_turn(item)])
    return [*kept, _Item(line, {}, model, summary=text_in(payload, "message"))]


def _rolled_back(turns: Any, history: list[_Item], notes: Notes) -> list[_Item]:
    """Without the last turns of the user, and all that followed them."""
    asked = [at for at, item in enumerate(history) if _begins_turn(item)]
    if not isinstance(turns, int) or turns < 1 or not asked:
        return history
    begin = asked[-min(turns, len(asked))]
    while begin > asked[0] and history[begin - 1].value.get("role") in ("user", "developer"):
        if _begins_turn(history[begin - 1]):
            break
        begin -= 1
    notes.branch_left([item.line for item in history[begin:]])
    return history[:begin]


def _begins_turn(item: _Item) -> bool:
    """Whether it is what the user asks, and not what the program says in the user's name."""
    if item.value.get("role") != "user":
        return False
    texts = [text_in(part, "text") for part in objects_in(item.value.get("content"))]
    return not any(map(_CONTEXT.match, texts))


def _agent_message(said: dict[str, Any]) -> dict[str, Any]:
    """What one agent said to another, as the item that the model sees."""
    sealed = said.get("encrypted_content")
    part = {"type": "encrypted_content", "encrypted_content": sealed}
    words = {"type": "input_text", "text": text_in(said, "content")}
    return {
        "type": "agent_message",
        "author": said.get("author"),
        "recipient": said.get("recipient"),
        "content": [part if isinstance(sealed, str) else words],
    }


def _in_words(item: dict[str, Any]) -> dict[str, Any]:
    """What another agent said, as words to the model; sealed ones only OpenAI can read."""
    parts = list(objects_in(item.get("content")))
    is_open = all(part.get("type") == "input_text" for part in parts)
    if item.get("type") != "agent_message" or not parts or not is_open:
        return item
    return {"type": "message", "role": "user", "content": parts}


def _sent_item(item: _Item) -> dict[str, Any]:
    """An item as Codex sends it; a summary is said by the user."""
    return _prompt(item.summary) if item.summary else item.value


def _prompt(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def _decoded(run: list[_Item], notes: Notes) -> list[Message]:
    """The messages of items of one model. Items that cannot be read are left out."""
    if not run:
        return []
    try:
        return _decoded_at_once(run, notes)
    except MalformedBody:
        return _decoded_at_once([item for item in run if _is_readable(item, notes)], notes)


def _decoded_at_once(run: list[_Item], notes: Notes) -> list[Message]:
    values = [item.value for item in run]
    origin = Origin(TARGET.provider, TARGET.format, model=run[0].model if run else "")
    messages, found = decode_input(values, origin=origin, domain=TARGET.domain)

    def place(at: re.Match[str]) -> str:
        return f"line {run[int(at[1])].line.number}"

    notes.findings += (replace(one, where=_ITEM_PLACE.sub(place, one.where)) for one in found)
    return messages


def _is_readable(item: _Item, notes: Notes) -> bool:
    try:
        decode_input([item.value], origin=Origin(), domain=TARGET.domain)
    except MalformedBody as error:
        notes.unreadable(item.line.number, str(error))
        return False
    return True


def _is_call(item: _Item) -> bool:
    """Whether Codex has to answer it; some searches for tools are answered by the provider."""
    return text_in(item.value, "type") in _OUTPUTS and item.value.get("execution") != "server"


def _exchange(item: _Item) -> Exchange:
    kind, id = text_in(item.value, "type"), text_in(item.value, "call_id")
    if _is_call(item) and id:
        name = text_in(item.value, "name") or kind.removesuffix("_call")
        return Exchange(item.line.number, calls=((id, name),))
    if kind in _OUTPUTS.values():
        return Exchange(item.line.number, results=(id,), is_only_results=True)
    return Exchange(item.line.number)
