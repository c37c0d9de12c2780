"""What a model is told about a call that was refused, and when that ends."""

import json

import pytest

from canonicall import CorrectionBudget, Refusal, Tool, ToolCall, validate_call
from canonicall.guard.feedback import excerpt

SCHEMA = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "Where to write."},
        "content": {"type": "string"},
        "mode": {"type": "integer", "minimum": 0, "maximum": 511},
        "options": {
            "type": "object",
            "properties": {"backup": {"type": "boolean"}},
            "additionalProperties": False,
        },
        "owner": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"user": {"type": "string"}, "id": {"type": "integer"}},
                    "required": ["user", "id"],
                },
                {"type": "null"},
            ]
        },
    },
    "required": ["file_path", "content"],
    "additionalProperties": False,
}
WRITE = Tool("write_file", parameters=SCHEMA)


def refused(args, **options):
    return validate_call(ToolCall(id="c", name="write_file", args=args), [WRITE], **options)


def test_missing_wrong_and_unknown_arguments_are_told_apart():
    error = refused(
        {"filePath": "a", "content": ["x"], "mode": 999, "options": {"back_up": 1}}
    ).error
    assert error.missing == ("file_path",)
    assert [(one.path, one.expected, one.got) for one in error.wrong] == [
        ("content", "string", "a list of 1"),
        ("mode", "a number of at most 511", "number 999"),
    ]
    assert {(one.path, one.did_you_mean) for one in error.unknown} == {
        ("filePath", "file_path"),
        ("options.back_up", "backup"),
    }


def test_the_text_is_json_that_a_model_can_act_on():
    told = json.loads(refused({"content": "x"}).error.text)["tool_error"]
    assert told["tool"] == "write_file"
    assert told["missing"] == ["file_path"]
    assert told["message"].startswith("This tool call was not run: ")
    assert told["schema"] == {
        "type": "object",
        "properties": {"file_path": SCHEMA["properties"]["file_path"]},
        "required": ["file_path"],
    }
    assert "attempts_left" not in told


def test_a_misspelt_name_is_told_where_any_name_is_allowed():
    """Only if something is missing: else it is no fault."""
    schema = {"type": "object", "properties": {"city": {}}, "required": ["city"]}
    tool = Tool("weather", parameters=schema)
    error = validate_call(ToolCall(name="weather", args={"citty": "x"}), [tool]).error
    assert [(one.path, one.did_you_mean) for one in error.unknown] == [("citty", "city")]
    assert validate_call(ToolCall(name="weather", args={"city": 1, "x": 2}), [tool]).ok


def test_of_alternatives_the_one_that_was_meant_counts():
    error = refused({"file_path": "a", "content": "b", "owner": {"user": "x"}}).error
    assert error.missing == ("owner.id",)
    error = refused({"file_path": "a", "content": "b", "owner": 7}).error
    assert [(one.path, one.expected) for one in error.wrong] == [("owner", "null or object")]


def test_feedback_is_short_whatever_was_sent():
    """A thousand faults and a megabyte of text make no long answer."""
    many = {f"unknown_{n}" * 20: n for n in range(1_000)}
    large = {"file_path": ["y" * 100] * 10_000, "content": "x" * 1_000_000}
    for args in (many, large):
        assert len(refused(args).error.text) < 10_000


def test_a_huge_schema_is_not_repeated():
    properties = {f"p{n}": {"type": "string", "description": "d" * 500} for n in range(1_000)}
    tool = Tool("t", parameters={"properties": properties, "required": list(properties)})
    budget = CorrectionBudget().spend("t", Refusal.INVALID)
    assert len(validate_call(ToolCall(name="t", args={}), [tool], budget=budget).error.text) < 5_000


def test_feedback_escalates_and_ends():
    """First the part of the schema, then all of it, then: go on without the tool."""
    budget = CorrectionBudget(each=3)
    told = []
    for _ in range(4):
        validated = refused({}, budget=budget)
        budget = validated.budget
        told.append(validated.error)
    assert [one.attempts_left for one in told] == [2, 1, 0, 0]
    assert "mode" not in told[0].schema["properties"]
    assert told[1].schema == SCHEMA
    assert "last attempt" in told[1].message
    assert "do not call write_file again" in told[2].message
    assert "Call the tool again" not in told[2].message
    assert [one.is_final for one in told] == [False, False, True, True]


def test_a_call_that_goes_through_gives_the_tool_its_attempts_back():
    budget = refused({}, budget=CorrectionBudget()).budget
    budget = refused({"file_path": "a", "content": "b"}, budget=budget).budget
    assert budget.left("write_file", Refusal.INVALID) == 3
    assert budget.spent_in_all == 1


def test_kinds_and_tools_are_counted_apart_and_all_together():
    budget = CorrectionBudget(each=2, total=5)
    budget = budget.spend("a", Refusal.INVALID).spend("a", Refusal.TRUNCATED)
    assert budget.left("a", Refusal.INVALID) == 1
    assert budget.left("b", Refusal.INVALID) == 2
    budget = budget.spend("b", Refusal.INVALID).spend("c", Refusal.INVALID)
    assert budget.left("d", Refusal.INVALID) == 1
    assert not budget.is_exhausted
    assert budget.spend("e", Refusal.INVALID).is_exhausted


@pytest.mark.parametrize("each", [0, 1, 5])
def test_a_model_that_never_learns_comes_to_an_end(each):
    """Also one that succeeds in between."""
    budget = CorrectionBudget(each=each, total=10)
    for step in range(100):
        args = {"file_path": "a", "content": "b"} if step % 2 else {}
        validated = refused(args, budget=budget)
        budget = validated.budget
        if validated.error and validated.error.is_final:
            return
    pytest.fail("there is no end")


def test_a_schema_whose_required_names_are_no_names_is_shown_without_them():
    schema = {"properties": {"city": {"type": "string"}}, "required": [{}, ["city"], 7, "city"]}
    assert excerpt(schema, ("city",), whole=False)["required"] == ["city"]
