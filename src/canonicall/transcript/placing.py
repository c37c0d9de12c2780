"""Placing: fitted blocks become turns, where and as the target wants them.

Only here are results moved, messages merged, split or bridged. The builder only ever adds turns or
extends the last one, so what stands before is final: that is what makes rendering append-only.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from canonicall.blocks import (
    Block,
    Media,
    Native,
    Origin,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from canonicall.findings import Action, Fault, Finding
from canonicall.target import Target
from canonicall.transcript.completion import family
from canonicall.transcript.fields import as_user_fields
from canonicall.transcript.opening import opens
from canonicall.transcript.reasoning import with_placeholder, with_sentinel
from canonicall.transcript.turns import Turn

CONTINUE = "Continue."
BRIDGE = "OK."
START = "[The conversation begins with the assistant.]"
DOCUMENT_NOTE = "See the document."
MEDIA_NOTE = "Media from the tool results above:"


class Builder:
    """The turns so far."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.turns: list[Turn] = []
        self.held: tuple[Turn, ...] = ()
        """Instructions that wait for a user message to stand behind."""

    def instruct(
        self,
        role: Role,
        blocks: list[Block],
        native: Native | None,
        where: str,
        findings: list[Finding],
    ) -> None:
        """A system or developer message: words only, other blocks become the user's."""
        other: list[Block] = [block for block in blocks if isinstance(block, Media)]
        blocks = [block for block in blocks if not isinstance(block, Media)]
        if other:
            why = "Instructions are words; the media in them is sent as the user's."
            findings.append(Finding("instruction_as_user", where, Action.MOVED, why, Fault.RENDER))
        if blocks:
            self._instruct_words(Turn(role, tuple(blocks), native=native), where, findings)
        self.user(other, None, where, findings)

    def _instruct_words(self, turn: Turn, where: str, findings: list[Finding]) -> None:
        leading = self.only_instructs()
        if turn.role == "developer" and not self.target.developer:
            turn = replace(turn, role="system")
        if leading or self.target.system_later:
            if leading or not self._has_to_wait():
                self._add(turn, findings, where)
            else:
                self.held = (*self.held, turn)
                why = "The target takes instructions behind the user's words; they follow the next."
                told = Finding("instruction_moved", where, Action.MOVED, why, Fault.RENDER)
                findings.append(told)
            return
        why = "The target takes instructions at the start only; these are sent as the user's words."
        findings.append(Finding("instruction_as_user", where, Action.MOVED, why, Fault.RENDER))
        native = as_user_fields(turn.native, self.target, where, findings)
        self.user(list(turn.blocks), native, where, findings)

    def only_instructs(self) -> bool:
        """Whether nobody has spoken yet."""
        turns = self.turns
        return not turns or (_instructs(turns[-1]) and all(map(_instructs, turns)))

    def _has_to_wait(self) -> bool:
        """Whether instructions cannot stand behind the last turn."""
        return self.target.system_before_reply and self.turns[-1].role == "assistant"

    def user(
        self, blocks: list[Block], native: Native | None, where: str, findings: list[Finding]
    ) -> None:
        """What the user said."""
        if self.target.document_needs_text and _is_bare_document(blocks):
            blocks = [Text(text=DOCUMENT_NOTE), *blocks]
            why = "The target wants words beside a document; a short sentence was put in."
            findings.append(Finding("words_added", where, Action.ADDED, why, Fault.RENDER))
        if blocks:
            self._add(Turn("user", tuple(blocks), native=native), findings, where)

    def reply(
        self,
        blocks: list[Block],
        results: Sequence[ToolResult],
        moved: Sequence[Media | Text],
        message: tuple[Origin | None, Native | None],
        where: str,
        findings: list[Finding],
    ) -> None:
        """A reply of the model and, right behind it, the results of its calls in call order."""
        if self.target.calls_last:
            blocks = _calls_last(blocks, self.target, where, findings)
        for part, answers in self._parts(blocks, results):
            thought = with_placeholder(part, self.target)
            demanded = with_sentinel(thought, self.target)
            if thought is not part:
                findings.append(_placeholder("a thought beside calls", where))
            if demanded is not thought:
                findings.append(_placeholder("a signature on the first call", where))
            turn = Turn("assistant", tuple(demanded), *message)
            self._add(turn, findings, where)
            self._results(answers, findings, where)
        if moved:
            self.user([Text(text=MEDIA_NOTE), *moved], None, where, findings)

    def stored_result(self, result: ToolResult, where: str, findings: list[Finding]) -> None:
        """The result of a call that only the provider knows, under the id it came with.

        An id that the provider cannot have given names none of its calls.
        """
        id, rule = result.call_id, self.target.ids
        if not id or len(id) > rule.max_length or not re.fullmatch(rule.pattern, id):
            why = f"No stored call can have the id {id!r}."
            findings.append(Finding("orphan_not_sent", where, Action.DROPPED, why, Fault.STATE))
        elif any(one.call_id == id for turn in self.turns for one in _results_in(turn)):
            why = f"{id} has another result, which is sent."
            findings.append(Finding("result_not_sent", where, Action.DROPPED, why, Fault.STATE))
        else:
            self._results([result], findings, where)

    def _parts(
        self, blocks: list[Block], results: Sequence[ToolResult]
    ) -> list[tuple[list[Block], Sequence[ToolResult]]]:
        """The reply as one message with its results, or several where the target wants that."""
        if not blocks:
            return []
        limit = self.target.calls_per_message or len(results)
        if self.target.text_beside_calls and len(results) <= limit:
            return [(blocks, results)]
        calls = [block for block in blocks if _is_call(block)]
        rest = [block for block in blocks if not _is_call(block)]
        parts: list[tuple[list[Block], Sequence[ToolResult]]] = []
        if calls and not self.target.text_beside_calls and any(isinstance(b, Text) for b in rest):
            parts.append(([block for block in rest if isinstance(block, Text)], []))
            blocks = [block for block in blocks if not isinstance(block, Text)]
        if len(calls) <= limit:
            return [*parts, (blocks, results)]
        head = [block for block in blocks if not _is_call(block)]
        for at in range(0, len(calls), limit):
            group = [*(head if at == 0 else []), *calls[at : at + limit]]
            parts.append((group, results[at : at + limit]))
        return parts

    def _results(self, results: Sequence[ToolResult], findings: list[Finding], where: str) -> None:
        if not results:
            return
        if self.target.results in ("user_message", "own_user_message"):
            self._add(Turn("user", tuple(results)), findings, where)
        else:
            for result in results:
                self._add(Turn("tool", (result,)), findings, where)

    def _add(self, turn: Turn, findings: list[Finding], where: str) -> None:
        last = self.turns[-1] if self.turns else None
        if self._begins_late(turn):
            self._bridge("user", START, findings, where)
            last = self.turns[-1]
        if turn.role == "assistant" and self.held:
            self._bridge("user", "", findings, where)
            self._release()
            last = self.turns[-1]
        if last is None or _take_turns(last, turn):
            self.turns.append(turn)
        elif self._needs_bridge(last, turn):
            self._bridge("assistant" if turn.role == "user" else "user", "", findings, where)
            self.turns.append(turn)
        elif self._can_merge(last, turn):
            self.turns[-1] = Turn(
                last.role, (*last.blocks, *turn.blocks), last.origin, last.native or turn.native
            )
        else:
            self.turns.append(turn)
        if turn.role == "user":
            self._release()

    def _begins_late(self, turn: Turn) -> bool:
        """Whether the user has to speak before this turn, which would be the first."""
        if turn.role != "assistant" or not self.target.starts_with_user:
            return False
        return self.only_instructs() and not opens(turn.blocks[0])

    def _release(self) -> None:
        self.turns += self.held
        self.held = ()

    def _needs_bridge(self, last: Turn, turn: Turn) -> bool:
        if turn.role == "user" and _instructs(last) and self.target.system_before_reply:
            return not self.only_instructs()
        if turn.role == "user" and _has_results(last) and not _has_results(turn):
            return self._stands_apart(turn)
        # Thoughts of two replies must not meet in one message.
        return (
            self.target.merge_roles
            and last.role == turn.role == "assistant"
            and Thinking in map(type, turn.blocks)
        )

    def _stands_apart(self, turn: Turn) -> bool:
        """Whether something of the user's cannot follow results at once."""
        target = self.target
        if not target.user_after_results:
            return True
        if not target.documents_beside_results and _has_documents(turn):
            return True
        # A bare split would be merged again, and other content beside results is refused.
        is_alone = target.results == "own_user_message" and target.merge_roles
        return is_alone and not target.user_beside_results

    def _can_merge(self, last: Turn, turn: Turn) -> bool:
        if not self.target.merge_roles or last.role != turn.role:
            return False
        if turn.role == "system":
            return False
        if self.target.results == "own_user_message":
            return _has_results(last) == _has_results(turn)
        return True

    def _bridge(self, role: Role, text: str, findings: list[Finding], where: str) -> None:
        text = text or (BRIDGE if role == "assistant" else CONTINUE)
        why = f"The target wants a {role} message here; {text!r} was put in."
        findings.append(Finding("bridge_added", where, Action.ADDED, why, Fault.RENDER))
        self.turns.append(Turn(role, (Text(text=text),)))


