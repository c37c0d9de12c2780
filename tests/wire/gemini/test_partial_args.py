"""Arguments that come by JSON path: the text that is told, and the value that is kept."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.errors import MalformedBody
from canonicall.testing.strategies import words
from canonicall.wire.gemini.partial_args import PartialArguments


def run(*pieces, args=None):
    """The text that was told and the value, after all pieces."""
    arguments = PartialArguments()
    text = "{" + "".join(arguments.add(piece, "$") for piece in pieces)
    return text + arguments.end(args or {}), arguments.value


def text(path, value, more=False):
    return {"jsonPath": path, "stringValue": value} | ({"willContinue": True} if more else {})


def number(path, value):
    return {"jsonPath": path, "numberValue": value}


def test_no_arguments():
    assert run() == ("{}", {})


def test_a_string_grows_until_it_does_not_go_on():
    told, value = run(text("$.a", "x\n", True), text("$.a", '"y', True), text("$.a", ""))
    assert told == '{"a":"x\\n\\"y"}'
    assert value == {"a": 'x\n"y'}


def test_a_string_is_closed_by_the_next_value():
    told, value = run(text("$.a", "x", True), number("$.b", 1))
    assert told == '{"a":"x","b":1}'
    assert value == {"a": "x", "b": 1}


def test_every_kind_of_value():
    pieces = [
        text("$.s", "x"),
        number("$.n", 1.5),
        {"jsonPath": "$.t", "boolValue": True},
        {"jsonPath": "$.f", "boolValue": False},
        {"jsonPath": "$.z", "nullValue": None},
        {"jsonPath": "$.y", "nullValue": "NULL_VALUE"},
        {"json_path": "$.snake", "string_value": "x", "will_continue": True},
        {"jsonPath": "$.nothing"},
    ]
    told, value = run(*pieces)
    expected = {"s": "x", "n": 1.5, "t": True, "f": False, "z": None, "y": None, "snake": "x"}
    assert value == json.loads(told) == expected


def test_objects_and_lists_inside():
    told, value = run(
        text("$.r.list[0].a", "1"),
        text("$.r.list[0].b", "2"),
        text("$.r.list[1].a", "3"),
        text("$.r.name", "4"),
        number("$.m[0][0]", 5),
        number("$.m[0][1]", 6),
        number("$.m[1][0]", 7),
    )
    assert value == {
        "r": {"list": [{"a": "1", "b": "2"}, {"a": "3"}], "name": "4"},
        "m": [[5, 6], [7]],
    }
    assert told == ('{"r":{"list":[{"a":"1","b":"2"},{"a":"3"}],"name":"4"},"m":[[5,6],[7]]}')


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("$['a.b']", "a.b"),
        ('$["a b"]', "a b"),
        ("$['it\\'s']", "it's"),
        ("$['\"']", '"'),
        ('$["\\""]', '"'),
        ("$['\\\\']", "\\"),
        ("$['\\u00e9\\n']", "é\n"),
        ("$.naïve-name_1", "naïve-name_1"),
        ("$['']", ""),
    ],
)
def test_names_in_paths(path, name):
    told, value = run(number(path, 1))
    assert value == json.loads(told) == {name: 1}


@pytest.mark.parametrize(
    "path", ["", "$", "a", "$[0]", "$.a.", "$.a[", "$.a[x]", "$..a", "$.a[*]", "$['\\x']", None]
)
def test_what_is_no_path_into_the_arguments(path):
    with pytest.raises(MalformedBody) as caught:
        run(number(path, 1))
    assert caught.value.where == "$.jsonPath"


@pytest.mark.parametrize(
    "path", ["$.a[2]", "$.a.b", "$.s.b", "$.s[0]", "$.a[0].b", "$" + ".a" * 65]
)
def test_what_has_no_place(path):
    with pytest.raises(MalformedBody):
        run(number("$.a[0]", 1), text("$.s", "x"), number(path, 1))


@pytest.mark.parametrize(
    "pieces",
    [
        [number("$.a.x", 1), number("$.b", 2), number("$.a.y", 3)],
        [number("$.a", 1), number("$.b", 2), number("$.a", 3)],
        [text("$.a", "x"), text("$.a", "y")],
        [number("$.a[0]", 1), number("$.a[0]", 2)],
        [number("$.a[0].x", 1), number("$.a[1].x", 2), number("$.a[0].y", 3), number("$.c", 4)],
    ],
)
def test_what_cannot_be_told_in_order_is_told_again_at_the_end(pieces):
    told, value = run(*pieces)
    assert json.loads(told) == value


def test_a_late_field_keeps_all_of_its_values():
    _, value = run(number("$.a.x", 1), number("$.b", 2), number("$.a.y", 3))
    assert value == {"a": {"x": 1, "y": 3}, "b": 2}


def test_whole_arguments_at_the_end_count():
    told, value = run(number("$.a", 1), args={"a": 1, "empty": [], "more": {}})
    assert value == json.loads(told) == {"a": 1, "empty": [], "more": {}}
    assert told.count('"a"') == 1


leaves = words() | st.integers(-(2**53), 2**53) | st.booleans() | st.none()
filled = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(words(), inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def pieces_of(value, path, draw):
    """The pieces of a value as the API sends them: leaves in order, strings cut anywhere."""
    match value:
        case dict():
            for name, field in value.items():
                quoted = json.dumps(name)
                yield from pieces_of(field, f"{path}[{quoted}]", draw)
        case list():
            for index, item in enumerate(value):
                yield from pieces_of(item, f"{path}[{index}]", draw)
        case str():
            cut = draw(st.integers(0, len(value)))
            yield text(path, value[:cut], True)
            yield text(path, value[cut:], draw(st.booleans()))
        case bool():
            yield {"jsonPath": path, "boolValue": value}
        case None:
            yield {"jsonPath": path, "nullValue": None}
        case _:
            yield number(path, value)


@given(st.dictionaries(words(), filled, max_size=3), st.data())
def test_the_text_is_the_value(args, data):
    pieces = list(pieces_of(args, "$", data.draw))
    told, value = run(*pieces)
    assert value == json.loads(told) == args


objects = st.dictionaries(
    words(), leaves | st.dictionaries(words(), leaves, min_size=1, max_size=3), max_size=4
)


@given(objects, st.randoms(use_true_random=False))
def test_objects_may_be_filled_in_any_order(args, random):
    pieces = list(leaf_pieces(args, "$"))
    random.shuffle(pieces)
    told, value = run(*pieces)
    assert value == json.loads(told) == args


def leaf_pieces(value, path):
    for name, field in value.items():
        place = f"{path}[{json.dumps(name)}]"
        if isinstance(field, dict):
            yield from leaf_pieces(field, place)
        elif isinstance(field, str):
            yield text(place, field)
        else:
            kind = {bool: "boolValue", type(None): "nullValue"}.get(type(field), "numberValue")
            yield {"jsonPath": place, kind: field}
