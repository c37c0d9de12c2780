"""Parameters that a model refuses are left out, with a finding each."""

import pytest

from canonicall import Conversation
from canonicall.codec import encode_request
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.request import Params, Request
from canonicall.transcript.params import fitted_params

ASKED = Request(Conversation(), params=Params(max_tokens=9, temperature=0.0, top_p=1.0, top_k=3))


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
