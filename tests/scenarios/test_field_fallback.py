"""Errors, other attempts and who takes over: K1 to K9 of the field catalogue, at the gateway."""

import json

import pytest

from canonicall.blocks import Message
from canonicall.events import StreamEnded
from canonicall.framing.eventstream import write_frame
from canonicall.gateway.config import RepairSettings
from canonicall.reply import ERROR, Reply
from canonicall.streams import StreamEncoder
from canonicall.testing.exchange import SimResponse
from canonicall.testing.script import says, thought
from scenarios import upstreams
from scenarios.scripted_hosts import Hosts, asked, model, no_connection, question, saying, stream
from scenarios.streaming_support import ERRORS, READERS, has_failed

FRONTS = ["openai-chat", "openai-responses", "anthropic", "gemini"]
CLAUDE = "anthropic:claude-opus-4-6"
"""From 4.6 on a conversation that ends with the assistant is refused."""
BEGUN = "Paris is the capital"
GONE_ON = " of France."
START = upstreams.sse({"type": "message-start", "id": "r", "delta": {"message": {}}})
TEXT = upstreams.cohere("content-start", 0, content={"type": "text", "text": ""})
WORDS = upstreams.cohere("content-delta", 0, content={"text": BEGUN})
CUT_WORDS = stream(START, TEXT, WORDS, cut=True)
"""Of a host whose format no front has: its reply is read, not only passed on."""
OVERLOADED = upstreams.event(
    "error", error={"type": "overloaded_error", "message": "Overloaded, come back later."}
)


@pytest.mark.parametrize("front", FRONTS)
async def test_k1_who_takes_over_in_the_midst_gets_no_prefill(front):
    """The words so far were sent as the last turn of the assistant, which newer models refuse."""
    hosts = Hosts({"cohere": [CUT_WORDS]}, saying(GONE_ON))
    gateway = hosts.gateway(model("cohere:c", CLAUDE))
    answer = await asked(gateway, front, question(front), streams=True)
    (taken,) = hosts.of("anthropic").seen
    assert (taken.status, taken.body["messages"][-1]["role"]) == (200, "user")
    assert BEGUN in json.dumps(taken.body)
    assert READERS[front](answer.body).text == BEGUN + GONE_ON
    await gateway.close()


@pytest.mark.parametrize("front", FRONTS)
async def test_k1_what_went_wrong_first_is_not_swallowed(front):
    """Nobody could go on: the client is told that the reply broke, and of what."""
    refused = SimResponse.json(400, {"error": {"type": "invalid_request_error", "message": "No."}})
    hosts = Hosts({"cohere": [CUT_WORDS], "anthropic": [refused] * 9})
    gateway = hosts.gateway(model("cohere:c", CLAUDE))
    answer = await asked(gateway, front, question(front), streams=True)
    assert BEGUN.encode() in answer.body
    assert has_failed(answer.body, front)
    # A response that is incomplete has no place for a cause.
    assert b"the connection broke" in answer.body or front == "openai-responses"
    await gateway.close()


async def test_k2_nobody_takes_over_where_that_is_switched_off():
    """The switch held before the first byte only."""
    hosts = Hosts({"cohere": [CUT_WORDS]})
    settings = RepairSettings(continue_streams=False)
    gateway = hosts.gateway(model("cohere:c", CLAUDE), repair=settings)
    answer = await asked(gateway, "anthropic", question("anthropic"), streams=True)
    assert [to for to, _ in hosts.sent] == ["cohere"]
    with pytest.raises(ERRORS["anthropic"]):
        READERS["anthropic"](answer.body)
    await gateway.close()


@pytest.mark.parametrize("front", FRONTS)
async def test_k3_a_stream_that_breaks_is_tried_again_without_anybody_else(front):
    """Errors in the midst went to the fallbacks only; without one the reply was lost."""
    hosts = Hosts({"cohere": [CUT_WORDS]}, saying(GONE_ON))
    gateway = hosts.gateway(model("cohere:c"))
    answer = await asked(gateway, front, question(front), streams=True)
    assert READERS[front](answer.body).text == BEGUN + GONE_ON
    assert [to for to, _ in hosts.sent] == ["cohere", "cohere"]
    await gateway.close()


