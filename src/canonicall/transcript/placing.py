"""Placing: fitted blocks become turns, where and as the target wants them.

Only here are results moved, messages merged, split or bridged. The builder only ever adds turns or
extends the last one, so what stands before is final: that is what makes rendering append-only.
"""

import re
from collections.abc import Sequence

from msgspec import Struct
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
from canonicall.facts.target import IdRule, Target
from canonicall.findings import Action, Fault, Finding
from canonicall.transcript.completion import family
from canonicall.transcript.fields import as_user_fields
from canonicall.transcript.opening import opens
from canonicall.transcript.reasoning import with_placeholder, with_sentinel
from canonicall.transcript.turns import Turn

_ADDED, _NO_FAULT = Action.ADDED, Fault.NONE
CONTINUE = "Continue."
BRIDGE = "OK."
START = "[The conversation begins with the assistant.]"
DOCUMENT_NOTE = "See the document."
MEDIA_NOTE = "Media from the tool results above:"


class Built(Struct, frozen=True, gc=False):
    """How much was built when a mark was set."""

    turns: int
    last: Turn | None
    joining: int
    """How many blocks the last turn had beside its own."""
    waited: tuple[int, int]
    """How many instructions had to wait, and how many of them wait no longer."""

    @property
    def blocks(self) -> int:
        """How many blocks the last turn had."""
        return 0 if self.last is None else len(self.last.blocks) + self.joining


