"""Converse: for each rule a body it refuses and a body it accepts."""

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.facts.target import IdRule, Target
from canonicall.verify import verify

TARGET = Target(
    media=("image", "document", "video"),
    format="bedrock",
    ids=IdRule(pattern="[a-zA-Z0-9_.:-]+", max_length=64),
    results="user_message",
    result_media=("image",),
    result_error_flag=True,
    reasoning="signed",
    merge_roles=True,
    starts_with_user=True,
    tools_with_history=True,
    forced_choice_with_reasoning=False,
    max_tools=2,
    cache_marks=4,
)
POINT = {"cachePoint": {"type": "default"}}
LONG_POINT = {"cachePoint": {"type": "default", "ttl": "1h"}}
REASONING = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


class Case(NamedTuple):
    refused: dict[str, Any]
    accepted: dict[str, Any]
    target: Target = TARGET
    accepted_target: Target | None = None


def text(value: str) -> dict[str, Any]:
    return {"text": value}


def use(id: str = "a", **fields: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id, "name": "get", "input": {}, **fields}}


def result(id: str = "a", *parts: Any, **fields: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": id, "content": list(parts) or [text("1")], **fields}}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def asked(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def spec(name: str = "get", schema: Any = None) -> dict[str, Any]:
    return {"toolSpec": {"name": name, "inputSchema": {"json": schema or {"type": "object"}}}}


def tools(*specs: Any, **fields: Any) -> dict[str, Any]:
    return {"tools": list(specs), **fields}


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"messages": list(messages), "toolConfig": tools(spec()), **fields}


def named(name: str) -> dict[str, Any]:
    return {"document": {"format": "txt", "name": name, "source": {"bytes": "eA=="}}}


HELLO = asked(text("Hello"))
FINE = body(HELLO, said(use()), asked(result()))


def test_json_in_a_result_is_an_object():
    assert "bad_result_content" in verify(
        body(HELLO, said(use()), asked(result("a", {"json": [1]}))), TARGET
    )
    assert not verify(body(HELLO, said(use()), asked(result("a", {"json": {"a": 1}}))), TARGET)


