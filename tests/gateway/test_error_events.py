"""OpenAI's error event, inside of a stream of the Responses API, behind every front."""

import json

import pytest

from canonicall.codec.streams import StreamDecoder
from canonicall.verify import verify_stream
from codec.test_stream_errors import ERROR, SAID, STREAMS, errors, sse, starts
from scenarios.scripted_hosts import Hosts, asked, model, question, stream

FRONTS = ["openai-chat", "openai-responses", "anthropic", "gemini"]
BACK = "openai/openai-responses:gpt-5"
BEGUN = ["within words", "within a call", "told twice"]


@pytest.mark.parametrize("name", BEGUN)
@pytest.mark.parametrize("front", FRONTS)
async def test_a_client_that_streams_gets_its_own_error(front, name):
    """Something has been sent already: the stream goes on with the error, and begins once."""
    hosts = Hosts({"openai": [stream(*map(sse, STREAMS[name]))] * 9})
    gateway = hosts.gateway(model(BACK))
    answer = await asked(gateway, front, question(front), streams=True)
    await gateway.close()
    assert answer.status == 200
    if front != "openai-responses":  # passed on as it came
        assert list(verify_stream(answer.body, front)) == []
    assert starts(answer.body, front) == 1
    told, end = errors(answer.body, front)
    assert told == [SAID]
    assert not end.complete


@pytest.mark.parametrize(
    ("front", "streams"),
    [*((front, True) for front in FRONTS), *((front, False) for front in FRONTS[::2])],
)
async def test_an_error_before_anything_else_is_an_error_of_the_front(front, streams):
    """Nothing was sent: the client gets a status, or a stream that says nothing but the error."""
    hosts = Hosts({"openai": [stream(sse(ERROR))] * 9})
    gateway = hosts.gateway(model(BACK))
    answer = await asked(gateway, front, question(front), streams=streams)
    await gateway.close()
    assert SAID.encode() in answer.body
    if answer.status == 200:
        assert streams
        decoder = StreamDecoder(front)
        assert not (decoder.feed(answer.body) + decoder.close())[-1].complete
    else:
        assert answer.status >= 500
        assert SAID in json.loads(answer.body)["error"]["message"]