EMPTY = {"nothing": (), "a start": (START,), "empty words": (START, TEXT)}


@pytest.mark.parametrize("said", EMPTY)
@pytest.mark.parametrize("front", FRONTS)
async def test_k4_a_reply_that_broke_before_its_first_word_begins_anew(front, said):
    """Where nothing had been said, the fallback was asked to go on, and words came twice."""
    hosts = Hosts({"cohere": [stream(*EMPTY[said], cut=True)] * 9}, saying("Hello there."))
    gateway = hosts.gateway(model("cohere:c", CLAUDE))
    answer = await asked(gateway, front, question(front), streams=True)
    assert READERS[front](answer.body).text == "Hello there."
    (body,) = hosts.bodies("anthropic")
    assert body["messages"] == [{"role": "user", "content": "Go."}]
    await gateway.close()


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("front", FRONTS)
async def test_k5_no_connection_is_known_before_the_head_is_sent(front, streams):
    """The call was made while the stream was read: a host that was down was never tried again."""
    hosts = Hosts({"openai": [no_connection()]}, saying("Here."))
    gateway = hosts.gateway(model("openai:gpt-x"))
    answer = await asked(gateway, front, question(front), streams=streams)
    assert (answer.status, len(hosts.sent)) == (200, 2)
    hosts.answers["openai"] = [no_connection() for _ in range(9)]
    answer = await asked(gateway, front, question(front), streams=streams)
    assert answer.status == 502
    assert "nobody listens there." in json.dumps(answer.json)
    await gateway.close()


def test_k6_a_bedrock_client_gets_an_exception_frame():
    """The error came as words of another format, which no client of Converse can read."""
    failed = Reply(Message("assistant", partial=True, finish=ERROR))
    broken = StreamEnded(failed, complete=False, why="The upstream broke.")
    written = StreamEncoder("bedrock").feed(broken)
    with pytest.raises(ERRORS["bedrock"], match=r"The upstream broke\."):
        READERS["bedrock"](written)


@pytest.mark.parametrize("front", FRONTS)
async def test_k6_an_exception_frame_of_bedrock_is_an_error_for_every_client(front):
    """And the other way round: behind words, it ends the stream as an error, with its cause."""
    begun = upstreams.aws("messageStart", role="assistant")
    words = upstreams.aws("contentBlockDelta", contentBlockIndex=0, delta={"text": "Well"})
    told = json.dumps({"message": "Model crashed."}).encode()
    thrown = write_frame("modelStreamErrorException", told, exception=True)
    kind = "application/vnd.amazon.eventstream"
    hosts = Hosts({"bedrock": [stream(begun, words, thrown, kind=kind)]})
    settings = RepairSettings(continue_streams=False)
    gateway = hosts.gateway(model("bedrock:anthropic.claude-x"), repair=settings)
    answer = await asked(gateway, front, question(front), streams=True)
    assert has_failed(answer.body, front)
    assert b"Model crashed." in answer.body
    await gateway.close()


@pytest.mark.parametrize("front", FRONTS)
async def test_k7_an_overload_inside_a_200_goes_to_the_next(front):
    """The status was taken for success, and the overload for the reply."""
    broken = stream(upstreams.message_start(), OVERLOADED)
    hosts = Hosts({"anthropic": [broken] * 9}, saying("Here I am."))
    gateway = hosts.gateway(model(CLAUDE, "mistral:small"))
    answer = await asked(gateway, front, question(front), streams=True)
    assert READERS[front](answer.body).text == "Here I am."
    assert b"Overloaded" not in answer.body
    assert hosts.sent[-1][0] == "mistral"
    await gateway.close()


