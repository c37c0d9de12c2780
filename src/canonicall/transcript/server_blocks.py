"""What a provider ran on its side: its calls and their results, which go or stay as pairs.

Only the provider that ran them can read them, and only while the tool is there that they were of.
"""

from operator import attrgetter

from canonicall.arguments import arguments_text
from canonicall.blocks import Block, Entry, Message, Text, Thinking, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.ledger import EARLY, Interaction, Ledger
from canonicall.reply import PAUSED
from canonicall.transcript.completion import split_media
from canonicall.transcript.policy import Policy
from canonicall.transcript.reasoning import keeps_opaque

_opaque = attrgetter("opaque")


class ServerBlocks:
    """Which server-side blocks of a message one target may get."""

    def __init__(self, target: Target, policy: Policy) -> None:
        self.target = target
        self.policy = policy
        self.offered: tuple[str, ...] = ()
        """The names of the tools that the request offers."""

    def kept(self, message: Message, conversation: Conversation) -> set[str]:
        """Ids of the calls whose server-side blocks in this message the target can be sent.

        A pair goes or stays as one. A call without its result stays while the provider waits:
        after a pause, or for the results of client calls it made itself. It does not wait for one
        that the caller runs.
        """
        if message.origin is not None and message.origin.format not in ("", self.target.format):
            return set()
        if not any(map(_opaque, message.blocks)):
            return set()
        waiting = message.finish == PAUSED or any(call.kind != "server" for call in message.calls)
        kept: set[str] = set()
        for block in message.blocks:
            one = conversation.ledger.get(server_id(block))
            if one is None or not self._is_own(block, message):
                continue
            if not self._is_offered(one) or self._is_parted(one, conversation):
                continue
            if one.result is not None and not self._goes_back(one, one.result, message):
                continue
            if not isinstance(block, ToolCall):
                if self._is_own(one.call, message):
                    kept.add(one.id)
            elif not one.is_open or (waiting and one.name not in self.target.client_run):
                kept.add(one.id)
        return kept

    def _goes_back(self, one: Interaction, result: ToolResult, message: Message) -> bool:
        """Whether a result can be sent as it came: one that did not name its call is an orphan,
        and so is one that precedes it."""
        if EARLY in one.markers or result.raw_id != one.call.raw_id:
            return False
        return self._is_own(result, message)

    def _is_offered(self, one: Interaction) -> bool:
        """Whether the tool is there that a server call needs: one that waits needs its own again.

        A tool may run under several names: `bash_code_execution` is of `code_execution`.
        """
        if self.policy.continues:
            return True  # The provider may have the tool.
        needed = self.target.replayed_if_offered
        if "*" in needed and not set(self.offered) - set(self.target.unreplayed):
            return False
        if not one.is_open and one.name not in needed:
            return True
        return any(one.name.endswith(name) for name in self.offered if name)

    def _is_parted(self, one: Interaction, conversation: Conversation) -> bool:
        """Whether others have spoken between a server call and its result, or since, or answered
        it; or will have: a thought after it begins a message of its own."""
        until = len(conversation) if one.result_entry is None else one.result_entry
        between = conversation.entries[one.entry + 1 : until + 1]
        asks = not _calls_client(conversation.entries[one.entry])
        if asks and any(map(_calls_client, between[:-1] if one.result is not None else ())):
            # The results of these calls come between, and are none that it waited for.
            return True
        if self.target.merge_roles and any(map(_thinks, between)):
            return True
        if one.result is None and between and not _may_wait(between[-1]):
            return True  # The model went on without it.
        waits = conversation.entries[one.entry : until]
        if any(self._moves_media(entry, conversation) for entry in waits):
            return True
        return any(
            isinstance(entry, Message)
            and entry.role != "assistant"
            and any(
                not isinstance(block, ToolResult) or block.call_id == one.id
                for block in entry.blocks
            )
            for entry in between
        )

    def _moves_media(self, entry: Entry, conversation: Conversation) -> bool:
        """Whether media follows the results of an entry's calls: it is the user's."""
        calls = entry.calls if isinstance(entry, Message) else ()
        results = (conversation.ledger[one.id].result for one in calls if one.kind != "server")
        return any(split_media(result, self.target)[1] for result in results if result is not None)

    def _is_own(self, block: Block, message: Message) -> bool:
        name = block.name if isinstance(block, ToolCall | ToolResult) else ""
        if name in self.target.unreplayed:
            return False
        return self.target.server_history and any(
            one.kind == "server_block" and keeps_opaque(one, message, self.target)
            for one in block.opaque
        )

    def left_out(self, block: Block, where: str, findings: list[Finding]) -> list[Block]:
        action = Action.CHANGED if self.policy.server_tools == "text" else Action.DROPPED
        why = "What a provider ran on its side goes back to it alone, whole and with its tool."
        findings.append(
            Finding(
                "server_tool_dropped",
                where,
                action,
                why,
                Fault.RENDER,
                rule="" if self.target.server_history else "server_history",
            )
        )
        if self.policy.server_tools == "text" and isinstance(block, ToolCall):
            arguments = arguments_text(block)
            return [Text(text=f"[The provider ran {block.name} with {arguments}.]")]
        return []


def is_server_side(block: Block, ledger: Ledger) -> bool:
    if isinstance(block, ToolCall):
        return block.kind == "server"
    if not isinstance(block, ToolResult):
        return False
    one = ledger.get(block.call_id)
    return is_sealed(block) or (one is not None and one.call.kind == "server")


def is_sealed(block: Block) -> bool:
    """Whether a block is one that the provider wrote whole."""
    return any(part.kind == "server_block" for part in block.opaque)


def server_id(block: Block) -> str:
    if isinstance(block, ToolCall):
        return block.id
    return block.call_id if isinstance(block, ToolResult) else ""


def _thinks(entry: Entry) -> bool:
    return isinstance(entry, Message) and any(isinstance(one, Thinking) for one in entry.blocks)


def _may_wait(entry: Entry) -> bool:
    """Whether a call of the provider's before an entry may wait after it."""
    if not isinstance(entry, Message) or entry.role != "assistant":
        return True
    return entry.finish == PAUSED or _calls_client(entry)


def _calls_client(entry: Entry) -> bool:
    return isinstance(entry, Message) and any(call.kind != "server" for call in entry.calls)
