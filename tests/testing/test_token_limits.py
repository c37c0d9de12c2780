"""The token limit of a request: the simulated reply is cut there, and says so in every format."""

import copy
import json

import pytest

from canonicall.blocks import ToolCall
from canonicall.codec.decode import decode_response
from canonicall.codec.streams import StreamDecoder
from canonicall.events import ArgumentsAdded, TextAdded
from canonicall.folding import fold
from canonicall.testing.exchange import SimRequest
from canonicall.testing.script import ScriptedModel, says, thought
from canonicall.testing.simulator import Simulator
from canonicall.verify import verify_stream
from testing.asking import ASKED, KEY, MESSAGES, NAMES, ask, provider_of

every_format = pytest.mark.parametrize("format", ASKED)
LIMITS = {
    "openai-chat": ("max_completion_tokens",),
    "openai-responses": ("max_output_tokens",),
    "anthropic": ("max_tokens",),
    "gemini": ("generationConfig", "maxOutputTokens"),
    "bedrock": ("inferenceConfig", "maxTokens"),
    "cohere": ("max_tokens",),
    "ollama": ("options", "num_predict"),
}
REASONS = {
    "openai-chat": '"finish_reason":"length"',
    "openai-responses": '"incomplete_details":{"reason":"max_output_tokens"}',
    "anthropic": '"stop_reason":"max_tokens"',
    "gemini": '"finishReason":"MAX_TOKENS"',
    "bedrock": '"stopReason":"max_tokens"',
    "cohere": '"finish_reason":"MAX_TOKENS"',
    "ollama": '"done_reason":"length"',
}


def limited(format, tokens):
    """The request of a format with a limit, and no thinking."""
    body = copy.deepcopy(ASKED[format][3])
    for name in ("thinking", "reasoning"):
        body.pop(name, None)
    *outer, last = LIMITS[format]
    held = body
    for name in outer:
        held = held.setdefault(name, {})
    held[last] = tokens
    return body


def answered(format, tokens, **options):
    """The reply to it as a whole, and the reply in a stream."""
    _, path, stream_path, _ = ASKED[format]
    body = limited(format, tokens)
    whole = {**body, "stream": False} if format == "ollama" else body
    status, answer = ask(Simulator(provider_of(format), **options), path, whole)
    assert status == 200
    streams = {} if format in ("gemini", "bedrock") else {"stream": True}
    asked = SimRequest.of("POST", stream_path, {**body, **streams}, KEY)
    data = Simulator(provider_of(format), **options).answer(asked).data
    assert verify_stream(data, format).counts == {}
    decoder = StreamDecoder(format)
    return answer, data, [*decoder.feed(data), *decoder.close()]


@every_format
@pytest.mark.parametrize("tokens", [1, 5])
def test_text_is_cut_at_the_limit(format, tokens):
    answer, data, events = answered(format, tokens)
    reply = decode_response(answer, format)
    assert REASONS[format] in json.dumps(answer, separators=(",", ":"))
    assert (reply.finish, reply.usage.output_tokens) == ("length", tokens)
    assert reply.message.text == "You said: What is the weather"[: 4 * tokens - 1]
    assert fold(events).finish == "length"
    assert "".join(one.text for one in events if isinstance(one, TextAdded)) == reply.message.text
    assert data


@every_format
def test_a_reply_that_fits_is_whole(format):
    answer, _, events = answered(format, 500)
    reply = decode_response(answer, format)
    assert reply.finish == fold(events).finish == "stop"
    assert reply.usage.output_tokens < 500
    assert reply.message.text.endswith("None was called.")


@every_format
def test_a_call_is_cut_in_its_arguments(format):
    """A format whose arguments are no text has no part of a call."""
    answer, _, events = answered(format, 12, call_tools="*")
    reply, streamed = decode_response(answer, format), fold(events)
    assert reply.finish == streamed.finish == "length"
    assert reply.usage.output_tokens == 12
    names = [block.name for block in reply.message.blocks if isinstance(block, ToolCall)]
    if format in ("gemini", "ollama"):
        assert names == list(NAMES[:1])
        return
    assert names == list(NAMES)
    told = [one.text for one in events if isinstance(one, ArgumentsAdded)]
    assert "".join(told).endswith('{"city":"P')
    if format in ("anthropic", "bedrock"):
        assert reply.message.calls[1].args == {}


@every_format
def test_a_limit_before_the_arguments_leaves_no_call(format):
    answer, _, events = answered(format, 1, call_tools="*")
    message = decode_response(answer, format).message
    assert (message.calls, message.text) == ((), "")
    assert fold(events).finish == "length"


def test_thoughts_count_and_scripts_are_cut_too():
    model = ScriptedModel([says(thought("I have to look."), "It is sunny in Paris.")])
    body = {
        "model": "claude-haiku-4-5",
        "max_tokens": 6,
        "messages": ASKED["anthropic"][3]["messages"],
    }
    status, answer = ask(Simulator("anthropic", model=model), MESSAGES, body)
    assert status == 200
    assert [one.get("thinking") or one["text"] for one in answer["content"]] == [
        "I have to look.",
        "It is su",
    ]
    assert (answer["stop_reason"], answer["usage"]["output_tokens"]) == ("max_tokens", 6)


def test_the_probe_of_claude_code_is_answered():
    body = {
        "model": "claude-haiku-4-5",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": "quota"}],
        "metadata": {"user_id": "someone"},
    }
    status, answer = ask(Simulator("anthropic"), MESSAGES, body)
    assert status == 200
    assert (answer["stop_reason"], answer["usage"]["output_tokens"]) == ("max_tokens", 1)
    assert [block["text"] for block in answer["content"]] == ["You"]


def test_a_negative_number_is_no_limit_for_ollama():
    body = {**limited("ollama", -1), "stream": False}
    status, answer = ask(Simulator("ollama"), ASKED["ollama"][1], body)
    assert (status, answer["done_reason"]) == (200, "stop")
