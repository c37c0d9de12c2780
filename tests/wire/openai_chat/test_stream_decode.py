"""Chunks of every host to events: each behaviour that was seen in the wild, in bodies of our own."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    FinishReported,
    Media,
    MessageStarted,
    SignatureAdded,
    StreamDecoder,
    StreamEnded,
    Text,
    TextAdded,
    Thinking,
    ThinkingAdded,
    ToolCall,
    Unknown,
    UsageReported,
    fold,
)
from wire.support import places, put

from strategies import json_values

FORMAT = "openai-chat"
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def frame(body):
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def chunk(delta=None, finish=None, index=0, **rest):
    choice = {"index": index, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c1", "model": "m", "choices": [choice], **rest}


def piece(index=0, id=None, name=None, arguments=None, **rest):
    """One entry of `tool_calls`; what is not given is not there."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not None}
    fields = {"index": index, "id": id, "function": function or None, **rest}
    return {key: value for key, value in fields.items() if value is not None}


def calls(*pieces):
    return chunk({"tool_calls": list(pieces)})


def decoded(*bodies, done=True):
    decoder = StreamDecoder(FORMAT)
    data = b"".join(map(frame, bodies)) + (b"data: [DONE]\n\n" if done else b"")
    events = decoder.feed(data) + decoder.close()
    assert events == [one for byte in split(data) for one in byte]
    return events


def split(data):
    """The events byte by byte."""
    decoder = StreamDecoder(FORMAT)
    for at in range(len(data)):
        yield decoder.feed(data[at : at + 1])
    yield decoder.close()


def reply_of(*bodies, finish="tool_calls"):
    return fold(decoded(*bodies, chunk(finish=finish)))


def said(reply):
    return [(call.id, call.name, call.raw) for call in reply.calls]


def of_type(events, *types):
    return [event for event in events if isinstance(event, types)]


WHOLE = [("1", "f", '{"a": 1}')]


def test_the_events_of_a_stream():
    events = decoded(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "One "}),
        chunk({"content": "moment."}),
        calls(piece(0, "1", "f", "")),
        calls(piece(0, arguments='{"a"')),
        calls(piece(0, arguments=": 1}")),
        calls(piece(1, "2", "g", "{}")),
        chunk(finish="tool_calls"),
        {"id": "c1", "model": "m", "choices": [], "usage": USAGE},
    )
    first = ToolCall(id="1", name="f", raw='{"a": 1}')
    second = ToolCall(id="2", name="g", raw="{}")
    end = events.pop()
    assert isinstance(events[0], MessageStarted)
    assert (events[0].origin.model, events[0].origin.response_id) == ("m", "c1")
    assert events[1:] == [
        BlockStarted(0, Text(text="")),
        TextAdded(0, "One "),
        TextAdded(0, "moment."),
        BlockEnded(0, Text(text="One moment.")),
        BlockStarted(1, ToolCall(id="1", name="f")),
        ArgumentsAdded(1, '{"a"'),
        ArgumentsAdded(1, ": 1}"),
        BlockEnded(1, first),
        BlockStarted(2, ToolCall(id="2", name="g")),
        ArgumentsAdded(2, "{}"),
        BlockEnded(2, second),
        FinishReported("tool_calls"),
        UsageReported(end.reply.usage),
    ]
    assert end == StreamEnded(end.reply)
    assert end.reply.message.blocks == (Text(text="One moment."), first, second)
    assert (end.reply.finish, end.reply.usage.input_tokens) == ("tool_calls", 3)


# 1-3: the index.


def test_a_missing_index_with_a_new_id_opens_a_call():
    reply = reply_of(
        calls(piece(None, "1", "f", '{"a"')),
        calls(piece(None, arguments=": 1}")),
        calls(piece(None, "2", "g", "{}")),
    )
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_a_missing_index_with_a_new_name_opens_a_call():
    reply = reply_of(calls(piece(None, None, "f", '{"a": 1}')), calls(piece(None, None, "g", "{}")))
    assert said(reply) == [("", "f", '{"a": 1}'), ("", "g", "{}")]


def test_the_same_name_again_behind_complete_arguments_opens_a_call():
    reply = reply_of(
        calls(piece(None, None, "f", '{"a": 1}')), calls(piece(None, None, "f", '{"a": 2}'))
    )
    assert said(reply) == [("", "f", '{"a": 1}'), ("", "f", '{"a": 2}')]