def _calls_last(
    blocks: list[Block], target: Target, where: str, findings: list[Finding]
) -> list[Block]:
    """`blocks` with the calls behind the words. A thought among the calls keeps its place in a
    message; where it is an item, it is put before them as well.

    Anthropic answers text behind a call with "`tool_use` ids were found without `tool_result`
    blocks immediately after" (recorded 2026); its own replies never have it. DeepSeek's Responses
    API answers a message or a thought there with "No tool output found for tool call".
    """
    behind = len(blocks)
    while behind and _is_call(blocks[behind - 1]):
        behind -= 1
    if not any(map(_is_call, blocks[:behind])):
        return blocks
    first = next(at for at, block in enumerate(blocks) if _is_call(block))
    if Thinking in map(type, blocks[first:]) and target.results != "items":
        return blocks
    why = "The target takes nothing behind a call; what stood there was put before the calls."
    findings.append(Finding("text_before_calls", where, Action.MOVED, why, Fault.RENDER))
    return [*sorted(blocks, key=_is_call)]


def _placeholder(what: str, where: str) -> Finding:
    why = f"The target wants {what}, and there is none; its placeholder was put in."
    return Finding("placeholder_added", where, Action.ADDED, why, Fault.NONE)


def _is_bare_document(blocks: Sequence[Block]) -> bool:
    documents = any(isinstance(block, Media) and family(block) == "document" for block in blocks)
    return documents and not any(isinstance(block, Text) for block in blocks)


def _is_call(block: Block) -> bool:
    return type(block) is ToolCall and block.kind != "server"


def _take_turns(last: Turn, turn: Turn) -> bool:
    """Whether one of two is the model's: such turns are neither merged nor bridged."""
    return (last.role == "assistant") != (turn.role == "assistant")


def _instructs(turn: Turn) -> bool:
    return turn.role in ("system", "developer")


def _has_documents(turn: Turn) -> bool:
    families = ("document", "video")
    return any(isinstance(block, Media) and family(block) in families for block in turn.blocks)


def _results_in(turn: Turn) -> list[ToolResult]:
    return [block for block in turn.blocks if type(block) is ToolResult]


def _has_results(turn: Turn) -> bool:
    return turn.role != "assistant" and ToolResult in map(type, turn.blocks)
