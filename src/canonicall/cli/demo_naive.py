"""What happens without canonicall: the same conversation, sent with ids and blocks as they are.

Each message is put into the shape of the next provider's format, as translators do that change the
names of fields and nothing else. Out: what each provider answers to that.
"""

from collections.abc import Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Block, Role, ToolCall, ToolResult
from canonicall.cli.demo_journey import TOOLS, ask, route, stop_name
from canonicall.conversation import Conversation
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.findings import Report
from canonicall.request import Params, Request
from canonicall.testing.habits import models_of
from canonicall.testing.simulator import Simulator
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.formats import get_format


class Refused(Struct, frozen=True):
    """What one provider says to the conversation as it is."""

    provider: str
    format: str
    status: int
    error: str

    @property
    def name(self) -> str:
        return stop_name(self.provider, self.format)


def send_as_it_is(talk: Conversation) -> Iterator[Refused]:
    """The conversation, with one more question, to every provider, unrepaired."""
    talk = talk.fork()
    talk.user("And now?")
    for stop in dict.fromkeys(route()):
        target = get_target(f"{stop}:{models_of(stop.partition('/')[0])[-1]}")
        status, _, error = ask(Simulator(target.provider), naive_body(talk, target), target)
        yield Refused(target.provider, target.format, status, error)


def naive_body(talk: Conversation, target: Target) -> bytes:
    """The conversation in the shape of a format, without any thought."""
    raw_ids = {call.id: call.raw_id for message in talk.messages for call in message.calls}
    turns = tuple(
        Turn(_role(message.role, target), _as_they_came(message.blocks, raw_ids), message.origin)
        for message in talk.messages
    )
    transcript = Transcript(turns, {}, {}, Report(()), target)
    # How the reply is to come is no part of the conversation.
    request = Request(talk, TOOLS, params=Params(stream=target.stream_only or None))
    wire = get_format(target.format)
    for step in wire.passes:
        request, transcript = step.run(request, transcript, Goal(target))
    body, _ = wire.encode_request(request, transcript, target)
    return msgspec.json.encode(body)


def _role(role: Role, target: Target) -> Role:
    """Formats without a role for results have them in user messages; everybody knows that much."""
    is_apart = target.results in ("tool_messages", "items")
    return "user" if role == "tool" and not is_apart else role


def _as_they_came(blocks: tuple[Block, ...], raw_ids: dict[str, str]) -> tuple[Block, ...]:
    """The blocks with the ids that their own providers gave them."""
    made: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolCall):
            made.append(replace(block, id=block.raw_id))
        elif isinstance(block, ToolResult):
            made.append(replace(block, call_id=raw_ids.get(block.call_id, block.call_id)))
        else:
            made.append(block)
    return tuple(made)
