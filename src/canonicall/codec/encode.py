"""Requests and replies that go out: canonical form to the body that a target accepts.

`encode_request` is the list of `codec.passes`, run in its order. Nothing is repaired here; what was
changed on the way is in the report.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.arguments import agreeing
from canonicall.blocks import Block, ToolCall
from canonicall.codec.finding_paths import Sent
from canonicall.codec.passes import FITTED, READ, RENDERED, WRITTEN
from canonicall.conversation import Conversation
from canonicall.facts.names import TargetName
from canonicall.facts.registry import get_target, with_rule_keys
from canonicall.facts.target import Format, Target
from canonicall.findings import Report
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.transcript.policy import DEFAULT, Goal, Pass, Policy
from canonicall.transcript.projection import Projection
from canonicall.transcript.render import Renderer
from canonicall.transcript.render import render as render_for_target
from canonicall.transcript.thinking import as_asked
from canonicall.transcript.turns import Diagnostics, HistoryPass, Transcript, diagnose
from canonicall.wire.formats import get_format


class Encoded(Struct, frozen=True):
    """A request body for one target, and all that was done to get it."""

    body: dict[str, Any]
    report: Report
    transcript: Transcript
    target: Target

    @property
    def data(self) -> bytes:
        """The body as JSON."""
        return msgspec.json.encode(self.body)

    @property
    def diagnostics(self) -> Diagnostics:
        """What a person or a program needs to find out why a provider refused the request."""
        transcript = self.transcript
        return diagnose(transcript.turns, transcript.ids, self.report, self.target)


def encode_response(reply: Reply, format: Format | str) -> dict[str, Any]:
    """Write a reply as a response body of a wire format. Calls without an id get one."""
    wire = get_format(format)
    message = reply.message
    blocks = tuple(agreeing(one) if isinstance(one, ToolCall) else one for one in message.blocks)
    reply = replace(reply, message=replace(message, blocks=blocks))
    return wire.encode_response(_with_ids(reply, wire.target))


def render(
    conversation: Conversation, target: TargetName | Target, *, policy: Policy = DEFAULT
) -> Transcript:
    """The transcript of a conversation for a target: provider, "provider:model", or a Target."""
    return render_for_target(conversation, get_target(target), policy=policy)


def encode_request(
    request: Request,
    target: TargetName | Target,
    *,
    policy: Policy = DEFAULT,
    renderer: Renderer | None = None,
) -> Encoded:
    """Write a request for a target: all passes of `codec.passes`, one after the other.

    Where only a provider is named, the request keeps the model it names, and the rules of that
    model count. A request that continues what the target does not keep is a `StateElsewhere`. A
    `renderer` made for this target that has rendered the conversation before saves
    what it knows; its policy counts then.
    """
    known = get_target(target)
    if isinstance(target, str) and request.model and not known.model and renderer is None:
        known = get_target(f"{target.removesuffix(':')}:{request.model}")
    wanted = renderer.policy if renderer else policy
    if request.continues is not None and not wanted.continues:
        wanted = replace(wanted, continues=True)
    goal, given = Goal(known, wanted, []), request.conversation
    for one in READ:
        request = one.run(request, goal)
    asked = request
    for one in FITTED:
        request = one.run(request, goal)
    if not known.thinks:
        goal.target = as_asked(known, request.params)
    if renderer is None or not _knows(renderer, goal, request.conversation is given):
        renderer = Renderer(goal.target, policy=wanted)
    renderer.offer(request.tools)
    transcript = renderer.render(request.conversation)
    goal.findings += transcript.findings
    wire = get_format(known.format)
    request, placed = _fitted(request, transcript, goal, RENDERED)
    # The renderer knows where blocks are in `placed`; a format may take some out of the last turn.
    request, transcript = _fitted(request, placed, goal, wire.passes)
    body, written = wire.encode_request(request, transcript, goal.target, renderer.known_turns)
    finished = Goal(goal.target, wanted, written)
    for last in WRITTEN:
        body = last.run(body, request, finished)
    findings = goal.findings
    if not request.findings and all(one.went for one in (*findings, *written)):
        located = with_rule_keys([*findings, *written], goal.target)
    else:
        sent = Sent(asked, request, renderer, placed, body)
        located = sent.read(request.findings)
        located += sent.rendered(with_rule_keys(findings, goal.target))
        located += sent.written(with_rule_keys(written, goal.target))
    return Encoded(body, Report(tuple(located)), transcript, goal.target)


def _fitted(
    request: Request, transcript: Transcript, goal: Goal, passes: tuple[Pass[HistoryPass], ...]
) -> tuple[Request, Transcript]:
    """Request and turns after these passes."""
    for one in passes:
        request, transcript = one.run(request, transcript, goal)
    return request, transcript


def _knows(renderer: Renderer, goal: Goal, is_whole: bool) -> bool:
    """Whether a renderer can go on with what it knows; `is_whole`: it is the same conversation."""
    is_same = renderer.policy == goal.policy and renderer.target.thinks is goal.target.thinks
    return is_same and is_whole


def _with_ids(reply: Reply, target: Target) -> Reply:
    """`reply` in which every call can be named: clients answer a call by its id.

    An id is made from the call itself, so the same reply always gets the same ids.
    """
    given = [call.id for call in reply.calls]
    if target.ids.style == "echoed" or (all(given) and len(set(given)) == len(given)):
        return reply
    canonical = Conversation().append(reply.message).calls
    projection = Projection(target)
    made = [projection.id(call, [], "") for call in canonical]
    blocks: list[Block] = []
    seen: set[str] = set()
    for block in reply.message.blocks:
        if isinstance(block, ToolCall):
            own = made.pop(0)
            named = block if block.id and block.id not in seen else replace(block, id=own)
            seen.add(named.id)
            blocks.append(named)
        else:
            blocks.append(block)
    return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))
