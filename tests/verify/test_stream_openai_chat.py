"""The chunks of a chat completion: what passes, and one broken stream for each rule."""

import pytest

from verify.stream_support import DONE, codes_in, found, is_complete, named, unnamed

FORMAT = "openai-chat"


def chunk(*choices, **fields):
    held = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return {**held, "choices": list(choices), **fields}


def choice(reason=None, index=0, **delta):
    return chunk({"index": index, "delta": delta, "finish_reason": reason})


def piece(arguments, index=0, **call):
    return choice(tool_calls=[{"index": index, "function": {"arguments": arguments}, **call}])


def call(index=0, id="call_1", name="f", **fields):
    function = {"name": name, "arguments": ""}
    held = {"index": index, "id": id, "type": "function", "function": function, **fields}
    return choice(tool_calls=[held])


ROLE = choice(role="assistant", content="")
TEXT = choice(content="Hi")
STOP = choice("stop")
CALLED = choice("tool_calls")
USAGE = chunk(usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
ERROR = {"error": {"message": "cut", "type": "server_error"}}

GOOD = {
    "text": [ROLE, TEXT, STOP, DONE],
    "usage": [ROLE, TEXT, STOP, USAGE, DONE],
    "calls": [
        ROLE,
        call(),
        piece('{"a":'),
        piece("1}"),
        call(1, "call_2"),
        piece("{}", 1),
        CALLED,
        USAGE,
        DONE,
    ],
    "interleaved": [
        ROLE,
        call(),
        call(1, "call_2"),
        piece("{", 1),
        piece("{}"),
        piece("}", 1),
        CALLED,
        DONE,
    ],
    "freeform": [
        ROLE,
        call(type="custom", custom={"name": "f", "input": ""}),
        choice(tool_calls=[{"index": 0, "custom": {"input": "ls"}}]),
        CALLED,
        DONE,
    ],
    "cut by a limit": [ROLE, call(), piece('{"a'), choice("length"), DONE],
    "two choices": [
        ROLE,
        choice(role="assistant", index=1),
        STOP,
        choice("stop", index=1),
        USAGE,
        DONE,
    ],
    "moderation": [ROLE, chunk(moderation={}), STOP, DONE],
    "before tools": [
        ROLE,
        choice(function_call={"name": "f", "arguments": ""}),
        choice(function_call={"arguments": "{}"}),
        choice("function_call"),
        DONE,
    ],
}

BROKEN = {
    "event_after_end": unnamed([ROLE, STOP, DONE, TEXT]),
    "event_name_differs": named([{**ROLE, "type": "chunk"}, STOP, DONE][:1])
    + unnamed([STOP, DONE]),
    "stream_not_started": unnamed([DONE]),
    "stream_not_ended": unnamed([ROLE, TEXT, STOP]),
    "unknown_event": unnamed([{**ROLE, "object": "chat.completion"}, STOP, DONE]),
    "stream_id_changed": unnamed([ROLE, {**STOP, "id": "chatcmpl-2"}, DONE]),
    "frame_field_missing": unnamed([TEXT, STOP, DONE]),
    "frame_malformed": unnamed([ROLE, choice(content=1), STOP, DONE]),
    "event_out_of_order": unnamed([ROLE, USAGE, STOP, DONE]),
    "index_out_of_order": unnamed([ROLE, call(1), piece("{}", 1), CALLED, DONE]),
    "content_twice": unnamed([ROLE, call(), call(), piece("{}"), CALLED, DONE]),
    "call_incomplete": unnamed([ROLE, call(name=None), piece("{}"), CALLED, DONE]),
    "duplicate_call_id": unnamed(
        [ROLE, call(), piece("{}"), call(1), piece("{}", 1), CALLED, DONE]
    ),
    "arguments_not_json": unnamed([ROLE, call(), CALLED, DONE]),
    "finish_missing": unnamed([ROLE, TEXT, DONE]),
    "finish_unknown": unnamed([ROLE, choice("end_turn"), DONE]),
    "finish_hides_calls": unnamed([ROLE, call(), piece("{}"), STOP, DONE]),
    "finish_without_calls": unnamed([ROLE, TEXT, CALLED, DONE]),
}

ALSO = {
    "the role again": ("content_twice", [ROLE, ROLE, STOP]),
    "the name again": (
        "content_twice",
        [ROLE, call(), piece("{}"), piece("", function={"name": "f"}), CALLED],
    ),
    "no number": (
        "frame_field_missing",
        [ROLE, choice(tool_calls=[{"id": "a", "type": "function"}]), STOP],
    ),
    "no type": ("call_incomplete", [ROLE, call(type=None), piece("{}"), CALLED]),
    "another number than the next choice": (
        "index_out_of_order",
        [choice(role="assistant", index=1)],
    ),
    "content behind the reason": ("event_out_of_order", [ROLE, STOP, TEXT]),
    "two reasons": ("event_out_of_order", [ROLE, STOP, STOP]),
    "usage twice": ("event_out_of_order", [ROLE, STOP, USAGE, USAGE]),
    "usage beside the reason": ("event_out_of_order", [ROLE, {**STOP, "usage": USAGE["usage"]}]),
    "half of usage": ("frame_field_missing", [ROLE, STOP, chunk(usage={"prompt_tokens": 1})]),
    "the arguments as an object": ("frame_malformed", [ROLE, call(), piece({"a": 1}), CALLED]),
    "one choice without a reason": (
        "finish_missing",
        [ROLE, choice(role="assistant", index=1), STOP],
    ),
}


@pytest.mark.parametrize("events", GOOD.values(), ids=GOOD)
def test_a_stream_as_documented_passes(events):
    assert found(unnamed(events), FORMAT) == set()
    assert is_complete(unnamed(events), FORMAT)


@pytest.mark.parametrize("code", BROKEN)
def test_each_rule_is_broken_by_one_stream(code):
    assert code in found(BROKEN[code], FORMAT)


@pytest.mark.parametrize(("code", "events"), ALSO.values(), ids=ALSO)
def test_other_ways_to_break_a_rule(code, events):
    assert code in found(unnamed([*events, DONE]), FORMAT)


def test_every_code_of_the_grammar_is_told():
    assert codes_in("openai_chat") <= set(BROKEN)


@pytest.mark.parametrize("after", [[], [DONE]])
@pytest.mark.parametrize("before", [[], [ROLE, call(), piece("{")]])
def test_an_error_ends_a_stream_anywhere(before, after):
    data = unnamed([*before, ERROR, *after])
    assert found(data, FORMAT) == set()
    assert not is_complete(data, FORMAT)


def test_nothing_follows_an_error():
    assert found(unnamed([ROLE, ERROR, STOP, DONE]), FORMAT) == {"event_after_end"}
