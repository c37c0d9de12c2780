"""What the gateway says of its changes: headers, reports, strict mode, and questions about bodies."""

from typing import Any

import pytest

from canonicall.gateway.config import Choice, ModelSettings, RepairSettings
from gateway_support import World, ask

MODELS = {"fast": ModelSettings(choices=(Choice(target="anthropic:claude-sonnet-4-5"),))}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
BROKEN: dict[str, Any] = {
    "model": "fast",
    "max_tokens": 99,
    "messages": [
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "user", "content": "And?"},
    ],
}
WHOLE = {**BROKEN, "messages": BROKEN["messages"][:1]}
CHAT = "/v1/chat/completions"


async def test_every_change_is_in_the_header_and_in_the_report() -> None:
    world = World()
    gateway = world.gateway(MODELS)
    answer = await ask(gateway, CHAT, BROKEN)
    assert answer.status == 200
    changes = dict(one.split("=") for one in answer.headers["x-canonicall-changes"].split(", "))
    assert changes["result_made_up"] == "1"
    id = answer.headers["x-canonicall-request-id"]
    report = (await ask(gateway, f"/canonicall/reports/{id}")).json
    told = next(one for one in report["request"] if one["code"] == "result_made_up")
    assert told["action"] == "added"
    assert (told["came"], told["went"], told["rule"]) == ("", "$.messages[2].content[0]", "")
    assert (report["target"], report["status"]) == ("anthropic:claude-sonnet-4-5", 200)
    sent = world.of("anthropic").seen[-1].body["messages"]
    assert next(iter(report["ids"].values())) == sent[1]["content"][0]["id"]
    await gateway.close()


async def test_nothing_changed_is_said_as_well() -> None:
    gateway = World().gateway(MODELS)
    answer = await ask(gateway, CHAT, WHOLE)
    assert answer.headers["x-canonicall-changes"] == "none"
    missing = await ask(gateway, "/canonicall/reports/0123")
    assert missing.status == 404
    await gateway.close()


@pytest.mark.parametrize("by", ["header", "settings"])
async def test_strict_mode_refuses_and_says_what_would_have_been_changed(by: str) -> None:
    world = World()
    gateway = world.gateway(MODELS, repair=RepairSettings(strict=by == "settings"))
    headers = {"x-canonicall-strict": "true"} if by == "header" else {}
    refused = await ask(gateway, CHAT, BROKEN, headers=headers)
    assert refused.status == 422
    assert "result_made_up" in refused.json["error"]["message"]
    assert not world.of("anthropic").seen
    assert (await ask(gateway, CHAT, WHOLE, headers=headers)).status == 200
    await gateway.close()


async def test_the_body_for_a_provider_is_shown_without_asking_it() -> None:
    world = World()
    gateway = world.gateway(MODELS)
    asked = {"to": "fast", "body": BROKEN}
    shown = (await ask(gateway, "/canonicall/translate", asked)).json
    assert (shown["from"], shown["format"]) == ("openai-chat", "anthropic")
    assert not shown["violations"]
    assert "result_made_up" in [one["code"] for one in shown["findings"]]
    assert not world.of("anthropic").seen
    await ask(gateway, CHAT, BROKEN)
    sent = world.of("anthropic").seen[-1].body
    assert shown["body"]["messages"] == sent["messages"]
    await gateway.close()


async def test_a_body_is_checked_in_the_providers_words() -> None:
    gateway = World().gateway(MODELS)
    found = (await ask(gateway, "/canonicall/check", {"as": "openai", "body": BROKEN})).json
    assert not found["accepted"]
    assert "must be followed by tool messages" in found["violations"][0]["error"]
    fine = (await ask(gateway, "/canonicall/check", {"as": "openai", "body": WHOLE})).json
    assert (fine["accepted"], fine["violations"]) == (True, [])
    await gateway.close()


async def test_an_error_is_explained() -> None:
    gateway = World().gateway(MODELS)
    error = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after"
    found = (await ask(gateway, "/canonicall/explain", {"error": error, "as": "anthropic"})).json
    assert found["known"]
    assert found["meanings"][0]["repair"]
    nothing = (await ask(gateway, "/canonicall/explain", {"error": "Lunch is over."})).json
    assert not nothing["known"]
    await gateway.close()


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("translate", {"to": "fast"}, "`body` is missing"),
        ("translate", {"body": WHOLE}, "`to` is missing"),
        ("translate", {"body": WHOLE, "to": "nobody"}, "no provider is called 'nobody'"),
        ("translate", {"body": WHOLE, "to": "openai", "from": "morse"}, "morse"),
        ("check", {"as": "anthropic", "body": 7}, "`body` is missing"),
        ("explain", {}, "`error` is missing"),
    ],
)
async def test_bad_questions_get_an_answer_that_helps(path: str, body: Any, words: str) -> None:
    gateway = World().gateway(MODELS)
    refused = await ask(gateway, f"/canonicall/{path}", body)
    assert refused.status == 400
    assert words in refused.json["error"]["message"]
    wrong = await ask(gateway, f"/canonicall/{path}")
    assert wrong.status == 405
    await gateway.close()
