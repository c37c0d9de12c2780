"""Schemas that are made to hurt: a result of bounded size, for every rule, and no exception."""

import msgspec
import pytest

from canonicall.facts.registry import get_target, provider_names
from canonicall.facts.schema_rules import SchemaRule
from canonicall.schema.definitions import BUDGET
from canonicall.schema.fitting import fit_schema
from canonicall.schema.limits import DEEPEST

RULES = list(
    dict.fromkeys(
        [
            SchemaRule(refs="none"),
            SchemaRule(refs="acyclic"),
            SchemaRule(refs="inline"),
            *(get_target(name).schemas for name in provider_names()),
        ]
    )
)


def nested(levels, keyword):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {
            "properties": lambda inner: {"type": "object", "properties": {"a": inner}},
            "items": lambda inner: {"type": "array", "items": inner},
            "anyOf": lambda inner: {"anyOf": [inner]},
            "allOf": lambda inner: {"allOf": [inner]},
            "not": lambda inner: {"not": inner},
        }[keyword](schema)
    return {"type": "object", "properties": {"p": schema}}


def laughs(levels, width):
    """Each definition refers to the next one `width` times."""
    definitions = {
        f"d{n}": {
            "type": "object",
            "properties": {f"p{m}": {"$ref": f"#/$defs/d{n + 1}"} for m in range(width)},
        }
        for n in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "string"}
    return {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


def crowd(count):
    """Definitions of which each refers to all."""
    names = [f"d{n}" for n in range(count)]
    everybody = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    definitions = {name: {"type": "object", "properties": everybody} for name in names}
    return {"type": "object", "properties": everybody, "$defs": definitions}


def chain(length):
    definitions = {
        f"d{n}": {"type": "object", "properties": {"next": {"$ref": f"#/$defs/d{n + 1}"}}}
        for n in range(length)
    }
    return {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


HOSTILE = {
    **{f"2,000 levels of {name}": nested(2_000, name) for name in ("properties", "items", "anyOf")},
    **{f"2,000 levels of {name}": nested(2_000, name) for name in ("allOf", "not")},
    "billion laughs": laughs(30, 3),
    "wide laughs": laughs(4, 40),
    "everybody knows everybody": crowd(40),
    "a chain of references": chain(3_000),
    "10,000 properties": {
        "type": "object",
        "properties": {f"p{n}": {"type": "string", "const": "x"} for n in range(10_000)},
    },
    "a megabyte": {
        "type": "object",
        "properties": {"p": {"type": "string", "description": "x" * 1_000_000, "pattern": "["}},
    },
    "mutual recursion": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "r": {"$ref": "#"}}},
        },
    },
    "a root that is itself": {"$ref": "#"},
    "everything is wrong": {
        "type": 5,
        "properties": {"a": None, "b": [], "c": "x", "d": 7},
        "required": {"a": 1},
        "$defs": [],
        "definitions": "x",
        "anyOf": "x",
        "oneOf": [None, 3],
        "allOf": {"a": 1},
        "not": 1,
        "items": "x",
        "$ref": ["#"],
        "enum": 3,
    },
}


def size(schema):
    """How many values there are when it is written; shared ones count each time."""
    count, waiting = 0, [schema]
    while waiting:
        node = waiting.pop()
        count += 1
        waiting += (
            node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        )
    return count


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_has_a_bounded_result(name, every):
    """For every fourth rule in each run, and for all of them."""
    schema = HOSTILE[name]
    before = size(schema)
    for rule in RULES[::every]:
        for strict in (False, True):
            fitted = fit_schema(schema, rule, strict=strict)
            # A schema that is put in place has a handful of values.
            assert size(fitted.schema) <= 2 * before + 8 * BUDGET
            assert len(msgspec.json.encode(fitted.schema)) < 2_500_000
            assert len(fitted.losses) <= 2 * before + 4 * BUDGET


@pytest.mark.parametrize("keyword", ["properties", "items", "anyOf"])
def test_what_is_too_deep_for_anybody_is_cut_with_a_loss(keyword):
    fitted = fit_schema(nested(2_000, keyword), SchemaRule())
    assert [loss.change for loss in fitted.losses] == ["weakened"]
    assert fitted.losses[0].pointer.count("/") <= 2 * DEEPEST


def test_ten_thousand_properties_that_fit_are_not_touched():
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(10_000)}}
    assert fit_schema(schema, SchemaRule()).schema is schema
