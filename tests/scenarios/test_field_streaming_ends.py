"""Streams that break off, start twice, come in one lump: D20 and D23 to D32 of the catalogue."""

import json

import pytest

from batches import each
from canonicall.verify import verify_stream
from judges.anthropic_stream import accumulated, follows_grammar, wire_events
from scenarios.finish_support import FRONTS, WITH_CALLS
from scenarios.streaming_support import (
    call_deltas,
    check,
    has_failed,
    is_whole,
    live,
    passed_on,
    written_for,
)
from scenarios.upstreams import (
    DONE,
    READ,
    RUN,
    block,
    call,
    calling,
    chat,
    chunk,
    created,
    frames_of,
    function,
    message,
    message_start,
    parts,
    pieces_of,
    sse,
    thought,
    use,
    words,
)

COMMAND, PATH = json.dumps(RUN[1]), json.dumps(READ[1])
TERMINAL = {
    "openai-chat": 2, "openai-responses": 1, "anthropic": 2, "gemini": 1, "bedrock": 2,
    "cohere": 2, "ollama": 1,
}  # fmt: skip
"""How many frames at the end of a stream say that it is whole."""


def broken(frames, back, front):
    """What a client is sent for a stream that broke off: it is told so, whatever it has got."""
    written, ended = passed_on(frames, back, front)
    assert not ended.complete
    assert ended.reply.message.partial
    assert [str(one) for one in verify_stream(written, front)] == []
    assert not is_whole(written, front)
    assert has_failed(written, front)
    return written, ended.reply


@each("front", FRONTS)
@each("back", FRONTS)
def test_d20_a_stream_that_breaks_off_anywhere_is_not_complete(back, front):
    """In front of its first frame, within its arguments, just before its end."""
    frames = frames_of(back, text="Let |me.", calls=[RUN, READ], reason=WITH_CALLS[back])
    for count in range(len(frames) - TERMINAL[back] + 1):
        broken(frames[:count], back, front)


@pytest.mark.parametrize(
    "back", ["openai-chat", "openai-responses", "anthropic", "bedrock", "cohere"]
)
def test_d20_a_call_that_was_cut_is_marked_and_never_done(back):
    """Codex runs an item once it is done: one whose arguments were cut never is."""
    frames = frames_of(back, calls=[RUN], reason=WITH_CALLS[back])
    piece = json.dumps(pieces_of(RUN[1])[0]).encode()
    first = next(number for number, frame in enumerate(frames) if piece in frame)
    written, reply = broken(frames[: first + 1], back, "openai-responses")
    assert [one.truncated for one in reply.calls] == [True]
    assert b"response.output_item.done" not in written
    assert b"response.function_call_arguments.done" not in written
    (item,) = json.loads(written.split(b"data: ")[-1])["response"]["output"]
    assert item["status"] == "incomplete"


@pytest.mark.parametrize("back", FRONTS)
def test_d23_a_message_starts_once(back):
    """Also where the back starts it twice: a role in every chunk, a response created again."""
    begun = {
        "openai-chat": chunk({"role": "assistant", "content": ""}),
        "openai-responses": created(),
        "anthropic": message_start(),
    }
    frames = frames_of(back, text="Hi.", calls=[RUN], reason=WITH_CALLS[back])
    again = begun.get(back, frames[0] if back in ("bedrock", "cohere") else b"")
    frames = [frames[0], again, *frames[1:2], again, *frames[2:]]
    written = written_for(frames, back, "anthropic")
    assert [one["type"] for one in wire_events(written)].count("message_start") == 1
    check(frames, back, "anthropic", calls=[RUN], text="Hi.", finish="tool_use")


FOUND = {"type": "web_search_result", "url": "https://a.example", "title": "A"}
SEARCHED = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}
SEARCHED["content"] = [FOUND | {"encrypted_content": "abc", "page_age": None}]


def searching(numbers):
    """Claude searches by itself, then says something, then calls."""
    at = iter(numbers)
    asked = use(next(at), "srvtoolu_1", "web_search", '{"query": "a"}', kind="server_tool_use")
    result = block(next(at), SEARCHED)
    said = words(next(at), "Found.")
    return message(asked, result, said, use(next(at), "toolu_1", "run", COMMAND))


