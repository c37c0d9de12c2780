"""The built-in model: it calls only what it was asked to call, and reports the results."""

import json

import pytest

from canonicall.blocks import Thinking
from canonicall.conversation import Conversation
from canonicall.outcome import Outcome
from canonicall.request import OutputFormat, Params, Reasoning, Request, Tool, ToolChoice
from canonicall.testing.small_model import MOST_CALLS, SmallModel

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool(name="getWeather", description="Tells how the weather is.", parameters=CITY)
TIME = Tool(name="local_time", description="Tells the hour.", parameters=CITY)
SEARCH = Tool(name="search", kind="server", description="Searches for weather and all else.")


CALLING = SmallModel(call_tools="*")


def asked(words, *tools, choice=None, **params):
    talk = Conversation()
    talk.user(words)
    return Request(talk, tools=tools, tool_choice=choice, params=Params(**params))


def called(request, model=None):
    return [call.name for call in (model or CALLING)(request).message.calls]


@pytest.mark.parametrize("choice", [None, ToolChoice("required"), ToolChoice("auto")])
def test_it_calls_no_tool_by_default_and_lists_what_was_offered(choice):
    shell = Tool(name="shell", description="Runs a command.", parameters=CITY)
    reply = SmallModel()(asked("Run the weather command", shell, WEATHER, choice=choice))
    assert reply.message.calls == ()
    assert reply.message.finish == "stop"
    assert reply.message.text == (
        "You said: Run the weather command Tools offered: shell, getWeather. None was called."
    )


def test_a_tool_that_needs_no_schema_is_not_called_by_default():
    note = Tool(name="note", kind="custom", description="Takes notes.")
    assert SmallModel()(asked("Take notes of this", note)).message.calls == ()


@pytest.mark.parametrize(
    ("call_tools", "names"),
    [
        ("local_time", ["local_time"]),
        ("local_time, getWeather", ["getWeather", "local_time"]),
        (["get*"], ["getWeather"]),
        (("other",), []),
        ("", []),
    ],
)
def test_only_the_named_tools_are_called(call_tools, names):
    request = asked("Weather and local time", WEATHER, TIME)
    assert called(request, SmallModel(call_tools=call_tools)) == names
    forced = asked("Hello", WEATHER, TIME, choice=ToolChoice("required"))
    assert called(forced, SmallModel(call_tools=call_tools)) == names[:1]


def test_a_long_list_of_tools_is_cut():
    tools = [Tool(name=f"weather_{number}", parameters=CITY) for number in range(25)]
    text = SmallModel()(asked("Hello", *tools)).message.text
    assert text.endswith("weather_18, weather_19 and 5 more. None was called.")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("What is the weather in Paris?", ["getWeather"]),
        ("Weather and local time, please", ["getWeather", "local_time"]),
        ("Which hour is it?", ["local_time"]),
        ("Tell me a joke", []),
        ("", []),
    ],
)
def test_it_calls_the_tools_that_the_words_are_about(words, names):
    assert called(asked(words, WEATHER, TIME)) == names


def test_tools_that_the_provider_runs_are_left_to_it():
    assert called(asked("The weather?", SEARCH)) == []


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (ToolChoice("auto"), ["getWeather", "local_time"]),
        (ToolChoice("none"), []),
        (ToolChoice("required", names=("local_time",)), ["local_time"]),
        (ToolChoice("auto", parallel=False), ["getWeather"]),
    ],
)
def test_it_keeps_to_the_choice(choice, names):
    assert called(asked("Weather and local time", WEATHER, TIME, choice=choice)) == names


def test_a_call_that_is_demanded_is_made_whatever_was_said():
    assert called(asked("Hello", WEATHER, TIME, choice=ToolChoice("required"))) == ["getWeather"]


def test_it_does_not_call_more_than_a_few_at_once():
    tools = [Tool(name=f"weather_{number}", parameters=CITY) for number in range(9)]
    assert len(called(asked("The weather?", *tools))) == MOST_CALLS


def test_a_tool_without_a_schema_gets_the_words():
    note = Tool(name="note", kind="custom", description="Takes notes.")
    (call,) = CALLING(asked("Take notes of this", note)).message.calls
    assert (call.kind, call.raw) == ("custom", "Take notes of this")


def test_it_tells_what_the_tools_said_and_asks_no_more():
    talk = Conversation()
    talk.user("The weather and local time in Paris?")
    request = Request(talk, tools=(WEATHER, TIME))
    first, second = talk.assistant(CALLING(request).message.blocks).calls
    talk.result(first.id, "sunny")
    talk.result(second.id, "no clock", error=True)
    reply = CALLING(request)
    assert reply.message.text == (
        "Here is what I found: getWeather says sunny; local_time failed with no clock"
    )
    talk.assistant(reply.message.blocks)
    talk.user("And the weather in Rome?")
    (again,) = CALLING(request).message.calls
    assert again.args == {"city": "Rome"}


def test_it_thinks_where_it_is_asked_to():
    def thinks(request, model=None):
        first = (model or SmallModel())(request).message.blocks[0]
        return isinstance(first, Thinking)

    assert not thinks(asked("Hi"))
    assert thinks(asked("Hi", reasoning=Reasoning(effort="low")))
    assert not thinks(asked("Hi", reasoning=Reasoning(effort="none")))
    assert not thinks(asked("Hi", reasoning=Reasoning(enabled=False)))
    assert thinks(asked("Hi"), SmallModel(thinks=True))
    assert not thinks(asked("Hi", reasoning=Reasoning(effort="low")), SmallModel(thinks=False))


def test_without_words_and_tools_it_says_so():
    assert SmallModel()(Request(Conversation())).message.text == (
        "I have not been asked anything yet."
    )
    assert SmallModel()(asked("Hello")).message.text == "You said: Hello I have no tools here."


def test_a_call_that_was_denied_is_told_and_not_made_again():
    request = asked("What is the weather in Paris?", WEATHER)
    made = request.conversation.append(CALLING(request).message).calls
    request.conversation.close(made[0].id, Outcome.DENIED)
    reply = CALLING(request)
    assert reply.message.calls == ()
    assert reply.message.text == "Here is what I found: getWeather ended as denied"


@pytest.mark.parametrize(
    ("output", "value"),
    [
        (OutputFormat(), {"answer": "You said: I am in Oslo I have no tools here."}),
        (OutputFormat(CITY), {"city": "Oslo"}),
        (OutputFormat({"type": "array", "items": CITY}), [{"city": "Oslo"}]),
    ],
)
def test_it_answers_in_the_form_that_is_asked_for(output, value):
    (block,) = SmallModel()(asked("I am in Oslo", output=output)).message.blocks
    assert json.loads(block.text) == value


def test_it_calls_tools_before_it_answers_in_a_form():
    assert called(asked("The weather?", WEATHER, output=OutputFormat(CITY))) == ["getWeather"]
