"""JSON calls that nothing marks but their form, against the vectors of public engines."""

from batches import each
from vectors.recorded import as_recorded
from vectors.support import Case, by_reason, case, check, needs_vectors, vectors
from vectors.vector import Vector

pytestmark = needs_vectors

FORMATS = (
    "llama3_json",
    "llama3_builtin",
    "xlam",
    "json_plain",
    "json_array_required",
    "ollama_template_generic",
    "generic_none",
)
EXCEPTIONS = by_reason(
    ("words between calls are kept; the engine drops them", "dynamo_parity-0410"),
    (
        "the engine was told to expect JSON, and takes the fence off; nobody told us",
        "llama.cpp-0295",
    ),
    (
        "two calls run into each other: the arguments are kept as they are, and cannot be read",
        "sglang-0059 sglang-0125",
    ),
    ("the engine's test looks only at the first of two calls", "smg-0121"),
    ("text behind a call does not make it text", "smg-0122"),
    ("while it streams the engine shows the fence it reads the call from as words", "vllm-3473"),
    ("JSON in the middle of prose is an example", "smg-0053 smg-0076 smg-0093 smg-0163"),
    ("arguments that are no object are kept as text", "smg-0237"),
    ("a comma before a closing bracket is mended", "smg-0239"),
    (
        "the vector lacks the tools that the engine's test offers, and this one is not among them",
        "ollama-0435",
    ),
)


def case_of(vector: Vector) -> Case:
    # The templates of ollama's tests have no marker, but for this one.
    syntax = "deepseek_v3" if vector.notes == "tmpl='deepseek'" else ""
    return case(as_recorded(vector), syntax)


@each("vector", vectors(*FORMATS))
def test_bare(vector: Vector) -> None:
    check(case_of(vector), EXCEPTIONS)
