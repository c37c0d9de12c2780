"""Items of a streamed response: told late, twice, out of place, or not at all."""

import pytest

from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, FinishReported, TextAdded
from canonicall.streams import StreamDecoder
from wire.openai_responses.stream_events import (
    added,
    arguments,
    call,
    created,
    delta,
    done,
    ended,
    message,
    of,
    read,
    reply,
    sse,
)


def test_a_call_is_told_as_soon_as_it_begins():
    decoder = StreamDecoder("openai-responses")
    events = decoder.feed(sse(created(), added(0, call())))
    assert of(BlockStarted, events)[0].block.name == "f"
    events = decoder.feed(sse(delta("function_call_arguments", 0, '{"a":')))
    assert events == [ArgumentsAdded(0, '{"a":')]


@pytest.mark.parametrize(
    "told",
    [
        [delta("function_call_arguments", 0, '{"a":'), delta("function_call_arguments", 0, "1}")],
        [],
        [delta("function_call_arguments", 0, '{"a":')],
        [delta("function_call_arguments", 0, {"a": 1})],
    ],
    ids=["in pieces", "only at the end", "pieces missing", "as an object"],
)
@pytest.mark.parametrize("repeated", [True, False], ids=["repeated", "not repeated"])
def test_arguments_come_once_however_they_are_told(told, repeated):
    whole = call('{"a":1}', "completed")
    last = {"type": "response.function_call_arguments.done", "arguments": '{"a":1}'}
    events = read(
        created(),
        added(0, call()),
        *told,
        *([{**last, "output_index": 0}] if repeated else []),
        done(0, whole),
        ended(output=[whole]),
    )
    assert arguments(events) == '{"a":1}'
    (block,) = reply(events).message.calls
    assert block.raw == '{"a":1}'
    assert of(BlockEnded, events)[0].block == block
    assert reply(events).finish == "tool_calls"


def test_no_arguments_at_all():
    whole = call("", "completed")
    events = read(created(), added(0, call()), done(0, whole), ended(output=[whole]))
    assert of(ArgumentsAdded, events) == []
    assert len(of(BlockEnded, events)) == 1
    assert reply(events).message.calls[0].raw == ""


def test_arguments_as_an_object_in_the_item():
    whole = call(status="completed") | {"arguments": {"a": 1}}
    events = read(created(), added(0, call()), done(0, whole), ended(output=[whole]))
    assert arguments(events) == '{"a":1}'
    assert reply(events).message.calls[0].args == {"a": 1}


def test_a_name_that_comes_late():
    whole = call('{"a":1}', "completed")
    events = read(
        created(),
        added(0, call(name="", call_id=None)),
        delta("function_call_arguments", 0, '{"a":1}'),
        done(0, whole),
        ended(output=[whole]),
    )
    assert [one.block.name for one in of(BlockStarted, events)] == ["f"]
    assert arguments(events) == '{"a":1}'


def test_an_end_that_leaves_out_what_was_told():
    bare = {"type": "function_call", "status": "completed", "arguments": ""}
    events = read(
        created(),
        added(0, call()),
        delta("function_call_arguments", 0, '{"a":1}'),
        done(0, bare),
        ended(),
    )
    (block,) = reply(events).message.calls
    assert (block.id, block.name, block.raw) == ("call_1", "f", '{"a":1}')


def test_item_ids_that_change_or_are_missing():
    one, two = call('{"a":1}', "completed"), call('{"b":2}', "completed", number=2)
    events = read(
        created(),
        added(0, call()),
        added(1, call(number=2, id=None)),
        delta("function_call_arguments", 1, '{"b":', item_id="other"),
        delta("function_call_arguments", 0, '{"a":', item_id=None),
        delta("function_call_arguments", 0, "1}", item_id="fc_2"),
        delta("function_call_arguments", 1, "2}"),
        done(1, {**two, "id": "fc_new"}),
        done(0, {**one, "id": "fc_newer"}),
        ended(output=[one, two]),
    )
    assert (arguments(events, 0), arguments(events, 1)) == ('{"a":1}', '{"b":2}')
    assert len(of(BlockStarted, events)) == len(of(BlockEnded, events)) == 2


def test_every_item_has_the_same_place():
    one, two = call('{"a":1}', "completed"), call('{"b":2}', "completed", number=2)
    events = read(
        created(),
        added(0, call()),
        delta("function_call_arguments", 0, '{"a":1}'),
        done(0, one),
        added(0, call(number=2)),
        delta("function_call_arguments", 0, '{"b":2}'),
        done(0, two),
        ended(output=[one, two]),
    )
    assert (arguments(events, 0), arguments(events, 1)) == ('{"a":1}', '{"b":2}')
    assert [block.id for block in reply(events).message.calls] == ["call_1", "call_2"]
    assert len(of(BlockStarted, events)) == 2


def test_places_left_out():
    def without(event):
        return {name: field for name, field in event.items() if name != "output_index"}

    one, two = call('{"a":1}', "completed"), call('{"b":2}', "completed", number=2)
    events = read(
        created(),
        without(added(0, call())),
        without(delta("function_call_arguments", 0, '{"a":1}', item_id="fc_1")),
        without(added(1, call(number=2))),
        without(delta("function_call_arguments", 0, '{"b":2}')),
        without(done(0, one)),
        without(done(1, two)),
        ended(),
    )
    assert [block.raw for block in reply(events).message.calls] == ['{"a":1}', '{"b":2}']
    assert (arguments(events, 0), arguments(events, 1)) == ('{"a":1}', '{"b":2}')


def test_beginnings_and_ends_told_twice():
    whole = call('{"a":1}', "completed")
    events = read(
        created(),
        added(0, call()),
        delta("function_call_arguments", 0, '{"a":'),
        added(0, call()),
        delta("function_call_arguments", 0, "1}"),
        done(0, whole),
        done(0, whole),
        added(0, call()),
        ended(output=[whole]),
        ended(output=[whole]),
    )
    assert arguments(events) == '{"a":1}'
    assert len(of(BlockStarted, events)) == len(of(BlockEnded, events)) == 1
    assert len(of(FinishReported, events)) == 1


def test_an_item_without_a_beginning():
    whole = call('{"a":1}', "completed")
    events = read(created(), done(0, whole), ended(output=[whole]))
    assert arguments(events) == '{"a":1}'
    assert len(of(BlockEnded, events)) == 1


def test_pieces_without_a_beginning():
    whole = message("Hi")
    events = read(created(), delta("output_text", 0, "Hi"), done(0, whole), ended())
    assert [one.text for one in of(TextAdded, events)] == ["Hi"]
    assert [block.text for block in reply(events).message.blocks] == ["Hi"]
