"""The events of a streamed response: what passes, and one broken stream for each rule."""

import pytest

from batches import each
from canonicall import verify_stream
from verify.stream_support import codes_in, found, is_complete, named, unnamed

FORMAT = "openai-responses"


def of(event, status, **fields):
    held = {"id": "resp_1", "object": "response", "created_at": 0, "model": "m", "output": []}
    return {"type": f"response.{event}", "response": {**held, "status": status, **fields}}


def at(event, output_index=0, **fields):
    return {"type": f"response.{event}", "output_index": output_index, **fields}


def item(**fields):
    return {"status": "completed", **fields}


def added(item, index=0):
    return at("output_item.added", index, item={**item, "status": "in_progress"})


def done(item, index=0):
    return at("output_item.done", index, item=item)


def message(index=0, pieces=("Hel", "lo"), id="msg_1"):
    text = "".join(pieces)
    where = {"item_id": id, "output_index": index, "content_index": 0}
    whole = item(type="message", id=id, role="assistant", content=[part(text)])
    return whole, [
        added({**whole, "content": []}, index),
        at("content_part.added", **where, part=part("")),
        *(at("output_text.delta", **where, delta=piece) for piece in pieces),
        at("output_text.done", **where, text=text),
        at("content_part.done", **where, part=part(text)),
        done(whole, index),
    ]


def part(text):
    return {"type": "output_text", "text": text, "annotations": []}


def call(index=0, pieces=('{"a":', "1}"), id="call_1", **fields):
    arguments = "".join(pieces)
    whole = item(type="function_call", id=f"fc_{index}", call_id=id, name="f") | fields
    where = {"item_id": whole["id"], "output_index": index}
    return {**whole, "arguments": arguments}, [
        added({**whole, "arguments": ""}, index),
        *(at("function_call_arguments.delta", **where, delta=piece) for piece in pieces),
        at("function_call_arguments.done", **where, arguments=arguments),
        done({**whole, "arguments": arguments}, index),
    ]


def reasoning(index=0):
    where = {"item_id": "rs_1", "output_index": index, "summary_index": 0}
    summary = {"type": "summary_text", "text": "Hm."}
    whole = {"type": "reasoning", "id": "rs_1", "summary": [summary], "encrypted_content": "a"}
    return {**whole, "encrypted_content": "b"}, [
        at("output_item.added", index, item={**whole, "summary": []}),
        at("reasoning_summary_part.added", **where, part={**summary, "text": ""}),
        at("reasoning_summary_text.delta", **where, delta="Hm."),
        at("reasoning_summary_text.done", **where, text="Hm."),
        at("reasoning_summary_part.done", **where, part=summary),
        done(whole, index),
    ]


CREATED = of("created", "in_progress")
RUNNING = of("in_progress", "in_progress")


def stream(*items, head=(CREATED, RUNNING), end="completed", output=None, **terminal):
    """The events of these items in a row, numbered."""
    output = [whole for whole, _ in items] if output is None else output
    events = [*head, *(event for _, events in items for event in events)]
    if end:
        events.append(of(end, end, output=output, **terminal))
    return numbered(events)


def numbered(events):
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def edited(edit, events=None):
    """A stream of one message and one call, changed and numbered again."""
    events = stream(message(), call(1)) if events is None else events
    return numbered(edit(list(events)))


def without(type, events):
    return [event for event in events if event["type"] != f"response.{type}"]


def with_(events, type, **fields):
    """The events with other fields in each of one type."""
    return [{**one, **fields} if one["type"] == f"response.{type}" else one for one in events]


SEARCH = item(type="web_search_call", id="ws_1", action={})
SEARCHED = (
    SEARCH,
    [added(SEARCH), at("web_search_call.completed", item_id="ws_1"), done(SEARCH)],
)
FREEFORM = item(type="custom_tool_call", id="ctc_1", call_id="call_9", name="sh", input="ls")
FREEFORM_CALL = (
    FREEFORM,
    [
        added({**FREEFORM, "input": ""}),
        at("custom_tool_call_input.delta", item_id="ctc_1", delta="ls"),
        at("custom_tool_call_input.done", item_id="ctc_1", input="ls"),
        done(FREEFORM),
    ],
)
LISTED = item(type="mcp_list_tools", id="mcpl_1", tools=[])