CASES = {
    "empty_input": Case(body(), body(HELLO)),
    "unknown_role": Case(body({**HELLO, "role": "tool"}), body(HELLO)),
    "must_start_with_user": Case(body(said(text("Hi")), HELLO), body(HELLO)),
    "must_end_with_user": Case(
        body(HELLO, said(text("So"))),
        body(HELLO, said(text("So"))),
        replace(TARGET, ends_with_user=True),
        TARGET,
    ),
    "roles_do_not_alternate": Case(body(HELLO, HELLO), body(HELLO, said(text("Hi")), HELLO)),
    "empty_message": Case(body(asked()), body(HELLO)),
    "blank_text": Case(body(asked(text(" "))), body(asked(text("\n"), text("Hello")))),
    "bad_part": Case(body(asked({"text": "Hi", "image": {}})), body(HELLO)),
    "bad_document_name": Case(
        body(asked(named("a b"), text("Read."), named("a  b"))),
        body(asked(named("a_b (1) [x]-y"), text("Read."), named("b"))),
    ),
    "document_without_text": Case(
        body(asked({"document": {}})), body(asked({"document": {}}, text("Read it.")))
    ),
    "reasoning_refused": Case(
        body(HELLO, said(REASONING, text("Hi")), HELLO),
        body(HELLO, said(REASONING, text("Hi")), HELLO),
        replace(TARGET, reasoning="none"),
        TARGET,
    ),
    "missing_call_id": Case(body(HELLO, said(use("")), asked(result(""))), FINE),
    "bad_call_id": Case(body(HELLO, said(use("a b")), asked(result("a b"))), FINE),
    "call_id_too_long": Case(body(HELLO, said(use("a" * 65)), asked(result("a" * 65))), FINE),
    "calls_in_wrong_role": Case(body(asked(use()), said(text("Hi")), HELLO), FINE),
    "bad_tool_name": Case(body(HELLO, said(use(name="a.b")), asked(result())), FINE),
    "arguments_not_object": Case(body(HELLO, said(use(input="{}")), asked(result())), FINE),
    "missing_result": Case(body(HELLO, said(use()), HELLO), FINE),
    "orphan_result_sent": Case(body(HELLO, said(text("Hi")), asked(result())), FINE),
    "duplicate_result_sent": Case(body(HELLO, said(use()), asked(result(), result())), FINE),
    "duplicate_call_id": Case(
        body(HELLO, said(use(), use()), asked(result())),
        body(HELLO, said(use()), asked(result()), said(use()), asked(result())),
    ),
    "empty_result": Case(
        body(HELLO, said(use()), asked({"toolResult": {"toolUseId": "a", "content": []}})),
        FINE,
        replace(TARGET, empty_results=False),
    ),
    "bad_result_content": Case(
        body(HELLO, said(use()), asked(result("a", {"video": {"format": "mp4"}}))),
        body(HELLO, said(use()), asked(result("a", {"image": {"format": "png"}}))),
    ),
    "unknown_field": Case(
        body(HELLO, said(use()), asked(result(status="error"))),
        FINE,
        replace(TARGET, result_error_flag=False),
    ),
    "results_not_alone": Case(
        body(HELLO, said(use()), asked(result(), text("And?"))),
        body(HELLO, said(use()), asked(result(), POINT)),
        replace(TARGET, results="own_user_message"),
    ),
    "tools_missing": Case({"messages": FINE["messages"]}, FINE),
    "empty_tools": Case(body(HELLO, toolConfig=tools()), {"messages": [HELLO]}),
    "too_many_tools": Case(
        body(HELLO, toolConfig=tools(spec("a"), spec("b"), spec("c"))),
        body(HELLO, toolConfig=tools(spec("a"), spec("b"))),
    ),
    "duplicate_tool_name": Case(body(HELLO, toolConfig=tools(spec(), spec())), body(HELLO)),
    "empty_description": Case(
        body(HELLO, toolConfig=tools({"toolSpec": {**spec()["toolSpec"], "description": ""}})),
        body(HELLO, toolConfig=tools({"toolSpec": {**spec()["toolSpec"], "description": "x"}})),
    ),
    "bad_tool_schema": Case(
        body(HELLO, toolConfig=tools(spec(schema={"type": "array"}))), body(HELLO)
    ),
    "choice_names_unknown_tool": Case(
        body(HELLO, toolConfig=tools(spec(), toolChoice={"tool": {"name": "put"}})),
        body(HELLO, toolConfig=tools(spec(), toolChoice={"tool": {"name": "get"}})),
    ),
    "choice_unsupported": Case(
        body(HELLO, toolConfig=tools(spec(), toolChoice={"any": {}})),
        body(HELLO, toolConfig=tools(spec(), toolChoice={"auto": {}})),
        replace(TARGET, choice_modes=("auto",)),
    ),
    "parameter_unsupported": Case(
        body(HELLO, inferenceConfig={"topP": 0.5}),
        body(HELLO, inferenceConfig={"temperature": 1}),
        replace(TARGET, refused_params=("temperature", "top_p")),
    ),
    "forced_choice_with_thinking": Case(
        body(
            HELLO,
            toolConfig=tools(spec(), toolChoice={"any": {}}),
            additionalModelRequestFields=THINKING,
        ),
        body(HELLO, toolConfig=tools(spec(), toolChoice={"any": {}})),
    ),
    "cache_mark_misplaced": Case(
        body(asked(text("Hi"), named("a"), POINT)),
        body(asked(text("Hi"), named("a"), text("So?"), POINT)),
        replace(TARGET, marked_documents=False),
    ),
    "cache_mark_order": Case(
        body(asked(text("Hi"), POINT, text("So?"), LONG_POINT)),
        body(asked(text("Hi"), LONG_POINT, text("So?"), POINT)),
        replace(TARGET, cache_order=True),
    ),
    "too_many_cache_marks": Case(
        body(asked(text("Hi"), *[POINT] * 5)), body(asked(text("Hi"), *[POINT] * 4))
    ),
}


