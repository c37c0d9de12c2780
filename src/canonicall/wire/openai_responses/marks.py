"""Cache marks that a request has and this format has no place for.

Marks stand on the parts of what goes in (SDK response_input_text_param.py and its like). Tools,
calls, outputs as a whole and what the model said cannot carry one.
"""

from collections.abc import Iterable

from canonicall.blocks import Block, ToolCall, ToolResult
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Tool
from canonicall.transcript.turns import Turn


def lost_marks(turns: Iterable[Turn], tools: Iterable[Tool]) -> list[Finding]:
    """A finding for each mark that is not written."""
    blocks = [
        _dropped(f"turns[{at}].blocks[{position}]")
        for at, turn in enumerate(turns)
        for position, block in enumerate(turn.blocks)
        if block.cache is not None and not _has_place(turn, block)
    ]
    offered = (f"tools[{index}]" for index, tool in enumerate(tools) if tool.cache is not None)
    return [*blocks, *map(_dropped, offered)]


def _has_place(turn: Turn, block: Block) -> bool:
    return turn.role != "assistant" and not isinstance(block, (ToolCall, ToolResult))


def _dropped(where: str) -> Finding:
    why = "The format has no place for a cache mark here."
    return Finding("cache_mark_dropped", where, Action.DROPPED, why, Fault.RENDER)
