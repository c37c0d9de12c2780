"""JSON calls behind markers, against the vectors of public engines."""

from batches import each
from vectors.recorded import as_recorded
from vectors.support import Case, by_reason, case, check, needs_vectors, vectors
from vectors.vector import Vector

pytestmark = needs_vectors

FORMATS = (
    "granite3",
    "granite_20b_fc",
    "jamba",
    "hunyuan_a13b",
    "apriel",
    "minimax_m1",
    "nemotron_toolcall",
    "internlm2",
    "phi4_mini",
    "firefunction_v2",
    "sarashina",
)
EXCEPTIONS = by_reason(
    (
        "while it streams the engine shows the marker of the calls as words; it is none",
        "vllm-3108 vllm-3110 vllm-3114 vllm-3120 vllm-3122",
    ),
    ("the engine loses the arguments of the second call; they are whole", "vllm-3123"),
    ("a list behind the marker is plainly meant as calls", "vllm-3097 vllm-3101"),
    (
        "what is no call stays text; the engine drops it",
        "vllm-3099 vllm-3378 dynamo_parity-0515 dynamo_parity-0620",
    ),
    (
        "words behind the calls are kept; the engine drops them",
        "dynamo_parity-0304 dynamo_parity-0511 dynamo_parity-0531 vllm-0057",
    ),
    ("words before and behind the calls are kept; the engine drops both", "vllm-3372"),
    (
        "a call whose arguments cannot be read is kept with their text, and no args",
        "dynamo_parity-0307",
    ),
    ("calls in a second block count as those in the first", "dynamo_parity-0533"),
    ("a call without arguments is a call with none", "dynamo_parity-0524 vllm-3377"),
    ("arguments that are no object are kept as text", "vllm-3375"),
    (
        "a call whose JSON is whole counts, though the list is not closed; the text before is kept",
        "dynamo_parity-0585 dynamo_parity-0588 dynamo_parity-0589 dynamo_parity-0618",
    ),
)


def case_of(vector: Vector) -> Case:
    return case(as_recorded(vector))


@each("vector", vectors(*FORMATS))
def test_marked(vector: Vector) -> None:
    check(case_of(vector), EXCEPTIONS)
