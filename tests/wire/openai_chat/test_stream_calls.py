"""Streamed calls, with every habit that hosts have of numbering and cutting them."""

import pytest

from canonicall import ArgumentsAdded, BlockEnded, BlockStarted, ToolCall, fold
from wire.openai_chat.chunks import WHOLE, calls, chunk, decoded, of_type, piece, reply_of, said

# 1-3: the index.


def test_a_missing_index_with_a_new_id_opens_a_call():
    reply = reply_of(
        calls(piece(None, "1", "f", '{"a"')),
        calls(piece(None, arguments=": 1}")),
        calls(piece(None, "2", "g", "{}")),
    )
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_a_missing_index_with_a_new_name_opens_a_call():
    reply = reply_of(calls(piece(None, None, "f", '{"a": 1}')), calls(piece(None, None, "g", "{}")))
    assert said(reply) == [("", "f", '{"a": 1}'), ("", "g", "{}")]


def test_the_same_name_again_behind_complete_arguments_opens_a_call():
    reply = reply_of(
        calls(piece(None, None, "f", '{"a": 1}')), calls(piece(None, None, "f", '{"a": 2}'))
    )
    assert said(reply) == [("", "f", '{"a": 1}'), ("", "f", '{"a": 2}')]


def test_pieces_side_by_side_without_an_index_belong_to_the_calls_in_their_order():
    reply = reply_of(
        calls(piece(None, "1", "f", ""), piece(None, "2", "g", "")),
        calls(piece(None, arguments='{"a"'), piece(None, arguments="{")),
        calls(piece(None, arguments=": 1}"), piece(None, arguments="}")),
    )
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_the_same_index_for_every_call():
    """Ollama once did that."""
    reply = reply_of(calls(piece(0, "1", "f", '{"a": 1}')), calls(piece(0, "2", "g", "{}")))
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_an_index_that_counts_pieces():
    """Nebius and Cerebras did that."""
    reply = reply_of(
        calls(piece(0, "1", "f", "")),
        calls(piece(1, arguments='{"a"')),
        calls(piece(2, arguments=": 1}")),
        calls(piece(3, "2", "g", "{}")),
    )
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_an_index_that_counts_pieces_with_the_id_repeated():
    reply = reply_of(
        calls(piece(0, "1", "f", '{"a"')),
        calls(piece(1, "1", arguments=": 1}")),
    )
    assert said(reply) == WHOLE


def test_calls_may_overlap():
    reply = reply_of(
        calls(piece(0, "1", "f", ""), piece(1, "2", "g", "")),
        calls(piece(1, arguments="{}")),
        calls(piece(0, arguments='{"a": 1}')),
    )
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_several_pieces_of_one_call_in_one_chunk():
    reply = reply_of(calls(piece(0, "1", "f", '{"a"'), piece(0, arguments=": 1}")))
    assert said(reply) == WHOLE


def test_indices_with_gaps_and_in_any_order():
    reply = reply_of(calls(piece(7, "1", "f", '{"a": 1}')), calls(piece(3, "2", "g", "{}")))
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


# 4: ids, types and names.


@pytest.mark.parametrize("again", [{"id": "1", "type": "function"}, {"id": ""}, {"type": None}])
@pytest.mark.parametrize("name", ["f", "", None])
def test_what_is_repeated_null_or_empty_changes_nothing(again, name):
    more = {"index": 0, "id": None, "function": {"name": name, "arguments": ": 1}"}} | again
    reply = reply_of(calls(piece(0, "1", "f", '{"a"', type="function")), calls(more))
    assert said(reply) == WHOLE
    assert reply.calls[0].native is None


@pytest.mark.parametrize("name", [None, ""])
@pytest.mark.parametrize("index", [0, None])
def test_an_id_that_is_another_one_in_every_piece(index, name):
    """Poolside did that: the first id, which came with the name, is that of the call."""
    reply = reply_of(
        calls(piece(index, "1", "f", "")),
        calls(piece(index, "8", name, '{"a"')),
        calls(piece(index, "9", name, ": 1}")),
        calls(piece(1 if index == 0 else None, "2", "g", "")),
        calls(piece(1 if index == 0 else None, "7", name, "{}")),
    )
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_an_id_that_comes_late():
    """The call is told when its name is known; its end has the id."""
    events = decoded(calls(piece(0, "", "f", "")), calls(piece(0, "1", arguments='{"a": 1}')))
    assert of_type(events, BlockStarted)[0].block == ToolCall(name="f")
    assert of_type(events, BlockEnded)[0].block.id == "1"
    assert said(fold(events)) == WHOLE


def test_a_name_that_comes_late():
    events = decoded(calls(piece(0, "1", None, "{")), calls(piece(0, None, "f", "}")))
    assert of_type(events, BlockStarted)[0].block == ToolCall(id="1", name="f")
    assert [event.text for event in of_type(events, ArgumentsAdded)] == ["{", "}"]
    assert said(fold(events)) == [("1", "f", "{}")]


def test_a_name_in_pieces():
    """It is told once the arguments begin: a client would call another tool."""
    events = decoded(
        calls(piece(0, "1", "get_")),
        calls(piece(0, None, "weather")),
        calls(piece(0, arguments="{}")),
    )
    assert of_type(events, BlockStarted)[0].block.name == "get_weather"
    assert said(fold(events)) == [("1", "get_weather", "{}")]


