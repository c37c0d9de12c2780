"""Plain JSON at the edge: snapshots, cycles, and values JSON has no form for."""

import datetime as dt
import enum
import json
from decimal import Decimal

import pytest

from canonicall import InvalidValue
from canonicall.plain import CUT, MAX_DEPTH, clean_text, plain_json


def test_the_copy_shares_nothing_mutable():
    inner = {"list": [1, {"deep": True}]}
    copy, findings = plain_json(inner, "$")
    inner["list"][1]["deep"] = False
    inner["list"].append("late")
    assert copy == {"list": [1, {"deep": True}]}
    assert findings == []


def test_a_cycle_is_cut_and_reported_with_its_place():
    value = {"name": "root", "children": [{}]}
    value["children"][0]["parent"] = value
    copy, findings = plain_json(value, "$.args")
    assert copy == {"name": "root", "children": [{"parent": CUT}]}
    assert [(one.code, one.where) for one in findings] == [
        ("circular_value", "$.args.children[0].parent")
    ]


def test_the_same_value_twice_is_no_cycle():
    shared = {"x": 1}
    copy, findings = plain_json({"a": shared, "b": shared, "c": shared, "d": "\ud800"}, "$")
    assert copy["a"] == copy["b"] == copy["c"] == {"x": 1}
    assert [one.code for one in findings] == ["lone_surrogate"]


def test_a_list_inside_itself_is_cut():
    value = [1]
    value.append(value)
    assert plain_json(value, "$")[0] == [1, CUT]


@pytest.mark.parametrize(
    ("value", "where", "says"),
    [
        ({"when": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}, "$.when", "isoformat"),
        ({"a": [1, {2, 3}]}, "$.a[1]", "Pass a list"),
        ({"a": {"b": b"x"}}, "$.a.b", "base64"),
        ({"a": float("nan")}, "$.a", "not a JSON number"),
        ({"a": float("inf")}, "$.a", "not a JSON number"),
        ({"a": {1: "x"}}, "$.a", "keys are text"),
        ({"price": Decimal("1.10")}, "$.price", "every digit"),
        ({"a": object()}, "$.a", "an object is not a JSON value"),
        ({"a": (1, print)}, "$.a[1]", "not a JSON value"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_path(value, where, says):
    with pytest.raises(InvalidValue) as caught:
        plain_json(value, "$")
    assert caught.value.where == where
    assert says in str(caught.value)


def test_tuples_enums_and_subclasses_become_plain():
    class Colour(enum.StrEnum):
        RED = "red"

    class Count(int):
        pass

    class Table(dict):
        pass

    copy, _ = plain_json({"t": (1, 2), "e": Colour.RED, "c": Count(3), "d": Table(x=1.5)}, "$")
    assert copy == {"t": [1, 2], "e": "red", "c": 3, "d": {"x": 1.5}}
    assert [type(part) for part in copy.values()] == [list, str, int, dict]


def test_deep_nesting_is_refused_not_overflowed():
    value = leaf = {}
    for _ in range(100_000):
        leaf["x"] = {}
        leaf = leaf["x"]
    with pytest.raises(InvalidValue, match=f"more than {MAX_DEPTH} levels"):
        plain_json(value, "$")


def test_nesting_up_to_the_limit_passes():
    value = {}
    for _ in range(MAX_DEPTH - 1):
        value = {"x": value}
    assert plain_json(value, "$") == (value, [])


def test_big_integers_keep_every_digit():
    assert plain_json({"n": 2**80}, "$")[0] == {"n": 2**80}


def test_surrogates():
    """Halves of a pair are joined, a lone half is replaced, sound text is left alone."""
    joined, findings = clean_text(json.loads('"\\ud83d\\ude00"').replace("x", ""), "$")
    assert (joined, findings) == ("😀", [])
    halves = "\ud83d" + "\ude00"
    assert clean_text(halves, "$")[0] == "😀"
    lone, findings = clean_text("a\ud800b", "$.text")
    assert lone == "a\ufffdb"
    assert [(one.code, one.where) for one in findings] == [("lone_surrogate", "$.text")]
    assert clean_text("naïve 日本 😀", "$") == ("naïve 日本 😀", [])
