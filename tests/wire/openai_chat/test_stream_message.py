"""Reasoning, words and media of a streamed message, wherever hosts put them."""

import pytest

from canonicall import (
    BlockEnded,
    BlockStarted,
    Media,
    SignatureAdded,
    Text,
    TextAdded,
    Thinking,
    ThinkingAdded,
    Unknown,
    fold,
)
from wire.openai_chat.chunks import chunk, decoded, of_type, reply_of

# 10: reasoning.


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own(field):
    events = decoded(
        chunk({field: "h", "content": ""}),
        chunk({field: "m", "content": None}),
        chunk({"content": "Hi."}),
        chunk(finish="stop"),
    )
    assert [event.text for event in of_type(events, ThinkingAdded)] == ["h", "m"]
    thought, words = fold(events).message.blocks
    assert of_type(events, BlockEnded)[0].block == thought
    assert (thought.text, thought.native.fields["field"], words.text) == ("hm", field, "Hi.")


def test_reasoning_in_two_fields_is_one_thought():
    events = decoded(
        *(chunk({"reasoning": text, "reasoning_content": text}) for text in "hm"),
        chunk(finish="stop"),
    )
    assert "".join(event.text for event in of_type(events, ThinkingAdded)) == "hm"
    assert [block.text for block in fold(events).message.blocks] == ["hm"]


def test_reasoning_details_grow_and_are_the_state_of_the_thought():
    """OpenRouter: the words in pieces, the signature last, often beside the first words."""
    detail = {"type": "reasoning.text", "index": 0}
    events = decoded(
        chunk({"reasoning": "h", "reasoning_details": [{**detail, "text": "h"}]}),
        chunk({"reasoning": "m", "reasoning_details": [{**detail, "text": "m"}]}),
        chunk({"content": "Hi.", "reasoning_details": [{**detail, "signature": "s"}]}),
        chunk(finish="stop"),
    )
    whole = [{**detail, "text": "hm", "signature": "s"}]
    thought = fold(events).message.blocks[0]
    assert (thought.text, thought.opaque[0].value) == ("hm", whole)
    assert [event.opaque.value for event in of_type(events, SignatureAdded)] == [whole]
    assert of_type(events, BlockEnded)[0].block == thought


def test_reasoning_details_behind_the_words_are_told_at_the_end():
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    events = decoded(
        chunk({"content": "Hi."}), chunk({"reasoning_details": details}), chunk(finish="stop")
    )
    last = of_type(events, BlockEnded)[-1].block
    assert isinstance(last, Thinking)
    assert last.opaque[0].value == details
    assert fold(events).message.blocks[0].opaque[0].value == details


def test_reasoning_in_details_only():
    detail = {"type": "reasoning.summary", "index": 0}
    events = decoded(
        *(chunk({"reasoning_details": [{**detail, "summary": text}]}) for text in "hm"),
        chunk(finish="stop"),
    )
    assert "".join(event.text for event in of_type(events, ThinkingAdded)) == "hm"
    assert fold(events).message.blocks[0].text == "hm"


