"""The format of the reply, fitted to what a target can be asked for."""

from typing import Any

import pytest
from msgspec.structs import replace

from canonicall import (
    Conversation,
    OutputFormat,
    Params,
    Policy,
    Request,
    SchemaRule,
    Tool,
    UntranslatableSchema,
    encode_request,
    get_target,
)
from canonicall.transcript.policy import DEFAULT, Goal
from canonicall.transcript.schemas import fitted_output

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
OPEN: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
LIST: dict[str, Any] = {"type": "array", "items": CLOSED}
SONNET = "anthropic:claude-sonnet-4-5"
REFUSE = Policy(schemas="refuse")


def asked(output: OutputFormat | None, *said: str, system: str = "", tools: Any = ()) -> Request:
    talk = Conversation()
    if system:
        talk.system(system)
    for words in said or ("Where?",):
        talk.user(words)
    return Request(talk, tools=tools, params=Params(output=output))


def fitted(output: OutputFormat, target: str, *said: str, policy: Policy = DEFAULT, **more: Any):
    goal = Goal(get_target(target), policy)
    request = fitted_output(asked(output, *said, **more), goal)
    return request.params.output, [(one.code, one.where) for one in goal.findings]


@pytest.mark.parametrize(
    "target", ["openai", "openai/openai-responses", SONNET, "gemini", "cohere", "ollama", "generic"]
)
def test_what_fits_stays_the_same_object(target):
    goal = Goal(get_target(target))
    request = asked(OutputFormat(CLOSED, strict=True))
    assert (fitted_output(request, goal), goal.findings) == (request, [])
    request = asked(None)
    assert fitted_output(request, goal) is request


@pytest.mark.parametrize(
    ("output", "target", "left", "told"),
    [
        # DeepSeek knows JSON mode only.
        (
            OutputFormat(CLOSED, "place", strict=True),
            "deepseek",
            OutputFormat(),
            [("schema_weakened", "params.output.schema")],
        ),
        (
            OutputFormat(CLOSED),
            "zai",
            OutputFormat(),
            [("schema_weakened", "params.output.schema")],
        ),
        (OutputFormat(LIST), "deepseek", None, [("param_dropped", "params.output")]),
        # Claude knows schemas only, and always holds the model to them.
        (OutputFormat(), SONNET, None, [("param_dropped", "params.output")]),
        (
            OutputFormat(OPEN),
            SONNET,
            OutputFormat({**OPEN, "additionalProperties": False}),
            [("schema_narrowed", "params.output.schema")],
        ),
        (OutputFormat(LIST), SONNET, OutputFormat(LIST), []),
        (
            OutputFormat(CLOSED),
            "anthropic:claude-3-5-haiku",
            None,
            [("param_dropped", "params.output")],
        ),
        # OpenAI: an object at the root; strict where it can be said exactly.
        (OutputFormat(LIST), "openai", None, [("param_dropped", "params.output")]),
        (OutputFormat({"enum": ["a"]}), "openai", None, [("param_dropped", "params.output")]),
        (OutputFormat(OPEN), "openai", OutputFormat(OPEN), []),
        (
            OutputFormat(OPEN, strict=True),
            "openai",
            OutputFormat(OPEN, strict=False),
            [("strict_dropped", "params.output.strict")],
        ),
        # Others hold the model to any schema, without such rules.
        (OutputFormat(OPEN, strict=True), "gemini", OutputFormat(OPEN, strict=True), []),
        (OutputFormat(LIST), "ollama/ollama", OutputFormat(LIST), []),
        (
            OutputFormat({"const": 1}),
            "gemini",
            OutputFormat({"enum": [1]}),
            [("schema_reworded", "params.output.schema")],
        ),
    ],
)
def test_each_target_gets_what_it_can_be_asked_for(output, target, left, told):
    assert fitted(output, target, "Where? In JSON.") == (left, told)


