"""What generateContent refuses, on the Gemini API and on Vertex.

Fields are read in both spellings, `functionCall` and `function_call`: protobuf's JSON has both.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.verify.gemini_fields import (
    KnownFields,
    known_fields,
    proto_place,
    unknown_in,
    unknown_in_call,
)
from canonicall.verify.gemini_settings import either, setting_violations, several
from canonicall.verify.gemini_thinking import thinking_violations
from canonicall.verify.lexical import is_tool_name
from canonicall.verify.node import Node, plain
from canonicall.verify.stored_state import before_replies, is_delta, state_violations
from canonicall.verify.violation import Violation, refuse

CALLING = "ai.google.dev: function calling"
SIGNATURES = "ai.google.dev: thought signatures"
DATA = {
    "text": "text",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
}


# A document is a PDF or plain text.
FAMILIES = {"application": "document", "text": "document"}


class Turn(Struct):
    """A content with its calls and responses apart."""

    node: Node
    role: str
    parts: list[Node]
    calls: list[Node]
    responses: list[Node]

    @property
    def where(self) -> str:
        return self.node.where


def violations(body: dict[str, Any], target: Target) -> Iterator[Violation]:
    root, known = Node(body), known_fields(target.fields)
    turns = [_turn(content) for content in several(root, "contents")]
    is_open = is_delta(root, target.format)
    yield from state_violations(root, target)
    if not turns and not is_open:
        error = "* GenerateContentRequest.contents: contents is not specified"
        yield refuse("empty_input", "$.contents", error, source=CALLING)
    for turn in turns:
        yield from _content(turn)
        yield from unknown_in(turn.node, known.content)
        for part in turn.parts:
            yield from _part(part, target, known)
            yield from unknown_in(part, known.part)
    yield from _instructions(root, known)
    yield from _ends(turns, target, is_open=is_open)
    yield from _pairs(_merged(turns), is_open=is_open)
    if target.signature_sentinel is not None:
        yield from _signatures(turns)
    is_used = any(turn.calls or turn.responses for turn in turns)
    yield from setting_violations(root, target, is_used=is_used)
    yield from thinking_violations(root, target)


def _instructions(root: Node, known: KnownFields) -> Iterator[Violation]:
    """They are a content as well; other forms than that are not looked at."""
    key = either(root, "systemInstruction")
    if isinstance(root.get(key), dict):
        yield from unknown_in(root.node(key), known.content)
        for part in several(root.node(key), "parts"):
            yield from unknown_in(part, known.part)


def _turn(content: Node) -> Turn:
    parts = several(content, "parts")
    calls = [part for part in parts if part.has(either(part, "functionCall"))]
    responses = [part for part in parts if part.has(either(part, "functionResponse"))]
    return Turn(content, content.text("role") or "user", parts, calls, responses)


def _content(turn: Turn) -> Iterator[Violation]:
    if turn.role not in {"user", "model", "function"}:
        error = "Please use a valid role: user, model."
        yield refuse("unknown_role", turn.node.at("role"), error, source=CALLING)
    if not turn.parts:
        place = f"GenerateContentRequest.{plain(turn.where)}.parts"
        error = f"* {place}: contents.parts must not be empty."
        yield refuse("empty_message", turn.where, error, source="vercel/ai#3775")


def _part(part: Node, target: Target, known: KnownFields) -> Iterator[Violation]:
    present = [name for name in DATA if part.has(either(part, name))]
    signed = part.has(either(part, "thoughtSignature"))
    place = f"* GenerateContentRequest.{plain(part.where)}"
    if not present and not signed:
        error = f"{place}.data: required oneof field 'data' must have one initialized field"
        yield refuse("bad_part", part.where, error, source="54xzh/FLIT#70")
    elif len(present) > 1:
        error = (
            f"Invalid value at '{plain(part.where)}' (oneof), oneof field 'data' is already set."
        )
        yield refuse("bad_part", part.where, error, source=CALLING)
    elif present == ["text"] and not part.text("text") and not signed:
        yield from _blank_text(part, target)
    elif present[:1] in (["toolCall"], ["toolResponse"]) and not target.server_history:
        error = f"Tool call context circulation is not enabled for models/{target.model}"
        yield refuse("bad_part", part.where, error, source=CALLING)
    elif present[:1] == ["toolCall"] and _type_of(part) in target.unreplayed:
        error = "Tool type of tool_call part does not match with tool call context"
        yield refuse("bad_part", part.where, error, source="pydantic-ai 2.66.0, models/google.py")
    elif present == ["functionCall"]:
        call = part.node(either(part, "functionCall"))
        yield from _call(call, target)
        yield from unknown_in_call(call, known.call)
    elif present == ["functionResponse"]:
        yield from _response(part.node(either(part, "functionResponse")), target)


def _type_of(part: Node) -> str:
    call = part.node(either(part, "toolCall"))
    return call.text(either(call, "toolType"))


def _blank_text(part: Node, target: Target) -> Iterator[Violation]:
    if target.blank_is_empty:
        error = "Unable to submit request because it has an empty text parameter. Add a value to "
        error += "the parameter and try again."
        yield refuse("blank_text", part.where, error, source="cloud.google.com: Vertex AI errors")


def _call(call: Node, target: Target) -> Iterator[Violation]:
    if not is_tool_name(call.text("name"), target.names):
        error = (
            "Invalid function name. Must start with a letter or an underscore. Must be alphameric "
            "(a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum "
            f"length of {target.names.max_length}."
        )
        yield refuse("bad_tool_name", call.at("name"), error, source=CALLING)
    if call.has("args") and not isinstance(call.get("args"), dict):
        error = not_a_struct(call.at("args"))
        yield refuse("arguments_not_object", call.at("args"), error, source=CALLING)


def not_a_struct(where: str) -> str:
    return f"Invalid value at '{proto_place(where)}' (type.googleapis.com/google.protobuf.Struct)"


def _response(response: Node, target: Target) -> Iterator[Violation]:
    place = f"* GenerateContentRequest.{plain(response.where)}"
    if not response.text("name"):
        error = f"{place}.name: [FIELD_INVALID] Name cannot be empty."
        yield refuse("result_without_name", response.where, error, source=CALLING)
    if not isinstance(response.get("response"), dict):
        where = response.at("response")
        yield refuse("response_not_object", where, not_a_struct(where), source=CALLING)
    for part in response.nodes("parts"):
        for name in ("inlineData", "fileData"):
            data = part.node(either(part, name))
            kind = data.text(either(data, "mimeType"))
            family = kind.partition("/")[0]
            taken = {kind, FAMILIES.get(family, family)}
            if kind and taken.isdisjoint(target.result_media):
                source = (
                    "pydantic-ai 2.66.0, profiles/google.py: images, PDF and text, from Gemini 3 on"
                )
                yield refuse("bad_result_content", part.where, source=source)


def _ends(turns: list[Turn], target: Target, *, is_open: bool) -> Iterator[Violation]:
    """`is_open`: cached content may precede the first turn."""
    is_first = bool(turns) and turns[0].role == "model" and not turns[0].calls and not is_open
    if is_first and target.starts_with_user:
        error = "Please ensure that multiturn requests alternate between user and model."
        yield refuse("must_start_with_user", turns[0].where, error, source=CALLING)
    if turns and target.ends_with_user and turns[-1].role == "model" and not turns[-1].calls:
        error = "Please ensure that multiturn requests end with a user role or a function response."
        yield refuse("must_end_with_user", turns[-1].where, error, source=CALLING)


def _merged(turns: list[Turn]) -> list[Turn]:
    """Contents of the model in a row are one turn to the API (recorded); the user's are not."""
    runs: list[list[Turn]] = []
    for turn in turns:
        if runs and turn.role == runs[-1][-1].role == "model":
            runs[-1].append(turn)
        else:
            runs.append([turn])
    return [run[0] if len(run) == 1 else _joined(run) for run in runs]