def test_no_two_documents_have_one_name():
    """Those of results are counted as well."""
    twice = asked(named("a"), text("Read."))
    assert not verify(body(twice), TARGET)
    answered = asked(result("a", named("a")))
    target = replace(TARGET, result_media=("document",))
    (violation,) = verify(body(twice, said(use()), answered), target)
    assert (violation.code, violation.where) == (
        "bad_document_name",
        "$.messages[2].content[0].toolResult.content[0].document.name",
    )


@pytest.mark.parametrize(
    ("kind", "format"), [("image", "png"), ("document", "pdf"), ("video", "mp4")]
)
def test_media_are_the_users(kind, format):
    block = {kind: {"format": format, "name": "a"}}
    assert "bad_part" in verify(body(HELLO, said(block, text("Hi")), HELLO), TARGET)
    assert not verify(body(asked(block, text("Hi"))), TARGET)


@pytest.mark.parametrize("kind", ["toolAddition", "toolRemoval"])
def test_tools_may_change_on_the_way(kind):
    change = {kind: {"tool": {"name": "get"}}}
    assert not verify(body(HELLO, said(text("Hi")), asked(text("Go."), change)), TARGET)


@each("code", CASES)
def test_refused(code, judge):
    judge.refuses(code, CASES[code])


@each("code", CASES)
def test_accepted(code, judge):
    judge.accepts(CASES[code])


def test_every_code_of_the_format_has_a_case(judge):
    assert judge.codes_of("bedrock", "bedrock_settings") <= set(CASES)


def test_the_error_is_in_the_words_of_the_provider():
    errors = {one.code: one.error for one in verify(body(HELLO, said(use()), HELLO), TARGET)}
    assert errors["missing_result"] == (
        "Expected toolResult blocks at messages.2.content for the following Ids: a"
    )


def test_blank_instructions_are_refused():
    assert "blank_text" in verify(body(HELLO, system=[text(" ")]), TARGET)


def test_calls_at_the_end_want_results():
    errors = [one.error for one in verify(body(HELLO, said(use())), TARGET)]
    assert errors == ["Expected toolResult blocks at messages.2.content for the following Ids: a"]


def test_claudes_way_of_thinking_is_judged_where_it_stands():
    target = replace(TARGET, thinking=("adaptive",), efforts=("low",))
    more = {"thinking": {"type": "enabled"}, "output_config": {"effort": "max"}}
    told = verify(body(HELLO, additionalModelRequestFields=more), target)
    places = {one.code: one.where for one in told}
    assert places == {
        "thinking_unsupported": "$.additionalModelRequestFields.thinking",
        "effort_unsupported": "$.additionalModelRequestFields.output_config.effort",
    }
    assert not verify(body(HELLO, additionalModelRequestFields={"thinking": "yes"}), TARGET)


SERVED = use(type="server_tool_use")
SERVED_RESULT = result(type="nova_grounding_result", status="success")


def test_a_call_that_the_provider_ran_has_its_result_in_the_same_message():
    """As Nova writes it; without such a call, a result in the model's own message is an orphan."""
    assert not verify(body(HELLO, said(SERVED, SERVED_RESULT, text("So.")), HELLO), TARGET)
    assert not verify(
        body(HELLO, said(SERVED, SERVED_RESULT, use("b")), asked(result("b"))), TARGET
    )
    alone = body(HELLO, said(SERVED_RESULT, text("So.")), HELLO)
    assert verify(alone, TARGET).counts == {"orphan_result_sent": 1}
    own = body(HELLO, said(SERVED, SERVED_RESULT, use("b")), HELLO)
    assert verify(own, TARGET).counts == {"missing_result": 1}


def test_an_id_that_is_no_text_is_malformed_in_the_model_s_own_message_too():
    """Where it is compared with the calls that the provider ran."""
    damaged = {"toolResult": {"toolUseId": {}, "content": []}}
    assert verify(body(HELLO, said(damaged), HELLO), TARGET).counts["malformed_body"] == 1
