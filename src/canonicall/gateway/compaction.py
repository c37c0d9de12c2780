"""Compaction: a summary takes the place of a conversation, written by whichever model is asked.

In: a request for a summary, in one of three forms: `POST /v1/responses/compact`; a request for
a response whose input ends with a `compaction_trigger` (Codex); a request for a message with the
field `compaction` (Anthropic).
Out: what the client's format has for it, with the summary packed as state of the gateway.

The owner of the format compacts its own conversations: the request is forwarded. Any other model,
and the owner's where the owner refuses that, is asked for the summary of the conversation as it is
rendered for it, so that no call is left open.
`opened` is the way back: a summary that the gateway has packed is plain text for every upstream.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Message, Native, Origin, Unknown
from canonicall.client.attempts import Attempts, Opened
from canonicall.events import Event
from canonicall.facts.target import Target
from canonicall.folding import events_of
from canonicall.gateway.exchange import JSON, HttpResponse, Refused, one_piece
from canonicall.gateway.forwarded import ForwardedForm, with_model
from canonicall.gateway.fronts.front import COMPACT
from canonicall.gateway.reply import ClientReply, ReplyForms
from canonicall.gateway.state import State
from canonicall.gateway.summaries import Summarised, anthropic_block, kept_messages, responses_item
from canonicall.gateway.translated import Translated
from canonicall.gateway.turns import Turn
from canonicall.gateway.usage import usage_in
from canonicall.reply import PAUSED, STOP, Reply, Usage
from canonicall.request import Params, Request, ToolChoice
from canonicall.wire.openai_responses.finish import encode_usage

_RESPONSES, _MESSAGES = "openai-responses", "anthropic"
_TRIGGER = "compaction_trigger"
_FIELD = "compaction"
PROMPT = (
    "Write a summary of the conversation above. It replaces the conversation: another model"
    " continues the work with nothing but the summary. State what the user asked for, what was"
    " done and found out, the exact names, paths, ids and values that are still needed, decisions"
    " and their reasons, what failed, and what remains to be done. Do not call tools, do not"
    " continue the work and do not address the user. Reply with the summary only."
)
"""What the model is asked for, unless the client has instructions of its own for it."""


def reply_to(turn: Turn, state: State) -> ClientReply:
    """What a turn is answered with: a reply of the model, or a summary of the conversation."""
    return SummaryReply(state, turn) if wants_summary(turn) else ClientReply(state, turn)


def wants_summary(turn: Turn) -> bool:
    """Whether a request asks for a summary, and not for a reply."""
    if turn.asked.action == COMPACT:
        return True
    if turn.front.format == _RESPONSES:
        given = turn.body.get("input")
        last = given[-1] if isinstance(given, list) and given else None
        return isinstance(last, dict) and last.get("type") == _TRIGGER
    return turn.front.format == _MESSAGES and isinstance(turn.body.get(_FIELD), dict)


class _SummaryForms(ReplyForms):
    """The request for a summary, as each target gets it."""

    def _as_it_is(self, target: Target, *, asks_usage: bool = False) -> ForwardedForm:
        """What the owner of the format gets: such formats are forwarded to it only."""
        turn = self._turn
        if turn.asked.action != COMPACT:
            # It has the form of a request for a reply, and so has what comes back.
            return super()._as_it_is(target, asks_usage=asks_usage)
        turn.target = target
        return ForwardedForm(
            target,
            with_model(turn.data, turn.body, target),
            stream=False,
            limits=self._state.backs.means.config.replies,
            after_refusal=self._after_refusal,
            compacts=True,
        )


class SummaryReply(ClientReply):
    """The answer to a request for a summary."""

    def __init__(self, state: State, turn: Turn) -> None:
        super().__init__(state, turn, _Written, _SummaryForms)

    async def _forwarded(self, opened: Opened[bytes], form: ForwardedForm) -> HttpResponse:
        turn = self._turn
        if turn.asked.action != COMPACT:
            return await super()._forwarded(opened, form)
        await opened.rest.aclose()
        turn.usage = usage_in(opened.first, turn.front.format)
        self._attempts.answered(turn.usage, complete=True)
        headers = {**turn.headers(), "content-type": form.content_type}
        return HttpResponse(200, headers, opened.first)


class _Written(Translated):
    """A summary that a model writes, as any other reply is asked for."""

    @property
    def wants_whole(self) -> bool:
        return True

    async def _read_request(self, target: Target) -> Request:
        turn = self._turn
        if turn.front.format == _MESSAGES and not _has_content(turn.body):
            raise _nothing_to_sum_up()
        instructions = _instructions(turn)
        turn.body = _without_wish(turn.body)
        return _for_summary(await super()._read_request(target), instructions)

    async def response(
        self, attempts: Attempts[list[Event]], opened: Opened[list[Event]]
    ) -> HttpResponse:
        """The summary, in the form that was asked for."""
        end = await self._end(attempts, opened)
        reply = self._state.middleware_chain.reply(end.reply)
        self._note_reply(reply)
        return await self._shown(reply)

    async def _shown(self, reply: Reply) -> HttpResponse:
        turn, target = self._turn, self._turn.target
        text = reply.message.text.strip()
        if not text or target is None:
            what = "The model wrote no summary. Send the request again, or choose another model."
            raise Refused(502, "empty", what)
        summary = Summarised(turn.id, text, target.provider, target.model)
        if turn.asked.action == COMPACT:
            body = _window(turn, summary, reply.usage, int(self._now))
            return HttpResponse(200, self._headers(JSON), msgspec.json.encode(body))
        made = self._outbound.reply(_as_reply(turn.front.format, summary, reply.usage))
        storing = turn.storing
        if turn.front.format == _RESPONSES and storing is not None and storing.lease is None:
            # A continuation begins with the summary.
            kept = kept_messages(turn.body, turn.id)
            turn.storing = replace(storing, input=kept, after=None)
        await self._keep()
        if not turn.streams:
            return HttpResponse(200, self._headers(JSON), msgspec.json.encode(self._body(made)))
        stream = self._encoder_of_stream().feed_all(list(events_of(made)))
        pieces = turn.front.framed(one_piece(stream), turn.http)
        return HttpResponse(200, self._headers(turn.front.stream_type(turn.http)), pieces)

    def _headers(self, kind: str) -> dict[str, str]:
        return {**self._turn.headers(), "content-type": kind}


def _has_content(body: dict[str, Any]) -> bool:
    messages = body.get("messages")
    return isinstance(messages, list) and any(
        isinstance(one, dict) and one.get("role") in ("user", "assistant") and one.get("content")
        for one in messages
    )


def _nothing_to_sum_up() -> Refused:
    """Anthropic's own error (SDK compaction_nothing_to_summarize_error.py)."""
    what = "`messages` holds no `user` or `assistant` content to summarize or adopt."
    return Refused(400, "malformed", what, code="compaction_nothing_to_summarize")


