"""Streams of every back, of our own making, as the list of their frames.

`frames_of` says the same thing in every format: words, then calls whose arguments come in pieces
where the format has pieces. The builders below it make one frame each, for streams that are dirty
in a way of their own.
"""

import json

from canonicall.framing.eventstream import write_frame

DONE = b"data: [DONE]\n\n"
RUN = ("run", {"command": "ls -la"})
READ = ("read", {"path": "a\\b.txt", "lines": [1, 2]})


def sse(data, name=""):
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def pieces_of(arguments):
    """The JSON of some arguments, in two pieces."""
    text = json.dumps(arguments)
    return [text[:4], text[4:]]


def frames_of(back, *, text="", calls=(), reason):
    """A clean stream of `back`."""
    return _MADE[back](text, [(f"call_{n}", *call) for n, call in enumerate(calls)], reason)


# Chat chunks.


def chunk(delta, id="chatcmpl-1", **choice):
    held = {"index": 0, "delta": delta, "finish_reason": None} | choice
    fields = {"id": id, "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return sse(fields | {"choices": [held]})


def call(arguments=None, *, index=0, id=None, name=None):
    """The piece of a call in a delta; what is None is left out."""
    function = {"name": name, "arguments": arguments}
    piece = {"index": index, "id": id, "type": "function" if id else None}
    piece["function"] = {field: value for field, value in function.items() if value is not None}
    return {field: value for field, value in piece.items() if value is not None}


def calling(*pieces):
    """A chunk with pieces of calls."""
    return chunk({"tool_calls": list(pieces)})


def chat(*frames, finish="tool_calls"):
    """A stream of chat chunks: the role, the frames, the reason, the last line."""
    begin = chunk({"role": "assistant", "content": ""})
    return [begin, *frames, chunk({}, finish_reason=finish), DONE]


def _chat(text, calls, reason):
    frames = [chunk({"content": piece}) for piece in text.split("|") if piece]
    for index, (id, name, arguments) in enumerate(calls):
        frames.append(calling(call("", index=index, id=id, name=name)))
        frames += [calling(call(piece, index=index)) for piece in pieces_of(arguments)]
    return chat(*frames, finish=reason)


# Events of the Responses API.


def response(kind, **fields):
    """An event; what stands in it is given."""
    return sse({"type": f"response.{kind}", **fields}, f"response.{kind}")


def function_call(id, name, arguments="", status="completed"):
    item = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name}
    return item | {"arguments": arguments, "status": status}


def spoken(text):
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return item | {"content": [part] if text else []}


def created():
    body = {"id": "resp_1", "object": "response", "model": "m", "status": "in_progress"}
    return response("created", response=body | {"output": []})


def completed(output=(), **fields):
    body = {"id": "resp_1", "object": "response", "model": "m", "status": "completed"}
    return response("completed", response=body | {"output": list(output)} | fields)


def delta(text, place):
    return response("function_call_arguments.delta", output_index=place, delta=text)


def _responses(text, calls, reason):
    frames, output = [created()], []
    if text:
        frames.append(response("output_item.added", output_index=0, item=spoken("")))
        said = text.split("|")
        frames += [response("output_text.delta", output_index=0, delta=piece) for piece in said]
        output.append(spoken("".join(said)))
        frames.append(response("output_item.done", output_index=0, item=output[-1]))
    for id, name, arguments in calls:
        place = len(output)
        begun = function_call(id, name, status="in_progress")
        output.append(function_call(id, name, json.dumps(arguments)))
        frames.append(response("output_item.added", output_index=place, item=begun))
        frames += [delta(piece, place) for piece in pieces_of(arguments)]
        frames.append(response("output_item.done", output_index=place, item=output[-1]))
    if reason == "completed":
        return [*frames, completed(output)]
    cut = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    body = {"id": "resp_1", "object": "response", "model": "m", "output": output}
    return [*frames, response("incomplete", response=body | cut)]


# Events of the Messages API.


def event(kind, **fields):
    return sse({"type": kind, **fields}, kind)


def message_start():
    usage = {"input_tokens": 1, "output_tokens": 0}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    return event("message_start", message=message | {"content": [], "usage": usage})


def block(index, start, *deltas):
    """A content block from its start to its stop."""
    frames = [event("content_block_start", index=index, content_block=start)]
    frames += [event("content_block_delta", index=index, delta=one) for one in deltas]
    return [*frames, event("content_block_stop", index=index)]


