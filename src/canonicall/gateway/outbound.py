"""A reply on its way to the client: ids, state and names as its front has them.

Every call gets an id that is made from the canonical one: clients give it back, and it names the
same call again, whoever answers then. The provider's own ids may be reused, or none at all.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from canonicall.blocks import Block, Opaque, Origin, Text, Thinking, ToolCall
from canonicall.events import (
    BlockEnded,
    BlockStarted,
    Event,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    UsageReported,
)
from canonicall.findings import Action, Fault, Finding
from canonicall.gateway.fronts.front import Front
from canonicall.gateway.opaque import Kept, front_state, to_keep
from canonicall.ids import HISTORY_PREFIX, derived_tool_id
from canonicall.reply import Reply
from canonicall.wire.formats import get_format
from canonicall.wire.openai_chat.native import field_of

_CHANGED = (MessageStarted, BlockStarted, SignatureAdded, BlockEnded, UsageReported, StreamEnded)


class Outbound:
    """What is changed on one reply. Events and the whole reply get the same ids."""

    def __init__(
        self, front: Front, *, request_id: str, model: str, tells_usage: bool = True
    ) -> None:
        """`model`: the name that the client asked for. `tells_usage`: whether it wants figures."""
        self._tells_usage = tells_usage
        self._front = front
        self._domain = get_format(front.format).target.domain
        self._response_id = front.response_prefix + request_id
        self._model = model
        self._ids: dict[int, str] = {}
        """By the index of the block that began in a stream."""
        self._given: dict[tuple[str, str], list[str]] = {}
        self._calls = 0
        self._origin = Origin()
        self.kept: dict[str, Kept] = {}
        """What is to be stored, once the reply is whole."""
        self.sent: Reply | None = None
        """The whole reply as the client got it."""

    def events(self, events: Iterable[Event]) -> list[Event]:
        """The events as the client gets them."""
        made: list[Event] = []
        for event in events:
            if type(event) is TextAdded or type(event) not in _CHANGED:
                made.append(event)
            else:
                self._change(event, made)
        return made

    def take_over(self, events: Iterable[Event]) -> None:
        """Go on behind events that the client has as their provider sent them: the reply keeps its
        id, and each call the one that it began with."""
        for event in events:
            match event:
                case MessageStarted():
                    self._origin = event.origin
                    self._response_id = event.origin.response_id or self._response_id
                case BlockStarted(block=ToolCall() as call) if call.kind != "server":
                    self._given.setdefault((call.id, call.name), []).append(call.id)
                    self._calls += 1

    def reply(self, reply: Reply) -> Reply:
        """A whole reply as the client gets it."""
        message = reply.message
        self._origin = message.origin or self._origin
        blocks: list[Block] = []
        ids: dict[int, str] = {}
        for at, block in enumerate(message.blocks):
            if isinstance(block, ToolCall) and block.kind != "server":
                ids[at] = self._same_id(block)
                blocks.append(replace(block, id=ids[at], opaque=self._state(block)))
            elif not _says_nothing(block) or len(message.blocks) == 1:
                blocks.append(self._with_state(_as_usual(block)))
        self.kept = to_keep(message, ids, self._front.format)
        shown = replace(message, blocks=tuple(blocks), origin=self._shown_origin(self._origin))
        usage = reply.usage if self._tells_usage else None
        self.sent = replace(reply, message=shown, usage=usage)
        return self.sent

    def with_losses(self, reply: Reply) -> Reply:
        """`reply`, with a finding for each call that its provider ran and the client cannot see."""
        origin = reply.message.origin or self._origin
        is_own = origin.format in ("", self._front.format)
        lost: list[Finding] = []
        for at, block in enumerate(reply.message.blocks):
            if not isinstance(block, ToolCall) or block.kind != "server":
                continue
            if is_own and front_state(block, origin, self._front.format, self._domain):
                continue
            why = f"The provider ran {block.name} itself; the client's format cannot say so."
            where = f"reply.blocks[{at}]"
            lost.append(Finding("block_dropped", where, Action.DROPPED, why, Fault.RENDER))
        return replace(reply, findings=(*reply.findings, *lost)) if lost else reply

    def _change(self, event: Event, made: list[Event]) -> None:
        match event:
            case MessageStarted():
                self._origin = event.origin
                made.append(MessageStarted(self._shown_origin(event.origin)))
            case BlockStarted(block=ToolCall() as call) if call.kind != "server":
                id = self._ids[event.index] = self._new_id(call)
                self._given.setdefault((call.id, call.name), []).append(id)
                made.append(BlockStarted(event.index, replace(call, id=id, opaque=())))
            case BlockStarted(block=Thinking() as thought):
                made.append(BlockStarted(event.index, _as_usual(thought)))
            case SignatureAdded():
                # It comes with the end of its block, in one piece.
                pass
            case UsageReported():
                if self._tells_usage:
                    made.append(event)
            case BlockEnded():
                made += self._ended(event)
            case StreamEnded():
                made.append(replace(event, reply=self.reply(event.reply)))
            case _:
                made.append(event)

    def _ended(self, event: BlockEnded) -> list[Event]:
        block = _as_usual(event.block)
        id = self._ids.get(event.index)
        if id is not None and isinstance(block, ToolCall):
            self._file(id, block)
            block = replace(block, id=id)
        block = self._with_state(block)
        ended = BlockEnded(event.index, block)
        if not isinstance(block, Thinking):
            return [ended]
        return [*(SignatureAdded(event.index, one) for one in block.opaque), ended]

    def _file(self, id: str, call: ToolCall) -> None:
        """Find `id` by what the provider called the call at its end: it may not be the same as at
        its start."""
        if id in self._given.get((call.id, call.name), ()):
            return
        for given in self._given.values():
            if id in given:
                given.remove(id)
        self._given.setdefault((call.id, call.name), []).append(id)

    def _with_state(self, block: Block) -> Block:
        state = self._state(block)
        return block if state == block.opaque else replace(block, opaque=state)

    def _state(self, block: Block) -> tuple[Opaque, ...]:
        return front_state(block, self._origin, self._front.format, self._domain)

    def _same_id(self, call: ToolCall) -> str:
        """The id that the call got when it began, or a new one where nothing was streamed."""
        given = self._given.get((call.id, call.name))
        return given.pop(0) if given else self._new_id(call)

    def _new_id(self, call: ToolCall) -> str:
        index, self._calls = self._calls, self._calls + 1
        provider = self._origin.provider
        canonical = derived_tool_id(provider, call.id, call.name, self._response_id, index)
        return self._front.call_prefix + canonical.removeprefix(HISTORY_PREFIX)

    def _shown_origin(self, origin: Origin) -> Origin:
        return replace(origin, model=self._model, response_id=self._response_id)


def _says_nothing(block: Block) -> bool:
    """Whether a block is the empty text that some hosts write beside calls. In a stream there is
    no piece of it; clients that give it back are refused by the owners of their formats."""
    return type(block) is Text and not block.text and not block.opaque and block.native is None


def _as_usual(block: Block) -> Block:
    """`block` where clients of its format look for it: Mistral's thoughts stand in the content,
    which the SDK of OpenAI takes for text."""
    if isinstance(block, Thinking) and field_of(block) == "content":
        return replace(block, native=None)
    return block
