"""A provider's own summary, in place of what it sums up, is sent first or not at all."""

from canonicall import (
    Conversation,
    Message,
    Native,
    Opaque,
    Origin,
    Text,
    Unknown,
    render,
    translate,
)
from canonicall.facts.registry import get_target
from canonicall.transcript.render import Renderer

TARGET = get_target("anthropic:claude-opus-5")
CLAUDE = Origin(provider="anthropic", format="anthropic")


def summary(text: str = "Hello was said.") -> Unknown:
    fields = {"type": "compaction", "content": text, "signature": "x"}
    seal = Opaque("anthropic", "opening", "x")
    return Unknown(opaque=(seal,), native=Native("anthropic", fields))


def said(*blocks, role="assistant"):
    return Message(role, blocks, origin=CLAUDE if role == "assistant" else None)


HELLO = said(Text(text="Hello"), role="user")


def log(*messages):
    conversation = Conversation()
    for message in messages:
        conversation.append(message)
    return conversation


def test_it_begins_a_conversation_and_nothing_is_put_before_it():
    made = render(log(said(summary()), HELLO), TARGET)
    assert [turn.role for turn in made.turns] == ["assistant", "user"]
    assert made.turns[0].blocks == (summary(),)
    assert not made.findings


def test_instructions_may_stand_before_it():
    rules = said(Text(text="Be brief."), role="system")
    made = render(log(rules, said(summary()), HELLO), TARGET)
    assert [turn.role for turn in made.turns] == ["system", "assistant", "user"]


def test_words_of_the_assistant_follow_it_in_the_same_turn():
    made = render(log(said(summary()), said(Text(text="So.")), HELLO), TARGET)
    assert made.turns[0].blocks == (summary(), Text(text="So."))


def test_what_it_sums_up_is_sent_in_its_place():
    made = render(log(HELLO, said(summary()), HELLO), TARGET)
    assert [turn.role for turn in made.turns] == ["user"]
    (finding,) = made.findings
    assert (finding.code, finding.where) == ("block_dropped", "entries[1].blocks[0]")


def test_of_several_at_the_beginning_the_last_counts():
    made = render(log(said(summary("First."), summary("Then.")), HELLO), TARGET)
    assert made.turns[0].blocks == (summary("Then."),)
    assert [one.where for one in made.findings] == ["entries[0].blocks[0]"]


def test_a_growing_conversation_keeps_the_first():
    renderer, conversation = Renderer(TARGET), log(said(summary()), HELLO)
    before = renderer.render(conversation).turns
    conversation.append(said(summary("Then.")))
    conversation.append(HELLO)
    after = renderer.render(conversation).turns
    assert after[0] == before[0]
    assert after == render(conversation, TARGET).turns
    assert sum(block == summary("Then.") for turn in after for block in turn.blocks) == 0


def test_other_targets_get_the_text_of_a_summary():
    """One that failed has none, and is left out as before."""
    for name in (
        "openai:gpt-5",
        "gemini:gemini-2.5-pro",
        "bedrock/bedrock:some.model",
        "cohere:command-a",
    ):
        made = render(log(said(summary(), Text(text="Yes.")), HELLO), get_target(name))
        texts = [block.text for turn in made.turns for block in turn.blocks]
        assert "Summary of the conversation before this point:\n\nHello was said." in texts
        assert "Yes." in texts
        assert summary() not in [block for turn in made.turns for block in turn.blocks]
        assert next(one.code for one in made.findings) == "summary_as_text"
        failed = Unknown(native=Native("anthropic", {"type": "compaction", "content": None}))
        made = render(log(said(failed, Text(text="Yes.")), HELLO), get_target(name))
        assert "block_dropped" in [one.code for one in made.findings]


def test_a_conversation_that_is_mostly_a_summary_is_sent():
    block = {"type": "compaction", "content": "So far.", "signature": "x"}
    history = [{"role": "assistant", "content": [block] * 3}, {"role": "user", "content": "Next?"}]
    made = translate({"model": "m", "max_tokens": 9, "messages": history}, "anthropic", "openai")
    assert "So far." in str(made.body)
