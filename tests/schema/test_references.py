"""References: resolved, moved, put in place, cut; never followed out of the schema."""

import pytest

from batches import each
from canonicall.facts.schema_rules import SchemaRule
from canonicall.schema.fitting import fit_schema

KEPT = SchemaRule(keywords=("type", "properties", "items", "$ref", "$defs", "description", "enum"))
ACYCLIC = SchemaRule(refs="acyclic")
NONE = SchemaRule(refs="none")
INLINE = SchemaRule(refs="inline")
TEXT = {"type": "string"}


def parameters(schema, **root):
    return {"type": "object", "properties": {"p": schema}, **root}


def test_notes_beside_recursion_that_is_cut_are_those_the_target_takes():
    rule = SchemaRule(keywords=("type", "properties"), refs="none")
    fitted = fit_schema({"properties": {"a": {"$ref": "#", "x-order": 1}}}, rule)
    assert fit_schema(fitted.schema, rule).schema is fitted.schema
    assert "x-order" not in str(fitted.schema)


@pytest.mark.parametrize("rule", [SchemaRule(), KEPT, ACYCLIC])
def test_definitions_that_are_taken_stay_as_they_are(rule):
    schema = parameters({"$ref": "#/$defs/A"}, **{"$defs": {"A": TEXT, "unused": TEXT}})
    assert fit_schema(schema, rule).schema is schema


@pytest.mark.parametrize(
    ("reference", "root"),
    [
        ("#/definitions/A", {"definitions": {"A": TEXT}}),
        ("#/components/schemas/A", {"components": {"schemas": {"A": TEXT}}}),
        ("#/components/schemas/A", {"$defs": {"A": TEXT}}),
        ("#named", {"$defs": {"A": {**TEXT, "$anchor": "named"}}}),
        ("other", {"$defs": {"A": {**TEXT, "$id": "other"}}}),
        ("#/$defs/A%20b", {"$defs": {"A b": TEXT}}),
        ("#/$defs/A~1b", {"$defs": {"A/b": TEXT}}),
        ("#/$defs/B", {"$defs": {"A": TEXT, "B": {"$ref": "#/$defs/A"}}}),
    ],
)
def test_a_reference_is_found_wherever_it_leads(reference, root):
    fitted = fit_schema(parameters({"$ref": reference}, **root), NONE)
    placed = fitted.schema["properties"]["p"]
    assert placed["type"] == "string"
    assert {loss.change for loss in fitted.losses} == {"reworded"}
    assert fitted.schema.keys() == {"type", "properties"}


def test_definitions_of_older_drafts_move():
    schema = parameters(
        {"$ref": "#/definitions/A"}, definitions={"A": TEXT}, **{"$defs": {"A": {}}}
    )
    fitted = fit_schema(schema, KEPT).schema
    assert fitted["properties"]["p"] == {"$ref": "#/$defs/A_2"}
    assert fitted["$defs"] == {"A": {}, "A_2": TEXT}


def test_a_reference_into_the_schema_becomes_a_definition():
    schema = parameters({"$ref": "#/properties/q"})
    schema["properties"]["q"] = {"const": 1}
    fitted = fit_schema(schema, KEPT).schema
    assert fitted["properties"] == {"p": {"$ref": "#/$defs/q"}, "q": {"enum": [1]}}
    assert fitted["$defs"] == {"q": {"enum": [1]}}


@each(
    "reference",
    ["#/$defs/nowhere", "https://example.com/schema.json", "file:///etc/passwd", "#/type", 7, None],
)
@each("rule", [SchemaRule(), KEPT, ACYCLIC, NONE, INLINE])
def test_a_reference_that_leads_nowhere_or_outside_is_left_out(reference, rule):
    fitted = fit_schema(parameters({"$ref": reference, "description": "D"}), rule)
    assert fitted.schema["properties"]["p"] == {"description": "D"}
    assert [(loss.change, loss.pointer) for loss in fitted.losses] == [
        ("weakened", "/properties/p")
    ]


