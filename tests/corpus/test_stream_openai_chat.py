"""Recorded streams of chat completions, read in two ways, cut anywhere, and written again.

The second way is the accumulator of OpenAI's own SDK. It was made for OpenAI's streams: the three
whose chunks make it fail are read by `plain_reading`, a few lines that look at the JSON only.
"""

import json
import random
import warnings
from functools import cache, partial

import httpx
import pytest
from msgspec.structs import replace
from openai import OpenAI
from openai._models import construct_type
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from batches import each
from canonicall import (
    BlockEnded,
    BlockStarted,
    StreamEncoder,
    Text,
    fold,
    verify_stream,
)
from canonicall.folding import Folder
from corpus.support import needs_corpus

from streaming import events_in, pieces_of, recorded_streams, sized

pytestmark = needs_corpus

# A call without an index (Mistral), citations without one (OpenRouter), a type of null (Writer).
NOT_FOR_THE_SDK = (
    "vercel/ai:packages/mistral/src/__fixtures__/mistral-tool-call.chunks.txt#0",
    "pydantic/pydantic-ai:tests/models/cassettes/test_openrouter/test_openrouter_web_search_annotations_stream.yaml#0",
    "traceloop/openllmetry:packages/opentelemetry-instrumentation-writer/tests/cassettes/test_chat/test_writer_async_streaming_chat_multiple_tool_call_requests_legacy.yaml#0",
)


@cache
def streams():
    return [(id, data) for id, _, data in recorded_streams("openai-chat")]


decoded = partial(events_in, "openai-chat")


def chunks_of(stream):
    """The JSON of every frame, found without the decoder: each has one line of data."""
    for line in stream.decode().split("\n"):
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


# The other readings: words, calls and the finish reason of the first choice.


def sdk_reading(chunks):
    state = ChatCompletionStreamState()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # content in lists is news to the SDK's types
        for chunk in chunks:
            state.handle_chunk(construct_type(type_=ChatCompletionChunk, value=chunk))
    choice = state.current_completion_snapshot.choices[0]
    calls = [
        (call.id, call.function.name, call.function.arguments or "")
        for call in choice.message.tool_calls or []
    ]
    return choice.message.content or "", calls, choice.finish_reason


def plain_reading(chunks):
    words, finish, calls = "", None, {}
    for chunk in chunks:
        for choice in chunk.get("choices") or []:
            finish = choice.get("finish_reason") or finish
            words += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls") or []:
                function = piece.get("function") or {}
                call = calls.setdefault(piece.get("index", 0), ["", "", ""])
                call[0] = call[0] or piece.get("id") or ""
                call[1] = call[1] or function.get("name") or ""
                call[2] += function.get("arguments") or ""
    return words, [tuple(call) for call in calls.values()], finish


def expected_finish(chunks, calls, finish):
    """The calls count more than the host's word, a limit more than both."""
    natives = [
        choice.get("native_finish_reason")
        for chunk in chunks
        for choice in chunk.get("choices") or []
    ]
    if {"length", "max_output_tokens"} & {finish, *natives}:
        return "length"
    return "tool_calls" if calls else finish or ""


def reading_of(reply):
    words = "".join(block.text for block in reply.message.blocks if isinstance(block, Text))
    return words, [(call.id, call.name, call.raw or "") for call in reply.calls]


