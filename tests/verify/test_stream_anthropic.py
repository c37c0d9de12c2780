"""The event grammar of the Messages API: what passes, and one broken stream for each rule."""

import pytest

from batches import each
from canonicall import verify_stream
from verify.stream_support import codes_in, found, is_complete, named, unnamed

FORMAT = "anthropic"


def start(**message):
    usage = {"input_tokens": 3, "output_tokens": 1}
    held = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []}
    return {"type": "message_start", "message": {**held, "usage": usage, **message}}


def begin(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, **delta):
    return {"type": "content_block_delta", "index": index, "delta": delta}


def stop(index):
    return {"type": "content_block_stop", "index": index}


def ending(reason, **usage):
    usage = usage or {"output_tokens": 5}
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


END = {"type": "message_stop"}
PING = {"type": "ping"}
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def text(index, said="Hi"):
    return [
        begin(index, type="text", text=""),
        delta(index, type="text_delta", text=said),
        stop(index),
    ]


def call(index, pieces=('{"a":', "1}"), id="toolu_1", **block):
    block = {"type": "tool_use", "id": id, "name": "f", "input": {}, **block}
    said = [delta(index, type="input_json_delta", partial_json=piece) for piece in pieces]
    return [begin(index, **block), *said, stop(index)]


def thinking(index):
    return [
        begin(index, type="thinking", thinking="", signature=""),
        delta(index, type="thinking_delta", thinking="Hm."),
        delta(index, type="signature_delta", signature="s"),
        stop(index),
    ]


GOOD = {
    "text": [start(), *text(0), ending("end_turn"), END],
    "nothing": [start(), ending("end_turn"), END],
    "pings": [start(), PING, *text(0), PING, ending("end_turn"), PING, END],
    "all kinds": [
        start(),
        *thinking(0),
        begin(1, type="redacted_thinking", data="x"),
        stop(1),
        *text(2),
        *call(3),
        *call(4, id="toolu_2"),
        ending("tool_use"),
        END,
    ],
    "no arguments": [start(), *call(0, ("",)), *call(1, (), id="toolu_2"), ending("tool_use"), END],
    "arguments whole": [start(), *call(0, ("",), input={"a": 1}), ending("tool_use"), END],
    "server tool": [
        start(),
        *call(0, type="server_tool_use", id="srvtoolu_1"),
        begin(1, type="web_search_tool_result", tool_use_id="srvtoolu_1", content=[]),
        stop(1),
        *text(2),
        ending("end_turn"),
        END,
    ],
    "last call cut": [start(), *call(0), *call(1, ('{"a',), id="t2"), ending("max_tokens"), END],
    "reason later": [start(), *text(0), ending(None), ending("end_turn"), END],
}

BROKEN = {
    "event_name_differs": unnamed([start(), *text(0), ending("end_turn"), END]),
    "event_after_end": named([start(), ending("end_turn"), END, PING]),
    "stream_not_started": named([*text(0), ending("end_turn"), END]),
    "stream_started_twice": named([start(), start(), ending("end_turn"), END]),
    "stream_not_ended": named([start(), *text(0), ending("end_turn")]),
    "unknown_event": named([start(), {"type": "content"}, ending("end_turn"), END]),
    "frame_field_missing": named([start(id=None), ending("end_turn"), END]),
    "frame_malformed": named([start(), begin("0", type="text", text=""), ending("end_turn"), END]),
    "event_out_of_order": named([start(), ending("end_turn"), *text(0), END]),
    "index_out_of_order": named([start(), *text(1), ending("end_turn"), END]),
    "block_not_open": named([start(), *text(0), stop(0), ending("end_turn"), END]),
    "block_left_open": named([start(), *text(0)[:-1], *text(1), ending("end_turn"), END]),
    "delta_does_not_fit": named(
        [
            start(),
            begin(0, type="text", text=""),
            delta(0, type="input_json_delta", partial_json="{}"),
            stop(0),
            ending("end_turn"),
            END,
        ]
    ),
    "content_twice": named([start(), *call(0, input={"a": 1}), ending("tool_use"), END]),
    "call_incomplete": named([start(), *call(0, name=""), ending("tool_use"), END]),
    "duplicate_call_id": named([start(), *call(0), *call(1), ending("tool_use"), END]),
    "arguments_not_json": named([start(), *call(0, ("{}", "{}")), ending("tool_use"), END]),
    "finish_missing": named([start(), *text(0), END]),
    "finish_unknown": named([start(), *text(0), ending("stop"), END]),
    "finish_hides_calls": named([start(), *call(0), ending("end_turn"), END]),
    "finish_without_calls": named([start(), *text(0), ending("tool_use"), END]),
}

ALSO = {
    "a delta behind the stop": ("block_not_open", [*text(0), delta(0, type="text_delta", text="")]),
    "a delta of the block before": (
        "block_not_open",
        [*text(0), begin(1, type="text", text=""), delta(0, type="text_delta", text="")],
    ),
    "open at the reason": ("block_left_open", text(0)[:-1]),
    "a number for arguments": ("frame_malformed", call(0, (1,))),
    "arguments that are a list": ("arguments_not_json", call(0, ("[]",))),
    "a thought without its place for a signature": (
        "frame_field_missing",
        [begin(0, type="thinking", thinking=""), stop(0)],
    ),
    "usage without its figure": ("frame_field_missing", [ending("end_turn", input_tokens=1)]),
    "two reasons": ("event_out_of_order", [ending("end_turn"), ending("end_turn")]),
    "broken call of a hosted tool": (
        "arguments_not_json",
        call(0, ("{",), type="server_tool_use"),
    ),
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
    assert code in found(named([start(), *events, ending("tool_use"), END]), FORMAT)


def test_every_code_of_the_grammar_is_told():
    assert codes_in("anthropic") <= set(BROKEN)


def test_only_the_last_call_may_be_cut():
    cut = [start(), *call(0, ("{",)), *call(1, id="toolu_2"), ending("max_tokens"), END]
    assert found(named(cut), FORMAT) == {"arguments_not_json"}


@pytest.mark.parametrize("before", [[], [start()], [start(), *call(0)[:-1]]])
def test_an_error_ends_a_stream_anywhere(before):
    data = named([*before, ERROR])
    assert found(data, FORMAT) == set()
    assert not is_complete(data, FORMAT)
    assert found(named([*before, ERROR, END]), FORMAT) == {"event_after_end"}


def test_the_words_of_the_official_client_are_quoted():
    (violation, *_) = verify_stream(BROKEN["stream_not_started"], FORMAT)
    assert violation.where == "frames[0]"
    assert violation.error == (
        'Unexpected event order, got content_block_start before "message_start"'
    )
