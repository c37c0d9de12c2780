"""Kill -9 at every point of a session: nothing runs twice, nothing that was told is lost.

The process that dies is in crash_worker.py. These look at what it left behind.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from canonicall.codec import encode_request
from canonicall.conversation import Conversation
from canonicall.facts.registry import provider_names
from canonicall.persisted import dump, load
from canonicall.request import Request
from canonicall.runtime.events import AgentEvent, CompleteEvent, StatusEvent, ToolCallEvent
from canonicall.verify import verify
from store import crash_worker

pytestmark = pytest.mark.deep

EVENT = msgspec.json.Decoder(AgentEvent)


class Left(NamedTuple):
    """What is left of one session whose processes died."""

    died: tuple[str, ...]
    points: Counter[str]
    """Where the last process was, and how often."""
    effects: Counter[str]
    heard: list[AgentEvent]
    conversation: Conversation


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def left_in(folder: Path) -> Left:
    return Left(
        tuple(lines(folder / "died")),
        Counter(msgspec.json.decode((folder / "points").read_bytes())),
        Counter(lines(folder / "effects")),
        [EVENT.decode(line) for line in lines(folder / "heard")],
        load((folder / "end").read_bytes()).conversation,
    )


STEPS = {"sqlite": 1, "postgresql": 3}
"""A new PostgreSQL database takes its time: every third point has to do there."""


@pytest.fixture(scope="module", params=STEPS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def deaths(tmp_path_factory, request, kind):
    """One session for each point there is; the first one did not die."""
    root = tmp_path_factory.mktemp("deaths")
    worker = [sys.executable, crash_worker.__file__, str(root), str(STEPS[kind])]
    if kind == "postgresql":
        worker.append(request.getfixturevalue("postgres").url("postgres"))
    ended = subprocess.run(worker, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return [left_in(root / str(at)) for at in range(len(list(root.iterdir())))]


def test_it_was_killed_at_every_point(deaths, kind):
    """How the work is split into transactions is chance; all else is as it was."""
    points = deaths[0].points
    first = Counter(one.died[0] for one in deaths if one.died)
    assert set(first) == set(points)
    assert {"sql BEGIN", "sql COMMIT", "sql after the transaction", "sql CREATE"} <= set(points)
    assert ("sql SET" in points) == (kind == "postgresql")
    assert {"event text", "event tool_call", "event status", "event complete"} <= set(points)
    assert points["tool starts"] == points["tool ends"] == len(crash_worker.TOOL_OF)
    for where in points:
        if where.startswith(("event", "tool")):
            assert first[where] == -(-points[where] // STEPS[kind]), where


def test_no_tool_ran_twice(deaths):
    for one in deaths:
        assert set(one.effects.values()) <= {1}, one.died


def test_every_call_has_one_end_and_it_is_true(deaths):
    """What is completed was done, what was done is completed or unknown, and all was seen to."""
    for one in deaths:
        assert not one.conversation.ledger.open, one.died
        ended: dict[str, list[str]] = {}
        for call in one.conversation.ledger.values():
            ended.setdefault(call.call.args["name"], []).append(str(call.outcome))
            if str(call.outcome) == "completed":
                assert call.result.text == f"did {call.call.args['name']}", one.died
        for name in crash_worker.TOOL_OF:
            *before, last = ended[name]
            assert set(before) <= {"not_run"}, one.died
            assert last in crash_worker.ENDS, one.died
            assert one.effects[name] == 1 or last == "unknown", one.died


def test_nothing_that_was_told_is_lost(deaths):
    """Entries, ends of calls and answers that the user heard of are in the conversation."""
    for one in deaths:
        told = [event.entry for event in one.heard if isinstance(event, StatusEvent)]
        rest = iter(one.conversation.entries)
        # Looked for behind the one before it: they are in order, with more in between.
        assert all(entry in rest for entry in told if entry is not None), one.died
        words = {message.text for message in one.conversation.messages}
        for event in one.heard:
            if isinstance(event, ToolCallEvent) and event.phase == "ended":
                known = one.conversation.ledger[event.call.id]
                assert (str(known.outcome), known.result) == (event.outcome, event.result), one.died
            elif isinstance(event, CompleteEvent):
                assert event.text in words, one.died


def test_every_history_is_fit_for_every_provider(deaths):
    histories = {dump(one.conversation): one.conversation for one in deaths}
    assert len(histories) > 1
    for conversation in histories.values():
        conversation.user("And now?")
        for name in provider_names():
            body = encode_request(Request(conversation, model="m"), name).body
            assert list(verify(body, name)) == []
