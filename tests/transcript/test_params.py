"""What JSON cannot write and what a model refuses is left out, with a finding each."""

from typing import Any

import pytest

from canonicall import Conversation
from canonicall.blocks import Native
from canonicall.codec.encode import encode_request
from canonicall.codec.passes import FITTED
from canonicall.errors import InvalidValue
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.request import Params, Request
from canonicall.transcript.params import plain_request
from canonicall.transcript.policy import Goal

ANY = Target(format="x")
ASKED = Request(Conversation(), params=Params(max_tokens=9, temperature=0.0, top_p=1.0, top_k=3))


def fitted_params(request, target):
    """A request after the passes that are about its parameters, and what they said."""
    goal = Goal(target)
    for one in FITTED:
        if one.run.__module__ == plain_request.__module__:
            request = one.run(request, goal)
    return request, goal.findings


def nested(value: Any) -> Request:
    """A request with a field that is nested as deep as JSON can be written."""
    for _ in range(900):
        value = [value]
    return Request(Conversation(), native=Native("openai-chat", {"x": value}))


def test_a_value_that_is_nested_deeply_is_looked_through():
    request, goal = nested(None), Goal(ANY)
    assert (plain_request(request, goal), goal.findings) == (request, [])


@pytest.mark.parametrize("value", [float("nan"), "\ud800"])
def test_one_that_has_to_be_changed_so_deep_is_refused(value):
    with pytest.raises(InvalidValue):
        plain_request(nested(value), Goal(ANY))


def test_what_is_refused_is_left_out_and_reported():
    target = Target(format="x", refused_params=("temperature", "top_k"))
    request, findings = fitted_params(ASKED, target)
    assert request.params == Params(max_tokens=9, top_p=1.0)
    assert [(one.code, one.where) for one in findings] == [
        ("param_dropped", "params.temperature"),
        ("param_dropped", "params.top_k"),
    ]


def test_what_was_not_asked_for_is_not_left_out():
    """A list of stop words that is empty is none; left out, it is empty again."""
    target = Target(format="x", refused_params=("stop", "seed"))
    assert fitted_params(ASKED, target) == (ASKED, [])
    request, (finding,) = fitted_params(Request(Conversation(), params=Params(stop=("x",))), target)
    assert (request.params, finding.where) == (Params(), "params.stop")


def test_a_target_that_takes_all_gets_all():
    assert fitted_params(ASKED, Target(format="x")) == (ASKED, [])


@pytest.mark.parametrize(
    ("asked", "codes"), [(True, []), (None, ["param_added"]), (False, ["param_changed"])]
)
def test_a_host_that_only_streams_is_asked_for_a_stream(asked, codes):
    target = Target(format="x", stream_only=True)
    request, findings = fitted_params(Request(Conversation(), params=Params(stream=asked)), target)
    assert request.params.stream is True
    assert [one.code for one in findings] == codes


@pytest.mark.parametrize("host", ["anthropic", "vertex/anthropic"])
@pytest.mark.parametrize(
    ("model", "taken"),
    [
        ("claude-sonnet-4", {"temperature", "top_p", "top_k"}),
        # "`temperature` and `top_p` cannot both be specified for this model."
        ("claude-sonnet-4-6", {"temperature", "top_k"}),
        # "`temperature` is deprecated for this model."
        ("claude-opus-4-7", set()),
        ("claude-haiku-5-5", set()),
    ],
)
def test_the_newer_models_of_claude_take_no_sampling_parameters(host, model, taken):
    body = encode_request(ASKED, get_target(f"{host}:{model}")).body
    assert body.keys() & {"temperature", "top_p", "top_k"} == taken
