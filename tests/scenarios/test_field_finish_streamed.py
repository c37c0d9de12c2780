"""Why a model stopped, told right to every client of a stream: E1 to E12 of the field catalogue.

`test_field_finish.py` has the same for whole bodies.
"""

import json

import pytest

from batches import each
from canonicall.codec import translate
from canonicall.facts.registry import get_target
from canonicall.reply import FILTER, LENGTH, STOP, TOOL_CALLS
from canonicall.verify import verify_stream
from scenarios.finish_support import CUT, ENDED, FILTERED, FRONTS, WITH_CALLS
from scenarios.streaming_support import READERS, check, passed_on, received
from scenarios.upstreams import (
    DONE,
    RUN,
    call,
    calling,
    chunk,
    completed,
    created,
    frames_of,
    function,
    function_call,
    parts,
    response,
    sse,
)

CHAT = "openai-chat"


def finish_of(frames, back):
    """The canonical reason, and the codes of what was found."""
    _, ended = passed_on(frames, back, back)
    return ended.reply.finish, [one.code for one in ended.reply.findings]


@pytest.mark.parametrize("back", FRONTS)
def test_e1_words_beside_a_streamed_call_do_not_make_it_an_end_of_turn(back):
    """A Claude client that reads `end_turn` stops, so a turn with a call is never one."""
    frames = frames_of(back, text="Let me.", calls=[RUN], reason=WITH_CALLS[back])
    check(frames, back, "anthropic", calls=[RUN], text="Let me.", finish="tool_use")


@each("front", FRONTS)
@each("back", FRONTS)
def test_e2_a_streamed_call_is_a_call_for_every_front(back, front):
    """The back says plain stop beside a call; every client reads that there is one to run."""
    for text in ("", "Let me."):
        frames = frames_of(back, text=text, calls=[RUN], reason=ENDED[back])
        check(frames, back, front, calls=[RUN], text=text, finish=WITH_CALLS[front])


@pytest.mark.parametrize("back", ["anthropic", "bedrock", "cohere", "gemini"])
def test_e3_a_chat_client_reads_its_own_word_for_streamed_calls(back):
    """`tool_use`, `TOOL_CALL` and `STOP` beside a call are all `tool_calls` there."""
    frames = frames_of(back, calls=[RUN], reason=WITH_CALLS[back])
    check(frames, back, CHAT, calls=[RUN], finish="tool_calls")


@each("last", [{"text": ""}, {"text": "", "thoughtSignature": "c2ln"}, None])
@each("front", FRONTS)
def test_e4_the_empty_words_in_geminis_last_chunk(front, last):
    """The call came earlier; a last chunk with an empty part, or none, does not hide it."""
    held = [] if last is None else [last]
    frames = [parts(function(*RUN)), parts(*held, finishReason="STOP")]
    check(frames, "gemini", front, calls=[RUN], finish=WITH_CALLS[front])


@pytest.mark.parametrize(
    ("back", "word"), [("ollama", "stop"), ("cohere", "COMPLETE"), ("openai-chat", "stop")]
)
def test_e4_a_stop_beside_streamed_calls_is_tool_calls(back, word):
    frames = frames_of(back, calls=[RUN], reason=word)
    assert finish_of(frames, back) == (TOOL_CALLS, [])
    check(frames, back, CHAT, calls=[RUN], finish="tool_calls")


@pytest.mark.parametrize("listed", [True, False])
def test_e5_a_completed_response_with_a_streamed_call_is_tool_calls(listed):
    """Also where the last event lists no output: the items that were streamed decide."""
    item = function_call("call_1", "run", json.dumps(RUN[1]))
    frames = [
        created(),
        response("output_item.added", output_index=0, item=item | {"arguments": ""}),
        response("output_item.done", output_index=0, item=item),
        completed([item] if listed else []),
    ]
    check(frames, "openai-responses", CHAT, calls=[RUN], finish="tool_calls")
    plain = frames_of("openai-responses", text="Hm.", reason="completed")
    check(plain, "openai-responses", CHAT, text="Hm.", finish="stop")


@each("front", FRONTS)
@each("second", ["stop", "", "tool_calls"])
def test_e6_a_later_reason_does_not_overwrite_the_calls(front, second):
    """Hosts send the reason again with the usage, and then a weaker one."""
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    again = {"index": 0, "delta": {"content": ""}, "finish_reason": second}
    frames = [
        chunk({"role": "assistant", "content": ""}),
        calling(call(json.dumps(RUN[1]), id="call_1", name="run")),
        chunk({}, finish_reason="tool_calls"),
        sse({"id": "chatcmpl-1", "model": "m", "choices": [again], "usage": usage}),
        DONE,
    ]
    check(frames, CHAT, front, calls=[RUN], finish=WITH_CALLS[front])


@pytest.mark.parametrize(
    ("front", "reason"),
    [(front, "STOP") for front in FRONTS] + [(front, 1) for front in FRONTS],
)
def test_e7_googles_streamed_stop_means_what_the_parts_say(front, reason):
    """STOP with a call is a call, STOP without one is an end; as number, too."""
    frames = frames_of("gemini", calls=[RUN], reason=reason)
    check(frames, "gemini", front, calls=[RUN], finish=WITH_CALLS[front])
    frames = frames_of("gemini", text="Hm.", reason=reason)
    check(frames, "gemini", front, text="Hm.", finish=ENDED[front])


