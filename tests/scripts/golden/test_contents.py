"""What differs between two records, by the kind of their contents."""

import json

import pytest

from scripts.golden.contents import differences


def between(kind, before, after, codes=(b"", b"")):
    """Path, codes and both sides of each difference between two values."""
    contents = [
        value if isinstance(value, bytes) else json.dumps(value).encode()
        for value in (before, after)
    ]
    found = differences(kind, (codes[0], contents[0]), (codes[1], contents[1]))
    return [tuple(one) for one in found]


def test_a_body_is_compared_by_path():
    assert between("body", {"a": [{"b": 1}]}, {"a": [{"b": 2}]}) == [("a[].b", "", "1", "2")]


def test_a_changed_body_names_the_codes_that_came_and_went():
    codes = (b"kept,lost", b"kept,new")
    assert between("body", {"a": 1}, {"a": 2}, codes) == [("a", "+new -lost", "1", "2")]


def test_equal_json_in_other_bytes_is_its_own_path():
    assert between("body", b'{"a":1}', b'{"a": 1}') == [("(bytes)", "", '{"a":1}', '{"a": 1}')]


def test_codes_that_change_beside_an_equal_body_are_not_lost():
    assert between("body", {}, {}, (b"a", b"b")) == [("(codes)", "+b -a", "a", "b")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [["late", "x", "kept", "input"]], ("added", "late", "(absent)", "x, kept, input")),
        ([["late", "x", "kept", "input"]], [], ("removed", "late", "x, kept, input", "(absent)")),
        (
            [["late", "x", "kept", "input"]],
            [["late", "y", "kept", "input"]],
            ("where", "late", "x", "y"),
        ),
        (
            [["late", "x", "kept", "input"]],
            [["late", "x", "moved", "input"]],
            ("action", "late", "kept", "moved"),
        ),
        (
            [["a", "x"], ["b", "x"]],
            [["b", "x"], ["a", "x"]],
            ("order", "", '[["a", "x"], ["b", "x"]]', '[["b", "x"], ["a", "x"]]'),
        ),
    ],
)
def test_findings_are_compared_by_code(before, after, expected):
    assert between("findings", before, after) == [expected]
    assert between("damaged-findings", before, after) == [expected]


def test_a_violation_of_another_code_is_one_removed_and_one_added():
    assert between("violations", [["old", "x"]], [["new", "x"]]) == [
        ("added", "new", "(absent)", "x"),
        ("removed", "old", "x", "(absent)"),
    ]


def test_a_sentence_is_compared_by_the_code_it_is_about():
    assert between("wording", [["late", "It came."]], [["late", "It went."]]) == [
        ("sentence", "late", "It came.", "It went.")
    ]


def test_causes_are_compared_by_code():
    before, after = [["bad", ["messages.1"], []]], [["bad", ["messages.2"], []]]
    assert between("explain", before, after) == [
        ("places", "bad", '["messages.1"]', '["messages.2"]')
    ]


@pytest.mark.parametrize("kind", ["body", "findings", "stream", "wording"])
def test_an_exception_is_an_answer_of_every_kind(kind):
    raised = {"exception": "ValueError", "message": "no"}
    other = {"exception": "ValueError", "message": "never"}
    changed = {"exception": "KeyError", "message": "no"}
    assert between(kind, [], raised) == [("ValueError raised", "", "[]", "no")]
    assert between(kind, raised, []) == [("ValueError no longer raised", "", "no", "[]")]
    assert between(kind, raised, other) == [("ValueError: message", "", "no", "never")]
    assert between(kind, raised, changed) == [("ValueError became KeyError", "", "no", "no")]
    assert between(kind, [], raised, (b"late", b"")) == between(kind, [], raised)


def test_events_are_compared_beside_their_findings():
    def content(finish, where):
        findings = [["late", where, "kept", "input"]]
        return {"events": [{"event": "finish", "finish": finish}], "findings": findings}

    assert between("stream", content("stop", "x"), content("length", "y")) == [
        ("events[].finish", "", "stop", "length"),
        ("findings where", "late", "x", "y"),
    ]


def test_a_stream_is_compared_frame_by_frame():
    before = 'event: a\ndata: {"x": 1}\n\nevent: b\ndata: {"x": 2}\n\ndata: [DONE]\n\n'
    after = before.replace('{"x": 2}', '{"x": 3}')
    assert between("stream", before, after) == [("[].data.x", "", "2", "3")]


def test_other_line_ends_of_a_stream_are_bytes():
    before, after = "data: {}\n\n", "data:  {}\n\n"
    assert [path for path, *_ in between("stream", before, after)] == ["(bytes)"]


def test_the_answer_of_a_simulator_is_compared_by_status_and_body():
    before, after = [200, '{"id": "a"}'], [400, '{"id": "b"}']
    assert between("simulator", before, after) == [
        ("status", "", "200", "400"),
        ("body.id", "", "a", "b"),
    ]


def test_lines_of_json_are_compared_one_by_one():
    before, after = [200, '{"a": 1}\n{"b": 1}\n'], [200, '{"a": 1}\n{"b": 2}\n']
    assert between("simulator", before, after) == [("body[].b", "", "1", "2")]