@pytest.mark.parametrize("first", ['{"a": 1}', '{"a"', ""])
@pytest.mark.parametrize("index", [0, None])
def test_another_name_under_the_same_id_is_another_call(index, first):
    """Hosts that give every call the same index and the same id; the name tells them apart."""
    rest = [calls(piece(index, "1", arguments=": 1}"))] if first == '{"a"' else []
    events = decoded(
        calls(piece(index, "1", "f", first)), *rest, calls(piece(index, "1", "g", "{}"))
    )
    assert [event.block.name for event in of_type(events, BlockStarted)] == ["f", "g"]
    text = '{"a": 1}' if first else ""
    assert said(fold(events)) == [("1", "f", text), ("1", "g", "{}")]


def test_a_name_in_pieces_that_repeat_the_id():
    events = decoded(
        calls(piece(0, "1", "get_")),
        calls(piece(0, "1", "weather")),
        calls(piece(0, "1", arguments="{}")),
    )
    assert said(fold(events)) == [("1", "get_weather", "{}")]


def test_pieces_of_calls_under_one_id_go_to_the_last_one():
    reply = reply_of(
        calls(piece(0, "1", "f", "{}")),
        calls(piece(0, "1", "g", '{"a"')),
        calls(piece(0, "1", arguments=": 1}")),
    )
    assert said(reply) == [("1", "f", "{}"), ("1", "g", '{"a": 1}')]


def test_names_without_arguments_are_told_in_order():
    events = decoded(
        calls(piece(0, "1", "f")), calls(piece(1, "2", "g", "{}")), chunk(finish="tool_calls")
    )
    assert [event.block.name for event in of_type(events, BlockStarted)] == ["f", "g"]
    assert said(fold(events)) == [("1", "f", ""), ("2", "g", "{}")]


def test_a_call_without_a_name_is_kept():
    assert said(reply_of(calls(piece(0, "1", None, "{}")))) == [("1", "", "{}")]


# 5-8: arguments.


def test_arguments_as_an_object():
    reply = reply_of(
        calls({"index": 0, "id": "1", "function": {"name": "f", "arguments": {"a": 1}}})
    )
    assert said(reply) == [("1", "f", '{"a":1}')]


@pytest.mark.parametrize("arguments", [None, "", {}])
def test_no_arguments(arguments):
    function = {"name": "f", "arguments": arguments}
    (call,) = reply_of(calls({"index": 0, "id": "1", "function": function})).calls
    assert call.raw in ("", "{}")


def test_the_whole_call_in_the_chunk_of_the_finish_reason():
    """Mistral, OpenRouter, xAI."""
    delta = {"content": "", "tool_calls": [piece(0, "1", "f", '{"a": 1}')]}
    assert said(fold(decoded(chunk(delta, "tool_calls")))) == WHOLE


@pytest.mark.parametrize("arguments", ['{"a": 1}{"a": 2}', '"{}"', "null", "{oops"])
def test_what_a_model_wrote_as_arguments_stays_as_it_is(arguments):
    assert said(reply_of(calls(piece(0, "1", "f", arguments)))) == [("1", "f", arguments)]


def test_pieces_behind_the_end_of_a_call_break_nothing():
    """It was complete when the next one began, or the reason had come."""
    reply = reply_of(
        calls(piece(0, "1", "f", '{"a": 1}')),
        calls(piece(1, "2", "g", "{}")),
        calls(piece(0, arguments=" ")),
        chunk(finish="tool_calls"),
        calls(piece(1, arguments=" ")),
    )
    assert [(call.id, call.raw.strip()) for call in reply.calls] == [("1", '{"a": 1}'), ("2", "{}")]


def test_a_custom_call():
    pieces = [
        {"index": 0, "id": "1", "type": "custom", "custom": {"name": "sh", "input": "l"}},
        {"index": 0, "custom": {"input": "s"}},
    ]
    events = decoded(*map(calls, pieces), chunk(finish="tool_calls"))
    assert of_type(events, BlockEnded)[0].block == ToolCall(
        id="1", name="sh", raw="ls", kind="custom"
    )


def test_the_legacy_function_call():
    events = decoded(
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": "{}"}}),
        chunk(finish="function_call"),
    )
    (call,) = fold(events).calls
    assert (call.id, call.name, call.raw, fold(events).finish) == ("", "f", "{}", "tool_calls")
    assert of_type(events, BlockStarted)[0].block.native == call.native


def test_fields_of_a_host_on_a_call_are_kept():
    google = {"extra_content": {"google": {"thought_signature": "s"}}}
    (call,) = reply_of(calls(piece(0, "1", "f", "{}", **google))).calls
    assert call.native.fields == google


def test_repeated_names_cost_one_look_for_each_piece():
    """A host that repeats the name with every piece: no piece is put together twice."""
    pieces = [calls(piece(0, None, "f", '{"a": "'))]
    pieces += [calls(piece(0, None, "f", "word ")) for _ in range(300)]
    reply = reply_of(*pieces, calls(piece(0, None, "f", '"}')))
    assert len(reply.calls) == 1
    assert len(reply.calls[0].raw) == 7 + 300 * 5 + 2
