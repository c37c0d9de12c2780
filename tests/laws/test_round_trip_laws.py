"""Laws of the way to a body and back: it says the same, or a finding says what it does not. L6."""

from hypothesis import given, settings

from batches import each
from canonicall import Text
from canonicall.codec.decode import decode_request
from canonicall.testing.strategies import conversations

from bodies import BASES, encoded, every_target
from said import (
    answered,
    arguments_of,
    assert_same_words,
    media,
    media_for,
    squeezed,
    words,
)


def read_back(made):
    return decode_request(made.data, made.target.format, provider=made.target.provider)


@settings(max_examples=40)
@given(conversations(sound=True))
@every_target
def test_a_body_says_what_the_conversation_says(target, conversation):
    """Calls, results, words and media come back as they were: L6 for what is not damaged."""
    made = encoded(conversation, target)
    back = read_back(made).conversation
    assert answered(back, made.transcript.names) == answered(conversation, {})
    assert_same_words(conversation, back, made.report)
    assert media(back) == media_for(conversation, target)
    if media(back) != media(conversation):
        assert "media_dropped" in made.report


@settings(max_examples=40)
@given(conversations(sound=True))
@every_target
def test_results_of_text_alone_come_back_to_the_letter(target, conversation):
    made = encoded(conversation, target)
    back = read_back(made).conversation
    for before, after in zip(conversation.ledger.values(), back.ledger.values(), strict=True):
        if target.result_error_flag:
            assert after.result.error == before.result.error
        content = before.result.content
        if len(content) == 1 and isinstance(content[0], Text) and not before.result.error:
            assert after.result.text == content[0].text


@settings(max_examples=40)
@given(conversations())
@every_target
def test_nothing_of_a_damaged_conversation_is_lost_in_silence(target, conversation):
    """L6 on whole bodies: every call is sent once, every result and every text or a finding."""
    made = encoded(conversation, target)
    back = read_back(made).conversation
    calls = [one.call for one in conversation.ledger.values()]
    sent = answered(back, made.transcript.names)
    assert [(one.name, one.arguments) for one in sent] == [
        (call.name, arguments_of(call)) for call in calls
    ]
    for before, after in zip(conversation.ledger.values(), back.ledger.values(), strict=True):
        assert after.result is not None
        if before.result is not None and before.outcome is not None:
            for part in before.result.content or ():
                told = squeezed(part.text) if isinstance(part, Text) else ""
                assert told in squeezed(after.result.text)
    places = {finding.where for finding in made.report}
    everything = "".join(words(back, "system", "developer", "user", "tool", "assistant"))
    for index, message in enumerate(conversation.messages):
        for position, block in enumerate(message.blocks):
            if isinstance(block, Text):
                place = f"entries[{index}].blocks[{position}]"
                assert squeezed(block.text) in everything or place in places


@settings(max_examples=40)
@given(conversations(sound=True))
@each("there", BASES)
@each("back", BASES)
def test_two_formats_in_a_row_keep_calls_and_results(there, back, conversation):
    """Encoded for one, read, encoded for another, read: the calls and what came back of them."""
    first = encoded(conversation, BASES[there])
    second = encoded(read_back(first).conversation, BASES[back])
    own = first.transcript.names
    names = own | {wire: own.get(name, name) for wire, name in second.transcript.names.items()}
    arrived = read_back(second).conversation
    assert answered(arrived, names) == answered(conversation, {})
