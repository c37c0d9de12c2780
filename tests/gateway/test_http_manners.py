"""What people and programs do to an HTTP server, and what they are told."""

import json
from typing import Any

import pytest

from canonicall.gateway.config import Choice, ModelSettings
from gateway_support import Answer, World, ask

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
SAID = [{"role": "user", "content": "Hello?"}]
MODELS = {"fast": ModelSettings(choices=(Choice(target="anthropic:claude-opus-4-6"),))}


async def answered(path: str, body: Any = None, **how: Any) -> Answer:
    gateway = World().gateway(MODELS)
    answer = await ask(gateway, path, body, **how)
    await gateway.close()
    return answer


def told(answer: Answer) -> str:
    message: str = answer.json["error"]["message"]
    return message


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        (CHAT, "GET", "POST"),
        (MESSAGES, "PUT", "POST"),
        ("/v1/models", "DELETE", "GET"),
        (CHAT, "OPTIONS", "POST"),
    ],
)
async def test_a_wrong_method_is_told_with_the_right_one(
    path: str, method: str, allowed: str
) -> None:
    answer = await answered(path, {}, method=method)
    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert told(answer) == f"{path} is asked with {allowed}, not with {method}."


async def test_all_methods_of_a_path_are_named() -> None:
    answer = await answered("/v1/responses/resp_1", {}, method="PUT")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, DELETE")
    assert told(answer) == "/v1/responses/resp_1 is asked with GET or DELETE, not with PUT."


OPENAI, ANTHROPIC, GOOGLE = (
    lambda error: error["error"]["type"] == "invalid_request_error",
    lambda error: (error["type"], error["error"]["type"]) == ("error", "not_found_error"),
    lambda error: (error["error"]["code"], error["error"]["status"]) == (404, "NOT_FOUND"),
)
VERSION = {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("path", "headers", "is_own"),
    [
        ("/v1/embeddings", {}, OPENAI),
        ("/v1/chat/completions/chatcmpl-1", {}, OPENAI),
        ("/v1/responses/resp_1/steps", {}, OPENAI),
        ("/openai/deployments/fast/embeddings", {}, OPENAI),
        ("/v1/messages/batches", {}, ANTHROPIC),
        ("/messages/batches", {}, ANTHROPIC),
        ("/anthropic/v1/files", {}, ANTHROPIC),
        ("/v1/files", VERSION, ANTHROPIC),
        ("/v1beta/files", {}, GOOGLE),
        ("/gemini/v1/files", {}, GOOGLE),
        ("/v1/files", {"x-goog-api-key": "k"}, GOOGLE),
        ("/v1/files?key=k", {}, GOOGLE),
        # The model is there, the method is not: GET would not help.
        ("/v1beta/models/fast:embedContent", {}, GOOGLE),
        ("/v1/models/fast:embedContent", {}, GOOGLE),
        ("/models/fast:embedContent", {}, GOOGLE),
    ],
)
async def test_a_path_where_nothing_is_is_told_as_its_client_reads_it(
    path: str, headers: dict[str, str], is_own: Any
) -> None:
    answer = await answered(path, {}, headers=headers)
    assert answer.status == 404
    assert "allow" not in answer.headers
    assert is_own(answer.json), answer.json
    assert told(answer).startswith(f"Nothing is served at POST {path.partition('?')[0]}.")


@pytest.mark.parametrize(
    ("path", "body", "is_own", "words"),
    [
        (CHAT, {"model": "x", "messages": SAID}, OPENAI, "no model is called 'x'."),
        ("/v1/responses", {"model": "x", "input": "?"}, OPENAI, "no model is called 'x'."),
        (MESSAGES, {"model": "x", "messages": SAID}, ANTHROPIC, "no model is called 'x'."),
        (
            "/v1beta/models/x:generateContent",
            {"contents": [{"parts": [{"text": "?"}]}]},
            GOOGLE,
            "no model is called 'x'.",
        ),
        ("/v1/responses/resp_1", None, OPENAI, "Response with id 'resp_1' not found."),
        ("/v1/responses/resp_1/input_items", None, OPENAI, "Response with id 'resp_1' not"),
        ("/v1/models/x", None, OPENAI, "no model is called 'x'."),
        ("/v1beta/models/x", None, GOOGLE, "no model is called 'x'."),
    ],
)
async def test_what_is_not_known_is_named_as_its_client_reads_it(
    path: str, body: Any, is_own: Any, words: str
) -> None:
    answer = await answered(path, body)
    assert answer.status == 404
    assert is_own(answer.json), answer.json
    assert told(answer).startswith(words)


@pytest.mark.parametrize("version", ["", "/v1", "/v1beta", "/v1alpha", "/gemini"])
@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent", "countTokens"])
async def test_googles_methods_are_found_under_any_version(version: str, method: str) -> None:
    path = f"{version}/models/fast:{method}"
    assert (await answered(path, {"contents": [{"parts": [{"text": "?"}]}]})).status == 200
    wrong = await answered(path)
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")
    assert wrong.json["error"]["code"] == 405


