"""Reading schemas: every part once, whatever its depth and wherever its references lead."""

import pytest

from canonicall.verify import schemas
from canonicall.verify.schemas import Spot, circle, object_levels, references, resolve, walk

DEEP = 2_000


def nested(depth, leaf=None):
    schema = leaf or {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def places(schema):
    return [spot.where for spot in walk(Spot(schema, "$"))]


def test_every_schema_is_found_where_it_stands():
    schema = {
        "properties": {"a": {"items": {"anyOf": [{}, True]}}, "properties": {"not": {}}},
        "additionalProperties": {},
        "default": {"properties": {"x": {}}},
    }
    assert places(schema) == [
        "$",
        "$.properties.a",
        "$.properties.a.items",
        "$.properties.a.items.anyOf[0]",
        "$.properties.a.items.anyOf[1]",
        "$.properties.properties",
        "$.properties.properties.not",
        "$.additionalProperties",
    ]


def test_definitions_are_read_once_and_only_when_referred_to():
    node = {"properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {
        "properties": {"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": node, "Unused": {}},
    }
    assert places(schema).count("$.$defs.Node") == 1
    assert "$.$defs.Unused" not in places(schema)


@pytest.mark.parametrize(
    ("ref", "where"),
    [
        ("#", "$"),
        ("#/$defs/a~1b/items", "$.$defs.a/b.items"),
        ("#/$defs/c~0d/anyOf/1", "$.$defs.c~d.anyOf[1]"),
    ],
)
def test_a_pointer_leads_to_its_schema(ref, where):
    schema = {"$defs": {"a/b": {"items": {}}, "c~d": {"anyOf": [{}, {}]}}}
    (spot,) = resolve(Spot(schema, "$"), ref)
    assert spot.where == where


@pytest.mark.parametrize(
    "ref",
    [
        *("#/$defs/None", "#/$defs/c/anyOf/7", "#/$defs/c/anyOf/" + "9" * 5_000, "#anchor"),
        *("https://example.com/a.json", "", "#/$defs/c/anyOf/-1", "#/$defs/c/anyOf/x"),
    ],
)
def test_a_pointer_to_nowhere_leads_nowhere(ref):
    assert resolve(Spot({"$defs": {"c": {"anyOf": [{}]}}}, "$"), ref) == []


@pytest.mark.parametrize(
    ("schema", "way"),
    [
        ({"properties": {"a": {"$ref": "#"}}}, ("#", "#")),
        (
            {"items": {"$ref": "#/$defs/A"}, "$defs": {"A": {"not": {"$ref": "#/$defs/A"}}}},
            ("#/$defs/A", "#/$defs/A"),
        ),
        (
            {
                "items": {"$ref": "#/$defs/A"},
                "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"items": {"$ref": "#/$defs/A"}}},
            },
            ("#/$defs/A", "#/$defs/B", "#/$defs/A"),
        ),
        ({"items": {"$ref": "#/$defs/A"}, "$defs": {"A": {}, "B": {"$ref": "#/$defs/B"}}}, ()),
        ({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}], "$defs": {"A": {}}}, ()),
        ({"$ref": "#/$defs/None"}, ()),
    ],
)
def test_references_in_a_circle_are_found(schema, way):
    assert circle(Spot(schema, "$")) == way


def test_depth_does_not_matter():
    root = Spot(nested(DEEP, {"$ref": "#"}), "$")
    assert sum(1 for _ in walk(root)) == DEEP + 1
    assert object_levels(root) == DEEP
    assert circle(root) == ("#", "#")
    ((spot, ref),) = references(root)
    assert (ref, spot.where) == ("#", "$" + ".properties.a" * DEEP)


def test_options_of_an_object_are_no_level_of_their_own():
    option = {"type": "object", "properties": {"b": {"type": "object", "properties": {}}}}
    root = {"type": "object", "properties": {"a": {}}, "anyOf": [option]}
    assert object_levels(Spot(root, "$")) == 2
    assert object_levels(Spot({"properties": {"a": root}}, "$")) == 3


def test_a_long_chain_of_references_is_followed():
    defs = {f"d{at}": {"items": {"$ref": f"#/$defs/d{at + 1}"}} for at in range(DEEP)}
    chain = {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{DEEP}": {"$ref": "#/$defs/d0"}}}
    assert len(circle(Spot(chain, "$"))) == DEEP + 2
    open_end = {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{DEEP}": {}}}
    assert circle(Spot(open_end, "$")) == ()


def test_a_value_that_holds_itself_ends(monkeypatch):
    """No JSON can, but a program can pass such a dict."""
    monkeypatch.setattr(schemas, "MOST", 500)
    endless = {"type": "object"}
    endless["properties"] = {"a": endless}
    root = Spot(endless, "$")
    assert sum(1 for _ in walk(root)) == 500
    assert circle(root) == ()
    assert object_levels(root) > 1
