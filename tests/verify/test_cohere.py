"""Cohere's chat API: for each rule a body it refuses and a body it accepts."""

from typing import Any, NamedTuple

from msgspec.structs import replace

from batches import each
from canonicall.facts.target import IdRule, Target
from canonicall.verify import verify

TARGET = Target(
    format="cohere", ids=IdRule(max_length=64), choice_modes=("required", "none"), max_tools=2
)
TOOL = {"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}
HELLO = {"role": "user", "content": "Hello"}
DONE = {"role": "assistant", "content": "Done"}


class Case(NamedTuple):
    refused: dict[str, Any]
    accepted: dict[str, Any]
    target: Target = TARGET
    accepted_target: Target | None = None


def call(id: str = "a", **function: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "function",
        "function": {"name": "get", "arguments": "{}", **function},
    }


def said(*calls: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls), **fields}


def result(id: str = "a", content: Any = "1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def tool(size: int, **keywords: Any) -> dict[str, Any]:
    properties = {f"p{at}": {"type": "string"} for at in range(size)}
    schema = {"type": "object", "properties": properties, **keywords}
    return {"type": "function", "function": {"name": "get", "parameters": schema}}


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), "tools": [TOOL], **fields}


FINE = body(HELLO, said(call(), tool_plan="I will look."), result())

CASES = {
    "empty_input": Case(body(), body(HELLO)),
    "unknown_role": Case(body({"role": "developer", "content": "Hi"}), body(HELLO)),
    "bad_output_format": Case(
        body(HELLO, tools=None, response_format={"type": "json_schema"}),
        body(HELLO, tools=None, response_format={"type": "json_object"}),
    ),
    "empty_message": Case(body(HELLO, {"role": "assistant"}, HELLO), body(HELLO, DONE, HELLO)),
    "bad_part": Case(
        body({"role": "system", "content": [{"type": "image_url"}]}),
        body({"role": "user", "content": [{"type": "image_url"}]}),
    ),
    "bad_result_content": Case(
        body(HELLO, said(call()), result(content=[{"type": "image_url"}])),
        body(HELLO, said(call()), result(content=[{"type": "document"}])),
    ),
    "empty_result": Case(
        body(HELLO, said(call()), result(content=[])), body(HELLO, said(call()), result(content=""))
    ),
    "calls_in_wrong_role": Case(body({**HELLO, "tool_calls": [call()]}), FINE),
    "text_beside_calls": Case(
        body(HELLO, said(call(), content="Look."), result()),
        FINE,
        replace(TARGET, text_beside_calls=False),
    ),
    "missing_call_id": Case(body(HELLO, said(call("")), result("")), FINE),
    "bad_call_id": Case(body(HELLO, said(call("a b")), result("a b")), FINE),
    "call_id_too_long": Case(body(HELLO, said(call("a" * 65)), result("a" * 65)), FINE),
    "bad_tool_name": Case(body(HELLO, said(call(name="a b")), result()), FINE),
    "arguments_not_text": Case(body(HELLO, said(call(arguments={})), result()), FINE),
    "missing_result": Case(body(HELLO, said(call())), FINE),
    "results_not_adjacent": Case(body(HELLO, said(call()), HELLO, result()), FINE),
    "orphan_result_sent": Case(body(HELLO, result()), FINE),
    "duplicate_result_sent": Case(body(HELLO, said(call()), result(), result()), FINE),
    "duplicate_call_id": Case(body(HELLO, said(call(), call()), result()), FINE),
    "must_end_with_user": Case(
        body(HELLO, DONE), body(HELLO), replace(TARGET, ends_with_user=True)
    ),
    "too_many_tools": Case(body(HELLO, tools=[TOOL] * 3), body(HELLO, tools=[TOOL] * 2)),
    "tools_missing": Case(
        {"messages": FINE["messages"]}, FINE, replace(TARGET, tools_with_history=True)
    ),
    "choice_without_tools": Case(
        {"messages": [HELLO], "tool_choice": "REQUIRED"}, body(HELLO, tool_choice="REQUIRED")
    ),
    "strict_schema": Case(
        body(HELLO, strict_tools=True, tools=[tool(1)]),
        body(HELLO, strict_tools=True, tools=[tool(1, required=["p0"])]),
    ),
    "schema_too_complex": Case(
        body(
            HELLO, strict_tools=True, tools=[tool(100, required=["p0"]), tool(101, required=["p0"])]
        ),
        body(HELLO, strict_tools=True, tools=[tool(100, required=["p0"])] * 2),
    ),
    "choice_unsupported": Case(body(HELLO, tool_choice="auto"), body(HELLO, tool_choice="NONE")),
}


@each("code", CASES)
def test_refused(code, judge):
    judge.refuses(code, CASES[code])


@each("code", CASES)
def test_accepted(code, judge):
    judge.accepts(CASES[code])


def test_every_code_of_the_format_has_a_case(judge):
    assert judge.codes_of("cohere", "pairing") <= set(CASES)


def test_cohere_has_no_words_for_it():
    """No error text is invented where none is published."""
    assert {one.error for one in verify(body(HELLO, said(call())), TARGET)} == {""}
