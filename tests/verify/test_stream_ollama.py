"""The lines of Ollama's chat: what passes, and one broken stream for each rule."""

import pytest

from verify.stream_support import codes_in, found, is_complete, lines

FORMAT = "ollama"


def line(done=False, **fields):
    message = {"role": "assistant", "content": "", **fields.pop("message", {})}
    return {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": done,
    } | (fields)


def called(*calls):
    return line(message={"tool_calls": list(calls)})


def call(index=0, id="call_1", arguments=None, name="f"):
    function = {"index": index, "name": name, "arguments": arguments or {}}
    return {"id": id, "function": function}


TEXT = line(message={"content": "Hi"})
END = line(done=True, done_reason="stop", eval_count=1, prompt_eval_count=2)
ERROR = {"error": "cut"}

GOOD = {
    "text": [TEXT, END],
    "one line": [{**TEXT, "done": True, "done_reason": "stop"}],
    "thinking": [line(message={"thinking": "Hm."}), TEXT, END],
    "calls": [called(call()), called(call(1, "call_2"), call(2, "call_3")), END],
    "calls of old builds": [called({"function": {"name": "f", "arguments": {"a": 1}}}), END],
    "cut by a limit": [TEXT, line(done=True, done_reason="length")],
}

BROKEN = {
    "frame_unreadable": b"data: " + lines([TEXT, END]),
    "frame_cut": lines([TEXT, END])[:-1],
    "event_after_end": lines([TEXT, END, TEXT]),
    "stream_not_ended": lines([TEXT]),
    "frame_field_missing": lines([{"message": TEXT["message"], "done": False}, END]),
    "frame_malformed": lines([line(done="yes"), END]),
    "call_incomplete": lines([called(call(name="")), END]),
    "index_out_of_order": lines([called(call(), call(0, "call_2")), END]),
    "duplicate_call_id": lines([called(call(), call(1)), END]),
    "arguments_not_object": lines([called(call(arguments="{}")), END]),
    "finish_missing": lines([line(done=True)]),
    "finish_unknown": lines([line(done=True, done_reason="tool_calls")]),
}


@pytest.mark.parametrize("events", GOOD.values(), ids=GOOD)
def test_a_stream_as_documented_passes(events):
    assert found(lines(events), FORMAT) == set()
    assert is_complete(lines(events), FORMAT)


@pytest.mark.parametrize("code", BROKEN)
def test_each_rule_is_broken_by_one_stream(code):
    assert code in found(BROKEN[code], FORMAT)


@pytest.mark.parametrize(
    "message", [{"role": "tool"}, {"content": None}], ids=["another role", "no content"]
)
def test_every_line_has_a_message_of_the_assistant(message):
    assert found(lines([line(message=message), END]), FORMAT) == {"frame_field_missing"}


def test_every_code_of_the_grammar_is_told():
    assert codes_in("ollama") <= set(BROKEN)


@pytest.mark.parametrize("before", [[], [TEXT]])
def test_an_error_ends_a_stream_anywhere(before):
    data = lines([*before, ERROR])
    assert found(data, FORMAT) == set()
    assert not is_complete(data, FORMAT)
    assert found(lines([*before, ERROR, END]), FORMAT) == {"event_after_end"}
