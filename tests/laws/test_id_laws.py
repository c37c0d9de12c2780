"""Laws of identity: equal in every process, different for different input, round trips."""

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from canonicall import (
    canonical_tool_id,
    normalize_to_anthropic_tool_id,
    normalize_to_history_tool_id,
    normalize_to_openai_tool_id,
)

FIELD = st.text(st.sampled_from("ab|\\0é") | st.characters(), max_size=6)
INPUTS = st.tuples(FIELD, FIELD, FIELD, FIELD, st.integers(0, 12))
PROGRAM = """
from canonicall import Conversation, Origin, Text, ToolCall, dump
c = Conversation()
c.assistant(
    [Text(text="x"), ToolCall(id="call_0", name="f", args={"b": 1, "a": [2, {"z": 0, "y": 1}]})],
    origin=Origin("kimi"),
)
c.assistant([ToolCall(id="", name="g")])
c.result("call_0", "done")
print(dump(c).decode())
"""


def canonical(fields):
    provider, raw, name, turn, index = fields
    return canonical_tool_id(
        provider_name=provider, raw_id=raw, tool_name=name, turn_key=turn, call_index=index
    )


@given(INPUTS, INPUTS)
def test_no_two_inputs_join_alike(one, other):
    """Different fields give different ids, also when separators and escapes are inside them."""
    if not one[1].startswith("hist_tool_") and not other[1].startswith("hist_tool_"):
        assert (canonical(one) == canonical(other)) == (one == other)


@given(st.text("a|\\", max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_moving_a_separator_between_fields_changes_the_id(text, i, j):
    """Cutting one string at two places into fields never gives the same id."""
    one = canonical(("p", text[:i], text[i:], "t", 0))
    other = canonical(("p", text[:j], text[j:], "t", 0))
    assert (one == other) == (text[:i] == text[:j])


@given(INPUTS)
def test_derivation_is_idempotent(fields):
    once = canonical(fields)
    assert canonical(("another", once, "tool", "turn", 7)) == once


@given(st.text(max_size=20))
def test_round_trips(suffix):
    """History -> provider -> history is the identity, and back."""
    history = f"hist_tool_{suffix}"
    assert normalize_to_history_tool_id(normalize_to_openai_tool_id(history)) == history
    assert normalize_to_history_tool_id(normalize_to_anthropic_tool_id(history)) == history
    call, toolu = f"call_{suffix}", f"toolu_{suffix}"
    assert normalize_to_openai_tool_id(normalize_to_history_tool_id(call)) == call
    assert normalize_to_anthropic_tool_id(normalize_to_history_tool_id(toolu)) == toolu


@given(st.text(max_size=20))
def test_transformers_are_idempotent_and_prefixed(id):
    for transform, prefix in (
        (normalize_to_openai_tool_id, "call_"),
        (normalize_to_history_tool_id, "hist_tool_"),
        (normalize_to_anthropic_tool_id, "toolu_"),
    ):
        once = transform(id)
        assert once.startswith(prefix)
        assert transform(once) == once


def test_the_same_bytes_in_every_process():
    """Neither the process nor its hash seed takes part in ids, keys or stored bytes."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert outputs.pop().count("hist_tool_") == 3