def test_the_same_index_for_every_call():
    """Ollama once did that."""
    reply = reply_of(calls(piece(0, "1", "f", '{"a": 1}')), calls(piece(0, "2", "g", "{}")))
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_an_index_that_counts_pieces():
    """Nebius and Cerebras did that."""
    reply = reply_of(
        calls(piece(0, "1", "f", "")),
        calls(piece(1, arguments='{"a"')),
        calls(piece(2, arguments=": 1}")),
        calls(piece(3, "2", "g", "{}")),
    )
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_an_index_that_counts_pieces_with_the_id_repeated():
    reply = reply_of(
        calls(piece(0, "1", "f", '{"a"')),
        calls(piece(1, "1", arguments=": 1}")),
    )
    assert said(reply) == WHOLE


def test_calls_may_overlap():
    reply = reply_of(
        calls(piece(0, "1", "f", ""), piece(1, "2", "g", "")),
        calls(piece(1, arguments="{}")),
        calls(piece(0, arguments='{"a": 1}')),
    )
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


def test_several_pieces_of_one_call_in_one_chunk():
    reply = reply_of(calls(piece(0, "1", "f", '{"a"'), piece(0, arguments=": 1}")))
    assert said(reply) == WHOLE


def test_indices_with_gaps_and_in_any_order():
    reply = reply_of(calls(piece(7, "1", "f", '{"a": 1}')), calls(piece(3, "2", "g", "{}")))
    assert said(reply) == [*WHOLE, ("2", "g", "{}")]


# 4: ids, types and names.


@pytest.mark.parametrize("again", [{"id": "1", "type": "function"}, {"id": ""}, {"type": None}])
@pytest.mark.parametrize("name", ["f", "", None])
def test_what_is_repeated_null_or_empty_changes_nothing(again, name):
    more = {"index": 0, "id": None, "function": {"name": name, "arguments": ": 1}"}} | again
    reply = reply_of(calls(piece(0, "1", "f", '{"a"', type="function")), calls(more))
    assert said(reply) == WHOLE
    assert reply.calls[0].native is None


def test_an_id_that_comes_late():
    """The call is told when its name is known; its end has the id."""
    events = decoded(calls(piece(0, "", "f", "")), calls(piece(0, "1", arguments='{"a": 1}')))
    assert of_type(events, BlockStarted)[0].block == ToolCall(name="f")
    assert of_type(events, BlockEnded)[0].block.id == "1"
    assert said(fold(events)) == WHOLE


def test_a_name_that_comes_late():
    events = decoded(calls(piece(0, "1", None, "{")), calls(piece(0, None, "f", "}")))
    assert of_type(events, BlockStarted)[0].block == ToolCall(id="1", name="f")
    assert [event.text for event in of_type(events, ArgumentsAdded)] == ["{", "}"]
    assert said(fold(events)) == [("1", "f", "{}")]


def test_a_name_in_pieces():
    """It is told once the arguments begin: a client would call another tool."""
    events = decoded(
        calls(piece(0, "1", "get_")),
        calls(piece(0, None, "weather")),
        calls(piece(0, arguments="{}")),
    )
    assert of_type(events, BlockStarted)[0].block.name == "get_weather"
    assert said(fold(events)) == [("1", "get_weather", "{}")]


def test_names_without_arguments_are_told_in_order():
    events = decoded(
        calls(piece(0, "1", "f")), calls(piece(1, "2", "g", "{}")), chunk(finish="tool_calls")
    )
    assert [event.block.name for event in of_type(events, BlockStarted)] == ["f", "g"]
    assert said(fold(events)) == [("1", "f", ""), ("2", "g", "{}")]


def test_a_call_without_a_name_is_kept():
    assert said(reply_of(calls(piece(0, "1", None, "{}")))) == [("1", "", "{}")]


# 5-8: arguments.


def test_arguments_as_an_object():
    reply = reply_of(
        calls({"index": 0, "id": "1", "function": {"name": "f", "arguments": {"a": 1}}})
    )
    assert said(reply) == [("1", "f", '{"a":1}')]


