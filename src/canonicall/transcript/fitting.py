"""Fitting: the blocks of one message as one target may get them.

Opaque state, native fields and cache marks that are not for this target are taken off; blocks it
has no word for are left out; calls get their wire ids and names. Order is never changed.
"""

import re
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from canonicall.arguments import with_object
from canonicall.blocks import (
    Block,
    Code,
    Media,
    Message,
    Native,
    Opaque,
    ResultContent,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.conversation import Conversation
from canonicall.facts.target import Target, field_tree
from canonicall.findings import Action, Fault, Finding
from canonicall.ledger import Ledger
from canonicall.transcript.completion import family
from canonicall.transcript.fields import (
    is_of,
    kept_fields,
    known_fields,
    place_of,
    takes_part,
    with_good_group,
)
from canonicall.transcript.item_ids import item_id, server_items, without_second_items
from canonicall.transcript.opening import summary_text
from canonicall.transcript.policy import Policy
from canonicall.transcript.projection import Projection
from canonicall.transcript.reasoning import (
    decide_thinking,
    keeps_opaque,
    without_parted_ids,
    without_trailing_thoughts,
)
from canonicall.transcript.server_blocks import ServerBlocks, is_server_side, server_id

_AnyBlock = TypeVar("_AnyBlock", bound=Block)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""How an address begins."""


class Fitter:
    """Fits messages to one target."""

    def __init__(self, target: Target, policy: Policy, projection: Projection) -> None:
        self.target = target
        self.policy = policy
        self.projection = projection
        self.server_blocks = ServerBlocks(target, policy)
        self.kept_marks = False

    def reply(
        self, message: Message, conversation: Conversation, entry: int, findings: list[Finding]
    ) -> list[Block]:
        """The blocks of an assistant message."""
        ledger = conversation.ledger
        kept_server = self.server_blocks.kept(message, conversation)
        kept_server = kept_server - self._sent_before(message) if kept_server else kept_server
        blocks: list[Block] = []
        for index, block in enumerate(message.blocks):
            if _is_bare_text(block):
                blocks.append(block)
                continue
            where = f"entries[{entry}].blocks[{index}]"
            if type(block) is ToolCall and block.kind != "server":
                blocks.append(self._call(block, message, where, findings))
            elif type(block) is Media and not self._may_stay(block, message):
                blocks.append(self._note(block, where, findings))
            elif not is_server_side(block, ledger):
                if type(block) is not ToolResult:
                    blocks += self._fitted(block, message, where, findings)
            elif self._goes_back(block, message, kept_server, ledger, (entry, index)):
                blocks += self._fitted(block, message, where, findings)
            else:
                blocks += self.server_blocks.left_out(block, where, findings)
        if blocks and type(blocks[-1]) is Thinking:
            blocks = without_trailing_thoughts(blocks, self.target, f"entries[{entry}]", findings)
        if not kept_server and not self.target.item_ids:
            return blocks
        return self._named_items(blocks, message, f"entries[{entry}]", findings)

    def _named_items(
        self, blocks: list[Block], message: Message, where: str, findings: list[Finding]
    ) -> list[Block]:
        """The blocks of a message, each with the id of a stored item only where it is one."""
        server = [one for one in blocks if type(one) is ToolCall and one.kind == "server"]
        ids = [id for one in server for id in (one.id, *server_items(one))]
        for one in server:
            self.projection.reserve(one)
        if self.target.item_ids:
            blocks = without_second_items(blocks, self.projection, where, findings)
            if message.role == "assistant":
                blocks = without_parted_ids(blocks, message, self.target, where, findings)
            ids += [item_id(block) for block in blocks if block.opaque or type(block) is Unknown]
        self.projection.note_items(filter(None, ids))
        return blocks

    def _goes_back(
        self,
        block: Block,
        message: Message,
        kept: set[str],
        ledger: Ledger,
        place: tuple[int, int],
    ) -> bool:
        """Whether a block of the provider's is sent: a result only behind its call, and once."""
        id = server_id(block)
        if not isinstance(block, ToolResult) or id not in kept:
            return id in kept
        one = ledger.answered(block, place)
        is_called = id in self.projection.items or id in [call.id for call in message.calls]
        return is_called and (one is None or one.result is block)

    def _sent_before(self, message: Message) -> set[str]:
        """The calls of the provider's in a message whose ids are sent with others."""
        sent = {call.raw_id for call in message.calls if call.kind != "server"}
        before: set[str] = set()
        for call in message.calls:
            ids = server_items(call)
            given = sent, self.projection.items, self.projection.sent
            if any(id in one for id in ids for one in given):
                before.add(call.id)
            sent |= ids
        return before

    def content(self, message: Message, entry: int, findings: list[Finding]) -> list[Block]:
        """The blocks of a message that is not the model's, without the results in it."""
        blocks: list[Block] = []
        for index, block in enumerate(message.blocks):
            if _is_bare_text(block):
                blocks.append(block)
            elif type(block) is not ToolResult:
                where = f"entries[{entry}].blocks[{index}]"
                if isinstance(block, Thinking):
                    why = "Only the model's messages hold reasoning; it is left out."
                    told = Finding("thinking_dropped", where, Action.DROPPED, why, Fault.RENDER)
                    findings.append(told)
                else:
                    blocks += self._fitted(block, message, where, findings)
        if not self.target.item_ids:
            return blocks
        return self._named_items(blocks, message, f"entries[{entry}]", findings)

    def result(
        self, result: ToolResult, message: Message, where: str, findings: list[Finding]
    ) -> ToolResult:
        """A result with only what the target may get. Its id and name are set elsewhere."""
        content: list[ResultContent] = []
        for index, part in enumerate(result.content or ()):
            place = f"{where}.content[{index}]"
            if isinstance(part, Unknown):
                kept = self._result_part(part, message, place, findings)
                content.append(kept or Text(text="[a part of the result was left out]"))
            else:
                fitted: Text | Media = self._common(part, message, place, findings)
                if isinstance(fitted, Media) and self._is_out_of_reach(fitted):
                    fitted = self._note(fitted, place, findings)
                content.append(fitted)
        fitted_result = self._common(result, message, where, findings)
        if fitted_result.opaque:
            (named,) = self._named_items([fitted_result], Message("tool"), where, findings)
            fitted_result = replace(fitted_result, opaque=named.opaque)
        if not self.target.marked_results:
            marks = [part.cache for part in content if part.cache is not None]
            cache = fitted_result.cache or (marks[-1] if marks else None)
            fitted_result = replace(fitted_result, cache=cache)
            content = [replace(part, cache=None) if part.cache else part for part in content]
        return replace(fitted_result, content=tuple(content))

    def _result_part(
        self, part: Unknown, message: Message, where: str, findings: list[Finding]
    ) -> Unknown | Text | None:
        kind = part.native.fields.get("type") if part.native is not None else None
        allowed = self.target.result_parts
        if not allowed or kind in allowed:
            return self._unknown(part, message, where, findings)
        why = f"A result cannot hold a part of this type here ({kind}); it is left out."
        findings.append(
            Finding("block_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="result_parts")
        )
        return None

    def media(self, block: Media, where: str, findings: list[Finding]) -> Block:
        """Media the target can see, or a note in its place."""
        if family(block) in self.target.media and not self._is_out_of_reach(block):
            return block
        return self._note(block, where, findings)

    def _is_out_of_reach(self, block: Media) -> bool:
        return _is_hollow(block) or self._is_far(block) or self._is_unread(block)

    def _may_stay(self, block: Media, message: Message) -> bool:
        """Whether media of a reply may stand in the model's own message."""
        if family(block) in self.target.reply_media:
            return True
        is_sound = self.target.named_sound and family(block) == "audio"
        return is_sound and any(
            one.kind == "item_id" and keeps_opaque(one, message, self.target)
            for one in block.opaque
        )

    def _note(self, block: Media, where: str, findings: list[Finding]) -> Text:
        why, rule = f"The target takes no {family(block)}; a note stands in its place.", "media"
        if _is_hollow(block):
            rule = ""
            why = "There is nothing in it that this target could read; a note stands in its place."
        elif self._is_far(block):
            rule = "media_by_url" if self._is_fetched(block) else "address_schemes"
            why = f"The target fetches no {family(block)}; a note stands in its place."
        elif self._is_unread(block):
            rule = "media_types"
            why = f"The target does not read {block.media_type}; a note stands in its place."
        elif family(block) in self.target.media:
            rule = "reply_media"
            why = f"The target takes no {family(block)} here; a note stands in its place."
        findings.append(
            Finding("media_dropped", where, Action.DROPPED, why, Fault.RENDER, rule=rule)
        )
        at = f" at {block.url}" if self._is_far(block) else ""
        return Text(text=f"[{block.media_type}{at} left out: this model cannot read it]")

    def _is_far(self, block: Media) -> bool:
        """Whether only an address is known, and the target wants the data."""
        if block.data is not None or block.url is None or block.opaque:
            return False
        return not self._is_fetched(block) or family(block) not in self.target.media_by_url

    def _is_fetched(self, block: Media) -> bool:
        """Whether the target takes addresses that begin like this one."""
        schemes = self.target.address_schemes
        return not schemes or (block.url or "").startswith(schemes)

    def _is_unread(self, block: Media) -> bool:
        """Whether the target refuses the media type; of a family alone nothing is known."""
        types, kind = self.target.media_types, block.media_type
        is_known = kind in types or f"{kind.partition('/')[0]}/*" in types or kind.endswith("/*")
        return bool(types) and not is_known

    def _fitted(
        self, block: Block, message: Message, where: str, findings: list[Finding]
    ) -> tuple[Block, ...]:
        fitted = self._block(block, message, where, findings)
        return () if fitted is None else (fitted,)

    def _block(
        self, block: Block, message: Message, where: str, findings: list[Finding]
    ) -> Block | None:
        match block:
            case Thinking():
                thought, told = decide_thinking(block, message, self.target, self.policy, where)
                findings += told
                return (
                    self._common(thought, message, where, findings)
                    if isinstance(thought, Thinking)
                    else thought
                )
            case Text() | Summary():
                return self._words(block, message, where, findings)
            case Media():
                return self.media(self._common(block, message, where, findings), where, findings)
            case ToolCall():
                return self._call(block, message, where, findings)
            case Unknown():
                return self._unknown(block, message, where, findings)
            case Code() | ToolResult():
                return self._common(block, message, where, findings)

    def _words(
        self, block: Text | Summary, message: Message, where: str, findings: list[Finding]
    ) -> Block | None:
        fitted = self._common(block, message, where, findings)
        if fitted.native is not None and self._is_plain_here(fitted.native, message):
            why = "The target has no field for a refusal; it is sent as text."
            findings.append(Finding("fields_dropped", where, Action.CHANGED, why, Fault.RENDER))
            fitted = replace(fitted, native=None)
        if fitted.text.strip() or any(map(self._needs_no_words, fitted.opaque)):
            return Text(text=fitted.text) if isinstance(fitted, Summary) else fitted
        if fitted.text or fitted.opaque:
            why = "Text of blanks only is refused by providers; it is left out."
            findings.append(Finding("blank_dropped", where, Action.DROPPED, why, Fault.RENDER))
        return None

    def _needs_no_words(self, state: Opaque) -> bool:
        """Whether a text that is empty has to be sent for the sake of the state that it carries."""
        return state.kind == "signature" or (state.kind == "item_id" and self.target.item_ids)

    def _is_plain_here(self, native: Native, message: Message) -> bool:
        """Whether a refusal would be a field of its message that the target is known not to have.

        Where messages are items, it is a part of their content.
        """
        fields = self.target.fields
        if message.role != "assistant" or self.target.results != "tool_messages":
            return False
        return (
            "refusal" in native.fields
            and "message" in fields.closed
            and "refusal" not in field_tree(fields.message)
        )

    def _call(
        self, call: ToolCall, message: Message, where: str, findings: list[Finding]
    ) -> ToolCall:
        if call.opaque or call.native is not None or call.cache is not None:
            call = self._common(call, message, where, findings)
        if call.kind == "server":
            return call
        if call.native is not None and self.target.group_names:
            native = with_good_group(call.native, self.target, where, findings)
            call = call if native is call.native else replace(call, native=native)
        foreign = own = False
        if message.origin is not None:
            foreign = message.origin.format not in ("", self.target.format)
            own = message.origin.provider == self.target.provider != ""
        wire_id = self.projection.id(call, findings, where, foreign=foreign, own=own)
        name = self.projection.name(call.name)
        if call.kind == "custom" and not self.target.custom_tools:
            why = "The target has no calls of free text; the text is sent as the argument `input`."
            findings.append(
                Finding(
                    "call_converted",
                    where,
                    Action.CHANGED,
                    why,
                    Fault.RENDER,
                    rule="custom_tools",
                )
            )
            # The id of its item says which kind it was.
            opaque = tuple(one for one in call.opaque if one.kind != "item_id")
            call = replace(with_object(call), kind="function", opaque=opaque)
        elif call.kind == "function" and call.args is None:
            why = "The arguments are no JSON object; they are sent as text under `_raw`."
            findings.append(Finding("arguments_wrapped", where, Action.CHANGED, why, Fault.STATE))
            call = with_object(call)
        elif call.raw and "\\u" in call.raw and call.kind == "function" and _is_halved(call.raw):
            why = "The text of the arguments holds half of a character; they are written anew."
            findings.append(Finding("lone_surrogate", where, Action.CHANGED, why, Fault.STATE))
            call = replace(call, raw=None)
        return replace(call, id=wire_id, name=name)

    def _unknown(
        self, block: Unknown, message: Message, where: str, findings: list[Finding]
    ) -> Unknown | Text | None:
        own = block.native is not None and takes_part(block.native, message, self.target)
        if own and all(keeps_opaque(one, message, self.target) for one in block.opaque):
            bare = self._common(replace(block, native=None), message, where, findings)
            return replace(bare, native=block.native)
        kind = block.native.fields.get("type", "") if block.native is not None else ""
        if text := summary_text(block):
            why = f"The target has no such block ({kind}); the text of the summary is sent."
            findings.append(Finding("summary_as_text", where, Action.CHANGED, why, Fault.RENDER))
            return self._common(Text(text=text, cache=block.cache), message, where, findings)
        why = f"The target has no word for this block ({kind or 'unknown'}); it is left out."
        is_known = block.native is not None and block.native.format == self.target.format
        rule = "fields" if is_known and not own else ""
        findings.append(
            Finding("block_dropped", where, Action.DROPPED, why, Fault.RENDER, rule=rule)
        )
        return None

    def _common(
        self, block: _AnyBlock, message: Message, where: str, findings: list[Finding]
    ) -> _AnyBlock:
        """`block` without the opaque state, native fields and marks of others."""
        if not block.opaque and block.native is None and block.cache is None:
            return block
        opaque = tuple(one for one in block.opaque if keeps_opaque(one, message, self.target))
        if len(opaque) < len(block.opaque):
            why = "State that only another provider can read is not sent."
            findings.append(Finding("opaque_dropped", where, Action.DROPPED, why, Fault.RENDER))
        native = block.native
        if native is not None:
            place, is_own = place_of(block, self.target), is_of(message, self.target)
            native = kept_fields(
                native, place, self.target, is_own=is_own, where=where, findings=findings
            )
            if native is not None and self.target.content_as_text and type(block) is Text:
                native = known_fields(native, "part", self.target, where, findings)
        cache = block.cache
        if cache is not None and not self.target.cache_marks:
            why = "The target has no cache marks."
            findings.append(
                Finding(
                    "cache_mark_dropped",
                    where,
                    Action.DROPPED,
                    why,
                    Fault.RENDER,
                    rule="cache_marks",
                )
            )
            cache = None
        elif cache is not None and not self.target.marked_documents and _is_no_pdf(block):
            why = "The target takes a cache mark on a PDF, but on no other document."
            findings.append(
                Finding(
                    "cache_mark_dropped",
                    where,
                    Action.DROPPED,
                    why,
                    Fault.RENDER,
                    rule="marked_documents",
                )
            )
            cache = None
        self.kept_marks |= cache is not None
        return replace(block, opaque=opaque, native=native, cache=cache)


def _is_no_pdf(block: Block) -> bool:
    if not isinstance(block, Media) or family(block) != "document":
        return False
    return block.media_type != "application/pdf"


def _is_bare_text(block: Block) -> bool:
    """Whether `block` is words that every target gets as they are."""
    return (
        type(block) is Text
        and block.native is None
        and not block.opaque
        and block.cache is None
        and block.text != ""
        and not block.text.isspace()
    )


def _is_hollow(media: Media) -> bool:
    """Whether nothing is left of it: no data, no address, no file this target knows."""
    is_located = media.url is not None and _SCHEME.match(media.url) is not None
    return not (media.data or is_located or media.opaque)


def _is_halved(raw: str) -> bool:
    """Whether the text of arguments holds an escape of half a character, which JSON has not."""
    try:
        msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return True
    return False
