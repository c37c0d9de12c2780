"""generateContent: for each rule a body it refuses and a body it accepts."""

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.facts.target import IdRule, NameRule, Target
from canonicall.verify import verify

TARGET = Target(
    format="gemini",
    ids=IdRule(style="echoed"),
    names=NameRule(pattern="[A-Za-z_][A-Za-z0-9_.:-]*"),
    max_tools=2,
    starts_with_user=True,
    ends_with_user=True,
)
SIGNED = replace(TARGET, signature_sentinel="skip_thought_signature_validator")
HELLO = {"role": "user", "parts": [{"text": "Hello"}]}
DONE = {"role": "model", "parts": [{"text": "Done"}]}


class Case(NamedTuple):
    refused: dict[str, Any]
    accepted: dict[str, Any]
    target: Target = TARGET
    accepted_target: Target | None = None


def call(name: str = "get", signature: str = "", **fields: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, "args": {}, **fields}}
    return {**part, "thoughtSignature": signature} if signature else part


def response(name: str = "get", value: Any = None, **fields: Any) -> dict[str, Any]:
    value = {"output": 1} if value is None else value
    return {"functionResponse": {"name": name, "response": value, **fields}}


def with_media(kind: str) -> dict[str, Any]:
    return response(parts=[{"inlineData": {"mimeType": kind, "data": "eA=="}}])


def said(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def asked(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def tools(*names: str) -> list[dict[str, Any]]:
    return [{"functionDeclarations": [{"name": name} for name in names]}]


def config(**fields: Any) -> dict[str, Any]:
    return {"functionCallingConfig": fields}


def body(*contents: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"contents": list(contents), "tools": tools("get"), **fields}


FINE = body(HELLO, said(call()), asked(response()))

CASES = {
    "empty_input": Case(body(), body(HELLO)),
    "unknown_role": Case(
        body({**HELLO, "role": "assistant"}), body({"parts": [{"text": "Hello"}]})
    ),
    "empty_message": Case(body(asked()), body(HELLO)),
    "bad_output_format": Case(
        body(HELLO, generationConfig={"responseJsonSchema": {}}),
        body(
            HELLO,
            generation_config={
                "response_mime_type": "application/json",
                "response_json_schema": {},
            },
        ),
    ),
    "bad_result_content": Case(
        body(HELLO, said(call()), asked(with_media("audio/mp3"))),
        body(HELLO, said(call()), asked(with_media("image/png"))),
        replace(TARGET, result_media=("image",)),
    ),
    "bad_part": Case(
        body(asked({"text": "Hi", "inlineData": {}})), body(asked({"inline_data": {}}))
    ),
    "blank_text": Case(
        body(asked({"text": ""})),
        body(asked({"text": "", "thoughtSignature": "c2ln"})),
        replace(TARGET, blank_is_empty=True),
    ),
    "bad_tool_name": Case(body(HELLO, said(call("1st")), asked(response("1st"))), FINE),
    "arguments_not_object": Case(body(HELLO, said(call(args="{}")), asked(response())), FINE),
    "unknown_field": Case(
        body(HELLO, said(call(thoughtSignature="c2ln")), asked(response())),
        body(HELLO, said(call(signature="c2ln")), asked(response())),
    ),
    "result_without_name": Case(body(HELLO, said(call()), asked(response(""))), FINE),
    "response_not_object": Case(body(HELLO, said(call()), asked(response(value="1"))), FINE),
    "must_start_with_user": Case(body(DONE, HELLO), body(HELLO, DONE, HELLO)),
    "must_end_with_user": Case(body(HELLO, DONE), body(HELLO)),
    "calls_misplaced": Case(body(said(call()), asked(response())), FINE),
    "missing_result": Case(body(HELLO, said(call()), HELLO), FINE),
    "orphan_result_sent": Case(body(HELLO, DONE, asked(response())), FINE),
    "unequal_results": Case(
        body(HELLO, said(call(), call()), asked(response())),
        body(HELLO, said(call(), call()), asked(response(), response())),
    ),
    "duplicate_result_sent": Case(
        body(HELLO, said(call(id="a"), call(id="b")), asked(response(id="a"), response(id="a"))),
        body(HELLO, said(call(id="a"), call(id="b")), asked(response(id="b"), response(id="a"))),
    ),
    "signature_missing": Case(
        FINE,
        body(HELLO, said(call(signature="c2ln"), call()), asked(response(), response())),
        SIGNED,
    ),
    "too_many_tools": Case(body(HELLO, tools=tools("a", "b", "c")), body(HELLO, tools=tools("a"))),
    "tools_missing": Case(
        {"contents": FINE["contents"]}, FINE, replace(TARGET, tools_with_history=True)
    ),
    "duplicate_tool_name": Case(body(HELLO, tools=tools("a", "a")), body(HELLO)),
    "bad_tool_schema": Case(
        body(
            HELLO,
            tools=[{"functionDeclarations": [{"name": "a", "parameters": {"type": "STRING"}}]}],
        ),
        body(
            HELLO,
            tools=[{"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT"}}]}],
        ),
    ),
    "tools_mixed": Case(
        body(HELLO, tools=[*tools("a"), {"googleSearch": {}}]),
        body(HELLO, tools=[{"urlContext": {}}, {"googleSearch": {}}]),
        replace(TARGET, mixed_tools=False),
    ),
    "choice_without_tools": Case(
        {"contents": [HELLO], "toolConfig": config(mode="ANY")},
        body(HELLO, toolConfig=config(mode="ANY")),
    ),
    "choice_names_unknown_tool": Case(
        body(HELLO, toolConfig=config(mode="ANY", allowedFunctionNames=["put"])),
        body(HELLO, tool_config={"function_calling_config": {"mode": "ANY"}}),
    ),
    "choice_unsupported": Case(
        body(HELLO, toolConfig=config(mode="AUTO", allowedFunctionNames=["get"])),
        body(HELLO, toolConfig=config(mode="ANY", allowedFunctionNames=["get"])),
    ),
}