@pytest.mark.parametrize("arguments", [None, "", {}])
def test_no_arguments(arguments):
    function = {"name": "f", "arguments": arguments}
    (call,) = reply_of(calls({"index": 0, "id": "1", "function": function})).calls
    assert call.raw in ("", "{}")


def test_the_whole_call_in_the_chunk_of_the_finish_reason():
    """Mistral, OpenRouter, xAI."""
    delta = {"content": "", "tool_calls": [piece(0, "1", "f", '{"a": 1}')]}
    assert said(fold(decoded(chunk(delta, "tool_calls")))) == WHOLE


@pytest.mark.parametrize("arguments", ['{"a": 1}{"a": 2}', '"{}"', "null", "{oops"])
def test_what_a_model_wrote_as_arguments_stays_as_it_is(arguments):
    assert said(reply_of(calls(piece(0, "1", "f", arguments)))) == [("1", "f", arguments)]


def test_pieces_behind_the_end_of_a_call_break_nothing():
    """It was complete when the next one began, or the reason had come."""
    reply = reply_of(
        calls(piece(0, "1", "f", '{"a": 1}')),
        calls(piece(1, "2", "g", "{}")),
        calls(piece(0, arguments=" ")),
        chunk(finish="tool_calls"),
        calls(piece(1, arguments=" ")),
    )
    assert [(call.id, call.raw.strip()) for call in reply.calls] == [("1", '{"a": 1}'), ("2", "{}")]


def test_a_custom_call():
    pieces = [
        {"index": 0, "id": "1", "type": "custom", "custom": {"name": "sh", "input": "l"}},
        {"index": 0, "custom": {"input": "s"}},
    ]
    events = decoded(*map(calls, pieces), chunk(finish="tool_calls"))
    assert of_type(events, BlockEnded)[0].block == ToolCall(
        id="1", name="sh", raw="ls", kind="custom"
    )


def test_the_legacy_function_call():
    events = decoded(
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": "{}"}}),
        chunk(finish="function_call"),
    )
    (call,) = fold(events).calls
    assert (call.id, call.name, call.raw, fold(events).finish) == ("", "f", "{}", "tool_calls")
    assert of_type(events, BlockStarted)[0].block.native == call.native


def test_fields_of_a_host_on_a_call_are_kept():
    google = {"extra_content": {"google": {"thought_signature": "s"}}}
    (call,) = reply_of(calls(piece(0, "1", "f", "{}", **google))).calls
    assert call.native.fields == google


def test_repeated_names_cost_one_look_for_each_piece():
    """A host that repeats the name with every piece: no piece is put together twice."""
    pieces = [calls(piece(0, None, "f", '{"a": "'))]
    pieces += [calls(piece(0, None, "f", "word ")) for _ in range(300)]
    reply = reply_of(*pieces, calls(piece(0, None, "f", '"}')))
    assert len(reply.calls) == 1
    assert len(reply.calls[0].raw) == 7 + 300 * 5 + 2


# 9: choices and usage.


@pytest.mark.parametrize("choices", [[], None])
def test_a_chunk_without_choices_means_nothing_for_the_message(choices):
    """Azure begins with one, the usage comes in one."""
    first = {"id": "", "model": "", "choices": choices, "prompt_filter_results": []}
    reply = fold(decoded(first, chunk({"content": "Hi."}, "stop")))
    assert (reply.message.text, reply.message.origin.response_id) == ("Hi.", "c1")


USAGE_PLACES = {
    "behind the end, without choices": [chunk(finish="stop"), {"choices": [], "usage": USAGE}],
    "behind the end, with choices": [chunk(finish="stop"), chunk(usage=USAGE)],
    "at the end": [chunk(finish="stop", usage=USAGE)],
    "at the end, for Groq": [chunk(finish="stop", x_groq={"id": "r", "usage": USAGE})],
    "on a second end": [chunk(finish="stop"), chunk(finish="stop", usage=USAGE)],
    "without a reply": [{"choices": [], "usage": USAGE}],
}


@pytest.mark.parametrize("where", USAGE_PLACES)
def test_usage_anywhere(where):
    events = decoded(chunk({"content": "Hi."}), *USAGE_PLACES[where])
    assert fold(events).usage.input_tokens == 3
    assert [event.usage.native for event in of_type(events, UsageReported)] == [USAGE]


