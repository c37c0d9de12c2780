"""Events that are forwarded: byte for byte, but for keys, however their text is cut."""

import json

from hypothesis import given
from hypothesis import strategies as st

from canonicall.framing.limits import DEFAULT_LIMITS
from canonicall.gateway.forwarded_events import ForwardedEvents
from client.test_key_masks import AROUND, PARTS, SOME, cut, spelled_keys


def events_of(pieces):
    """Chat events whose bytes differ in their text alone, but for every third."""
    for number, piece in enumerate(pieces):
        event = {"choices": [{"index": 0, "delta": {"content": piece}}]}
        more = {"obfuscation": "x" * number} if number % 3 == 2 else {}
        yield f"data: {json.dumps(event | more)}\n\n".encode()


def text_of(data):
    events = [json.loads(one[6:]) for one in data.split(b"\n\n") if one]
    return "".join(one["choices"][0]["delta"]["content"] for one in events)


@given(AROUND, spelled_keys(), AROUND, st.lists(st.integers(0, 500), max_size=12), st.booleans())
def test_a_forwarded_stream_has_no_key_in_any_split(before, spelled, behind, places, by_character):
    """Neither in JSON that is written into the text, nor in the text itself."""
    _, written = spelled
    text = "".join(before) + written + "".join(behind)
    forwarded = ForwardedEvents("openai-chat", SOME, DEFAULT_LIMITS)
    events = events_of(cut(text, range(len(text)) if by_character else places))
    shown = b"".join(map(forwarded.feed, events)) + forwarded.close()
    assert text_of(shown) == SOME.text(text)


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=3).map("".join), max_size=12))
def test_events_without_a_key_stay_byte_for_byte(pieces):
    """In one chunk, or each in its own."""
    events = list(events_of(pieces))
    for chunks in (events, [b"".join(events)] if events else []):
        forwarded = ForwardedEvents("openai-chat", SOME, DEFAULT_LIMITS)
        shown = b"".join(map(forwarded.feed, chunks)) + forwarded.close()
        assert shown == b"".join(events)
