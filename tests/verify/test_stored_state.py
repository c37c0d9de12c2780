"""A delta is judged by what is in it: nothing at the seam, everything after it."""

from typing import Any

import pytest

from batches import each
from canonicall import get_target, verify
from canonicall.verify.stored_state import FIELDS
from delta_bodies import ARN, DELTAS, OUTPUT, THREAD


def codes(body: dict[str, Any], target: Any) -> list[str]:
    return [one.code for one in verify(body, target)]


@each("name", DELTAS)
def test_the_provider_that_keeps_the_rest_refuses_nothing(name):
    delta = DELTAS[name]
    report = verify(delta.body, delta.owner)
    assert report.findings == ()
    assert delta.field in report.notes[0]
    assert "only what is in the request is judged" in report.notes[0]


AT_THE_SEAM = {
    "an output after a response": "orphan_result_sent",
    "nothing after a response": "empty_input",
    "a forced tool of a response": "choice_without_tools",
    "a JSON object after a response": "json_word_missing",
    "a conversation": "orphan_result_sent",
    "a stored prompt": "empty_input",
    "a result after a thread": "orphan_result_sent",
    "nothing after a thread that was paused": "empty_input",
    "a forced tool of a thread": "choice_without_tools",
    "a response to cached content": "orphan_result_sent",
    "a reply after cached content": "must_start_with_user",
    "a result after a prompt resource": "orphan_result_sent",
    "a reply after a prompt resource": "must_start_with_user",
}


@each("name", AT_THE_SEAM)
def test_without_its_reference_it_is_refused(name):
    """What is not said of a delta is a violation of the same request as a whole."""
    delta = DELTAS[name]
    whole = {key: value for key, value in delta.body.items() if key not in FIELDS[delta.format]}
    is_prompt = delta.format == "bedrock"
    target = get_target("bedrock") if is_prompt else delta.owner
    assert AT_THE_SEAM[name] in codes(whole, target)


def thread(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    body = {"model": "claude-opus-5", "max_tokens": 9, "thread": THREAD, **fields}
    return {**body, "messages": list(messages)}


def cached(*contents: dict[str, Any]) -> dict[str, Any]:
    return {"cachedContent": "cachedContents/a", "contents": list(contents)}


def prompted(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"modelId": ARN, "messages": list(messages)}


def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def result(id: str = "toolu_1") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "x"}


def call(id: str = "toolu_2") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "f", "input": {}}


TEXT = {"type": "text", "text": "Hi"}
AFTER_IT = {
    "two outputs of one call": (
        "openai/openai-responses",
        {"model": "gpt-5", "previous_response_id": "resp_1", "input": [OUTPUT, OUTPUT]},
        "duplicate_result_sent",
    ),
    "a call of the request without its output": (
        "openai/openai-responses",
        {
            "model": "gpt-5",
            "conversation": "conv_1",
            "input": [
                {"type": "function_call", "call_id": "call_2", "name": "f", "arguments": "{}"},
                {"role": "user", "content": "Hi"},
            ],
        },
        "missing_result",
    ),
    "two results of one call": (
        "anthropic",
        thread(said("user", result(), result())),
        "duplicate_result_sent",
    ),
    "text before the results": (
        "anthropic",
        thread(said("user", TEXT, result())),
        "results_not_first",
    ),
    "a result after a reply of the request": (
        "anthropic",
        thread(said("user", result()), said("assistant", TEXT), said("user", result("toolu_9"))),
        "orphan_result_sent",
    ),
    "a call of the thread's delta without a result": (
        "anthropic",
        thread(said("user", TEXT), said("assistant", call()), said("user", TEXT)),
        "missing_result",
    ),
    "a message without content": ("anthropic", thread(said("user")), "empty_message"),
    "no limit of tokens": (
        "anthropic",
        {name: value for name, value in thread(said("user", TEXT)).items() if name != "max_tokens"},
        "missing_field",
    ),
    "instructions that the thread keeps": (
        "anthropic",
        thread(said("user", TEXT), system="Be brief."),
        "parameter_unsupported",
    ),
    "a response after a reply": (
        "gemini:gemini-3-pro",
        cached(
            {"role": "model", "parts": [{"text": "Yes."}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
        ),
        "orphan_result_sent",
    ),
    "tools beside cached content": (
        "gemini:gemini-3-pro",
        {**cached({"role": "user", "parts": [{"text": "Hi"}]}), "tools": [{"googleSearch": {}}]},
        "parameter_unsupported",
    ),
    "two users in a row after a prompt": (
        "bedrock:anthropic.claude-opus-5-v1:0",
        prompted(said("user", {"text": "Hi"}), said("user", {"text": "Hi"})),
        "roles_do_not_alternate",
    ),
}


@each("name", AFTER_IT)
def test_what_is_in_the_request_is_judged(name):
    target, body, code = AFTER_IT[name]
    assert code in codes(body, target)


@pytest.mark.parametrize("target", ["openrouter/openai-responses", "chatgpt-codex"])
@pytest.mark.parametrize("name", ["an output after a response", "a conversation"])
def test_who_keeps_nothing_refuses_the_reference(name, target):
    delta = DELTAS[name]
    found = [one for one in verify(delta.body, target) if one.code == "state_not_kept"]
    assert [one.where for one in found] == [f"$.{delta.field}"]
    assert "orphan_result_sent" not in codes(delta.body, target)


def test_a_named_item_is_refused_where_nothing_is_kept():
    body = DELTAS["an item reference"].body
    found = [one for one in verify(body, "chatgpt-codex") if one.code == "state_not_kept"]
    assert [one.where for one in found] == ["$.input[0]"]


def test_a_host_without_threads_refuses_to_continue_one():
    assert "state_not_kept" in codes(DELTAS["a result after a thread"].body, "deepseek/anthropic")
    assert "state_not_kept" not in codes(DELTAS["a result after a thread"].body, "anthropic")


def test_a_whole_request_has_no_note():
    body = {"model": "gpt-5", "input": "Hi", "previous_response_id": None}
    assert verify(body, "openai/openai-responses").notes == ()
