"""The judge's reading of the metaschemas agrees with the metaschemas."""

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.verify.metaschema import DRAFT_7, DRAFT_2020, common_faults, faults
from canonicall.verify.schemas import Spot

DRAFTS = {
    "http://json-schema.org/draft-07/schema#": DRAFT_7,
    "https://json-schema.org/draft/2020-12/schema": DRAFT_2020,
}
KEYWORDS = sorted({name for draft in DRAFTS.values() for name in draft.values} - {"$schema", "$id"})
SCHEMAS = sorted({one for draft in DRAFTS.values() for one in (*draft.schemas, *draft.either)})
MAPS = sorted({*DRAFT_2020.maps, "dependencies"})
# References are resolved elsewhere: here they are only texts.
scalars = (
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.5, 1.0, "string", "a"])
)
values = (
    scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.just("a"), scalars, max_size=1)
)
random_schemas = st.recursive(
    st.booleans() | st.dictionaries(st.sampled_from(KEYWORDS), values, max_size=2),
    lambda inner: (
        st.dictionaries(st.sampled_from(SCHEMAS), inner | values, max_size=2)
        | st.dictionaries(
            st.sampled_from(MAPS), st.dictionaries(st.just("a"), inner | values), max_size=1
        )
        | st.dictionaries(
            st.sampled_from(DRAFT_2020.lists), st.lists(inner | values, max_size=2), max_size=1
        )
        | st.dictionaries(st.just("items"), st.lists(inner, max_size=2), max_size=1)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("uri", DRAFTS)
@given(schema=random_schemas)
def test_a_schema_has_faults_where_its_metaschema_refuses_it(uri, schema):
    if isinstance(schema, bool):
        return
    found = [fault.where for fault in faults(Spot(schema, "$"), DRAFTS[uri])]
    assert (found == []) == jsonschema_rs.meta.is_valid({"$schema": uri, **schema}), found


@pytest.mark.parametrize(
    ("schema", "where", "what"),
    [
        ({"required": "a"}, "$.required", "'a' is not of type 'array'"),
        ({"required": [1]}, "$.required", "1 is not of type 'string'"),
        ({"required": ["a", "a"]}, "$.required", "['a', 'a'] has non-unique elements"),
        ({"type": "str"}, "$.type", "'str' is not valid under any of the given schemas"),
        ({"type": []}, "$.type", "[] is not valid under any of the given schemas"),
        ({"properties": []}, "$.properties", "[] is not of type 'object'"),
        ({"properties": {"a": "x"}}, "$.properties.a", "'x' is not of type 'object', 'boolean'"),
        ({"minLength": -1}, "$.minLength", "-1 is less than the minimum of 0"),
        ({"maxItems": 1.5}, "$.maxItems", "1.5 is not of type 'integer'"),
        ({"multipleOf": 0}, "$.multipleOf", "0 is less than or equal to the minimum of 0"),
        ({"minimum": True}, "$.minimum", "True is not of type 'number'"),
        ({"anyOf": []}, "$.anyOf", "[] should be non-empty"),
        ({"items": {"not": {"enum": "a"}}}, "$.items.not.enum", "'a' is not of type 'array'"),
    ],
)
def test_a_fault_says_where_and_what(schema, where, what):
    (fault,) = common_faults(Spot(schema, "$"))
    assert (fault.where, fault.what) == (where, what)


@pytest.mark.parametrize(
    ("schema", "faulty"),
    [
        ({"items": [{"type": "string"}]}, DRAFT_2020),
        ({"$defs": {"a": 1}}, DRAFT_2020),
        ({"dependentRequired": {"a": "b"}}, DRAFT_2020),
        ({"additionalItems": 1}, DRAFT_7),
    ],
)
def test_drafts_differ(schema, faulty):
    spot = Spot(schema, "$")
    assert [draft for draft in DRAFTS.values() if list(faults(spot, draft))] == [faulty]
    assert list(common_faults(spot)) == []


def test_whole_numbers_of_any_size_are_whole():
    assert not list(faults(Spot({"maxLength": 10**400, "minLength": 1.0}, "$"), DRAFT_2020))


def test_a_large_value_is_shown_short():
    deep = []
    for _ in range(2_000):
        deep = [deep]
    (fault,) = faults(Spot({"type": deep}, "$"), DRAFT_2020)
    assert len(fault.what) < 200


def test_depth_does_not_matter():
    schema = {"type": "nothing"}
    for _ in range(2_000):
        schema = {"not": schema}
    (fault,) = faults(Spot(schema, "$"), DRAFT_2020)
    assert fault.where == "$" + ".not" * 2_000 + ".type"