def test_reasoning_in_the_content():
    """Mistral: a list with thinking chunks, then plain text."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": text}]} for text in "hm"]
    events = decoded(
        *(chunk({"content": [part]}) for part in parts),
        chunk({"content": [{"type": "thinking", "thinking": [], "closed": True}]}),
        chunk({"content": "H"}),
        chunk({"content": [{"type": "text", "text": "i."}]}),
        chunk(finish="stop"),
    )
    thought, words = fold(events).message.blocks
    assert (thought.text, words.text) == ("hm", "Hi.")
    assert thought.native.fields == {"field": "content", "closed": True}
    assert of_type(events, BlockEnded)[0].block == thought


@pytest.mark.parametrize("closed", [(True, True, True), (True, None, True), (None, True, None)])
def test_closed_on_an_increment_does_not_end_the_thought(closed):
    """Mistral writes it on nearly every increment of one thought."""
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        | ({"closed": True} if is_closed else {})
        for text, is_closed in zip("abc", closed, strict=True)
    ]
    events = decoded(
        *(chunk({"content": [part]}) for part in parts),
        chunk({"content": "Hi"}),
        chunk(finish="stop"),
    )
    thought, words = fold(events).message.blocks
    assert (thought.text, words.text) == ("abc", "Hi")
    assert of_type(events, BlockEnded)[0].block == thought


def test_a_thought_behind_a_signed_one_is_another():
    signed = {"type": "thinking", "thinking": [{"type": "text", "text": "a"}], "signature": "s"}
    other = {"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}
    reply = reply_of(chunk({"content": [signed]}), chunk({"content": [other]}), finish="stop")
    assert [block.text for block in reply.message.blocks] == ["a", "b"]


def test_reasoning_in_tags_is_text():
    """Which tags a model uses is for those to know who know the model."""
    assert reply_of(chunk({"content": "<think>hm</think>Hi."}), finish="stop").message.text == (
        "<think>hm</think>Hi."
    )


def test_reasoning_between_words_splits_them_in_events_only():
    events = decoded(
        chunk({"content": "a"}), chunk({"reasoning": "x"}), chunk({"content": "b"}, "stop")
    )
    blocks = [event.block.text for event in of_type(events, BlockEnded)]
    assert blocks == ["a", "x", "b"]
    assert fold(events).message.text == "ab"


# Content beside words.


def test_content_in_lists():
    """Text parts go on; what is no text is told when the reply is whole."""
    image = {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}
    odd = {"type": "reference", "reference_ids": [1]}
    events = decoded(
        chunk({"content": [{"type": "text", "text": "a"}]}),
        chunk({"content": [{"type": "text", "text": "b"}, odd, image]}),
        chunk(finish="stop"),
    )
    words, unknown, media = fold(events).message.blocks
    assert (words.text, type(unknown), type(media)) == ("ab", Unknown, Media)
    assert [event.block for event in of_type(events, BlockEnded)] == [words, unknown, media]


def test_images_beside_the_content():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    events = decoded(chunk({"content": "", "images": [image]}), chunk(finish="stop"))
    (media,) = fold(events).message.blocks
    assert (media.media_type, media.data) == ("image/png", "aGk=")
    assert of_type(events, BlockEnded)[-1].block == media


def test_sound_in_pieces():
    events = decoded(
        chunk({"audio": {"id": "a1", "transcript": "Hel"}}),
        chunk({"audio": {"data": "aGk="}}),
        chunk({"audio": {"transcript": "lo", "expires_at": 9}}),
        chunk(finish="stop"),
    )
    transcript, sound = fold(events).message.blocks
    assert (transcript.text, sound.data, sound.opaque[0].value) == ("Hello", "aGk=", "a1")
    assert [event.block for event in of_type(events, BlockEnded)] == [transcript, sound]


def test_a_refusal():
    events = decoded(chunk({"refusal": "I can"}), chunk({"refusal": "not."}), chunk(finish="stop"))
    reply = fold(events)
    assert (reply.message.text, reply.finish) == ("I cannot.", "refusal")
    assert [event.text for event in of_type(events, TextAdded)] == ["I can", "not."]
    assert of_type(events, BlockEnded)[0].block == reply.message.blocks[0]


def test_empty_lists_of_calls_beside_content_mean_nothing():
    events = decoded(
        chunk({"content": "a", "tool_calls": []}),
        chunk({"content": "b", "tool_calls": None, "function_call": {}}),
        chunk(finish="stop"),
    )
    assert fold(events).message.blocks == (Text(text="ab"),)
    assert len(of_type(events, BlockStarted)) == 1


def test_annotations_and_log_probabilities_are_kept_whole():
    def with_logprobs(body, token):
        body["choices"][0]["logprobs"] = {"content": [{"token": token}], "refusal": None}
        return body

    reply = fold(
        decoded(
            with_logprobs(chunk({"content": "a", "annotations": [{"n": 1}]}), "a"),
            with_logprobs(chunk({"content": "b", "annotations": [{"n": 2}]}), "b"),
            chunk(finish="stop"),
        )
    )
    assert reply.message.native.fields == {"annotations": [{"n": 1}, {"n": 2}]}
    tokens = reply.native.fields["choice"]["logprobs"]["content"]
    assert tokens == [{"token": "a"}, {"token": "b"}]


def test_a_whole_message_instead_of_a_delta():
    """Some hosts answer a request for a stream with one chunk that is the response."""
    message = {"role": "assistant", "content": "Hi."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    assert fold(decoded({"id": "c", "choices": [choice]})).message.text == "Hi."
