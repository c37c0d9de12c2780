"""The Messages API: for each rule a body it refuses and a body it accepts."""

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.facts.target import FieldRule, IdRule, NameRule, Target
from canonicall.verify import verify

TARGET = Target(
    format="anthropic",
    ids=IdRule(max_length=64),
    names=NameRule(max_length=128),
    cache_marks=4,
    forced_choice_with_reasoning=False,
    fields=FieldRule(closed=("message", "text", "result", "call")),
)
TOOL = {"name": "get", "input_schema": {"type": "object"}}
HELLO = {"role": "user", "content": "Hello"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
MARK = {"type": "ephemeral"}
LONG = MARK | {"ttl": "1h"}
SUMMARY = {"type": "compaction", "content": "Hello was said.", "signature": "c29tZQ=="}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
MANUAL = {"type": "enabled", "budget_tokens": 1024}


class Case(NamedTuple):
    refused: dict[str, Any]
    accepted: dict[str, Any]
    target: Target = TARGET
    accepted_target: Target | None = None


def text(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **fields}


def use(id: str = "a", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "get", "input": {}, **fields}


def result(id: str = "a", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "1", **fields}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def asked(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 2048, "tools": [TOOL], "messages": list(messages), **fields}


def loop(call: dict[str, Any], *answers: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return body(HELLO, said(call), asked(*answers), **fields)


FINE = loop(use(), result())

CASES = {
    "empty_input": Case(body(), body(HELLO)),
    "missing_field": Case({"model": "m", "messages": [HELLO]}, body(HELLO)),
    "unknown_field": Case(body({**HELLO, "name": "x"}), body(HELLO)),
    "unknown_role": Case(body({"role": "tool", "content": "1"}), body(HELLO)),
    "misplaced_instructions": Case(
        body(HELLO, {"role": "system", "content": "Be brief."}),
        body(HELLO, system="Be brief."),
        replace(TARGET, system_later=False),
    ),
    "bad_role_order": Case(
        body(HELLO, said(text("Hi")), {"role": "system", "content": "Be brief."}, HELLO),
        body(HELLO, {"role": "system", "content": "Be brief."}),
    ),
    "must_start_with_user": Case(
        body(said(text("Hi")), HELLO), body(HELLO), replace(TARGET, starts_with_user=True)
    ),
    "must_end_with_user": Case(
        body(HELLO, said(text("So"))), body(HELLO), replace(TARGET, ends_with_user=True)
    ),
    "trailing_whitespace": Case(body(HELLO, said(text("So "))), body(HELLO, said(text("So")))),
    "empty_message": Case(body(asked(), said(text("Hi"))), body(HELLO, said())),
    "blank_text": Case(
        body(HELLO, said(text(""), use()), asked(result())),
        body(HELLO, said(text("\n\n"), use()), asked(result())),
    ),
    "cache_mark_on_blank_text": Case(
        body(asked(text("", cache_control=MARK))), body(asked(text("Hi", cache_control=MARK)))
    ),
    "missing_result": Case(body(HELLO, said(use()), asked(text("1"))), FINE),
    "orphan_result_sent": Case(loop(use(), result(), result("b")), FINE),
    "duplicate_result_sent": Case(loop(use(), result(), result()), FINE),
    "duplicate_call_id": Case(
        body(HELLO, said(use(), use()), asked(result())),
        body(HELLO, said(use()), asked(result()), said(use()), asked(result())),
    ),
    "results_not_first": Case(
        loop(use(), text("Here:"), result()), loop(use(), result(), text("Here."))
    ),
    "calls_not_last": Case(
        body(HELLO, said(use(), text("I look.")), asked(result())),
        body(HELLO, said(text("I look."), use()), asked(result())),
    ),
    "missing_call_id": Case(loop(use(""), result("")), FINE),
    "bad_call_id": Case(loop(use("a.b"), result("a.b")), FINE),
    "call_id_too_long": Case(loop(use("a" * 65), result("a" * 65)), FINE),
    "bad_tool_name": Case(
        loop(use(name="g" * 201), result()), loop(use(name="not now declared"), result())
    ),
    "arguments_not_object": Case(loop(use(input="{}"), result()), FINE),
    "empty_result": Case(
        loop(use(), result(content=[])), loop(use(), {"type": "tool_result", "tool_use_id": "a"})
    ),
    "bad_result_content": Case(
        loop(use(), result(content=[{"type": "audio"}])), loop(use(), result(content=[text("1")]))
    ),
    "error_result_not_text": Case(
        loop(use(), result(is_error=True, content=[{"type": "image", "source": {}}])),
        loop(use(), result(is_error=True, content=[text("no")])),
    ),
    "thinking_unsigned": Case(
        body(HELLO, said({"type": "thinking", "thinking": "Hm."}, text("Hi")), HELLO),
        body(HELLO, said(THINKING, text("Hi")), HELLO),
    ),
    "thinking_last": Case(
        body(HELLO, said(text("Hi"), THINKING), HELLO),
        body(HELLO, said(THINKING, text("Hi")), HELLO),
    ),
    "thinking_missing": Case(
        loop(use(), result(), thinking={**MANUAL}),
        body(HELLO, said(THINKING, use()), asked(result()), thinking={**MANUAL}),
    ),
    "thinking_while_off": Case(
        body(HELLO, said(THINKING, text("So")), thinking={"type": "disabled"}),
        body(HELLO, said(THINKING, text("So")), HELLO, thinking={"type": "disabled"}),
    ),
    "thinking_budget": Case(
        body(HELLO, thinking={"type": "enabled", "budget_tokens": 4096}),
        body(HELLO, thinking=MANUAL),
    ),
    "server_call_unanswered": Case(
        body(HELLO, said(use("srvtoolu_1", type="server_tool_use")), HELLO),
        body(HELLO, said(use("srvtoolu_1", type="server_tool_use"))),
    ),
    "tools_missing": Case(
        loop(use(), result(), tools=[]), FINE, replace(TARGET, tools_with_history=True)
    ),
    "too_many_tools": Case(
        body(HELLO, tools=[TOOL, {**TOOL, "name": "b"}]), body(HELLO), replace(TARGET, max_tools=1)
    ),
    "duplicate_tool_name": Case(body(HELLO, tools=[TOOL, TOOL]), body(HELLO)),
    "bad_tool_schema": Case(
        body(HELLO, tools=[{"name": "get", "input_schema": {"type": "string"}}]), body(HELLO)
    ),
    "choice_without_tools": Case(
        body(HELLO, tools=[], tool_choice={"type": "auto"}),
        body(HELLO, tool_choice={"type": "auto"}),
    ),
    "choice_names_unknown_tool": Case(
        body(HELLO, tool_choice={"type": "tool", "name": "put"}),
        body(HELLO, tool_choice={"type": "tool", "name": "get"}),
    ),
    "choice_unsupported": Case(
        body(HELLO, tool_choice={"type": "any"}),
        body(HELLO, tool_choice={"type": "auto"}),
        replace(TARGET, choice_modes=("auto", "none")),
    ),
    "forced_choice_with_thinking": Case(
        body(HELLO, tool_choice={"type": "any"}, thinking=MANUAL),
        body(HELLO, tool_choice={"type": "any"}),
    ),
    "parameter_unsupported": Case(
        body(HELLO, temperature=0.5),
        body(HELLO, top_k=5),
        replace(TARGET, refused_params=("temperature", "top_p")),
    ),
    "thinking_unsupported": Case(
        body(HELLO, thinking=MANUAL),
        body(HELLO, thinking={"type": "adaptive"}),
        replace(TARGET, thinking=("adaptive", "disabled")),
    ),
    "effort_unsupported": Case(
        body(HELLO, output_config={"effort": "xhigh"}),
        body(HELLO, output_config={"effort": "max"}),
        replace(TARGET, efforts=("low", "max")),
    ),
    "cache_mark_on_deferred_tool": Case(
        body(HELLO, tools=[TOOL | {"defer_loading": True, "cache_control": MARK}]),
        body(
            HELLO,
            tools=[TOOL | {"defer_loading": True}, TOOL | {"name": "b", "cache_control": MARK}],
        ),
    ),
    "cache_mark_misplaced": Case(
        body(HELLO, said(use()), asked(result(content=[text("ok", cache_control=MARK)]))),
        body(HELLO, said(use()), asked(result(content=[text("ok")], cache_control=MARK))),
        replace(TARGET, marked_results=False),
    ),
    "cache_mark_order": Case(
        body(asked(text("Hi", cache_control=LONG)), tools=[TOOL | {"cache_control": MARK}]),
        body(asked(text("Hi", cache_control=MARK)), tools=[TOOL | {"cache_control": LONG}]),
        replace(TARGET, cache_order=True),
    ),
    "bad_part": Case(
        body(HELLO, said(IMAGE), HELLO),
        body(asked(IMAGE), said(text("A cat.")), HELLO),
    ),
    "calls_in_wrong_role": Case(
        body(HELLO, asked(use())),
        body(HELLO, said(use()), asked(result())),
    ),
    "bad_cache_mark": Case(
        body(asked(text("Hi", cache_control=MARK | {"ttl": "2h"}))),
        body(asked(text("Hi", cache_control=LONG))),
    ),
    "compaction_misplaced": Case(
        body(HELLO, said(SUMMARY), HELLO),
        body(asked(SUMMARY, text("Hi"))),
    ),
    "compaction_repeated": Case(
        body(asked(SUMMARY, text("Hi")), said(SUMMARY), HELLO),
        body(asked(SUMMARY, text("Hi")), said(SUMMARY | {"content": None}), HELLO),
    ),
    "too_many_messages": Case(
        body(*[HELLO] * 100_001),
        body(*[HELLO] * 100_000),
    ),
    "too_many_cache_marks": Case(
        body(asked(*[text("Hi", cache_control=MARK)] * 5)),
        body(asked(*[text("Hi", cache_control=MARK)] * 4)),
    ),
}


@each("code", CASES)
def test_refused(code, judge):
    judge.refuses(code, CASES[code])


@each("code", CASES)
def test_accepted(code, judge):
    judge.accepts(CASES[code])


def test_every_code_of_the_format_has_a_case(judge):
    modules = (
        *("anthropic", "anthropic_pairs", "anthropic_settings", "thinking"),
        *("anthropic_compaction", "anthropic_instructions", "anthropic_marks"),
        "anthropic_parameters",
    )
    assert judge.codes_of(*modules) <= set(CASES)


@pytest.mark.parametrize(
    ("fields", "rules", "words"),
    [
        (
            {"thinking": {"type": "adaptive"}},
            {"thinking": ("enabled", "disabled")},
            "adaptive thinking is not supported on this model",
        ),
        (
            {"thinking": {"type": "disabled"}},
            {"thinking": ("adaptive",)},
            '"thinking.type.disabled" is not supported for this model.',
        ),
        (
            {"output_config": {"effort": "low"}},
            {"efforts": ()},
            "This model does not support the effort parameter.",
        ),
    ],
)
def test_ways_of_thinking_that_a_model_does_not_know(fields, rules, words):
    told = verify(body(HELLO, **fields), replace(TARGET, **rules))
    assert [one.error for one in told] == [words]
    assert not verify(body(HELLO, **fields), TARGET)
    assert not verify(body(HELLO, thinking={"type": "of_tomorrow"}), replace(TARGET, **rules))


def test_the_error_is_in_the_words_of_the_provider():
    calls = body(HELLO, said(use("a"), use("b")), asked(result("c")))
    errors = {one.code: one.error for one in verify(calls, TARGET)}
    assert errors["missing_result"] == (
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )
    assert errors["orphan_result_sent"] == (
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: c. Each "
        "`tool_result` block must have a corresponding `tool_use` block in the previous message."
    )


def test_results_in_two_user_messages_are_one_turn():
    """The API merges messages of one role, so results may come in several of them."""
    assert not verify(
        body(HELLO, said(use("a"), use("b")), asked(result("a")), asked(result("b"))), TARGET
    )


def test_instructions_between_a_call_and_its_result_part_them():
    system = {"role": "system", "content": "Be brief."}
    report = verify(body(HELLO, said(use()), system, asked(result())), TARGET)
    assert {"missing_result", "orphan_result_sent"} <= set(report.counts)


def test_a_result_of_a_server_tool_without_its_call_is_an_orphan():
    block = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    assert "orphan_result_sent" in verify(body(HELLO, said(block, text("So")), HELLO), TARGET)


def test_a_server_tool_may_wait_while_only_results_are_sent():
    """Programmatic calls: the code still runs while the caller answers what it asked for."""
    server = use("srvtoolu_1", type="server_tool_use", name="code_execution")
    tools = [TOOL, {"type": "code_execution_20260521", "name": "code_execution"}]
    waiting = body(HELLO, said(server, use()), asked(result()), tools=tools)
    assert not verify(waiting, TARGET)
    assert verify(waiting | {"tools": [TOOL]}, TARGET).counts == {"tools_missing": 1}
    spoken = body(HELLO, said(server, use()), asked(result(), text("And?")), tools=tools)
    assert "server_call_unanswered" in verify(spoken, TARGET)


def test_the_result_of_a_toolset_repeats_its_name():
    call = use(toolset_name="browser")
    assert not verify(loop(call, result(toolset_name="browser")), TARGET)
    assert verify(loop(call, result()), TARGET).counts == {"missing_field": 1}
    assert verify(loop(use(), result(toolset_name="browser")), TARGET)


def test_not_all_tools_are_loaded_later():
    later = TOOL | {"name": "put", "defer_loading": True}
    assert not verify(body(HELLO, tools=[TOOL, later]), TARGET)
    assert verify(body(HELLO, tools=[later]), TARGET).counts == {"tools_missing": 1}


def test_a_mark_inside_a_result_counts():
    marked = result(content=[text("1", cache_control=MARK)] * 5)
    assert "too_many_cache_marks" in verify(loop(use(), marked), TARGET)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"system": [text(" ")]}, "blank_text"),
        ({"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}, "bad_tool_name"),
        ({"tools": [{"name": "a", "input_schema": {"anyOf": []}}]}, "bad_tool_schema"),
        ({"tools": [{"name": "a", "input_schema": {}}]}, "bad_tool_schema"),
        ({"tools": [{"name": "a"}]}, "bad_tool_schema"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1}}, "thinking_budget"),
    ],
)
def test_what_stands_around_the_messages(fields, code):
    assert verify(body(HELLO, **fields), TARGET).counts == {code: 1}


