"""Storms of 429 and 5xx: waits as told, fallbacks in order, and at last the cause in the caller's
own shape."""

import asyncio

import pytest

from batches import each
from canonicall.blocks import Text
from gateway.test_faults_cut import ended
from gateway.test_faults_frames import assert_told
from gateway_faults import (
    BACKS,
    BROKEN,
    FRONTS,
    UPSTREAM_KEY,
    Faulty,
    Play,
    Upstream,
    assert_no_key,
    said,
    stream_of,
)

BUSY = b'{"error":{"message":"Slow down, %s","type":"rate_limit"}}' % UPSTREAM_KEY.encode()
SUNNY = said(Text(text="Sunny."))


def refusal(status: int, **headers: str) -> Play:
    return Play.json(BUSY, status, **headers)


def good(back: str) -> Play:
    return Play.stream(back, stream_of(SUNNY, back))


@each("front", FRONTS)
@each("back", BACKS)
async def test_a_limit_that_passes_is_waited_for_as_long_as_told(back: str, front: str) -> None:
    plays = (refusal(429, retry_after="7"), refusal(503, retry_after_ms="250"), good(back))
    world = Faulty(Upstream(*plays), BACKS[back])
    answer = await world.ask(front)
    assert answer.status == 200, answer.body
    assert ended(front, answer.body).reply.message.text == "Sunny."
    assert world.waits == [7.0, 0.25]
    assert world.told.ends[0].attempts == 3


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("front", FRONTS)
async def test_where_all_fail_the_first_cause_is_told(front: str, streams: bool) -> None:
    chain = [BACKS["openai-chat"], BACKS["anthropic"], BACKS["cohere"]]

    def failing(url: str, body: bytes) -> Play:
        del body
        if "openai" in url:
            return refusal(429, retry_after="11")
        if "anthropic" in url:
            return refusal(529)
        raise BROKEN

    world = Faulty(Upstream(failing), *chain)
    answer = await world.ask(front, streams=streams)
    assert answer.status == 429
    assert answer.headers["retry-after"] == "11"
    assert_told(front, answer.status, answer.json)
    told = str(answer.json)
    assert "Slow down" in told
    assert "HTTP 529" in told
    assert "connection broke" in told
    asked = [url.split("/")[2].split(".")[0] for url in world.upstream.urls]
    assert list(dict.fromkeys(asked)) == ["openai", "anthropic", "cohere"]
    report = await world.report(answer)
    assert {one["kind"] for one in report["failures"]} == {
        "rate_limited",
        "overloaded",
        "connection",
    }
    assert report["status"] == 429


@each("status", [500, 502, 503, 504, 529])
@each("front", FRONTS)
async def test_a_storm_ends_with_a_cause(front: str, status: int) -> None:
    world = Faulty(Upstream(Play((b"<html>down</html>",), status)), BACKS["gemini"])
    answer = await world.ask(front)
    assert answer.status == (503 if status in (503, 529) else 502)
    assert f"HTTP {status}" in str(answer.json)
    assert len(world.waits) == 2


@pytest.mark.parametrize("front", FRONTS)
async def test_a_wait_that_is_too_long_is_left_to_the_client(front: str) -> None:
    world = Faulty(Upstream(refusal(429, retry_after="3600")), BACKS["bedrock"])
    answer = await world.ask(front)
    assert (answer.status, answer.headers["retry-after"]) == (429, "3600")
    assert world.waits == []


async def test_a_refused_key_of_the_gateway_is_no_fault_of_the_client() -> None:
    world = Faulty(Upstream(Play.json(BUSY, 401)), BACKS["anthropic"])
    answer = await world.ask("openai-chat")
    assert answer.status == 502
    assert "Check the key" in str(answer.json)


async def test_many_at_once_in_a_storm_each_get_their_own_answer() -> None:
    """Every third attempt is let through."""
    count = 0

    def storm(url: str, body: bytes) -> Play:
        nonlocal count
        del url, body
        count += 1
        return good("cohere") if count % 3 == 0 else refusal((429, 500, 503)[count % 7 % 3])

    world = Faulty(Upstream(storm), BACKS["cohere"], BACKS["cohere"] + "-2")
    fronts = list(FRONTS) * 25
    # All of them at once: none is left waiting, none gets the answer of another.
    answers = await asyncio.gather(*(_asked(world, front) for front in fronts))
    assert {status for status, _ in answers} <= {200, 429, 502, 503}
    assert sum(text == "Sunny." for _, text in answers) == [one[0] for one in answers].count(200)
    assert any(status == 200 for status, _ in answers)
    assert len(world.told.ends) == len(fronts)
    assert world.upstream.open == 0
    assert_no_key(world.told.ends)


async def _asked(world: Faulty, front: str) -> tuple[int, str]:
    answer = await world.answer(front)
    if answer.status != 200:
        return answer.status, ""
    return 200, ended(front, answer.body).reply.message.text
