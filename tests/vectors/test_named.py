"""Calls with their name before their arguments, and other JSON calls, against public vectors."""

import ast

from msgspec.structs import replace

from batches import each
from vectors.recorded import GENERATION_PROMPT, without_turn_tokens
from vectors.support import Case, by_reason, case, check, needs_vectors, vectors
from vectors.vector import Vector

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
EXCEPTIONS = by_reason(
    (
        "words behind the calls are kept; the engine drops them",
        """
        dynamo_parity-0026 dynamo_parity-0042 dynamo_parity-0063 dynamo_parity-0348
        dynamo_parity-0371 dynamo_parity-0373 smg-0020 smg-0152 vllm-0007 vllm-3206 vllm-3297
        vllm-3298 vllm_rust-0008
        """,
    ),
    (
        "a call whose closing marker is missing counts, if its arguments are whole",
        "dynamo_parity-0353",
    ),
    (
        "a call without arguments is a call with none",
        "dynamo_parity-0016 dynamo_parity-0363 sglang-0151",
    ),
    (
        "a call whose arguments cannot be read is kept with their text, and no args",
        "dynamo_parity-0470 sglang-0147 smg-0023 smg-0028 smg-0069",
    ),
    ("arguments without their fence are plainly meant as arguments", "dynamo_parity-0008"),
    (
        "what is no call stays text; the engine drops it",
        "dynamo_parity-0350 ollama-0007 ollama-0066 sglang-0330",
    ),
    (
        "what is no call stays text, with the marker that opened it; the engine drops that",
        "sglang-0023 sglang-0029",
    ),
    ("calls behind one that could not be read are calls", "sglang-0033"),
    ("markers that only frame or close calls are no text", "sglang-0066 smg-0070"),
    (
        "a call without a name cannot be run: its text is kept; the engine gives a call named nothing",
        "sglang-0028 vllm-0037 vllm-0038 vllm-2508 vllm-2509",
    ),
    ("an id without a counter is a name as well", "vllm-3186"),
    ("the engine's test makes it fail behind the first call", "sglang-0239"),
    ("JSON has no NaN: it is null", "sglang-0024"),
    ("a header that is no tool that was offered cannot be told from words", "vllm-0788"),
    (
        "the engine was told to expect JSON, and takes the fence off; nobody told us",
        "llama.cpp-0031",
    ),
    (
        "citations stay in the words: they tell what a sentence rests on, and the engine drops them",
        "vllm-2547 vllm-2555",
    ),
)
TOOLS_OFF = by_reason(
    (
        "tools were switched off, so the engine looks for no calls",
        "vllm-0649 vllm-0650 vllm-0756 vllm-0757 vllm-2044 vllm-2045 vllm-2046",
    )
)
THOUGHTS = (("<think>", "</think>"), ("<|START_THINKING|>", "<|END_THINKING|>"))
OPENED_INSIDE = ("ollama-0012", "ollama-0062")
"""Thoughts that say their opening marker in the midst of them."""
IN_A_CALL = ("<\uff5ctool\u2581call\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581end\uff5c>")
AROUND = {"deepseek_v31": IN_A_CALL, "cogito_deepseek": IN_A_CALL}


def as_recorded(vector: Vector) -> Vector:
    """The vector with what was lost in recording it."""
    prompt = GENERATION_PROMPT.search(vector.notes or "")
    if prompt is not None:
        # The engine reads on from the last words of the prompt.
        text = ast.literal_eval(prompt[1]) + vector.text
        return replace(vector, text=text, starts_in_reasoning=False)
    vector = without_turn_tokens(vector)
    return replace(vector, starts_in_reasoning=starts_in_thought(vector))


def starts_in_thought(vector: Vector) -> bool:
    """Whether the prompt has opened a thought: the text closes one and does not open it."""
    for opening, closing in THOUGHTS:
        before, found, _ = vector.text.partition(closing)
        if found and (opening not in before or vector.id in OPENED_INSIDE):
            return closing not in (vector.expected_content or "") or bool(vector.expected_reasoning)
    return False


def case_of(vector: Vector) -> Case:
    around = AROUND.get(vector.format)
    return case(as_recorded(vector), around=around, skipped=TOOLS_OFF.get(vector.id, ""))


@each("vector", vectors(*FORMATS))
def test_texts_of_models(vector: Vector) -> None:
    check(case_of(vector), EXCEPTIONS)
