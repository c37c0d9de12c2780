"""Texts that engines read in different ways: we read each as one of them does, or say why not.

What we decide where they differ stands in docs/syntaxes.md.
"""

from batches import each
from canonicall.syntax.parsing import Parsed
from vectors.comparing import agrees
from vectors.support import by_reason, case, check_pieces, divergent_vectors, needs_vectors
from vectors.vector import Vector

pytestmark = needs_vectors

OUR_OWN = by_reason(
    (
        "words behind and between calls are kept, and calls behind them count",
        """
        dynamo_parity-0099 dynamo_parity-0326 dynamo_parity-0467 dynamo_parity-0487
        dynamo_parity-0488 dynamo_parity-0601 dynamo_parity-0642
        """,
    ),
    (
        "a call without its opening marker is text, and a token that closes nothing is none",
        "dynamo_parity-0162",
    ),
    ("tags that no model writes are text behind the call", "dynamo_parity-0429"),
    (
        "a call that says no name is none; its text is kept, and no engine keeps it",
        "dynamo_parity-0007 dynamo_parity-0046 dynamo_parity-0198",
    ),
    ("a missing bracket is added, with a finding", "dynamo_parity-0006"),
    ("arguments of Harmony that are no JSON are one text, `input`", "dynamo_parity-0232"),
    (
        "where nothing marks a call only tools that were offered are called; the rest is text",
        "dynamo_parity-0653 dynamo_parity-0654",
    ),
)
"""Texts that no engine reads as we do, each with the reason."""


@each("vector", divergent_vectors)
def test_one_engine_at_least_agrees(vector: Vector) -> None:
    """And the text is read the same in all pieces, which few engines manage."""
    one = case(vector)
    parsed = Parsed(check_pieces(one), one.syntax.name)
    agreeing = [
        engine
        for engine, answer in (vector.alt_expected or {}).items()
        if agrees(answer, vector, parsed)
    ]
    assert bool(agreeing) != (vector.id in OUR_OWN), agreeing or parsed
