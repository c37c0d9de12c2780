"""Law D3: what goes out says what came in, or a finding names the difference."""

from hypothesis import given, settings
from hypothesis import strategies as st

from canonicall import decode_request, encode_request
from canonicall.testing import compare, unexplained
from canonicall.testing.strategies import requests

from bodies import BASES, every_target


@settings(max_examples=40)
@given(requests(), st.sampled_from(sorted(BASES)))
@every_target
def test_every_difference_has_a_finding(target, made, format):
    """Of a request as a client of any format writes it, to any target."""
    body = encode_request(made, BASES[format]).body
    encoded = encode_request(decode_request(body, format), target)
    found = compare(body, format, encoded.body, target.format)
    assert list(map(str, unexplained(found, encoded.report))) == []
