from hashlib import sha256

import pytest

from components import needs
from scripts.golden.__main__ import current_hashes
from scripts.golden.hashes import FILE, Hashes, changed, described, hashes_of, read, written
from scripts.golden.plan import KINDS

END = b'end\t{"body":2}\n'
ONE = b"body\topenai\topenai\tone\t\t{}\n"
TWO = b"body\topenai\topenai\ttwo\t\t{}\n"
OTHER = b"body\tmistral\tmistral\tone\t\t{}\n"


def test_there_is_one_hash_for_each_kind_provider_and_target():
    made = hashes_of([ONE, OTHER, TWO, END], "inputs")
    assert made.answers == {
        ("body", "mistral", "mistral"): sha256(OTHER).hexdigest()[:12],
        ("body", "openai", "openai"): sha256(ONE + TWO).hexdigest()[:12],
    }


def test_a_driver_that_ends_early_leaves_no_hashes():
    with pytest.raises(ValueError, match="before its last record"):
        hashes_of([ONE], "inputs")


def test_the_file_is_read_as_it_was_written():
    made = hashes_of([ONE, OTHER, END], "inputs")
    assert read(written(made)) == made


def test_what_changed_came_or_went_is_named():
    before = Hashes("", {("a", "b", "c"): "1", ("a", "b", "d"): "1", ("a", "b", "e"): "1"})
    after = Hashes("", {("a", "b", "c"): "1", ("a", "b", "d"): "2", ("a", "b", "f"): "1"})
    assert changed(before, after) == [("a", "b", "d"), ("a", "b", "e"), ("a", "b", "f")]
    text = described(changed(before, after))
    assert "a: b, d" in text
    assert "make golden-diff REV=" in text
    assert "KINDS=a PROVIDERS=b" in text


def test_many_changes_are_named_in_short():
    text = described([("body", f"p{at}", "t") for at in range(1_000)])
    assert "and 960 more" in text
    assert "PROVIDERS" not in text
    assert len(text.splitlines()) < 50


def test_the_stored_file_is_small_and_complete():
    assert FILE.stat().st_size < 200_000
    stored = read(FILE.read_text("utf-8"))
    assert {kind for kind, _, _ in stored.answers} == set(KINDS)


@pytest.mark.deep
@needs("corpus")
@needs("vectors")
def test_every_answer_is_the_stored_one():
    """Bytes change on purpose only: the commit that changes them renews the hashes."""
    stored, now = read(FILE.read_text("utf-8")), current_hashes()
    assert stored.inputs == now.inputs, "the inputs are not those of the hashes: make golden"
    keys = changed(stored, now)
    assert not keys, described(keys)
