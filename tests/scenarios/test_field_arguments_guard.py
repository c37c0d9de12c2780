"""F1 to F16 of the field catalogue before a call is run, and the examples of the specification."""

import json

import pytest

from canonicall import (
    Conversation,
    CorrectionBudget,
    InvalidArguments,
    Message,
    Outcome,
    Refusal,
    Text,
    Tool,
    ToolCall,
    encode_request,
    parse,
    result_blocks,
    tool,
    validate_call,
    verify,
)
from canonicall.request import Request

RUN = Tool(
    "run",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "array", "items": {"type": "string"}}},
        "required": ["command"],
    },
)
FREE = Tool("run")


def checked(raw, tool=RUN):
    return validate_call(ToolCall(id="call_1", name="run", raw=raw), [tool])


def test_f1_several_objects_in_one_arguments_text_are_several_calls_that_were_not_made():
    """Bedrock's Claude joins the arguments of calls: none is run in place of all, and it is told."""
    raw = '{"command":["curl","-i"]}{"command":["curl","-m"]}{"command":["curl","-k"]}'
    validated = checked(raw)
    assert validated.error.refusal is Refusal.UNREADABLE
    assert "3 JSON objects" in validated.error.message
    assert "call of its own for each" in validated.error.message


def test_f1_the_same_object_twice_or_behind_an_empty_one_is_one_call():
    for raw in ('{"command":["ls"]}{"command":["ls"]}', '{}{"command":["ls"]}'):
        validated = checked(raw)
        assert validated.call.args == {"command": ["ls"]}
        assert [one.code for one in validated.findings] == ["repeated_arguments"]


def test_f2_the_json_text_of_an_empty_text_is_no_arguments():
    assert checked('""', FREE).call.args == {}
    assert checked('""').error.missing == ("command",)


@pytest.mark.parametrize("raw", [None, "", " ", "null", "{}"])
def test_f3_absent_and_empty_arguments_are_an_empty_object(raw):
    """Fine for a tool that needs nothing, and told as missing to one that does."""
    assert checked(raw, FREE).call.args == {}
    assert checked(raw).error.missing == ("command",)


@pytest.mark.parametrize("raw", ["command=ls", "{command ls}", '{"command": ["ls"]} then more'])
def test_f4_malformed_arguments_never_become_an_empty_object(raw):
    """The tool that takes anything would run with nothing."""
    validated = checked(raw, FREE)
    assert validated.call.args is None
    assert validated.outcome is Outcome.INVALID


def test_f5_a_refused_call_keeps_its_place_and_gets_its_answer():
    """The call is not dropped, the refusal is its result, and the next request is accepted."""
    chat = Conversation.of([Message("user", (Text(text="Go."),))])
    (call,) = chat.append(
        Message("assistant", (ToolCall(id="call_1", name="run", raw="{not json"),))
    ).calls
    chat.append(Message("tool", (validate_call(call, [RUN]).result,)))
    assert chat.ledger[call.id].outcome is Outcome.INVALID
    for target in ("openai", "anthropic", "gemini", "mistral"):
        body = encode_request(Request(chat, (RUN,)), target).body
        assert not verify(body, target)
        assert "tool_error" in json.dumps(body)


@pytest.mark.parametrize("raw", ["[1, 2]", "42", "true", '"text"'])
def test_f6_arguments_that_are_no_object_are_refused(raw):
    assert checked(raw, FREE).error.refusal is Refusal.UNREADABLE


@pytest.mark.parametrize("text", ["{not json", "[1, 2", '{"a": }'])
def test_f7_a_tool_that_returns_what_looks_like_json_returned_text(text):
    assert result_blocks(text).content == (Text(text=text),)


@pytest.mark.parametrize(("value", "text"), [([1, 2], "[1,2]"), (42, "42"), (True, "true")])
def test_f8_lists_and_scalars_of_tools_are_written_as_json(value, text):
    assert result_blocks(value).content == (Text(text=text),)


def test_f9_a_tool_that_returned_nothing_has_an_empty_result():
    result = result_blocks(None).result(ToolCall(id="call_1", name="run"))
    assert (result.content, result.outcome) == ((), Outcome.COMPLETED)


@pytest.mark.parametrize("raw", ['{"command": ["rm", "/tm', '{"command": ["rm"]', '{"comm'])
def test_f10_cut_arguments_are_not_run(raw):
    validated = checked(raw)
    assert validated.outcome is Outcome.TRUNCATED
    assert "smaller steps" in validated.error.message


def test_f11_an_exception_is_a_failed_result():
    result = result_blocks(TimeoutError("too slow")).result(ToolCall(id="call_1", name="run"))
    assert (result.error, result.outcome, result.text) == (
        True,
        Outcome.FAILED,
        "TimeoutError: too slow",
    )


def test_f12_an_image_stands_in_its_own_result():
    returned = result_blocks(["seen", b"\x89PNG\r\n\x1a\n"])
    assert [block.__struct_config__.tag for block in returned.content] == ["text", "media"]


def test_f13_one_text_is_one_block():
    assert len(result_blocks("words").content) == 1