GOOD = {
    "nothing": stream(),
    "text": stream(message()),
    "text of nothing": stream(message(pieces=())),
    "all kinds": stream(reasoning(), message(1), call(2), call(3, id="call_2")),
    "no arguments": stream(call(pieces=("{}",))),
    "hosted tool": stream(SEARCHED, message(1)),
    "freeform": stream(FREEFORM_CALL),
    "items that overlap": stream(
        (LISTED, [added(LISTED)]),
        message(1),
        (LISTED, [done(LISTED)]),
        output=[LISTED, message()[0]],
    ),
    "queued": stream(message(), head=(CREATED, of("queued", "queued"), RUNNING)),
    "cut by a limit": stream(
        call(pieces=("{",), status="incomplete"),
        end="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    ),
}

BROKEN = {
    "event_name_differs": unnamed(GOOD["text"]),
    "sequence_broken": named([{**one, "sequence_number": 0} for one in GOOD["text"]]),
    "event_after_end": named(edited(lambda events: [*events, RUNNING])),
    "stream_not_started": named(stream(message(), head=())),
    "stream_started_twice": named(stream(head=(CREATED, CREATED, RUNNING))),
    "stream_not_ended": named(stream(message(), end="")),
    "event_out_of_order": named(stream(message(), head=(CREATED,))),
    "unknown_event": named(edited(lambda events: [*events[:3], at("text.delta"), *events[3:]])),
    "stream_id_changed": named(stream(message(), id="resp_2")),
    "frame_field_missing": named(stream(message(), model=None)),
    "frame_malformed": named(edited(lambda events: with_(events, "output_text.delta", delta=1))),
    "done_differs": named(edited(lambda events: with_(events, "output_text.done", text="Hi"))),
    "index_out_of_order": named(stream(message(1))),
    "block_not_open": named(edited(lambda events: without("output_item.added", events))),
    "block_left_open": named(edited(lambda events: without("output_item.done", events))),
    "delta_does_not_fit": named(
        edited(lambda events: with_(events, "content_part.added", part={"type": "image"}))
    ),
    "content_twice": named(
        edited(lambda events: with_(events, "output_item.added", item=call()[0]), stream(call()))
    ),
    "call_incomplete": named(stream(call(name=""))),
    "duplicate_call_id": named(stream(call(), call(1))),
    "arguments_not_json": named(stream(call(pieces=("{}", "{}")))),
    "finish_unknown": named(stream(end="incomplete", incomplete_details={"reason": "max_tokens"})),
}

ALSO = {
    "arguments doubled": (
        "done_differs",
        lambda events: with_(events, "function_call_arguments.done", arguments='{"a":1}{"a":1}'),
    ),
    "no end of the arguments": (
        "block_left_open",
        lambda events: without("function_call_arguments.done", events),
    ),
    "no end of the text": ("block_left_open", lambda events: without("output_text.done", events)),
    "no end of the part": ("block_left_open", lambda events: without("content_part.done", events)),
    "no part": ("block_not_open", lambda events: without("content_part.added", events)),
    "another item at the end": (
        "done_differs",
        lambda events: with_(events, "output_item.done", item=message(id="msg_2")[0]),
    ),
    "a delta behind the end of its item": (
        "block_not_open",
        lambda events: [*events[:-1], events[4], events[-1]],
    ),
    "another item's id": (
        "stream_id_changed",
        lambda events: with_(events, "output_text.delta", item_id="msg_9"),
    ),
    "added twice": ("index_out_of_order", lambda events: [*events[:3], events[2], *events[3:]]),
    "a part too many": ("index_out_of_order", lambda events: [*events[:4], events[3], *events[4:]]),
    "in progress twice": ("event_out_of_order", lambda events: [*events[:2], RUNNING, *events[2:]]),
    "nothing in the terminal": (
        "done_differs",
        lambda events: [*events[:-1], of("completed", "completed")],
    ),
    "another status": (
        "done_differs",
        lambda events: [*events[:-1], of("completed", "in_progress")],
    ),
    "a start with output": (
        "event_out_of_order",
        lambda events: [of("created", "in_progress", output=[SEARCH]), *events[1:]],
    ),
}


@pytest.mark.parametrize("events", GOOD.values(), ids=GOOD)
def test_a_stream_as_documented_passes(events):
    assert found(named(events), FORMAT) == set()
    assert is_complete(named(events), FORMAT)


@each("code", BROKEN)
def test_each_rule_is_broken_by_one_stream(code):
    assert code in found(BROKEN[code], FORMAT)


@pytest.mark.parametrize(("code", "edit"), ALSO.values(), ids=ALSO)
def test_other_ways_to_break_a_rule(code, edit):
    assert code in found(named(edited(edit)), FORMAT)


def test_every_code_of_the_grammar_is_told():
    assert codes_in("openai_responses", "openai_items") <= set(BROKEN)


FAILED = of("failed", "failed", error={"code": "server_error", "message": "cut"})
ERROR = {"type": "error", "code": "server_error", "message": "cut", "param": None}


@pytest.mark.parametrize("terminal", [FAILED, ERROR], ids=["failed", "error"])
@pytest.mark.parametrize("items", [(), (call()[1][:2],)], ids=["nothing", "an open call"])
def test_an_error_ends_a_stream_anywhere(terminal, items):
    begun = [({}, events) for events in items]
    data = named(numbered([*stream(*begun, end=""), terminal]))
    assert found(data, FORMAT) == set()
    assert not is_complete(data, FORMAT)


def test_a_stream_that_was_cut_is_incomplete_without_a_reason():
    """The list of reasons has none for it; what is open stays open."""
    data = named(numbered([*stream(({}, call()[1][:2]), end=""), of("incomplete", "incomplete")]))
    assert found(data, FORMAT) == set()
    assert not is_complete(data, FORMAT)


def test_the_words_of_the_official_client_are_quoted():
    (violation, *_) = verify_stream(BROKEN["stream_not_started"], FORMAT)
    assert violation.error == (
        "Expected to have received `response.created` before `response.output_item.added`"
    )