class Builder:
    """The turns so far. Adding to them costs what is added, however many there are."""

    def __init__(self, target: Target, *, continues: bool = False) -> None:
        """`continues`: the provider keeps turns that precede these."""
        self.target = target
        self._continues = continues
        self._keeps_instructions = continues and target.kept_instructions
        self._demands = (target.reasoning_placeholder, target.signature_sentinel) != (None, None)
        """Whether replies may need a placeholder."""
        self._turns: list[Turn] = []
        self._joining: list[Block] = []
        """Blocks of the last turn that are not in it yet: they join it when it ends."""
        self._is_answer = False
        """Whether the last turn holds results of the client. A turn that is added to it holds
        nothing else if it holds any."""
        self._first_reply = -1
        """Where the first turn of the model is; -1 before it."""
        self._leading = 0
        """How many turns at the start are instructions."""
        self._waited: list[Turn] = []
        self._unmoved: list[str] = []
        """Where the first of them are, which nothing preceded: they move if the user speaks."""
        """Instructions that had to wait for a user message to follow."""
        self._counts = (0, 0)
        """How many instructions had to wait, and how many of them wait no longer."""
        self._answered: set[str] | None = None
        """The ids of all results, once somebody asks for them."""

    @property
    def turns(self) -> list[Turn]:
        """All turns. Do not change them."""
        self._end_turn()
        return self._turns

    @property
    def follows_stored(self) -> bool:
        """Whether results can answer calls that the provider keeps: before any reply, or where
        items need no order."""
        return self._first_reply < 0 or self.target.results == "items"

    @property
    def held(self) -> tuple[Turn, ...]:
        """Instructions that wait for a user message to follow."""
        return tuple(self._waited[self._counts[1] :])

    def mark(self) -> Built:
        """How much was built so far."""
        turns = self._turns
        last = turns[-1] if turns else None
        return Built(len(turns), last, len(self._joining), self._counts)

    def rewind(self, mark: Built) -> None:
        """Take back what was built after `mark`."""
        self._end_turn()
        del self._turns[mark.turns :]
        last = self._turns[-1] if self._turns else None
        if last is not None and mark.last is not None and len(last.blocks) > mark.blocks:
            kept = last.blocks[: mark.blocks]
            self._turns[-1] = replace(last, blocks=kept, native=mark.last.native)
        self._is_answer = last is not None and _has_results(self._turns[-1])
        self._leading = min(self._leading, mark.turns)
        if self._first_reply >= mark.turns:
            self._first_reply = -1
        self._counts = mark.waited
        del self._waited[self._counts[0] :], self._unmoved[self._counts[0] :]
        self._answered = None

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
        if other:
            blocks = [block for block in blocks if not isinstance(block, Media)]
            why = "Instructions are words; the media in them is sent as the user's."
            findings.append(Finding("instruction_as_user", where, Action.MOVED, why, Fault.RENDER))
        if blocks:
            self._instruct_words(Turn(role, tuple(blocks), native=native), where, findings)
        if other:
            self.user(other, None, where, findings)

    def _instruct_words(self, turn: Turn, where: str, findings: list[Finding]) -> None:
        leading = self.only_instructs() and not self._keeps_instructions
        if turn.role == "developer" and not self.target.developer:
            turn = replace(turn, role="system")
        if leading or self.target.system_later:
            if leading or not self._has_to_wait():
                self._add(turn, findings, where)
            else:
                self._waited.append(turn)
                self._counts = (len(self._waited), self._counts[1])
                if not self._turns:
                    # What the provider keeps ends with a reply.
                    self._unmoved.append(where)
                    return
                findings.append(_instruction_moved(where))
            return
        why = "The target takes instructions at the start only; these are sent as the user's words."
        findings.append(
            Finding(
                "instruction_as_user", where, Action.MOVED, why, Fault.RENDER, rule="system_later"
            )
        )
        native = as_user_fields(turn.native, self.target, where, findings)
        self.user(list(turn.blocks), native, where, findings)

    def only_instructs(self) -> bool:
        """Whether nobody has spoken yet."""
        return self._leading == len(self._turns)

    def _has_to_wait(self) -> bool:
        """Whether instructions cannot stand behind the last turn."""
        last = self._turns[-1].role if self._turns else "assistant"
        return self.target.system_before_reply and last == "assistant"

    def user(
        self, blocks: list[Block], native: Native | None, where: str, findings: list[Finding]
    ) -> None:
        """What the user said."""
        if self.target.document_needs_text and _is_bare_document(blocks):
            blocks = [Text(text=DOCUMENT_NOTE), *blocks]
            why = "The target wants words beside a document; a short sentence was put in."
            findings.append(
                Finding(
                    "words_added",
                    where,
                    Action.ADDED,
                    why,
                    Fault.NONE,
                    rule="document_needs_text",
                )
            )
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
            demanded = self._demanded(part, where, findings) if self._demands else part
            self._add(Turn("assistant", tuple(demanded), *message), findings, where)
            if answers:
                self._results(answers, findings, where)
        if moved:
            self.after_results(moved, findings, where)

    def _demanded(self, blocks: list[Block], where: str, findings: list[Finding]) -> list[Block]:
        """The blocks of a reply with the placeholders that the target wants."""
        thought = with_placeholder(blocks, self.target)
        if thought is not blocks:
            findings.append(_placeholder("a thought beside calls", where))
        signed = with_sentinel(thought, self.target)
        if signed is not thought:
            findings.append(_placeholder("a signature on the first call", where))
        return signed

    def stored_result(self, result: ToolResult, where: str, findings: list[Finding]) -> bool:
        """The result of a call that only the provider knows, under the id it came with; whether it
        is sent.

        An id that the provider cannot have given names none of its calls.
        """
        id, target = result.call_id, self.target
        code, why, rule = "orphan_not_sent", "", ""
        if target.result_names_tool and not result.name:
            why = "The result of a stored call has to name its tool, and this one does not."
            rule = "result_names_tool"
        elif not (id or target.ids.style == "echoed") or (id and not _is_id(id, target.ids)):
            why, rule = f"No stored call can have the id {id!r}.", "ids"
        elif id and id in self._ids_answered():
            code, why = "result_not_sent", f"{id} has another result, which is sent."
        elif target.results == "user_message" and not self._ends_in_results():
            why, rule = "Other content precedes it; stored calls are answered first.", "results"
        if why:
            findings.append(Finding(code, where, Action.DROPPED, why, Fault.INPUT, rule=rule))
            return False
        self._results([result], findings, where)
        return True

    def _ends_in_results(self) -> bool:
        """Whether nothing was built yet but instructions and results."""
        if self.only_instructs():
            return True
        last = self._joining or (self._turns[-1].blocks if self._turns else ())
        return not last or type(last[-1]) is ToolResult

    def after_results(
        self, moved: Sequence[Media | Text], findings: list[Finding], where: str
    ) -> None:
        """The media of results that is sent after them."""
        if moved:
            self.user([Text(text=MEDIA_NOTE), *moved], None, where, findings)

    def _ids_answered(self) -> set[str]:
        """The ids of all results."""
        if self._answered is None:
            blocks = (block for turn in self.turns for block in turn.blocks)
            self._answered = {block.call_id for block in blocks if type(block) is ToolResult}
        return self._answered

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
        if calls and not self.target.text_beside_calls and any(map(_is_said, rest)):
            parts.append(([block for block in rest if _is_said(block)], []))
            blocks = [block for block in blocks if not _is_said(block)]
        if len(calls) <= limit:
            return [*parts, (blocks, results)]
        head = [block for block in blocks if not _is_call(block)]
        for at in range(0, len(calls), limit):
            group = [*(head if at == 0 else []), *calls[at : at + limit]]
            parts.append((group, results[at : at + limit]))
        return parts

    def _results(self, results: Sequence[ToolResult], findings: list[Finding], where: str) -> None:
        if self._answered is not None:
            self._answered.update(result.call_id for result in results)
        if self.target.results in ("user_message", "own_user_message"):
            self._add(Turn("user", tuple(results)), findings, where)
        else:
            for result in results:
                self._add(Turn("tool", (result,)), findings, where)

    def _add(self, turn: Turn, findings: list[Finding], where: str) -> None:
        if self._leading == len(self._turns) and self._begins_late(turn):
            self._bridge("user", START, "starts_with_user", findings, where)
        is_waited_for = self._counts[1] < self._counts[0]
        if is_waited_for and turn.role == "assistant":
            self._bridge("user", CONTINUE, "system_before_reply", findings, where)
            self._release(findings)
        last = self._turns[-1] if self._turns else None
        # Where one of two is the model's, they are neither merged nor bridged.
        if last is None or (last.role == "assistant") != (turn.role == "assistant"):
            self._begin_turn(turn)
        elif rule := self._bridging_rule(last, turn):
            role: Role = "assistant" if turn.role == "user" else "user"
            self._bridge(role, BRIDGE if turn.role == "user" else CONTINUE, rule, findings, where)
            self._begin_turn(turn)
        elif self._can_merge(last, turn):
            self._extend_turn(last, turn)
        else:
            self._begin_turn(turn)
        if is_waited_for and turn.role == "user":
            self._release(findings)

    def _begin_turn(self, turn: Turn) -> None:
        if self._joining:
            self._end_turn()
        if self._leading == len(self._turns) and _instructs(turn):
            self._leading += 1
        if turn.role == "assistant" and self._first_reply < 0:
            self._first_reply = len(self._turns)
        self._turns.append(turn)
        self._is_answer = type(turn.blocks[0]) is ToolResult and turn.role != "assistant"

    def _extend_turn(self, last: Turn, turn: Turn) -> None:
        self._joining += turn.blocks
        if last.native is None and turn.native is not None:
            self._turns[-1] = replace(last, native=turn.native)
        self._is_answer |= type(turn.blocks[0]) is ToolResult and turn.role != "assistant"

    def _end_turn(self) -> None:
        if self._joining:
            last = self._turns[-1]
            self._turns[-1] = replace(last, blocks=(*last.blocks, *self._joining))
            self._joining.clear()

    def _begins_late(self, turn: Turn) -> bool:
        """Whether the user has to speak before this turn, which would be the first."""
        if turn.role != "assistant" or self._continues or not self.target.starts_with_user:
            return False
        return not opens(turn.blocks[0])

    def _release(self, findings: list[Finding]) -> None:
        findings += map(_instruction_moved, self._unmoved[self._counts[1] :])
        for turn in self.held:
            self._begin_turn(turn)
        self._counts = (self._counts[0], self._counts[0])

    def _bridging_rule(self, last: Turn, turn: Turn) -> str:
        """The rule that wants a message between two turns; empty where none does."""
        if turn.role == "user" and _instructs(last) and self.target.system_before_reply:
            return "" if self.only_instructs() else "system_before_reply"
        if turn.role == "user" and self._is_answer and not _has_results(turn):
            return self._rule_after_results(turn)
        # Thoughts of two replies must not meet in one message.
        is_met = (
            self.target.merge_roles
            and last.role == turn.role == "assistant"
            and Thinking in map(type, turn.blocks)
        )
        return "merge_roles" if is_met else ""

    def _rule_after_results(self, turn: Turn) -> str:
        """The rule by which something of the user's cannot follow results at once."""
        target = self.target
        if not target.user_after_results:
            return "user_after_results"
        if not target.documents_beside_results and _has_documents(turn):
            return "documents_beside_results"
        # A bare split would be merged again, and other content beside results is refused.
        is_alone = target.results == "own_user_message" and target.merge_roles
        return "user_beside_results" if is_alone and not target.user_beside_results else ""

    def _can_merge(self, last: Turn, turn: Turn) -> bool:
        if not self.target.merge_roles or last.role != turn.role:
            return False
        if turn.role == "system":
            return False
        if self.target.results == "own_user_message":
            return self._is_answer == _has_results(turn)
        return True

    def _bridge(
        self, role: Role, text: str, rule: str, findings: list[Finding], where: str
    ) -> None:
        why = f"The target wants a {role} message here; {text!r} was put in."
        findings.append(Finding("bridge_added", where, Action.ADDED, why, Fault.NONE, rule=rule))
        self._begin_turn(Turn(role, (Text(text=text),)))


