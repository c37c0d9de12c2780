"""Calls in dirty streams, told right to every client: D1 to D11 of the field catalogue."""

import json

import pytest

from judges.anthropic_stream import follows_grammar, wire_events
from scenarios.finish_support import FRONTS, WITH_CALLS
from scenarios.streaming_support import call_deltas, check, passed_on, sse_data, written_for
from scenarios.upstreams import (
    READ,
    RUN,
    call,
    calling,
    chat,
    chunk,
    completed,
    created,
    delta,
    frames_of,
    function,
    function_call,
    line,
    message,
    parts,
    pieces_of,
    response,
    thought,
    use,
    words,
)

COMMAND, PATH = json.dumps(RUN[1]), json.dumps(READ[1])
RUN_ITEM, READ_ITEM = function_call("call_1", "run", COMMAND), function_call("call_2", "read", PATH)


def interleaved_items():
    """Two calls of the Responses API whose arguments alternate."""
    begun = [function_call("call_1", "run"), function_call("call_2", "read")]
    yield created()
    for place, item in enumerate(begun):
        yield response("output_item.added", output_index=place, item=item)
    for pair in zip(pieces_of(RUN[1]), pieces_of(READ[1]), strict=True):
        for place, piece in enumerate(pair):
            yield delta(piece, place)
    for place, item in enumerate((RUN_ITEM, READ_ITEM)):
        yield response("output_item.done", output_index=place, item=item)


def test_d1_parallel_calls_of_a_response_have_numbers_of_their_own():
    """A chat client adds up what has the same number: two calls under 0 are one broken call."""
    frames = [*interleaved_items(), completed([RUN_ITEM, READ_ITEM])]
    written = written_for(frames, "openai-responses", "openai-chat")
    numbered = {piece["id"]: piece["index"] for piece in call_deltas(written) if "id" in piece}
    assert numbered == {"call_1": 0, "call_2": 1}
    check(frames, "openai-responses", "openai-chat", calls=[RUN, READ], finish="tool_calls")


