"""Texts of models as the content of a structured reply: what a host is known to print is read."""

import pytest

from batches import each
from vectors.leaks import leaking, outcome
from vectors.support import Case, by_reason, needs_vectors

pytestmark = needs_vectors

EXCEPTIONS = by_reason(
    (
        "text follows a call: in a reply that is no more than text, it may be shown",
        """
        ai-sdk-middleware-0276 ai-sdk-middleware-0279 ai-sdk-middleware-0368 dynamo_parity-0026
        dynamo_parity-0042 dynamo_parity-0063 dynamo_parity-0098 dynamo_parity-0134
        dynamo_parity-0196 dynamo_parity-0214 dynamo_parity-0251 dynamo_parity-0266
        dynamo_parity-0288 dynamo_parity-0304 dynamo_parity-0348 dynamo_parity-0371
        dynamo_parity-0373 dynamo_parity-0408 dynamo_parity-0410 dynamo_parity-0452
        dynamo_parity-0511 dynamo_parity-0531 dynamo_parity-0563 dynamo_parity-0663
        dynamo_parity-0679 sglang-0052 sglang-0060 sglang-0245 sglang-0285 sglang-0289
        vllm-3305 vllm-3317 vllm-3333 vllm-3334 vllm-3462 vllm-3463 vllm-3464
        """,
    ),
    (
        "tags follow a call that belong to no syntax: they are text",
        "ai-sdk-middleware-0182 ai-sdk-middleware-0272",
    ),
    ("a call of a tool that was not offered is text", "vllm-0797"),
)
"""Vectors that are not recovered as their syntax reads them, each with the reason."""


def cases() -> list[pytest.param]:
    return [pytest.param(one, id=one.vector.id) for one in leaking()]


@each("one", cases)
def test_a_leak_is_read_as_its_syntax_reads_it(one: Case) -> None:
    why = EXCEPTIONS.get(one.vector.id)
    if why is None:
        assert outcome(one) == "recovered"
    else:
        assert outcome(one) != "recovered", f"it needs no exception: {why}"
        pytest.xfail(why)