def words(index, *said):
    deltas = [{"type": "text_delta", "text": piece} for piece in said]
    return block(index, {"type": "text", "text": ""}, *deltas)


def thought(index, *said):
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in said]
    sealed = {"type": "signature_delta", "signature": "c2VhbA=="}
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, sealed)


def use(index, id, name, *said, kind="tool_use"):
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in said]
    return block(index, {"type": kind, "id": id, "name": name, "input": {}}, *deltas)


def message(*blocks, reason="tool_use"):
    """A stream of the Messages API around whole blocks."""
    end = event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 5})
    inner = [frame for one in blocks for frame in one]
    return [message_start(), *inner, end, event("message_stop")]


def _anthropic(text, calls, reason):
    blocks = [words(0, *text.split("|"))] if text else []
    for id, name, arguments in calls:
        blocks.append(use(len(blocks), id, name, "", *pieces_of(arguments)))
    return message(*blocks, reason=reason)


# Chunks of Gemini, lines of Ollama, events of Converse and of Cohere.


def parts(*held, **candidate):
    """A chunk of Gemini's."""
    content = {"role": "model", "parts": list(held)}
    return sse({"candidates": [{"content": content, "index": 0} | candidate], "modelVersion": "m"})


def function(name, arguments, **part):
    return {"functionCall": {"name": name, "args": arguments}, **part}


def _gemini(text, calls, reason):
    frames = [parts({"text": piece}) for piece in text.split("|") if piece]
    frames += [parts(function(name, arguments)) for _, name, arguments in calls]
    return [*frames, parts({"text": ""}, finishReason=reason)]


def line(message, **fields):
    """A line of Ollama's."""
    said = {"role": "assistant", "content": ""} | message
    whole = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": said, "done": False}
    return json.dumps(whole | fields).encode() + b"\n"


def _ollama(text, calls, reason):
    frames = [line({"content": piece}) for piece in text.split("|") if piece]
    for _, name, arguments in calls:
        made = {"function": {"index": 0, "name": name, "arguments": arguments}}
        frames.append(line({"tool_calls": [made]}))
    return [*frames, line({}, done=True, done_reason=reason)]


def aws(kind, **fields):
    """A frame of ConverseStream."""
    return write_frame(kind, json.dumps(fields).encode())


def _bedrock(text, calls, reason):
    frames, place = [aws("messageStart", role="assistant")], 0
    if text:
        said = [{"text": piece} for piece in text.split("|")]
        frames += [aws("contentBlockDelta", contentBlockIndex=0, delta=one) for one in said]
        frames.append(aws("contentBlockStop", contentBlockIndex=0))
        place = 1
    for at, (id, name, arguments) in enumerate(calls, start=place):
        start = {"toolUse": {"toolUseId": id, "name": name}}
        frames.append(aws("contentBlockStart", contentBlockIndex=at, start=start))
        for piece in pieces_of(arguments):
            given = {"toolUse": {"input": piece}}
            frames.append(aws("contentBlockDelta", contentBlockIndex=at, delta=given))
        frames.append(aws("contentBlockStop", contentBlockIndex=at))
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    ended = aws("metadata", usage=usage, metrics={"latencyMs": 1})
    return [*frames, aws("messageStop", stopReason=reason), ended]


def cohere(kind, index=None, **said):
    """An event of Cohere's; `said` is its message."""
    fields = {"type": kind} | ({} if index is None else {"index": index})
    return sse(fields | ({"delta": {"message": said}} if said else {}), kind)


def _cohere(text, calls, reason):
    frames = [sse({"type": "message-start", "id": "r1", "delta": {"message": {}}}, "message-start")]
    if text:
        frames.append(cohere("content-start", 0, content={"type": "text", "text": ""}))
        said = text.split("|")
        frames += [cohere("content-delta", 0, content={"text": piece}) for piece in said]
        frames.append(cohere("content-end", 0))
    for at, (id, name, arguments) in enumerate(calls):
        begun = {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        frames.append(cohere("tool-call-start", at, tool_calls=begun))
        for piece in pieces_of(arguments):
            more = {"function": {"arguments": piece}}
            frames.append(cohere("tool-call-delta", at, tool_calls=more))
        frames.append(cohere("tool-call-end", at))
    end = {"type": "message-end", "delta": {"finish_reason": reason}}
    return [*frames, sse(end, "message-end"), DONE]


_MADE = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "cohere": _cohere,
    "ollama": _ollama,
}
