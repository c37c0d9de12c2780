"""Hermes and its heirs against the vectors of public engines."""

import json

from batches import each
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_calls import json_opener
from vectors.recorded import as_recorded
from vectors.support import Case, by_reason, case, check, needs_vectors, vectors
from vectors.vector import Vector

pytestmark = needs_vectors

FORMATS = ("hermes", "granite4", "reka_edge", "ernie45")
EXCEPTIONS = by_reason(
    (
        "the reader neither changes nor drops arguments by their schema: the guard does, if asked",
        """
        ai-sdk-middleware-0052 ai-sdk-middleware-0054 ai-sdk-middleware-0055
        ai-sdk-middleware-0056 ai-sdk-middleware-0057 ai-sdk-middleware-0058
        ai-sdk-middleware-0072 ai-sdk-middleware-0078 ai-sdk-middleware-0079
        ai-sdk-middleware-0080 ai-sdk-middleware-0081 ai-sdk-middleware-0082
        ai-sdk-middleware-0098 ai-sdk-middleware-0101 ai-sdk-middleware-0102
        ai-sdk-middleware-0103 ai-sdk-middleware-0106 ai-sdk-middleware-0124
        ai-sdk-middleware-0126 ai-sdk-middleware-0132 ai-sdk-middleware-0144
        ai-sdk-middleware-0153 ai-sdk-middleware-0154 ai-sdk-middleware-0229
        ai-sdk-middleware-0236 ai-sdk-middleware-0248
        """,
    ),
    (
        "a member called __proto__ or constructor is dangerous in JavaScript only",
        """
        ai-sdk-middleware-0059 ai-sdk-middleware-0063 ai-sdk-middleware-0064
        ai-sdk-middleware-0065 ai-sdk-middleware-0067 ai-sdk-middleware-0097
        ai-sdk-middleware-0230
        """,
    ),
    (
        "a call whose JSON is whole counts, though its closing tag is missing or cut",
        """
        ai-sdk-middleware-0026 ai-sdk-middleware-0028 ai-sdk-middleware-0405
        ai-sdk-middleware-0406 smg-0060 smg-0191
        """,
    ),
    (
        "a call whose arguments cannot be read is kept with their text, and no args",
        "ai-sdk-middleware-0033 ai-sdk-middleware-0051 ai-sdk-middleware-0094",
    ),
    (
        "a quote inside a string that is not escaped is mended in all calls alike",
        "ai-sdk-middleware-0086 ai-sdk-middleware-0091",
    ),
    (
        "a quote and a bracket behind it look like the end of a string: nobody can tell",
        "ai-sdk-middleware-0038",
    ),
    (
        "a value without quotes is no fault of models that is worth a guess",
        "ai-sdk-middleware-0402",
    ),
    (
        "a call without arguments is a call with none; the engine takes it for words",
        "ai-sdk-middleware-0170",
    ),
    (
        "arguments that are called otherwise are arguments; the engine calls without any",
        "ai-sdk-middleware-0047",
    ),
    (
        "words behind calls and before their closing tag are kept; the engine drops them",
        """
        ai-sdk-middleware-0182 dynamo_parity-0266 dynamo_parity-0288 dynamo_parity-0663
        dynamo_parity-0679 smg-0193
        """,
    ),
    ("brackets missing before the closing tag are mended", "dynamo_parity-0665"),
    (
        "a tag with nothing behind it is text, with a finding; the engine drops it",
        "lmdeploy-0019 lmdeploy-0022 ollama-0362",
    ),
    (
        "the beginning of a tag at the very end is text; the engine holds it back for ever",
        "ollama-0378",
    ),
    ("calls inside of a thought are drafts and part of it", "lmdeploy-0023"),
    ("the line end behind the opening tag is not needed", "vllm_rust-0098"),
    (
        "the made-up opening marker is a word of the JSON: inside of it, it ends the call",
        "ai-sdk-middleware-0430 ai-sdk-middleware-0431 ai-sdk-middleware-0432",
    ),
)


def case_of(vector: Vector) -> Case:
    return case(as_recorded(vector), _own_markers(vector) or "")


@each("vector", vectors(*FORMATS))
def test_hermes_and_heirs(vector: Vector) -> None:
    check(case_of(vector), EXCEPTIONS)


def _own_markers(vector: Vector) -> Syntax | None:
    """The same syntax between markers that a test made up."""
    notes = vector.notes or ""
    if "toolCallStart" not in notes:
        return None
    options = json.loads(notes.removeprefix("opts="))
    opener = json_opener(options["toolCallStart"], options["toolCallEnd"])
    return Syntax(name="made_up", openers=(opener,))