@each("code", CASES)
def test_refused(code, judge):
    judge.refuses(code, CASES[code])


@each("code", CASES)
def test_accepted(code, judge):
    judge.accepts(CASES[code])


def test_every_code_of_the_format_has_a_case(judge):
    assert judge.codes_of("gemini", "gemini_settings") <= set(CASES)


def test_an_id_that_no_call_has_is_an_orphan():
    report = verify(body(HELLO, said(call(id="a")), asked(response(id="b"))), TARGET)
    assert report.counts == {"orphan_result_sent": 1}


def test_contents_of_the_model_in_a_row_are_one_turn():
    both = body(HELLO, said(call()), said(call()), asked(response(), response()))
    assert not verify(both, TARGET)


def test_responses_may_not_be_split_over_contents():
    split = body(HELLO, said(call(), call()), asked(response()), asked(response()))
    assert {"unequal_results", "orphan_result_sent"} <= set(verify(split, TARGET).counts)


def test_snake_case_is_read_as_well():
    snake = body(
        HELLO,
        said({"function_call": {"name": "get", "args": {}}, "thought_signature": "c2ln"}),
        asked({"function_response": {"name": "get", "response": {}}}),
        tools={"function_declarations": [{"name": "get"}]},
    )
    assert not verify(snake, SIGNED)


def test_signatures_are_demanded_in_the_current_turn_only():
    """Whatever stands before the last user text was signed for an earlier turn."""
    later = body(HELLO, said(call()), asked(response()), DONE, HELLO)
    assert not verify(later, SIGNED)
    steps = body(
        HELLO, said(call(signature="c2ln")), asked(response()), said(call()), asked(response())
    )
    assert [one.where for one in verify(steps, SIGNED)] == ["$.contents[3].parts[0]"]


def test_a_part_without_anything_is_refused():
    assert verify(body(asked({"thought": True})), TARGET).counts == {"bad_part": 1}


def test_a_declaration_has_one_schema():
    both = {"name": "a", "parameters": {"type": "OBJECT"}, "parametersJsonSchema": {}}
    report = verify(body(HELLO, tools=[{"functionDeclarations": [both]}]), TARGET)
    assert report.counts == {"bad_tool_schema": 1}


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"$schema": "x"}, "parameters"),
        ({"properties": {"a": {"const": 1}}}, "parameters.properties.a"),
        ({"properties": {"a": {"items": {"oneOf": []}}}}, "parameters.properties.a.items"),
        ({"anyOf": [{}, {"not": {}}]}, "parameters.anyOf[1]"),
    ],
)
def test_parameters_have_only_the_keywords_of_a_schema(schema, where):
    """JSON Schema has a field of its own, where all of it may stand."""
    declared = {"name": "get", "parameters": {"type": "OBJECT", **schema}}
    (found,) = verify(body(HELLO, tools=[{"functionDeclarations": [declared]}]), TARGET)
    assert (found.code, found.where) == (
        "bad_tool_schema",
        f"$.tools[0].functionDeclarations[0].{where}",
    )
    declared["parametersJsonSchema"] = declared.pop("parameters")
    assert not verify(body(HELLO, tools=[{"functionDeclarations": [declared]}]), TARGET)


def test_modes_may_be_numbers():
    assert not verify(body(HELLO, toolConfig=config(mode=2, allowedFunctionNames=["get"])), TARGET)
