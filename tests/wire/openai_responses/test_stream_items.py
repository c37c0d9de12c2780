"""Items of a streamed response: told late, twice, out of place, or not at all."""

import pytest

from canonicall.codec.streams import StreamDecoder
from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, FinishReported, TextAdded
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


# A call that ends under another id than it began with.


def renamed(number, arguments='{"a": 1}', **fields):
    whole = call(arguments, "completed", number, **fields)
    return whole | {"call_id": f"call_{number}_again"}


@pytest.mark.parametrize("same_item", [True, False])
@pytest.mark.parametrize("output", ["none", "done", "later"])
def test_a_call_whose_id_changes_is_one_call(same_item, output):
    """There is one for each place in the output, and the last id counts."""
    last = renamed(1) if same_item else renamed(1, id="fc_other")
    later = last | {"call_id": "call_later"}
    events = read(
        created(),
        added(0, call()),
        delta("function_call_arguments", 0, '{"a": 1}'),
        done(0, last),
        ended(output={"none": [], "done": [last], "later": [later]}[output]),
    )
    starts = [event for event in events if isinstance(event, BlockStarted)]
    (whole,) = [event.block for event in events if isinstance(event, BlockEnded)]
    assert len(starts) == 1
    assert whole.id == "call_1_again"
    (made,) = events[-1].reply.calls
    assert made.id == ("call_later" if output == "later" else "call_1_again")
    assert (made.args, made.truncated) == ({"a": 1}, False)


def test_calls_whose_ids_change_stay_apart():
    """Parallel calls, by their places; one of them ends first."""
    first, second = renamed(1, '{"a": 1}'), renamed(2, '{"a": 2}')
    events = read(
        created(),
        added(0, call()),
        added(1, call(number=2)),
        done(1, second),
        done(0, first),
        ended(output=[first, second]),
    )
    assert [made.id for made in events[-1].reply.calls] == ["call_1_again", "call_2_again"]
    assert sum(isinstance(event, BlockStarted) for event in events) == 2


def test_another_tool_at_the_same_place_is_another_call():
    """Some hosts do not count: every item is at place 0."""
    other = renamed(2, name="g")
    events = read(created(), added(0, call()), done(0, other), ended(output=[other]))
    assert {made.name for made in events[-1].reply.calls} >= {"g"}
    assert sum(isinstance(event, BlockStarted) for event in events) == 2


def test_calls_one_after_the_other_at_the_same_place_are_two():
    first, second = call("{}", "completed", 1), call("{}", "completed", 2)
    events = read(created(), done(0, first), done(0, second), ended(output=[first, second]))
    assert [made.id for made in events[-1].reply.calls] == ["call_1", "call_2"]
