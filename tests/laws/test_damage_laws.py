"""L1, L5 and "only documented errors" on request bodies that are damaged anywhere.

`scripts/damage.py` runs the same laws on as many bodies as there is time for.
"""

from contextlib import suppress

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
from canonicall.testing.strategies import damaged_bodies, damaged_data

from bodies import BASES, DISTINCT, DISTINCT_MODELS

TARGETS = DISTINCT | DISTINCT_MODELS
every_format = pytest.mark.parametrize("format", BASES)
some_targets = st.lists(st.sampled_from(sorted(TARGETS)), min_size=2, max_size=2, unique=True)


def damage(format):
    return damaged_bodies(format) | damaged_data(format)


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
