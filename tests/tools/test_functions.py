"""`tool`: functions of every shape, run with JSON arguments."""

import asyncio
from functools import cache, partial, wraps
from typing import NotRequired, TypedDict, Unpack

import pytest

from canonicall import BoundTool, InvalidArguments, InvalidValue, Tool, ToolContext, tool


@tool
def weather(city: str, days: int = 3) -> str:
    """Look up the weather.

    Args:
        city: Name of the city.
        days: How many days.
    """
    return f"{city}: {days}"


def test_a_function_says_all_that_is_needed():
    assert weather.tool == Tool(
        "weather",
        "Look up the weather.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city."},
                "days": {"type": "integer", "description": "How many days.", "default": 3},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    )
    assert weather.call({"city": "Basel"}) == "Basel: 3"
    assert weather.call({"city": "Basel", "days": 1}) == "Basel: 1"
    assert weather("Bern", 2) == "Bern: 2"


def test_what_is_given_counts_more_than_what_the_function_says():
    made = tool(weather.implementation.function, name="forecast", description="F.", strict=True)
    assert (made.name, made.description, made.tool.strict) == ("forecast", "F.", True)


def test_declarations_are_data():
    @tool(
        sequential=True,
        resources=lambda arguments: [arguments["path"]],
        timeout=1.5,
        approval=lambda arguments: arguments["path"].startswith("."),
        polling=True,
        read_only=True,
        title="Read a file",
    )
    def read(path: str): ...

    assert (read.sequential, read.timeout, read.polling) == (True, 1.5, True)
    assert (read.read_only, read.external, read.title) == (True, False, "Read a file")
    assert read.resources_of({"path": "a"}) == ("a",)
    assert read.needs_approval({"path": ".env"})
    assert not read.needs_approval({"path": "a"})


def test_declarations_by_default_ask_for_nothing():
    assert (weather.sequential, weather.timeout, weather.polling) == (False, None, False)
    assert (weather.read_only, weather.external) == (False, False)
    assert weather.resources_of({}) == ()
    assert not weather.needs_approval({})


def test_one_resource_is_a_name_not_its_letters():
    assert tool(resources="disk")(lambda_named("f")).resources_of({}) == ("disk",)
    told = tool(resources=lambda _: "disk")(lambda_named("f"))
    assert told.resources_of({}) == ("disk",)


def lambda_named(name):
    def function(): ...

    function.__name__ = name
    return function


