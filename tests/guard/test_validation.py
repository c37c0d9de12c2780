"""`validate_call`: what is run, what is changed and reported, what is refused."""

import pytest

from canonicall import Limits, Outcome, Refusal, Tool, ToolCall, validate_call
from canonicall.guard.validators import validator_of

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1},
        "unit": {"enum": ["c", "f"]},
        "level": {"enum": [1, 2]},
        "fine": {"type": "boolean"},
        "ratio": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "integer"}},
        "place": {
            "type": "object",
            "properties": {"lat": {"type": "number"}, "name": {"type": "string"}},
            "additionalProperties": False,
        },
        "after": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "kind": {"$ref": "#/$defs/kind"},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"kind": {"type": "string", "enum": ["rain", "snow"]}},
}
WEATHER = Tool("weather", parameters=SCHEMA)


def checked(args=None, tools=(WEATHER,), **fields):
    return validate_call(ToolCall(id="c", **{"name": "weather", "args": args, **fields}), tools)


def codes(validated):
    return [finding.code for finding in validated.findings]


def test_a_sound_call_is_given_back_as_it_is():
    call = ToolCall(id="c", name="weather", args={"city": "Basel", "tags": [1], "after": None})
    for tools in ([WEATHER], {"weather": WEATHER}, iter([WEATHER])):
        validated = validate_call(call, tools)
        assert validated.call is call
        assert validated.ok
        assert (validated.findings, validated.outcome, validated.result) == ((), None, None)


def test_tools_may_be_written_as_any_chat_api_has_them():
    written = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    claude = {"name": "weather", "input_schema": SCHEMA}
    assert checked({"city": "Basel"}, [written]).ok
    assert not checked({}, [claude]).ok


@pytest.mark.parametrize(
    ("name", "given", "made"),
    [
        ("days", "3", 3),
        ("days", " 3 ", 3),
        ("days", "3.0", 3),
        ("ratio", "1.5", 1.5),
        ("fine", "true", True),
        ("fine", "False", False),
        ("tags", 4, [4]),
        ("tags", "4", [4]),
        ("tags", "[1, 2]", [1, 2]),
        ("tags", ["1", 2], [1, 2]),
        ("place", '{"lat": "7.5"}', {"lat": 7.5}),
        ("place", "{'lat': 7.5}", {"lat": 7.5}),
        ("after", "7", 7),
        ("level", "2", 2),
        ("city", 4051, "4051"),
    ],
)
def test_what_can_be_only_one_thing_is_coerced_and_reported(name, given, made):
    validated = checked({"city": "Basel", name: given})
    assert validated.ok
    assert validated.call.args == {"city": "Basel", name: made}
    assert type(validated.call.args[name]) is type(made)
    assert set(codes(validated)) == {"argument_coerced"}
    assert all(finding.where.startswith(f"args.{name}") for finding in validated.findings)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("days", "soon"),
        ("days", 3.5),
        ("days", "0"),
        ("days", True),
        ("fine", "yes"),
        ("fine", 1),
        ("tags", "[1, 2"),
        ("tags", "words"),
        ("place", "words"),
        ("city", 4.5),
        ("city", {"name": "Basel"}),
        ("city", None),
        ("unit", "C"),
    ],
)
def test_what_is_in_doubt_is_refused_as_it_came(name, given):
    call = ToolCall(id="c", name="weather", args={"city": "Basel", name: given})
    validated = validate_call(call, [WEATHER])
    assert validated.call is call
    assert validated.outcome is Outcome.INVALID
    assert codes(validated) == ["arguments_invalid"]
    assert validated.error.wrong[0].path.startswith(name)


def test_null_is_left_out_where_nothing_has_to_be_said():
    validated = checked({"city": "Basel", "days": None, "unit": None})
    assert validated.call.args == {"city": "Basel"}
    assert codes(validated) == ["null_left_out", "null_left_out"]


def test_control_characters_and_halves_of_characters_are_taken_out():
    """Recursively, names included; newline, tab and carriage return stay."""
    args = {"city": "a\x00b\x1b[1m\n\t\r", "place": {"na\x07me": "x\ud83d"}}
    validated = checked(args)
    assert validated.call.args == {"city": "ab[1m\n\t\r", "place": {"name": "x\ufffd"}}
    assert set(codes(validated)) == {"control_characters", "lone_surrogate"}


def test_coerced_json_is_sanitised_as_well():
    validated = checked({"city": "Basel", "place": '{"name": "x\\u0000y"}'})
    assert validated.call.args["place"] == {"name": "xy"}


def test_the_input_of_a_custom_tool_is_text():
    shell = Tool("shell", kind="custom")
    call = ToolCall(name="shell", kind="custom", raw="ls\x00 -la")
    assert validate_call(call, [shell]).call.raw == "ls -la"
    call = ToolCall(id="1", name="shell", kind="custom", raw="ls")
    assert validate_call(call, [shell]).findings == ()


def test_calls_that_the_provider_runs_are_not_our_business():
    call = ToolCall(name="web_search", kind="server", args={"q": "\x00"})
    assert validate_call(call, []).call is call