@pytest.mark.parametrize(
    ("target", "said", "system", "is_said"),
    [
        ("openai", "In JSON, please", "", True),
        ("openai", "Where?", "Speak json.", True),
        ("openai", "Where?", "", False),
        ("openai/openai-responses", "Where?", "Speak json.", False),
        ("openai/openai-responses", "As Json", "", True),
        ("generic", "Where?", "", True),
    ],
)
def test_any_object_needs_the_word_where_the_host_wants_it(target, said, system, is_said):
    """Where it is missing, a schema that allows any object says the same without it."""
    output, told = fitted(OutputFormat(), target, said, system=system)
    if is_said:
        assert (output, told) == (OutputFormat(), [])
    else:
        assert output.schema == {"type": "object", "properties": {}}
        assert told == [("schema_reworded", "params.output.schema")]


def test_any_object_is_dropped_where_only_the_word_would_help():
    output, told = fitted(OutputFormat(), "deepseek", "Where?")
    assert (output, told) == (None, [("param_dropped", "params.output")])


def test_the_limits_of_strict_mode_hold_for_the_reply():
    fields = {f"f{n}": {"type": "string"} for n in range(30)}
    many = {"type": "object", "properties": fields, "additionalProperties": False}
    output, told = fitted(OutputFormat(many), SONNET)
    assert (output, told) == (None, [("param_dropped", "params.output")])


def test_strict_tools_have_what_the_reply_leaves_of_the_limits():
    fields = {f"f{n}": {"type": "string"} for n in range(14)}
    many = {"type": "object", "properties": fields, "additionalProperties": False}
    tools = (Tool("look", parameters=many, strict=True),)
    alone = encode_request(asked(None, tools=tools), SONNET)
    assert alone.body["tools"][0]["strict"] is True
    made = encode_request(asked(OutputFormat(many), tools=tools), SONNET)
    assert made.body["output_config"]["format"]["schema"] == many
    assert made.body["tools"][0].get("strict") is not True
    assert "strict_dropped" in made.report


@pytest.mark.parametrize(
    ("output", "target"),
    [
        (OutputFormat(CLOSED, "p"), "deepseek"),
        (OutputFormat(OPEN, "p", strict=True), "openai"),
        (OutputFormat(OPEN, "p"), SONNET),
    ],
)
def test_a_policy_refuses_what_cannot_be_said(output, target):
    with pytest.raises(UntranslatableSchema, match=r"params\.output"):
        fitted(output, target, policy=REFUSE)


def test_a_schema_that_holds_itself_does_no_harm():
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["again"] = schema
    for target in ("openai", SONNET, "gemini", "ollama/ollama"):
        assert encode_request(asked(OutputFormat(schema, strict=True)), target).data


def test_a_refused_parameter_is_left_out_like_any_other():
    target = replace(get_target("generic"), refused_params=("output",))
    made = encode_request(asked(OutputFormat(CLOSED)), target)
    assert "response_format" not in made.body
    assert [(one.code, one.where) for one in made.report] == [("param_dropped", "params.output")]


def test_a_rule_of_its_own_counts_for_the_reply_alone():
    rule = SchemaRule(keywords=("type", "properties"))
    target = replace(get_target("generic"), output_schemas=rule)
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
    made = encode_request(
        asked(OutputFormat(schema), tools=(Tool("find", parameters=schema),)), target
    )
    held = made.body["response_format"]["json_schema"]["schema"]
    assert held["properties"]["n"] == {"type": "integer"}
    assert made.body["tools"][0]["function"]["parameters"] == schema
    assert [one.where for one in made.report] == ["params.output.schema#/properties/n"]


@pytest.mark.parametrize(
    "target", ["cohere:command-a", "groq:openai/gpt-oss-20b", "gemini:gemini-2.5-pro"]
)
def test_beside_tools_it_is_left_out_where_both_are_refused(target):
    tools = (Tool("look", parameters=OPEN),)
    with_tools = encode_request(asked(OutputFormat(CLOSED), tools=tools), target)
    alone = encode_request(asked(OutputFormat(CLOSED)), target)
    assert "additionalProperties" in str(alone.body)
    assert "additionalProperties" not in str(with_tools.body)
    assert "param_dropped" in with_tools.report
    assert "param_dropped" not in alone.report


def test_groq_streams_no_reply_by_a_schema():
    request = asked(OutputFormat(CLOSED))
    request = replace(request, params=replace(request.params, stream=True))
    made = encode_request(request, "groq:openai/gpt-oss-20b")
    assert "response_format" not in made.body
    assert "param_dropped" in made.report
