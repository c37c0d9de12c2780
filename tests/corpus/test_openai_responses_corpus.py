"""Recorded Responses traffic: everything decodes, says what the raw JSON says, and comes back.

The raw JSON is read a second time here, in a few lines that share nothing with the decoder.
"""

from collections import Counter
from functools import partial

from msgspec.structs import replace

from batches import each
from canonicall.blocks import Media, Text, Thinking, ToolCall, ToolResult
from canonicall.errors import MalformedBody
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.openai_responses import TARGET
from canonicall.wire.openai_responses.errors import decode_error, encode_error
from canonicall.wire.openai_responses.messages import encode_turn
from canonicall.wire.openai_responses.request import decode_request, encode_request
from canonicall.wire.openai_responses.response import decode_response, encode_response
from corpus.support import errors, needs_corpus, requests, responses

pytestmark = needs_corpus

REFUSED = {
    "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
}
"""Requests that cannot be decoded: the provider refused them with these words, for that reason."""

WORDS = {"completed": "stop", "max_output_tokens": "length", "queued": ""}
SERVER_CALLS = {
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
}
"""Items that hold a call and what came of it."""


REQUESTS = partial(requests, "openai-responses")
RESPONSES = partial(responses, "openai-responses")
ERRORS = partial(errors, "openai-responses")


# The second reading.


def _parts(content, who):
    for part in [{"text": content}] if isinstance(content, str) else content or []:
        sources = ("image_url", "file_url", "file_data", "file_id")
        source = next((part[name] for name in sources if part.get(name)), None)
        words = part.get("text") or part.get("refusal")
        if source:
            yield ("media", who, source.rpartition(",")[2])
        elif words:
            yield ("text", who, words)


def _raw_reading(items):
    """What the items say, as a flat list."""
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items or []:
        match item.get("type", "message"):
            case "message":
                yield from _parts(item["content"], item["role"])
            case "reasoning":
                parts = item.get("summary") or item.get("content") or []
                text = "\n\n".join(part["text"] for part in parts)
                yield ("thought", text, item.get("encrypted_content"), item.get("id"))
            case "function_call":
                yield ("call", item["call_id"], item["name"], item["arguments"])
            case "custom_tool_call":
                yield ("custom", item["call_id"], item["name"], item["input"])
            case "tool_search_call" if item.get("execution") == "client":
                yield ("search", item)
            case "tool_search_output" if item.get("execution") == "client":
                yield ("found", item)
            case "function_call_output" | "custom_tool_call_output" as kind:
                yield ("result", item["call_id"], kind, list(_parts(item["output"], "tool")))
            case _:
                yield ("item", item)


def _block_reading(block, who):
    opaque = {one.kind: one.value for one in block.opaque}
    match block:
        case Text(text=text):
            if text:
                yield ("text", who, text)
        case Media():
            yield ("media", who, block.data or block.url or opaque["file_id"])
        case Thinking(text=text):
            yield ("thought", text, opaque.get("encrypted"), opaque.get("item_id"))
        case ToolCall(kind="server"):
            yield ("item", opaque["server_block"])
        case ToolCall(name="tool_search") | ToolResult(name="tool_search"):
            yield _search_reading(block, opaque)
        case ToolCall():
            kind = "custom" if block.kind == "custom" else "call"
            yield (kind, block.raw_id or block.id, block.name, block.raw)
        case ToolResult() if "server_block" in opaque:
            yield from [("item", opaque["server_block"])] if opaque["server_block"] else []
        case ToolResult():
            kind = "custom_tool_call" if block.kind == "custom" else "function_call"
            content = [one for part in block.content for one in _block_reading(part, "tool")]
            yield ("result", block.raw_id or block.call_id, f"{kind}_output", content)
        case _:
            yield ("item", block.native.fields)


def _search_reading(block, opaque):
    """A search for tools that the client ran."""
    item = {**block.native.fields, **({"id": opaque["item_id"]} if "item_id" in opaque else {})}
    if isinstance(block, ToolCall):
        asked = {"call_id": block.raw_id or block.id, "arguments": block.args}
        return ("search", item | asked)
    return ("found", item | {"call_id": block.raw_id or block.call_id})


def _canonical_reading(messages):
    return [
        reading
        for message in messages
        for block in message.blocks
        for reading in _block_reading(block, message.role)
    ]


def _turn(message):
    """A canonical message as a turn with the ids it came with."""

    def raw(block):
        match block:
            case ToolCall():
                return replace(block, id=block.raw_id)
            case ToolResult():
                return replace(block, call_id=block.raw_id or block.call_id)
            case _:
                return block

    blocks = tuple(map(raw, message.blocks))
    return Turn(message.role, blocks, message.origin, message.native)


# Requests.


def _decoded_requests():
    for record in REQUESTS():
        error = record["response"].get("error") if record["status"] == 400 else None
        if error and error["message"] in REFUSED:
            continue
        yield record, decode_request(record["request"])


def test_only_what_the_provider_refused_cannot_be_decoded():
    unreadable = Counter()
    for record in REQUESTS():
        try:
            decode_request(record["request"])
        except MalformedBody:
            unreadable[record["response"]["error"]["message"]] += 1
    assert set(unreadable) == REFUSED
    assert sum(unreadable.values()) == 1


