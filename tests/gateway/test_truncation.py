"""`truncation: "auto"`: a conversation that is too long for the upstream loses its beginning, in whole
interactions; without it the client gets the error of its front."""

import json
from typing import Any

import pytest

from canonicall import verify
from canonicall.blocks import Text
from canonicall.facts.registry import get_target
from canonicall.gateway.app import Gateway
from gateway_faults import BACKS, Faulty, Front, Play, Upstream, said, stream_of
from gateway_support import ask

FORMATS = ("openai-chat", "anthropic", "gemini", "bedrock", "cohere", "ollama")
TURNS = 12
TOOL = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}
NO_FIGURES = "Your input exceeds the context window of this model."
FIGURES = "prompt is too long: {size} tokens > {limit} maximum"


def history(turns: int = TURNS) -> list[dict[str, Any]]:
    """Turns of a question, two calls, their results, and an answer."""
    items: list[dict[str, Any]] = [{"role": "developer", "content": "RULE: be brief."}]
    for turn in range(turns):
        items.append({"role": "user", "content": f"QUESTION {turn} " + "x" * 200})
        calls = [f"call_{turn}_{at}" for at in range(2)]
        items += [
            {"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"}
            for id in calls
        ]
        items += [
            {"type": "function_call_output", "call_id": id, "output": f"RESULT {id} " + "y" * 200}
            for id in calls
        ]
        items.append({"role": "assistant", "content": f"ANSWER {turn}"})
    return [*items, {"role": "user", "content": "LAST"}]


def front(**more: Any) -> Front:
    body = {"input": history(), "tools": [TOOL], "instructions": "INSTRUCTED", **more}
    return Front("openai-responses", "/v1/responses", body)


class Narrow:
    """An upstream that reads no more than so many bytes."""

    def __init__(self, format: str, limit: int, *, message: str = NO_FIGURES) -> None:
        self._format, self._limit, self._message = format, limit, message
        self.upstream = Upstream(self._play)

    def _play(self, url: str, body: bytes) -> Play:
        del url
        if len(body) > self._limit:
            told = self._message.format(size=len(body), limit=self._limit)
            error = {"message": told, "type": "invalid_request_error"}
            return Play.json(json.dumps({"error": error}).encode(), 400)
        return Play.stream(self._format, stream_of(said(Text(text="Yes.")), self._format))


def sent(upstream: Upstream) -> str:
    return upstream.bodies[-1].decode()


@pytest.mark.parametrize("message", [NO_FIGURES, FIGURES])
@pytest.mark.parametrize("format", FORMATS)
async def test_the_beginning_is_left_out_in_whole_interactions(format: str, message: str) -> None:
    narrow = Narrow(format, 4000, message=message)
    faulty = Faulty(narrow.upstream, BACKS[format])
    answer = await faulty.ask(front(truncation="auto"))
    assert answer.status == 200
    assert b"response.completed" in answer.body
    assert "input_truncated=1" in answer.headers["x-canonicall-changes"]
    assert "param_dropped" not in answer.headers["x-canonicall-changes"]
    report = await faulty.report(answer)
    (finding,) = [one for one in report["request"] if one["code"] == "input_truncated"]
    assert (finding["action"], report["failures"]) == ("dropped", [])
    body = sent(narrow.upstream)
    for kept in ("RULE", "INSTRUCTED", "LAST"):
        assert kept in body
    assert "QUESTION 0" not in body
    assert all(f"QUESTION {turn}" in body for turn in range(TURNS) if f"ANSWER {turn}" in body)
    assert not list(verify(json.loads(body), get_target(BACKS[format])))
    if message == FIGURES:
        assert len(narrow.upstream.bodies) == 2
        assert "QUESTION 10" in body
    await faulty.gateway.close()


@pytest.mark.parametrize("more", [{}, {"truncation": "disabled"}, {"truncation": None}])
@pytest.mark.parametrize("format", FORMATS)
async def test_otherwise_the_error_is_that_of_the_front(format: str, more: dict[str, Any]) -> None:
    narrow = Narrow(format, 4000)
    faulty = Faulty(narrow.upstream, BACKS[format])
    answer = await faulty.ask(front(**more), streams=False)
    error = answer.json["error"]
    assert (answer.status, error["code"]) == (400, "context_length_exceeded")
    assert len(narrow.upstream.bodies) == 1
    assert "truncat" not in answer.headers["x-canonicall-changes"]
    await faulty.gateway.close()


async def test_what_cannot_be_short_enough_is_the_error_of_the_front() -> None:
    narrow = Narrow("anthropic", 10)
    faulty = Faulty(narrow.upstream, BACKS["anthropic"])
    answer = await faulty.ask(front(truncation="auto"), streams=False)
    assert answer.json["error"]["code"] == "context_length_exceeded"
    assert 1 < len(narrow.upstream.bodies) <= 9
    assert "QUESTION" not in sent(narrow.upstream)
    await faulty.gateway.close()


async def test_one_long_turn_is_cut_between_its_calls() -> None:
    items = [one for one in history() if one.get("role") != "user"]
    narrow = Narrow("anthropic", 4000)
    faulty = Faulty(narrow.upstream, BACKS["anthropic"])
    asked = front(truncation="auto", input=[{"role": "user", "content": "LONG AGO"}, *items])
    assert (await faulty.ask(asked, streams=False)).status == 200
    body = json.loads(sent(narrow.upstream))
    assert not list(verify(body, get_target(BACKS["anthropic"])))
    assert "call_11_1" in json.dumps(body)
    await faulty.gateway.close()


async def test_an_open_call_is_not_left_out() -> None:
    call = {"type": "function_call", "call_id": "call_open", "name": "look", "arguments": "{}"}
    narrow = Narrow("anthropic", 4000)
    faulty = Faulty(narrow.upstream, BACKS["anthropic"])
    items = history()
    answer = await faulty.ask(
        front(truncation="auto", input=[*items[:1], call, *items[1:]]), streams=False
    )
    assert answer.json["error"]["code"] == "context_length_exceeded"
    assert len(narrow.upstream.bodies) == 1
    await faulty.gateway.close()


async def stored_items(gateway: Gateway, id: str) -> int:
    found = await ask(gateway, f"/v1/responses/{id}/input_items?limit=100")
    return len(found.json["data"])


async def test_what_is_stored_is_not_shortened() -> None:
    """A later turn begins with all of it again, with a model that can read it."""
    narrow = Narrow("anthropic", 4000)
    faulty = Faulty(narrow.upstream, BACKS["anthropic"])
    first = (await faulty.ask(front(truncation="auto"), streams=False)).json
    assert first["truncation"] == "auto"
    assert await stored_items(faulty.gateway, first["id"]) == len(history())
    more = front(input="MORE", previous_response_id=first["id"], truncation="auto")
    second = await faulty.ask(more, streams=False)
    assert (second.status, "input_truncated=1" in second.headers["x-canonicall-changes"]) == (
        200,
        True,
    )
    assert await stored_items(faulty.gateway, second.json["id"]) == len(history()) + 2
    await faulty.gateway.close()


async def test_the_owner_of_the_format_truncates_itself() -> None:
    play = Play.stream("openai-responses", stream_of(said(Text(text="Yes.")), "openai-responses"))
    upstream = Upstream(play)
    faulty = Faulty(upstream, BACKS["openai-responses"])
    assert (await faulty.ask(front(truncation="auto"))).status == 200
    assert json.loads(sent(upstream))["truncation"] == "auto"
    await faulty.gateway.close()
