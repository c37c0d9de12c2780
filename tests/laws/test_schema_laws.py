"""Schemas on their way to any target: what was allowed stays allowed, or a loss says that it is not.

Schemas and values are made here; an outside validator judges what they allow.
"""

from copy import deepcopy

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from batches import each
from canonicall import (
    Conversation,
    Request,
    Tool,
    encode_request,
    get_target,
    translate_tools,
    verify,
)
from canonicall.facts.registry import provider_names
from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.schema import fitting
from canonicall.schema.fitting import fit_schema
from canonicall.wire.formats import FORMATS, get_format

NARROW = SchemaRule(
    root_refused=("anyOf", "oneOf", "allOf", "not"),
    keywords=("type", "properties", "required", "items", "enum", "anyOf", "description", "minimum"),
    told=True,
    refs="none",
    type_lists="null",
    items_required=True,
    strict=StrictRule(
        keywords=(
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "anyOf",
        ),
        refs="acyclic",
        all_required=True,
        typed=True,
    ),
)
TARGETS = [get_target(name) for name in provider_names()]
RULES = list(
    dict.fromkeys(
        [
            NARROW,
            SchemaRule(),
            SchemaRule(refs="acyclic", max_depth=3),
            SchemaRule(refs="inline", keywords=("type", "properties", "$ref", "$defs", "allOf")),
            *(target.schemas for target in TARGETS),
            *(get_format(name).target.schemas for name in FORMATS),
        ]
    )
)
NAMES = st.sampled_from(["a", "b", "const", "items"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 1.5, "", "x", "xy"])
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "array", "object", "null"])
REFERENCES = st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/definitions/c", "#/$defs/nowhere"])


def _nodes(inner):
    """Schemas of every kind of keyword, around `inner` ones."""
    either = inner | st.booleans()
    some = st.lists(inner, min_size=1, max_size=3)
    keywords = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(SCALARS, min_size=1, max_size=3),
        "const": SCALARS,
        "properties": st.dictionaries(NAMES, either, max_size=3),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": either,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), either, max_size=1),
        "items": either,
        "prefixItems": some,
        "contains": inner,
        "maxContains": st.integers(0, 2),
        "minItems": st.integers(0, 3),
        "uniqueItems": st.booleans(),
        "anyOf": some,
        "oneOf": some,
        "allOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "minLength": st.integers(0, 2),
        "pattern": st.sampled_from(["^x", "y$"]),
        "minimum": st.integers(0, 2),
        "exclusiveMinimum": st.integers(0, 2) | st.just(0.5),
        "exclusiveMaximum": st.integers(1, 3),
        "multipleOf": st.sampled_from([1, 2]),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
        "unevaluatedProperties": st.booleans(),
        "propertyNames": inner,
        "minProperties": st.integers(0, 2),
        "$ref": REFERENCES,
        "title": st.just("A title"),
        "x-order": st.just(1),
    }
    wanted = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return wanted.flatmap(lambda names: st.fixed_dictionaries({n: keywords[n] for n in names}))


SUBSCHEMAS = st.recursive(
    st.just({}) | st.builds(lambda t: {"type": t}, TYPES), _nodes, max_leaves=6
)


@st.composite
def schemas(draw):
    """A schema of arguments, with definitions for its references."""
    schema = draw(st.sampled_from([{}, {"type": "object"}, {"type": ["object", "null"]}])) | {
        "properties": draw(st.dictionaries(NAMES, SUBSCHEMAS, max_size=3))
    }
    if draw(st.booleans()):
        schema |= {k: v for k, v in draw(SUBSCHEMAS).items() if k not in schema}
    schema["$defs"] = {"a": draw(SUBSCHEMAS), "b": draw(SUBSCHEMAS)}
    schema["definitions"] = {"c": draw(SUBSCHEMAS)}
    return schema


VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=3)


def judge(schema):
    """A validator of the schema, if the schema is one: references to nowhere have none."""
    try:
        return jsonschema_rs.Draft202012Validator(schema, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None


@given(schemas(), st.sampled_from(RULES), st.booleans(), st.lists(ARGUMENTS, max_size=12))
def test_what_was_allowed_stays_allowed_or_a_loss_says_so(schema, rule, strict, values):
    """No loss of a kind that the values show: then it is not there."""
    source = judge(schema)
    assume(source is not None)
    fitted = fit_schema(schema, rule, strict=strict)
    target = judge(fitted.schema)
    assert target is not None
    kinds = {loss.change for loss in fitted.losses}
    for value in [{}, {"a": 1}, {"a": "x", "b": [1]}, *values]:
        before, after = source.is_valid(value), target.is_valid(value)
        if before and not after:
            assert "narrowed" in kinds, (value, fitted)
        if after and not before:
            assert kinds & {"weakened", "narrowed"}, (value, fitted)


@given(schemas(), st.sampled_from(RULES), st.booleans())
def test_fitting_again_changes_nothing(schema, rule, strict):
    """What comes out fits: it is its own fitted form, the same object, without a loss."""
    once = fit_schema(schema, rule, strict=strict)
    again = fit_schema(once.schema, rule, strict=strict)
    assert (again.losses, again.schema) == ((), once.schema)
    assert again.schema is once.schema


@given(schemas(), st.sampled_from(RULES), st.booleans())
def test_fitting_is_a_function_of_what_the_schema_says(schema, rule, strict):
    """Equal schemas give equal results, in the same order of keys, and are not changed."""
    before = deepcopy(schema)
    fitted = fit_schema(schema, rule, strict=strict)
    assert schema == before
    again = fit_schema(before, rule, strict=strict)
    assert repr(again) == repr(fitted)
    if not fitted.losses:
        assert fitted.schema is schema


@given(schemas(), st.sampled_from(RULES), st.booleans())
def test_a_glance_says_yes_only_where_the_walk_does(schema, rule, strict):
    """With and without glances the result is the same, for schemas that fit and for others."""
    for one in (schema, fit_schema(schema, rule, strict=strict).schema):
        quick = fit_schema(one, rule, strict=strict)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fitting, "seen_to_fit", lambda *_: False)
            careful = fit_schema(one, rule, strict=strict)
        assert (repr(quick), quick.schema is one) == (repr(careful), careful.schema is one)


@settings(max_examples=40)
@given(
    tools=st.lists(
        st.builds(Tool, st.just("run"), st.just("Runs."), schemas()), min_size=1, max_size=1
    )
)
@each("target", TARGETS, ids=lambda target: target.provider)
def test_the_judge_takes_every_schema(target, tools):
    """Whatever a schema says, the body that carries it is accepted, strict or not."""
    chat = Conversation()
    chat.user("Go.")
    for strict in (None, True):
        offered = tuple(Tool(t.name, t.description, t.parameters, strict=strict) for t in tools)
        body = encode_request(Request(chat, tools=offered), target).body
        assert [str(one) for one in verify(body, target)] == []


@given(schema=schemas(), source=st.sampled_from(FORMATS), target=st.sampled_from(FORMATS))
def test_a_list_of_tools_stays_where_it_is_at_home(schema, source, target):
    """Translated to a format and then to the same format again, it does not change any more."""
    listed = [{"name": "run", "description": "Runs.", "input_schema": schema}]
    first = translate_tools(listed, "anthropic", source).tools
    there = translate_tools(first, source, target).tools
    assert translate_tools(there, target, target).tools == there
