"""The parser registry, the transformers and the capability matrix, as a user meets them."""

import pytest

from canonicall import InvalidValue, ToolCall, UnknownName
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
