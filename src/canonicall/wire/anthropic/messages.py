"""Messages, both ways.

A user message of the wire may hold results and the user's own words; canonically the results are a
message of role "tool" and come first.
"""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Native, Origin, Role, ToolResult, Unknown
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.transcript.turns import Turn
from canonicall.wire.anthropic.blocks import decode_block, encode_block, server_block
from canonicall.wire.anthropic.content import is_plain_text, is_search_result
from canonicall.wire.anthropic.extras import decode_rest, with_extras
from canonicall.wire.anthropic.instructions import FIELDS as ONLY_OF_INSTRUCTIONS
from canonicall.wire.anthropic.instructions import sound_instructions
from canonicall.wire.anthropic.usual import usual_block, usual_message
from canonicall.wire.reading import list_at, object_at, text_at
from canonicall.wire.writing import words_of

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
# SDK beta_system_message_param.py: beside text.
_INSTRUCTING = ("tool_addition", "tool_removal")
_WIRE_ROLES = {"tool": "user", "developer": "system"}


def decode_system(system: Any, domain: str, findings: list[Finding]) -> list[Message]:
    """The instructions at the top of a request, as the first message."""
    blocks = _as_words(decode_content(system, "$.system", domain, findings), "$.system", findings)
    return [Message("system", blocks)] if blocks else []


def decode_messages(
    messages: Any, origin: Origin, domain: str, findings: list[Finding], *, first: int = 0
) -> list[Message]:
    """The messages of a request, from this one on."""
    decoded: list[Message] = []
    for index, value in enumerate(list_at(messages, "$.messages")[first:], first):
        usual = usual_message(value, origin)
        if usual is not None:
            decoded.append(usual)
        else:
            decoded += decode_message(value, f"$.messages[{index}]", origin, domain, findings)
    return decoded


def decode_message(
    value: Any, where: str, origin: Origin, domain: str, findings: list[Finding]
) -> list[Message]:
    """One message, whatever is in it."""
    message = object_at(value, where)
    role = _role_at(message.get("role"), f"{where}.role")
    if any(message.get(name) is not None for name in ONLY_OF_INSTRUCTIONS):
        message = sound_instructions(message, where, findings)
    blocks = decode_content(message.get("content"), f"{where}.content", domain, findings)
    native = decode_rest(message, "role", "content")
    if role == "user":
        return _split(blocks, native, where, findings)
    if role == "system":
        blocks = _as_words(blocks, f"{where}.content", findings)
        blocks = tuple(map(_of_instructions, blocks))
    made_by = origin if role == "assistant" else None
    return [Message(role, blocks, origin=made_by, native=native)]


def message_places(body: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The path of each message that the decoder makes of `body`."""
    if isinstance(body.get("system"), str) or body.get("system"):
        yield ("$.system",)
    for index, message in enumerate(list_at(body.get("messages"), "$.messages")):
        content = message.get("content")
        parts = content if isinstance(content, list) and message.get("role") == "user" else ()
        is_mixed = len({_is_result_part(part) for part in parts}) > 1
        count = len(decode_message(message, "", Origin(), "", [])) if is_mixed else 1
        yield from [(f"$.messages[{index}]",)] * count


def decode_content(
    content: Any, where: str, domain: str, findings: list[Finding]
) -> tuple[Block, ...]:
    """The blocks of a message's content; a string is one block of text."""
    if isinstance(content, str):
        return (decode_block({"type": "text", "text": content}, where, domain, findings),)
    return tuple(
        [
            usual_block(block) or decode_block(block, f"{where}[{n}]", domain, findings)
            for n, block in enumerate(list_at(content, where))
        ]
    )


def encode_turn(turn: Turn, target: Target) -> list[dict[str, Any]]:
    """A turn as one wire message. Results travel in a message of the user."""
    role = _WIRE_ROLES.get(turn.role, turn.role)
    wire = {"role": role, "content": encode_content(turn.blocks, target)}
    return [wire if turn.native is None else with_extras(wire, native=turn.native)]


def encode_content(blocks: tuple[Block, ...], target: Target) -> str | list[dict[str, Any]]:
    """Content of `blocks`: a string where it is one piece of plain text, else a list."""
    if len(blocks) == 1 and is_plain_text(blocks[0]):
        return words_of(blocks[0])
    return [encode_block(block, target) for block in blocks]


def _role_at(value: Any, where: str) -> Role:
    role = _ROLES.get(text_at(value, where))
    if role is None:
        raise MalformedBody(f"{value!r} is not a role of this format.", where=where)
    return role


def _split(
    blocks: tuple[Block, ...], native: Native | None, where: str, findings: list[Finding]
) -> list[Message]:
    """A user message as the results in it and what the user says beside them."""
    results = tuple(block for block in blocks if _is_result(block))
    rest = tuple(block for block in blocks if not _is_result(block))
    if not results:
        return [Message("user", rest, native=native)]
    if not rest:
        return [Message("tool", results, native=native)]
    first_other = next(n for n, block in enumerate(blocks) if not _is_result(block))
    if first_other < len(results):
        why = "Results stood behind other content of their message; they come first now."
        at = f"{where}.content[{first_other}]"
        findings.append(Finding("results_moved", at, Action.MOVED, why, Fault.INPUT))
    return [Message("tool", results), Message("user", rest, native=native)]


def _as_words(blocks: tuple[Block, ...], where: str, findings: list[Finding]) -> tuple[Block, ...]:
    """Instructions with the text of search results in their place: only users and tools send any.

    Source: SDK beta_system_message_param.py.
    """
    if not any(map(is_search_result, blocks)):
        return blocks
    for at, block in enumerate(blocks):
        if is_search_result(block):
            why = "Instructions hold no search results; it is sent as its text."
            place = f"{where}[{at}]"
            findings.append(Finding("fields_dropped", place, Action.CHANGED, why, Fault.INPUT))
    return tuple(replace(one, native=None) if is_search_result(one) else one for one in blocks)


def _of_instructions(block: Block) -> Block:
    """A block of a message of instructions; a type that these do not have is sent to nobody."""
    if not isinstance(block, Unknown) or block.native is None:
        return block
    is_known = block.native.fields.get("type") in _INSTRUCTING
    return block if is_known else replace(block, native=Native("", block.native.fields))


def _is_result_part(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "tool_result"


def _is_result(block: Block) -> bool:
    return isinstance(block, ToolResult) and server_block(block) is None
