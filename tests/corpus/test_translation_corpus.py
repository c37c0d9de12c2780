"""Recorded conversations travel to every other provider and pass the judge there."""

from functools import cache

import pytest

from batches import each
from canonicall.codec import decode_request
from canonicall.facts.registry import get_target, provider_names
from canonicall.verify import verify
from corpus.support import FORMATS, encoded_for, every_record, needs_corpus

from bodies import one_of_each

pytestmark = needs_corpus
GOALS = one_of_each({name: get_target(name) for name in sorted(provider_names())})


@cache
def recorded():
    """Accepted requests that use tools."""
    requests = []
    for record in every_record():
        format = FORMATS.get(record["protocol"])
        wanted = record["has_tool_results"] or record["has_tool_calls"] or record["has_thinking"]
        if format and record["request"] and record["status"] == 200 and wanted:
            requests.append((record["id"], decode_request(record["request"], format)))
    assert len(requests) > 500
    return requests


@pytest.mark.parametrize("target", GOALS)
@each("id, request_made", recorded)
def test_every_recorded_tool_conversation_is_valid_for(target, id, request_made):
    goal = GOALS[target]
    encoded = encoded_for(request_made, goal)
    if encoded is not None:
        assert [(one.code, one.where) for one in verify(encoded.body, goal)] == []


@each("provider", provider_names())
def test_the_name_of_a_provider_is_enough(provider):
    """The model that the request names stays in the body, and the rules of that model count."""
    refused = [
        (id, one.code, one.where)
        for id, request in recorded()[::20]
        if (encoded := encoded_for(request, provider)) is not None
        for one in verify(encoded.body, provider)
    ]
    assert refused == []
