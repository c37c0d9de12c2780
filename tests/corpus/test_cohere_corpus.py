"""Recorded Cohere traffic decodes, says what the raw JSON says, and goes back to the wire.

Every check compares with an independent reading of the JSON, a few lines that know nothing of ours.
No record is exempt. One form is not kept, on purpose: text beside calls goes back as `tool_plan`.
"""

import json
from functools import partial

from batches import each
from canonicall.blocks import Text, Thinking
from canonicall.wire.cohere import TARGET
from canonicall.wire.cohere.errors import decode_error, encode_error
from canonicall.wire.cohere.messages import encode_turn
from canonicall.wire.cohere.request import decode_request, encode_request
from canonicall.wire.cohere.response import decode_response, encode_response
from corpus.support import errors, needs_corpus, requests, responses
from wire.support import as_turn, transcript

FINISHES = {"COMPLETE": "stop", "TOOL_CALL": "tool_calls"}


pytestmark = needs_corpus

REQUESTS = partial(requests, "cohere-v2")
RESPONSES = partial(responses, "cohere-v2")
ERRORS = partial(errors, "cohere-v2")


def test_the_corpus_has_what_is_to_be_checked():
    assert (len(REQUESTS()), len(RESPONSES()), len(ERRORS())) >= (37, 25, 2)


def read_content(content):
    """Texts, thoughts and documents of a content; text without a word in it is nothing."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    said = [(part["type"], part[part["type"]]) for part in parts]
    return [one for one in said if one != ("text", "")]


def read_message(message):
    """What a Cohere message says. Text beside calls and a plan are the same."""
    calls = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or ()
    ]
    content = read_content(message.get("content"))
    content += read_content(message.get("tool_plan"))
    return message["role"], message.get("tool_call_id"), content, calls


@each("record", REQUESTS)
def test_messages_of_a_request_come_back_as_they_were(record):
    body = record["request"]
    turns = map(as_turn, decode_request(body).conversation.messages)
    wire = [message for turn in turns for message in encode_turn(turn, TARGET)]
    assert list(map(read_message, wire)) == list(map(read_message, body["messages"]))


@each("record", REQUESTS)
def test_a_request_says_what_its_json_says(record):
    body = record["request"]
    request = decode_request(body)
    functions = [tool["function"] for tool in body.get("tools") or ()]
    assert [(t.name, t.description, t.parameters) for t in request.tools] == [
        (f["name"], f["description"], f["parameters"]) for f in functions
    ]
    choice = request.tool_choice.mode if request.tool_choice else None
    assert choice == {"REQUIRED": "required", "NONE": "none", None: None}[body.get("tool_choice")]
    assert request.model == body["model"]
    assert request.params.max_tokens == body.get("max_tokens")
    assert request.conversation.ledger.open == ()


@each("record", REQUESTS)
def test_a_request_goes_to_the_wire_and_back(record):
    """Tools, choice, parameters and fields without canonical meaning, in a whole body."""
    request = decode_request(record["request"])
    body, findings = encode_request(request, transcript(request), TARGET)
    again = decode_request(body)
    assert findings == []
    assert list(body)[-1] == "messages"
    for field in ("tools", "tool_choice", "params", "model", "native"):
        assert getattr(again, field) == getattr(request, field)


@each("record", RESPONSES)
def test_a_response_says_what_its_json_says(record):
    body = record["response"]
    message = body["message"]
    reply = decode_response(body)
    blocks = reply.message.blocks
    assert [(c.id, c.name, json.loads(c.raw)) for c in reply.calls] == read_message(message)[3]
    said = [
        ("thinking" if isinstance(block, Thinking) else "text", block.text)
        for block in blocks
        if isinstance(block, (Text, Thinking))
    ]
    assert [one for one in said if one[1]] == read_message(message)[2]
    assert reply.finish == FINISHES[body["finish_reason"]]
    assert reply.message.origin.response_id == body["id"]
    usage = body["usage"]
    assert reply.usage.input_tokens == usage["tokens"]["input_tokens"]
    assert reply.usage.output_tokens == usage["tokens"]["output_tokens"]
    assert (
        reply.usage.cache_read_tokens == usage.get("cached_tokens", 0) <= reply.usage.input_tokens
    )


@each("record", RESPONSES)
def test_a_response_goes_to_the_wire_and_back(record):
    reply = decode_response(record["response"])
    body = encode_response(reply)
    assert decode_response(body) == reply
    assert body == record["response"]


@each("record", ERRORS)
def test_an_error_keeps_its_message(record):
    error = decode_error(record["response"])
    assert encode_error(error)["message"] == error.message == record["response"]["message"]
