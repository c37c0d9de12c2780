"""The chunks of generateContent: what passes, and one broken stream for each rule."""

import json

import pytest

from verify.stream_support import codes_in, found, is_complete, named, unnamed

FORMAT = "gemini"


def chunk(*parts, reason=None, index=None, **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}}
    if reason:
        candidate["finishReason"] = reason
    if index is not None:
        candidate["index"] = index
    usage = {"promptTokenCount": 1, "totalTokenCount": 2}
    held = {"candidates": [candidate], "usageMetadata": usage, "responseId": "r1"}
    return {**held, **fields}


def call(**function):
    return {"functionCall": {"name": "f", "args": {}, **function}}


TEXT = chunk({"text": "Hi"})
LAST = chunk({"text": ""}, reason="STOP")
ERROR = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}

GOOD = {
    "text": [TEXT, LAST],
    "one chunk": [chunk({"text": "Hi"}, reason="STOP")],
    "thoughts": [chunk({"text": "Hm.", "thought": True, "thoughtSignature": "cw=="}), TEXT, LAST],
    "calls": [
        chunk({**call(id="a"), "thoughtSignature": "cw=="}),
        chunk(call(id="b"), {"functionCall": {"name": "g"}}),
        LAST,
    ],
    "arguments in pieces": [
        chunk({"functionCall": {"name": "f", "willContinue": True}}),
        chunk({"functionCall": {"partialArgs": [{"jsonPath": "$.a"}], "willContinue": True}}),
        chunk({"functionCall": {}}),
        LAST,
    ],
    "two candidates": [
        chunk({"text": "a"}, reason="STOP", index=0),
        chunk({"text": "b"}, reason="STOP", index=1),
    ],
    "no content at a limit": [
        {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}
    ],
    "usage behind": [TEXT, LAST, {"usageMetadata": {"promptTokenCount": 1}}],
    "blocked": [{"promptFeedback": {"blockReason": "SAFETY"}}],
}

BROKEN = {
    "event_after_end": unnamed([TEXT, ERROR, LAST]),
    "event_name_differs": named([{**TEXT, "type": "chunk"}]) + unnamed([LAST]),
    "stream_not_ended": unnamed([]),
    "stream_id_changed": unnamed([TEXT, {**LAST, "responseId": "r2"}]),
    "unknown_event": unnamed([TEXT, LAST, "[DONE]"]),
    "index_out_of_order": unnamed([chunk({"text": "b"}, reason="STOP", index=1)]),
    "event_out_of_order": unnamed([LAST, TEXT]),
    "frame_field_missing": unnamed([{"candidates": [{"content": {"parts": []}}]}, LAST]),
    "frame_malformed": unnamed([chunk({"text": 1}), LAST]),
    "delta_does_not_fit": unnamed([chunk({"text": "a", **call()}), LAST]),
    "call_incomplete": unnamed([chunk(call(name="")), LAST]),
    "duplicate_call_id": unnamed([chunk(call(id="a"), call(id="a")), LAST]),
    "arguments_not_object": unnamed([chunk(call(args="{}")), LAST]),
    "content_twice": unnamed([chunk(call(willContinue=True)), chunk({"functionCall": {}}), LAST]),
    "block_left_open": unnamed(
        [chunk({"functionCall": {"name": "f", "willContinue": True}}), LAST]
    ),
    "finish_missing": unnamed([TEXT]),
    "finish_unknown": unnamed([TEXT, chunk(reason="tool_calls")]),
}


@pytest.mark.parametrize("events", GOOD.values(), ids=GOOD)
def test_a_stream_as_documented_passes(events):
    assert found(unnamed(events), FORMAT) == set()
    assert is_complete(unnamed(events), FORMAT)


def test_one_array_is_as_good_as_events():
    assert found(json.dumps(GOOD["calls"]).encode(), FORMAT) == set()
    assert found(json.dumps([TEXT]).encode(), FORMAT) == {"finish_missing"}
    assert "frame_cut" in found(json.dumps([TEXT, LAST]).encode()[:-9], FORMAT)


@pytest.mark.parametrize("code", BROKEN)
def test_each_rule_is_broken_by_one_stream(code):
    assert code in found(BROKEN[code], FORMAT)


def test_a_call_that_goes_on_is_not_interrupted_by_another():
    opened = chunk({"functionCall": {"name": "f", "willContinue": True}})
    assert "block_left_open" in found(unnamed([opened, chunk(call()), LAST]), FORMAT)


def test_every_code_of_the_grammar_is_told():
    assert codes_in("gemini") <= set(BROKEN)


@pytest.mark.parametrize("before", [[], [TEXT]])
def test_an_error_ends_a_stream_anywhere(before):
    data = unnamed([*before, ERROR])
    assert found(data, FORMAT) == set()
    assert not is_complete(data, FORMAT)
