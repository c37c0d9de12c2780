"""One provider, in all its formats: what is answered, refused, and kept on record."""

import json

import pytest

from batches import each
from canonicall.codec import decode_response
from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.folding import raw_arguments
from canonicall.testing.exchange import SimRequest
from canonicall.testing.script import ScriptedModel
from canonicall.testing.simulator import Simulator
from canonicall.verify import verify_stream
from testing.asking import (
    ASKED,
    CHAT,
    KEY,
    NAMES,
    RESPONSES,
    ask,
    get,
    provider_of,
    stream,
    whole,
)

every_format = pytest.mark.parametrize("format", ASKED)
HELLO = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}


def arguments_of(call):
    return json.loads(raw_arguments(call))


@every_format
def test_a_whole_reply_calls_the_tools_that_were_asked_for(format):
    status, body = whole(Simulator(provider_of(format), call_tools="*"), format)
    assert status == 200
    reply = decode_response(body, format)
    assert tuple(call.name for call in reply.message.calls) == NAMES
    assert [arguments_of(call) for call in reply.message.calls] == [{"city": "Paris"}] * 2


@every_format
def test_no_tool_is_called_unless_somebody_asks_for_it(format):
    simulator = Simulator(provider_of(format))
    status, body = whole(simulator, format)
    assert status == 200
    reply = decode_response(body, format)
    assert reply.message.calls == ()
    assert f"Tools offered: {', '.join(NAMES)}." in reply.message.text
    assert verify_stream(stream(simulator, format).data, format).counts == {}


@every_format
def test_a_stream_is_grammatical(format):
    response = stream(Simulator(provider_of(format), call_tools="*"), format)
    assert response.status == 200
    data = response.data
    assert verify_stream(data, format).counts == {}
    assert all(name.encode() in data for name in NAMES)


def test_claude_pings_its_clients_when_the_first_block_has_begun():
    data = stream(Simulator("anthropic", call_tools="*"), "anthropic").data.decode()
    events = [line for line in data.splitlines() if line.startswith("event: ")]
    begin = ["message_start", "content_block_start", "ping", "content_block_delta"]
    assert events[:4] == [f"event: {name}" for name in begin]
    assert events.count("event: ping") == 1


def test_a_stream_of_gemini_says_how_it_is_framed():
    _, _, path, body = ASKED["gemini"]
    array, _, query = path.partition("?")
    assert query == "alt=sse"
    kinds = [
        Simulator("gemini", call_tools="*")
        .answer(SimRequest.of("POST", one, body, KEY))
        .headers["content-type"]
        for one in (path, array)
    ]
    assert kinds == ["text/event-stream", "application/json; charset=UTF-8"]


@every_format
def test_the_same_requests_give_the_same_bytes(format):
    first, second = (
        stream(Simulator(provider_of(format), call_tools="*"), format).data for _ in range(2)
    )
    assert first == second


WITH_WHOLE_REPLIES = [one for one in provider_names() if not get_target(one).stream_only]


@each("provider", WITH_WHOLE_REPLIES)
def test_every_provider_answers_in_every_format_it_speaks(provider):
    simulator = Simulator(provider, call_tools="*")
    for format in get_profile(provider).formats:
        status, body = whole(simulator, format)
        assert status == 200, (format, body)
        assert len(decode_response(body, format).message.calls) in (1, 2)


def test_a_host_that_wants_things_said_refuses_until_they_are():
    simulator = Simulator("chatgpt-codex", call_tools="*")
    asked = {"model": "gpt-5.5", "input": "Hi"}
    refused = {
        "Store must be set to false": {"store": False},
        "Stream must be set to true": {"stream": True},
        "Instructions are required": {"instructions": ""},
    }
    for words, said in refused.items():
        assert ask(simulator, RESPONSES, asked) == (400, {"detail": words})
        asked |= said
    answer = simulator.answer(SimRequest.of("POST", RESPONSES, asked, KEY))
    assert answer.status == 200
    assert verify_stream(answer.data, "openai-responses").counts == {}


@each("provider", provider_names())
def test_every_provider_lists_models_and_shows_each(provider):
    simulator = Simulator(provider, models=["one", "two"], call_tools="*")
    path = {"bedrock": "/foundation-models", "ollama": "/api/tags"}.get(provider, "/v1/models")
    status, listed = get(simulator, path)
    assert status == 200
    assert '"one"' in repr(listed).replace("'", '"').replace("models/", "")
    if provider != "ollama":
        assert get(simulator, f"{path}/one")[0] == 200
        assert get(simulator, f"{path}/three")[0] in (400, 404)


