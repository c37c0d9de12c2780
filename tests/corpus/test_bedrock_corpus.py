"""Recorded Converse traffic decodes, says what the raw JSON says, and goes back to the wire.

Every check compares with an independent reading of the JSON, a few lines that know nothing of ours.
No record is exempt.
"""

import json
from functools import partial

from batches import each
from canonicall.blocks import Media, Text, Thinking
from canonicall.findings import Report
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.errors import decode_error, encode_error
from canonicall.wire.bedrock.messages import encode_turn
from canonicall.wire.bedrock.request import decode_request, encode_request
from canonicall.wire.bedrock.response import decode_response, encode_response
from corpus.support import errors, needs_corpus, requests, responses
from wire.support import with_raw_id

FINISHES = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


pytestmark = needs_corpus

REQUESTS = partial(requests, "bedrock-converse")
RESPONSES = partial(responses, "bedrock-converse")
ERRORS = partial(errors, "bedrock-converse")


def test_the_corpus_has_what_is_to_be_checked():
    assert (len(REQUESTS()), len(RESPONSES()), len(ERRORS())) >= (139, 111, 7)


def read_result_part(part):
    ((kind, value),) = part.items()
    if kind == "text":
        return value
    if kind == "json":
        return value
    return (value["format"], value["source"].get("bytes") or value["source"]["s3Location"]["uri"])


def read_block(block):
    """What a Converse block says, in a form of its own."""
    ((kind, value),) = block.items()
    match kind:
        case "toolUse":
            return ("call", value["toolUseId"], value["name"], value["input"])
        case "toolResult":
            content = [read_result_part(part) for part in value["content"]]
            return ("result", value["toolUseId"], content, value.get("status") == "error")
        case "reasoningContent" if "reasoningText" in value:
            thought = value["reasoningText"]
            return ("thought", thought["text"], thought.get("signature"))
        case "text" | "cachePoint" | "reasoningContent":
            return (kind, value)
        case _:
            return (kind, value.get("name"), *read_result_part(block))


def read_messages(body):
    return [(m["role"], [read_block(block) for block in m["content"]]) for m in body["messages"]]


def as_turns(request):
    """Each canonical message as a turn with the ids of the wire; results join their user again."""
    turns = []
    for message in request.conversation.messages:
        blocks = tuple(with_raw_id(block) for block in message.blocks)
        turns.append(Turn("user" if message.role == "tool" else message.role, blocks))
    return turns


def merged(messages):
    """A user message that was taken apart, results and rest, as one again."""
    whole = []
    for role, content in messages:
        if whole and whole[-1][0] == role == "user" and any(c[0] == "result" for c in whole[-1][1]):
            whole[-1][1].extend(content)
        else:
            whole.append((role, list(content)))
    return whole


@each("record", REQUESTS)
def test_messages_of_a_request_come_back_as_they_were(record):
    body = record["request"]
    turns = [turn for turn in as_turns(decode_request(body)) if turn.role != "system"]
    wire = [message for turn in turns for message in encode_turn(turn, TARGET)]
    assert merged(read_messages({"messages": wire})) == merged(read_messages(body))


@each("record", REQUESTS)
def test_a_request_says_what_its_json_says(record):
    body = record["request"]
    request = decode_request(body)
    system = [block["text"] for block in body.get("system") or () if "text" in block]
    spoken = [m for m in request.conversation.messages if m.role == "system"]
    assert [block.text for message in spoken for block in message.blocks] == system
    specs = [
        t["toolSpec"] for t in (body.get("toolConfig") or {}).get("tools", ()) if "toolSpec" in t
    ]
    functions = [tool for tool in request.tools if tool.kind == "function"]
    assert [(t.name, t.parameters) for t in functions] == [
        (spec["name"], spec["inputSchema"]["json"]) for spec in specs
    ]
    assert request.params.max_tokens == (body.get("inferenceConfig") or {}).get("maxTokens")
    assert request.conversation.ledger.open == ()
    marks = json.dumps(body).count('"cachePoint"')
    cached = [b for m in request.conversation.messages for b in m.blocks if b.cache]
    assert len(cached) + len([tool for tool in request.tools if tool.cache]) == marks


@each("record", REQUESTS)
def test_a_request_goes_to_the_wire_and_back(record):
    """Tools, choice, parameters and fields without canonical meaning, in a whole body."""
    request = decode_request(record["request"])
    transcript = Transcript(tuple(as_turns(request)), {}, {}, Report())
    body, findings = encode_request(request, transcript, TARGET)
    again = decode_request(body)
    assert findings == []
    assert list(body)[-1] == "messages"
    assert body.get("system", []) == (record["request"].get("system") or [])
    for field in ("tools", "tool_choice", "params", "model", "native"):
        assert getattr(again, field) == getattr(request, field)


@each("record", RESPONSES)
def test_a_response_says_what_its_json_says(record):
    body = record["response"]
    reply = decode_response(body)
    content = body["output"]["message"]["content"]
    blocks = reply.message.blocks
    assert [b.text for b in blocks if isinstance(b, Text)] == [
        b["text"] for b in content if "text" in b
    ]
    assert [("call", c.id, c.name, c.args) for c in reply.calls] == [
        read_block(block) for block in content if "toolUse" in block
    ]
    thoughts = [block["reasoningContent"] for block in content if "reasoningContent" in block]
    assert [b.text for b in blocks if isinstance(b, Thinking)] == [
        thought.get("reasoningText", {}).get("text", "") for thought in thoughts
    ]
    assert len(blocks) == len(content)
    assert not any(isinstance(block, Media) for block in blocks)
    assert reply.finish == FINISHES[body["stopReason"]]
    usage = body["usage"]
    assert reply.usage.input_tokens + reply.usage.output_tokens == usage["totalTokens"]
    assert reply.usage.cache_read_tokens == usage.get("cacheReadInputTokens", 0)


@each("record", RESPONSES)
def test_a_response_goes_to_the_wire_and_back(record):
    reply = decode_response(record["response"])
    body = encode_response(reply)
    assert decode_response(body) == reply
    assert body["usage"] == record["response"]["usage"]
    assert [read_block(b) for b in body["output"]["message"]["content"]] == [
        read_block(b) for b in record["response"]["output"]["message"]["content"]
    ]


@each("record", ERRORS)
def test_an_error_keeps_its_message(record):
    error = decode_error(record["response"])
    assert encode_error(error)["message"] == error.message == record["response"]["message"]
