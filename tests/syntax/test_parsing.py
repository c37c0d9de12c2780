"""`parse`: the whole text of a reply at once, and what it tells."""

import pytest

from canonicall import InvalidValue, Tool, UnknownName, parse

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'


def test_all_that_a_text_says():
    parsed = parse(f"<think>hm</think>I look. {CALL}")
    (call,) = parsed.calls
    assert (call.name, call.args, call.raw) == ("f", {"a": 1}, '{"a": 1}')
    assert (parsed.text, parsed.thinking, parsed.syntax) == ("I look. ", "hm", "hermes")
    assert (parsed.reply.finish, parsed.findings) == ("tool_calls", ())


def test_words_alone_are_a_reply_that_ended():
    parsed = parse("Hello.")
    assert (parsed.calls, parsed.text, parsed.syntax) == ((), "Hello.", "")
    assert parsed.reply.finish == "stop"


def test_a_syntax_that_was_named_is_named_again_even_where_there_are_no_calls():
    assert parse("Hello.", syntax="hermes").syntax == "hermes"
    assert parse(CALL, syntax="generic_none").calls == ()


def test_nothing_at_all():
    parsed = parse("")
    assert (parsed.calls, parsed.text, parsed.thinking) == ((), "", "")
    assert parsed.reply.message.blocks == ()


@pytest.mark.parametrize(
    "tool",
    [
        Tool("f"),
        {"name": "f", "input_schema": {"type": "object"}},
        {"type": "function", "name": "f", "parameters": {}},
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
    ],
)
def test_tools_may_be_written_as_any_api_writes_them(tool):
    assert [call.name for call in parse(CALL, tools=[tool]).calls] == ["f"]


def test_a_tool_that_is_none_is_refused_with_its_place():
    with pytest.raises(InvalidValue, match=r"tools\[1\]"):
        parse(CALL, tools=[Tool("f"), "g"])


def test_types_come_from_the_tool():
    text = "<tool_call>f<arg_key>n</arg_key><arg_value>5</arg_value></tool_call>"
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert parse(text).calls[0].args == {"n": "5"}
    assert parse(text, tools=[Tool("f", parameters=schema)]).calls[0].args == {"n": 5}


def test_unknown_tools_are_called_with_a_finding_where_the_syntax_was_named():
    """Who named the syntax means its markers; detection is more careful."""
    parsed = parse(CALL, syntax="hermes", tools=[Tool("g")])
    assert [call.name for call in parsed.calls] == ["f"]
    assert [finding.code for finding in parsed.findings] == ["tool_unknown"]
    assert parse(CALL, tools=[Tool("g")]).calls == ()


def test_the_prompt_may_have_opened_the_thought():
    parsed = parse(f"hm</think>{CALL}", syntax="hermes", starts_in_thinking=True)
    assert (parsed.thinking, len(parsed.calls)) == ("hm", 1)


def test_an_unknown_syntax_is_an_error():
    with pytest.raises(UnknownName):
        parse("x", syntax="no such")