def test_usage_on_every_chunk():
    """vLLM counts on; the last figures are those of the reply, also behind null ones."""
    counts = [{**USAGE, "completion_tokens": n} for n in (1, 2, 3)]
    events = decoded(
        *(chunk({"content": "x"}, usage=one) for one in counts), chunk({}, "stop", usage=None)
    )
    assert [event.usage.output_tokens for event in of_type(events, UsageReported)] == [1, 2, 3]
    assert fold(events).usage.output_tokens == 3


def test_usage_before_anything_else_comes_behind_the_start():
    events = decoded({"choices": [], "usage": USAGE}, chunk({"content": "Hi."}, "stop"))
    assert [type(event) for event in events[:2]] == [MessageStarted, UsageReported]


def test_more_than_one_choice():
    """Only the first is told; the others are kept and reported."""
    events = decoded(
        chunk({"content": "a"}),
        chunk({"content": "x"}, index=1),
        chunk({"content": "b"}),
        chunk(finish="stop"),
        chunk({"content": "y"}, index=1),
        chunk(finish="length", index=1),
    )
    reply = fold(events)
    assert "".join(event.text for event in of_type(events, TextAdded)) == "ab"
    assert (reply.message.text, reply.finish) == ("ab", "stop")
    assert [finding.code for finding in reply.findings] == ["more_choices"]
    (other,) = reply.native.fields["other_choices"]
    assert (other["message"]["content"], other["finish_reason"]) == ("xy", "length")


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


# Finish reasons.


@pytest.mark.parametrize("word", ["stop", "", None, "eos"])
def test_calls_count_more_than_the_word(word):
    events = decoded(calls(piece(0, "1", "f", '{"a": 1}')), chunk(finish=word))
    assert fold(events).finish == "tool_calls"
    assert events[-1].complete


def test_a_limit_counts_more_than_calls():
    """OpenRouter says tool_calls; only the model's own provider tells."""
    body = chunk(finish="tool_calls")
    body["choices"][0]["native_finish_reason"] = "length"
    events = decoded(calls(piece(0, "1", "f", '{"a": ')), body)
    (call,) = fold(events).calls
    assert (fold(events).finish, call.truncated) == ("length", True)
    assert of_type(events, FinishReported) == [FinishReported("length")]


def test_announced_calls_that_never_came():
    reply = fold(decoded(chunk({"content": "Hi."}, "tool_calls")))
    assert reply.finish == "stop"
    assert [finding.code for finding in reply.findings] == ["finish_corrected"]


def test_repeated_ends_are_one():
    """OpenRouter sends a second one with the usage."""
    events = decoded(
        chunk({"content": "Hi."}), chunk(finish="stop"), chunk({"content": ""}, "stop", usage=USAGE)
    )
    assert len(of_type(events, FinishReported)) == 1
    assert len(of_type(events, BlockEnded)) == 1


def test_words_behind_the_finish_reason_count():
    events = decoded(chunk({"content": "a"}, "stop"), chunk({"content": "b"}))
    assert fold(events).message.text == "ab"


def test_ids_of_chunks_that_change_are_no_new_message():
    bodies = [chunk({"content": text}) | {"id": text} for text in "ab"]
    events = decoded(*bodies, chunk(finish="stop"))
    assert len(of_type(events, MessageStarted)) == 1
    assert fold(events).message.text == "ab"


# 11: errors inside a 200.


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "overloaded", "type": "server_error", "code": 502}},
        {"error": "overloaded"},
        chunk({"content": ""}, "error", error={"message": "overloaded", "code": 502}),
        {"code": "ServiceUnavailable", "message": "overloaded", "request_id": "r"},
        {"id": "c", "choices": [], "x_groq": {"error": "overloaded"}},
        {"id": "c", "choices": [{"index": 0, "delta": {}, "error": {"message": "overloaded"}}]},
    ],
    ids=["openai", "text", "openrouter", "dashscope", "groq", "choice"],
)
@pytest.mark.parametrize("done", [True, False])
def test_an_error_inside_the_stream(body, done):
    """What came before stays; the stream is not complete, and its last call not to be run."""
    events = decoded(calls(piece(0, "1", "f", "")), body, done=done)
    end = events[-1]
    assert [event.message for event in of_type(events, ErrorReported)] == ["overloaded"]
    assert (end.complete, end.why, end.reply.finish) == (False, "overloaded", "error")
    assert end.reply.message.partial
    assert end.reply.calls[0].truncated


