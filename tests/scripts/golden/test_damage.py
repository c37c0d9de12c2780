"""The damaged bodies are always the same, so that only the library can change the answers."""

import json
import os
import subprocess
import sys
from hashlib import sha256

from scripts.golden.damage import damaged_bodies
from scripts.revisions import ROOT

CHAT = {
    "model": "any",
    "messages": [
        {"role": "user", "content": "What is the weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "function": {"name": "look", "arguments": '{"city": "Oslo"}'}},
                {"id": "call_2", "function": {"name": "look", "arguments": '{"city": "Rome"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        {"role": "tool", "tool_call_id": "call_2", "content": "sun"},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
RECORDED = [("openai-chat", json.dumps(CHAT).encode()), ("gemini", json.dumps(GEMINI).encode())]

PROGRAM = """
from hashlib import sha256
from scripts.golden.damage import damaged_bodies
bodies = damaged_bodies({recorded!r}, 500)
print(sha256(b"".join(one.data for one in bodies)).hexdigest())
"""
DIGEST = "7dcb0f4873faed6af96f4f42523b164db364507b304ca7e641e7fe24734300f4"
"""A change of the generator changes it. Do not change the generator."""


def digest_in_another_process(seed):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(recorded=RECORDED)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.strip()


def test_the_bytes_are_equal_in_every_process():
    assert {digest_in_another_process(seed) for seed in ("1", "2", "4242")} == {DIGEST}


def test_a_body_depends_on_its_number_alone():
    some = {one.id: one.data for one in damaged_bodies(RECORDED, 50)}
    later = {one.id: one.data for one in damaged_bodies(RECORDED, 10, start=40)}
    assert later == {id: data for id, data in some.items() if id in later}
    assert len(later) == 10


def test_bodies_are_damaged_in_many_ways():
    bodies = [one.data for one in damaged_bodies(RECORDED, 1_000)]
    originals = {data for _, data in RECORDED}
    assert sum(data in originals for data in bodies) == 0
    assert len(set(bodies)) > 500
    whole = b"".join(bodies)
    for trace in (b"NaN", rb"\ud800", b"mystery", b'"tool_call_id": ""', b"\xff\xfe"):
        assert trace in whole, trace
    assert any(map(_doubles_a_key, bodies))


def test_inputs_are_left_as_they_are():
    before = sha256(repr(RECORDED).encode()).hexdigest()
    list(damaged_bodies(RECORDED, 100))
    assert sha256(repr(RECORDED).encode()).hexdigest() == before


def test_without_recordings_there_is_nothing_to_damage():
    assert list(damaged_bodies([], 10)) == []


def _doubles_a_key(data):
    doubled = []

    def note(pairs):
        doubled.append(len(pairs) != len(dict(pairs)))
        return dict(pairs)

    try:
        json.loads(data, object_pairs_hook=note)
    except ValueError:
        return False
    return any(doubled)
