"""The wire formats by name. Each is a folder with the same files; they are loaded when needed."""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from msgspec import Struct

from canonicall.blocks import Origin
from canonicall.errors import UnknownName
from canonicall.facts.bases import base_target
from canonicall.facts.target import FORMATS, Target
from canonicall.findings import Finding
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.transcript.policy import Pass
from canonicall.transcript.turns import HistoryPass, Turn
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.places import each_message
from canonicall.wire.reading import ReadHistory
from canonicall.wire.streaming import Decoding, Encoding


class WireFormat(Struct, frozen=True):
    """What every wire format can do."""

    name: str
    target: Target
    decode_request: Callable[..., Request]
    encode_request: Callable[..., tuple[dict[str, Any], list[Finding]]]
    encode_turn: Callable[[Turn, Target], list[dict[str, Any]]]
    decode_response: Callable[..., Reply]
    encode_response: Callable[[Reply], dict[str, Any]]
    decode_error: Callable[[Any], ErrorBody]
    message_places: Callable[[dict[str, Any]], Iterable[tuple[str, ...]]]
    """The JSON paths of each message that the decoder makes of a request, in order."""
    tools_at: tuple[str, ...] = ("tools",)
    """Where in a request the tools stand."""
    passes: tuple[Pass[HistoryPass], ...] = ()
    """What no other format demands, before a request is encoded."""
    decode_history: ReadHistory | None = None
    """Reads some of the `messages` of a request, where each of them can be read by itself."""

    def stream_decoding(self, origin: Origin | None, domain: str | None) -> Decoding:
        """What reads one stream of this format."""
        module = import_module(f"{_package(self.name)}.stream_decode")
        decoding: Decoding = module.StreamDecoding(origin, domain)
        return decoding

    def stream_encoding(self) -> Encoding:
        """What writes one stream of this format."""
        module = import_module(f"{_package(self.name)}.stream_encode")
        encoding: Encoding = module.StreamEncoding()
        return encoding


@cache
def get_format(name: str) -> WireFormat:
    """The format of this name."""
    if name not in FORMATS:
        raise UnknownName("wire format", name, FORMATS)
    package = _package(name)
    request = import_module(f"{package}.request")
    response = import_module(f"{package}.response")
    messages = import_module(f"{package}.messages")
    return WireFormat(
        name=name,
        target=base_target(name),
        decode_request=request.decode_request,
        encode_request=request.encode_request,
        encode_turn=messages.encode_turn,
        decode_response=response.decode_response,
        encode_response=response.encode_response,
        decode_error=import_module(f"{package}.errors").decode_error,
        message_places=getattr(messages, "message_places", each_message),
        tools_at=getattr(request, "TOOLS_AT", ("tools",)),
        passes=getattr(request, "PASSES", ()),
        decode_history=getattr(request, "decode_history", None),
    )


def _package(name: str) -> str:
    return f"canonicall.wire.{name.replace('-', '_')}"