async def test_models_without_a_version_are_openais() -> None:
    assert (await answered("/models")).json["object"] == "list"
    assert (await answered("/models/fast")).json["object"] == "model"
    assert "models" in (await answered("/models", headers={"x-goog-api-key": "k"})).json


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/fast", "/healthz", "/"])
async def test_a_head_is_answered_as_a_get(path: str) -> None:
    """Load balancers ask so; the server leaves the body out."""
    assert (await answered(path, method="HEAD")).status == 200


async def test_the_front_page_says_where_clients_ask() -> None:
    assert CHAT in (await answered("/")).json["told"]


@pytest.mark.parametrize(
    "path", ["//v1/chat/completions", "/v1//chat/completions/", "/v1/v1/chat/completions"]
)
async def test_a_base_url_with_a_slash_or_a_version_too_many_works(path: str) -> None:
    assert (await answered(path, {"model": "fast", "messages": SAID})).status == 200


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The body is empty: it has to be a JSON object."),
        (b" \n", "The body is empty"),
        (b"{nope", "The body is no JSON: object keys must be strings (byte 1)."),
        (b'{"model":', "The body is no JSON: Input data was truncated."),
        (b"[]", "The body has to be a JSON object."),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "The body is nested deeper than 200 levels"),
        (b'{"messages":[]}', "The request names no model: `model` says which one is to answer."),
        (b'{"model":7,"messages":[]}', "The request names no model"),
    ],
)
async def test_a_body_that_cannot_be_read_is_told_so(data: bytes, words: str) -> None:
    answer = await answered(CHAT, data)
    assert answer.status == 400
    assert told(answer).startswith(words)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fats", "no model is called 'fats'. Did you mean 'fast'?"),
        ("opnai:gpt-5", "no model is called 'opnai:gpt-5'. Did you mean 'openai:gpt-5'?"),
        ("gpt-4o", "no model is called 'gpt-4o'. Did you mean 'openai:gpt-4o'?"),
        ("xyz", "no model is called 'xyz'. Known: PROVIDER:MODEL, fast."),
    ],
)
async def test_an_unknown_model_is_told_with_what_may_be_meant(name: str, words: str) -> None:
    answer = await answered(CHAT, {"model": name, "messages": SAID})
    assert (answer.status, told(answer)) == (404, words)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CHAT, {"model": "fast", "messages": []}),
        (CHAT, {"model": "openai/openai-chat:gpt-5", "messages": []}),
        (MESSAGES, {"model": "fast", "messages": [], "max_tokens": 9}),
        ("/v1/responses", {"model": "fast", "input": []}),
        ("/v1beta/models/fast:generateContent", {"contents": []}),
    ],
)
async def test_who_says_nothing_is_not_answered(path: str, body: dict[str, Any]) -> None:
    world = World()
    gateway = world.gateway(MODELS)
    answer = await ask(gateway, path, body)
    await gateway.close()
    assert answer.status == 400
    assert told(answer) == "There is nothing to answer: no message was sent."
    assert not world.simulators


async def test_a_body_that_is_too_large_ends_the_connection() -> None:
    answer = await answered(CHAT, b"{}", headers={"content-length": "99999999999"})
    assert (answer.status, answer.headers["connection"]) == (413, "close")


@pytest.mark.parametrize(
    ("kind", "least", "most"), [("image/png", 1600, 1800), ("application/pdf", 25_000, 26_000)]
)
async def test_images_and_files_are_not_counted_as_words(kind: str, least: int, most: int) -> None:
    source = {"type": "base64", "media_type": kind, "data": "A" * 1_000_000}
    part = {"type": "image" if kind == "image/png" else "document", "source": source}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [part]}
    call = {"type": "tool_use", "id": "toolu_1", "name": "shot", "input": {}}
    turns = [*SAID, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    for said in ([{"role": "user", "content": [part]}], turns):
        answer = await answered("/v1/messages/count_tokens", {"model": "fast", "messages": said})
        assert answer.status == 200, answer.body
        assert least <= answer.json["input_tokens"] <= most, json.dumps(said)[:80]


@pytest.mark.parametrize("model", ["fast", "openai/openai-chat:gpt-4o"])
async def test_half_a_character_is_mended_and_told(model: str) -> None:
    """Forwarded or translated: providers refuse it, and the client sends it with every turn."""
    world = World()
    gateway = world.gateway(MODELS)
    data = json.dumps({"model": model, "messages": SAID}).replace(
        "Hello?", r"Cut \ud83d here, \ud83d\ude00"
    )
    answer = await ask(gateway, CHAT, data.encode())
    assert answer.status == 200, answer.body
    assert "lone_surrogate=1" in answer.headers["x-canonicall-changes"]
    (seen,) = [one for sim in world.simulators.values() for one in sim.seen]
    assert "Cut \ufffd here, \U0001f600" in json.dumps(seen.body, ensure_ascii=False)
    strict = await ask(gateway, CHAT, data.encode(), headers={"x-canonicall-strict": "true"})
    assert strict.status == 400
    await gateway.close()
