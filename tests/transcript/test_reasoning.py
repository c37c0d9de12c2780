"""Thoughts go back only in a format that has a place for what seals them."""

import pytest

from canonicall.blocks import Opaque, Origin, Text, Thinking
from canonicall.codec.encode import render
from canonicall.conversation import Conversation


@pytest.mark.parametrize(
    ("made", "kind", "goal", "is_kept"),
    [
        ("anthropic", "signature", "minimax/anthropic:MiniMax-M2", True),
        ("anthropic", "signature", "minimax/openai-responses:MiniMax-M2", False),
        ("openai-responses", "encrypted", "minimax/openai-responses:MiniMax-M2", True),
        ("openai-responses", "item_id", "minimax/openai-responses:MiniMax-M2", True),
        ("openai-responses", "encrypted", "minimax/anthropic:MiniMax-M2", False),
    ],
)
def test_one_provider_in_two_formats(made, kind, goal, is_kept):
    """The same domain in both; a reasoning item without its own state is refused:
    "Item with id ... not found. Items are not persisted when `store` is set to false."
    """
    chat = Conversation()
    chat.user("Hi.")
    thought = Thinking(text="A greeting.", opaque=(Opaque("minimax", kind, "EqQB"),))
    origin = Origin("minimax", made, model="MiniMax-M2")
    chat.assistant([thought, Text(text="Hello.")], origin=origin)
    chat.user("And now?")
    transcript = render(chat, goal)
    sent = [
        block for turn in transcript.turns for block in turn.blocks if isinstance(block, Thinking)
    ]
    dropped = [one for one in transcript.findings if one.code == "thinking_dropped"]
    assert (len(sent), len(dropped)) == ((1, 0) if is_kept else (0, 1))