def _joined(run: list[Turn]) -> Turn:
    return Turn(
        run[0].node,
        run[0].role,
        [part for turn in run for part in turn.parts],
        [call for turn in run for call in turn.calls],
        [response for turn in run for response in turn.responses],
    )


def _pairs(turns: list[Turn], *, is_open: bool) -> Iterator[Violation]:
    """`is_open`: calls may precede the first turn."""
    seam = before_replies([turn.role for turn in turns], "model") if is_open else 0
    for at, (before, turn) in enumerate(zip([None, *turns], [*turns, None], strict=True)):
        calls = before.calls if before is not None else []
        responses = turn.responses if turn is not None else []
        is_misplaced = (before is None and not is_open) or (
            turn is not None and turn.role != "model"
        )
        if turn is not None and turn.calls and is_misplaced:
            error = (
                "Please ensure that function call turn comes immediately after a user turn or "
                "after a function response turn."
            )
            yield refuse("calls_misplaced", turn.where, error, source=CALLING)
        if at < seam:
            continue
        if responses and not calls:
            error = (
                "Please ensure that function response turn comes immediately after a function call "
                "turn."
            )
            yield refuse("orphan_result_sent", responses[0].where, error, source=CALLING)
        elif len(responses) != len(calls) and before is not None:
            yield _unequal(calls, responses, turn)
        else:
            yield from _matched(calls, responses)


def _unequal(calls: list[Node], responses: list[Node], turn: Turn | None) -> Violation:
    code, where = "unequal_results", turn.where if turn is not None else calls[0].where
    if not responses:
        code, where = "missing_result", calls[0].where
    error = (
        "Please ensure that the number of function response parts is equal to the number of "
        "function call parts of the function call turn."
    )
    return refuse(code, where, error, source=CALLING)


def _matched(calls: list[Node], responses: list[Node]) -> Iterator[Violation]:
    """Where both sides have ids, every response answers a call of its turn, once."""
    asked = [call.node(either(call, "functionCall")).text("id") for call in calls]
    given = [one.node(either(one, "functionResponse")).text("id") for one in responses]
    if not given or not all(asked) or not all(given):
        return
    times = Counter(asked)
    seen: set[str] = set()
    for id, response in zip(given, responses, strict=True):
        error = f"Function response id '{id}' does not match the calls of the function call turn."
        if id not in times:
            yield refuse("orphan_result_sent", response.where, error, source=CALLING)
        elif id in seen and times[id] == 1:
            yield refuse("duplicate_result_sent", response.where, error, source=CALLING)
        seen.add(id)


def _signatures(turns: list[Turn]) -> Iterator[Violation]:
    """In the current turn, the first call of each step carries a signature."""
    asked = [
        at
        for at, turn in enumerate(turns)
        if turn.role == "user" and len(turn.responses) < len(turn.parts)
    ]
    for turn in _merged(turns[asked[-1] + 1 :] if asked else turns):
        if not turn.calls or turn.calls[0].has(either(turn.calls[0], "thoughtSignature")):
            continue
        first = turn.calls[0]
        name = first.node(either(first, "functionCall")).text("name")
        position = turn.parts.index(first) + 1
        error = (
            "Function call is missing a thought_signature in functionCall parts. This is required "
            "for tools to work correctly, and missing thought_signature may lead to degraded model "
            f"performance. Additional data, function call `default_api:{name}`, "
            f"position {position}."
        )
        yield refuse("signature_missing", first.where, error, source=SIGNATURES)
