"""Where reasoning stands in a chat message, which is different with every host.

`reasoning_content` (DeepSeek, Kimi, Z.ai, Qwen, llama.cpp), `reasoning` (Groq, Cerebras, Ollama),
`reasoning_details` (OpenRouter, MiniMax; opaque and echoed unmodified), or a chunk of the content
list (Mistral). The native fields of a Thinking block remember the field it came in.
"""

from collections.abc import Iterable
from typing import Any

from canonicall.blocks import Block, Native, Opaque, Text, Thinking
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.openai_chat import FORMAT
from canonicall.wire.openai_chat.native import HINT, field_of, own_fields, rest_of
from canonicall.wire.reading import list_at, text_at

DETAILS = "reasoning_details"
TEXT_FIELDS = ("reasoning_content", "reasoning")
REASONING_FIELDS = (*TEXT_FIELDS, DETAILS)
CHUNK = "thinking"
"""The type of Mistral's chunk, and the field of it that holds the words."""


def decode_reasoning(
    message: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> tuple[Thinking, ...]:
    """The reasoning beside the content of a message.

    Hosts that give the same text in two fields (Doubleword, Avian) mean one thought by it.
    """
    texts: dict[str, str] = {}
    for field in TEXT_FIELDS:
        text = text_at(message.get(field), f"{where}.{field}")
        if text and text not in texts.values():
            texts[field] = text
    if len(texts) > 1:
        why = "Two fields hold different reasoning; both are kept."
        findings.append(Finding("reasoning_twice", where, Action.KEPT, why, Fault.INPUT))
    details = list_at(message.get(DETAILS), f"{where}.{DETAILS}")
    if details and not texts:
        texts[DETAILS] = _words_of(details)
    thoughts = [
        Thinking(text=text, native=Native(FORMAT, {HINT: field})) for field, text in texts.items()
    ]
    if details:
        first = thoughts[0]
        opaque = (Opaque(domain, "details", details),)
        thoughts[0] = Thinking(text=first.text, opaque=opaque, native=first.native)
    return tuple(thoughts)


def encode_reasoning(thoughts: Iterable[Thinking], field: str) -> dict[str, Any]:
    """The fields for the thoughts of a request's message; none where `field` has no place here."""
    thoughts = tuple(thoughts)
    if field == DETAILS:
        details = [item for thought in thoughts for item in _details_of(thought)]
        return {DETAILS: details} if details else {}
    if field in TEXT_FIELDS and thoughts:
        return {field: "\n".join(thought.text for thought in thoughts)}
    return {}


def encode_reply_reasoning(thoughts: Iterable[Thinking]) -> dict[str, Any]:
    """The fields for the thoughts of a response: each where it came from, or the usual one."""
    fields: dict[str, Any] = {}
    for thought in thoughts:
        field = field_of(thought) or TEXT_FIELDS[0]
        if field in TEXT_FIELDS and thought.text:
            fields[field] = f"{fields[field]}\n{thought.text}" if field in fields else thought.text
        details = _details_of(thought)
        if details:
            fields[DETAILS] = [*fields.get(DETAILS, ()), *details]
    return fields


def decode_thinking_chunk(part: dict[str, Any], where: str, domain: str) -> Thinking:
    """Mistral's chunk: `{type: thinking, thinking: [{type: text, text}], signature?, closed?}`."""
    held = part.get("thinking")
    chunks = [{"type": "text", "text": held}] if isinstance(held, str) else held
    chunks = list_at(chunks, f"{where}.thinking")
    text = "".join(
        chunk["text"]
        for chunk in chunks
        if isinstance(chunk, dict) and isinstance(chunk.get("text"), str)
    )
    fields = {HINT: "content", **rest_of(part, ("type", "thinking", "signature"))}
    if chunks != [{"type": "text", "text": text}]:
        fields["thinking"] = chunks
    signature = part.get("signature")
    opaque = () if signature is None else (Opaque(domain, "signature", signature),)
    return Thinking(text=text, opaque=opaque, native=Native(FORMAT, fields))


def encode_thinking_chunk(thought: Thinking) -> dict[str, Any]:
    fields = own_fields(thought.native)
    chunks = fields.get("thinking", [{"type": "text", "text": thought.text}])
    part: dict[str, Any] = {"type": "thinking", "thinking": chunks}
    for opaque in thought.opaque:
        if opaque.kind == "signature":
            part["signature"] = opaque.value
    rest = {name: field for name, field in fields.items() if name not in (HINT, "thinking")}
    return part | rest


def as_instruction(block: Block) -> Block:
    """A chunk that is not the model's shows it how to think, as Magistral's prompt does.

    It is words to hosts without such chunks.
    """
    if not isinstance(block, Thinking):
        return block
    return Text(text=block.text, native=Native(FORMAT, {CHUNK: encode_thinking_chunk(block)}))


def instructing_chunk(text: Text) -> dict[str, Any] | None:
    """The chunk of a text that was one, with the words that it has now."""
    chunk = own_fields(text.native).get(CHUNK)
    if not isinstance(chunk, dict):
        return None
    if decode_thinking_chunk(chunk, "$", "").text == text.text:
        return chunk
    return chunk | {CHUNK: [{"type": "text", "text": text.text}]}


def _details_of(thought: Thinking) -> list[Any]:
    return [
        item
        for opaque in thought.opaque
        if opaque.kind == "details" and isinstance(opaque.value, list)
        for item in opaque.value
    ]


def _words_of(details: list[Any]) -> str:
    """The readable part of reasoning details: `reasoning.text` and `reasoning.summary`."""
    words = (item.get("text") or item.get("summary") for item in details if isinstance(item, dict))
    return "\n".join(word for word in words if isinstance(word, str) and word)
