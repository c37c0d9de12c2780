"""The offer: the tools of a request, as one target can be given them.

In: a request. Out: the same request with tools that the target takes; a finding for each change.
"""

from operator import is_

from msgspec.structs import replace

from canonicall.blocks import Message, Native, ToolCall
from canonicall.facts.target import Target, field_tree
from canonicall.findings import Action, Fault, Finding, in_words
from canonicall.request import Reasoning, Request, Tool, ToolChoice
from canonicall.transcript.fields import kept_fields, takes_unknown
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript

_NO_LONGER = "Not available any more."
_ADDED = "param_added", Action.ADDED, Fault.NONE
_CHANGED = "param_changed", Action.CHANGED, Fault.RENDER
_TOOL_FIELDS = frozenset(Tool.__struct_fields__)


def distinct_tools(request: Request, goal: Goal) -> Request:
    """Of tools that have one name, the first: all providers refuse the others."""
    seen: set[str] = set()
    tools = []
    for index, tool in enumerate(request.tools):
        if tool.kind != "server" and tool.name in seen:
            why = f"Another tool is called {tool.name} already; the first counts."
            told = Finding("tool_dropped", f"tools[{index}]", Action.DROPPED, why, Fault.RENDER)
            goal.findings.append(told)
            continue
        seen.add(tool.name if tool.kind != "server" else "")
        tools.append(tool)
    return request if len(tools) == len(request.tools) else replace(request, tools=tuple(tools))


def unmixed_tools(request: Request, goal: Goal) -> Request:
    """Functions without the tools that the provider runs, where it takes only one of both."""
    target, findings = goal.target, goal.findings
    if target.mixed_tools or all(tool.kind == "server" for tool in request.tools):
        return request
    tools = []
    for index, tool in enumerate(request.tools):
        if tool.kind == "server" and can_be_offered(tool, target):
            why = f"The target does not offer {tool.name or 'its own tools'} beside functions."
            told = Finding(
                "tool_dropped",
                f"tools[{index}]",
                Action.DROPPED,
                why,
                Fault.RENDER,
                rule="mixed_tools",
            )
            findings.append(told)
        else:
            tools.append(tool)
    return replace(request, tools=tuple(tools))


def declared_tools(request: Request, goal: Goal) -> Request:
    """A declaration for every tool of the history, where the target demands one.

    "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    (Bedrock); other providers answer alike.
    """
    target, findings = goal.target, goal.findings
    if not target.tools_with_history or request.continues is not None:
        return request
    offered = any(can_be_offered(tool, target) for tool in request.tools)
    names = () if offered else called_names(request)
    if not names:
        return request
    why = f"The history has calls, so the target wants tools: {', '.join(names)} were declared."
    findings.append(
        Finding(
            "tool_stubs_added", "tools", Action.ADDED, why, Fault.RENDER, rule="tools_with_history"
        )
    )
    schema = {"type": "object", "properties": {}}
    stubs = tuple(Tool(name, _NO_LONGER, schema) for name in names)
    choice = ToolChoice(mode="none") if "none" in target.choice_modes else request.tool_choice
    return replace(request, tools=(*request.tools, *stubs), tool_choice=choice)


def strict_as_taken(request: Request, goal: Goal) -> Request:
    """Tools that are not strict, where the mark is refused, or says nothing: only a function has a
    schema that it could be held to."""
    target, findings = goal.target, goal.findings
    if not any(tool.strict for tool in request.tools):
        return request
    tools: list[Tool] = []
    for index, tool in enumerate(request.tools):
        is_function = tool.kind == "function"
        if not tool.strict or (is_function and target.strict_tools):
            tools.append(tool)
            continue
        why, rule = "The target has no strict tools.", "strict_tools"
        if not is_function:
            why, rule = f"{tool.name} has no schema, so it cannot be strict.", ""
        where = f"tools[{index}].strict"
        told = Finding("strict_dropped", where, Action.CHANGED, why, Fault.RENDER, rule=rule)
        findings.append(told)
        tools.append(replace(tool, strict=False if is_function else None))
    return replace(request, tools=tuple(tools))


