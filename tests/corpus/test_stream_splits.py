"""Recorded streams say the same however their bytes are split.

Whole streams and streams of whole events take the short way for events that repeat the one before;
single bytes never do, which every third stream is read in. All have to give the same events.
"""

import pytest

from corpus.support import needs_corpus

from streaming import events_in, recorded_streams, sized

pytestmark = [needs_corpus, pytest.mark.deep]


def by_event(data):
    *whole, rest = data.split(b"\n\n")
    return [event + b"\n\n" for event in whole] + [rest]


@pytest.mark.parametrize(
    ("protocol", "format"),
    [("openai-chat", "openai-chat"), ("anthropic-messages", "anthropic")],
)
def test_every_split_of_a_recorded_stream_gives_the_same_events(protocol, format):
    unequal = []
    for number, (id, _, data) in enumerate(recorded_streams(protocol)):
        size = 1 if number % 3 == 0 else 13
        slowly = events_in(format, *sized(data, size))
        ways = [[data], by_event(data), sized(data, 700)]
        unequal += [id for pieces in ways if events_in(format, *pieces) != slowly]
    assert unequal == []
