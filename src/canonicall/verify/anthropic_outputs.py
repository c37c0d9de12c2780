"""What the Messages API and Converse refuse of the format of the reply.

Its schema is compiled as those of strict tools are, and together with them.
"""

from collections.abc import Iterator

import msgspec

from canonicall.facts.target import Target
from canonicall.verify.anthropic_schemas import (
    LIMITATIONS,
    TAKEN_BY_CONVERSE,
    held_violations,
    strict_roots,
    too_complex,
)
from canonicall.verify.bedrock_constraints import one_of, unmet
from canonicall.verify.metaschema import DRAFT_2020, faults
from canonicall.verify.node import Node, dotted
from canonicall.verify.outputs import Asked, OutputWords, of_output, output_violations
from canonicall.verify.schemas import Spot
from canonicall.verify.violation import Violation, refuse

WORDS = OutputWords(LIMITATIONS)
CONVERSE = "docs.aws.amazon.com: get validated JSON results from models"

CLAUDE_BEHIND = OutputWords(
    "vercel/ai#17919, ax-llm/ax#667",
    "The model returned the following errors: output_config.format: Extra inputs are not permitted",
)


def messages_output(root: Node, target: Target) -> Iterator[Violation]:
    """`output_config.format`, and `output_format` of the beta."""
    config = root.node("output_config")
    form = config.node("format") if config.has("format") else root.node("output_format")
    if not form.fields:
        return
    where = form.at("schema")
    if form.text("type") != "json_schema":
        error = f"{dotted(form.at('type'))}: Input should be 'json_schema'"
        yield refuse("bad_output_format", form.at("type"), error, source=LIMITATIONS)
    elif not isinstance(form.get("schema"), dict):
        error = f"{dotted(where)}: Input should be a valid dictionary"
        yield refuse("bad_output_format", where, error, source=LIMITATIONS)
    else:
        yield from output_violations(Asked(form.where, "schema"), target, WORDS)
        if target.schemas.checked:
            reply, tools = Spot(form.get("schema"), where), strict_roots(root.nodes("tools"))
            yield from of_output(_compiled(reply))
            if not any(too_complex(tools, "$.tools")):
                yield from of_output(too_complex([*tools, reply], where))


def converse_output(root: Node, target: Target) -> Iterator[Violation]:
    """`outputConfig.textFormat`, whose schema is a text."""
    config = root.node("outputConfig")
    if not config.has("textFormat"):
        return
    form = config.node("textFormat")
    held = form.node("structure").node("jsonSchema")
    schema = _read(held.text("schema"))
    if form.text("type") != "json_schema":
        error = unmet(form.at("type"), one_of(("json_schema",)), form.text("type"))
        yield refuse("bad_output_format", form.at("type"), error, source=CONVERSE)
    elif schema is None:
        yield refuse("bad_output_format", held.at("schema"), source=CONVERSE)
    else:
        words = CLAUDE_BEHIND if target.domain == "anthropic" else OutputWords(CONVERSE)
        yield from output_violations(Asked(form.where, "schema"), target, words)
        yield from of_output(_compiled(Spot(schema, held.at("schema")), TAKEN_BY_CONVERSE))


def _compiled(reply: Spot, taken: tuple[str, ...] = ()) -> Iterator[Violation]:
    """What is wrong with the schema of the reply itself."""
    place = f"{dotted(reply.where)}: "
    unsound = [
        refuse(
            "invalid_schema",
            fault.where,
            f"{place}JSON schema is invalid. It must match JSON Schema draft 2020-12",
            source=LIMITATIONS,
        )
        for fault in faults(reply, DRAFT_2020)
    ]
    yield from unsound or held_violations(reply, place, taken)


def _read(text: str) -> object:
    try:
        schema = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return schema if isinstance(schema, dict) else None
