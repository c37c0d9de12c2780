"""Parsers by provider: a model's answer in, its tool calls out.

The registry of seed strategies 2 and 4: ask for a provider's parser, or add your own.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from canonicall.blocks import ToolCall
from canonicall.codec import Body, decode_response
from canonicall.errors import InvalidValue, MalformedBody, UnknownName
from canonicall.providers.registry import get_profile, provider_names
from canonicall.syntax.parsing import parse
from canonicall.syntax.registry import get_syntax, syntax_names
from canonicall.wire.reading import parse_body


@runtime_checkable
class ToolParser(Protocol):
    """What a parser can do."""

    @property
    def provider_id(self) -> str: ...

    @property
    def format(self) -> str: ...

    def parse(self, response: Body) -> list[ToolCall]: ...


class WireParser:
    """Reads the structured calls of a provider's response, or one call in its own form."""

    format = "json"

    def __init__(self, provider: str, wire_format: str) -> None:
        self.provider_id = provider
        self.wire_format = wire_format

    def parse(self, response: Body) -> list[ToolCall]:
        """The calls of a response body; raises `MalformedBody` if it is none."""
        body = parse_body(response)
        return list(decode_response(_as_response(body, self.wire_format), self.wire_format).calls)


class TextParser:
    """Reads the calls that a model printed in its text."""

    def __init__(self, syntax: str) -> None:
        self.provider_id = syntax
        self.format: str = get_syntax(syntax).notation

    def parse(self, response: Body) -> list[ToolCall]:
        """The calls in a text."""
        if isinstance(response, dict):
            raise MalformedBody("expected the text of a model, got an object.")
        text = response.decode("utf-8", "replace") if isinstance(response, bytes) else response
        return list(parse(text, syntax=self.provider_id).calls)


_OWN: dict[str, ToolParser] = {}


def get_parser(provider: str) -> ToolParser:
    """The parser of a provider or of a syntax; an unknown name is an error that says so."""
    if provider in _OWN:
        return _OWN[provider]
    try:
        profile = get_profile(provider)
    except UnknownName:
        if provider in syntax_names():
            return TextParser(provider)
        known = (*provider_names(), *_OWN, *syntax_names())
        raise UnknownName("parser for provider", provider, known) from None
    return WireParser(profile.name, profile.format)


def register_parser(provider: str, parser: ToolParser) -> None:
    """Use `parser` for a provider from now on."""
    if not isinstance(parser, ToolParser):
        raise InvalidValue(
            f"{type(parser).__name__} is no parser.",
            where="parser",
            help="It needs parse(response), format and provider_id.",
        )
    _OWN[provider] = parser


def unregister_parser(provider: str) -> None:
    """Forget a parser that was registered."""
    _OWN.pop(provider, None)


_WRAPPED: Mapping[str, Any] = {
    "anthropic": lambda call: {"role": "assistant", "content": [call]},
    "openai-chat": lambda call: {
        "choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]
    },
    "openai-responses": lambda call: {"output": [call]},
    "gemini": lambda call: {"candidates": [{"content": {"role": "model", "parts": [call]}}]},
    "bedrock": lambda call: {"output": {"message": {"role": "assistant", "content": [call]}}},
    "cohere": lambda call: {"message": {"role": "assistant", "tool_calls": [call]}},
    "ollama": lambda call: {"message": {"role": "assistant", "content": "", "tool_calls": [call]}},
}
_MARKS_OF_A_CALL = ("tool_use", "function", "function_call", "custom", "custom_tool_call")


def _as_response(body: dict[str, Any], wire_format: str) -> dict[str, Any]:
    """A single call, as `to_anthropic` and `to_openai` write it, as a response that holds it."""
    lone = body.get("type") in _MARKS_OF_A_CALL or not body.keys().isdisjoint(
        ("functionCall", "toolUse", "function")
    )
    if not lone:
        return body
    if wire_format not in _WRAPPED:
        raise MalformedBody(f"a call alone cannot be read as {wire_format}.")
    wrapped: dict[str, Any] = _WRAPPED[wire_format](body)
    return wrapped