def last_usage(chunks):
    """The last figures that came, wherever the host puts them."""
    found = [chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage") for chunk in chunks]
    return next(filter(None, reversed(found)), None)


def test_the_corpus_is_really_read():
    assert len(streams()) == 406


@each("id, data", streams)
def test_every_stream_says_what_the_sdk_reads(id, data):
    chunks = list(chunks_of(data))
    read = plain_reading if id in NOT_FOR_THE_SDK else sdk_reading
    words, calls, finish = read(chunks)
    reply = fold(decoded(data))
    assert reading_of(reply) == (words, calls)
    assert reply.finish == expected_finish(chunks, calls, finish)


@pytest.mark.parametrize("id", NOT_FOR_THE_SDK)
def test_the_plain_reader_is_used_only_where_the_sdk_fails(id):
    with pytest.raises((TypeError, RuntimeError, AssertionError)):
        sdk_reading(chunks_of(dict(streams())[id]))


def test_every_usage_is_read():
    count = 0
    for id, data in streams():
        raw = last_usage(list(chunks_of(data)))
        usage = fold(decoded(data)).usage
        assert (usage is None) == (raw is None), id
        if raw is not None:
            count += 1
            assert usage.input_tokens == raw["prompt_tokens"], id
            assert usage.native == raw, id
            if raw.get("total_tokens"):
                assert usage.input_tokens + usage.output_tokens == raw["total_tokens"], id
    assert count > 300


@each("id, data", streams)
def test_any_split_gives_the_same_events(id, data):
    """Three random cuts of every stream: some fall into a line end, some into a character."""
    chance = random.Random(id)  # noqa: S311  the same cuts in every run
    whole = decoded(data)
    for _ in range(3):
        cuts = [chance.randrange(len(data) + 1) for _ in range(chance.randrange(1, 40))]
        assert decoded(*pieces_of(data, cuts)) == whole


@pytest.mark.deep
@each("id, data", lambda: streams()[1::3])
def test_single_bytes_give_the_same_events(id, data):
    """Every third stream, not the ones that all formats are read in so (test_stream_splits.py)."""
    assert decoded(*sized(data, 1)) == decoded(data)


@each("id, data", streams)
def test_the_events_before_the_end_say_what_the_reply_says(id, data):
    """Blocks stand in the order of their arrival there, and in the format's own in the reply."""
    *events, end = decoded(data)
    folder = Folder()
    for event in events:
        folder.add(event)
    shown, reply = folder.reply, end.reply
    assert reading_of(shown) == reading_of(reply)
    assert shown.usage == reply.usage
    assert shown.finish == reply.finish
    for before, after in zip(shown.calls, reply.calls, strict=True):
        # A call that is still open has no arguments where none came.
        before = replace(before, raw=before.raw or after.raw)  # noqa: PLW2901
        assert replace(before, truncated=after.truncated) == after


@each("id, data", streams)
def test_every_block_that_starts_ends_where_the_stream_is_complete(id, data):
    events = decoded(data)
    started = [event.index for event in events if isinstance(event, BlockStarted)]
    ended = [event.index for event in events if isinstance(event, BlockEnded)]
    assert started == list(range(len(started)))
    assert events[-1].complete
    assert set(ended) <= set(started)
    unended = [index for index in started if index not in ended]
    if unended:
        # The token limit cut it off.
        assert unended == started[-1:]
        assert events[-1].reply.finish == "length"
        assert events[-1].reply.calls[-1].truncated


@each("id, data", lambda: [one for one in streams() if b'"tool_calls"' in one[1]])
def test_a_stream_cut_behind_any_frame_has_no_call_that_may_be_run_unseen(id, data):
    """The last call is marked, and what is not marked is as it will be."""
    final = fold(decoded(data)).calls
    frames = data.split(b"\n\n")
    step = max(1, len(frames) // 20)
    for count in range(1, len(frames), step):
        end = decoded(b"\n\n".join(frames[:count]) + b"\n\n")[-1]
        for call, whole in zip(end.reply.calls, final, strict=False):
            assert end.complete or call.truncated or call == whole


# Written again, and read by the SDK's client from the bytes on.


@cache
def client():
    def answer(request):
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, content=client().answer, headers=headers)

    return OpenAI(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(answer)))


def client_reading(data):
    """What a user of the SDK has in the end."""
    client().answer = data
    state = ChatCompletionStreamState()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # as above: content in lists
        for chunk in client().chat.completions.create(model="m", messages=[], stream=True):
            assert_typed(chunk.to_dict())
            state.handle_chunk(chunk)
    completion = state.current_completion_snapshot
    choice = completion.choices[0]
    calls = [
        (call.id, call.function.name, call.function.arguments)
        for call in choice.message.tool_calls or []
    ]
    return choice.message.content or "", calls, choice.finish_reason, completion.usage


def assert_typed(chunk):
    """The chunk is what the SDK's types say, but for what is the host's own."""
    for choice in chunk["choices"]:
        if isinstance(choice["delta"].get("content"), list):
            del choice["delta"]["content"]
    chunk.pop("service_tier", None)
    ChatCompletionChunk.model_validate(chunk)


def excused(reply, written):
    """What is not OpenAI's: arguments as the model wrote them, reasoning in Mistral's content."""
    codes = set()
    # Groq's Llama writes null where there are none, others broke off in the middle.
    if any(parse_strictly(call.raw) is None for call in reply.calls):
        codes.add("arguments_not_json")
    if b'"content":[{"type":"thinking"' in written:
        codes.add("frame_malformed")
    return codes


def parse_strictly(raw):
    """The object that the arguments are, None if they are something else."""
    try:
        value = json.loads(raw or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


@pytest.mark.deep
@each("id, data", streams)
def test_every_stream_written_again_is_read_by_the_sdk(id, data):
    """The same words and calls; calls without arguments have some. The judge finds nothing."""
    events = decoded(data)
    reply = events[-1].reply
    written = StreamEncoder("openai-chat").feed_all(events)
    assert set(verify_stream(written, "openai-chat").counts) <= excused(reply, written)
    words, calls, finish, usage = client_reading(written)
    # Groq's llama says null for no arguments.
    none = ("", None, "null")
    expected = [
        (call.id, call.name, "{}" if call.raw in none and not call.truncated else call.raw)
        for call in reply.calls
    ]
    assert (words, calls) == (reading_of(reply)[0], expected)
    assert finish == (reply.finish or "stop")
    assert (usage is None) == (reply.usage is None)