@each("record, request", _decoded_requests)
def test_requests_say_what_the_raw_json_says(record, request):
    body = record["request"]
    said = list(_raw_reading(body.get("input")))
    if body.get("instructions"):
        said.insert(0, ("text", "system", body["instructions"]))
    assert _canonical_reading(request.conversation.messages) == said
    assert request.params.max_tokens == body.get("max_output_tokens")
    items = body["input"] if isinstance(body.get("input"), list) else []
    brought = [
        item
        for item in items
        if item.get("type") == "additional_tools"
        or (item.get("type") == "tool_search_output" and item.get("execution") == "client")
    ]
    offered = len(body.get("tools") or []) + len(brought)
    assert len(request.tools) == offered


@each("record, request", _decoded_requests)
def test_items_come_back_as_they_were(record, request):
    messages = list(request.conversation.messages)
    if record["request"].get("instructions"):
        messages = messages[1:]
    items = [item for one in messages for item in encode_turn(_turn(one), TARGET)]
    said = list(_raw_reading(record["request"].get("input")))
    assert list(_raw_reading(items)) == said


@each("record, request", _decoded_requests)
def test_bodies_come_back_with_every_field(record, request):
    """Except: nulls, empty lists, and tools written as for Chat Completions, which become flat."""
    body = record["request"]
    turns = tuple(_turn(one) for one in request.conversation.messages)
    encoded, findings = encode_request(request, Transcript(turns, {}, {}, None), TARGET)
    assert not findings
    nested = any("function" in tool for tool in body.get("tools") or [])
    nested = nested or "function" in (body.get("tool_choice") or ())
    for name, field in body.items():
        if name in ("input", "instructions") or field in (None, []):
            continue
        if name == "tools" and not nested:
            assert [_comparable(tool) for tool in encoded[name]] == [
                _comparable(tool) for tool in field
            ], record["id"]
        elif name == "tool_choice" and not nested:
            assert _same_choice(encoded[name], field)
        elif not nested:
            assert encoded[name] == field, (record["id"], name)
    again = decode_request(encoded)
    assert again.tools == request.tools or nested
    assert again.tool_choice == request.tool_choice
    assert again.params == request.params


def _comparable(tool):
    return {name: field for name, field in tool.items() if field not in (None, "")}


def _same_choice(one, other):
    """A list of one required tool is that tool."""
    if isinstance(other, dict) and other["type"] == "allowed_tools":
        names = [tool["name"] for tool in other["tools"]]
        if other["mode"] == "required" and len(names) == 1:
            return one["name"] == names[0]
    return one == other


# Responses.


@each("record", RESPONSES)
def test_responses_say_what_the_raw_json_says(record):
    body = record["response"]
    reply = decode_response(body)
    assert _canonical_reading([reply.message]) == list(_raw_reading(body["output"])), record["id"]
    assert reply.message.origin.response_id == body["id"]
    assert reply.message.origin.model == body["model"]


@each("record", RESPONSES)
def test_responses_end_as_the_raw_json_says(record):
    body = record["response"]
    reply = decode_response(body)
    word = (body["incomplete_details"] or {}).get("reason") or body["status"]
    kinds = Counter(item["type"] for item in body["output"])
    outputs = sum(count for kind, count in kinds.items() if kind.endswith("_output"))
    calls = sum(count for kind, count in kinds.items() if kind.endswith("_call"))
    waiting = calls - outputs - sum(kinds[kind] for kind in SERVER_CALLS)
    expected = "tool_calls" if waiting and word == "completed" else WORDS[word]
    assert reply.finish == expected


def test_usage_is_what_the_raw_json_says():
    for record in RESPONSES():
        usage = record["response"]["usage"]
        read = decode_response(record["response"]).usage
        if usage is None:
            assert read is None
            continue
        assert read.input_tokens == usage["input_tokens"]
        # One record says -9: fewer than none is none, and the figure stays in `native`.
        assert read.output_tokens == max(usage["output_tokens"], 0)
        assert read.native["output_tokens"] == usage["output_tokens"]
        assert read.cache_read_tokens == usage["input_tokens_details"]["cached_tokens"]
        assert read.reasoning_tokens == usage["output_tokens_details"]["reasoning_tokens"]


@each("record", RESPONSES)
def test_responses_come_back(record):
    reply = decode_response(record["response"])
    body = encode_response(reply)
    assert decode_response(body) == reply
    raw, again = record["response"]["output"], body["output"]
    assert [_without_defaults(one) for one in again] == [_without_defaults(one) for one in raw]


def _without_defaults(item):
    """Without what means nothing: nulls, empty lists and the status of what is complete.

    Bedrock Mantle's `item_id` is an id, its `output_index` is the place.
    """
    item = {name: field for name, field in item.items() if field not in (None, [], "completed")}
    item.pop("output_index", None)
    if "item_id" in item:
        item["id"] = item.pop("item_id")
    if item["type"] == "message":
        item["content"] = [_without_defaults(part) for part in item["content"]]
    return item


def test_errors_are_read_and_written():
    assert ERRORS()
    for record in ERRORS():
        raw = record["response"].get("error") or {"message": record["response"].get("detail")}
        error = decode_error(record["response"])
        assert error.message == raw["message"]
        assert error.code == (raw.get("code") or "")
        assert error.param == (raw.get("param") or "")
        again = decode_error(encode_error(error))
        assert (again.message, again.code, again.param) == (error.message, error.code, error.param)


def test_the_corpus_is_really_read():
    assert len(REQUESTS()) > 600
    assert len(RESPONSES()) > 450
