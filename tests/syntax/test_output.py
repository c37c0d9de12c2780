"""What a scanner found, as events and blocks."""

from canonicall import Text, Thinking, ToolCall
from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, StreamEnded, TextAdded
from canonicall.request import Tool
from canonicall.syntax.output import Output


def blocks(output: Output) -> list[object]:
    output.end()
    last = output.take()[-1]
    assert isinstance(last, StreamEnded)
    return list(last.reply.message.blocks)


def test_white_space_around_calls_means_nothing():
    output = Output({})
    output.text("\n ")
    call = output.call()
    assert call.name("f")
    assert call.end()
    output.text(" \n")
    assert blocks(output) == [ToolCall(name="f", args={}, raw="")]


def test_words_keep_their_white_space_inside_and_lose_it_before_the_first():
    output = Output({})
    for piece in ("\n", " Hello", "\n", "world\n"):
        output.text(piece)
    assert blocks(output) == [Text(text="Hello\nworld\n")]


def test_white_space_behind_a_call_is_kept_if_words_follow():
    output = Output({})
    call = output.call()
    call.name("f")
    call.end()
    output.text("\n")
    output.text("done")
    assert blocks(output)[-1] == Text(text="\ndone")


def test_thoughts_are_trimmed_and_words_behind_them_begin_anew():
    output = Output({})
    output.thinking("\n")
    output.thinking(" hm\n")
    output.end_words()
    assert output.has_said_nothing
    output.text("\n\nyes")
    assert not output.has_said_nothing
    assert blocks(output) == [Thinking(text="hm"), Text(text="yes")]


def test_the_start_of_a_line_is_known():
    output = Output({})
    assert output.at_line_start
    output.text("a")
    assert not output.at_line_start
    output.text("\n")
    assert output.at_line_start


def test_arguments_before_the_name_wait_for_it():
    output = Output({})
    output.take()
    call = output.call()
    call.arguments('{"a": ')
    call.arguments("1}")
    assert output.take() == []
    assert call.name("f")
    started, *added = output.take()
    assert isinstance(started, BlockStarted)
    assert added == [ArgumentsAdded(0, '{"a": '), ArgumentsAdded(0, "1}")]
    assert call.end()
    ended = output.take()[0]
    assert isinstance(ended, BlockEnded)
    assert ended.block == ToolCall(name="f", args={"a": 1}, raw='{"a": 1}')


def test_a_call_that_was_cut_is_kept_without_an_end():
    output = Output({})
    call = output.call()
    call.id("call_1")
    call.name("f")
    call.arguments('{"a": 1, "b": "x')
    assert call.end(truncated=True)
    assert not any(isinstance(event, BlockEnded) for event in output.events)
    (kept,) = blocks(output)
    assert kept == ToolCall(
        id="call_1", name="f", args={"a": 1, "b": "x"}, raw='{"a": 1, "b": "x', truncated=True
    )


def test_a_call_without_a_name_is_none():
    output = Output({})
    call = output.call()
    call.arguments("{}")
    assert not call.name("")
    assert not call.end()
    assert blocks(output) == []


def test_unknown_tools_are_told_and_refused_only_where_nothing_else_marks_a_call():
    output = Output({"f": Tool("f")})
    assert output.call().name("g")
    assert [finding.code for finding in output.findings] == ["tool_unknown"]
    output = Output({"f": Tool("f")}, only_offered=True)
    assert not output.call().name("g")
    assert output.call().name("f")


def test_the_tool_of_a_call_is_at_hand():
    tool = Tool("f", parameters={"type": "object"})
    output = Output({"f": tool})
    call = output.call()
    assert call.tool is None
    call.name("f")
    assert call.tool is tool
    assert call.is_named


def test_text_is_told_at_once():
    output = Output({})
    output.take()
    output.text("Hel")
    output.text("lo")
    assert output.take()[1:] == [TextAdded(0, "Hel"), TextAdded(0, "lo")]
