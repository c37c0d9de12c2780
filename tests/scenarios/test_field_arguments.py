"""Arguments and results that are broken, empty or rich: F1 to F16 of the field catalogue."""

import json

import pytest

from batches import each
from canonicall import Outcome, Tool, validate_call
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.codec.streams import StreamDecoder, StreamEncoder
from canonicall.folding import events_of, fold
from canonicall.outcome import wording
from scenarios.field_support import USER, sent

BACKS = [
    "openai",
    "openai/openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "cohere",
    "ollama",
    "qwen",
]


def chat(arguments, content="done", **fields):
    """A chat request with one call and its result."""
    function = {"name": "run", "arguments": arguments}
    call = {"id": "call_1", "type": "function", "function": function}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "call_1", "content": content, **fields}
    return {"model": "m", "messages": [USER, asked, answer]}


def claude(input, *content, calls=1, **fields):
    """A Messages request: calls with the same input, the last one answered with `content`."""
    uses = [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "run", "input": input}
        for n in range(calls)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"text {n}"}
        for n in range(calls)
    ]
    results[-1] = {**results[-1], "content": list(content), **fields}
    turns = [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    return {"model": "m", "max_tokens": 99, "messages": [USER, *turns]}


def turns(body):
    return body.get("messages") or body.get("input") or body["contents"]


def arguments_in(body):
    """The arguments of the call, as an object, in a body of any format."""
    match turns(body)[1]:
        case {"tool_calls": [{"function": {"arguments": held}}]} | {"arguments": held}:
            return json.loads(held) if isinstance(held, str) else held
        case {"content": [{"input": held}] | [{"toolUse": {"input": held}}]}:
            return held
        case {"parts": [{"functionCall": {"args": held}}]}:
            return held


def result_in(body):
    """The result in a body of any format, as it stands there."""
    match turns(body)[2]:
        case {"role": "tool", "content": held} | {"output": held}:
            return held
        case {"content": [{"type": "tool_result", "content": held}]}:
            return held
        case {"content": [{"toolResult": held}]} | {"parts": [{"functionResponse": held}]}:
            return held


@pytest.mark.parametrize("target", BACKS)
def test_f1_several_objects_in_one_arguments_text_are_kept_and_reported(target):
    """It is no object, so it travels as text inside one: nothing is lost or made up."""
    encoded = sent(chat('{"a":1}{"b":2}'), "openai-chat", target)
    assert arguments_in(encoded.body) == {"_raw": '{"a":1}{"b":2}'}
    assert "arguments_wrapped" in encoded.report


@pytest.mark.parametrize("target", BACKS)
def test_f2_the_json_text_of_an_empty_text_means_no_arguments(target):
    """Arguments that are `""`, quotes included, say nothing."""
    assert arguments_in(sent(chat('""'), "openai-chat", target).body) == {}


@each("arguments", ["", "  ", None, "null", "{}"])
@each("target", BACKS)
def test_f3_absent_and_empty_arguments_are_an_empty_object(target, arguments):
    """Whatever stood for nothing, every provider gets an object with nothing in it."""
    assert arguments_in(sent(chat(arguments), "openai-chat", target).body) == {}


@each("target", BACKS)
@each("arguments", ["{'path': 'a'}", "path=a", "<arg>a</arg>"])
def test_f4_malformed_arguments_are_not_replaced_in_silence(target, arguments):
    """The text is in the body, and the report says that it could not be read."""
    encoded = sent(chat(arguments), "openai-chat", target)
    assert arguments_in(encoded.body) == {"_raw": arguments}
    assert {"arguments_unreadable", "arguments_wrapped"} <= encoded.report.counts.keys()


@pytest.mark.parametrize("target", BACKS)
def test_f5_a_call_with_bad_arguments_keeps_its_result(target):
    """The call is not dropped, so its result is no orphan."""
    encoded = sent(chat("{not json", "the result"), "openai-chat", target)
    assert "the result" in str(result_in(encoded.body))
    assert len(encoded.transcript.ids) == 1


@each("target", BACKS)
@each("arguments", ["[1, 2]", "42", "true", '"text"'])
def test_f6_arguments_that_are_json_but_no_object_are_wrapped(target, arguments):
    """Providers want an object: the value is inside one, as the text it was."""
    assert arguments_in(sent(chat(arguments), "openai-chat", target).body) == {"_raw": arguments}


@pytest.mark.parametrize("text", ["{not json", "{", "[1, 2", '{"a": }'])
@pytest.mark.parametrize("target", ["gemini", "bedrock", "anthropic", "openai"])
def test_f7_a_result_that_only_looks_like_json_stays_text(target, text):
    """A brace at its beginning does not make it an object; the body is valid JSON."""
    encoded = sent(chat("{}", text), "openai-chat", target)
    held = result_in(json.loads(encoded.data))
    shape = {"gemini": {"name": "run", "response": {"output": text}}}
    if target == "bedrock":
        assert held["content"] == [{"text": text}]
    else:
        assert held == shape.get(target, text)


@pytest.mark.parametrize("response", [[1, 2], 42, "words", True])
def test_f8_lists_and_scalars_are_wrapped_into_the_object_gemini_wants(response):
    """A client sent a bare value as response: it becomes the output of an object."""
    answer = {"functionResponse": {"name": "run", "response": response}}
    contents = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {}}}]},
        {"role": "user", "parts": [answer]},
    ]
    held = result_in(sent({"contents": contents}, "gemini", "gemini").body)
    expected = (
        response if isinstance(response, str) else json.dumps(response, separators=(",", ":"))
    )
    assert held["response"] == {"output": expected}


