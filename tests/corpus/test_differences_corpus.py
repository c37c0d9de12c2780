"""Law D3 on recorded traffic: every difference between a recorded request and the body that any
target is sent has a finding."""

import pytest

from batches import each
from canonicall import CanonicallError, decode_request, provider_names
from canonicall.testing import compare, unexplained
from canonicall.verify.comparison.differences import differences, outline
from corpus.support import FORMATS, encoded_for, every_record, needs_corpus

from bodies import TARGETS

SAMPLE = 40
"""Every so many recorded requests are compared in each run."""


def recorded_requests():
    known = provider_names()
    for record in every_record():
        format = FORMATS.get(record["protocol"])
        if format is None or not isinstance(record["request"], dict):
            continue
        provider = record["provider"]
        own = f"{provider}/{format}" in TARGETS and provider in known
        yield record["id"], record["request"], format, provider if own else ""


def left_of(body, format, provider, target):
    """What no finding names, for one target."""
    request = decode_request(body, format, provider=provider)
    encoded = encoded_for(request, target)
    if encoded is None:
        return []
    found = compare(body, format, encoded.body, encoded.target.format)
    return [str(one) for one in unexplained(found, encoded.report)]


def sample():
    return list(recorded_requests())[::SAMPLE]


@needs_corpus
@each("target", TARGETS)
@each("id, body, format, provider", sample, least=50)
def test_every_difference_of_a_sample_has_a_finding(id, body, format, provider, target):
    assert left_of(body, format, provider, target) == []


@needs_corpus
@pytest.mark.deep
@each("id, body, format, provider", lambda: list(recorded_requests()), least=3_000)
def test_every_difference_has_a_finding(id, body, format, provider):
    """The whole corpus for all targets: some 200,000 pairs of bodies."""
    try:
        request = decode_request(body, format, provider=provider)
    except CanonicallError:
        pytest.skip("the recorded body is refused")
    before = outline(body, format)
    for name in TARGETS:
        encoded = encoded_for(request, name)
        if encoded is None:
            continue
        found = differences(before, outline(encoded.body, encoded.target.format))
        left = [str(one) for one in unexplained(found, encoded.report)]
        assert (name, left) == (name, [])