def test_ollama_says_which_version_it_is_and_what_a_model_can_do():
    simulator = Simulator("ollama", models=["qwen3:8b", "gemma3:4b"], call_tools="*")
    assert get(simulator, "/api/version") == (200, {"version": "0.12.6"})
    status, shown = ask(simulator, "/api/show", {"model": "qwen3:8b"})
    assert (status, shown["capabilities"]) == (200, ["completion", "tools", "thinking"])
    assert shown["details"]["format"] == "gguf"
    # Older clients say `name`; what is refused in a chat is nothing that the model can do.
    assert ask(simulator, "/api/show", {"name": "gemma3:4b"})[1]["capabilities"] == ["completion"]
    missing = ask(simulator, "/api/show", {"model": "mistral"})
    assert missing == (404, {"error": "model 'mistral' not found"})
    assert ask(simulator, "/api/show", {}) == (400, {"error": "model is required"})
    assert not simulator.seen


def test_what_was_asked_and_how_it_ended_is_on_record():
    simulator = Simulator("openai", models=["gpt-5.2"], model=ScriptedModel(["Hello."]))
    broken = {**HELLO, "messages": [{"role": "tool", "tool_call_id": "x", "content": "?"}]}
    ask(simulator, CHAT, broken)
    ask(simulator, CHAT, HELLO)
    ask(simulator, CHAT, HELLO)
    ask(simulator, CHAT, {**HELLO, "model": "gpt-9"})
    get(simulator, "/v1/models")
    assert [one.status for one in simulator.seen] == [400, 200, 500, 404]
    assert [one.body for one in simulator.seen[:3]] == [broken, HELLO, HELLO]
    assert simulator.seen[0].violations[0].code == "orphan_result_sent"
    assert simulator.seen[1].target.model == "gpt-5.2"


@every_format
def test_a_client_without_a_key_is_turned_away(format):
    provider, path, _, body = ASKED[format]
    response = Simulator(provider, call_tools="*").answer(SimRequest.of("POST", path, body))
    wanted = {"ollama": 200, "gemini": 403, "bedrock": 403}.get(format, 401)
    assert response.status == wanted


@every_format
def test_a_wrong_key_is_turned_away(format):
    simulator = Simulator(provider_of(format), keys=["right"], call_tools="*")
    assert whole(simulator, format)[0] in (400, 401, 403)
    header = "AWS4 right" if format == "bedrock" else "Bearer right"
    if format != "bedrock":
        assert whole(simulator, format, authorization=header)[0] == 200


@every_format
def test_a_model_that_is_not_there_is_not_served(format):
    status, _ = whole(Simulator(provider_of(format), models=["another"], call_tools="*"), format)
    assert status == (400 if format == "bedrock" else 404)


@pytest.mark.parametrize("path", ["/", "/v1/embeddings", "/v1/messages", "/v2/chat"])
def test_what_a_provider_does_not_serve_is_not_found(path):
    status, body = ask(Simulator("openai", call_tools="*"), path, {})
    assert status == 404
    assert path in body["error"]["message"]


def test_the_model_reads_the_request_and_its_error_is_told():
    asked = []

    def model(request):
        asked.append(request)
        return ScriptedModel([])(request)

    status, body = ask(Simulator("openai", model=model), CHAT, HELLO)
    assert status == 500
    assert "the script has 0 replies" in body["error"]["message"]
    assert next(iter(asked[0].conversation.messages)).text == "Hi"


def test_a_field_of_the_responses_api_means_nothing_in_another():
    body = {**HELLO, "previous_response_id": "resp_1"}
    assert ask(Simulator("vllm", call_tools="*"), CHAT, body)[0] == 200


def test_vertex_serves_claude_at_its_own_paths():
    body = {
        "anthropic_version": "vertex-2023-10-16",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    base = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-6"
    status, reply = ask(Simulator("vertex", call_tools="*"), f"{base}:rawPredict", body)
    assert (status, reply["model"]) == (200, "claude-opus-4-6")
    asked = SimRequest.of("POST", f"{base}:streamRawPredict", {**body, "stream": True}, KEY)
    assert (
        verify_stream(Simulator("vertex", call_tools="*").answer(asked).data, "anthropic").counts
        == {}
    )
