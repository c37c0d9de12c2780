"""The offer: the tools of a request and the choice among them, as one target can be told.

In: a request. Out: the same request with tools that the target takes, and with a choice that its
encoder only has to write. What could not be said is met by offering less; every change is a
finding.
"""

from operator import is_

from msgspec.structs import replace

from canonicall.blocks import Entry, Message, Native, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.facts.target import Target, field_tree
from canonicall.findings import Action, Fault, Finding, in_words
from canonicall.request import ChoiceMode, Reasoning, Request, Tool, ToolChoice
from canonicall.transcript.fields import kept_fields, takes_unknown
from canonicall.transcript.grouping import (
    NAMESPACE,
    OF_SEARCHES,
    alone,
    group_of,
    late_names,
    members_of,
)
from canonicall.transcript.policy import Goal
from canonicall.transcript.thinking import as_asked
from canonicall.transcript.turns import Transcript

_NO_LONGER = "Not available any more."
_ADDED = "param_added", Action.ADDED, Fault.NONE
_CHANGED = "param_changed", Action.CHANGED, Fault.RENDER
_TOOL_FIELDS = frozenset(Tool.__struct_fields__)


def ungrouped(request: Request, goal: Goal) -> Request:
    """`request` without groups that the target does not have: in its tools, and in its calls."""
    if not any(tool.members for tool in request.tools):
        return request
    target = goal.target
    members = members_of(request.tools, target)
    if not members:
        return request
    names = {(one.group, one.name): name for name, one in members.items()}
    entries = [_with_names(entry, names) for entry in request.conversation.entries]
    if any(new is not old for new, old in zip(entries, request.conversation.entries, strict=True)):
        request = replace(request, conversation=Conversation.of(entries))
    named = ", ".join(members)
    why = f"The target has no groups of tools; these stand alone, each for itself: {named}."
    goal.findings.append(Finding("tools_ungrouped", "tools", Action.CHANGED, why, Fault.RENDER))
    return replace(request, tools=alone(request.tools, target))


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
    if call.native is not None and call.native.fields.get("type") in OF_SEARCHES:
        return replace(call, native=None)
    if isinstance(call, ToolResult):
        return call
    group = group_of(call)
    name = names.get((group, call.name))
    if not group or name is None or call.native is None:
        return call
    rest = {field: value for field, value in call.native.fields.items() if field != NAMESPACE}
    return replace(call, name=name, native=Native(call.native.format, rest) if rest else None)


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


_SILENT = ("openai-responses", "gemini", "bedrock")
"""Formats in which nothing is said where a call cannot be required; in others `auto` is."""


def known_choice(request: Request, goal: Goal) -> Request:
    """No choice of a tool that is not offered. A group may bring more of them, and so may the state
    that a provider keeps."""
    target, findings = goal.target, goal.findings
    choice = request.tool_choice
    stored = request.continues.fields if request.continues is not None else {}
    may_be_kept = bool(stored) and not request.tools
    if choice is None or not choice.names or may_be_kept:
        return request
    offers = [tool for tool in request.tools if can_be_offered(tool, target)]
    if any(tool.members for tool in offers):
        return request
    offered = {one.name for one in offers if one.name and _has_name(one, target)}
    names = tuple(name for name in choice.names if name in offered)
    if names == choice.names:
        return request
    lost = ", ".join(name or "(no name)" for name in choice.names if name not in offered)
    why = f"There is no tool that is called {lost}."
    findings.append(_weakened(why))
    known = replace(choice, names=names, mode=choice.mode if names else "auto")
    return replace(request, tool_choice=known)


def _has_name(tool: Tool, target: Target) -> bool:
    """Whether a tool is chosen by its name. One of the provider's is where its definition has it;
    where calls are items, or beside the content, it is chosen by its type, or not at all."""
    if tool.kind != "server":
        return True
    is_said = tool.native is not None and "name" in tool.native.fields
    return is_said and target.results not in ("items", "tool_messages")


def narrowed_offer(request: Request, goal: Goal) -> Request:
    """A list of allowed tools the target cannot be told becomes the list of tools."""
    target, findings = goal.target, goal.findings
    choice = request.tool_choice
    if choice is None or not choice.names or target.choice_names == "many":
        return request
    one_forced = len(choice.names) == 1 and choice.mode == "required"
    if target.choice_names == "one" and one_forced:
        return request
    tools = tuple(tool for tool in request.tools if tool.name in choice.names)
    why = "The target cannot be told which tools are allowed; only those are offered."
    findings.append(_weakened(why, "choice_names"))
    return replace(request, tools=tools, tool_choice=replace(choice, names=()))


