"""Declarations, server-side tools, and every form of the calling config."""

import pytest

from canonicall.blocks import Native
from canonicall.conversation import Conversation
from canonicall.errors import MalformedBody
from canonicall.findings import Report
from canonicall.request import Request, Tool, ToolChoice
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript
from canonicall.wire.gemini import TARGET
from canonicall.wire.gemini.tools import (
    choice_of_functions,
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)

SCHEMA = {"type": "object", "properties": {"city_name": {"type": "string"}}}


def decoded(tools, findings=None):
    told = [] if findings is None else findings
    found = decode_tools(tools, told)
    if findings is None:
        assert told == []
    return found


@pytest.mark.parametrize("field", ["parameters", "parametersJsonSchema"])
def test_a_declaration_comes_back_with_the_schema_field_it_had(field):
    declaration = {"name": "f", "description": "d", field: SCHEMA, "response": {"type": "STRING"}}
    (tool,) = decoded([{"functionDeclarations": [declaration]}])
    assert (tool.name, tool.description, tool.parameters) == ("f", "d", SCHEMA)
    assert encode_tools((tool,), {}, TARGET) == ([{"functionDeclarations": [declaration]}], [])


def test_snake_case_and_single_objects_are_read():
    entry = {"function_declarations": {"name": "f", "parameters_json_schema": SCHEMA}}
    (tool,) = decoded(entry)
    assert tool.parameters == SCHEMA
    assert encode_tools((tool,), {}, TARGET)[0] == [
        {"functionDeclarations": [{"name": "f", "parametersJsonSchema": SCHEMA}]}
    ]


def test_groups_are_one_entry_and_server_tools_stand_behind_it():
    tools = decoded(
        [
            {"google_search": {}},
            {"functionDeclarations": [{"name": "f"}], "codeExecution": {}, "retrieval": None},
            {"functionDeclarations": [{"name": "g", "description": None}]},
        ]
    )
    assert [(tool.name, tool.kind) for tool in tools] == [
        ("googleSearch", "server"),
        ("f", "function"),
        ("codeExecution", "server"),
        ("g", "function"),
    ]
    assert encode_tools(tools, {}, TARGET) == (
        [
            {"functionDeclarations": [{"name": "f"}, {"name": "g"}]},
            {"googleSearch": {}},
            {"codeExecution": {}},
        ],
        [],
    )


def test_of_two_schemas_the_json_schema_counts_and_it_is_reported():
    """The API takes one of them: "parameters and parameters_json_schema are mutually exclusive"."""
    findings = []
    declaration = {"name": "f", "parametersJsonSchema": SCHEMA, "parameters": {"type": "OBJECT"}}
    (tool,) = decoded([{"functionDeclarations": [declaration]}], findings)
    assert tool.parameters == SCHEMA
    assert [(one.code, one.where) for one in findings] == [
        ("two_schemas", "$.tools[0].functionDeclarations[0]")
    ]
    del declaration["parameters"]
    assert encode_tools((tool,), {}, TARGET)[0] == [{"functionDeclarations": [declaration]}]


