"""Chunks that only go on, whichever way they are read; and what must not be taken for going on."""

import json

from canonicall.codec.streams import StreamDecoder
from canonicall.events import ArgumentsAdded, ThinkingAdded


def chunk(delta, **fields):
    choice = {"index": 0, "delta": delta, "finish_reason": None, **fields}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice]})}\n\n".encode()


def call(index, text, **fields):
    return {"tool_calls": [{"index": index, "function": {"arguments": text, **fields}}]}


def decoded(pieces):
    decoder = StreamDecoder("openai-chat")
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def both_ways(chunks):
    """The events of whole chunks, which are those of single bytes."""
    stream = b"".join(chunks)
    events = decoded(chunks)
    assert events == decoded([stream[at : at + 1] for at in range(len(stream))])
    return events


def test_words_and_arguments_go_on():
    events = both_ways(
        [
            *[chunk({"content": word}) for word in ("a", "b", "", "c", "d")],
            chunk(call(0, "", name="f")),
            *[chunk(call(0, text)) for text in ('{"x"', ": ", "1", "2", "}")],
            chunk({}, finish_reason="tool_calls"),
        ]
    )
    reply = events[-1].reply
    assert reply.message.text == "abcd"
    assert reply.calls[0].raw == '{"x": 12}'


def test_a_name_behind_whole_arguments_is_another_call_however_often_it_comes():
    again = chunk(call(0, "{}", name="f"))
    reply = both_ways([again] * 4)[-1].reply
    assert [one.raw for one in reply.calls] == ["{}"] * 4


def test_annotations_are_collected_although_the_words_repeat():
    same = chunk({"content": "a", "annotations": [{"url": "u"}]})
    events = both_ways([same] * 4)
    assert len(events[-1].reply.message.native.fields["annotations"]) == 4


def test_reasoning_in_two_fields_is_told_once_whichever_comes_first():
    details = [{"type": "reasoning.text", "text": "Hm", "index": 0}]
    events = both_ways([chunk({"reasoning_details": details, "reasoning": "Hm"})] * 3)
    assert [one.text for one in events if isinstance(one, ThinkingAdded)] == ["Hm"] * 3
    assert events[-1].reply.message.blocks[0].text == "HmHmHm"


def test_arguments_behind_the_end_of_a_call_are_kept_but_not_told():
    events = both_ways([chunk(call(0, "{}", name="f")), chunk(call(1, "{}", name="g"))])
    late = both_ways(
        [
            chunk(call(0, "{}", name="f")),
            chunk(call(1, "{}", name="g")),
            chunk(call(0, " ")),
            chunk({}, finish_reason="tool_calls"),
        ]
    )
    told = [one for one in late if isinstance(one, ArgumentsAdded)]
    assert told == [one for one in events if isinstance(one, ArgumentsAdded)]
    assert [one.name for one in late[-1].reply.calls] == ["f", "g"]