def unreasoned_with_tools(request: Request, goal: Goal) -> Request:
    """A model that takes tools only while it does not reason is told not to: else it would."""
    target, findings = goal.target, goal.findings
    asked = request.params.reasoning
    is_off = asked is not None and asked.effort == "none"
    if target.tools_while_reasoning or not request.tools or is_off:
        return request
    code, action, fault = _ADDED if asked is None else _CHANGED
    why = "This model takes tools here only where it is told not to reason."
    findings.append(
        Finding(code, "params.reasoning", action, why, fault, rule="tools_while_reasoning")
    )
    silent = Reasoning(enabled=False, effort="none")
    return replace(request, params=replace(request.params, reasoning=silent))


def known_fields_only(request: Request, goal: Goal) -> Request:
    """The request and its tools without native fields that are not for this target."""
    target, findings = goal.target, goal.findings
    is_own = request.domain == target.domain if request.domain else None
    native = request.native
    if native is not None and native.format == target.format:
        native = kept_fields(
            native, "request", target, is_own=is_own, where="request", findings=findings
        )
    spelled = request.spelled
    is_read = spelled is not None and spelled.format == target.format
    if spelled is not None and is_read and not takes_unknown("request", target, is_own=is_own):
        names = field_tree(target.fields.request)
        known = {name: field for name, field in spelled.fields.items() if name in names}
        spelled = Native(spelled.format, known)
    tools = []
    for index, tool in enumerate(request.tools):
        kept = tool.native
        if tool.kind == "server":
            # What tells which tool of the provider it is: its type, or the name of its field.
            is_known = kept is not None and any(one in target.fields.tool for one in kept.fields)
            kept = kept if is_known or takes_unknown("tool", target, is_own=is_own) else None
        elif kept is not None:
            where = f"tools[{index}]"
            kept = _without_own_words(kept, target)
            kept = kept_fields(kept, "tool", target, is_own=is_own, where=where, findings=findings)
        tools.append(tool if kept is tool.native else replace(tool, native=kept))
    is_same = native is request.native and spelled is request.spelled
    if is_same and all(map(is_, tools, request.tools)):
        return request
    return replace(request, tools=tuple(tools), native=native, spelled=spelled)


def renamed_tools(
    request: Request, transcript: Transcript, goal: Goal
) -> tuple[Request, Transcript]:
    """A finding for each tool that is sent under another name, also one that only calls name.

    The names of the transcript are those tools then. One that the provider runs has no other name.
    """
    if not transcript.names:
        return request, transcript
    places = {
        tool.name: f"tools[{at}]" for at, tool in enumerate(request.tools) if tool.kind != "server"
    }
    for at, entry in enumerate(request.conversation.entries):
        for position, block in enumerate(entry.blocks if isinstance(entry, Message) else ()):
            if isinstance(block, ToolCall) and block.kind != "server":
                places.setdefault(block.name, in_words((at, position)))
    names = {wire: own for wire, own in transcript.names.items() if own in places}
    goal.findings += (
        Finding(
            "tool_renamed",
            places[own],
            Action.CHANGED,
            f"The tool {own!r} is sent as {wire!r}: the target does not take its own name.",
            Fault.PROJECTION,
        )
        for wire, own in names.items()
    )
    return request, replace(transcript, names=names)


def _without_own_words(native: Native, target: Target) -> Native | None:
    """Native fields without those that say in the words of their format what the tool says in
    canonical ones (Gemini's `parameters`): for others nothing is lost with them."""
    if native.format == target.format:
        return native
    rest = {name: field for name, field in native.fields.items() if name not in _TOOL_FIELDS}
    return Native(native.format, rest) if rest else None


def can_be_offered(tool: Tool, target: Target) -> bool:
    """Tools a provider runs on its side exist in its own format only, and not at every host."""
    if tool.kind != "server":
        return True
    if tool.name in target.unreplayed:
        return False
    return tool.native is not None and tool.native.format == target.format


def called_names(request: Request) -> list[str]:
    return list(
        dict.fromkeys(
            call.name
            for message in request.conversation.messages
            for call in message.calls
            if call.kind != "server"
        )
    )
