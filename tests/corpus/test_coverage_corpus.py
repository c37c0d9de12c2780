"""No recorded request is refused for how little of it is understood, and no damaged one but those
that are lost indeed."""

import json
from functools import cache

from canonicall import CanonicallError, MostlyUnread, decode_request, encode_request, translate
from canonicall.coverage import refuse_loss
from canonicall.facts.registry import get_target
from canonicall.wire.formats import get_format
from corpus.support import FORMATS, every_record, needs_corpus
from scripts.golden.damage import damaged_bodies
from scripts.golden.inputs import recordings

from bodies import DISTINCT

pytestmark = needs_corpus
DAMAGED = 1_500
BASES = [get_target(format) for format in FORMATS.values()]


@cache
def recorded():
    return [
        (FORMATS[one["protocol"]], one["request"])
        for one in every_record()
        if one["protocol"] in FORMATS and isinstance(one["request"], dict)
    ]


def test_every_recorded_request_is_understood_for_every_target():
    """Those with a wrong type somewhere are refused for that, as they were by their provider."""
    malformed = 0
    for format, body in recorded():
        try:
            request = decode_request(body, format)
        except MostlyUnread:
            raise
        except CanonicallError:
            malformed += 1
            continue
        for target in DISTINCT.values():
            refuse_loss(body, request, format, target)
    assert len(recorded()) > 3_000
    assert malformed <= 2


# The result answers another id than the call has: the recording was edited.
EDITED = "anthropic_completion_tools_call_with_tool_result_stream_helper.yaml#0"
LOST = {"block_dropped", "orphan_not_sent", "server_tool_dropped", "tool_dropped"}
"""The codes of what is missing in a body as a whole: a block, a result, a tool."""


def test_an_accepted_request_loses_nothing_for_the_provider_that_accepted_it():
    kept = 0
    for one in recordings():
        if one.is_error or not one.format or one.request is None or one.id.endswith(EDITED):
            continue
        try:
            target = get_target(f"{one.provider}/{one.format}")
            request = decode_request(one.request, one.format, provider=one.provider)
        except CanonicallError:
            continue
        lost = [found for found in encode_request(request, target).report if found.code in LOST]
        assert not lost, one.id
        kept += 1
    assert kept > 3_000


def said_in(value, name=""):
    """The texts of a body, found by the names of their fields alone."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("tools", "reasoning", "response_format", "metadata"):
                yield from said_in(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from said_in(inner, name)
    elif isinstance(value, str) and value.strip() and name in ("text", "content", "parts"):
        yield value


def test_a_damaged_body_is_refused_only_if_it_is_lost():
    bodies = [(format, json.dumps(body).encode()) for format, body in recorded()]
    refused = [one for one in damaged_bodies(bodies, DAMAGED) if is_refused(one)]
    for one in refused:
        body = json.loads(one.data)
        messages = get_format(one.format).decode_request(body).conversation.messages
        read = "\n".join(message.text for message in messages)
        texts = [text for text in said_in(body) if len(text) > 1]
        assert 2 * sum(text in read for text in texts) <= len(texts), one
    assert 0 < len(refused) < DAMAGED / 50


def is_refused(one):
    """Whether a damaged body is refused for how little of it is understood."""
    for target in BASES:
        try:
            translate(one.data, one.format, target)
        except MostlyUnread:
            return True
        except CanonicallError:
            return False
    return False