def _finish_of(front, body):
    match front:
        case "openai-chat":
            return body["choices"][0]["finish_reason"], body["choices"][0]["message"]["role"]
        case "openai-responses":
            return body["incomplete_details"]["reason"], body["status"]
        case "anthropic":
            return body["stop_reason"], body["role"]
        case _:
            (candidate,) = body["candidates"]
            return candidate["finishReason"], candidate["content"]["role"]


CAPPED = {
    "openai-chat": ("length", "assistant"),
    "openai-responses": ("max_output_tokens", "incomplete"),
    "anthropic": ("max_tokens", "assistant"),
    "gemini": ("MAX_TOKENS", "model"),
}


@pytest.mark.parametrize("back", ["gemini:g", "deepseek:d", "ollama:o"])
@pytest.mark.parametrize("front", FRONTS)
async def test_k8_a_reply_of_thoughts_alone_says_that_it_was_cut(front, back):
    """Thinking ate all tokens: clients got a 200 without any choice, and broke."""
    capped = says(thought("Let me think about"), finish="length")
    gateway = Hosts(make=saying(capped, capped)).gateway(model(back))
    answer = await asked(gateway, front, question(front))
    assert answer.status == 200, answer.body
    assert _finish_of(front, answer.json) == CAPPED[front]
    answer = await asked(gateway, front, question(front), streams=True)
    seen = READERS[front](answer.body)
    assert (seen.text, seen.finish) == ("", CAPPED[front][0])
    await gateway.close()


@pytest.mark.parametrize("choices", [None, []])
@pytest.mark.parametrize("front", FRONTS)
async def test_k8_a_200_without_a_choice_is_no_reply(front, choices):
    """A host that sends it is asked again, then the next; it never reaches a client."""
    nothing = {"id": "c", "object": "chat.completion", "model": "k", "choices": choices}
    hosts = Hosts({"kimi": [SimResponse.json(200, nothing)] * 9}, saying("Here."))
    gateway = hosts.gateway(model("kimi:k", CLAUDE))
    answer = await asked(gateway, front, question(front))
    assert answer.status == 200
    assert "Here." in json.dumps(answer.json)
    assert hosts.sent[-1][0] == "anthropic"
    await gateway.close()


BAD_SEAL = "messages.1.content.0: Invalid `signature` in `thinking` block"
REFUSED = SimResponse.json(
    400, {"type": "error", "error": {"type": "invalid_request_error", "message": BAD_SEAL}}
)


def _history(*blocks):
    return {
        "max_tokens": 99,
        "messages": [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": [*blocks, {"type": "text", "text": "Gone."}]},
            {"role": "user", "content": "And back."},
        ],
    }


async def test_k9_what_is_sent_again_without_thoughts_has_none():
    """It was told that they were stripped; the request was the same."""
    sealed = {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="}
    hosts = Hosts({"anthropic": [REFUSED] * 2}, saying("Back."))
    gateway = hosts.gateway(model(CLAUDE))
    answer = await asked(gateway, "anthropic", _history(sealed))
    assert answer.status == 200, answer.body
    assert b"c2VhbA==" in hosts.sent[0][1]
    assert b"c2VhbA==" not in hosts.sent[-1][1]
    assert b"thinking" not in hosts.sent[-1][1]
    await gateway.close()


@pytest.mark.parametrize("front", ["openai-chat", "anthropic"])
async def test_k9_a_request_that_was_refused_is_not_sent_again_as_it_was(front):
    """Without any thought in it there is nothing to strip; the client is told the cause."""
    hosts = Hosts({"anthropic": [REFUSED] * 9})
    gateway = hosts.gateway(model(CLAUDE))
    plain = question(front) if front == "openai-chat" else _history()
    answer = await asked(gateway, front, plain)
    assert answer.status == 400
    assert BAD_SEAL in answer.json["error"]["message"]
    rendered = [data for _, data in hosts.sent]
    assert len(set(rendered)) == len(rendered)
    assert hosts.waits == []
    await gateway.close()
