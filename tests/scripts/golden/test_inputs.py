import pytest

from canonicall.framing.eventstream import write_frame
from corpus.support import needs_corpus
from scripts.golden import inputs


def test_the_refusals_and_error_texts_of_the_tests_are_read():
    rows = inputs.rows()
    assert len(rows) > 700
    assert len({row.id for row in rows}) == len(rows)
    texts = inputs.error_texts()
    assert {text.origin for text in texts} == {"error_words", "refusals"}
    assert not any("\\" in text.text for text in texts if text.origin == "refusals")


def test_a_limit_takes_inputs_evenly():
    assert inputs.thinned(list(range(100)), 10) == list(range(0, 100, 10))
    assert inputs.thinned([1, 2, 3], 0) == [1, 2, 3]
    assert inputs.thinned([], 5) == []


def test_a_frame_of_an_aws_stream_is_as_the_framing_writes_it():
    """The inputs are made without canonicall, which must not change them."""
    frame = {"event": "messageStart", "data": '{"role": "assistant"}'}
    written = write_frame(frame["event"], frame["data"].encode())
    assert inputs._event_stream_frame(frame) == written


def test_a_missing_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CANONICALL_CORPUS", str(tmp_path / "nowhere"))
    with pytest.raises(inputs.InputsMissing, match="CANONICALL_CORPUS"):
        next(inputs.recordings())


@needs_corpus
def test_every_recording_is_read():
    recordings = list(inputs.recordings())
    assert len(recordings) > 3_500
    assert sum(one.request is not None and bool(one.format) for one in recordings) > 3_300
    assert sum(one.stream is not None for one in recordings) > 900
    assert {one.format for one in recordings} == {*inputs.FORMATS.values(), ""}
