"""Recorded requests, sent to every format: each path of a finding leads somewhere."""

from batches import each
from body_paths import TARGETS, check
from canonicall.codec.decode import decode_request
from canonicall.errors import CanonicallError
from corpus.support import FORMATS, encoded_for, needs_corpus, requests

pytestmark = needs_corpus
EVERY = 5
"""One record of so many is read, for each target another one."""


@each("protocol", FORMATS)
def test_every_path_of_a_recorded_request_exists(protocol):
    for number, record in enumerate(requests(protocol)[::EVERY]):
        try:
            request = decode_request(record["request"], FORMATS[protocol])
        except CanonicallError:
            continue
        target = TARGETS[number % len(TARGETS)]
        encoded = encoded_for(request, target)
        if encoded is None:
            continue
        check(encoded.report, record["request"], encoded)
        about_entries = [one for one in encoded.report if one.where.startswith("entries[")]
        assert all(one.came or one.action == "added" for one in about_entries), record["id"]