@pytest.mark.parametrize(
    ("tools", "where"),
    [
        ("x", "$.tools"),
        (["x"], "$.tools[0]"),
        ([{"functionDeclarations": ["x"]}], "$.tools[0].functionDeclarations[0]"),
        (
            [{"functionDeclarations": [{"name": "f", "parameters": "x"}]}],
            "$.tools[0].functionDeclarations[0].parameters",
        ),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(tools, where):
    with pytest.raises(MalformedBody) as caught:
        decoded(tools)
    assert caught.value.where == where


@pytest.mark.parametrize(
    "schema",
    [None, {"type": "object", "properties": {}}, {"type": "object", "additionalProperties": False}],
)
def test_a_foreign_tool_without_parameters_declares_none(schema):
    assert encode_tools((Tool("f", parameters=schema),), {}, TARGET)[0] == [
        {"functionDeclarations": [{"name": "f"}]}
    ]


@pytest.mark.parametrize(
    "schema", [SCHEMA, {"type": "object", "additionalProperties": True}, {"$ref": "#/$defs/a"}]
)
def test_a_foreign_schema_is_sent_as_json_schema(schema):
    assert encode_tools((Tool("f", parameters=schema),), {}, TARGET)[0] == [
        {"functionDeclarations": [{"name": "f", "parametersJsonSchema": schema}]}
    ]


def test_tools_are_sent_by_their_wire_names():
    body, _ = encode_tools((Tool("a.b"),), {"a.b": "a_b"}, TARGET)
    assert body == [{"functionDeclarations": [{"name": "a_b"}]}]


def test_tools_there_is_no_form_for_are_reported():
    foreign = Tool("web", kind="server", native=Native("anthropic", {"type": "web_search"}))
    body, findings = encode_tools((foreign, Tool("sh", kind="custom")), {}, TARGET)
    assert [(one.code, one.where) for one in findings] == [
        ("tool_dropped", "tools[0]"),
        ("tool_converted", "tools[1]"),
    ]
    (declaration,) = body[0]["functionDeclarations"]
    assert declaration["parametersJsonSchema"]["properties"] == {"input": {"type": "string"}}
    assert encode_tools((foreign,), {}, TARGET)[0] == []


CHOICES = [
    ({"mode": "AUTO"}, ToolChoice("auto")),
    ({"mode": "ANY"}, ToolChoice("required")),
    ({"mode": "NONE"}, ToolChoice("none")),
    ({"mode": "VALIDATED"}, ToolChoice("auto")),
    ({"mode": "ANY", "allowedFunctionNames": ["f", "g"]}, ToolChoice("required", ("f", "g"))),
    ({"mode": "VALIDATED", "allowedFunctionNames": ["f"]}, ToolChoice("auto", ("f",))),
    ({"mode": "AUTO", "streamFunctionCallArguments": True}, ToolChoice("auto")),
    ({"streamFunctionCallArguments": True}, None),
]


@pytest.mark.parametrize(("calling", "choice"), CHOICES)
def test_a_calling_config_comes_back(calling, choice):
    config = {"functionCallingConfig": calling, "includeServerSideToolInvocations": True}
    findings = []
    found, native = decode_choice(config, findings)
    assert (found, findings) == (choice, [])
    assert encode_choice(found, native, {}, has_functions=True) == config


@pytest.mark.parametrize(
    ("calling", "choice"),
    [
        ({"mode": "any", "allowed_function_names": ["f"]}, ToolChoice("required", ("f",))),
        ({"mode": 3}, ToolChoice("none")),
        ({"mode": "MODE_UNSPECIFIED"}, None),
        ({"allowedFunctionNames": ["f"]}, ToolChoice("auto", ("f",))),
        ({}, None),
    ],
)
def test_other_spellings_of_a_calling_config(calling, choice):
    assert decode_choice({"function_calling_config": calling}, [])[0] == choice
    assert decode_choice(None, []) == (None, {})


def test_an_unknown_mode_is_reported_and_left_out():
    findings = []
    config = {"functionCallingConfig": {"mode": "SOMETIMES"}}
    assert decode_choice(config, findings) == (None, {})
    assert [(one.code, one.where) for one in findings] == [
        ("unknown_choice", "$.toolConfig.functionCallingConfig.mode")
    ]


def test_a_hint_does_not_outlive_its_choice():
    native = {"functionCallingConfig": {"mode": "VALIDATED"}}
    config = encode_choice(ToolChoice("required"), native, {}, has_functions=True)
    assert config == {"functionCallingConfig": {"mode": "ANY"}}


def test_names_of_a_choice_are_wire_names():
    choice = ToolChoice("required", ("a.b",))
    config = encode_choice(choice, {}, {"a.b": "a_b"}, has_functions=True)
    assert config["functionCallingConfig"]["allowedFunctionNames"] == ["a_b"]


def test_without_functions_there_is_no_calling_config():
    """The API refuses one: "Function calling config is set without function_declarations"."""
    native = {"includeServerSideToolInvocations": True}
    server = Tool("googleSearch", kind="server", native=Native("gemini", {"googleSearch": {}}))
    for mode in ("auto", "none", "required"):
        assert encode_choice(ToolChoice(mode), native, {}, has_functions=False) == native
        goal = Goal(TARGET)
        asked = Request(Conversation(), (server,), ToolChoice(mode))
        request, _ = choice_of_functions(asked, Transcript((), {}, {}, Report()), goal)
        assert request.tool_choice is None
        assert [one.code for one in goal.findings] == ["choice_weakened"] * (mode == "required")


@pytest.mark.parametrize("properties", [[{"type": []}], "x", 3, None])
def test_properties_that_are_none_come_back_as_they_were(properties):
    declaration = {"name": "f", "parameters": {"type": "OBJECT", "properties": properties}}
    (tool,) = decode_tools([{"functionDeclarations": [declaration]}], [])
    (entry,), _ = encode_tools((tool,), {}, TARGET)
    assert entry["functionDeclarations"][0]["name"] == "f"
