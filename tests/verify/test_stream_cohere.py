"""The events of Cohere's chat: what passes, and one broken stream for each rule."""

import pytest

from batches import each
from verify.stream_support import DONE, codes_in, found, is_complete, named, unnamed

FORMAT = "cohere"


def event(type, index=None, **message):
    held = {"type": type, "delta": {"message": message}}
    return held if index is None else {**held, "index": index}


def ending(reason, **delta):
    return {"type": "message-end", "delta": {"finish_reason": reason, **delta}}


def text(index, kind="text"):
    return [
        event("content-start", index, content={"type": kind, kind: ""}),
        event("content-delta", index, content={kind: "Hi"}),
        event("content-end", index),
    ]


def call(index, pieces=('{"a":', "1}"), id="f_1", name="f"):
    function = {"name": name, "arguments": ""}
    held = {"id": id, "type": "function", "function": function}
    return [
        event("tool-call-start", index, tool_calls=held),
        *(
            event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}})
            for piece in pieces
        ),
        event("tool-call-end", index),
    ]


def citation(index):
    held = {"start": 0, "end": 2, "text": "Hi"}
    return [event("citation-start", index, citations=held), event("citation-end", index)]


START = {**event("message-start", role="assistant"), "id": "m1"}
PLAN = event("tool-plan-delta", tool_plan="I will.")
END = ending("COMPLETE")

GOOD = {
    "text": [START, *text(0), END, DONE],
    "without [DONE]": [START, *text(0), END],
    "nothing": [START, END, DONE],
    "thinking": [START, *text(0, "thinking"), *text(1), END, DONE],
    "plan and calls": [START, PLAN, *call(0), *call(1, id="f_2"), ending("TOOL_CALL"), DONE],
    "no arguments": [START, *call(0, ()), ending("TOOL_CALL"), DONE],
    "content before calls": [
        START,
        *text(0, "thinking"),
        *call(0),
        ending("TOOL_CALL"),
        DONE,
    ],
    "citations": [START, *text(0)[:2], *citation(0), *citation(1), text(0)[2], END, DONE],
    "cut by a limit": [START, *call(0, ("{",)), ending("MAX_TOKENS"), DONE],
}

BROKEN = {
    "event_name_differs": unnamed([START, *text(0), END, DONE]),
    "event_after_end": named([START, END, DONE, DONE]),
    "stream_not_started": named([*text(0), END, DONE]),
    "stream_started_twice": named([START, START, END, DONE]),
    "stream_not_ended": named([START, *text(0)]),
    "unknown_event": named([START, event("text-generation"), END, DONE]),
    "event_out_of_order": named([START, DONE, END]),
    "frame_field_missing": named([event("message-start", role="assistant"), END, DONE]),
    "frame_malformed": named([START, event("tool-plan-delta", tool_plan=1), END, DONE]),
    "delta_does_not_fit": named(
        [START, text(0)[0], event("content-delta", 0, content={"thinking": "a"}), text(0)[2], END]
    ),
    "index_out_of_order": named([START, *text(1), END, DONE]),
    "block_not_open": named([START, *text(0)[1:], END, DONE]),
    "block_left_open": named([START, *text(0)[:2], *call(0), ending("TOOL_CALL"), DONE]),
    "call_incomplete": named([START, *call(0, name=""), ending("TOOL_CALL"), DONE]),
    "duplicate_call_id": named([START, *call(0), *call(1), ending("TOOL_CALL"), DONE]),
    "arguments_not_json": named([START, *call(0, ("[1]",)), ending("TOOL_CALL"), DONE]),
    "finish_missing": named([START, ending(None), DONE]),
    "finish_unknown": named([START, ending("stop"), DONE]),
    "finish_hides_calls": named([START, *call(0), END, DONE]),
    "finish_without_calls": named([START, *text(0), ending("TOOL_CALL"), DONE]),
}

ALSO = {
    "calls as a list": (
        "frame_malformed",
        [event("tool-call-start", 0, tool_calls=[{"id": "a"}])],
    ),
    "content of no kind": (
        "delta_does_not_fit",
        [event("content-start", 0, content={"type": "image"})],
    ),
    "a citation that never began": ("block_not_open", citation(0)[1:]),
    "a citation that never ends": ("block_left_open", citation(0)[:1]),
    "a plan inside a call": ("block_left_open", [call(0)[0], PLAN, *call(0)[1:]]),
    "an event behind the end": ("event_after_end", [END]),
}


@pytest.mark.parametrize("events", GOOD.values(), ids=GOOD)
def test_a_stream_as_documented_passes(events):
    assert found(named(events), FORMAT) == set()
    assert is_complete(named(events), FORMAT)


@each("code", BROKEN)
def test_each_rule_is_broken_by_one_stream(code):
    assert code in found(BROKEN[code], FORMAT)


@pytest.mark.parametrize(("code", "events"), ALSO.values(), ids=ALSO)
def test_other_ways_to_break_a_rule(code, events):
    assert code in found(named([START, *events, END, DONE]), FORMAT)


def test_every_code_of_the_grammar_is_told():
    assert codes_in("cohere") <= set(BROKEN)


@pytest.mark.parametrize("before", [[START], [START, *call(0)[:2]]])
def test_an_error_ends_a_stream_anywhere(before):
    data = named([*before, ending("ERROR", error="cut"), DONE])
    assert found(data, FORMAT) == set()
    assert not is_complete(data, FORMAT)
    # The text is optional (SDK chat_message_end_event_delta.py): a filter has none.
    assert found(named([START, ending("ERROR")]), FORMAT) == set()
