"""The whole chain around one provider, for whoever sends requests by himself.

tooling = ToolingMiddleware("anthropic:claude-sonnet-4-5", format="openai-chat")
sent = tooling.process_request(body)        # decode, normalise, render, fit schemas, verify
answer = my_http_client.post(sent.data)
response = tooling.process_response(answer) # decode, parse leaks, validate, name as offered
response.get_tool_calls("anthropic"), response.get_tool_calls("openai"), response.tool_calls
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import ToolCall
from canonicall.calls import to_anthropic, to_generic, to_openai
from canonicall.codec import (
    Body,
    Encoded,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from canonicall.conversation import Conversation
from canonicall.errors import InvalidValue, UnknownName
from canonicall.findings import Finding, Report
from canonicall.guard.replies import checked_reply
from canonicall.ids import (
    normalize_to_anthropic_tool_id,
    normalize_to_history_tool_id,
    normalize_to_openai_tool_id,
)
from canonicall.providers.registry import get_target
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.runtime.middleware import Chain, ToolMiddleware
from canonicall.syntax.recovery import recover_calls
from canonicall.target import Target
from canonicall.transcript.policy import DEFAULT, Policy
from canonicall.verify.judge import verify

_Form: TypeAlias = Callable[[ToolCall], dict[str, Any]]
_FORMS: dict[str, tuple[_Form, Callable[[str], str]]] = {
    "anthropic": (to_anthropic, normalize_to_anthropic_tool_id),
    "openai": (to_openai, normalize_to_openai_tool_id),
    "openai-chat": (to_openai, normalize_to_openai_tool_id),
    "generic": (to_generic, normalize_to_history_tool_id),
}
"""How a call is written, and its id: all of them name the same canonical call."""


class ToolingResponse(Struct, frozen=True):
    """A reply that went through the chain."""

    reply: Reply
    tool_calls: tuple[ToolCall, ...]
    """In canonical form, with canonical ids."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was changed or noticed on the way."""
        return self.reply.findings

    def get_tool_calls(self, format: str) -> list[dict[str, Any]]:
        """The calls in the form of "anthropic", "openai" or "generic"."""
        if format not in _FORMS:
            raise UnknownName("form of a call", format, _FORMS)
        write, id_of = _FORMS[format]
        return [write(replace(call, id=id_of(call.id))) for call in self.tool_calls]

    def body(self, format: str) -> dict[str, Any]:
        """The whole reply as a response of a wire format."""
        return encode_response(self.reply, format)


class ToolingMiddleware:
    """The chain of one exchange after another with one target; each request comes before its
    response."""

    def __init__(
        self,
        target: str | Target,
        *,
        format: str = "openai-chat",
        links: Sequence[ToolMiddleware] = (),
        policy: Policy = DEFAULT,
        arguments: Literal["repair", "report", "off"] = "repair",
    ) -> None:
        """`format`: that of the requests handed in. `links`: middleware of one's own."""
        self.target = get_target(target)
        self._format = format
        self._chain = Chain(links)
        self._policy = policy
        self._arguments = arguments
        self._request: Request | None = None
        self._sent: Encoded | None = None

    def process_request(self, request: Request | Body) -> Encoded:
        """The request as the target takes it; its report says what was changed for that, and what
        the target would refuse nevertheless."""
        if not isinstance(request, Request):
            request = decode_request(request, self._format)
        request = self._request = self._chain.request(request)
        encoded = encode_request(request, self.target, policy=self._policy)
        judged = verify(encoded.body, self.target)
        if judged:
            encoded = replace(encoded, report=Report((*encoded.report, *judged)))
        self._sent = encoded
        return encoded

    def process_response(self, response: Reply | Body) -> ToolingResponse:
        """What the target answered to the last request."""
        if self._request is None or self._sent is None:
            what = "there is no request yet that this could be the response to."
            raise InvalidValue(what, where="process_response", help="Call process_request first.")
        target = self.target
        if not isinstance(response, Reply):
            response = decode_response(response, target.format, provider=target.provider)
        tools = self._request.tools
        reply = self._named(recover_calls(response, tools) if tools else response)
        reply = self._chain.reply(checked_reply(reply, tools, self._arguments))
        conversation: Conversation = self._request.conversation.fork()
        return ToolingResponse(reply, conversation.append(reply.message).calls)

    def _named(self, reply: Reply) -> Reply:
        """`reply` with the tools' names as they were offered."""
        names = self._sent.transcript.names if self._sent is not None else {}
        if not names:
            return reply
        blocks = tuple(
            replace(block, name=names.get(block.name, block.name))
            if isinstance(block, ToolCall)
            else block
            for block in reply.message.blocks
        )
        return replace(reply, message=replace(reply.message, blocks=blocks))
