"""The Responses API: for each rule a body it refuses and a body it accepts."""

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.codec import translate
from canonicall.facts.registry import get_target
from canonicall.facts.target import IdRule, NameRule, Target
from canonicall.verify import verify

TARGET = Target(
    format="openai-responses",
    ids=IdRule(max_length=64),
    names=NameRule(max_length=128),
    result_media=("image",),
    item_ids=True,
)
TOOL = {"type": "function", "name": "get", "parameters": {"type": "object"}}
HELLO = {"role": "user", "content": "Hello"}


class Case(NamedTuple):
    refused: dict[str, Any]
    accepted: dict[str, Any]
    target: Target = TARGET
    accepted_target: Target | None = None


def call(call_id: str = "a", **fields: Any) -> dict[str, Any]:
    base = {"type": "function_call", "call_id": call_id, "name": "get", "arguments": "{}"}
    return {**base, **fields}


def output(call_id: str = "a", value: Any = "1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": value}


def reasoning(**fields: Any) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [], **fields}


def body(*items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(items), "tools": [TOOL], **fields}


FINE = body(HELLO, call(), output())

CASES = {
    "empty_input": Case(body(), body(previous_response_id="resp_1")),
    "unknown_role": Case(body({"role": "tool", "content": "1"}), body(HELLO)),
    "empty_message": Case(body({"role": "user"}), body(HELLO)),
    "bad_part": Case(
        body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}),
        body({"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}),
    ),
    "bad_item_id": Case(
        body(HELLO, call(id="toolu_1"), output()), body(HELLO, call(id="fc_1"), output())
    ),
    "duplicate_item_id": Case(
        body(HELLO, call(id="fc_1"), output(), call("b", id="fc_1"), output("b")),
        body(HELLO, call(id="fc_1"), output(), call("b", id="fc_2"), output("b")),
    ),
    "missing_call_id": Case(body(HELLO, call(""), output("")), FINE),
    "bad_call_id": Case(body(HELLO, call("a b"), output("a b")), FINE),
    "call_id_too_long": Case(body(HELLO, call("a" * 65), output("a" * 65)), FINE),
    "duplicate_call_id": Case(
        body(HELLO, call(), call(), output(), output()),
        body(HELLO, call(), output(), call(), output()),
    ),
    "bad_tool_name": Case(body(HELLO, call(name="a.b"), output()), FINE),
    "arguments_not_text": Case(body(HELLO, call(arguments={}), output()), FINE),
    "missing_result": Case(body(HELLO, call()), FINE),
    "orphan_result_sent": Case(
        body(HELLO, output()), body(output(), previous_response_id="resp_1")
    ),
    "duplicate_result_sent": Case(body(HELLO, call(), output(), output()), FINE),
    "results_not_adjacent": Case(
        body(HELLO, call(), HELLO, output()), FINE, replace(TARGET, calls_last=True)
    ),
    "empty_result": Case(
        body(HELLO, call(), output(value=None)), body(HELLO, call(), output(value=""))
    ),
    "bad_result_content": Case(
        body(HELLO, call(), output(value=[{"type": "input_file"}])),
        body(HELLO, call(), output(value=[{"type": "input_image"}])),
    ),
    "reasoning_without_following": Case(
        body(HELLO, reasoning(id="rs_1"), HELLO),
        body(HELLO, reasoning(id="rs_1"), call(id="fc_1"), output()),
    ),
    "reasoning_refused": Case(
        body(HELLO, reasoning(), call(), output()),
        FINE,
        replace(TARGET, reasoning_refused=True),
    ),
    "missing_field": Case(
        body(HELLO, tools=[{"type": "function", "function": {"name": "get"}}]), body(HELLO)
    ),
    "too_many_tools": Case(body(HELLO, tools=[TOOL] * 129), body(HELLO, tools=[])),
    "tools_missing": Case(
        {"input": [HELLO, call(), output()]}, FINE, replace(TARGET, tools_with_history=True)
    ),
    "choice_without_tools": Case(
        {"input": "Hello", "tool_choice": "required"}, body(HELLO, tool_choice="required")
    ),
    "choice_names_unknown_tool": Case(
        body(HELLO, tool_choice={"type": "function", "name": "put"}),
        body(HELLO, tool_choice={"type": "function", "name": "get"}),
    ),
    "choice_unsupported": Case(
        body(HELLO, tool_choice="required"),
        body(HELLO, tool_choice="auto"),
        replace(TARGET, choice_modes=("auto",)),
    ),
    "parameter_unsupported": Case(
        body(HELLO, max_output_tokens=9),
        body(HELLO, temperature=0.5),
        replace(TARGET, refused_params=("max_tokens", "top_k")),
    ),
}


