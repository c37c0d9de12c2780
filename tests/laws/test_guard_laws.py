"""What holds for every call: what is run fits the schema, and nothing sound is touched."""

import json

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st

from canonicall import InvalidValue, Limits, Tool, ToolCall, result_blocks, validate_call
from canonicall.guard.sanitising import sanitised
from canonicall.testing.strategies import json_objects, json_values

TYPES = ["string", "integer", "number", "boolean", "null", "object", "array"]
NAMES = ("a", "b", "c")

leaves = st.one_of(
    st.sampled_from(TYPES).map(lambda one: {"type": one}),
    st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True).map(
        lambda types: {"type": types}
    ),
    st.lists(st.sampled_from([1, 2, "x", "1", None, True]), min_size=1, max_size=3).map(
        lambda options: {"enum": options}
    ),
    st.integers(0, 5).map(lambda limit: {"type": "integer", "minimum": limit}),
)


def _object(inner):
    return st.builds(
        lambda properties, required, closed: {
            "type": "object",
            "properties": properties,
            "required": required,
            **({"additionalProperties": False} if closed else {}),
        },
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
        st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
        st.booleans(),
    )


schemas = st.recursive(
    leaves,
    lambda inner: (
        _object(inner)
        | inner.map(lambda items: {"type": "array", "items": items})
        | st.lists(inner, min_size=1, max_size=3).map(lambda several: {"anyOf": several})
    ),
    max_leaves=5,
)
object_schemas = _object(schemas)

texts = st.sampled_from(
    ["1", "true", "null", "x", "[1]", '{"a": "1"}', "3.0", "\x00a\x1b", "\ud83d"]
)
values = st.recursive(
    texts | json_values(),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=5,
)
arguments = st.dictionaries(st.sampled_from((*NAMES, "aa", "B")), values, max_size=4)


def check(args, schema, **fields):
    call = ToolCall(id="c", name="t", args=args, **fields)
    return validate_call(call, {"t": Tool("t", parameters=schema)})


@given(arguments, object_schemas)
def test_what_is_run_fits_the_schema(args, schema):
    """Or it is refused, with a reason that can be sent."""
    validated = check(args, schema)
    if validated.ok:
        assert jsonschema_rs.validator_for(schema).is_valid(validated.call.args)
    else:
        error = json.loads(validated.error.text)["tool_error"]
        assert error["message"]
        assert validated.findings


@given(arguments, object_schemas)
def test_a_valid_call_is_never_changed(args, schema):
    """Neither coerced nor copied, unless there is something in it that has to be taken out."""
    try:
        clean, _ = sanitised(args)
    except InvalidValue:
        # Two names that differ in control characters only: such a call is refused.
        assert not check(args, schema).ok
        return
    if jsonschema_rs.validator_for(schema).is_valid(clean):
        validated = check(clean, schema)
        assert validated.call.args is clean
        assert validated.findings == ()


@given(arguments, object_schemas)
def test_checking_twice_changes_nothing_more(args, schema):
    validated = check(args, schema)
    if validated.ok:
        again = check(validated.call.args, schema)
        assert (again.ok, again.call.args, again.findings) == (True, validated.call.args, ())


@given(arguments, object_schemas)
def test_every_change_is_reported(args, schema):
    validated = check(args, schema)
    if validated.ok and not validated.findings:
        assert validated.call.args is args


@given(arguments | json_objects())
def test_sanitising_is_idempotent(args):
    """Names that would become one are the only thing it refuses."""
    try:
        clean, _ = sanitised(args)
    except InvalidValue:
        return
    assert sanitised(clean) == (clean, [])
    json.dumps(clean, ensure_ascii=False).encode()


@given(st.text(max_size=60) | arguments.map(json.dumps), object_schemas)
def test_any_text_ends_in_a_call_or_a_refusal(raw, schema):
    """And a prefix of JSON is never run."""
    call = ToolCall(name="t", raw=raw)
    tools = [Tool("t", parameters=schema)]
    validated = validate_call(call, tools)
    assert validated.ok or validated.result is not None
    if raw.startswith("{") and validated.ok and not validated.findings:
        for length in range(1, len(raw.rstrip())):
            cut = ToolCall(name="t", raw=raw[:length])
            assert not validate_call(cut, tools).ok


@given(values)
def test_results_are_deterministic_and_can_be_sent(value):
    returned = result_blocks(value)
    assert returned == result_blocks(value)
    for block in returned.content:
        block.text.encode()


HOSTILE = {
    "deep": "[" * 100_000,
    "deep objects": '{"a":' * 40_000 + "1" + "}" * 40_000,
    "deeper objects": '{"a":' * 500_000 + "1" + "}" * 500_000,
    "many objects": "{}" * 100_000,
    "open quotes": "{'" + "a'b" * 50_000,
    "backslashes": '{"a": "' + "\\" * 200_001,
    "open elements": "<a>" * 50_000,
    "nested elements": "<a>" * 5_000 + "</a>" * 5_000,
    "many elements": "<a>1</a>" * 30_000,
    "other elements": "".join(f"<a{number}>1</a{number}>" for number in range(10_000)),
    "attributes": "<a " + 'b="c" ' * 50_000,
    "many faults": json.dumps({"a": ["x"] * 100_000}),
    "many names": json.dumps({f"n{number}": number for number in range(50_000)}),
    "wide": json.dumps({"a": [[]] * 100_000}),
    "long text": json.dumps({"b": "a" * 1_000_000 + "\x00"}),
}
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}},
        "b": {"type": "string", "pattern": "^(a|a)*\\1$"},
    },
    "additionalProperties": False,
}


def test_hostile_text_is_answered():
    """In sizes at which anything quadratic would take minutes."""
    for name, raw in HOSTILE.items():
        validated = validate_call(ToolCall(name="t", raw=raw), [Tool("t", parameters=SCHEMA)])
        assert validated.ok or len(validated.error.text) < 20_000, name


def test_hostile_schemas_are_answered():
    """Recursive, wide, large, with names that look like keywords, with patterns that blow up."""
    for schema in (
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"$ref": "#"},
        {"properties": {f"p{n}": {"type": "integer"} for n in range(10_000)}, "required": ["p1"]},
        {"description": "x" * 1_000_000, "required": ["a"]},
        {"properties": {"properties": {"type": "integer"}, "$ref": {"type": "integer"}}},
        {"properties": {"a": {"pattern": "(" * 5_000}}},
        {"allOf": [{"anyOf": [{"type": "object"}] * 50}] * 50, "required": ["a"]},
    ):
        validated = validate_call(
            ToolCall(name="t", args={"p1": "x", "properties": "y"}), [Tool("t", parameters=schema)]
        )
        assert validated.ok or len(validated.error.text) < 20_000


@settings(max_examples=20)
@given(st.integers(1, 400), st.integers(1, 300))
def test_depth_is_limited_exactly(depth, limit):
    args: object = 1
    for _ in range(depth):
        args = {"a": args}
    assert isinstance(args, dict)
    call = ToolCall(name="t", args=args)
    limits = Limits(max_depth=min(limit, 256))
    validated = validate_call(call, [Tool("t")], limits=limits)
    assert validated.ok is (depth <= limits.max_depth)
