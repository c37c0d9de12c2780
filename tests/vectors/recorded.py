"""Vectors with what was lost when they were recorded."""

import ast
import json
import re

from msgspec.structs import replace

from canonicall.syntax.registry import get_syntax
from vectors.vector import Vector

RAW_BODIES = "expected raw call bodies: "
GENERATION_PROMPT = re.compile(r"generation_prompt=('[^']*'|\"[^\"]*\")")
_LAST_WORDS = re.compile(r"[^>\n]*\Z")


def as_recorded(vector: Vector) -> Vector:
    """The vector as its engine saw it."""
    return thoughts_apart(words_of_prompt(vector))


def words_of_prompt(vector: Vector) -> Vector:
    """With the words that the prompt ends in, where the engine reads on from them.

    A thought that the prompt has opened, and the role before it, are no such words.
    """
    found = GENERATION_PROMPT.search(vector.notes or "")
    prompt = ast.literal_eval(found[1]) if found is not None else ""
    words = _LAST_WORDS.search(prompt)
    last = "" if words is None else words[0]
    said = f"{vector.expected_content or ''}{vector.expected_reasoning or ''}"
    if not last.strip() or last.strip() not in said or last in vector.text:
        return vector
    openings = [opening for opening, _ in get_syntax(vector.format).thinking if opening in prompt]
    begun = prompt[prompt.index(openings[0]) :] if openings else last
    starts = False if openings else vector.starts_in_reasoning
    return replace(vector, text=begun + vector.text, chunks=None, starts_in_reasoning=starts)


def with_segments(vector: Vector) -> Vector:
    """With the calls that the notes say, where the bodies between the markers are any."""
    notes = vector.notes or ""
    if vector.mode != "stream_segments" or not notes.startswith(RAW_BODIES):
        return vector
    bodies = json.loads(notes.removeprefix(RAW_BODIES))
    if not all("name" in body for body in bodies):
        return vector
    calls = [{"name": body["name"], "arguments": body["args"]} for body in bodies]
    return replace(vector, mode="stream", expected_calls=calls)


def thoughts_apart(vector: Vector) -> Vector:
    """With the thought apart from the words, where the engine's reader of calls ran alone."""
    content = vector.expected_content or ""
    for opening, closing in get_syntax(vector.format).thinking:
        before, is_opened, rest = content.partition(opening)
        thought, is_closed, behind = rest.partition(closing)
        if vector.expected_reasoning is None and is_opened and is_closed:
            return replace(vector, expected_content=before + behind, expected_reasoning=thought)
    return vector


def without_turn_tokens(vector: Vector) -> Vector:
    """Without the tokens that the engine takes out before there is any text."""
    if not vector.text.startswith("<bos>"):
        return vector
    chunks = [
        one.replace("<bos>", "").replace("<eos>", "") for one in vector.chunks or [vector.text]
    ]
    return replace(vector, text="".join(chunks), chunks=chunks)
