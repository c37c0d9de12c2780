"""What Converse refuses around the messages: tool configuration, system, cache points."""

from collections.abc import Iterator
from itertools import pairwise

from canonicall.facts.target import Target
from canonicall.verify.anthropic_outputs import converse_output
from canonicall.verify.anthropic_schemas import MESSAGES
from canonicall.verify.bedrock_constraints import (
    name_wanted,
    one_member,
    point_violations,
    unmet,
)
from canonicall.verify.bedrock_strict import strict_violations
from canonicall.verify.cache_marks import Mark, marks_in_order
from canonicall.verify.lexical import Declared, is_tool_name
from canonicall.verify.node import Node, dotted
from canonicall.verify.offer import Chosen, Offer, Words, offer_violations
from canonicall.verify.refused import refused_fields
from canonicall.verify.stored_state import is_delta
from canonicall.verify.thinking import thinking_violations
from canonicall.verify.violation import Violation, refuse

CONVERSE = "docs.aws.amazon.com: Converse API reference"

UNIONS = ("oneOf", "allOf", "anyOf")
TOOLS = ("toolSpec", "systemTool", "modelTool", "cachePoint")
PARAMS = {
    "temperature": ("inferenceConfig", "temperature"),
    "top_p": ("inferenceConfig", "topP"),
    "top_k": ("additionalModelRequestFields", "top_k"),
}
"""Parameters by their canonical names, and where they stand."""

WORDS = Words(
    CONVERSE,
    {
        "empty_tools": (
            "1 validation error detected: Value at 'toolConfig.tools' failed to satisfy "
            "constraint: Member must have length greater than or equal to 1"
        ),
        "too_many_tools": "The number of tools exceeds the maximum of {limit}.",
        "tools_missing": (
            "The toolConfig field must be defined when using toolUse and toolResult content blocks."
        ),
        "duplicate_tool_name": "The tool names in toolConfig.tools are not unique: {name}",
        "choice_names_unknown_tool": (
            "The toolChoice names the tool '{name}', which is not in toolConfig.tools."
        ),
        "choice_unsupported": (
            "This model doesn't support the toolConfig.toolChoice.{word} field. "
            "Remove toolConfig.toolChoice.{word} and try again."
        ),
        "forced_choice_with_thinking": (
            "Thinking may not be enabled when tool_choice forces tool use."
        ),
    },
)

# What Claude says itself where it can never be forced (ax-llm/ax#667, tried with Opus 5.5).
CLAUDE_WORDS = Words(
    CONVERSE,
    {
        **WORDS.errors,
        "choice_unsupported": (
            "The model returned the following errors: "
            'tool_choice: type "tool" and "any" are not supported for this model.'
        ),
    },
)


def setting_violations(root: Node, messages: list[Node], target: Target) -> Iterator[Violation]:
    config = root.node("toolConfig")
    tools = config.nodes("tools")
    specs = [tool.node("toolSpec") for tool in tools if tool.has("toolSpec")]
    is_open = is_delta(root, target.format)
    extra = root.node("additionalModelRequestFields")
    thinking = extra.get("thinking")
    offer = Offer(
        "$.toolConfig.tools",
        tuple(Declared(spec.text("name"), spec.where) for spec in specs),
        others=sum(tool.has("systemTool") for tool in tools),
        is_given=root.has("toolConfig"),
        chosen=_chosen(config),
        is_thinking=isinstance(thinking, dict) and thinking.get("type") == "enabled",
        is_used=not is_open
        and any(
            block.has("toolUse") or block.has("toolResult")
            for message in messages
            for block in message.nodes("content")
        ),
    )
    words = CLAUDE_WORDS if target.domain == "anthropic" and _is_forced(offer) else WORDS
    yield from offer_violations(offer, target, words)
    yield from thinking_violations(extra, target)
    yield from _params(root, target)
    for tool in tools:
        yield from one_member(tool, TOOLS)
    for spec in specs:
        yield from _definition(spec, target)
    yield from strict_violations(specs, target)
    for block in root.nodes("system"):
        if block.has("text") and not block.text("text").strip():
            error = (
                f"The text field in the SystemContentBlock object at {dotted(block.where)} is "
                "blank. Add text to the text field, and try again."
            )
            yield refuse("blank_text", block.where, error, source=CONVERSE)
    yield from _cache_points(root, tools, messages, target)
    yield from converse_output(root, target)
    yield from refused_fields(root, target)


