"""Recorded generateContent traffic against the decoder and encoder.

`said_in` reads the raw JSON by itself, in few lines, and is the judge: calls, arguments, text,
thoughts, results, media and signatures have to be the same in canonical form and on the wire again.
"""

import base64
import json
import re
from functools import partial

import msgspec
from msgspec.structs import replace

from batches import each
from canonicall.blocks import Code, Media, Text, Thinking, ToolCall, ToolResult
from canonicall.transcript.render import render
from canonicall.transcript.turns import Turn
from canonicall.wire.gemini import TARGET
from canonicall.wire.gemini.errors import decode_error, encode_error
from canonicall.wire.gemini.messages import encode_turn
from canonicall.wire.gemini.request import decode_request, encode_request
from canonicall.wire.gemini.response import decode_response, encode_response
from corpus.support import errors, needs_corpus, requests, responses

pytestmark = needs_corpus
REQUESTS = partial(requests, "gemini-generate")
RESPONSES = partial(responses, "gemini-generate")
ERRORS = partial(errors, "gemini-generate")

# The calls are there, but the API itself says that they are not valid (4 recordings).
CALLS_REFUSED_BY_THE_API = {"UNEXPECTED_TOOL_CALL"}


def camel(value):
    return {
        re.sub(r"_([a-z])", lambda found: found[1].upper(), key): field
        for key, field in value.items()
        if field is not None
    }


def listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def octets(data):
    return base64.b64decode(data.replace("-", "+").replace("_", "/") + "==")


def said_by(part):
    """What one raw part says, its signature last."""
    part = camel(part)
    seal = part.get("thoughtSignature")
    if "text" in part:
        return ("thought" if part.get("thought") else "text"), part["text"], seal
    (name,) = set(part) - {"thoughtSignature", "thought"}
    data = camel(part[name])
    match name:
        case "functionCall":
            said = data.get("id"), data["name"], data.get("args", {})
        case "functionResponse":
            media = [said_by(one) for one in data.get("parts", [])]
            said = data.get("id"), data["name"], data["response"], media
        case "inlineData":
            said = data["mimeType"], octets(data["data"])
        case "fileData":
            said = data["mimeType"], data["fileUri"]
        case "executableCode":
            said = data["code"], data["language"], data.get("id")
        case _:
            said = (data,)
    return name, *said, seal


def said_in(content):
    """What one raw content says; results first, as they are a message of their own."""
    said = [said_by(part) for part in listed(content.get("parts"))]
    return sorted(said, key=lambda one: one[0] != "functionResponse")


def domain_of(record):
    return "vertex" if record["provider"] == "vertex" else "gemini-api"


def with_raw_ids(block):
    if isinstance(block, ToolCall):
        return replace(block, id=block.raw_id)
    if isinstance(block, ToolResult):
        return replace(block, call_id=block.raw_id)
    return block


def is_server_side(block):
    return any(one.kind == "server_block" for one in block.opaque)


@each("record", REQUESTS)
def test_a_recorded_request_says_the_same_after_decoding_and_encoding(record):
    body, domain = record["request"], domain_of(record)
    target = replace(TARGET, domain=domain)
    request = decode_request(body, domain=domain)
    again = []
    for message in request.conversation.messages:
        if message.role != "system":
            blocks = tuple(with_raw_ids(block) for block in message.blocks)
            again += encode_turn(Turn(message.role, blocks, native=message.native), target)
    spoken = [one for content in body["contents"] for one in said_in(content)]
    assert [one for content in again for one in said_in(content)] == spoken
    assert {content["role"] for content in again} <= {"user", "model"}


