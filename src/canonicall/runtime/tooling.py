"""The whole chain around one provider, for callers that send requests themselves.

tooling = ToolingMiddleware("anthropic:claude-sonnet-4-5", format="openai-chat")
exchange = tooling.exchange()                # one for each conversation
sent = exchange.process_request(body)        # decode, recall ids, render, fit schemas, verify
answer = my_http_client.post(sent.data)
response = exchange.process_response(answer) # decode, parse leaks, validate, name as offered
response.get_tool_calls("openai"), response.body("openai-chat"), response.tool_errors

One call has one id. A reply's calls get canonical ids, and each format has one spelling of such an
id: `get_tool_calls` and `body` write it. An exchange remembers every spelling it has given out.
When one comes back in a later request, it is the same call again, and the provider gets the id that
the provider itself gave.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Entry, Message, Origin, ToolCall, ToolResult
from canonicall.calls import to_generic
from canonicall.codec.decode import Body, decode_request, decode_response
from canonicall.codec.encode import Encoded, encode_request, encode_response
from canonicall.codec.parsers import calls_in
from canonicall.conversation import Conversation
from canonicall.errors import InvalidValue, UnknownName
from canonicall.facts.names import FALLBACK, TargetName
from canonicall.facts.registry import (
    find_profile,
    find_target_parts,
    get_target,
    meant_target,
    provider_names,
)
from canonicall.facts.target import FORMATS, Format, Target
from canonicall.findings import Action, Fault, Finding, Report
from canonicall.guard.budget import CorrectionBudget
from canonicall.guard.feedback import ToolError
from canonicall.guard.replies import checked_reply
from canonicall.guard.validation import validate_call
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.runtime.middleware import Chain, ToolMiddleware
from canonicall.syntax.recovery import Recover, one_of_recover, reads_text, recover_calls
from canonicall.transcript.grouping import OfferedTools
from canonicall.transcript.policy import DEFAULT, Policy
from canonicall.transcript.projection import Projection
from canonicall.verify.judge import verify
from canonicall.wire.formats import get_format

ArgumentMode: TypeAlias = Literal["repair", "report", "off"]
_GENERIC = FALLBACK
"""The provider whose rules are used for unknown ones, and the form of a call by itself."""
_MOST_IDS = 50_000
"""How many ids an exchange remembers; those that were seen least recently are forgotten."""


class ToolingResponse(Struct, frozen=True):
    """A reply that went through the chain."""

    reply: Reply
    """The reply itself, with the ids that the provider gave."""
    tool_calls: tuple[ToolCall, ...]
    """The calls in canonical form, with canonical ids."""
    tool_errors: dict[str, ToolError] = {}
    """The calls that must not be run, by canonical id, each with what to tell the model."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was changed or noticed on the way."""
        return self.reply.findings

    def get_tool_calls(self, format: Format | str) -> list[dict[str, Any]]:
        """The calls that the client has to answer, as a wire format or a provider writes them.

        "generic" gives `tool_call_id`, `tool_name` and `parameters`. The ids are those of `body`.
        """
        if format == _GENERIC:
            return [to_generic(call) for call in self.tool_calls if call.kind != "server"]
        return calls_in(self.body(format), _wire_format(format))

    def get_tool_errors(self, format: Format | str) -> dict[str, ToolError]:
        """`tool_errors`, by the ids that `get_tool_calls` has for this format.

        The `text` of an error is the content of the result to send back in place of a run.
        """
        ids = {call.id: _spelled(call, format) for call in self.tool_calls}
        return {ids[id]: error for id, error in self.tool_errors.items()}

    def body(self, format: Format | str) -> dict[str, Any]:
        """The whole reply as a response of a wire format, or of a provider in its own format."""
        recorded = iter(self.tool_calls)
        blocks = tuple(
            _with_id(block, next(recorded), format) if isinstance(block, ToolCall) else block
            for block in self.reply.message.blocks
        )
        message = replace(self.reply.message, blocks=blocks)
        return encode_response(replace(self.reply, message=message), _wire_format(format))