@pytest.mark.parametrize("value", [[1, 2], 42, "words"])
def test_f8_bedrocks_json_part_is_an_object_or_text(value):
    """Converse refuses a list or a scalar there."""
    use = {"toolUse": {"toolUseId": "tooluse_1", "name": "run", "input": {}}}
    answer = {"toolResult": {"toolUseId": "tooluse_1", "content": [{"json": value}]}}
    messages = [
        {"role": "user", "content": [{"text": "Go."}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [answer]},
    ]
    (part,) = result_in(sent({"messages": messages}, "bedrock", "bedrock").body)["content"]
    assert isinstance(part.get("json", {}), dict)


@pytest.mark.parametrize("target", BACKS)
def test_f9_a_result_without_content_is_valid_everywhere(target):
    """No content field, null, or an empty list: one result, no failure, a body that can be read."""
    without = claude({})
    del without["messages"][2]["content"][0]["content"]
    for body, source in (
        (without, "anthropic"),
        (claude({}), "anthropic"),
        (chat("{}", None), "openai-chat"),
    ):
        encoded = sent(json.dumps(body), source, target)
        assert json.loads(encoded.data) == encoded.body
        assert len(turns(encoded.body)) == 3
        assert "result_made_up" not in encoded.report


@pytest.mark.parametrize("target", BACKS)
def test_f10_arguments_that_were_cut_are_not_run_and_not_lost(target):
    """No result came for them either: the model is told that the call was not run, and why."""
    body = chat('{"path": "/etc/ho')
    body["messages"][2] = {"role": "user", "content": "Go on."}
    encoded = sent(body, "openai-chat", target)
    assert arguments_in(encoded.body) == {"_raw": '{"path": "/etc/ho'}
    assert "its arguments were cut off" in str(encoded.body)


WHOLE = ["[1,2]", '"x"', "5", "{'path': 1}", '{"path": 1} {"path": 2}', "sunny"]
"""Arguments that are no JSON object, and were not cut off either."""


@pytest.mark.parametrize("raw", WHOLE)
@pytest.mark.parametrize("target", BACKS)
def test_f10_arguments_that_are_no_object_are_not_said_to_be_cut_nor_not_run(target, raw):
    """The client may have mended them and run the call: nobody knows."""
    body = chat(raw)
    body["messages"][2] = {"role": "user", "content": "Go on."}
    encoded = sent(body, "openai-chat", target)
    assert arguments_in(encoded.body) == {"_raw": raw}
    assert wording(Outcome.RESULT_LOST) in str(encoded.body)
    assert "cut off" not in str(encoded.body)
    assert "not run" not in str(encoded.body)


@pytest.mark.parametrize("raw", WHOLE)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_f10_a_client_of_the_responses_api_is_not_told_that_a_whole_call_was_cut(raw, is_streamed):
    """The item is complete; that its arguments cannot be read is a finding of the reply."""
    message = {"role": "assistant", "tool_calls": chat(raw)["messages"][1]["tool_calls"]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    reply = decode_response(body, "openai-chat")
    assert [one.code for one in reply.findings] == ["arguments_unreadable"]
    assert not reply.calls[0].truncated
    if is_streamed:
        decoder = StreamDecoder("openai-responses")
        data = StreamEncoder("openai-responses").feed_all(events_of(reply))
        again = fold([*decoder.feed(data), *decoder.close()])
    else:
        written = encode_response(reply, "openai-responses")
        assert written["output"][0]["status"] == "completed"
        again = decode_response(written, "openai-responses")
    assert (again.calls[0].raw, again.calls[0].truncated) == (raw, False)
    assert [one.code for one in again.findings] == ["arguments_unreadable"]


def test_f10_what_is_said_of_a_call_that_may_have_been_cut_is_true_if_it_was_not():
    """The last call before the token limit is not run, even if it is whole."""
    message = {"role": "assistant", "tool_calls": chat('{"a": 1}')["messages"][1]["tool_calls"]}
    reply = decode_response(
        {"choices": [{"message": message, "finish_reason": "length"}]}, "openai-chat"
    )
    (call,) = reply.calls
    assert (call.args, call.truncated) == ({"a": 1}, True)
    told = validate_call(call, [Tool(call.name)]).error.message
    assert "were cut off, or may have been" in told


def test_f10_a_cut_call_reaches_the_client_with_the_reason():
    """The text is as it came and the finish reason says length, so no client runs it."""
    message = {"role": "assistant", "tool_calls": chat('{"a": "x')["messages"][1]["tool_calls"]}
    reply = decode_response(
        {"choices": [{"message": message, "finish_reason": "length"}]}, "openai-chat"
    )
    (choice,) = encode_response(reply, "openai-chat")["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"a": "x'
    assert encode_response(reply, "anthropic")["stop_reason"] == "max_tokens"


FAILED = {
    "anthropic": ("boom", True), "openai": ("Error: boom", None), "mistral": ("Error: boom", None),
    "openai/openai-responses": ("Error: boom", None), "cohere": ("Error: boom", None),
    "ollama": ("Error: boom", None),
}  # fmt: skip


@pytest.mark.parametrize("target", FAILED)
def test_f11_a_failed_result_is_marked_or_said(target):
    """With the format's own flag, else in the text; never as a field the format does not know."""
    body = claude({}, {"type": "text", "text": "boom"}, is_error=True)
    made = sent(body, "anthropic", target).body
    words, flag = FAILED[target]
    assert result_in(made) == words
    holder = turns(made)[2]
    assert (holder["content"][0] if target == "anthropic" else holder).get("is_error") is flag


def test_f11_a_failed_result_for_gemini_and_bedrock():
    """Gemini has a key for it, Bedrock a status; both lead back to the flag."""
    body = claude({}, {"type": "text", "text": "boom"}, is_error=True)
    gemini = sent(body, "anthropic", "gemini").body
    assert result_in(gemini)["response"] == {"error": "boom"}
    bedrock = sent(body, "anthropic", "bedrock").body
    assert result_in(bedrock)["status"] == "error"
    for made, source in ((gemini, "gemini"), (bedrock, "bedrock")):
        back = sent(made, source, "anthropic").body
        assert back["messages"][2]["content"][0]["is_error"] is True


PNG = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


@pytest.mark.parametrize(
    "target", ["anthropic", "bedrock", "openai/openai-responses", "gemini:gemini-3-pro"]
)
def test_f12_an_image_stays_in_its_own_result(target):
    """Two results, the second with an image: it is in the second one, and nowhere else."""
    made = sent(
        claude({}, {"type": "text", "text": "seen"}, PNG, calls=2), "anthropic", target
    ).body
    held = turns(made)[2].get("content") or turns(made)[2].get("parts")
    first, second = turns(made)[-2:] if held is None else held
    assert "iVBORw0KGgo=" not in str(first)
    assert "iVBORw0KGgo=" in str(second)
    assert "seen" in str(second)


@pytest.mark.parametrize(
    "target", ["openai", "mistral", "cohere", "ollama", "gemini:gemini-2.5-pro", "groq"]
)
def test_f12_an_image_that_a_result_cannot_hold_follows_all_results(target):
    """It is the user's then, behind the last result, and the result says where it is."""
    made = sent(
        claude({}, {"type": "text", "text": "seen"}, PNG, calls=2), "anthropic", target
    ).body
    assert "iVBORw0KGgo=" in str(turns(made)[-1])
    assert turns(made)[-1]["role"] == "user"
    assert str(made).count("iVBORw0KGgo=") == 1
    assert "see the message after the results" in str(turns(made)[:-1])
