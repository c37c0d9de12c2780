"""Cache marks: how many a request may have, in which order of lifetimes, and where.

Messages come before tools: the newest marks of the messages stay, because they are what the next
request reads, and tools share what is left. Some providers read the marks in the order tools,
system, messages, and refuse one that lasts an hour behind one that lasts five minutes. The later
mark gives way: what stands before it is in the cache already, and its bytes must not change.
"""

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

from msgspec.structs import replace

from canonicall.blocks import Block, Native, ToolCall, ToolResult
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Request, Tool
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript, Turn

_LONG, _SHORT = "1h", "5m"
_OF_REQUEST = "cache_control"
"""The field of a request that marks its last block, whichever that is (Anthropic, "Prompt
caching")."""
_LATER = "defer_loading"
"""The field of a tool that is not part of the prompt."""


def newest_marks(
    turns: tuple[Turn, ...], target: Target, findings: list[Finding]
) -> tuple[Turn, ...]:
    """`turns` with no more marks than the target takes."""
    marked = [
        (at, position)
        for at, turn in enumerate(turns)
        for position, block in enumerate(turn.blocks)
        if block.cache is not None
    ]
    surplus = marked[: max(len(marked) - target.cache_marks, 0)]
    if not surplus:
        return turns
    why = f"The target takes {target.cache_marks} cache marks; the oldest were left out."
    findings.append(_dropped(f"turns[{surplus[0][0]}]", why, "cache_marks"))
    changed = list(turns)
    for at, places in groupby(surplus, key=itemgetter(0)):
        blocks: list[Block] = list(changed[at].blocks)
        for _, position in places:
            blocks[position] = replace(blocks[position], cache=None)
        changed[at] = replace(changed[at], blocks=tuple(blocks))
    return tuple(changed)


def fitted_marks(
    request: Request, transcript: Transcript, goal: Goal
) -> tuple[Request, Transcript]:
    """The same with cache marks as the target takes them."""
    tools_marked = any(tool.cache is not None for tool in request.tools)
    if tools_marked:
        request = _within_free(request, transcript, goal)
        request = _without_deferred(request, goal)
    if transcript.marked or tools_marked:
        request, transcript = _ordered(request, transcript, goal)
        _report_unplaced(request, transcript, goal)
    native = request.native
    if native is not None and goal.target.cache_order and _OF_REQUEST in native.fields:
        request = _with_mark_of_request(request, native, transcript, goal)
    return request, transcript


def _within_free(request: Request, transcript: Transcript, goal: Goal) -> Request:
    """`request` whose tools carry no more marks than the messages leave free."""
    target = goal.target
    marked = [index for index, tool in enumerate(request.tools) if tool.cache is not None]
    free = max(target.cache_marks - transcript.cache_marks, 0) if target.marked_tools else 0
    surplus = marked[: max(len(marked) - free, 0)]
    if not surplus:
        return request
    many = f"{target.cache_marks} cache marks" if target.marked_tools else "no cache marks on tools"
    why = f"The target takes {many}; those of tools were left out."
    rule = "cache_marks" if target.marked_tools else "marked_tools"
    goal.findings.append(_dropped("tools", why, rule))
    tools = tuple(
        replace(tool, cache=None) if index <= surplus[-1] and tool.cache is not None else tool
        for index, tool in enumerate(request.tools)
    )
    return replace(request, tools=tools)


def _without_deferred(request: Request, goal: Goal) -> Request:
    """`request` without marks on tools that are loaded later, unless all are: those are loaded now.

    "Tools with defer_loading cannot use prompt caching." (Anthropic)
    """
    later = [_is_deferred(tool, goal.target) for tool in request.tools]
    if all(later) or not any(later):
        return request
    tools: list[Tool] = []
    for index, (tool, is_later) in enumerate(zip(request.tools, later, strict=True)):
        if tool.cache is None or not is_later:
            tools.append(tool)
            continue
        why = f"{tool.name} is loaded later; it is not part of what can be cached."
        goal.findings.append(_dropped(f"tools[{index}]", why))
        tools.append(replace(tool, cache=None))
    return replace(request, tools=tuple(tools))


def _is_deferred(tool: Tool, target: Target) -> bool:
    native = tool.native
    return (
        native is not None and native.format == target.format and native.fields.get(_LATER) is True
    )


def _report_unplaced(request: Request, transcript: Transcript, goal: Goal) -> None:
    """A finding for each mark that has no place where marks stand on parts only: the encoder has
    no words for it."""
    target = goal.target
    are_items = target.results == "items"
    if not are_items and target.cache_field != "prompt_cache_breakpoint":
        return
    places = [
        f"turns[{at}].blocks[{position}]"
        for at, turn in enumerate(transcript.turns if transcript.marked else ())
        for position, block in enumerate(turn.blocks)
        if block.cache is not None and not _has_place(turn, block, are_items=are_items)
    ]
    places += [f"tools[{at}]" for at, tool in enumerate(request.tools) if tool.cache is not None]
    why = "The target has no place for a cache mark here."
    rule = "results" if are_items else "cache_field"
    goal.findings += (_dropped(place, why, rule) for place in places)


def _has_place(turn: Turn, block: Block, *, are_items: bool) -> bool:
    """Whether a block is written with a part that can have a mark. Of items only those that go in
    have such parts (SDK response_input_text_param.py and its like)."""
    if are_items:
        return turn.role != "assistant" and not isinstance(block, ToolCall | ToolResult)
    return bool(block.content) if isinstance(block, ToolResult) else not isinstance(block, ToolCall)


def _with_mark_of_request(
    request: Request, native: Native, transcript: Transcript, goal: Goal
) -> Request:
    """`request` without the mark of the whole where it cannot stand beside those of its parts."""
    target = goal.target
    if native.format != target.format or not isinstance(native.fields[_OF_REQUEST], dict):
        return request
    is_long = native.fields[_OF_REQUEST].get("ttl") == _LONG
    turns = transcript.turns
    last = turns[-1].blocks[-1].cache if turns and turns[-1].blocks else None
    if last is not None:
        if is_long == (last == _LONG):
            return request
        why = "The last block has a cache mark of another lifetime; that one counts."
    else:
        # "Prompt caching": the mark of the request takes one of the places.
        of_tools = sum(tool.cache is not None for tool in request.tools)
        if of_tools + transcript.cache_marks < target.cache_marks:
            return request
        why = f"There may be {target.cache_marks} cache marks, and there are as many."
    place = f"params.{_OF_REQUEST}"
    goal.findings.append(
        Finding("param_dropped", place, Action.DROPPED, why, Fault.RENDER, rule="cache_marks")
    )
    rest = {name: field for name, field in native.fields.items() if name != _OF_REQUEST}
    return replace(request, native=Native(native.format, rest))


def _ordered(request: Request, transcript: Transcript, goal: Goal) -> tuple[Request, Transcript]:
    """The same with no long mark behind a short one."""
    target = goal.target
    turns_marked = transcript.turns if transcript.marked else ()
    if not target.cache_order or not _has_long(request.tools, turns_marked):
        return request, transcript
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
        return request, transcript
    why = "A cache mark that lasts an hour cannot stand behind a shorter one; it is shorter now."
    goal.findings.append(
        Finding(
            "cache_mark_changed", "request", Action.CHANGED, why, Fault.RENDER, rule="cache_order"
        )
    )
    changed = replace(transcript, turns=tuple(turns.values()))
    return replace(request, tools=tools), changed


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


def _dropped(where: str, why: str, rule: str = "") -> Finding:
    return Finding("cache_mark_dropped", where, Action.DROPPED, why, Fault.RENDER, rule=rule)
