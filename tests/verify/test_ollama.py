"""Ollama's own chat API: for each rule a body it refuses and a body it accepts."""

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from canonicall.facts.target import IdRule, Target
from canonicall.verify import verify

TARGET = Target(format="ollama", ids=IdRule(style="echoed"), result_names_tool=True, max_tools=2)
TOOL = {"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}
HELLO = {"role": "user", "content": "Hello"}


class Case(NamedTuple):
    refused: dict[str, Any]
    accepted: dict[str, Any]
    target: Target = TARGET
    accepted_target: Target | None = None


def call(name: str = "get", arguments: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "function": {"name": name, "arguments": {} if arguments is None else arguments},
        **fields,
    }


def said(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def result(content: Any = "1", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_name": "get", **fields}


def tool(schema: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "get", "parameters": schema}}


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), "tools": [TOOL], **fields}


FINE = body(HELLO, said(call()), result())

CASES = {
    "empty_input": Case(body(), body(HELLO)),
    "unknown_role": Case(body({"role": "developer", "content": "Hi"}), body(HELLO)),
    "empty_message": Case(body({"role": "user"}), body({"role": "user", "images": ["aGk="]})),
    "bad_part": Case(body({"role": "user", "content": [{"type": "text"}]}), body(HELLO)),
    "bad_tool_name": Case(body(HELLO, said(call("a b")), result()), FINE),
    "arguments_not_object": Case(body(HELLO, said(call(arguments="{}")), result()), FINE),
    "result_without_name": Case(
        body(HELLO, said(call(), call()), result(), result(tool_name="")),
        body(HELLO, said(call()), result(tool_name="")),
    ),
    "empty_result": Case(
        body(HELLO, said(call()), result("")), FINE, replace(TARGET, empty_results=False)
    ),
    "missing_result": Case(body(HELLO, said(call(), call()), result()), FINE),
    "orphan_result_sent": Case(body(HELLO, said(call()), result(), result()), FINE),
    "results_not_adjacent": Case(
        body(HELLO, said(call(id="a")), HELLO, result(tool_call_id="a")), FINE
    ),
    "duplicate_result_sent": Case(
        body(HELLO, said(call(id="a")), result(tool_call_id="a"), result(tool_call_id="a")), FINE
    ),
    "duplicate_call_id": Case(
        body(HELLO, said(call(id="a"), call(id="a")), result(), result()), FINE
    ),
    "too_many_tools": Case(body(HELLO, tools=[TOOL] * 3), body(HELLO, tools=[TOOL] * 2)),
    "bad_tool_schema": Case(
        body(HELLO, tools=[tool({"type": "object", "required": "city"})]),
        body(HELLO, tools=[tool({"type": "object", "required": ["city"]}), tool(None)]),
    ),
    "bad_output_format": Case(body(HELLO, format="xml"), body(HELLO, format="json")),
    "tools_missing": Case(
        {"messages": FINE["messages"]}, FINE, replace(TARGET, tools_with_history=True)
    ),
}


@pytest.mark.parametrize("code", CASES)
def test_refused(code, judge):
    judge.refuses(code, CASES[code])


@pytest.mark.parametrize("code", CASES)
def test_accepted(code, judge):
    judge.accepts(CASES[code])


def test_every_code_of_the_format_has_a_case(judge):
    assert judge.codes_of("ollama", "pairing") <= set(CASES)


def test_the_error_is_what_go_says():
    report = verify(body(HELLO, said(call(arguments="{}")), result()), TARGET)
    assert [one.error for one in report] == [
        (
            "json: cannot unmarshal string into Go struct field "
            "ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments"
        )
    ]


@pytest.mark.parametrize(
    ("schema", "where", "words"),
    [
        ([], "", "array into Go struct field ToolFunction.tools.function.parameters of type"),
        ({"type": ["object", "null"]}, ".type", "parameters.type of type string"),
        ({"properties": []}, ".properties", "array into Go struct field ToolFunctionParameters"),
        ({"properties": {"a": True}}, ".properties.a", "unmarshal bool into Go struct field"),
        ({"required": [1]}, ".required[0]", "cannot unmarshal number"),
    ],
)
def test_parameters_are_go_structs(schema, where, words):
    (violation,) = verify(body(HELLO, tools=[tool(schema)]), TARGET)
    assert violation.code == "bad_tool_schema"
    assert violation.where == f"$.tools[0].function.parameters{where}"
    assert words in violation.error