@pytest.mark.parametrize("numbers", [[0, 1, 2, 3], [0, 1, 3, 5]])
@pytest.mark.parametrize("front", FRONTS)
def test_d24_server_tools_are_no_calls_and_leave_no_gap(front, numbers):
    """The client runs its own call only, and its blocks are counted without a gap."""
    frames = searching(numbers)
    end = WITH_CALLS[front]
    check(frames, "anthropic", front, calls=[RUN], text="Found.", finish=end)


def test_d24_a_claude_client_gets_the_servers_blocks_as_they_are():
    written = written_for(searching([0, 1, 3, 5]), "anthropic", "anthropic")
    asked, result, *_ = accumulated(written)["content"]
    assert (asked["type"], asked["input"]) == ("server_tool_use", {"query": "a"})
    assert result["content"][0]["url"] == "https://a.example"


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("together", [True, False])
def test_d25_several_calls_of_gemini_behind_words(front, together):
    """In one chunk with the words or in later ones: all are there with their arguments."""
    held = [{"text": "Let me."}, function(*RUN), function(*READ)]
    frames = [parts(*held)] if together else [parts(one) for one in held]
    frames.append(parts({"text": ""}, finishReason="STOP"))
    calls = [RUN, READ]
    check(frames, "gemini", front, calls=calls, text="Let me.", finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d26_what_gemini_streams_is_passed_on_chunk_by_chunk(front):
    """Thoughts and words in the feed that brings them; a call at the latest with the next one."""
    frames = [
        parts({"text": "Hmm", "thought": True}),
        parts({"text": "One"}),
        parts({"text": "Two"}, thoughtSignature="c2ln"),
        parts(function(*RUN, thoughtSignature="c2ln")),
        parts({"text": ""}, finishReason="STOP"),
    ]
    hmm, one, two, called, ended = live(frames, "gemini", front)
    assert b"Hmm" in hmm
    assert b"One" in one
    assert b"Two" in two
    assert b"ls -la" in (called + ended if front in ("gemini", "ollama") else called)


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_d27_reasoning_beside_calls(front, field):
    """A client gets both, and none of the reasoning as words."""
    frames = chat(
        chunk({field: "I had "}),
        chunk({field: "better look."}),
        calling(call(COMMAND, id="call_1", name="run")),
    )
    thoughts, end = "I had better look.", WITH_CALLS[front]
    check(frames, "openai-chat", front, calls=[RUN], thoughts=thoughts, finish=end)


def test_d28_the_same_generation_is_the_same_for_a_claude_client():
    """vLLM's chunks, translated, against the events that the Messages API has for it.

    Blocks in a row, each begun, added to and stopped; no empty piece of words; the reason and the
    figures, then the end. Only ids and the seal of the thought, which vLLM has not, may differ.
    """
    usage = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    first, rest = pieces_of(RUN[1])
    chunks = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "Hm."}),
        chunk({"content": "Let "}),
        chunk({"content": "me."}),
        calling(call("", id="chatcmpl-tool-1", name="run")),
        calling(call(first)),
        calling(call(rest)),
        chunk({}, finish_reason="tool_calls", stop_reason=None),
        sse({"id": "chatcmpl-1", "model": "m", "choices": [], "usage": usage}),
        DONE,
    ]
    written = written_for(chunks, "openai-chat", "anthropic")
    own = b"".join(
        message(
            thought(0, "Hm."),
            words(1, "Let ", "me."),
            use(2, "toolu_1", "run", first, rest),
        )
    )
    assert follows_grammar(written)

    def course(stream):
        """The events without what only the provider can make."""
        shown = [(one["type"], one.get("index"), one.get("delta")) for one in wire_events(stream)]
        return [one for one in shown if (one[2] or {}).get("type") != "signature_delta"][:-2]

    assert course(written) == course(own)
    theirs, ours = accumulated(own), accumulated(written)
    assert ours["stop_reason"] == theirs["stop_reason"] == "tool_use"
    assert ours["usage"]["input_tokens"] == 9
    assert ours["usage"]["output_tokens"] == 7


