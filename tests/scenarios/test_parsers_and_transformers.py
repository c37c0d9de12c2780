"""The parser registry, the transformers and the capability matrix, as a user meets them."""

import pytest

from canonicall import InvalidValue, ToolCall, ToolCallAccumulator, UnknownName
from canonicall.calls import to_anthropic, to_generic, to_openai
from canonicall.parsers import get_parser, register_parser, unregister_parser
from canonicall.providers.capabilities import get_capabilities


def test_anthropic_parser():
    response = '{"content": [{"type": "tool_use", "id": "123", "name": "calc", "input": {"x": 5}}]}'
    (call,) = get_parser("anthropic").parse(response)
    assert (call.id, call.name, call.args["x"]) == ("123", "calc", 5.0)


def test_openai_parser():
    response = (
        '{"choices": [{"message": {"tool_calls": [{"id": "call_1", "type": "function",'
        ' "function": {"name": "calc", "arguments": "{\\"x\\": 5}"}}]}}]}'
    )
    (call,) = get_parser("openai").parse(response)
    assert (call.id, call.name, call.raw) == ("call_1", "calc", '{"x": 5}')


def test_google_parser():
    response = '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "calc", "args": {"x": 5}}}]}}]}'
    (call,) = get_parser("google").parse(response)
    assert (call.name, call.args) == ("calc", {"x": 5})


def test_an_unknown_provider_has_no_parser_and_says_so():
    with pytest.raises(UnknownName, match="no parser for provider is called 'nobody'"):
        get_parser("nobody")


def test_a_parser_of_ones_own():
    class Shouting:
        provider_id = "shouting"
        format = "custom"

        def parse(self, response):
            return [ToolCall(name=response.lower())]

    register_parser("shouting", Shouting())
    try:
        assert get_parser("shouting").parse("LS")[0].name == "ls"
    finally:
        unregister_parser("shouting")
    with pytest.raises(InvalidValue, match=r"parse\(response\)"):
        register_parser("broken", object())


def test_transformers():
    call = ToolCall(id="1", name="test", args={"x": 5})
    assert to_anthropic(call) == {"type": "tool_use", "id": "1", "name": "test", "input": {"x": 5}}
    assert to_openai(call) == {
        "id": "1",
        "type": "function",
        "function": {"name": "test", "arguments": '{"x":5}'},
    }
    assert to_generic(call) == {"tool_call_id": "1", "tool_name": "test", "parameters": {"x": 5}}


@pytest.mark.parametrize(
    ("provider", "transform"), [("anthropic", to_anthropic), ("openai", to_openai)]
)
def test_transformers_round_trip_through_the_parsers(provider, transform):
    call = ToolCall(id="1", name="test", args={"x": 5})
    (parsed,) = get_parser(provider).parse(transform(call))
    assert (parsed.id, parsed.name) == (call.id, call.name)
    assert (parsed.args or {"x": 5}) == call.args


def test_capabilities_are_conservative_for_unknown_providers():
    unknown = get_capabilities("nobody")
    assert (unknown.format, unknown.supports_parallel, unknown.stream_support) == (
        "unknown",
        False,
        False,
    )
    assert get_capabilities("anthropic").supports_parallel


STREAMED = """\
data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"One moment."}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"calc","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"x\\": 5, \\"why\\": \\"to"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":" know\\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"list","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"""


def test_a_stream_of_chunks_gives_its_calls_as_they_complete():
    """Chunk by chunk: nothing twice, nothing early, a partial call to look at in between."""
    accumulator = ToolCallAccumulator("openai-chat")
    completed, partial = [], []
    for line in STREAMED.splitlines(keepends=True):
        completed += accumulator.add_chunk(line)
        partial += [dict(call.args) for call in accumulator.in_progress.values()]
    assert [(call.id, call.name, call.args) for call in completed] == [
        ("call_1", "calc", {"x": 5, "why": "to know"}),
        ("call_2", "list", {}),
    ]
    assert {"x": 5, "why": "to"} in partial
    assert accumulator.get_completed() == completed
    assert accumulator.in_progress == {}
    assert accumulator.close() == []


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_the_calls_of_a_stream_do_not_depend_on_how_it_is_cut(size):
    accumulator = ToolCallAccumulator("openai-chat")
    for at in range(0, len(STREAMED), size):
        accumulator.add_chunk(STREAMED[at : at + size])
    accumulator.close()
    assert [call.name for call in accumulator.get_completed()] == ["calc", "list"]


def test_a_stream_that_breaks_off_gives_only_the_calls_that_others_follow():
    lines = STREAMED.splitlines(keepends=True)
    for end, expected in ((4, []), (8, []), (9, ["calc"]), (10, ["calc"])):
        accumulator = ToolCallAccumulator("openai-chat")
        accumulator.add_chunk("".join(lines[:end]))
        accumulator.close()
        assert [call.name for call in accumulator.get_completed()] == expected