def test_an_error_is_all_that_came():
    end = decoded({"error": {"message": "overloaded"}}, done=False)[-1]
    assert (end.complete, end.reply.finish, end.reply.message.blocks) == (False, "error", ())


# 12-13: text and frames.


def test_calls_that_leak_into_text_stay_text():
    leaked = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
    assert reply_of(chunk({"content": leaked}), finish="stop").message.text == leaked


def test_frames_as_hosts_write_them():
    """Comments, no blank behind the colon, other line ends, names that mean nothing."""
    decoder = StreamDecoder(FORMAT)
    body = json.dumps(chunk({"content": "Hi."}, "stop")).encode()
    data = b": OPENROUTER PROCESSING\n\nevent: x\r\ndata:" + body + b"\r\n\r\ndata: [DONE]"
    events = decoder.feed(data) + decoder.close()
    assert fold(events).message.text == "Hi."
    assert events[-1].complete


# Cut streams.

STREAM = [
    chunk({"reasoning": "hm"}),
    chunk({"content": "One moment."}),
    calls(piece(0, "1", "f", "")),
    calls(piece(0, arguments='{"a"')),
    calls(piece(0, arguments=": 1}")),
    calls(piece(1, "2", "g", "")),
    calls(piece(1, arguments="{}")),
    chunk(finish="tool_calls"),
]


@pytest.mark.parametrize("count", range(len(STREAM)))
def test_a_stream_cut_behind_any_chunk(count):
    """Words end; calls end only if they cannot grow; the last call is not to be run."""
    events = decoded(*STREAM[:count], done=False)
    end = events[-1]
    assert (end.complete, end.reply.message.partial) == (False, True)
    ended = [event.block for event in of_type(events, BlockEnded)]
    assert [block.raw for block in ended if isinstance(block, ToolCall)] == (
        [[], [], [], [], [], ['{"a": 1}'], ['{"a": 1}'], ['{"a": 1}', "{}"]][count]
    )
    assert len(ended) - len(end.reply.calls) <= 2
    marks = [call.truncated for call in end.reply.calls]
    assert marks == [False] * (len(marks) - 1) + [True] * bool(marks)


def test_a_stream_without_done_is_complete_when_the_reason_came():
    assert decoded(*STREAM, done=False)[-1].complete


# Wrong shapes: a bad frame costs itself, and nothing raises.

SPOILED = [
    chunk({"role": "assistant", "content": "a", "reasoning": "h", "refusal": "r"}, usage=USAGE),
    chunk(
        {
            "content": [
                {"type": "text", "text": "a"},
                {"type": "thinking", "thinking": [{"type": "text", "text": "h"}]},
                {"type": "image_url", "image_url": {"url": "https://x.org/a"}},
            ],
            "reasoning_details": [{"type": "reasoning.text", "text": "h", "index": 0}],
            "audio": {"id": "a", "data": "aGk=", "transcript": "t"},
            "images": [{"type": "image_url", "image_url": {"url": "https://x.org/a"}}],
            "annotations": [{"type": "url_citation"}],
        }
    ),
    calls(piece(0, "1", "f", '{"a"', type="function")),
    chunk({"function_call": {"name": "f", "arguments": "{"}}),
    chunk(
        {"tool_calls": [{"index": 1, "type": "custom", "custom": {"name": "c", "input": "x"}}]},
        "tool_calls",
        error={"message": "m", "type": "t"},
        x_groq={"usage": USAGE},
    ),
]


@given(st.data())
def test_no_frame_is_so_bad_that_the_stream_is_lost(data):
    """One value of one frame is replaced by any other; the words of the last frame still come."""
    number = data.draw(st.integers(0, len(SPOILED) - 1))
    path = data.draw(st.sampled_from(list(places(SPOILED[number]))))
    bodies = [*SPOILED, chunk({"content": "the end"}, "stop")]
    bodies[number] = put(bodies[number], path, data.draw(json_values))
    end = decoded(*bodies)[-1]
    assert isinstance(end, StreamEnded)
    assert "the end" in end.reply.message.text
