"""Laws of the paths in findings: what is given exists, in the body that it speaks of."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from batches import each
from body_paths import TARGETS, check, found_at
from canonicall import CanonicallError
from canonicall.codec import decode_request, encode_request
from canonicall.facts.target import FORMATS
from canonicall.testing.strategies import damaged_bodies, requests
from canonicall.wire.formats import get_format


@settings(max_examples=40)
@given(st.data(), st.sampled_from(TARGETS))
@each("format", FORMATS)
def test_paths_of_damaged_bodies_exist(format, data, target):
    body = data.draw(damaged_bodies(format))
    try:
        encoded = encode_request(decode_request(body, format), target)
    except CanonicallError:
        return
    check(encoded.report, body, encoded)


@settings(max_examples=30)
@given(st.data())
@each("format", FORMATS)
def test_a_format_knows_where_every_message_came_from(format, data):
    """As many places as messages, so that no message is taken for another one."""
    body = data.draw(damaged_bodies(format))
    try:
        request = decode_request(body, format)
    except CanonicallError:
        return
    places = list(get_format(format).message_places(body))
    split = [one for one in request.findings if one.code == "call_in_wrong_role"]
    assert len(places) <= len(request.conversation) <= len(places) + len(split)


@settings(max_examples=60)
@given(requests(), st.sampled_from(FORMATS), st.sampled_from(TARGETS))
def test_a_call_is_found_by_its_id_in_the_body_that_came(asked, format, target):
    body = encode_request(asked, format).body
    request = decode_request(body, format)
    encoded = encode_request(request, target)
    check(encoded.report, body, encoded)
    entries = request.conversation.entries
    for one in encoded.report:
        place = re.match(r"entries\[(\d+)\]\.blocks\[(\d+)\]", one.where)
        if place and one.came:
            block = entries[int(place[1])].blocks[int(place[2])]
            if raw_id := getattr(block, "raw_id", ""):
                assert raw_id in str(found_at(one.came, body))


@settings(max_examples=30)
@given(requests(), st.sampled_from(TARGETS))
def test_a_request_that_was_not_read_has_no_place_where_it_came(asked, target):
    encoded = encode_request(asked, target)
    check(encoded.report, None, encoded)
    assert not any(one.came for one in encoded.report)