def no_tools_for_none(request: Request, goal: Goal) -> Request:
    """Where "none" cannot be said, no tool is offered, unless the history demands tools."""
    target, findings = goal.target, goal.findings
    choice = request.tool_choice
    if choice is None or choice.mode != "none" or "none" in target.choice_modes:
        return request
    if not request.tools or (target.tools_with_history and called_names(request)):
        return request
    why = "The target cannot be told to call no tool, so none is offered."
    findings.append(_weakened(why, "choice_modes"))
    return replace(request, tools=(), tool_choice=None)


def unforced_while_thinking(request: Request, goal: Goal) -> Request:
    """No forced call where the model thinks and the target refuses both together.

    "Thinking may not be enabled when tool_choice forces tool use." (Anthropic); "Thinking mode
    does not support this tool_choice" (DeepSeek).
    """
    target, findings = goal.target, goal.findings
    choice, reasoning = request.tool_choice, request.params.reasoning
    if choice is None or choice.mode != "required" or target.forced_choice_with_reasoning:
        return request
    asked = reasoning is not None and bool(reasoning.enabled or reasoning.budget)
    refused = reasoning is not None and (reasoning.enabled is False or reasoning.effort == "none")
    refused = refused and not _always_thinks(target)
    thinks = as_asked(target, request.params).thinks and target.reasoning_placeholder is not None
    if refused or not (asked or thinks):
        return request
    why = "The target does not force a call while the model thinks; it may choose."
    findings.append(_weakened(why, "forced_choice_with_reasoning"))
    names = choice.names if target.choice_names == "many" else ()
    return replace(request, tool_choice=replace(choice, mode="auto", names=names))


def _always_thinks(target: Target) -> bool:
    """Whether a wish not to think is refused, and so not sent."""
    return any(
        one.field == "thinking.type" and not one.beside and one.values in ((), ("disabled",))
        for one in target.refusals
    )


def sayable_choice(request: Request, goal: Goal) -> Request:
    """The choice that is left, as far as the target has words for it.

    Without tools there is nothing to choose: "'tool_choice' is only allowed when 'tools' are
    specified." (OpenAI; others alike). Only a call that is required is lost with that.
    """
    choice, target, findings = request.tool_choice, goal.target, goal.findings
    if choice is None:
        return request
    if not _may_call(request, target):
        if choice.mode == "required":
            findings.append(_weakened("There is no tool that the model could be made to call."))
        return replace(request, tool_choice=None)
    mode, names = _sayable_mode(choice, request, goal)
    parallel = choice.parallel
    if parallel is not None and not target.parallel_switch:
        if not parallel:
            why = "The target cannot be kept from calling tools in parallel."
            findings.append(_weakened(why, "parallel_switch"))
        parallel = None
    if (mode, names, parallel) == (choice.mode, choice.names, choice.parallel):
        return request
    return replace(request, tool_choice=ToolChoice(mode, names, parallel))


def _sayable_mode(
    choice: ToolChoice, request: Request, goal: Goal
) -> tuple[ChoiceMode | None, tuple[str, ...]]:
    """What of a choice can be said: its mode, and the tools that it names."""
    mode, names, target = choice.mode, choice.names, goal.target
    # A target that takes a name needs no mode for it.
    names_one = mode == "required" and len(names) == 1 and target.choice_names != "no"
    if mode is not None and mode not in target.choice_modes and not names_one:
        if mode == "auto":
            return None, ()  # Without a choice the model may choose.
        why = f"The target has no tool choice {mode!r}."
        goal.findings.append(_weakened(why, "choice_modes"))
        is_said = mode == "required" and target.format not in _SILENT
        return "auto" if is_said and "auto" in target.choice_modes else None, ()
    if names_one and not target.late_choice and names[0] in late_names(request.tools):
        why = "The model cannot be made to call a tool that came later."
        goal.findings.append(_weakened(why, "late_choice"))
        return None, ()
    return mode, names


def _may_call(request: Request, target: Target) -> bool:
    """Whether there are tools: those that are offered, or what the provider keeps may have some."""
    if request.continues is not None and request.continues.fields:
        return True
    return any(can_be_offered(tool, target) for tool in request.tools)


def _weakened(why: str, rule: str = "") -> Finding:
    return Finding("choice_weakened", "tool_choice", Action.CHANGED, why, Fault.RENDER, rule=rule)