def _params(root: Node, target: Target) -> Iterator[Violation]:
    for name in target.refused_params:
        holder, field = PARAMS.get(name, ("", ""))
        value = root.node(holder).get(field) if holder else None
        # "Setting any non-default value returns a 400 error" (docs, "What's new in Claude 4.7").
        if value is not None and (name, value) != ("temperature", 1):
            error = "The model returned the following errors: "
            error += f"`{name}` is deprecated for this model."
            where = f"$.{holder}.{field}"
            source = "aws-samples/bedrock-chat#1102; Comfy-Org/ComfyUI#13923"
            yield refuse("parameter_unsupported", where, error, source=source)


def _chosen(config: Node) -> Chosen | None:
    choice = config.node("toolChoice")
    if choice.get("tool") is not None:
        return Chosen(choice.where, "tool", (choice.node("tool").text("name"),), is_named=True)
    if choice.get("any") is not None:
        return Chosen(choice.where, "required", word="any")
    return Chosen(choice.where, next(iter(choice.fields))) if choice.fields else None


def _is_forced(offer: Offer) -> bool:
    return offer.chosen is not None and (offer.chosen.mode == "required" or offer.chosen.is_named)


def _definition(spec: Node, target: Target) -> Iterator[Violation]:
    place, name = dotted(spec.where), spec.text("name")
    if not is_tool_name(name, target.names):
        error = unmet(spec.at("name"), name_wanted(name, target.names), name)
        yield refuse("bad_tool_name", spec.where, error, source=CONVERSE)
    if spec.get("description") == "":
        wanted = "Member must have length greater than or equal to 1"
        error = unmet(spec.at("description"), wanted, "")
        source = "botocore 1.44.0, bedrock-runtime: ToolSpecification; any-llm#1102"
        yield refuse("empty_description", spec.at("description"), error, source=source)
    schema = spec.node("inputSchema").get("json")
    if not isinstance(schema, dict):
        error = f"The format of the value at {place}.inputSchema.json is invalid. Provide a json "
        error += "object for the field and try again."
        source = "aws/aws-sdk-net#3377"
        yield refuse("bad_tool_schema", spec.at("inputSchema"), error, source=source)
    elif schema.get("type") != "object":
        error = f"The value at {place}.inputSchema.json.type must be one of the following: object."
        source = "earendil-works/pi#8279"
        yield refuse("bad_tool_schema", spec.at("inputSchema"), error, source=source)
    elif target.domain == "anthropic" and not schema.keys().isdisjoint(UNIONS):
        number = place.split(".")[2]
        error = f"The model returned the following errors: tools.{number}.custom.input_schema: "
        error += "input_schema does not support oneOf, allOf, or anyOf at the top level"
        yield refuse("bad_tool_schema", spec.at("inputSchema"), error, source=MESSAGES)


def _cache_points(
    root: Node, tools: list[Node], messages: list[Node], target: Target
) -> Iterator[Violation]:
    blocks = [*tools, *root.nodes("system"), *(b for m in messages for b in m.nodes("content"))]
    points = [block.node("cachePoint") for block in blocks if block.has("cachePoint")]
    for point in points:
        yield from point_violations(point)
    for tool in tools:
        if tool.has("cachePoint") and not target.marked_tools:
            place = dotted(tool.where).replace(".", "/")
            error = f"Malformed input request: #/{place}: extraneous key [cachePoint] is not "
            error += "permitted, please reformat your input and try again."
            source = "NousResearch/hermes-agent#97327"
            yield refuse("cache_mark_misplaced", tool.where, error, source=source)
    for before, block in pairwise(blocks):
        is_marked = before.has("document") and block.has("cachePoint")
        is_pdf = is_marked and before.node("document").text("format") == "pdf"
        if is_marked and not is_pdf and not target.marked_documents:
            place = dotted(block.where)
            error = f"The model returned the following errors: {place}.type: Field required"
            source = "strands-agents/harness-sdk#1966; pydantic-ai 2.66.0, models/bedrock.py"
            yield refuse("cache_mark_misplaced", block.where, error, source=source)
    if len(points) > target.cache_marks:
        limit, count = target.cache_marks, len(points)
        error = f"You can have a maximum of {limit} cache points in a request. Found {count}."
        yield refuse("too_many_cache_marks", "$", error, source=CONVERSE)
    marks = (Mark(point.where, point.get("ttl") == "1h") for point in points)
    yield from marks_in_order(marks, target, CONVERSE)
