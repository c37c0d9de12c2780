"""The text of a call reaches the client while it comes, not when the call is whole."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from canonicall.blocks import ToolCall
from canonicall.events import ArgumentsAdded, Event
from canonicall.facts.registry import get_target
from canonicall.folding import events_of
from canonicall.reply import LENGTH
from canonicall.streams import StreamDecoder, StreamEncoder
from canonicall.verify import verify_stream
from gateway_faults import BACKS, BROKEN, Faulty, Play, Upstream, said
from gateway_support import Answer, ask

PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"a" \\ b\n+é \U0001f600\n*** End Patch\n'
CALL = ToolCall(id="call_1", name="apply_patch", args={"input": PATCH})
FRONTS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-responses": (
        "/v1/responses",
        {"input": "Patch it.", "tools": [{"type": "custom", "name": "apply_patch"}]},
    ),
    "openai-chat": (
        "/v1/chat/completions",
        {
            "messages": [{"role": "user", "content": "Patch it."}],
            "tools": [{"type": "custom", "custom": {"name": "apply_patch"}}],
        },
    ),
}
IN_PIECES = {
    "anthropic": BACKS["anthropic"],
    "openai-chat": "mistral:mistral-large-latest",
    "openai-responses": "xai/openai-responses:grok-4",
    "bedrock": BACKS["bedrock"],
    "cohere": BACKS["cohere"],
}
"""Targets without tools for free text, in the formats that stream arguments in pieces."""
SENT = "sent"
PAIRS = [(back, front) for back in IN_PIECES for front in FRONTS]


def in_small_pieces(format: str) -> list[bytes]:
    """The stream of the call, its arguments by a few characters at a time, some within escapes."""
    encoder = StreamEncoder(format, seed="up")
    pieces: list[bytes] = []
    for event in events_of(said(CALL)):
        small: list[Event] = [event]
        if isinstance(event, ArgumentsAdded):
            text = event.text.replace("\U0001f600", "\\ud83d\\ude00")
            small = [
                ArgumentsAdded(event.index, text[at : at + 3]) for at in range(0, len(text), 3)
            ]
        pieces += filter(None, map(encoder.feed, small))
    return pieces


def noted(pieces: Iterable[bytes | Exception], log: list[str]) -> Iterator[bytes | Exception]:
    """The pieces, each written down when it is sent."""
    for piece in pieces:
        log.append(SENT)
        yield piece


async def told(front: str, back: str, *pieces: bytes | Exception) -> tuple[list[str], Answer]:
    """What was sent and what the client got of the text, in order; and all that it got."""
    log: list[str] = []
    play = replace(Play.stream(back), pieces=noted(pieces, log))
    world = Faulty(Upstream(play), IN_PIECES[back], goes_on=True)
    decoder = StreamDecoder(front)

    async def look(data: bytes) -> None:
        added = [one for one in decoder.feed(data) if isinstance(one, ArgumentsAdded)]
        log.extend(f"got {one.text}" for one in added if one.text)

    path, body = FRONTS[front]
    answer = await ask(world.gateway, path, {**body, "model": "m", "stream": True}, look=look)
    assert answer.status == 200, answer.body
    return log, answer


@pytest.mark.parametrize(("back", "front"), PAIRS)
async def test_each_piece_is_passed_on_before_the_next_is_sent(back: str, front: str) -> None:
    assert not get_target(IN_PIECES[back]).custom_tools
    log, answer = await told(front, back, *in_small_pieces(back))
    assert not verify_stream(answer.body, front)
    got = [line[4:] for line in log if line != SENT]
    assert "".join(got) == PATCH
    # Three characters at a time are sent, and the longest escape has twelve.
    assert len(got) > len(PATCH) / 4
    assert all(before == SENT for before, line in pairwise(log) if line != SENT)
    assert log[log.index(f"got {got[0]}") :].count(SENT) >= len(got)


@pytest.mark.parametrize(("back", "front"), PAIRS)
async def test_a_text_that_breaks_off_is_shown_and_stays_cut(back: str, front: str) -> None:
    pieces = in_small_pieces(back)
    half = pieces[: len(pieces) // 2]
    log, answer = await told(front, back, *half, BROKEN)
    text = "".join(line[4:] for line in log if line != SENT)
    assert text
    assert PATCH.startswith(text)
    decoder = StreamDecoder(front)
    decoder.feed(answer.body)
    end = decoder.close()[-1]
    assert not end.complete
    (made,) = end.reply.calls
    assert (made.raw, made.truncated) == (text, True)


@pytest.mark.parametrize(("back", "front"), PAIRS)
async def test_half_a_text_in_a_reply_that_is_told_to_be_whole(back: str, front: str) -> None:
    """Hosts say that a call was made where their limit has cut it; no client may run it."""
    half = replace(CALL, args=None, raw='{"input": "*** Begin Pa')
    data = b"".join(map(StreamEncoder(back, seed="up").feed, events_of(said(half))))
    _, answer = await told(front, back, data)
    decoder = StreamDecoder(front)
    decoder.feed(answer.body)
    reply = decoder.close()[-1].reply
    assert [(made.raw, made.truncated) for made in reply.calls] == [("*** Begin Pa", True)]
    assert reply.finish == LENGTH


@pytest.mark.parametrize("front", FRONTS)
async def test_half_a_text_does_not_end_a_turn_that_breaks_off_behind_it(front: str) -> None:
    half = replace(CALL, args=None, raw='{"input": "*** Begin Pa')
    data = b"".join(map(StreamEncoder("anthropic", seed="up").feed, events_of(said(half))))
    behind = data.index(b"event: message_delta")
    _, answer = await told(front, "anthropic", data[:behind], BROKEN)
    decoder = StreamDecoder(front)
    decoder.feed(answer.body)
    end = decoder.close()[-1]
    assert not end.complete
    assert [made.truncated for made in end.reply.calls] == [True]
