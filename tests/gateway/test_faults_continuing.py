"""What becomes of a stream that breaks off, where the gateway may bring it to an end: words go on,
whole calls end the turn, a call that has begun stays cut."""

from typing import Any

import pytest

from batches import each
from canonicall.blocks import Text
from gateway.test_faults_cut import completed, ended
from gateway_faults import (
    BACKS,
    BROKEN,
    CALLS,
    FRONTS,
    FULL,
    WORDS,
    Faulty,
    Play,
    Upstream,
    said,
    stream_of,
)

REST = " And Rome is sunny."
OTHER = "mistral:mistral-large-latest"
"""Who is asked where the first has broken off; it speaks chat."""
GOES_ON = Play.stream("openai-chat", stream_of(said(Text(text=REST)), "openai-chat"))
PAIRS = [(back, front) for back in BACKS for front in FRONTS]
WITH_WHOLE_CALLS = ("gemini", "ollama")
"""Formats whose calls come in one piece: none of them has only begun."""


def upto(mark: str, back: str) -> bytes:
    """The stream of the full reply up to the event behind the first that has `mark`."""
    data = stream_of(FULL, back)
    at = data.index(mark.encode())
    if back == "bedrock":
        start = data.rindex(b"\x0b:event-type", 0, at) - 12
        return data[: start + int.from_bytes(data[start : start + 4], "big")]
    gap = b"\n" if back == "ollama" else b"\n\n"
    return data[: data.index(gap, at) + len(gap)]


def codes(report: dict[str, Any]) -> list[str]:
    return [one["code"] for one in report["response"]]


@each(("back", "front"), PAIRS)
async def test_words_go_on(back: str, front: str) -> None:
    first = Play.stream(back, upto(WORDS, back), BROKEN)
    world = Faulty(Upstream(first, GOES_ON), BACKS[back], OTHER, goes_on=True)
    answer = await world.ask(front)
    report = await world.report(answer)
    end = ended(front, answer.body)
    assert end.complete, end.why
    assert end.reply.message.text == WORDS + REST
    assert report["complete"]
    assert codes(report) == ["stream_continued"]
    assert report["target"] == OTHER
    assert WORDS in world.upstream.bodies[1].decode()
    assert [one.is_complete for one in world.told.ends] == [True]


@each(("back", "front"), PAIRS)
async def test_whole_calls_end_the_turn(back: str, front: str) -> None:
    """Behind a call that has its own end in the format, or arguments that are whole."""
    data = stream_of(FULL, back)
    at = data.index(b"Rome")
    edge = data.rindex(b"\x0b:event-type", 0, at) - 12 if back == "bedrock" else at
    # As much as ends before anything of the second call has come.
    given = _before_second_call(back, data[:edge])
    world = Faulty(Upstream(Play.stream(back, given, BROKEN)), BACKS[back], OTHER, goes_on=True)
    answer = await world.ask(front)
    end = ended(front, answer.body)
    assert end.complete, end.why
    assert [call.args for call in completed(front, answer.body)] == [CALLS[0].args]
    assert codes(await world.report(answer)) == ["stream_ended_early"]
    assert len(world.upstream.bodies) == 1


def _before_second_call(back: str, data: bytes) -> bytes:
    if back == "bedrock":
        # The start of the second call is an event of its own.
        return data[: data.rindex(b"contentBlockStart", 0) - 25]
    gap = b"\n" if back == "ollama" else b"\n\n"
    whole = data[: data.rindex(gap) + len(gap)]
    starts = whole.rfind(b"call_2")
    return whole if starts < 0 else whole[: whole.rindex(gap, 0, starts) + len(gap)]


@each(("back", "front"), [one for one in PAIRS if one[0] not in WITH_WHOLE_CALLS])
async def test_a_call_that_has_begun_stays_cut(back: str, front: str) -> None:
    given = upto("get_weather", back)
    world = Faulty(Upstream(Play.stream(back, given, BROKEN)), BACKS[back], OTHER, goes_on=True)
    answer = await world.ask(front)
    assert not ended(front, answer.body).complete
    assert completed(front, answer.body) == []
    report = await world.report(answer)
    assert not report["complete"]
    assert [one.is_complete for one in world.told.ends] == [False]


@pytest.mark.parametrize("front", FRONTS)
async def test_a_second_break_is_told(front: str) -> None:
    """Nobody goes on for ever: the words of both are there, and that they were cut."""
    more = stream_of(said(Text(text=REST)), "openai-chat")
    first = Play.stream("cohere", upto(WORDS, "cohere"), BROKEN)
    second = Play.stream("openai-chat", more[: more.index(b"\n\n", more.index(b"sunny")) + 2])
    world = Faulty(Upstream(first, second), BACKS["cohere"], OTHER, goes_on=True)
    answer = await world.ask(front)
    end = ended(front, answer.body)
    assert not end.complete
    assert end.reply.message.text == WORDS + REST
    assert len(world.upstream.bodies) == 2


@pytest.mark.parametrize("front", FRONTS)
async def test_where_nobody_can_go_on_the_stream_ends_as_cut(front: str) -> None:
    plays = (Play.stream("cohere", upto(WORDS, "cohere"), BROKEN), Play.json(b"{}", 500))
    world = Faulty(Upstream(*plays), BACKS["cohere"], OTHER, goes_on=True)
    answer = await world.ask(front)
    end = ended(front, answer.body)
    assert not end.complete
    assert end.reply.message.text == WORDS
    assert (await world.report(answer))["failures"]