def _calls_last(
    blocks: list[Block], target: Target, where: str, findings: list[Finding]
) -> list[Block]:
    """`blocks` with the calls behind the words. A thought among the calls keeps its place in a
    message; where it is an item, it is put before them as well.

    Anthropic answers text behind a call with "`tool_use` ids were found without `tool_result`
    blocks immediately after" (recorded 2026); its own replies never have it. DeepSeek's Responses
    API answers a message or a thought there with "No tool output found for tool call".
    """
    has_call = False
    for block in blocks:
        if type(block) is ToolCall and block.kind != "server":
            has_call = True
        elif has_call:
            break
    else:
        return blocks
    first = next(at for at, block in enumerate(blocks) if _is_call(block))
    if Thinking in map(type, blocks[first:]) and target.results != "items":
        return blocks
    why = "The target takes nothing behind a call; what stood there was put before the calls."
    findings.append(
        Finding("text_before_calls", where, Action.MOVED, why, Fault.RENDER, rule="calls_last")
    )
    return [*sorted(blocks, key=_is_call)]


def _instruction_moved(where: str) -> Finding:
    why = "The target takes instructions behind the user's words; they follow the next."
    rule = "system_before_reply"
    return Finding("instruction_moved", where, Action.MOVED, why, Fault.RENDER, rule=rule)


