"""Recorded Ollama traffic decodes, says what the raw JSON says, and goes back to the wire.

Every check compares with an independent reading of the JSON, a few lines that know nothing of ours.
No record is exempt. The corpus has no error of this API, and its time stamps are not kept.
"""

from functools import partial

from batches import each
from canonicall.blocks import Text, Thinking
from canonicall.wire.ollama import TARGET
from canonicall.wire.ollama.messages import encode_turn
from canonicall.wire.ollama.request import decode_request, encode_request
from canonicall.wire.ollama.response import decode_response, encode_response
from corpus.support import needs_corpus, requests, responses
from wire.support import as_turn, transcript

pytestmark = needs_corpus

REQUESTS = partial(requests, "ollama-chat")
RESPONSES = partial(responses, "ollama-chat")


def test_the_corpus_has_what_is_to_be_checked():
    assert (len(REQUESTS()), len(RESPONSES())) >= (16, 12)


def read_calls(message):
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    return [(function["name"], function["arguments"]) for function in functions]


def read_message(message):
    """What an Ollama message says. The tool of a result is part of it where it is named."""
    return (
        message["role"],
        message["content"],
        message.get("thinking", ""),
        message.get("images", []),
        message.get("tool_name", ""),
        read_calls(message),
    )


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
    assert request.model == body["model"]
    assert request.params.stream == body["stream"]
    assert request.params.seed == (body.get("options") or {}).get("seed")
    assert (request.params.reasoning and request.params.reasoning.enabled) == body.get("think")


@each("record", REQUESTS)
def test_results_without_ids_find_their_calls(record):
    """The recorded clients name only the tool, some not even that: every call is answered."""
    assert decode_request(record["request"]).conversation.ledger.open == ()


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
    assert [(call.name, call.args) for call in reply.calls] == read_calls(message)
    assert [b.text for b in blocks if isinstance(b, Text)] == [message["content"]]
    thoughts = [block.text for block in blocks if isinstance(block, Thinking)]
    assert thoughts == ([message["thinking"]] if message.get("thinking") else [])
    assert reply.finish == ("tool_calls" if read_calls(message) else "stop")
    assert reply.usage.input_tokens == body["prompt_eval_count"]
    assert reply.usage.output_tokens == body["eval_count"]


@each("record", RESPONSES)
def test_a_response_goes_to_the_wire_and_back(record):
    reply = decode_response(record["response"])
    body = encode_response(reply)
    assert decode_response(body) == reply
    assert body | {"created_at": None} == record["response"] | {"created_at": None}
