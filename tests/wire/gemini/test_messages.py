"""Contents to messages and turns to contents."""

import pytest
from msgspec.structs import replace

from canonicall.blocks import Message, Native, Opaque, Origin, Text, ToolCall, ToolResult
from canonicall.errors import MalformedBody
from canonicall.transcript.turns import Turn
from canonicall.wire.gemini import TARGET
from canonicall.wire.gemini.messages import (
    decode_contents,
    decode_system,
    encode_system,
    encode_turn,
)

ORIGIN = Origin(provider="gemini", format="gemini", model="m")
HI = Text(text="hi")


def decoded(contents, findings=None):
    told = [] if findings is None else findings
    messages = decode_contents(contents, domain="gemini-api", origin=ORIGIN, findings=told)
    if findings is None:
        assert told == []
    return messages


@pytest.mark.parametrize(
    "contents",
    [
        "hi",
        ["hi"],
        {"parts": [{"text": "hi"}]},
        [{"role": "user", "parts": [{"text": "hi"}]}],
        [{"role": "USER", "parts": {"text": "hi"}}],
        [{"parts": [{"text": "hi"}], "role": None}],
    ],
)
def test_all_forms_of_a_user_message(contents):
    assert decoded(contents) == [Message("user", (HI,))]


def test_a_model_content_carries_the_origin():
    assert decoded([{"role": "model", "parts": [{"text": "hi"}]}]) == [
        Message("assistant", (HI,), origin=ORIGIN)
    ]


@pytest.mark.parametrize("role", ["user", "function", "tool"])
def test_results_are_a_message_before_the_rest(role):
    answer = {"functionResponse": {"name": "f", "response": {"output": "1"}}}
    content = {"role": role, "parts": [{"text": "hi"}, answer, {"text": "ho"}]}
    result = ToolResult(name="f", content=(Text(text="1"),), is_complete=True)
    findings = []
    assert decoded([content], findings) == [
        Message("tool", (result,)),
        Message("user", (HI, Text(text="ho"))),
    ]
    assert [one.code for one in findings] == ["results_moved"]
    assert decoded([{"role": role, "parts": [answer]}]) == [Message("tool", (result,))]


def test_results_in_a_model_content_are_moved_behind_it():
    findings = []
    parts = [{"functionResponse": {"name": "f", "response": {}}}, {"text": "hi"}]
    messages = decoded([{"role": "model", "parts": parts}], findings)
    assert [message.role for message in messages] == ["assistant", "tool"]
    assert [(one.code, one.where) for one in findings] == [
        ("result_in_wrong_role", "$.contents[0]")
    ]


def test_what_google_ran_stays_in_the_model_message():
    parts = [
        {"toolCall": {"id": "s", "toolType": "T"}},
        {"toolResponse": {"id": "s", "toolType": "T"}},
    ]
    (message,) = decoded([{"role": "model", "parts": parts}])
    assert [type(block) for block in message.blocks] == [ToolCall, ToolResult]


@pytest.mark.parametrize("content", [{"role": "user"}, {"role": "user", "parts": []}])
def test_a_content_without_parts_is_an_empty_message(content):
    assert decoded([content]) == [Message("user")]


@pytest.mark.parametrize(
    ("contents", "where"),
    [
        ([{"role": "assistant", "parts": []}], "$.contents[0].role"),
        ([{"role": 1}], "$.contents[0].role"),
        ([7], "$.contents[0]"),
        (7, "$.contents"),
        ([{"role": "user", "parts": 7}], "$.contents[0].parts"),
    ],
)
def test_wrong_kinds_and_roles_are_refused_with_their_path(contents, where):
    with pytest.raises(MalformedBody) as caught:
        decoded(contents)
    assert caught.value.where == where


@pytest.mark.parametrize(
    "instruction",
    [
        "hi",
        {"parts": [{"text": "hi"}]},
        {"role": "system", "parts": {"text": "hi"}},
        [{"text": "hi"}],
    ],
)
def test_all_forms_of_a_system_instruction(instruction):
    findings = []
    messages = decode_system(instruction, domain="gemini-api", findings=findings)
    assert (messages, findings) == ([Message("system", (HI,))], [])


@pytest.mark.parametrize("instruction", [None, {}, {"parts": []}, []])
def test_no_system_instruction_is_no_message(instruction):
    assert decode_system(instruction, domain="gemini-api", findings=[]) == []


def test_system_turns_become_one_instruction():
    turns = [Turn("system", (HI,)), Turn("developer", (Text(text="ho"),))]
    assert encode_system(turns, TARGET) == {"parts": [{"text": "hi"}, {"text": "ho"}]}
    assert encode_system([], TARGET) is None


@pytest.mark.parametrize(
    ("role", "wire"), [("assistant", "model"), ("user", "user"), ("tool", "user")]
)
def test_a_turn_is_one_content(role, wire):
    turn = Turn(role, (HI,), native=Native("gemini", {"extra": 1, "role": "x"}))
    assert encode_turn(turn, TARGET) == [{"role": wire, "parts": [{"text": "hi"}], "extra": 1}]


def test_a_call_and_its_result_name_the_tool_and_echo_the_id():
    seal = Opaque("gemini-api", "signature", TARGET.signature_sentinel)
    call = Turn("assistant", (ToolCall(id="x1", name="f", args={"a": 1}, opaque=(seal,)),))
    answer = Turn("tool", (ToolResult(call_id="x1", name="f", content=(Text(text="1"),)),))
    assert encode_turn(call, TARGET) == [
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"id": "x1", "name": "f", "args": {"a": 1}},
                    "thoughtSignature": "skip_thought_signature_validator",
                }
            ],
        }
    ]
    assert encode_turn(answer, TARGET) == [
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "x1", "name": "f", "response": {"output": "1"}}}],
        }
    ]


def test_encoding_leaves_its_turn_as_it_was():
    """The incremental renderer encodes the same turn many times."""
    content = {
        "role": "model",
        "parts": [{"toolCall": {"id": "s", "toolType": "T"}, "thoughtSignature": "eA=="}],
    }
    (message,) = decoded([content])
    turn = Turn("assistant", message.blocks)
    first = encode_turn(turn, TARGET)
    first[0]["parts"][0]["added"] = 1
    assert encode_turn(turn, TARGET) == [content]
    assert encode_turn(turn, replace(TARGET, domain="vertex")) == [content]