def test_reasoning_needs_no_signature_where_it_is_sent_in_the_open():
    unsigned = body(HELLO, said({"type": "thinking", "thinking": "Hm."}, text("Hi")), HELLO)
    assert not verify(unsigned, replace(TARGET, reasoning="open"))


def test_a_paused_turn_may_be_the_last():
    server = use("srvtoolu_1", type="server_tool_use")
    paused = body(HELLO, said(text("So"), server))
    assert not verify(paused, replace(TARGET, ends_with_user=True))


def test_thinking_is_demanded_of_the_loop_that_is_open_only():
    """A loop that a user message has ended needs no reasoning at its head."""
    ended = body(HELLO, said(use()), asked(result()), said(text("Done")), HELLO, thinking=MANUAL)
    assert not verify(ended, TARGET)


def test_a_server_call_has_the_providers_own_id():
    server = use("toolu_1", type="server_tool_use")
    assert verify(body(HELLO, said(server)), TARGET).counts == {"bad_call_id": 1}


def test_a_host_that_is_not_known_to_refuse_fields_gets_them():
    lenient = replace(TARGET, fields=FieldRule())
    assert list(verify(loop(use(index=0), result()), lenient)) == []


def test_a_block_has_no_fields_of_other_formats():
    report = verify(loop(use(index=0), result()), TARGET)
    assert [(one.code, one.where, one.error) for one in report] == [
        (
            "unknown_field",
            "$.messages[1].content[0].index",
            "messages.1.content.0.tool_use.index: Extra inputs are not permitted",
        )
    ]