def reads(frames, back, front, *, text, finish):
    """As `check`; but a filtered reply is a failed one for Cohere, so it does not count as whole."""
    if front != "cohere":
        check(frames, back, front, text=text, finish=finish)
        return
    written, _ = passed_on(frames, back, front)
    assert READERS[front](written)[:3] == ([], text, finish)


@each("front", FILTERED)
@each(
    ("back", "word"),
    [
        ("gemini", "SAFETY"),
        ("gemini", "RECITATION"),
        ("openai-chat", "content_filter"),
        ("bedrock", "content_filtered"),
        ("openai-responses", "content_filter"),
    ],
)
def test_e8_a_filter_is_not_hidden_as_a_stop(back, word, front):
    """Whoever filtered: the client can tell it from an answer that is complete."""
    frames = frames_of(back, text="Hm.", reason=word)
    assert finish_of(frames, back)[0] == FILTER
    reads(frames, back, front, text="Hm.", finish=word if back == front else FILTERED[front])


@pytest.mark.parametrize("front", ["openai-chat", "gemini", "bedrock", "cohere"])
def test_e8_a_streamed_refusal_of_claude_is_not_hidden_as_a_stop(front):
    """Clients of formats without the word read their word for a filter."""
    frames = frames_of("anthropic", text="No.", reason="refusal")
    reads(frames, "anthropic", front, text="No.", finish=FILTERED[front])


def test_e8_a_cohere_client_is_told_that_something_went_wrong():
    """Cohere has one word for all of that; an error text is for streams that failed."""
    frames = frames_of(CHAT, text="Hm.", reason="content_filter")
    written, _ = passed_on(frames, CHAT, "cohere")
    assert [str(one) for one in verify_stream(written, "cohere")] == []


@each("front", FRONTS)
@each("back", ["openai-chat", "anthropic", "bedrock", "cohere"])
def test_e9_a_reason_that_announces_calls_without_any_is_an_end(back, front):
    """A client that waits for a call that does not exist hangs; it reads a plain end instead."""
    frames = frames_of(back, text="Hm.", reason=WITH_CALLS[back])
    assert finish_of(frames, back) == (STOP, ["finish_corrected"])
    check(frames, back, front, text="Hm.", finish=ENDED[front])


TOOL = {"name": "run", "description": "Runs.", "parameters": {"type": "object", "properties": {}}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
ASKED = {
    "model": "m",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [{"type": "function", "function": TOOL}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
}
BACKS = ["openai", "anthropic", "gemini", "bedrock", "cohere", "ollama"]


def names_in(value):
    """Every name that a request has, at any depth."""
    if isinstance(value, list):
        return {name for one in value for name in names_in(one)}
    if not isinstance(value, dict):
        return set()
    own = {value["name"]} if isinstance(value.get("name"), str) else set()
    return own | names_in(list(value.values()))


@each("front", FRONTS)
@each("back", FRONTS)
def test_e10_structured_output_is_words_and_ends_as_words_do(back, front):
    """No tool of ours stands in for a schema, so no reason has to be bent for one."""
    frames = frames_of(back, text='{"a":| 1}', reason=ENDED[back])
    check(frames, back, front, text='{"a": 1}', finish=ENDED[front])


@pytest.mark.parametrize("front", FRONTS)
def test_e10_a_tool_that_is_called_like_one_for_structured_output_is_a_call(front):
    """The client has offered it under this name: it is a call, and the reason says so."""
    named = ("json_tool_call", {"a": 1})
    frames = frames_of("anthropic", calls=[named], reason="tool_use")
    check(frames, "anthropic", front, calls=[named], finish=WITH_CALLS[front])


@each("front", FRONTS)
@each("back", FRONTS)
def test_e11_a_streamed_reply_that_was_cut_is_cut_for_everybody(back, front):
    """The limit was reached: no client reads stop."""
    frames = frames_of(back, text="Hm.", reason=CUT[back])
    assert finish_of(frames, back)[0] == LENGTH
    check(frames, back, front, text="Hm.", finish=CUT[front])


@each("front", FRONTS)
@each("back", FRONTS)
def test_e11_a_limit_behind_a_call_is_not_hidden_by_the_call(back, front):
    """The call may have been cut: the client reads that the limit was reached."""
    frames = frames_of(back, calls=[RUN], reason=CUT[back])
    assert received(frames, back, front).finish == CUT[front]


@pytest.mark.parametrize("back", BACKS)
def test_e12_no_internal_tool_stands_beside_those_of_the_client(back):
    """The schema goes into the field of the back; where that is refused beside tools it is dropped
    and said to be, not faked."""
    encoded = translate(ASKED, CHAT, get_target(back))
    assert names_in(encoded.body.get("tools") or encoded.body["toolConfig"]) == {"run"}
    is_kept = "integer" in json.dumps(encoded.body)
    is_dropped = any(
        one.code == "param_dropped" and one.where in ("params.output", "$.response_format.type")
        for one in encoded.report
    )
    assert (is_kept, is_dropped) == (back != "cohere", back == "cohere")


@pytest.mark.parametrize("front", FRONTS)
def test_e12_a_client_gets_its_own_calls_beside_words_that_are_json(front):
    """Words are words and calls are calls, whatever is in them."""
    frames = frames_of("bedrock", text='{"a": 1}', calls=[RUN], reason="tool_use")
    check(frames, "bedrock", front, calls=[RUN], text='{"a": 1}', finish=WITH_CALLS[front])