@each("record", REQUESTS)
def test_a_recorded_request_decodes_to_what_the_raw_json_holds(record):
    body = record["request"]
    request = decode_request(body, domain=domain_of(record))
    spoken = [one for content in body["contents"] for one in said_in(content)]
    blocks = [
        block
        for message in request.conversation.messages
        if message.role != "system"
        for block in message.blocks
    ]
    calls = [one for one in blocks if isinstance(one, ToolCall) and not is_server_side(one)]
    assert [(one.raw_id or None, one.name, one.args) for one in calls] == [
        one[1:4] for one in spoken if one[0] == "functionCall"
    ]
    results = [one for one in blocks if isinstance(one, ToolResult) and not is_server_side(one)]
    raw = [one for one in spoken if one[0] == "functionResponse"]
    assert [(one.raw_id or None, one.name) for one in results] == [one[1:3] for one in raw]
    for result, (_, _, _, response, media, _) in zip(results, raw, strict=True):
        assert result.error == ("error" in response)
        assert sum(isinstance(one, Media) for one in result.content) == len(media)
        if len(response) == 1 and {"output", "result", "error"} & set(response):
            (value,) = response.values()
            words = value if isinstance(value, str) else None
            assert words is None or result.text == words
        elif response:
            assert json.loads(result.text) == response
    for kind, name in ((Text, "text"), (Thinking, "thought")):
        texts = [one.text for one in blocks if type(one) is kind]
        assert texts == [one[1] for one in spoken if one[0] == name]


@each("record", REQUESTS)
def test_system_tools_and_settings_of_a_recorded_request_come_back(record):
    body, target = camel(record["request"]), replace(TARGET, domain=domain_of(record))
    request = decode_request(record["request"], domain=target.domain)
    again, _ = encode_request(request, render(request.conversation, target), target)
    system = said_in(camel(body.get("systemInstruction") or {}))
    # An instruction of empty text (3 recordings) is left out by the renderer.
    assert said_in(again.get("systemInstruction", {})) == [one for one in system if one[1]]
    assert declared_in(again) == declared_in(body)
    config = settings_of(body.get("generationConfig"))
    assert settings_of(again.get("generationConfig")) == config
    if declared_in(body)[0]:
        assert choice_in(again) == choice_in(body)
    else:
        assert "functionCallingConfig" not in again.get("toolConfig", {})
    for name in ("safetySettings", "cachedContent"):
        assert (again.get(name) or None) == (body.get(name) or None)


def declared_in(body):
    functions, server = [], []
    for entry in listed(body.get("tools")):
        for name, value in camel(entry).items():
            if name == "functionDeclarations":
                # An empty description says as much as none, and is not written again.
                functions += [
                    {key: spelled(field) for key, field in camel(one).items() if field != ""}
                    for one in listed(value)
                ]
            else:
                server.append((name, value))
    return functions, server


def spelled(schema):
    """A schema with the words of its types, which one recording has as numbers."""
    if not isinstance(schema, dict):
        return schema
    words = {1: "STRING", 6: "OBJECT"}
    return {
        key: words.get(field, field) if key == "type" and isinstance(field, int) else spelled(field)
        for key, field in schema.items()
    }


def settings_of(config):
    config = camel(config or {})
    thinking = camel(config.pop("thinkingConfig", None) or {})
    if isinstance(thinking.get("thinkingLevel"), str):
        thinking["thinkingLevel"] = thinking["thinkingLevel"].upper()
    return {name: value for name, value in config.items() if value != []}, thinking


def choice_in(body):
    config = camel(body.get("toolConfig") or {})
    calling = camel(config.pop("functionCallingConfig", None) or {})
    if "mode" in calling:
        calling["mode"] = calling["mode"].upper()
    return calling, config


@each("record", REQUESTS)
def test_a_rendered_recorded_request_is_a_fixpoint(record):
    """Decoding what was sent and rendering it again gives the same bytes."""
    target = replace(TARGET, domain=domain_of(record))
    request = decode_request(record["request"], domain=target.domain)
    first, _ = encode_request(request, render(request.conversation, target), target)
    replayed = decode_request(first, domain=target.domain)
    second, _ = encode_request(replayed, render(replayed.conversation, target), target)
    assert msgspec.json.encode(second) == msgspec.json.encode(first)


