import pytest

from scripts.golden.paths import ABSENT, Change, as_text, changes, same


def found(before, after):
    return list(changes(before, after))


def test_equal_values_have_no_changes():
    value = {"a": [1, {"b": None}], "c": "text"}
    assert found(value, {"c": "text", "a": [1, {"b": None}]}) == []


def test_a_path_has_no_indexes():
    before = {"messages": [{"id": 0}, {"tool_calls": [{"id": "a"}, {"id": "b"}]}]}
    after = {"messages": [{"id": 0}, {"tool_calls": [{"id": "a"}, {"id": "c"}]}]}
    assert found(before, after) == [Change("messages[].tool_calls[].id", "b", "c")]


def test_keys_that_came_and_went_are_named():
    assert found({"a": 1}, {"b": 2}) == [
        Change("a removed", 1, ABSENT),
        Change("b added", ABSENT, 2),
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1, 2, 3], [1, 2, 3, 4], [Change("[] added", ABSENT, 4)]),
        ([1, 2, 3], [2, 3], [Change("[] removed", 1, ABSENT)]),
        ([1, 2, 4, 5], [1, 2, 3, 4, 5], [Change("[] added", ABSENT, 3)]),
        ([1, 2, 3], [1, 9, 3], [Change("[]", 2, 9)]),
        ([0, 1, 2, 3, 9], [0, 7, 2, 3, 8, 9], [Change("[]", 1, 7), Change("[] added", ABSENT, 8)]),
        ([1, 2, 3, 4], [1, 3, 2, 4], [Change("[] reordered", [2, 3], [3, 2])]),
        ([1, 1], [1], [Change("[] removed", 1, ABSENT)]),
        ([], [], []),
    ],
    ids=str,
)
def test_lists_are_aligned_by_their_equal_elements(before, after, expected):
    assert found(before, after) == expected


def test_long_lists_are_compared_in_pairs():
    """Matching costs more than the length; what is found stays the same in kind."""
    before, after = list(range(500)), [-1, *range(2, 500)]
    assert {change.path for change in changes(before, after)} == {"[]", "[] removed"}


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), ("1", 1), (None, False), ([], {})], ids=str
)
def test_values_that_python_takes_for_equal_are_not_the_same_json(one, other):
    assert found({"a": one}, {"a": other}) == [Change("a", one, other)]


def test_nan_is_the_same_as_itself():
    assert same({"a": float("nan")}, {"a": float("nan")})


def test_names_of_authors_are_left_out_of_paths():
    before = {"tools": [{"properties": {"city": {"type": "string"}, "day": {"type": "string"}}}]}
    after = {"tools": [{"properties": {"city": {"type": "null"}, "day": {"type": "null"}}}]}
    assert {change.path for change in changes(before, after)} == {"tools[].properties.*.type"}


def test_data_of_a_call_is_one_change():
    before = {"input": {"city": "Oslo", "days": [1]}}
    after = {"input": {"city": "Rome", "days": [2]}}
    assert found(before, after) == [Change("input.*", before["input"], after["input"])]
    assert found({"input": [1]}, {"input": [2]}) == [Change("input[]", 1, 2)]


def test_values_are_shown_as_text():
    assert [as_text(value) for value in ("text", "", None, {"a": "ü"}, ABSENT)] == [
        "text",
        '""',
        "null",
        '{"a": "ü"}',
        "(absent)",
    ]
