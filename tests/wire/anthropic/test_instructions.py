"""Fields that only instructions among the messages have, and what cannot stand beside them."""

import pytest

from canonicall import Message, Native, Origin, Text, translate
from canonicall.wire.anthropic.messages import decode_message

MARK = {"type": "ephemeral"}
LOW = {"effort": "low"}
ONE_TURN = "next_user_message"
OLD, NEW = "anthropic:claude-haiku-4-5", "anthropic:claude-opus-5"


def decoded(message):
    findings = []
    (made,) = decode_message(message, "$.messages[1]", Origin(), "anthropic", findings)
    return made, [(one.code, one.where) for one in findings]


def told(content="Be brief.", **fields):
    return {"role": "system", "content": content, **fields}


@pytest.mark.parametrize(
    "fields",
    [{"clear_at": ONE_TURN}, {"clear_at": "never"}, {"output_config": LOW}],
    ids=lambda fields: str(next(iter(fields.values()))),
)
def test_sound_instructions_are_read_as_they_are(fields):
    made, findings = decoded(told(**fields))
    assert made == Message("system", (Text(text="Be brief."),), native=Native("anthropic", fields))
    assert findings == []


def test_other_messages_have_no_such_fields():
    made, findings = decoded({"role": "user", "content": "Hi", "clear_at": "never"})
    assert made == Message("user", (Text(text="Hi"),))
    assert findings == [("fields_dropped", "$.messages[1].clear_at")]


def test_a_time_that_is_not_known_is_none():
    made, findings = decoded(told(clear_at="tomorrow"))
    assert made.native is None
    assert findings == [("fields_dropped", "$.messages[1].clear_at")]


def test_instructions_for_one_turn_are_text_without_marks():
    removed = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "f"}}
    words = {"type": "text", "text": "Be brief.", "cache_control": MARK}
    made, findings = decoded(told([words, removed], clear_at=ONE_TURN, output_config=LOW))
    native = Native("anthropic", {"clear_at": ONE_TURN})
    assert made == Message("system", (Text(text="Be brief."),), native=native)
    assert findings == [
        ("fields_dropped", "$.messages[1].output_config"),
        ("cache_mark_dropped", "$.messages[1].content[0]"),
        ("block_dropped", "$.messages[1].content[1]"),
    ]


def test_where_they_become_words_of_the_user_the_fields_are_left_out():
    messages = [{"role": "user", "content": "Hi"}, told(clear_at=ONE_TURN)]
    made = translate({"model": "m", "max_tokens": 9, "messages": messages}, "anthropic", OLD)
    assert all(message.keys() == {"role", "content"} for message in made.body["messages"])
    assert [one.code for one in made.report] == ["instruction_as_user", "fields_dropped"]
    kept = translate({"model": "m", "max_tokens": 9, "messages": messages}, "anthropic", NEW)
    assert kept.body["messages"] == messages


def test_an_effort_without_words_is_not_left_out_in_silence():
    messages = [{"role": "user", "content": "Hi"}, told([], output_config=LOW)]
    made = translate({"model": "m", "max_tokens": 9, "messages": messages}, "anthropic", NEW)
    assert made.body["messages"] == messages[:1]
    assert [one.code for one in made.report] == ["fields_dropped"]