@each("code", CASES)
def test_refused(code, judge):
    judge.refuses(code, CASES[code])


@each("code", CASES)
def test_accepted(code, judge):
    judge.accepts(CASES[code])


def test_every_code_of_the_format_has_a_case(judge):
    """Forcing a call while thinking is the one rule that only compatible servers have."""
    assert judge.codes_of("openai_responses", "openai_responses_items") <= {
        *CASES,
        "forced_choice_with_thinking",
    }


@pytest.mark.parametrize(
    ("field", "broken", "fine", "words"),
    [
        ("unstored", {}, {"store": False}, "Store must be set to false"),
        ("unstored", {"store": True}, {"store": False}, "Store must be set to false"),
        ("stream_only", {}, {"stream": True}, "Stream must be set to true"),
        ("stream_only", {"stream": False}, {"stream": True}, "Stream must be set to true"),
        ("instructions_required", {}, {"instructions": ""}, "Instructions are required"),
    ],
)
def test_what_a_host_wants_every_request_to_say(field, broken, fine, words):
    target = replace(TARGET, **{field: True})
    assert [one.error for one in verify(body(HELLO, **broken), target)] == [words]
    assert not verify(body(HELLO, **fine), target)
    assert not verify(body(HELLO, **broken), TARGET)


def test_reasoning_without_an_id_names_nothing_stored():
    assert not verify(body(HELLO, reasoning(encrypted_content="x"), HELLO), TARGET)


def test_other_servers_have_item_ids_of_their_own():
    items = body(HELLO, reasoning(id="1e97d346"), call(), output())
    assert "bad_item_id" in verify(items, TARGET)
    assert not verify(items, replace(TARGET, item_ids=False))


def test_a_custom_call_is_not_answered_by_a_function_output():
    custom = {"type": "custom_tool_call", "call_id": "a", "name": "run", "input": "x"}
    report = verify(body(HELLO, custom, output()), TARGET)
    assert {"missing_result", "orphan_result_sent"} <= set(report.counts)


def test_an_item_reference_may_be_the_call():
    assert not verify(body({"type": "item_reference", "id": "fc_1"}, output()), TARGET)
    assert not verify(body({"id": "fc_1"}, output()), TARGET)


def test_calls_that_do_not_wait_are_known():
    items = (
        call("call_a", **{"async": True}),
        output("call_a") | {"name": "get", "namespace": "n"},
    )
    assert "unknown_field" not in verify(body(HELLO, *items), get_target("openai/openai-responses"))
    made = translate(body(HELLO, *items), "openai-responses", "openai/openai-responses")
    assert made.body["input"][1]["async"] is True
    assert "fields_dropped" not in made.report


def test_text_input_is_a_message():
    assert not verify({"model": "m", "input": "Hello"}, TARGET)


def test_a_thought_that_is_only_an_id_is_followed_by_an_id():
    """One that brings its encrypted content is looked up by nobody."""
    parted = body(HELLO, reasoning(id="rs_1"), call(), output())
    assert verify(parted, TARGET).counts == {"reasoning_without_following": 1}
    said = {"role": "assistant", "content": "So."}
    parted = body(HELLO, reasoning(id="rs_1"), said, HELLO)
    assert verify(parted, TARGET).counts == {"reasoning_without_following": 1}
    brought = reasoning(id="rs_1", encrypted_content="gAAA")
    assert not verify(body(HELLO, brought, call(), output()), TARGET)
    assert not verify(body(HELLO, reasoning(encrypted_content="gAAA"), said, HELLO), TARGET)


def test_a_call_of_an_earlier_response_has_one_output():
    """Neither the call nor the first output has to be seen for it."""
    assert not verify(body(output(), previous_response_id="resp_1"), TARGET)
    twice = body(output(), output(), previous_response_id="resp_1")
    assert verify(twice, TARGET).counts == {"duplicate_result_sent": 1}
    referred = body({"type": "item_reference", "id": "fc_1"}, output(), output())
    assert verify(referred, TARGET).counts == {"duplicate_result_sent": 1}


def test_outputs_follow_their_calls_where_these_become_messages():
    """DeepSeek: nothing stands between the calls of a turn and their outputs."""
    target = replace(TARGET, calls_last=True)
    other = call("call_2"), output("call_2")
    assert not verify(body(HELLO, call(), other[0], other[1], output(), HELLO), target)
    assert not verify(body(HELLO, call(), output(), reasoning(), *other), target)
    found = verify(body(HELLO, call(), reasoning(), other[0], output(), other[1]), target)
    (one,) = found
    assert (one.code, one.where) == ("results_not_adjacent", "$.input[2]")
    assert one.error == "No tool output found for tool call a."
    missing = verify(body(HELLO, call(), HELLO), target)
    assert missing.counts == {"missing_result": 1}
