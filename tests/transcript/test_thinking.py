"""Thinking is asked for in the way that a model takes, and what was changed for it is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import Conversation
from canonicall.codec import decode_request, encode_request
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.request import Params, Reasoning, Request, Tool
from canonicall.transcript.thinking import EFFORTS, fitted_reasoning
from canonicall.verify import verify

ADAPTIVE = Target(format="x", thinking=("adaptive", "disabled"))
ALWAYS = Target(format="x", thinking=("adaptive",))
MANUAL = Target(format="x", thinking=("enabled", "disabled"), efforts=())
BOTH = Target(format="x", thinking=("enabled", "disabled"), efforts=("low", "medium", "high"))
NO_MORE = Target(format="x", efforts=("low", "medium", "high", "max"))
HIGH = Reasoning(enabled=True, effort="high")


def fitted(target, *asked, limit=None, **more):
    params = Params(reasoning=Reasoning(*asked, **more), max_tokens=limit)
    reasoning, findings = fitted_reasoning(params, target)
    return reasoning, [(one.code, one.where) for one in findings]


@pytest.mark.parametrize(
    ("budget", "effort"), [(1024, "low"), (4096, "low"), (8192, "medium"), (32000, "high")]
)
def test_a_budget_is_an_effort_where_the_model_decides_itself(budget, effort):
    reasoning, findings = fitted(ADAPTIVE, True, budget=budget)
    assert reasoning == Reasoning(enabled=True, effort=effort)
    assert findings == [("param_changed", "params.reasoning.budget")]
    assert fitted(ADAPTIVE, True, "low", budget)[0].effort == "low"


@pytest.mark.parametrize("effort", EFFORTS[1:4])
def test_an_effort_comes_back_as_it_was(effort):
    there, _ = fitted(MANUAL, True, effort)
    assert fitted(ADAPTIVE, True, budget=there.budget)[0].effort == effort


@pytest.mark.parametrize(
    ("target", "asked", "fits"),
    [
        (MANUAL, Reasoning(enabled=True), Reasoning(enabled=True, budget=8192)),
        (MANUAL, HIGH, Reasoning(enabled=True, budget=16384)),
        (MANUAL, Reasoning(effort="low"), Reasoning(enabled=True, budget=2048)),
        (MANUAL, Reasoning(effort="of_tomorrow"), Reasoning(enabled=True, budget=8192)),
        (BOTH, HIGH, Reasoning(enabled=True, effort="high", budget=16384)),
    ],
)
def test_an_effort_is_a_budget_where_the_model_does_not_decide(target, asked, fits):
    reasoning, findings = fitted_reasoning(Params(reasoning=asked), target)
    assert reasoning == fits
    assert [one.where for one in findings] == ["params.reasoning"]


@pytest.mark.parametrize(("limit", "budget"), [(9999, 4999), (1100, 1024), (1024, None), (1, None)])
def test_the_limit_of_tokens_leaves_room_for_an_answer(limit, budget):
    reasoning, _ = fitted(MANUAL, True, limit=limit)
    assert reasoning == (Reasoning(True, None, budget) if budget else Reasoning(enabled=False))


@pytest.mark.parametrize(
    ("target", "asked", "fits", "codes"),
    [
        (BOTH, Reasoning(effort="max"), Reasoning(effort="high"), ["param_changed"]),
        (BOTH, Reasoning(effort="minimal"), Reasoning(effort="low"), ["param_changed"]),
        (NO_MORE, Reasoning(effort="xhigh"), Reasoning(effort="high"), ["param_changed"]),
        (NO_MORE, Reasoning(effort="of_tomorrow"), Reasoning(effort="low"), ["param_changed"]),
        (MANUAL, Reasoning(True, "low", 2000), Reasoning(True, None, 2000), ["param_dropped"]),
        (MANUAL, Reasoning(False, "low"), Reasoning(False), ["param_dropped"]),
        (ALWAYS, Reasoning(enabled=False), None, ["param_dropped"]),
        (ALWAYS, Reasoning(effort="none"), None, ["param_dropped"]),
        (ALWAYS, Reasoning(False, "low"), Reasoning(effort="low"), ["param_dropped"]),
    ],
)
def test_what_a_model_does_not_know_is_not_said(target, asked, fits, codes):
    reasoning, findings = fitted_reasoning(Params(reasoning=asked), target)
    assert reasoning == fits
    assert [one.code for one in findings] == codes


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        (Target(format="x"), Reasoning(True, "of_tomorrow", 3)),
        (ADAPTIVE, HIGH),
        (ADAPTIVE, Reasoning(enabled=False)),
        (MANUAL, Reasoning(enabled=True, budget=2000)),
        (BOTH, Reasoning(effort="low")),
        (ADAPTIVE, None),
    ],
)
def test_what_fits_stays_as_it_is(target, asked):
    assert fitted_reasoning(Params(reasoning=asked), target) == (asked, [])


MODELS = (
    "claude-3-7-sonnet-20250219",
    "claude-opus-4-1-20250805",
    "claude-haiku-4-5",
    "claude-opus-4-5",
    "claude-sonnet-4-6",
    "claude-opus-4-7",
    "claude-sonnet-5",
    "claude-fable-5",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
)
HOSTS = ("anthropic:{}", "vertex/anthropic:{}", "bedrock:us.anthropic.{}-v1:0")
ASKED = st.builds(
    Reasoning,
    enabled=st.none() | st.booleans(),
    effort=st.none() | st.sampled_from((*EFFORTS, "none")),
    budget=st.none() | st.integers(0, 100_000),
)


@given(ASKED, st.sampled_from(MODELS), st.sampled_from(HOSTS), st.none() | st.integers(1, 50_000))
def test_no_model_of_claude_is_asked_to_think_in_a_way_that_it_refuses(asked, model, host, limit):
    """And what was fitted once, is not changed when it is read and sent again."""
    conversation = Conversation()
    conversation.user("Hello?")
    request = Request(conversation, params=Params(reasoning=asked, max_tokens=limit))
    target = get_target(host.format(model))
    encoded = encode_request(request, target)
    assert list(verify(encoded.body, target)) == []
    read = decode_request(encoded.body, target.format, provider=target.provider)
    assert encode_request(read, target).data == encoded.data


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("model", "kind", "effort"),
    [
        ("claude-haiku-4-5", "enabled", None),
        ("claude-opus-4-5", "enabled", "high"),
        ("claude-sonnet-4-6", "adaptive", "high"),
        ("claude-opus-4-7", "adaptive", "high"),
        ("claude-fable-5", "adaptive", "high"),
    ],
)
def test_each_generation_of_claude_thinks_in_its_own_way(host, model, kind, effort):
    request = Request(Conversation(), params=Params(reasoning=HIGH))
    body = encode_request(request, host.format(model)).body
    fields = body.get("additionalModelRequestFields", body)
    assert fields["thinking"]["type"] == kind
    assert fields.get("output_config", {}).get("effort") == effort


@pytest.mark.parametrize(
    ("asked", "codes"),
    [(None, {"param_added"}), (HIGH, {"param_changed"}), (Reasoning(False, "none"), set())],
)
def test_a_model_that_takes_tools_only_without_reasoning_is_told_not_to_reason(asked, codes):
    tools = (Tool("look", parameters={"type": "object", "properties": {}}),)
    request = Request(Conversation(), tools=tools, params=Params(reasoning=asked))
    made = encode_request(request, "openai:gpt-5.6")
    assert made.body["reasoning_effort"] == "none"
    assert {one.code for one in made.report.findings if "reasoning" in one.where} == codes
    bare = encode_request(replace(request, tools=()), "openai:gpt-5.6")
    assert bare.body.get("reasoning_effort") == (asked.effort if asked else None)
