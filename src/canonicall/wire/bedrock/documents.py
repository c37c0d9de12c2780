"""Documents of a request, each with a name of its own.

"Messages can't contain duplicate document names." (Converse) The first keeps its name, later ones
are numbered: what stands before them never changes.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from canonicall.blocks import Block, Media, ToolResult
from canonicall.transcript.turns import Turn
from canonicall.wire.bedrock.media import document_name

Kind = TypeVar("Kind", bound=Block)


def with_distinct_documents(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns, where no two documents are sent under one name."""
    taken: dict[str, int] = {}
    for turn in turns:
        if any(isinstance(block, Media | ToolResult) for block in turn.blocks):
            blocks = tuple(_named(block, taken) for block in turn.blocks)
            is_same = all(new is old for new, old in zip(blocks, turn.blocks, strict=True))
            yield turn if is_same else replace(turn, blocks=blocks)
        else:
            yield turn


def _named(block: Kind, taken: dict[str, int]) -> Kind:
    if isinstance(block, ToolResult) and block.content:
        parts = tuple(_named(part, taken) for part in block.content)
        is_same = all(new is old for new, old in zip(parts, block.content, strict=True))
        return block if is_same else replace(block, content=parts)
    name = document_name(block) if isinstance(block, Media) else ""
    if not name:
        return block
    free = name
    while free in taken:
        taken[name] += 1
        free = f"{name[:190]}-{taken[name]}"
    taken[free] = 1
    return block if free == name else replace(block, name=free)
