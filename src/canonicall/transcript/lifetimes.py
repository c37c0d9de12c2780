"""Cache marks whose lifetimes follow each other as the target wants them.

Some providers read the marks in the order tools, system, messages, and refuse one that lasts an
hour behind one that lasts five minutes. The later mark gives way: what stands before it is in the
cache already, and its bytes must not change.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from canonicall.blocks import Block, ToolResult
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Request, Tool
from canonicall.transcript.turns import Transcript, Turn

_LONG, _SHORT = "1h", "5m"


def ordered_lifetimes(
    request: Request, transcript: Transcript, target: Target, *, marked: bool
) -> tuple[Request, Transcript, list[Finding]]:
    """The same with no long mark behind a short one. `marked`: some block has a cache mark."""
    turns_marked = transcript.turns if marked else ()
    if not target.cache_order or not _has_long(request.tools, turns_marked):
        return request, transcript, []
    marks = _Marks()
    tools = tuple(
        tool if tool.cache is None else replace(tool, cache=marks.next(tool.cache))
        for tool in request.tools
    )
    turns = dict(enumerate(transcript.turns))
    is_apart = {at: target.system == "top" and _instructs(turn) for at, turn in turns.items()}
    for at in sorted(turns, key=lambda at: not is_apart[at]):
        if any(_marks_of(block) for block in turns[at].blocks):
            blocks = tuple(marks.on(block) for block in turns[at].blocks)
            turns[at] = replace(turns[at], blocks=blocks)
    if not marks.shortened:
        return request, transcript, []
    why = "A cache mark that lasts an hour cannot stand behind a shorter one; it is shorter now."
    finding = Finding(
        "cache_mark_changed", "request", Action.CHANGED, why, Fault.RENDER, rule="cache_order"
    )
    changed = replace(transcript, turns=tuple(turns.values()))
    return replace(request, tools=tools), changed, [finding]


def _has_long(tools: Iterable[Tool], turns: Iterable[Turn]) -> bool:
    for turn in turns:
        for block in turn.blocks:
            if block.cache == _LONG:
                return True
            if type(block) is ToolResult and block.content:
                for part in block.content:
                    if part.cache == _LONG:
                        return True
    return _LONG in [tool.cache for tool in tools]


def _instructs(turn: Turn) -> bool:
    return turn.role in ("system", "developer")


def _marks_of(block: Block) -> list[str]:
    """The marks of a block, those of the parts of a result before its own."""
    parts = block.content or () if isinstance(block, ToolResult) else ()
    return [one.cache for one in (*parts, block) if one.cache is not None]


class _Marks:
    """Marks one after the other; from the first short one on, none is long."""

    def __init__(self) -> None:
        self._has_short = False
        self.shortened = False

    def next(self, mark: str) -> str:
        if mark == _LONG and self._has_short:
            self.shortened = True
            return _SHORT
        self._has_short = self._has_short or mark != _LONG
        return mark

    def on(self, block: Block) -> Block:
        """`block` with its marks as they may be."""
        if isinstance(block, ToolResult) and block.content:
            parts = tuple(
                part if part.cache is None else replace(part, cache=self.next(part.cache))
                for part in block.content
            )
            block = replace(block, content=parts)
        return block if block.cache is None else replace(block, cache=self.next(block.cache))