def test_f14_a_reference_in_a_value_is_only_text():
    value = {"$ref": "#/definitions/Pet"}
    assert result_blocks(value).content == (Text(text='{"$ref":"#/definitions/Pet"}'),)


def test_f15_backslashes_survive_the_check():
    tricky = {"command": ["C:\\new\\table", "\\d+\\\\", "\\b", 'a\n"b"\tc', "\\u0000"]}
    call = ToolCall(id="call_1", name="run", args=tricky)
    assert validate_call(call, [RUN]).call is call
    assert checked(json.dumps(tricky)).call.args == tricky


def test_f16_arguments_that_came_encoded_twice_are_read_once():
    validated = checked(json.dumps(json.dumps({"command": ["ls"]})))
    assert validated.call.args == {"command": ["ls"]}
    assert [one.code for one in validated.findings] == ["arguments_unwrapped"]


def test_f16_one_argument_that_came_as_its_text_is_read():
    validated = checked('{"command": "[\\"ls\\", \\"-la\\"]"}')
    assert validated.call.args == {"command": ["ls", "-la"]}
    assert [one.code for one in validated.findings] == ["argument_coerced"]


# The validator of the specification: a name, JSON first, then XML, then clean text.


def test_a_call_without_a_name_is_refused():
    validated = validate_call(ToolCall(id="call_1", args={}), [RUN])
    assert validated.error.refusal is Refusal.UNKNOWN_TOOL
    assert "names no tool" in validated.error.message


def test_raw_input_is_json_first_and_xml_second():
    """Only where nothing was parsed yet."""
    weather = Tool(
        "weather",
        parameters={"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    )
    for raw in ('{"city": "Basel", "days": 3}', "<city>Basel</city><days>3</days>"):
        call = ToolCall(name="weather", raw=raw)
        assert validate_call(call, [weather]).call.args == {"city": "Basel", "days": 3}
    parsed = ToolCall(name="weather", args={"city": "Bern"}, raw="<city>Basel</city>")
    assert validate_call(parsed, [weather]).call.args == {"city": "Bern"}
    neither = validate_call(ToolCall(name="weather", raw="city: Basel"), [weather])
    assert neither.error.refusal is Refusal.UNREADABLE


def test_a_call_without_an_id_is_checked_and_gets_one_when_it_is_appended():
    """Made from the call itself, so that it is the same in every process."""
    validated = validate_call(ToolCall(name="run", args={"command": ["ls"]}), [RUN])
    assert validated.ok
    made = {
        Conversation().append(Message("assistant", (validated.call,))).calls[0].id for _ in "ab"
    }
    assert len(made) == 1
    assert made.pop().startswith("hist_tool_")


def test_control_characters_are_taken_out_of_arguments():
    call = ToolCall(id="call_1", name="run", args={"command": ["ls\x00", "-l\x1ba\n\t"]})
    validated = validate_call(call, [RUN])
    assert validated.call.args == {"command": ["ls", "-la\n\t"]}
    assert {one.code for one in validated.findings} == {"control_characters"}


def test_a_call_printed_as_text_is_checked_like_any_other():
    text = '<tool_call>{"name": "run", "arguments": {"command": "ls"}}</tool_call>'
    (call,) = parse(text, tools=[RUN]).calls
    assert validate_call(call, [RUN]).call.args == {"command": ["ls"]}


# The case that the runtime was made for: a model that calls again and again with `{}`.


def test_empty_arguments_for_a_tool_with_required_ones_are_answered_and_come_to_an_end():
    """Each time with what is missing, never run, and at the end the model is told to go on."""
    budget = CorrectionBudget(each=3)
    chat = Conversation.of([Message("user", (Text(text="List the files."),))])
    said = []
    while True:
        call = ToolCall(id=f"toolu_{len(said)}", name="run", args={})
        (call,) = chat.append(Message("assistant", (call,))).calls
        validated = validate_call(call, [RUN], budget=budget)
        budget = validated.budget
        chat.append(Message("tool", (validated.result,)))
        said.append(json.loads(validated.error.text)["tool_error"])
        if validated.error.is_final:
            break
    assert [one["attempts_left"] for one in said] == [2, 1, 0]
    assert all(one["missing"] == ["command"] for one in said)
    assert "do not call run again" in said[-1]["message"]
    assert {one.outcome for one in chat.ledger.values()} == {Outcome.INVALID}
    chat.append(Message("user", (Text(text="Then do without."),)))
    assert not verify(encode_request(Request(chat, (RUN,)), "anthropic").body, "anthropic")


def test_empty_arguments_never_reach_the_function():
    """Neither through the check, nor past it."""

    @tool
    def run(command: list[str]) -> str:
        raise AssertionError(command)

    assert not validate_call(ToolCall(name="run", args={}), [run.tool]).ok
    with pytest.raises(InvalidArguments, match="command"):
        run.call({})


def test_a_model_that_learns_goes_on():
    """The second attempt is right: it is run, and the count begins anew."""
    first = validate_call(ToolCall(name="run", args={}), [RUN], budget=CorrectionBudget())
    second = validate_call(
        ToolCall(name="run", args={"command": ["ls"]}), [RUN], budget=first.budget
    )
    assert second.ok
    assert second.budget.left("run", Refusal.INVALID) == 3
