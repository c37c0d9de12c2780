"""Chat Completions and its relatives: for each rule a body refused and a body accepted."""

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import IdRule, Target
from canonicall.verify import verify

TARGET = Target(format="openai-chat")
MISTRAL = Target(
    format="openai-chat",
    provider="mistral",
    ids=IdRule(style="short", pattern="[A-Za-z0-9]+", max_length=9),
    user_after_results=False,
    ends_with_user=True,
    schemas=SchemaRule(draft="draft-07"),
)
DEEPSEEK = replace(
    TARGET, provider="deepseek", reasoning_placeholder=" ", forced_choice_with_reasoning=False
)
QWEN = replace(TARGET, arguments_checked=True)
MINIMAX = replace(
    TARGET, blank_is_empty=True, empty_results=False, empty_content_beside_calls="omit"
)
GROQ = replace(TARGET, reasoning_refused=True)
TOOL = {"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}
DRAFT_4 = {"properties": {"a": {"minimum": 0, "exclusiveMinimum": True}}}
DRAFT_7 = {"properties": {"a": {"exclusiveMinimum": 0, "items": [{"type": "string"}]}}}
HELLO = {"role": "user", "content": "Hello"}
SYSTEM = {"role": "system", "content": "Be brief."}
DONE = {"role": "assistant", "content": "Done"}


class Case(NamedTuple):
    refused: dict[str, Any]
    accepted: dict[str, Any]
    target: Target = TARGET
    accepted_target: Target | None = None


def call(id: str = "a", name: str = "get", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(*calls: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls), **fields}


def result(id: str = "a", content: Any = "1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), "tools": [TOOL], **fields}


FINE = body(HELLO, said(call()), result())

CASES = {
    "empty_input": Case(body(), body(HELLO)),
    "unknown_role": Case(
        body({"role": "developer", "content": "Be brief."}, HELLO),
        body({"role": "developer", "content": "Be brief."}, HELLO),
        accepted_target=replace(TARGET, developer=True),
    ),
    "empty_message": Case(body({"role": "assistant"}, HELLO), body(HELLO, said(call()), result())),
    "bad_part": Case(
        body(HELLO, {"role": "assistant", "content": [{"type": "image_url"}]}),
        body({"role": "user", "content": [{"type": "image_url"}]}),
    ),
    "empty_tool_calls": Case(body(HELLO, said(content="Hi"), HELLO), body(HELLO, DONE, HELLO)),
    "calls_in_wrong_role": Case(body({**HELLO, "tool_calls": [call()]}), body(HELLO)),
    "too_many_calls": Case(
        body(HELLO, said(call("a"), call("b")), result("a"), result("b")),
        FINE,
        replace(TARGET, calls_per_message=1),
    ),
    "text_beside_calls": Case(
        body(HELLO, said(call(), content="Let me see."), result()),
        body(HELLO, said(call(), content=""), result()),
        replace(TARGET, text_beside_calls=False),
    ),
    "missing_call_id": Case(body(HELLO, said(call("")), result("")), FINE),
    "bad_call_id": Case(
        body(HELLO, said(call("functions.get:0")), result("functions.get:0")),
        body(HELLO, said(call("functions.get:0")), result("functions.get:0")),
        accepted_target=replace(
            TARGET, ids=IdRule(style="numbered", pattern=r"functions\.[\w-]+:\d+", max_length=128)
        ),
    ),
    "call_id_too_long": Case(body(HELLO, said(call("a" * 41)), result("a" * 41)), FINE),
    "duplicate_call_id": Case(
        body(HELLO, said(call(), call()), result()),
        body(HELLO, said(call()), result(), said(call()), result()),
    ),
    "bad_tool_name": Case(body(HELLO, said(call(name="a b")), result()), FINE),
    "arguments_not_text": Case(body(HELLO, said(call(arguments={})), result()), FINE),
    "arguments_not_json": Case(
        body(HELLO, said(call(arguments="")), result()),
        body(HELLO, said(call(arguments="")), result()),
        QWEN,
        TARGET,
    ),
    "missing_result": Case(body(HELLO, said(call("a"), call("b")), result()), FINE),
    "results_not_adjacent": Case(body(HELLO, said(call()), HELLO, result()), FINE),
    "orphan_result_sent": Case(body(HELLO, result()), FINE),
    "duplicate_result_sent": Case(body(HELLO, said(call()), result(), result()), FINE),
    "empty_result": Case(
        body(HELLO, said(call()), result(content=None)),
        body(HELLO, said(call()), result(content="")),
    ),
    "bad_result_content": Case(
        body(HELLO, said(call()), result(content=[{"type": "image_url"}])),
        body(HELLO, said(call()), result(content=[{"type": "text", "text": "1"}])),
    ),
    "reasoning_missing": Case(
        FINE, body(HELLO, said(call(), reasoning_content=" "), result()), DEEPSEEK
    ),
    "unknown_field": Case(
        body(HELLO, {**DONE, "reasoning": "Hm."}, HELLO), body(HELLO, DONE, HELLO), GROQ
    ),
    "user_after_tool": Case(
        body(HELLO, said(call("abcdefghi")), result("abcdefghi"), HELLO),
        body(HELLO, said(call("abcdefghi")), result("abcdefghi"), DONE, HELLO),
        MISTRAL,
    ),
    "bad_role_order": Case(body(HELLO, DONE, SYSTEM, HELLO), body(SYSTEM, HELLO), MISTRAL),
    "roles_do_not_alternate": Case(
        body(HELLO, HELLO), body(HELLO, DONE, HELLO), replace(TARGET, merge_roles=True)
    ),
    "misplaced_instructions": Case(
        body(HELLO, SYSTEM), body(SYSTEM, HELLO), replace(TARGET, system_later=False)
    ),
    "must_start_with_user": Case(
        body(SYSTEM, DONE, HELLO), body(SYSTEM, HELLO), replace(TARGET, starts_with_user=True)
    ),
    "must_end_with_user": Case(body(HELLO, DONE), body(HELLO, {**DONE, "prefix": True}), MISTRAL),
    "empty_tools": Case(body(HELLO, tools=[]), {"messages": [HELLO]}),
    "too_many_tools": Case(body(HELLO, tools=[TOOL] * 129), body(HELLO, tools=[TOOL] * 128)),
    "tools_missing": Case(
        {"messages": [HELLO, said(call()), result()]},
        FINE,
        replace(TARGET, tools_with_history=True),
    ),
    "missing_field": Case(body(HELLO, tools=[{"type": "function", "name": "get"}]), body(HELLO)),
    "bad_tool_schema": Case(
        body(
            HELLO,
            tools=[
                {"type": "function", "function": {"name": "g", "parameters": {"type": "array"}}}
            ],
        ),
        body(HELLO, tools=[{"type": "function", "function": {"name": "g"}}]),
    ),
    "invalid_schema": Case(
        body(HELLO, tools=[{"type": "function", "function": {"name": "g", "parameters": DRAFT_4}}]),
        body(HELLO, tools=[{"type": "function", "function": {"name": "g", "parameters": DRAFT_7}}]),
        MISTRAL,
    ),
    "choice_without_tools": Case(
        {"messages": [HELLO], "tool_choice": "auto"}, body(HELLO, tool_choice="auto")
    ),
    "choice_names_unknown_tool": Case(
        body(HELLO, tool_choice={"type": "function", "function": {"name": "put"}}),
        body(HELLO, tool_choice={"type": "function", "function": {"name": "get"}}),
    ),
    "choice_unsupported": Case(
        body(HELLO, tool_choice="required"),
        body(HELLO, tool_choice="auto"),
        replace(TARGET, choice_modes=("auto", "none")),
    ),
    "parameter_unsupported": Case(
        body(HELLO),
        body(HELLO, reasoning_effort="none"),
        replace(TARGET, tools_while_reasoning=False),
    ),
    "forced_choice_with_thinking": Case(
        body(HELLO, tool_choice="required"),
        body(HELLO, tool_choice="required", thinking={"type": "disabled"}),
        DEEPSEEK,
    ),
}


@each("code", CASES)
def test_refused(code, judge):
    judge.refuses(code, CASES[code])


@each("code", CASES)
def test_accepted(code, judge):
    judge.accepts(CASES[code])


def test_every_code_of_the_format_has_a_case(judge):
    modules = ("openai_chat", "openai_chat_order", "openai_chat_settings", "pairing")
    assert judge.codes_of(*modules) <= set(CASES)


def test_the_error_is_in_the_words_of_the_provider():
    unanswered = body(HELLO, said(call("a"), call("b")), result("c"))
    errors = {one.code: one.error for one in verify(unanswered, TARGET)}
    assert errors["missing_result"] == (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: a, b"
    )
    assert errors["orphan_result_sent"] == (
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
        "'tool_calls'."
    )


@pytest.mark.parametrize(
    ("messages", "code", "error"),
    [
        (
            [HELLO, said(call("call_abc")), result("call_abc")],
            "bad_call_id",
            "Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9.",
        ),
        (
            [HELLO, said(call("abcdefghi"))],
            "missing_result",
            "Not the same number of function calls and responses",
        ),
        (
            [HELLO, said(call("abcdefghi")), result("abcdefghi"), result("ihgfedcba")],
            "orphan_result_sent",
            "Unexpected tool call id ihgfedcba in tool results",
        ),
        (
            [HELLO, said(call("abcdefghi")), result("abcdefghi"), HELLO],
            "user_after_tool",
            "Unexpected role 'user' after role 'tool'",
        ),
    ],
)
def test_mistral_has_its_own_words(messages, code, error):
    found = {one.code: one.error for one in verify(body(*messages), MISTRAL)}
    assert found[code] == error


def test_mistral_takes_arguments_as_an_object():
    assert not verify(
        body(HELLO, said(call("abcdefghi", arguments={"a": 1})), result("abcdefghi")), MISTRAL
    )


def test_a_late_result_is_reported_once():
    """Moved away from its call, a result is not an orphan as well."""
    report = verify(body(HELLO, said(call()), HELLO, result()), TARGET)
    assert report.counts == {"results_not_adjacent": 1}


def test_results_without_ids_are_paired_by_place_where_ids_are_optional():
    loose = replace(TARGET, ids=IdRule(style="echoed"))
    assert not verify(body(HELLO, said(call("")), result("")), loose)
    assert "missing_result" in verify(body(HELLO, said(call(""), call("")), result("")), loose)


@pytest.mark.parametrize(
    ("message", "target"),
    [
        ({"role": "user", "content": []}, TARGET),
        ({"role": "assistant", "content": ""}, MISTRAL),
        ({"role": "user", "content": ""}, MINIMAX),
    ],
)
def test_a_message_without_content_is_refused(message, target):
    assert "empty_message" in verify(body(HELLO, message, HELLO), target)


def test_a_custom_call_has_no_arguments():
    custom = {"id": "a", "type": "custom", "custom": {"name": "run", "input": "x"}}
    assert not verify(body(HELLO, said(custom), result()), TARGET)


def test_a_blank_result_is_refused_where_results_need_content():
    blank = body(HELLO, said(call()), result(content=""))
    assert "empty_result" in verify(blank, replace(TARGET, empty_results=False))


def test_minimax_counts_blank_content_as_none():
    blank = body(HELLO, said(call(), content=""), result())
    assert "empty_message" in verify(blank, MINIMAX)
    assert not verify(blank, TARGET)


@pytest.mark.parametrize("words", [{}, {"refusal": None}])
def test_a_host_that_wants_a_string_beside_calls_refuses_null(words):
    """llama-cpp-python: the content is a string, which may be missing; null is neither."""
    goal = replace(TARGET, empty_content_beside_calls="empty")
    null = body(HELLO, said(call(), content=None, **words), result())
    assert "empty_message" in verify(null, goal)
    assert not verify(null, TARGET)
    for fields in ({}, {"content": ""}, {"content": "Hm."}):
        assert not verify(body(HELLO, said(call(), **fields), result()), goal)


def test_parallel_calls_without_tools_are_refused_by_openai():
    request = {"messages": [HELLO], "parallel_tool_calls": False}
    assert "choice_without_tools" in verify(request, replace(TARGET, parallel_needs_tools=True))
    assert not verify(request, TARGET)
