"""Laws of tools made of functions: what the schema accepts is what the conversion accepts."""

from enum import Enum
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, Union

import jsonschema_rs
import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from canonicall import InvalidArguments, ToolCall, tool, validate_call

NAMES = st.sampled_from(["a", "b", "city", "self_", "class_"])


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Number(Enum):
    ONE = 1
    TWO = 2


class Mixed(Enum):
    ONE = 1
    TEXT = "a"
    NONE = None


class Pair(NamedTuple):
    left: int
    right: str = ""


class Options(TypedDict):
    depth: int
    name: NotRequired[str]


class Tree(msgspec.Struct, forbid_unknown_fields=True):
    value: int
    children: list["Tree"] = []


SCALARS = st.sampled_from(
    [str, int, float, bool, None, Any, Color, Number, Mixed, Pair, Options, Tree, Literal["a", 1]]
)


def containers(inner):
    return st.one_of(
        inner.map(lambda one: list[one]),
        inner.map(lambda one: dict[str, one]),
        inner.map(lambda one: Union[one, None]),  # noqa: UP007  # one may be None
        inner.map(lambda one: tuple[one, ...]),
        st.tuples(inner, inner).map(lambda pair: tuple[pair]),
        st.lists(inner, min_size=2, max_size=3).map(lambda many: Union[tuple(many)]),  # noqa: UP007
        st.sampled_from([set[str], frozenset[int], set[Literal["a", "b"]]]),
    )


ANNOTATIONS = st.recursive(SCALARS, containers, max_leaves=4)
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.sampled_from([1.0, 0.5, 2.0, -1.5, 1e20]),
        st.sampled_from(["a", "b", "red", "x", "1"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["value", "children", "depth", "name", "x"]), inner, max_size=3
        ),
    ),
    max_leaves=5,
)


def taking(parameters):
    """A tool that gives back what it got, with these annotations and defaults."""
    inside = ", ".join(
        f"{name}=None" if has_default else name for name, (_, has_default) in parameters.items()
    )
    scope: dict[str, Any] = {}
    exec(f"def give(*, {inside}): return locals()", scope)  # noqa: S102  # a signature made to measure
    scope["give"].__annotations__ = {name: one for name, (one, _) in parameters.items()}
    return tool(scope["give"])


def accepts(made, arguments):
    try:
        made.call(arguments)
    except InvalidArguments:
        return False
    return True


def has_repeats(value):
    """Sets take a repeated item, and their schemas do not: they tell models what is wanted."""
    if isinstance(value, dict):
        return any(map(has_repeats, value.values()))
    if not isinstance(value, list):
        return False
    return any(one in value[:at] for at, one in enumerate(value)) or any(map(has_repeats, value))


PARAMETERS = st.dictionaries(NAMES, st.tuples(ANNOTATIONS, st.booleans()), min_size=1, max_size=3)


@given(PARAMETERS, st.data())
def test_the_schema_accepts_exactly_what_the_conversion_accepts(parameters, data):
    made = taking(parameters)
    names = st.sampled_from([*parameters, "unknown"])
    arguments = data.draw(st.dictionaries(names, JSON, max_size=4))
    assume(not has_repeats(arguments))
    assert accepts(made, arguments) == jsonschema_rs.is_valid(made.parameters, arguments)


@given(ANNOTATIONS)
def test_every_schema_is_a_valid_one_and_the_same_each_time(annotation):
    first, second = taking({"x": (annotation, False)}), taking({"x": (annotation, False)})
    jsonschema_rs.meta.validate(first.parameters)
    assert msgspec.json.encode(first.parameters) == msgspec.json.encode(second.parameters)


@given(PARAMETERS, st.data())
def test_a_call_that_was_found_valid_can_be_run(parameters, data):
    """Whatever came: coerced or not, the arguments that `validate_call` lets through convert."""
    made = taking(parameters)
    arguments = data.draw(st.dictionaries(st.sampled_from([*parameters]), JSON, max_size=3))
    validated = validate_call(ToolCall(name="give", args=arguments), [made.tool])
    if validated.ok:
        made.call(validated.call.args)


@given(st.one_of(JSON, st.dictionaries(NAMES, JSON)))
def test_conversion_raises_nothing_but_its_own_error(arguments):
    made = taking({"x": (Tree, True), "y": (Mixed | list[int], True)})
    accepts(made, arguments)
