"""Python's form, Gemma's and Harmony, against the vectors of public engines."""

from msgspec.structs import replace

from batches import each
from vectors.recorded import as_recorded
from vectors.support import Case, by_reason, case, check, needs_vectors, vectors
from vectors.vector import Vector

pytestmark = needs_vectors

FORMATS = ("pythonic", "llama4_pythonic", "lfm2", "olmo3", "gemma4", "functiongemma", "harmony")
AROUND = {"lfm2": ("<|tool_call_start|>", "<|tool_call_end|>")}
EXCEPTIONS = by_reason(
    (
        "words behind and between calls are kept; the engine drops them",
        "dynamo_parity-0150 dynamo_parity-0175",
    ),
    (
        "`<|call|>` is a stop token, which servers take out of the text: without it a call is whole",
        "dynamo_parity-0235 dynamo_parity-0238 dynamo_parity-0262",
    ),
    ("a call that is whole counts, though its list is not closed", "dynamo_parity-0627"),
    ("a missing bracket behind the arguments is added", "dynamo_parity-0626"),
    ("a blank between the brackets of a call says nothing", "dynamo_parity-0633"),
    ("a call of Gemma without brackets is a call without arguments", "dynamo_parity-0165"),
    ("an escape in a text of Python is undone", "ollama-0226 ollama-0233"),
    (
        "a number or bool without quotes is one; the schema that says otherwise is not in the vector",
        "vllm-0694 vllm-0699 vllm-0703",
    ),
)
CALL_NOT_STATED = ("ollama-0120", "ollama-0121", "ollama-0122")
"""The engine's test looks only at the words; the vector says that there is no call."""
TOOLS_OFF = by_reason(
    (
        "tools were switched off, so the engine looks for no calls",
        "vllm-0634 vllm-0635 vllm-0639 vllm-1978 vllm-1979 vllm-1980 vllm-1996 vllm-1997 vllm-1998",
    )
)


def case_of(vector: Vector) -> Case:
    if vector.id in CALL_NOT_STATED:
        vector = replace(vector, expected_calls=[{"name": None}])
    around = AROUND.get(vector.format)
    return case(as_recorded(vector), around=around, skipped=TOOLS_OFF.get(vector.id, ""))


@each("vector", vectors(*FORMATS))
def test_vector(vector: Vector) -> None:
    check(case_of(vector), EXCEPTIONS)