@each("record", RESPONSES)
def test_a_recorded_reply_decodes_to_what_the_raw_json_holds(record):
    body = record["response"]
    reply = decode_response(body, domain=domain_of(record))
    candidate = body["candidates"][0]
    spoken = [said_by(part) for part in candidate["content"].get("parts", [])]
    blocks = reply.message.blocks
    calls = [one for one in blocks if isinstance(one, ToolCall) and one.kind == "function"]
    assert [(one.id or None, one.name, one.args) for one in calls] == [
        one[1:4] for one in spoken if one[0] == "functionCall"
    ]
    for kind, name in ((Text, "text"), (Thinking, "thought")):
        texts = [one.text for one in blocks if type(one) is kind]
        assert texts == [one[1] for one in spoken if one[0] == name]
    assert [one.code for one in blocks if isinstance(one, Code)] == [
        one[1] for one in spoken if one[0] == "executableCode"
    ]
    seals = [one.value for block in blocks for one in block.opaque if one.kind == "signature"]
    server = [one.value for block in blocks for one in block.opaque if one.kind == "server_block"]
    assert seals + [one["thoughtSignature"] for one in server] == [
        *(one[-1] for one in spoken if one[-1] and one[0] not in ("toolCall", "toolResponse")),
        *(one[-1] for one in spoken if one[-1] and one[0] in ("toolCall", "toolResponse")),
    ]
    assert reply.finish == expected_finish(candidate["finishReason"], calls)


def expected_finish(raw, calls):
    if raw in CALLS_REFUSED_BY_THE_API:
        return "malformed_call"
    if raw == "MAX_TOKENS":
        return "length"
    assert raw in ("STOP", 1)  # one recording asked for the numbers of the enum
    return "tool_calls" if calls else "stop"


@each("record", RESPONSES)
def test_tokens_of_a_recorded_reply_add_up_to_its_total(record):
    raw = record["response"].get("usageMetadata")
    usage = decode_response(record["response"]).usage
    if raw is None:
        assert usage is None
        return
    if "totalTokenCount" in raw:
        assert usage.input_tokens + usage.output_tokens == raw["totalTokenCount"]
    assert usage.reasoning_tokens == raw.get("thoughtsTokenCount", 0)
    assert usage.cache_read_tokens == raw.get("cachedContentTokenCount", 0)


@each("record", RESPONSES)
def test_a_recorded_reply_survives_encoding(record):
    domain = domain_of(record)
    reply = decode_response(record["response"], domain=domain)
    assert decode_response(encode_response(reply), domain=domain) == reply


@each("record", RESPONSES)
def test_a_recorded_reply_is_encoded_to_what_it_was(record):
    """Nothing of the body is lost: the same fields with the same values."""
    body = record["response"]
    again = encode_response(decode_response(body, domain=domain_of(record)))
    for one, other in zip(body["candidates"], again["candidates"], strict=True):
        content = one["content"]
        assert said_in(other["content"]) == said_in(content)
        # One gateway writes the number of a reason; it goes out as its word.
        word = {"finishReason": "STOP"} if one.get("finishReason") == 1 else {}
        assert {**other, "content": None} == {**one, **word, "content": None}
    assert {**again, "candidates": None} == {**body, "candidates": None}


@each("record", ERRORS)
def test_a_recorded_error_is_read_and_written(record):
    raw = listed(record["response"])[0]["error"]
    error = decode_error(record["response"])
    assert (error.code, error.message, error.type) == (
        str(raw["code"]),
        raw["message"],
        raw["status"],
    )
    assert encode_error(error) == {"error": raw}


def test_the_corpus_was_found():
    """A wrong folder must not look like success."""
    assert (len(REQUESTS()), len(RESPONSES()), len(ERRORS())) >= (500, 350, 5)