class ToolingMiddleware:
    """The chain for one target. Every conversation goes through a separate exchange."""

    def __init__(
        self,
        target: TargetName | Target,
        *,
        format: Format | str = "openai-chat",
        links: Sequence[ToolMiddleware] = (),
        policy: Policy = DEFAULT,
        arguments: ArgumentMode = "repair",
        recover: Recover = "known",
    ) -> None:
        """`format`: that of the requests handed in. `links`: middleware of the caller. `recover`:
        whether calls are read from the text of replies.

        A provider that is not known is treated as `generic`, and every report says so.
        """
        self.target, self.findings = _target_of(target)
        self.format = format
        self.chain = Chain(links)
        self.policy = policy
        self.arguments: ArgumentMode = arguments
        self.recover: Recover = one_of_recover(recover)
        self._only = self.exchange()

    def exchange(self) -> "ToolingExchange":
        """The chain for one conversation. Exchanges know nothing of each other."""
        return ToolingExchange(self)

    def process_request(self, request: Request | Body) -> Encoded:
        """`ToolingExchange.process_request`, for programs with one conversation at a time."""
        return self._only.process_request(request)

    def process_response(self, response: Reply | Body) -> ToolingResponse:
        """`ToolingExchange.process_response`, for programs with one conversation at a time."""
        return self._only.process_response(response)


class _Given(Struct, frozen=True):
    """A call whose id was given out."""

    id: str
    raw_id: str
    origin: Origin | None


class ToolingExchange:
    """One conversation that goes through a `ToolingMiddleware`: request, response, request, ..."""

    def __init__(self, tooling: ToolingMiddleware) -> None:
        self._tooling = tooling
        self._sent: tuple[Request, Encoded] | None = None
        self._budget = CorrectionBudget()
        self._given: OrderedDict[str, _Given] = OrderedDict()
        """Calls by every id that means them, those seen least recently first."""

    def process_request(self, request: Request | Body) -> Encoded:
        """The request as the target takes it.

        Its report says what was changed for that, and what the target would refuse nevertheless.
        """
        tooling = self._tooling
        if not isinstance(request, Request):
            request = self._recalled(decode_request(request, tooling.format))
        request = tooling.chain.request(request)
        encoded = encode_request(request, tooling.target, policy=tooling.policy)
        judged = verify(encoded.body, tooling.target)
        if judged or tooling.findings:
            report = Report((*tooling.findings, *encoded.report, *judged))
            encoded = replace(encoded, report=report)
        if not _answers_calls(request.conversation):
            self._budget = CorrectionBudget()
        self._sent = (request, encoded)
        return encoded

    def process_response(self, response: Reply | Body) -> ToolingResponse:
        """What the target answered to the last request of this exchange."""
        if self._sent is None:
            what = "there is no request yet that this could be the response to."
            raise InvalidValue(what, where="process_response", help="Call process_request first.")
        request, sent = self._sent
        tooling, target = self._tooling, self._tooling.target
        if not isinstance(response, Reply):
            response = decode_response(response, target.format, provider=target.provider)
        if reads_text(tooling.recover, target):
            known = target if tooling.recover == "known" else None
            response = recover_calls(response, request.tools, request=request, target=known)
        reply = _with_own_names(response, sent.transcript.names)
        reply = tooling.chain.reply(checked_reply(reply, request.tools, tooling.arguments))
        calls = request.conversation.fork().append(reply.message).calls
        for call in calls:
            self._remember(call, reply.message.origin, request.conversation)
        return ToolingResponse(reply, calls, self._errors(calls, request))

    def _errors(self, calls: Sequence[ToolCall], request: Request) -> dict[str, ToolError]:
        """What is wrong with the calls that do not fit what was offered."""
        errors: dict[str, ToolError] = {}
        if self._tooling.arguments == "off" or not request.tools:
            return errors
        offered = OfferedTools(request.tools)
        for call in calls:
            if call.kind != "function":
                continue
            checked = validate_call(call, offered.for_call(call), budget=self._budget)
            self._budget = checked.budget or self._budget
            if checked.error is not None:
                errors[call.id] = checked.error
        return errors

    def _remember(self, call: ToolCall, origin: Origin | None, before: Conversation) -> None:
        """Remember all ids of a call: those of the formats and, if it names no other, its own."""
        if call.kind == "server":
            return
        given = _Given(call.id, call.raw_id, origin)
        for spelling in (_GENERIC, *FORMATS):
            self._given[_spelled(call, spelling)] = given
        if call.raw_id and not before.ledger.knows(call.raw_id):
            self._given.setdefault(call.raw_id, given)
        while len(self._given) > _MOST_IDS:
            self._given.popitem(last=False)

    def _recalled(self, request: Request) -> Request:
        """`request` in which calls that this exchange gave out are those calls again."""
        before = request.conversation
        given = self._given_calls(before)
        if not given:
            return request
        conversation = Conversation.of(self._recalled_entry(one, given) for one in before.entries)
        about = before.report.findings
        others = (one for one in request.findings if one not in about)
        findings = (*others, *conversation.report)
        return replace(request, conversation=conversation, findings=findings)

    def _given_calls(self, conversation: Conversation) -> dict[str, _Given]:
        """The calls of a conversation that were given out, each once, by the ids they have now."""
        found: dict[str, _Given] = {}
        taken: set[str] = set()
        for id, one in conversation.ledger.items():
            written = one.call.raw_id or id
            meant = self._given.get(written)
            if meant is not None and meant.id not in taken:
                found[id] = meant
                taken.add(meant.id)
                self._given.move_to_end(written)
        return found

    def _recalled_entry(self, entry: Entry, given: dict[str, _Given]) -> Entry:
        if not isinstance(entry, Message):
            return entry
        origin = entry.origin
        blocks = list(entry.blocks)
        for at, block in enumerate(blocks):
            if isinstance(block, ToolCall) and block.id in given:
                known = given[block.id]
                origin = known.origin
                blocks[at] = replace(block, id=known.id, raw_id=known.raw_id)
            elif isinstance(block, ToolResult):
                blocks[at] = self._recalled_result(block, given)
        return replace(entry, blocks=tuple(blocks), origin=origin)

    def _recalled_result(self, result: ToolResult, given: dict[str, _Given]) -> ToolResult:
        """A result keeps to the call it was bound to; one without a call may name a given one."""
        meant = (given if result.bound else self._given).get(result.call_id)
        return result if meant is None else replace(result, call_id=meant.id, bound=False)


