"""Laws over whole request bodies, for every provider in each of its formats."""

import os
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from canonicall.codec.decode import decode_request
from canonicall.codec.encode import encode_request
from canonicall.testing.strategies import conversations
from canonicall.verify import verify

from bodies import TARGETS, TOOLS, encoded, every_model, every_target

PROGRAM = """
from canonicall import Conversation, Media, Origin, Text, Thinking, ToolCall, ToolResult
from bodies import TARGETS, encoded
c = Conversation()
c.system("Be kind.")
c.user([Text(text="Look."), Media(media_type="image/png", data="aGk=")])
calls = [ToolCall(id="x", name=name, args={"b": 1, "a": {"z": 0}}) for name in ("läs fil", "a.b", "f")]
c.assistant([Thinking(text="Hm."), *calls], origin=Origin("kimi"))
c.result("x", [Media(media_type="image/png", data="aGk="), Text(text="done")])
for name, target in TARGETS.items():
    made = encoded(c, target)
    print(name, made.data.decode(), made.report)
"""


def violations(body, target):
    return [(one.code, one.where) for one in verify(body, target)]


@settings(max_examples=60)
@given(conversations(), st.booleans())
@every_target
def test_any_conversation_renders_and_verifies_clean(target, conversation, with_tools):
    """L1: however damaged the conversation is, the independent judge finds nothing."""
    made = encoded(conversation, target, TOOLS if with_tools else ())
    assert violations(made.body, target) == []


@settings(max_examples=40)
@given(conversations(), st.booleans())
@every_model
def test_any_conversation_suits_every_model(target, conversation, with_tools):
    """L1, for models that have rules of their own."""
    made = encoded(conversation, target, TOOLS if with_tools else ())
    assert violations(made.body, target) == []


@settings(max_examples=40)
@given(conversations())
@every_target
def test_equal_input_gives_equal_bytes(target, conversation):
    """L3."""
    one, other = encoded(conversation, target), encoded(conversation.fork(), target)
    assert one.data == other.data
    assert one.report == other.report


def test_the_same_bodies_in_every_process():
    """L3: neither the process nor its hash seed takes part in a body or in its report."""
    path = os.pathsep.join(sys.path)
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert outputs.pop().count("Look.") == len(TARGETS)


@settings(max_examples=60)
@given(conversations())
@every_target
def test_reading_a_rendered_body_and_rendering_it_again_gives_the_same_bytes(target, conversation):
    """L5: a body that was repaired needs no further repair."""
    first = encoded(conversation, target)
    again = decode_request(first.data, target.format, provider=target.provider)
    second = encode_request(again, target)
    assert second.data == first.data
