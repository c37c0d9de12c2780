"""Calls with their name before their arguments, and other JSON calls, against public vectors."""

import pytest
from msgspec.structs import replace

from vectors.support import Vector, by_reason, check, needs_vectors, vectors

pytestmark = needs_vectors

FORMATS = (
    "kimi_k2",
    "mistral",
    "deepseek_v3",
    "deepseek_v31",
    "cogito_deepseek",
    "solar_open",
    "cohere_command3",
    "cohere_command4",
    "command_r_action_json",
    "apertus",
    "gigachat3",
    "inkling",
    "longcat",
    "functionary_v31",
    "functionary_v32",
)
EXCEPTIONS = by_reason()
THOUGHTS = (("<think>", "</think>"), ("<|START_THINKING|>", "<|END_THINKING|>"))
OPENED_INSIDE = ("ollama-0012", "ollama-0062")
"""Thoughts that say their opening marker in the midst of them."""
AROUND = {
    "deepseek_v31": ("<\uff5ctool\u2581call\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581end\uff5c>"),
    "cogito_deepseek": ("<\uff5ctool\u2581call\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581end\uff5c>"),
}


def as_recorded(vector: Vector) -> Vector:
    """The vector with what was lost in recording it."""
    if vector.text.startswith("<bos>"):
        # Tokens that the engine takes out before there is any text.
        chunks = [without_tokens(one) for one in vector.chunks or [vector.text]]
        vector = replace(vector, text="".join(chunks), chunks=chunks)
    return replace(vector, starts_in_reasoning=starts_in_thought(vector))


def without_tokens(text: str) -> str:
    return text.replace("<bos>", "").replace("<eos>", "")


def starts_in_thought(vector: Vector) -> bool:
    """Whether the prompt has opened a thought: the text closes one and does not open it."""
    for opening, closing in THOUGHTS:
        before, found, _ = vector.text.partition(closing)
        if found and (opening not in before or vector.id in OPENED_INSIDE):
            return closing not in (vector.expected_content or "") or bool(vector.expected_reasoning)
    return False


@pytest.mark.parametrize("vector", vectors(*FORMATS))
def test_texts_of_models(vector: Vector) -> None:
    check(as_recorded(vector), vector.format, EXCEPTIONS, around=AROUND.get(vector.format))
