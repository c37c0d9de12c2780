"""A few thousand damaged inputs at every door: only documented errors are raised.

`python -m scripts.fuzz` runs as many as are wanted, and prints the case of each failure.
"""

import pytest

from batches import each
from canonicall import StreamDecoder, StreamEncoder, verify_stream
from scripts.fuzz import DOORS, Case, case_of, failure_of

CASES = 3_000
SEED = 20261118
STATUS = b'event: response.%s\ndata: {"type":"response.%s","response":%s}\n\n'


def test_only_documented_errors_are_raised_at_any_door():
    seen = dict.fromkeys(DOORS, 0)
    wrong = {}
    for number in range(CASES):
        case, random = case_of(SEED, number)
        seen[case.door] += 1
        if told := failure_of(case, random):
            wrong[number] = told
    assert not wrong
    assert min(seen.values()) > CASES // 10


def test_a_case_is_the_same_whatever_else_is_run():
    assert case_of(1, 77)[0] == case_of(1, 77)[0]
    assert case_of(1, 77)[0] != case_of(2, 77)[0]


def test_what_is_not_documented_is_counted(monkeypatch):
    """The campaign can fail."""

    def broken(case, random):
        raise ZeroDivisionError

    monkeypatch.setitem(DOORS, "reply", broken)
    assert "ZeroDivisionError" in failure_of(Case("reply", "gemini", b"{}"), case_of(1, 1)[1])


@pytest.mark.parametrize("name", [b"[1]: 2", b"{a: b}: 2", b"? [x]\n: 1"])
def test_names_of_settings_that_are_no_text_are_refused(name):
    assert (
        failure_of(Case("settings", "a.yaml", b"server:\n  " + name + b"\n"), case_of(1, 1)[1])
        == ""
    )


@each("status", ["weird", "cancelled", "queued", "in_progress", "", "\x00", "completed"])
def test_a_foreign_word_for_the_status_is_no_name_of_an_event(status):
    body = b'{"id":"r","status":"%s","output":[]}' % status.encode("unicode_escape")
    data = STATUS % (b"created", b"created", body) + STATUS % (b"completed", b"completed", body)
    decoder = StreamDecoder("openai-responses")
    events = [*decoder.feed(data), *decoder.close()]
    written = StreamEncoder("openai-responses").feed_all(events)
    codes = {one.code for one in verify_stream(written, "openai-responses")}
    assert not codes & {"unknown_event", "stream_not_ended"}
