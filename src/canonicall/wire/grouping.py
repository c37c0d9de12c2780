"""Groups of tools, for targets that have none.

OpenAI's Responses offer tools in namespaces, and by items of the conversation: such a group is a
`Tool` with `members`. Elsewhere each member stands alone, with the name of its group before its
own. A call names its group in a field of that format, which says whose it is on the way back. So
does a search for tools that the client runs: it is a group of one, with calls of its own type.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Entry, Message, Native, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import Request, Tool

NAMESPACE = "namespace"
"""The field of a call that names its group (protocol of OpenAI's Responses, FunctionCall)."""
_BETWEEN = "__"
_CALLS = {"tool_search": {"type": "tool_search_call", "execution": "client"}}
"""What calls of a group's tools have in their native fields, by the type of the group."""
_OF_SEARCHES = ("tool_search_call", "tool_search_output")


class Member(Struct, frozen=True):
    """A tool of a group as it stands alone."""

    tool: Tool
    """With the name that it has there."""
    name: str
    """Its own name."""
    group: str
    marks: Native | None
    """The native fields of its calls."""

    def own_call(self, call: ToolCall) -> ToolCall:
        """A call of this tool, in the words of whoever offered the group."""
        return replace(call, name=self.name, native=self.marks or call.native)


def members_of(tools: Iterable[Tool], target: Target) -> dict[str, Member]:
    """The members of all groups that the target does not have, by the names they have alone."""
    listed = list(tools)
    groups = [tool for tool in listed if _is_group(tool, target)]
    found: dict[str, Member] = {}
    if not groups:
        return found
    taken = {tool.name for tool in listed if not _is_group(tool, target)}
    # What several searches have found is offered once.
    known: set[tuple[str, str]] = set()
    for tool in groups:
        for group, member in _inside(tool):
            if (group, member.name) in known:
                continue
            known.add((group, member.name))
            name = f"{group}{_BETWEEN}{member.name}" if group else member.name
            while name in taken:
                name += "_"
            taken.add(name)
            marks = _marks_of(tool, group)
            found[name] = Member(replace(member, name=name), member.name, group, marks)
    return found


def alone(tools: Iterable[Tool], target: Target) -> tuple[Tool, ...]:
    """The tools as the target can be offered them, without groups that it does not have."""
    listed = tuple(tools)
    if not any(_is_group(tool, target) for tool in listed):
        return listed
    single = (tool for tool in listed if not _is_group(tool, target))
    return (*single, *(member.tool for member in members_of(listed, target).values()))


def ungrouped(request: Request, target: Target) -> tuple[Request, list[Finding]]:
    """`request` without groups that the target does not have: in its tools, and in its calls."""
    members = members_of(request.tools, target)
    if not members:
        return request, []
    names = {(one.group, one.name): name for name, one in members.items()}
    entries = [_with_names(entry, names) for entry in request.conversation.entries]
    if any(new is not old for new, old in zip(entries, request.conversation.entries, strict=True)):
        request = replace(request, conversation=Conversation.of(entries))
    named = ", ".join(members)
    why = f"The target has no groups of tools; these stand alone, each for itself: {named}."
    finding = Finding("tools_ungrouped", "tools", Action.CHANGED, why, Fault.RENDER)
    return replace(request, tools=alone(request.tools, target)), [finding]


def tools_for(call: ToolCall, tools: Iterable[Tool]) -> list[Tool]:
    """The tools among which a call's own is, by the names that calls have."""
    meant = _group_of(call)
    found: list[Tool] = []
    for tool in tools:
        if not tool.members:
            found.append(tool)
        else:
            found += (member for group, member in _inside(tool) if group == meant)
    return found


class OfferedTools:
    """The tools of a request by the names that calls have. They are read once for each group."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._groups = {group for tool in tools if tool.members for group, _ in _inside(tool)}
        self._by_name: dict[str | None, dict[str, Tool]] = {}

    def for_call(self, call: ToolCall) -> dict[str, Tool]:
        """What `tools_for` gives, by name; the first of a name counts."""
        named = _group_of(call)
        group = named if named in self._groups else None
        if group not in self._by_name:
            found = self._by_name[group] = {}
            for tool in tools_for(call, self._tools):
                found.setdefault(tool.name, tool)
        return self._by_name[group]


def _marks_of(tool: Tool, group: str) -> Native | None:
    if tool.native is None:
        return None
    fields = {NAMESPACE: group} if group else _CALLS.get(str(tool.native.fields.get("type")))
    return Native(tool.native.format, dict(fields)) if fields else None


def _is_group(tool: Tool, target: Target) -> bool:
    """Whether a tool is a group that the target does not have, or not under this name."""
    if not tool.members or tool.native is None:
        return False
    return tool.native.format != target.format or not is_group_name(tool.name, target)


def is_group_name(name: str, target: Target) -> bool:
    return not target.group_names or re.fullmatch(target.group_names, name) is not None


def _inside(tool: Tool) -> Iterator[tuple[str, Tool]]:
    """The members of a group with the name of the group that calls of them have."""
    for member in tool.members:
        if member.members:
            yield from _inside(member)
        else:
            yield tool.name, member


def _with_names(entry: Entry, names: dict[tuple[str, str], str]) -> Entry:
    if not isinstance(entry, Message) or entry.role not in ("assistant", "tool"):
        return entry
    blocks = tuple(
        _renamed(block, names) if isinstance(block, (ToolCall, ToolResult)) else block
        for block in entry.blocks
    )
    is_same = all(new is old for new, old in zip(blocks, entry.blocks, strict=True))
    return entry if is_same else replace(entry, blocks=blocks)


def _renamed(
    call: ToolCall | ToolResult, names: dict[tuple[str, str], str]
) -> ToolCall | ToolResult:
    """A call, or its result, without what says in its own format whose it is."""
    if call.native is not None and call.native.fields.get("type") in _OF_SEARCHES:
        return replace(call, native=None)
    if isinstance(call, ToolResult):
        return call
    group = _group_of(call)
    name = names.get((group, call.name))
    if not group or name is None or call.native is None:
        return call
    rest = {field: value for field, value in call.native.fields.items() if field != NAMESPACE}
    return replace(call, name=name, native=Native(call.native.format, rest) if rest else None)


def _group_of(call: ToolCall) -> str:
    named = call.native.fields.get(NAMESPACE) if call.native is not None else None
    return named if isinstance(named, str) else ""
