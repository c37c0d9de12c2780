"""A stream of a back goes to a client of a front: what is written, and what the client makes of it.

The clients are the official SDKs, over faked bytes; Ollama's lines are read by hand. What the SDKs
give is brought to one shape here, and nothing more: none of our own decoders reads it.
"""

import json
from typing import Any, NamedTuple

from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.events import StreamEnded
from canonicall.verify import StreamChecker, verify_stream
from genai_reader import genai, read_with_genai
from judges import anthropic_stream, chat_stream, cohere_stream, converse_stream, responses_stream
from scenarios.through_gateway import stream_through


class Seen(NamedTuple):
    """What a client has got: calls with their arguments, words, why it ended, thoughts."""

    calls: list[tuple[str, Any]]
    text: str
    finish: str
    thoughts: str = ""
    ids: list[str] = []  # noqa: RUF012  read only


def passed_on(frames, back, front):
    """The bytes for the client: the same, however those of the back are split."""
    data = b"".join(frames)
    single = [data[at : at + 1] for at in range(len(data))]
    (written, ended), (again, _), (whole, _) = (
        _fed(split, back, front) for split in (frames, single, [data])
    )
    assert written == again == whole
    return written, ended


def _fed(split, back, front):
    decoder, encoder = StreamDecoder(back), StreamEncoder(front)
    events = [event for data in split for event in decoder.feed(data)] + decoder.close()
    assert isinstance(events[-1], StreamEnded)
    return encoder.feed_all(events) + encoder.close(), events[-1]


def written_for(frames, back, front):
    """The bytes of a whole reply, in the grammar of the front."""
    written, _ = passed_on(frames, back, front)
    assert [str(one) for one in verify_stream(written, front)] == []
    assert is_whole(written, front)
    return written


def received(frames, back, front):
    """What a client of the front has got in the end; the same through a running gateway, whose
    calls have ids of their own."""
    seen = READERS[front](written_for(frames, back, front))
    through = stream_through(frames, back, front)
    if through is not None:
        assert [str(one) for one in verify_stream(through, front)] == []
        assert READERS[front](through)[:4] == seen[:4]
    return seen


def check(frames, back, front, *, calls=(), text="", thoughts="", finish):
    """The client has got exactly this. Returns the ids of the calls, which are all different."""
    seen = received(frames, back, front)
    assert seen[:3] == (list(calls), text, finish)
    assert not thoughts or seen.thoughts == thoughts
    assert front in ("gemini", "ollama") or all(seen.ids)
    assert len(set(seen.ids)) == len(seen.ids) or not any(seen.ids)
    return seen.ids


def is_whole(data, front):
    """Whether the stream has the end of a whole reply."""
    checker = StreamChecker(front)
    checker.feed(data)
    checker.close()
    return checker.complete


def live(frames, back, front):
    """What the client is sent for each frame of the back, at once."""
    decoder, encoder = StreamDecoder(back), StreamEncoder(front)
    return [encoder.feed_all(decoder.feed(frame)) for frame in frames]


def has_failed(data, front):
    """Whether the official client tells its user that the reply did not get to its end."""
    try:
        seen = READERS[front](data)
    except ERRORS[front]:
        return True
    return seen.finish in ("error", "ERROR", "failed", "incomplete")


def sse_data(stream):
    """The payloads of server-sent events."""
    found = [line[6:] for line in stream.decode().split("\n") if line.startswith("data: ")]
    return [json.loads(data) for data in found if data != "[DONE]"]


def call_deltas(stream):
    """Every piece of a call that a chat client is sent."""
    choices = [choice for data in sse_data(stream) for choice in data["choices"]]
    return [piece for choice in choices for piece in choice["delta"].get("tool_calls", ())]


# The clients.


def _read(arguments):
    """The arguments as a client parses them; those that are cut stay text."""
    try:
        return json.loads(arguments)
    except json.JSONDecodeError:
        return arguments


def _chat(data):
    # Others go back to who speaks this format; everybody reads the first.
    choice = chat_stream.accumulated(data)["choices"][0]
    said = choice["message"]
    calls = said.get("tool_calls") or []
    return Seen(
        [(one["function"]["name"], _read(one["function"]["arguments"])) for one in calls],
        said.get("content") or "",
        choice["finish_reason"],
        said.get("reasoning_content") or said.get("reasoning") or "",
        [one["id"] for one in calls],
    )


def _responses(data):
    whole = responses_stream.accumulated(data)
    calls, said, thoughts = responses_stream.reading(whole)
    cut = whole.incomplete_details
    return Seen(
        [(name, _read(arguments)) for _, name, arguments in calls],
        "".join(said),
        (cut and cut.reason) or whole.status,
        "".join(thoughts),
        [id for id, _, _ in calls],
    )


def _anthropic(data):
    whole = anthropic_stream.accumulated(data)
    held = whole["content"]
    uses = [one for one in held if one["type"] == "tool_use"]
    return Seen(
        [(one["name"], one["input"]) for one in uses],
        "".join(one["text"] for one in held if one["type"] == "text"),
        whole["stop_reason"],
        "".join(one["thinking"] for one in held if one["type"] == "thinking"),
        [one["id"] for one in uses],
    )


def _gemini(data):
    read = read_with_genai(data)
    calls = [(name, arguments) for _, name, arguments in read.calls]
    return Seen(calls, read.text, read.finish, read.thoughts, [id for id, _, _ in read.calls])


def _bedrock(data):
    events = converse_stream.sdk_events(data)
    converse_stream.check_grammar(events)
    read = converse_stream.accumulated(events)
    return Seen(
        [(name, _read(given)) for _, name, given in read["calls"]],
        "".join(read["text"]),
        read["stop"],
        "".join(text for text, _ in read["thoughts"]),
        [id for id, _, _ in read["calls"]],
    )


def _cohere(data):
    events = cohere_stream.sdk_events(data)
    if events[-1].delta.finish_reason != "ERROR":
        cohere_stream.check_grammar(events)
    read = cohere_stream.accumulated(events)
    return Seen(
        [(name, _read(given)) for _, name, given in read["calls"]],
        read["plan"] + "".join(read["text"]),
        read["finish"],
        "".join(read["thoughts"]),
        [id for id, _, _ in read["calls"]],
    )


class LineFailed(Exception):
    """A line of Ollama's that has an error instead of a message."""


def _ollama(data):
    lines = [json.loads(line) for line in data.splitlines()]
    if any("error" in line for line in lines):
        raise LineFailed
    said = [line["message"] for line in lines]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    calls = [call["function"] for one in said for call in one.get("tool_calls", ())]
    return Seen(
        [(call["name"], call["arguments"]) for call in calls],
        "".join(one["content"] for one in said),
        lines[-1]["done_reason"],
        "".join(one.get("thinking", "") for one in said),
    )


READERS = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "cohere": _cohere,
    "ollama": _ollama,
}
ERRORS = {
    "openai-chat": chat_stream.openai.APIError,
    "openai-responses": responses_stream.openai.APIError,
    "anthropic": anthropic_stream.anthropic.APIError,
    "gemini": genai.errors.APIError,
    "bedrock": converse_stream.eventstream.EventStreamError,
    "cohere": (),
    "ollama": LineFailed,
}