def _placeholder(what: str, where: str) -> Finding:
    why = f"The target wants {what}, and there is none; its placeholder was put in."
    return Finding("placeholder_added", where, _ADDED, why, _NO_FAULT)


def _is_bare_document(blocks: Sequence[Block]) -> bool:
    documents = any(isinstance(block, Media) and family(block) == "document" for block in blocks)
    # Text in a wrapping of its format, such as a guard's, is not taken for text.
    return documents and not any(isinstance(b, Text) and b.native is None for b in blocks)


def _is_id(id: str, rule: IdRule) -> bool:
    return len(id) <= rule.max_length and re.fullmatch(rule.pattern, id) is not None


def _is_said(block: Block) -> bool:
    """Whether a block of a reply is a part of its content."""
    return not isinstance(block, (ToolCall, ToolResult, Thinking))


def _is_call(block: Block) -> bool:
    return type(block) is ToolCall and block.kind != "server"


def _instructs(turn: Turn) -> bool:
    return turn.role in ("system", "developer")


def _has_documents(turn: Turn) -> bool:
    families = ("document", "video")
    return any(isinstance(block, Media) and family(block) in families for block in turn.blocks)


def _has_results(turn: Turn) -> bool:
    return turn.role != "assistant" and ToolResult in map(type, turn.blocks)
