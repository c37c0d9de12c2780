"""Models without a provider: replies that are written down beforehand."""

import pytest

from canonicall.blocks import Text, Thinking
from canonicall.conversation import Conversation
from canonicall.errors import InvalidValue
from canonicall.request import Request
from canonicall.testing.script import ScriptedModel, ScriptEnded, call, says, thought
from canonicall.testing.script_files import read_script


@pytest.fixture
def request_():
    talk = Conversation()
    talk.user("Hi")
    return Request(talk)


def test_a_reply_finishes_as_its_blocks_say():
    assert says("Hello.").finish == "stop"
    assert says("Let me look.", call("look", where="here")).finish == "tool_calls"
    assert says("Too", finish="length").finish == "length"
    reply = says(thought("Hm."), "Yes.")
    assert reply.message.blocks == (Thinking(text="Hm."), Text(text="Yes."))


def test_arguments_are_given_by_name_or_as_a_mapping():
    assert call("look", where="here").args == {"where": "here"}
    assert call("look", {"from": "there"}, where="here").args == {"from": "there", "where": "here"}
    assert call("look").args == {}


def test_steps_come_one_after_another(request_):
    model = ScriptedModel(["One.", says("Two."), lambda asked: says(f"{len(asked.tools)} tools.")])
    assert [model(request_).message.text for _ in range(3)] == ["One.", "Two.", "0 tools."]
    assert model.requests == [request_] * 3


def test_a_script_that_has_ended_says_so(request_):
    model = ScriptedModel(["One."])
    model(request_)
    with pytest.raises(ScriptEnded, match=r"the script has 1 replies.*repeat=True"):
        model(request_)
    assert len(model.requests) == 1


def test_the_last_step_can_repeat(request_):
    model = ScriptedModel(["One.", "Two."], repeat=True)
    assert [model(request_).message.text for _ in range(4)] == ["One.", "Two.", "Two.", "Two."]
    with pytest.raises(ScriptEnded):
        ScriptedModel([], repeat=True)(request_)


WRITTEN = (
    '["Hello.", {"thinking": "Hm.", "text": "Wait.",'
    ' "calls": [{"name": "look", "arguments": {"where": "here"}}, {"name": "wait"}]}]'
)


LINES = (
    '"Hello."\n\n{"thinking": "Hm.", "text": "Wait.", "calls": [{"name": "look",'
    ' "arguments": {"where": "here"}}, {"name": "wait"}]}\n'
)


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        WRITTEN.encode(),
        LINES,
    ],
    ids=["list", "bytes", "lines"],
)
def test_a_script_is_read_from_json(text):
    assert read_script(text) == [
        says("Hello."),
        says(thought("Hm."), "Wait.", call("look", where="here"), call("wait")),
    ]


def test_one_reply_alone_is_a_script():
    assert read_script('{"text": "Hello."}') == read_script('"Hello."') == [says("Hello.")]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "script"),
        ('"fine"\n{"text": ', "line 2"),
        ('["fine", {"text": 7}]', "script[1]"),
        ('"fine"\n{"calls": [{"name": ""}]}', "line 2"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, where):
    with pytest.raises(InvalidValue) as caught:
        read_script(text)
    assert caught.value.where == where
    assert caught.value.help
