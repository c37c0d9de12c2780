"""The thinking switch and the effort, with everything they say beyond canonical words."""

import pytest
from msgspec.structs import replace

from canonicall import Conversation, Text, Thinking, ToolCall, ToolResult
from canonicall.blocks import Native
from canonicall.errors import MalformedBody
from canonicall.facts.target import FieldRule
from canonicall.findings import Report
from canonicall.request import Params, Reasoning, Request
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.reasoning import decode_reasoning, encode_reasoning
from canonicall.wire.anthropic.request import PASSES


def passed(reasoning, native=None, target=TARGET, *, limit=8192, turns=()):
    """The fields of what is asked for, after the passes of the format; the turns; all findings."""
    params = Params(max_tokens=limit, reasoning=reasoning)
    request = Request(Conversation(), params=params, native=Native("anthropic", native or {}))
    transcript, goal = Transcript(tuple(turns), {}, {}, Report()), Goal(target)
    for step in PASSES:
        request, transcript = step.run(request, transcript, goal)
    fields = encode_reasoning(
        request.params.reasoning, request.native.fields, target, goal.findings
    )
    return fields, transcript.turns, goal.findings


FIELDS = [
    ({}, None),
    ({"thinking": {"type": "adaptive"}}, Reasoning(enabled=True)),
    (
        {"thinking": {"type": "adaptive", "display": "omitted"}},
        Reasoning(enabled=True),
    ),
    (
        {"thinking": {"type": "enabled", "budget_tokens": 2048, "display": "summarized"}},
        Reasoning(enabled=True, budget=2048),
    ),
    ({"thinking": {"type": "disabled"}}, Reasoning(enabled=False)),
    ({"thinking": {"type": "between_tools"}}, Reasoning(enabled=False)),
    ({"thinking": {"type": "of_tomorrow", "x": 1}}, None),
    ({"output_config": {"effort": "high"}}, Reasoning(effort="high")),
    (
        {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max", "format": {"a": 1}}},
        Reasoning(enabled=True, effort="max"),
    ),
    ({"output_config": {"format": {"a": 1}}}, None),
]


@pytest.mark.parametrize(("fields", "reasoning"), FIELDS)
def test_both_ways(fields, reasoning):
    findings = []
    decoded, native = decode_reasoning(fields, findings)
    assert (decoded, findings) == (reasoning, [])
    assert passed(decoded, native) == (fields, (), [])


@pytest.mark.parametrize("config", [{}, {"format": {"type": "new"}}, {"effort": "low"}])
def test_the_output_format_of_the_beta_is_read_by_its_name_of_today(config):
    """`output_config.format` counts where both are given."""
    findings = []
    before = {"output_format": {"type": "old"}, "output_config": config}
    decoded, native = decode_reasoning(before, findings)
    assert passed(decoded, native)[0] == {"output_config": {"format": {"type": "old"}, **config}}
    assert [(one.code, one.where) for one in findings] == [("legacy_field", "$.output_format")]


@pytest.mark.parametrize(
    ("reasoning", "fields", "codes"),
    [
        (Reasoning(effort="minimal"), {"output_config": {"effort": "low"}}, ["param_changed"]),
        (Reasoning(effort="none"), {"thinking": {"type": "disabled"}}, []),
        (
            Reasoning(budget=512),
            {"thinking": {"type": "enabled", "budget_tokens": 1024}},
            ["param_changed"],
        ),
        (Reasoning(), {}, []),
    ],
)
def test_words_of_other_formats(reasoning, fields, codes):
    encoded, _, findings = passed(reasoning)
    assert encoded == fields
    assert [one.code for one in findings] == codes


def test_switching_on_overrules_a_native_type():
    native = {"thinking": {"type": "between_tools"}}
    fields, *_ = passed(Reasoning(enabled=True), native)
    assert fields == {"thinking": {"type": "adaptive"}}


@pytest.mark.parametrize(
    ("kinds", "native", "enabled", "thinking"),
    [
        (("adaptive", "disabled"), {"type": "between_tools"}, False, {"type": "disabled"}),
        (("adaptive", "between_tools"), {}, False, {"type": "between_tools"}),
        (("adaptive",), {"type": "between_tools", "display": "omitted"}, None, None),
        (("adaptive",), {"display": "omitted"}, True, {"type": "adaptive", "display": "omitted"}),
        (("adaptive",), {"type": "of_tomorrow", "x": 1}, None, {"type": "of_tomorrow", "x": 1}),
    ],
)
def test_a_model_is_switched_in_its_own_way(kinds, native, enabled, thinking):
    target = replace(TARGET, thinking=kinds)
    asked = Reasoning(enabled=enabled)
    fields, *_ = passed(asked, {"thinking": native}, target)
    assert fields.get("thinking") == thinking


MANUAL = {"thinking": {"type": "enabled", "budget_tokens": 4000, "display": "omitted"}}
ASKED_FOR = Reasoning(enabled=True, budget=4000)
OMITTED = {"thinking": {"display": "omitted"}}
OFF = {"thinking": {"type": "disabled"}}
ASKED = Turn("user", (Text(text="q"),))
CALLED = Turn("assistant", (ToolCall(id="a", name="f", args={}),))
THOUGHT = Turn("assistant", (Thinking(text="hm"), *CALLED.blocks))
ANSWERED = Turn("user", (ToolResult(call_id="a", content=()),))
ADDED = Turn("user", (*ANSWERED.blocks, Text(text="and?")))


@pytest.mark.parametrize(
    ("limit", "budget"), [(4001, 4000), (4000, 2000), (2000, 1024), (1025, 1024)]
)
def test_the_budget_is_smaller_than_the_limit(limit, budget):
    fields, _, findings = passed(ASKED_FOR, OMITTED, limit=limit, turns=[ASKED])
    assert fields == {"thinking": MANUAL["thinking"] | {"budget_tokens": budget}}
    assert [one.code for one in findings] == ["param_changed"] * (budget != 4000)


def test_a_limit_below_the_least_budget_leaves_no_room_for_thinking():
    asked = replace(ASKED_FOR, effort="low")
    fields, _, findings = passed(asked, OMITTED, limit=1024, turns=[ASKED])
    assert fields == OFF | {"output_config": {"effort": "low"}}
    assert [one.code for one in findings] == ["param_changed"]


@pytest.mark.parametrize(
    ("turns", "fits"),
    [
        ([], True),
        ([ASKED], True),
        ([ASKED, THOUGHT], True),
        ([ASKED, CALLED], False),
        ([ASKED, CALLED, ADDED], True),
        ([ASKED, CALLED, ANSWERED, CALLED, ADDED, THOUGHT, ANSWERED], True),
        ([ASKED, THOUGHT, ANSWERED, CALLED, ANSWERED], True),
        ([ASKED, CALLED, ANSWERED], False),
        ([ASKED, CALLED, ANSWERED, THOUGHT, ANSWERED], False),
        ([ASKED, THOUGHT, ADDED, CALLED, ANSWERED], False),
    ],
)
def test_manual_thinking_needs_a_loop_that_began_with_a_thought(turns, fits):
    """After a switch of provider in the middle of a loop, thinking is off until the next question.
    The same goes for a reply that the model shall continue."""
    fields, _, findings = passed(ASKED_FOR, OMITTED, limit=8000, turns=turns)
    assert fields == (MANUAL if fits else OFF)
    assert [one.code for one in findings] == ([] if fits else ["param_changed"])


def test_adaptive_thinking_may_begin_anywhere():
    fields = {"thinking": {"type": "adaptive"}}
    turns = (ASKED, CALLED, ANSWERED)
    assert passed(Reasoning(enabled=True), limit=5, turns=turns) == (fields, turns, [])


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"thinking": "on"}, "$.thinking"),
        ({"thinking": {"type": 1}}, "$.thinking.type"),
        ({"output_config": [1]}, "$.output_config"),
        ({"output_config": {"effort": 1}}, "$.output_config.effort"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(fields, where):
    with pytest.raises(MalformedBody) as error:
        decode_reasoning(fields, [])
    assert error.value.where == where


CLOSED = replace(TARGET, fields=FieldRule(closed=("request",)))


@pytest.mark.parametrize(
    ("asked", "native", "sent", "lost"),
    [
        (
            Reasoning(enabled=True),
            {"thinking": {"budget_tokens": 2048, "display": "omitted"}},
            {"thinking": {"type": "adaptive", "display": "omitted"}},
            ["params.thinking.budget_tokens"],
        ),
        (
            Reasoning(enabled=True),
            {"thinking": {"display": "raw"}},
            {"thinking": {"type": "adaptive"}},
            ["params.thinking.display"],
        ),
        (
            Reasoning(enabled=False),
            {"thinking": {"display": "raw"}},
            {"thinking": {"type": "disabled"}},
            ["params.thinking.display"],
        ),
        (Reasoning(effort="huge"), {}, {}, ["params.reasoning.effort"]),
        (None, {"thinking": {"type": "of_tomorrow", "x": 1}}, None, []),
    ],
)
def test_where_fields_are_refused_only_known_ones_are_sent(asked, native, sent, lost):
    fields, _, findings = passed(asked, native, CLOSED)
    assert fields == (native if sent is None else sent)
    assert [one.where for one in findings] == lost
    others, _, told = passed(asked, native)
    assert others != fields or not lost
    assert not told


def test_words_to_be_continued_have_no_thoughts_while_thinking_is_off():
    turns = (
        Turn("user", (Text(text="a"),)),
        Turn("assistant", (Thinking(text="b"), Text(text="c"))),
    )
    _, (_, last), findings = passed(Reasoning(enabled=False), turns=turns)
    assert last == Turn("assistant", (Text(text="c"),))
    assert [(one.code, one.where) for one in findings] == [("thinking_dropped", "turns[1]")]
    for asked in (None, Reasoning(enabled=True), Reasoning(enabled=True, budget=2000)):
        assert passed(asked, turns=turns)[1] == turns
    assert passed(Reasoning(enabled=False), turns=turns[:1])[1] == turns[:1]
