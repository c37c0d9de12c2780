"""JSON calls that nothing marks but their form, against the vectors of public engines."""

import pytest

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
    ("text behind the calls is kept", "dynamo_parity-0410"),
    ("a fence that holds no call stays as it is: it is the answer", "llama.cpp-0295"),
    (
        "two calls run into each other: the arguments are kept as they are, and cannot be read",
        "sglang-0059 sglang-0125",
    ),
    ("the vector names the first of two calls only", "smg-0121 smg-0163"),
    ("text behind a call does not make it text", "smg-0122"),
    ("the engine reads the fence whole, and not where it streams; it is a call", "vllm-3473"),
    ("JSON in the middle of prose is an example", "smg-0053 smg-0076 smg-0093"),
    ("arguments that are no object are kept as text", "smg-0237"),
    ("a comma before a closing bracket is mended", "smg-0239"),
    ("the template of this test is DeepSeek's, which is a syntax of its own", "ollama-0431"),
    ("the template of this test is DeepSeek's, which is a syntax of its own", "ollama-0432"),
    ("the vector lacks the list of tools, in which this one is not", "ollama-0435"),
)


def case_of(vector: Vector) -> Case:
    return case(as_recorded(vector))


@pytest.mark.parametrize("vector", vectors(*FORMATS))
def test_bare(vector: Vector) -> None:
    check(case_of(vector), EXCEPTIONS)
