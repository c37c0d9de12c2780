"""Strict tools in Converse: which models know the mark, and what Claude has against schemas."""

from collections.abc import Iterator

from msgspec.structs import replace

from canonicall.facts.target import Target
from canonicall.verify.anthropic_schemas import (
    MOST_STRICT_TOOLS,
    TAKEN_BY_CONVERSE,
    held_violations,
    too_complex,
)
from canonicall.verify.node import Node, dotted
from canonicall.verify.schemas import Spot
from canonicall.verify.violation import Violation, refuse

CLAUDE = "BerriAI/litellm#31582, vercel/ai#17919"
OTHERS = "reported of Nova 2 Lite, Llama and Mistral; pydantic-ai 2.66.0, providers/bedrock.py"
SCHEMAS = "BerriAI/litellm#39115, strands-agents/harness-sdk#2664"
BY_MODEL = "The model returned the following errors: "


def strict_violations(specs: list[Node], target: Target) -> Iterator[Violation]:
    """The mark is refused by its presence, whatever it says (BerriAI/litellm#35688)."""
    if not target.strict_tools:
        for spec in specs:
            if spec.has("strict"):
                yield _unknown_mark(spec, is_claude=target.domain == "anthropic")
    elif target.domain == "anthropic":
        strict = [spec for spec in specs if spec.get("strict") is True]
        yield from map(_by_model, _compiled(strict))


def _number(spec: Node) -> str:
    return dotted(spec.where).split(".")[2]


def _unknown_mark(spec: Node, *, is_claude: bool) -> Violation:
    where = spec.at("strict")
    if is_claude:
        error = f"{BY_MODEL}tools.{_number(spec)}.custom.strict: Extra inputs are not permitted"
        return refuse("strict_unsupported", where, error, source=CLAUDE)
    error = "This model doesn't support the strict field. Remove strict and try again."
    return refuse("strict_unsupported", where, error, source=OTHERS)


def _compiled(strict: list[Node]) -> Iterator[Violation]:
    if len(strict) > MOST_STRICT_TOOLS:
        error = (
            f"Too many strict tools ({len(strict)}). The maximum number of strict tools supported "
            f"is {MOST_STRICT_TOOLS}. Try reducing the number of tools marked as strict."
        )
        yield refuse("too_many_strict_tools", "$.toolConfig.tools", error, source=SCHEMAS)
    yield from too_complex([_spot(spec) for spec in strict], "$.toolConfig.tools")
    for spec in strict:
        yield from held_violations(
            _spot(spec), f"tools.{_number(spec)}.custom: ", TAKEN_BY_CONVERSE
        )


def _spot(spec: Node) -> Spot:
    schema = spec.node("inputSchema")
    return Spot(schema.get("json"), schema.at("json"))


def _by_model(one: Violation) -> Violation:
    """The same, told by Bedrock."""
    return replace(one, error=f"{BY_MODEL}{one.error}") if one.error else one