@pytest.mark.parametrize("front", FRONTS)
def test_d29_blocks_do_not_overlap_and_calls_without_arguments_are_closed(front):
    """Three calls in one chunk, behind words that nobody ended; two of them without arguments."""
    frames = chat(
        chunk({"content": "Go."}),
        calling(
            call("", id="call_1", name="status"),
            call("", index=1, id="call_2", name="run"),
            call(index=2, id="call_3", name="status"),
        ),
        calling(call(COMMAND, index=1)),
    )
    calls = [("status", {}), RUN, ("status", {})]
    check(frames, "openai-chat", front, calls=calls, text="Go.", finish=WITH_CALLS[front])


@pytest.mark.parametrize("front", FRONTS)
def test_d30_a_host_that_closes_without_a_reason(front):
    """The client is told that it broke, and what it had got until then is kept."""
    frames = chat(chunk({"content": "Let me."}), calling(call(COMMAND, id="call_1", name="run")))
    _, reply = broken(frames[:-2], "openai-chat", front)
    assert reply.message.text == "Let me."
    assert [one.truncated for one in reply.calls] == [True]


@pytest.mark.parametrize("front", FRONTS)
def test_d30_a_host_that_says_done_without_a_reason(front):
    """`[DONE]` is the end that the host has; the reason is the one that the calls give."""
    frames = chat(calling(call(COMMAND, id="call_1", name="run")))
    del frames[-2]
    check(frames, "openai-chat", front, calls=[RUN], finish=WITH_CALLS[front])


@pytest.mark.parametrize("name", ["", None])
@pytest.mark.parametrize("front", FRONTS)
def test_d31_an_empty_name_does_not_take_the_place_of_the_name(front, name):
    """Nor does an empty id. What is absent is absent for a chat client, not empty."""
    piece = {"index": 0, "id": name, "function": {"name": name, "arguments": COMMAND}}
    frames = chat(calling(call("", id="call_1", name="run")), calling(piece))
    check(frames, "openai-chat", front, calls=[RUN], finish=WITH_CALLS[front])
    if front == "openai-chat":
        first, *rest = call_deltas(written_for(frames, "openai-chat", front))
        assert (first["id"], first["function"]["name"]) == ("call_1", "run")
        assert all("id" not in one and "name" not in one["function"] for one in rest)


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("numbered", [True, False])
def test_d32_two_choices_are_not_mixed(front, numbered):
    """The client gets the first one; the calls of the other are neither in it nor lost unsaid."""

    def pair(one, two, **choice):
        held = [{"delta": one, **choice}, {"delta": two, **choice}]
        if numbered:
            held = [{**choice, "index": index} for index, choice in enumerate(held)]
        return sse({"id": "chatcmpl-1", "model": "m", "choices": held})

    frames = [
        pair({"role": "assistant"}, {"role": "assistant"}),
        pair(
            {"tool_calls": [call(COMMAND, id="call_1", name="run")]},
            {"tool_calls": [call(PATH, id="call_2", name="read")]},
        ),
        pair({}, {"content": "Hm."}),
        pair({}, {}, finish_reason="tool_calls"),
        DONE,
    ]
    check(frames, "openai-chat", front, calls=[RUN], finish=WITH_CALLS[front])
    _, ended = passed_on(frames, "openai-chat", front)
    assert "choices" in " ".join(str(one) for one in ended.reply.findings)


def test_d32_choices_that_come_one_by_one():
    """A chunk for each, told apart by their numbers."""
    frames = [
        chunk({"role": "assistant"}),
        chunk({"role": "assistant"}, index=1),
        chunk({"tool_calls": [call(PATH, id="call_2", name="read")]}, index=1),
        chunk({"tool_calls": [call(COMMAND, id="call_1", name="run")]}),
        chunk({}, index=1, finish_reason="tool_calls"),
        chunk({}, finish_reason="tool_calls"),
        DONE,
    ]
    check(frames, "openai-chat", "openai-chat", calls=[RUN], finish="tool_calls")