def _target_of(named: TargetName | Target) -> tuple[Target, tuple[Finding, ...]]:
    """The target; that of `generic` where nothing is known by the name, with a finding."""
    if isinstance(named, Target) or find_target_parts(named) or meant_target(named):
        return get_target(named), ()
    provider, _, model = named.partition(":")
    unknown = UnknownName("provider", provider, provider_names())
    hint = f" Did you mean {unknown.meant!r}?" if unknown.meant else ""
    why = f"No provider is called {provider!r}: the rules of {_GENERIC!r} are used.{hint}"
    finding = Finding("unknown_provider", "target", Action.KEPT, why, Fault.INPUT)
    return get_target(f"{_GENERIC}:{model}"), (finding,)


def _wire_format(name: Format | str) -> str:
    """The format that is named, or that of the provider that is."""
    if name in FORMATS:
        return name
    profile = find_profile(name)
    if profile is None:
        raise UnknownName("form of a call", name, (*FORMATS, _GENERIC), aliases=provider_names())
    return profile.format


def _spelled(call: ToolCall, format: Format | str) -> str:
    """The id of a call in a format; the canonical one where the format needs none."""
    if format == _GENERIC:
        return call.id
    projection = Projection(get_format(_wire_format(format)).target)
    return projection.id(replace(call, raw_id=""), [], "") or call.id


def _with_id(call: ToolCall, recorded: ToolCall, format: Format | str) -> ToolCall:
    """`call` with the id that its record has in a format. The provider's own calls keep theirs."""
    return call if call.kind == "server" else replace(call, id=_spelled(recorded, format))


def _answers_calls(conversation: Conversation) -> bool:
    """Whether a conversation ends with results: the model goes on with what it was asked."""
    last = conversation.entries[-1] if conversation.entries else None
    return isinstance(last, Message) and bool(last.results)


def _with_own_names(reply: Reply, names: dict[str, str]) -> Reply:
    """`reply` with the tools' names as they were offered."""
    if not names:
        return reply
    blocks = tuple(
        replace(block, name=names.get(block.name, block.name))
        if isinstance(block, ToolCall)
        else block
        for block in reply.message.blocks
    )
    return replace(reply, message=replace(reply.message, blocks=blocks))