@pytest.mark.parametrize("rule", [SchemaRule(), KEPT, ACYCLIC, NONE, INLINE])
def test_references_that_only_lead_to_each_other_are_left_out(rule):
    circle = {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}
    fitted = fit_schema(parameters({"$ref": "#/$defs/A"}, **{"$defs": circle}), rule)
    assert fitted.schema["properties"]["p"] == {}
    assert any(loss.change == "weakened" for loss in fitted.losses)


TREE = {
    "type": "object",
    "description": "A tree.",
    "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
}


def test_recursion_stays_where_it_is_taken():
    schema = parameters({"$ref": "#/$defs/Tree"}, **{"$defs": {"Tree": TREE}})
    assert fit_schema(schema, KEPT).schema is schema
    assert fit_schema(schema, INLINE).schema == schema


@pytest.mark.parametrize("rule", [ACYCLIC, NONE])
def test_recursion_that_is_not_taken_ends(rule):
    schema = parameters({"$ref": "#/$defs/Tree"}, **{"$defs": {"Tree": TREE}})
    fitted = fit_schema(schema, rule)
    assert [loss.change for loss in fitted.losses if loss.change != "reworded"] == ["weakened"]
    end = {"type": "object", "description": "A tree."}
    assert str(end) in str(fitted.schema)
    assert fit_schema(fitted.schema, rule).schema is fitted.schema


def test_what_is_not_recursive_is_put_in_place_where_it_is_read_better():
    definitions = {"Tree": TREE, "Text": TEXT}
    schema = parameters({"$ref": "#/$defs/Text", "description": "D"}, **{"$defs": definitions})
    schema["properties"]["tree"] = {"$ref": "#/$defs/Tree"}
    fitted = fit_schema(schema, INLINE).schema
    assert fitted["properties"]["p"] == {"description": "D", "type": "string"}
    assert fitted["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    assert fitted["$defs"] == {"Tree": TREE}


def test_a_reference_to_a_root_that_had_to_change_means_the_old_one():
    """`#` allowed anything that is no object as well; the parameters themselves are one."""
    fitted = fit_schema({"properties": {"p": {"$ref": "#"}}}, SchemaRule()).schema
    assert fitted["type"] == "object"
    name = fitted["properties"]["p"]["$ref"].removeprefix("#/$defs/")
    assert fitted["$defs"] == {name: {"properties": {"p": {"$ref": f"#/$defs/{name}"}}}}


def test_references_inside_a_schema_with_an_address_of_its_own_are_not_guessed():
    """There `#/$defs/A` means another definition than the one of the root."""
    inner = {"$id": "https://example.com/inner", "properties": {"a": {"$ref": "#/$defs/A"}}}
    schema = parameters(inner, **{"$defs": {"A": TEXT}})
    fitted = fit_schema(schema, NONE)
    assert fitted.schema["properties"]["p"]["properties"] == {"a": {}}
    assert any(loss.change == "weakened" for loss in fitted.losses)


def test_a_reference_that_leads_on_to_no_reference_leads_nowhere():
    schema = parameters({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"$ref": 5}}})
    fitted = fit_schema(schema, NONE)
    assert fitted.schema == parameters({})
    assert ("weakened", "/properties/p") in [(one.change, one.pointer) for one in fitted.losses]


def test_a_part_that_refers_to_itself_is_merged_as_far_as_that_is_possible():
    part = {"$anchor": "self", "$ref": "#self", "title": "t"}
    schema = parameters({"minLength": 1, "allOf": [part]})
    fitted = fit_schema(schema, SchemaRule(keywords=("type", "properties", "minLength")))
    assert fitted.schema["properties"]["p"] == {"minLength": 1}
    assert [(one.change, one.pointer) for one in fitted.losses] == [("weakened", "/properties/p")]


def test_a_definition_that_only_leads_on_stays():
    """It had said more, which the rule refuses; what refers to it still finds it."""
    rule = SchemaRule(keywords=("type", "properties", "$ref", "$defs"), refs="inline")
    schema = {
        "properties": {"a": {"$ref": "#/definitions/c", "const": None}},
        "definitions": {"c": {"$ref": "#", "const": None}},
    }
    once = fit_schema(schema, rule)
    assert once.schema["$defs"].keys() == {"c", "schema"}
    assert fit_schema(once.schema, rule).schema is once.schema
