"""L1, L5 and "only documented errors" on request bodies that are damaged anywhere.

`scripts/damage.py` runs the same laws on as many bodies as there is time for.
"""

import json
from contextlib import suppress
from itertools import cycle, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonicall import (
    CanonicallError,
    StateElsewhere,
    decode_request,
    detect_format,
    encode_request,
    explain,
    translate,
    verify,
)
from canonicall.testing.damage import damaged_once
from canonicall.testing.strategies import damaged_bodies, damaged_data
from canonicall.testing.vocabulary import VOCABULARIES

from bodies import BASES, DISTINCT, DISTINCT_MODELS

TARGETS = DISTINCT | DISTINCT_MODELS
every_format = pytest.mark.parametrize("format", BASES)
some_targets = st.lists(st.sampled_from(sorted(TARGETS)), min_size=2, max_size=2, unique=True)


def damage(format):
    return damaged_bodies(format) | damaged_data(format)


EVERY = 40
"""Of the bodies with a single change, each of this number is tried: a sample of all of them."""


def changed(format):
    """A sample of the bodies that a single change makes of the samples of a format."""
    known = VOCABULARIES[format]
    first, *_ = known.turns
    for group in known.settings:
        for fields in islice(damaged_once(group), 0, None, EVERY):
            yield {**fields, known.turns_at: [first]}
    for turn in known.turns:
        for turns in islice(
            damaged_once(turn if isinstance(turn, list) else [turn]), 0, None, EVERY
        ):
            yield {known.turns_at: [first, *turns]}


@pytest.mark.deep
@every_format
def test_a_single_change_is_repaired_or_refused(format):
    targets = cycle(TARGETS.values())
    for body in changed(format):
        try:
            request = decode_request(body, format)
            made = encode_request(request, target := next(targets))
        except CanonicallError:
            continue
        assert not verify(made.body, made.target), body
        back = decode_request(made.data, target.format, provider=target.provider)
        assert encode_request(back, target).data == made.data, body


def test_single_changes_leave_the_body_as_it_was():
    body = {"role": "user", "content": [{"type": "text", "text": "x"}]}
    before = json.dumps(body)
    made = [repr(one) for one in damaged_once(body)]
    assert json.dumps(body) == before
    assert len(set(made)) > 1_000
    assert made == [repr(one) for one in damaged_once(body)]


@every_format
@settings(max_examples=50)
@given(st.data(), some_targets)
def test_what_is_sent_is_accepted_and_stays_as_it_is(format, data, names):
    """Whatever came in: the judge finds nothing, and a second round gives the same bytes."""
    try:
        request = decode_request(data.draw(damage(format)), format)
    except CanonicallError:
        return
    for target in [BASES[format], *(TARGETS[name] for name in names)]:
        try:
            made = encode_request(request, target)
        except StateElsewhere:
            assert request.continues is not None
            assert target is not BASES[format]
            continue
        assert not verify(made.body, made.target)
        back = decode_request(made.data, target.format, provider=target.provider)
        assert encode_request(back, target).data == made.data


@every_format
@settings(max_examples=50)
@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_only_documented_errors(format, data, name):
    body, target = data.draw(damage(format)), TARGETS[name]
    for asked in (
        lambda: detect_format(body),
        lambda: verify(body, BASES[format]),
        lambda: translate(body, format, target).data,
        lambda: explain(body if isinstance(body, bytes) else {"error": body}),
        lambda: explain("messages: text must be non-empty", request=body, target=BASES[format]),
    ):
        with suppress(CanonicallError):
            asked()