@pytest.mark.parametrize(
    ("declared", "where"),
    [
        ({"timeout": 0}, "f.timeout"),
        ({"timeout": -1}, "f.timeout"),
        ({"timeout": "10"}, "f.timeout"),
        ({"timeout": float("nan")}, "f.timeout"),
        ({"approval": "maybe"}, "f.approval"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(declared, where):
    with pytest.raises(InvalidValue) as caught:
        tool(**declared)(lambda_named("f"))
    assert caught.value.where == where


def test_an_external_tool_is_described_and_not_run():
    @tool(external=True)
    def ask(question: str) -> str:
        """Ask the user."""
        raise AssertionError

    assert ask.parameters["required"] == ["question"]
    for run in (ask.call, ask.read, ask):
        with pytest.raises(InvalidValue, match="nothing here runs this tool"):
            run({"question": "?"})


def test_every_kind_of_parameter_gets_its_value():
    @tool
    def every(first: int, /, second: int = 2, *rest: int, third: int, fourth: int = 4, **more: int):
        return first, second, rest, third, fourth, more

    assert every.call({"first": 1, "third": 3}) == (1, 2, (), 3, 4, {})
    given = {"first": 1, "second": 5, "rest": [6, 7], "third": 3, "fourth": 8, "fifth": 9}
    assert every.call(given) == (1, 5, (6, 7), 3, 8, {"fifth": 9})
    assert every.call({"first": 1, "rest": [6], "third": 3}) == (1, 2, (6,), 3, 4, {})
    assert every.parameters["required"] == ["first", "third"]
    assert every.parameters["additionalProperties"] == {"type": "integer"}
    with pytest.raises(InvalidArguments, match=r"^args\.fifth: Expected `int`"):
        every.call({"first": 1, "third": 3, "fifth": "x"})


def test_a_positional_parameter_that_was_left_out_keeps_its_default():
    @tool
    def pair(a: int = 1, b: int = 2, /):
        return a, b

    assert pair.call({"b": 5}) == (1, 5)


def test_keywords_of_a_typed_dictionary_are_parameters():
    class Options(TypedDict):
        depth: int
        name: NotRequired[str]

    @tool
    def walk(**options: Unpack[Options]):
        return options

    assert walk.parameters["required"] == ["depth"]
    assert set(walk.parameters["properties"]) == {"depth", "name"}
    assert walk.call({"depth": 1}) == {"depth": 1}
    with pytest.raises(InvalidArguments):
        walk.call({"depth": 1, "other": 2})


@pytest.mark.parametrize("arguments", [{}, {"city": 1}, {"city": "x", "town": "y"}, [], None, "x"])
def test_bad_arguments_are_refused_and_nothing_is_run(arguments):
    with pytest.raises(InvalidArguments) as caught:
        weather.call(arguments)
    assert caught.value.tool == "weather"
    assert caught.value.where.startswith("args")


def test_any_json_may_stand_where_nothing_is_annotated():
    @tool
    def keep(value, other=None):
        return value

    assert keep.parameters["properties"] == {"value": {}, "other": {"default": None}}
    assert keep.call({"value": {"a": [1.5]}}) == {"a": [1.5]}


def test_a_default_that_contradicts_its_annotation_is_not_told():
    @tool
    def find(limit: int = None, key: object = lambda_named):  # noqa: RUF013
        return limit

    assert find.parameters["properties"] == {"limit": {"type": "integer"}, "key": {}}
    assert find.call({}) is None


def test_the_context_is_no_argument_wherever_it_stands():
    @tool
    def first(ctx: ToolContext, /, *numbers: int):
        return ctx.call_id, numbers

    @tool
    def last(number: int, *, ctx: ToolContext | None = None):
        return ctx.call_id, number

    @tool
    def between(a: int, ctx: ToolContext, b: int = 2, *rest: int, c: int = 3):
        return a, ctx.call_id, b, rest, c

    context = ToolContext("hist_tool_1")
    assert between.call({"a": 1, "rest": [4], "c": 5}, context) == (1, "hist_tool_1", 2, (4,), 5)
    assert between.call({"a": 1}, context) == (1, "hist_tool_1", 2, (), 3)
    assert set(first.parameters["properties"]) == {"numbers"}
    assert first.call({"numbers": [1, 2]}, context) == ("hist_tool_1", (1, 2))
    assert last.call({"number": 1}, context) == ("hist_tool_1", 1)
    assert last.call({"number": 1}) == ("", 1)
    with pytest.raises(InvalidArguments):
        last.call({"number": 1, "ctx": {}})


def test_the_context_tells_of_cancellation_and_takes_reports():
    told, state = [], {"cancelled": False}
    context = ToolContext("c", is_cancelled=lambda: state["cancelled"], report=told.append)
    context.report("half")
    assert told == ["half"]
    assert not context.cancelled
    state["cancelled"] = True
    assert context.cancelled
    ToolContext().report("nobody listens")
    assert not ToolContext().cancelled


def test_what_a_function_returns_comes_back_as_it_is():
    @tool
    async def later(x: int):
        return x

    @tool
    def steps(x: int):
        yield x

    @tool
    async def async_steps(x: int):
        yield x

    assert [one.style for one in (weather, later, steps, async_steps)] == [
        *("plain", "coroutine", "generator", "async_generator")
    ]
    assert asyncio.run(later.call({"x": 1})) == 1
    assert list(steps.call({"x": 2})) == [2]

    async def collected():
        return [one async for one in async_steps.call({"x": 3})]

    assert asyncio.run(collected()) == [3]


class Shop:
    def __init__(self, name):
        self.name = name

    @tool
    def find(self, item: str) -> str:
        """Find an item."""
        return f"{self.name}: {item}"

    @tool
    async def order(self, item: str, ctx: ToolContext) -> str:
        return f"{self.name}: {item} {ctx.call_id}"

    @tool
    @classmethod
    def made(cls, count: int):
        return cls.__name__, count

    @tool
    @staticmethod
    def double(count: int):
        return 2 * count

    @tool
    @cache  # noqa: B019  # it lives as long as the tests
    def kept(self, item: str):
        return self.name, item

    def plain(self, item: str):
        """Plain."""
        return self.name, item

    def __call__(self, item: str) -> str:
        """Call the shop."""
        return f"called {item}"


def test_a_method_is_the_tool_of_its_object():
    one, other = Shop("one"), Shop("other")
    assert one.find.call({"item": "x"}) == "one: x"
    assert other.find.call({"item": "x"}) == "other: x"
    assert one.find("y") == "one: y"
    assert one.find.parameters["required"] == ["item"]
    assert asyncio.run(one.order.call({"item": "x"}, ToolContext("c"))) == "one: x c"
    assert one.order.style == "coroutine"
    assert Shop.made.call({"count": 1}) == ("Shop", 1)
    assert Shop.double.call({"count": 2}) == one.double.call({"count": 2}) == 4
    assert tool(one.plain).call({"item": "x"}) == ("one", "x")
    assert one.kept.call({"item": "x"}) == ("one", "x")
    assert one.kept.parameters["required"] == ["item"]
    with pytest.raises(InvalidValue, match="Take the tool from an object"):
        Shop.find.call({"item": "x"})


def test_objects_and_classes_that_can_be_called():
    called = tool(Shop("one"))
    assert (called.name, called.description) == ("shop", "Call the shop.")
    assert called.call({"item": "x"}) == "called x"
    built = tool(Shop, description="Open a shop.")
    assert built.name == "Shop"
    assert built.call({"name": "n"}).name == "n"


def test_what_a_partial_has_set_is_not_shown_to_models():
    def send(key: str, to: str, text: str = "", *, secret: str = ""):
        """Send a message."""
        return key, to, text, secret

    made = tool(partial(partial(send, "k"), secret="s"))  # noqa: S106
    assert (made.name, made.description) == ("send", "Send a message.")
    assert set(made.parameters["properties"]) == {"to", "text"}
    assert made.call({"to": "x"}) == ("k", "x", "", "s")
    with pytest.raises(InvalidArguments):
        made.call({"to": "x", "secret": "mine"})


def test_a_wrapped_function_keeps_its_signature():
    def logged(function):
        @wraps(function)
        def inner(*args, **kwargs):
            return ["logged", function(*args, **kwargs)]

        return inner

    @tool
    @logged
    def add(a: int, b: int = 1):
        """Add."""
        return a + b

    assert add.parameters["required"] == ["a"]
    assert add.call({"a": 1}) == ["logged", 2]


def test_what_cannot_be_a_tool_is_refused_with_what_to_do():
    with pytest.raises(InvalidValue, match="lambda has no name"):
        tool(lambda x: x)
    with pytest.raises(InvalidValue, match="a tool already"):
        tool(weather)
    with pytest.raises(InvalidValue, match="expected a function, got int"):
        tool(3)

    for unreadable in (max, int):
        with pytest.raises(InvalidValue, match="signature cannot be read"):
            tool(unreadable)

    def late(value: "Nowhere"): ...  # noqa: F821

    with pytest.raises(InvalidValue, match="cannot be resolved"):
        tool(late)


def test_a_function_written_in_c_takes_what_it_says():
    made = tool(len)
    assert made.parameters["required"] == ["obj"]
    assert made.call({"obj": [1, 2]}) == 2


def test_what_it_returned_becomes_a_result():
    assert weather.returned({"a": 1}).content[0].text == '{"a":1}'
    assert weather.returned(ValueError("no")).error


def test_a_tool_is_a_frozen_value():
    assert isinstance(weather, BoundTool)
    with pytest.raises(AttributeError):
        weather.timeout = 3
    other = weather.renamed("other")
    assert (other.name, weather.name) == ("other", "weather")
    assert other.call({"city": "x"}) == "x: 3"
    with pytest.raises(InvalidValue, match="no name for a tool"):
        weather.renamed(" ")
