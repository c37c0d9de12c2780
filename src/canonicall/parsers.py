"""Parsers by provider: a model's answer in, its tool calls out.

The registry of seed strategies 2 and 4: ask for a provider's parser, or add your own.
"""

from typing import Any, Protocol, runtime_checkable

from canonicall.blocks import ToolCall
from canonicall.codec import Body, decode_response
from canonicall.detection import reply_format
from canonicall.errors import InvalidValue, MalformedBody, UnknownName
from canonicall.facts.registry import find_target_parts, get_target, provider_names
from canonicall.facts.target import FORMATS
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.detection import printed_by, syntax_of_text
from canonicall.syntax.parsing import parse
from canonicall.syntax.registry import get_syntax, syntax_names
from canonicall.wire.reading import parse_body


@runtime_checkable
class ToolParser(Protocol):
    """What a parser can do."""

    @property
    def provider_id(self) -> str:
        """Whose responses it reads: the name of a provider or of a syntax."""
        ...

    @property
    def format(self) -> str:
        """How the arguments are written: "json", "xml" or "custom"."""
        ...

    def parse(self, response: Body) -> list[ToolCall]:
        """The tool calls of a response, in order."""
        ...


class WireParser:
    """Reads the structured calls of a provider's response, or one call in its own form.

    Where the provider speaks several formats, the response says which of them it is in. Where it is
    known to print calls as text, the text of a response without calls is read as well, and so is a
    text that is no response.
    """

    format = "json"

    def __init__(self, provider: str, *wire_formats: str, printed: Syntax | None = None) -> None:
        """`wire_formats`: those that are read. The first is taken where a response fits none.
        `printed`: the syntaxes that it prints."""
        self.provider_id = provider
        self.wire_format = wire_formats[0]
        self._wire_formats = wire_formats
        self._printed = printed

    def parse(self, response: Body) -> list[ToolCall]:
        """The calls of a response body; raises `MalformedBody` if it is none."""
        try:
            body = parse_body(response)
        except MalformedBody:
            text = "" if isinstance(response, dict) else _text_of(response).strip()
            calls = self._calls_in(text) or self._calls_of_any_syntax(text)
            if not calls and (self._printed is None or text[:1] in ("", "{")):
                raise
            return calls
        found = _RESPONSES if _is_item(body) else reply_format(body)
        wire_format = found if found in self._wire_formats else self.wire_format
        reply = decode_response(_as_response(body, wire_format), wire_format)
        return list(reply.calls) or self._calls_in(reply.message.text)

    def _calls_in(self, text: str) -> list[ToolCall]:
        """The calls in a text that the provider is known to print."""
        return [] if self._printed is None else list(parse(text, syntax=self._printed).calls)

    def _calls_of_any_syntax(self, text: str) -> list[ToolCall]:
        """The calls in what the caller says is a text of the provider's model."""
        return [] if self._printed is None else list(parse(text, syntax=syntax_of_text()).calls)


class TextParser:
    """Reads the calls that a model printed in its text."""

    def __init__(self, syntax: str) -> None:
        self.provider_id = syntax
        self.format: str = get_syntax(syntax).notation

    def parse(self, response: Body) -> list[ToolCall]:
        """The calls in a text."""
        if isinstance(response, dict):
            raise MalformedBody("expected the text of a model, got an object.")
        return list(parse(_text_of(response), syntax=self.provider_id).calls)


def _text_of(response: bytes | str) -> str:
    return response.decode("utf-8", "replace") if isinstance(response, bytes) else response


_OWN: dict[str, ToolParser] = {}


def get_parser(provider: str) -> ToolParser:
    """The parser of a provider, a wire format or a syntax; an unknown name is an error."""
    if provider in _OWN:
        return _OWN[provider]
    parts = find_target_parts(provider)
    if parts is not None:
        formats = (parts.format,) if parts.format else parts.profile.formats
        return WireParser(parts.profile.name, *formats, printed=printed_by(get_target(provider)))
    if provider in syntax_names():
        return TextParser(provider)
    known = (*provider_names(), *_OWN, *syntax_names())
    raise UnknownName("parser for provider", provider, known, aliases=FORMATS)


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


_CALLS_AT: dict[str, tuple[str | int, ...]] = {
    "anthropic": ("content",),
    "openai-chat": ("choices", 0, "message", "tool_calls"),
    "openai-responses": ("output",),
    "gemini": ("candidates", 0, "content", "parts"),
    "bedrock": ("output", "message", "content"),
    "cohere": ("message", "tool_calls"),
    "ollama": ("message", "tool_calls"),
}
"""Where the calls of a response are, among other things in some formats."""
_RESPONSES = "openai-responses"
_TYPES_OF_A_CALL = ("tool_use", "function", "function_call", "custom", "custom_tool_call")
_FIELDS_OF_A_CALL = ("functionCall", "toolUse", "function")


def calls_in(response: dict[str, Any], wire_format: str) -> list[dict[str, Any]]:
    """The calls of a response that the client has to answer, as its format writes them."""
    found: Any = response
    for step in _CALLS_AT[wire_format]:
        if isinstance(step, int):
            found = found[step] if len(found) > step else {}
        else:
            found = found.get(step) or {}
    return [one for one in found if _is_call(one)]


def _as_response(body: dict[str, Any], wire_format: str) -> dict[str, Any]:
    """A single call, as `to_anthropic` and `to_openai` write it, as a response that holds it."""
    if not _is_call(body):
        return body
    made: Any = [body]
    for step in reversed(_CALLS_AT[wire_format]):
        made = [made] if isinstance(step, int) else {step: made}
    response: dict[str, Any] = made
    return response


def _is_item(value: dict[str, Any]) -> bool:
    """Whether a call alone is an item of the Responses API."""
    return "call_id" in value and value.get("type") in _TYPES_OF_A_CALL


def _is_call(value: dict[str, Any]) -> bool:
    return value.get("type") in _TYPES_OF_A_CALL or not value.keys().isdisjoint(_FIELDS_OF_A_CALL)