@pytest.mark.parametrize(
    "arguments",
    [{"args": {"city": "Basel"}}, {"raw": '{"city": "Basel"}'}, {"raw": "{"}, {"args": {1: {2}}}],
)
def test_a_call_without_an_id_gets_one_that_its_place_decides(arguments):
    """The same for the same call, in every process, and another one for each index."""
    call = ToolCall(name="weather", **arguments)
    made = [validate_call(call, [WEATHER], index=index) for index in range(50)]
    assert len({one.call.id for one in made}) == 50
    again = validate_call(call, [WEATHER], index=7)
    assert again == made[7]
    assert again.findings[0].code == "missing_call_id"
    if again.result is not None:
        assert again.result.call_id == again.call.id


def test_the_id_of_a_call_is_made_of_its_name_and_its_arguments():
    calls = [
        ToolCall(name="weather", args={"city": "Basel"}),
        ToolCall(name="weather", args={"city": "Bern"}),
        ToolCall(name="wetter", args={"city": "Basel"}),
        ToolCall(name="weather|{}", raw="{}"),
        ToolCall(name="weather", raw="{}|{}"),
    ]
    assert len({validate_call(call, [WEATHER]).call.id for call in calls}) == len(calls)
    assert validate_call(calls[0], [WEATHER]).call.id == "call_Xvz51_1HTqqXmaq8loH4L3qE"


def test_an_id_that_came_is_kept():
    call = ToolCall(id="abc", name="weather", args={"city": "Basel"})
    assert validate_call(call, [WEATHER], index=3).call is call


def test_a_cut_call_is_never_run():
    """Not even if what there is of it would be valid."""
    for fields in ({"args": {"city": "Basel"}, "truncated": True}, {"raw": '{"city": "Ba'}):
        validated = checked(**fields)
        assert validated.outcome is Outcome.TRUNCATED
        assert validated.error.refusal is Refusal.TRUNCATED
        assert codes(validated) == ["call_truncated"]


def test_an_unknown_tool_is_refused_with_the_nearest_name():
    assert "Did you mean weather?" in checked({}, name="Get_Weather").error.message
    assert "There are: weather." in checked({}, name="xyz").error.message
    assert "names no tool" in checked({}, name="").error.message
    assert codes(checked({}, name="xyz")) == ["tool_not_offered"]


def test_limits_are_kept():
    """Before anything is parsed, and after."""
    limits = Limits(max_bytes=100, max_depth=3)
    deep = {"a": [[[[1]]]]}
    free = Tool("weather")
    for call in (
        ToolCall(id="1", name="weather", raw='{"a": "' + "x" * 100 + '"}'),
        ToolCall(id="1", name="weather", args={"a": "x" * 100}),
        ToolCall(id="1", name="weather", args=deep),
        ToolCall(id="1", name="weather", raw='{"a": [[[[1]]]]}'),
    ):
        validated = validate_call(call, [free], limits=limits)
        assert validated.error.refusal is Refusal.TOO_LARGE
        assert codes(validated) == ["arguments_too_large"]
    assert validate_call(ToolCall(name="weather", args={"a": [[1]]}), [free], limits=limits).ok


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "nonsense", "required": ["city"]},
        {"$ref": "https://example.com/schema.json", "required": ["city"]},
        {"$ref": "file:///schema.json", "required": ["city"]},
        {"properties": {"city": {"pattern": "(("}}, "required": ["city"]},
        {"$ref": "#/$defs/none", "required": ["city"]},
    ],
)
def test_a_schema_that_cannot_be_used_is_reported_and_nothing_is_fetched(parameters):
    """What it requires still counts."""
    tool = Tool("weather", parameters=parameters)
    validated = checked({"city": "Basel"}, [tool])
    assert validated.ok
    assert codes(validated) == ["schema_unusable"]
    assert checked({}, [tool]).error.missing == ("city",)


def test_arguments_that_are_no_json_are_refused():
    assert checked({"city": float("nan")}, [Tool("weather", parameters=SCHEMA)]).error
    assert checked({"city": object()}).error.refusal is Refusal.UNREADABLE


def test_a_tool_without_schema_takes_any_object():
    free = Tool("weather")
    assert checked({"anything": [1]}, [free]).ok
    assert checked(raw="", tools=[free]).call.args == {}
    assert not checked(raw="[1]", tools=[free]).ok


def test_the_refusal_is_a_result_for_the_call():
    result = checked({}).result
    assert (result.call_id, result.name, result.error) == ("c", "weather", True)
    assert result.outcome is Outcome.INVALID
    assert '"missing":["city"]' in result.text


def test_equal_schemas_are_compiled_once():
    """Also where every request brings a copy of its own."""
    assert validator_of({"type": "object"}) is validator_of({"type": "object"})


@pytest.mark.parametrize(("levels", "is_ok"), [(3, True), (4, False)])
def test_arguments_may_be_as_deep_as_the_limit_says_and_no_deeper(levels, is_ok):
    args = {}
    for _ in range(levels - 1):
        args = {"a": args}
    limits = Limits(max_depth=3)
    assert validate_call(ToolCall(name="t", args=args), [Tool("t")], limits=limits).ok is is_ok
