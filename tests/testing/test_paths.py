"""What a service has besides replies: other methods and paths, counts, numbers of requests."""

import json

import pytest

from canonicall.testing.exchange import SimRequest
from canonicall.testing.simulator import Simulator
from testing.asking import ASKED, KEY, MESSAGES, RESPONSES, ask

every_format = pytest.mark.parametrize("format", ASKED)
HELLO = {"model": "claude-haiku-4-5", "messages": [{"role": "user", "content": "Hi"}]}
ORPHAN = {"type": "tool_result", "tool_use_id": "toolu_1"}
COUNT = f"{MESSAGES}/count_tokens"


def words_of(answer):
    error = answer.get("error", answer)
    return error if isinstance(error, str) else error["message"]


@every_format
def test_another_method_is_not_allowed(format):
    provider, path, _, body = ASKED[format]
    wanted = {"gemini": 404, "bedrock": 403}.get(format, 405)
    for method in ("PUT", "GET", "HEAD", "OPTIONS"):
        status, answer = ask(Simulator(provider), path, body, method=method)
        assert status == wanted
        assert words_of(answer)


@every_format
def test_what_is_not_there_is_told_in_the_envelope_of_the_provider(format):
    provider, path, _, body = ASKED[format]
    unknown, answer = ask(Simulator(provider), "/no/such/path", body)
    refused, other = ask(Simulator(provider), path, b"{")
    assert (unknown, refused) == (404, 400)
    assert answer.keys() == other.keys()
    assert "/no/such/path" in words_of(answer)


def test_openai_names_the_method():
    status, answer = ask(Simulator("openai"), RESPONSES, method="PUT")
    assert status == 405
    assert answer["error"]["code"] == "method_not_supported"
    assert "Not allowed to PUT on /v1/responses" in answer["error"]["message"]


@every_format
def test_every_answer_has_the_number_of_its_request(format):
    provider, path, _, body = ASKED[format]
    names = {"anthropic": "request-id", "bedrock": "x-amzn-requestid"}
    name = names.get(format, "x-request-id")
    simulator = Simulator(provider)
    answers = [simulator.answer(SimRequest.of("POST", path, one, KEY)) for one in (body, b"{")]
    numbers = [one.headers[name] for one in answers]
    assert len(set(numbers)) == 2
    if format == "anthropic":
        assert json.loads(answers[1].data)["request_id"] == numbers[1]


@pytest.mark.parametrize("format", [one for one in ASKED if one not in ("gemini", "bedrock")])
def test_a_request_names_its_model(format):
    provider, path, _, body = ASKED[format]
    nameless = {name: value for name, value in body.items() if name != "model"}
    status, answer = ask(Simulator(provider), path, nameless)
    assert status == 400
    assert "model" in words_of(answer)


def test_the_deployment_names_the_model_at_azure():
    path = "/openai/deployments/gpt-5.2/chat/completions"
    body = {"messages": [{"role": "user", "content": "Hi"}]}
    assert ask(Simulator("azure"), path, body)[0] == 200


def test_a_body_that_is_too_large():
    data = b" " * (32 * 1024 * 1024) + json.dumps(HELLO | {"max_tokens": 5}).encode()
    status, answer = ask(Simulator("anthropic"), MESSAGES, data)
    assert (status, answer["error"]["type"]) == (413, "request_too_large")


def test_tokens_are_counted_of_what_could_be_sent():
    simulator = Simulator("anthropic")
    status, answer = ask(simulator, COUNT, HELLO)
    assert (status, list(answer)) == (200, ["input_tokens"])
    orphan = HELLO | {"messages": [{"role": "user", "content": [ORPHAN]}]}
    status, answer = ask(simulator, COUNT, orphan)
    assert status == 400
    assert "unexpected `tool_use_id`" in answer["error"]["message"]
    schema = {"type": "object"}
    later = [{"name": "look", "input_schema": schema, "defer_loading": True}]
    assert ask(simulator, COUNT, HELLO | {"tools": later})[0] == 400
    assert simulator.seen == []


def test_gemini_counts_contents_and_whole_requests():
    path = "/v1beta/models/gemini-3-pro-preview:countTokens"
    contents = {"contents": [{"parts": [{"text": "Hi"}]}]}
    simulator = Simulator("gemini")
    assert ask(simulator, path, contents)[0] == 200
    assert ask(simulator, path, {"generateContentRequest": contents})[0] == 200
    assert ask(simulator, path, {"generateContentRequest": {"contents": []}})[0] == 400
    assert ask(simulator, path, {"contents": []})[0] == 400


def test_converse_counts_its_own_requests():
    path = "/model/anthropic.claude-haiku-4-5-20251001-v1:0/count-tokens"
    said = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    simulator = Simulator("bedrock")
    status, answer = ask(simulator, path, {"input": {"converse": said}})
    assert (status, list(answer)) == (200, ["inputTokens"])
    assert ask(simulator, path, {"input": {"converse": {"messages": []}}})[0] == 400
    assert ask(simulator, path, {"input": {"invokeModel": {"body": "e30="}}})[0] == 200


def test_openai_counts_the_tokens_of_an_input():
    path = f"{RESPONSES}/input_tokens"
    status, answer = ask(Simulator("openai"), path, {"model": "gpt-5.2", "input": "Hi"})
    assert (status, answer["object"]) == (200, "response.input_tokens")
    assert ask(Simulator("openai"), path, {"model": "gpt-5.2", "input": []})[0] == 400


def test_a_reply_that_is_there_cannot_be_cancelled():
    simulator = Simulator("openai")
    _, reply = ask(simulator, RESPONSES, {"model": "gpt-5.2", "input": "Hi"})
    status, answer = ask(simulator, f"{RESPONSES}/{reply['id']}/cancel")
    assert (status, answer["error"]["message"]) == (400, "Cannot cancel a synchronous response.")
    assert ask(simulator, f"{RESPONSES}/resp_0/cancel")[0] == 404