def _instructions(turn: Turn) -> str:
    """How the summary is to be written: Anthropic's clients may say it themselves."""
    asked = turn.body.get(_FIELD)
    own = asked.get("instructions") if isinstance(asked, dict) else None
    return own if isinstance(own, str) and own.strip() else PROMPT


def _without_wish(body: dict[str, Any]) -> dict[str, Any]:
    """`body` without what asks for a summary: the model gets a message that does."""
    given = body.get("input")
    rest = {name: value for name, value in body.items() if name != _FIELD}
    if not isinstance(given, list):
        return rest
    left = [one for one in given if not isinstance(one, dict) or one.get("type") != _TRIGGER]
    return {**rest, "input": left}


def _for_summary(request: Request, instructions: str) -> Request:
    """The request for the summary of a conversation. Its tools are declared, since the history has
    calls of them, and none of them may be called."""
    conversation = request.conversation.fork()
    conversation.user(instructions)
    params = Params(stream=False, reasoning=request.params.reasoning)
    choice = ToolChoice(mode="none") if request.tools else None
    asked = replace(request, params=params, tool_choice=choice, native=None, spelled=None)
    return replace(asked, conversation=conversation)


def _window(turn: Turn, summary: Summarised, usage: Usage | None, now: int) -> dict[str, Any]:
    """The compacted conversation (SDK compacted_response.py): messages that are kept, and the
    summary of the rest."""
    return {
        "id": f"resp_{turn.id}",
        "object": "response.compaction",
        "created_at": now,
        "output": [*kept_messages(turn.body, turn.id), responses_item(summary)],
        "usage": encode_usage(usage or Usage()),
    }


_FINISHES: dict[str, tuple[str, dict[str, Any]]] = {
    _RESPONSES: (STOP, {}),
    _MESSAGES: (PAUSED, {"stop_reason": "compaction"}),
}
"""How a reply ends that is nothing but a summary."""


def _as_reply(format: str, summary: Summarised, usage: Usage | None) -> Reply:
    """A reply that is nothing but a summary."""
    own = responses_item(summary) if format == _RESPONSES else anthropic_block(summary)
    finish, fields = _FINISHES[format]
    block = Unknown(native=Native(format, own))
    message = Message("assistant", (block,), origin=Origin(format=format), finish=finish)
    return Reply(message, usage, native=Native(format, fields) if fields else None)
