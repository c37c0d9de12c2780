"""Contents to messages, and turns to contents.

A content is one message of "user" or "model". The results in it become a message of their own,
before the rest of it.
"""

from collections.abc import Iterator
from typing import Any

from canonicall.blocks import Block, Message, Origin, Text, ToolResult
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.transcript.turns import Turn
from canonicall.wire.gemini import FORMAT
from canonicall.wire.gemini.fields import fields_at, many_at, own_fields
from canonicall.wire.gemini.parts import decode_parts, encode_parts
from canonicall.wire.reading import native_fields, text_at

_MODEL = "model"
_RESULTS = {
    *("functionResponse", "function_response", "toolResponse", "tool_response"),
    *("codeExecutionResult", "code_execution_result"),
}
"""Parts that can become results, which are messages apart."""
# "function" is what the first version of the API called it, "tool" what the google-genai README
# writes for function responses. A missing role is the user's.
_USER = ("user", "function", "tool", "")


def decode_contents(
    contents: Any, *, domain: str, origin: Origin, findings: list[Finding]
) -> list[Message]:
    """The messages in `contents`: a list, a single content, or only text."""
    if isinstance(contents, str):
        contents = [contents]
    messages: list[Message] = []
    for index, content in enumerate(many_at(contents, "$.contents")):
        where = f"$.contents[{index}]"
        if isinstance(content, str):
            messages.append(Message("user", (Text(text=content),)))
        else:
            messages += _decode_content(content, where, domain, origin, findings)
    return messages


def decode_system(instruction: Any, *, domain: str, findings: list[Finding]) -> list[Message]:
    """The system message in a `systemInstruction`: text, a content, or a list of parts."""
    where, native = "$.systemInstruction", None
    match instruction:
        case None:
            return []
        case str():
            parts: Any = [{"text": instruction}]
        case list():
            parts = instruction
        case _:
            fields = fields_at(instruction, where)
            parts, native = fields.get("parts"), native_fields(FORMAT, fields, ("role", "parts"))
            where = f"{where}.parts"
    if isinstance(parts, str):
        parts = [parts]
    blocks = decode_parts(parts, where, domain, findings)
    return [Message("system", tuple(blocks), native=native)] if blocks else []


def message_places(body: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The path of each message that the decoder makes of `body`."""
    fields = fields_at(body, "$")
    for _ in decode_system(fields.get("systemInstruction"), domain="", findings=[]):
        yield ("$.systemInstruction",)
    contents = fields.get("contents")
    listed = [contents] if isinstance(contents, str) else many_at(contents, "$.contents")
    for index, content in enumerate(listed):
        count = 1
        if isinstance(content, dict) and _has_results(content):
            count = len(_decode_content(content, "", "", Origin(), []))
        yield from [(f"$.contents[{index}]",)] * count


def encode_turn(turn: Turn, target: Target) -> list[dict[str, Any]]:
    """The content for a turn."""
    by_model = turn.role == "assistant"
    parts = encode_parts(turn.blocks, by_model=by_model, domain=target.domain)
    known = {"role": _MODEL if by_model else "user", "parts": parts}
    if turn.native is None:
        return [known]
    return [{**known, **_extra(own_fields(turn.native), known)}]


def encode_system(turns: list[Turn], target: Target) -> dict[str, Any] | None:
    """The `systemInstruction` for the turns of a system."""
    blocks = [block for turn in turns for block in turn.blocks]
    parts = encode_parts(blocks, by_model=False, domain=target.domain)
    return {"parts": parts} if parts else None


def _decode_content(
    content: Any, where: str, domain: str, origin: Origin, findings: list[Finding]
) -> list[Message]:
    fields = fields_at(content, where)
    role = text_at(fields.get("role"), f"{where}.role").lower()
    if role != _MODEL and role not in _USER:
        raise MalformedBody(f"there is no role {role!r}.", where=f"{where}.role")
    parts = fields.get("parts")
    if isinstance(parts, str):
        parts = [parts]
    blocks = decode_parts(parts, f"{where}.parts", domain, findings)
    results = tuple(block for block in blocks if _is_result(block, role))
    rest = tuple(block for block in blocks if not _is_result(block, role))
    native = native_fields(FORMAT, fields, ("role", "parts"))
    answers = [Message("tool", results, native=None if rest else native)] if results else []
    if role != _MODEL:
        if results and rest and tuple(blocks[: len(results)]) != results:
            why = "Results stood behind other parts of their content; they come first now."
            findings.append(Finding("results_moved", where, Action.MOVED, why, Fault.INPUT))
        return [*answers, Message("user", rest, native=native)] if rest or not results else answers
    if answers:
        why = "A model content held function responses; they were written as results behind it."
        findings.append(Finding("result_in_wrong_role", where, Action.MOVED, why, Fault.INPUT))
    if not rest and results:
        return answers
    return [Message("assistant", rest, origin=origin, native=native), *answers]


def _has_results(content: dict[str, Any]) -> bool:
    parts = content.get("parts")
    listed = parts if isinstance(parts, list) else [parts]
    return any(isinstance(one, dict) and not _RESULTS.isdisjoint(one) for one in listed)


def _is_result(block: Block, role: str) -> bool:
    """Whether a block goes into a message of results. What Google ran stays with the model."""
    if not isinstance(block, ToolResult):
        return False
    return role != _MODEL or not any(one.kind == "server_block" for one in block.opaque)


def _extra(fields: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    return {name: field for name, field in fields.items() if name not in known}
