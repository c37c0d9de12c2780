"""Bare values and the types that schemas give them, against the table of a public engine."""

import json
import os
from pathlib import Path

import pytest

from batches import each
from canonicall import parse
from canonicall.syntax.typed_values import json_of, types_of
from canonicall.syntax.xml_values import trimmed
from vectors.support import needs_vectors

pytestmark = needs_vectors

EXCEPTIONS = {
    "null value lowercase": "null is null only where the schema allows it",
    "null value case insensitive": "null is null only where the schema allows it",
    "invalid boolean falls back to false": "a word that is no boolean stays text",
}


GEMMA = "gemma4-args"


def _rows(*, gemma: bool):
    folder = os.environ.get("CANONICALL_VECTORS")
    lines = Path(folder, "_arg_typing.jsonl").read_text().splitlines() if folder else []
    rows = [json.loads(line) for line in lines]
    chosen = [row for row in rows if (row["schema_type"] == GEMMA) == gemma]
    return [pytest.param(row, id=row["desc"]) for row in chosen]


@each("row", _rows(gemma=True))
def test_arguments_of_gemma(row):
    """Gemma writes objects in a notation of its own."""
    parsed = parse(f"<|tool_call>call:f{row['raw']}<tool_call|>", syntax="gemma4")
    assert [call.args for call in parsed.calls] == [json.loads(row["expected"])]
    assert not parsed.text


@each("row", _rows(gemma=False))
def test_bare_values(row):
    """Each value has the type that the table says, or the reason why not is named."""
    schema = {"type": row["schema_type"]["_pos"]} if row["schema_type"] else {}
    written, _ = json_of(trimmed(row["raw"]), types_of(schema, {}))
    is_as_expected = json.loads(written) == row["expected"]
    assert is_as_expected == (row["desc"] not in EXCEPTIONS)