@pytest.mark.parametrize("front", FRONTS)
def test_d2_a_host_that_numbers_all_calls_0_and_repeats_them(front):
    """Id and name come again behind the arguments: that is neither a call nor more of a name."""
    frames = chat(
        calling(call("", id="call_1", name="run")),
        calling(call(COMMAND)),
        calling(call("", id="call_1", name="run")),
        calling(call("", id="call_2", name="read")),
        *[calling(call(piece)) for piece in pieces_of(READ[1])],
        calling(call("", id="call_2", name="read")),
    )
    check(frames, "openai-chat", front, calls=[RUN, READ], finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d2_closing_chunks_that_come_behind_all_calls(front):
    """An id that is known belongs to its call, also when another one has begun since."""
    frames = chat(
        calling(call(COMMAND, id="call_1", name="run")),
        calling(call(PATH, id="call_2", name="read")),
        calling(call("", id="call_1", name="run")),
        calling(call("", id="call_2", name="read")),
    )
    check(frames, "openai-chat", front, calls=[RUN, READ], finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d3_ollamas_own_lines(front):
    """All calls have the number 0, arguments are objects, and the reason is a plain stop."""
    frames = frames_of("ollama", calls=[RUN, READ], reason="stop")
    check(frames, "ollama", front, calls=[RUN, READ], finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d3_ollama_behind_a_host_of_chat_chunks(front):
    """The same in chunks, each with an id of its own for the response."""
    frames = [
        chunk({"role": "assistant", "tool_calls": [call(RUN[1], id="call_1", name="run")]}, "a"),
        chunk({"role": "assistant", "tool_calls": [call(READ[1], id="call_2", name="read")]}, "b"),
        chunk({"role": "assistant", "content": ""}, "c", finish_reason="stop"),
    ]
    check(frames, "openai-chat", front, calls=[RUN, READ], finish=WITH_CALLS[front])


def test_d3_lines_for_ollama_clients_are_numbered():
    """The numbers of a back that does not count are not handed on."""
    made = [
        {"function": {"index": 0, "name": name, "arguments": args}} for name, args in (RUN, READ)
    ]
    frames = [line({"tool_calls": made}), line({}, done=True, done_reason="stop")]
    written = written_for(frames, "ollama", "ollama")
    lines = [json.loads(one) for one in written.splitlines()]
    calls = [one for held in lines for one in held["message"].get("tool_calls", ())]
    assert [one["function"]["index"] for one in calls] == [0, 1]


@pytest.mark.parametrize("front", FRONTS)
def test_d4_arguments_that_alternate_between_calls(front):
    """A piece goes to the call that its number names, not to the one that began last."""
    begun = calling(call("", id="call_1", name="run"), call("", index=1, id="call_2", name="read"))
    pairs = zip(pieces_of(RUN[1]), pieces_of(READ[1]), strict=True)
    pieces = [calling(call(one), call(two, index=1)) for one, two in pairs]
    frames = chat(begun, *pieces)
    check(frames, "openai-chat", front, calls=[RUN, READ], finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d5_numbers_that_do_not_begin_at_0(front):
    """The host counts otherwise: its numbers only tell the calls apart."""
    frames = chat(
        calling(call("", index=3, id="call_1", name="run")),
        calling(call("", index=7, id="call_2", name="read")),
        *[calling(call(piece, index=3)) for piece in pieces_of(RUN[1])],
        *[calling(call(piece, index=7)) for piece in pieces_of(READ[1])],
    )
    check(frames, "openai-chat", front, calls=[RUN, READ], finish=WITH_CALLS[front])


def test_d5_a_chat_client_of_claude_counts_from_0():
    """Claude numbers all blocks; a chat client is sent the number among the calls."""
    held = [thought(0, "Hm."), words(1, "Let me."), use(2, "toolu_1", "run", COMMAND)]
    frames = message(*held, use(3, "toolu_2", "read", PATH), use(4, "toolu_3", "run", COMMAND))
    written = written_for(frames, "anthropic", "openai-chat")
    assert [piece["index"] for piece in call_deltas(written) if "id" in piece] == [0, 1, 2]
    calls = [RUN, READ, RUN]
    check(frames, "anthropic", "openai-chat", calls=calls, text="Let me.", finish="tool_calls")


@pytest.mark.parametrize("front", FRONTS)
def test_d6_calls_of_gemini_that_are_spread_over_chunks(front):
    """The second call comes later, behind a chunk with nothing in it but figures."""
    frames = [
        parts(function(*RUN)),
        b'data: {"usageMetadata": {"promptTokenCount": 1}}\n\n',
        parts(function(*READ)),
        parts({"text": ""}, finishReason="STOP"),
    ]
    check(frames, "gemini", front, calls=[RUN, READ], finish=WITH_CALLS[front])


@pytest.mark.parametrize(
    "before", [[], [words(0, "Let me.")], [thought(0, "Hm."), words(1, "Go.")]]
)
def test_d7_no_call_of_claude_is_lost_whatever_stands_before(before):
    """The number among the calls does not depend on how many other blocks there are."""
    at = len(before)
    frames = message(
        *before, use(at, "toolu_1", "run", COMMAND), use(at + 1, "toolu_2", "read", PATH)
    )
    written = written_for(frames, "anthropic", "openai-chat")
    assert [piece["index"] for piece in call_deltas(written) if "id" in piece] == [0, 1]
    text = ["", "Let me.", "Go."][at]
    check(frames, "anthropic", "openai-chat", calls=[RUN, READ], text=text, finish="tool_calls")


def test_d8_every_call_of_gemini_has_its_number_and_its_name():
    """Also the second and third in one chunk, which have no ids at all."""
    frames = [parts(function(*RUN), function(*READ), function(*RUN)), parts(finishReason="STOP")]
    written = written_for(frames, "gemini", "openai-chat")
    begun = [piece for piece in call_deltas(written) if "id" in piece]
    assert [(one["index"], one["function"]["name"]) for one in begun] == [
        (0, "run"), (1, "read"), (2, "run"),
    ]  # fmt: skip
    check(frames, "gemini", "openai-chat", calls=[RUN, READ, RUN], finish="tool_calls")


def test_d9_every_change_of_kind_ends_a_block_and_begins_the_next():
    """Thought, words, call, words, call: one block at a time, numbered without a gap."""
    frames = chat(
        chunk({"reasoning_content": "Hm."}),
        chunk({"content": "Let me."}),
        calling(call(COMMAND, id="call_1", name="run")),
        chunk({"content": "And"}),
        calling(call(PATH, index=1, id="call_2", name="read")),
    )
    written = written_for(frames, "openai-chat", "anthropic")
    assert follows_grammar(written)
    begun = [one for one in wire_events(written) if one["type"] == "content_block_start"]
    assert [(one["index"], one["content_block"]["type"]) for one in begun] == [
        (0, "thinking"), (1, "text"), (2, "tool_use"), (3, "text"), (4, "tool_use"),
    ]  # fmt: skip
    calls, text = [RUN, READ], "Let me.And"
    check(frames, "openai-chat", "anthropic", calls=calls, text=text, finish="tool_use")


@pytest.mark.parametrize("front", FRONTS)
def test_d10_the_last_event_repeats_the_calls(front):
    """The end of the response has them once more, and its arguments name no place."""
    frames = [
        *interleaved_items(),
        response("function_call_arguments.done", item_id="fc_call_2", arguments=PATH),
        completed([RUN_ITEM, READ_ITEM]),
    ]
    check(frames, "openai-responses", front, calls=[RUN, READ], finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d10_the_last_event_repeats_a_call_under_another_item_id(front):
    """Hosts make new ids for items; the id of the call is the one that counts."""
    again = [RUN_ITEM | {"id": "fc_other"}, READ_ITEM | {"id": "fc_more"}]
    frames = [*interleaved_items(), completed(again)]
    check(frames, "openai-responses", front, calls=[RUN, READ], finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("pieces", [True, False])
def test_d11_the_whole_arguments_behind_their_pieces(front, pieces):
    """`done` says all pieces once more. Where there were none, it is the only one to say them."""
    frames = [
        created(),
        response("output_item.added", output_index=0, item=function_call("call_1", "run")),
        *[delta(piece, 0) for piece in pieces_of(RUN[1]) if pieces],
        response("function_call_arguments.done", output_index=0, arguments=COMMAND),
        response("output_item.done", output_index=0, item=RUN_ITEM),
        completed([RUN_ITEM]),
    ]
    check(frames, "openai-responses", front, calls=[RUN], finish=WITH_CALLS[front])


def test_d11_a_responses_client_gets_the_pieces_and_the_same_as_a_whole():
    """Claude's JSON has blanks; what is given as whole is exactly what the pieces make."""
    frames = frames_of("anthropic", calls=[RUN], reason="tool_use")
    written, _ = passed_on(frames, "anthropic", "openai-responses")
    said = [one for one in sse_data(written) if "function_call_arguments" in one["type"]]
    *pieces, whole = said
    assert "".join(one["delta"] for one in pieces) == whole["arguments"] == COMMAND
