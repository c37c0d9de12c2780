"""The choice among tools, as one target can be told it.

In: a request. Out: the same request with a choice that the encoder of the target only has to write.
What could not be said is met by offering less; every change is a finding.
"""

from msgspec.structs import replace

from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import ChoiceMode, Request, Tool, ToolChoice
from canonicall.transcript.grouping import late_names
from canonicall.transcript.offer import called_names, can_be_offered
from canonicall.transcript.policy import Goal
from canonicall.transcript.thinking import as_asked

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
    lost = ", ".join(name for name in choice.names if name not in offered)
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
    return replace(request, tool_choice=replace(choice, mode="auto"))


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
    if names and mode != "none" and not names_one and target.choice_names != "many":
        # The offer was narrowed where it could be; this was a forced call until now.
        why = "The target cannot be told which tools are allowed."
        goal.findings.append(_weakened(why, "choice_names"))
        return mode, ()
    return mode, names


def _may_call(request: Request, target: Target) -> bool:
    """Whether there are tools: those that are offered, or what the provider keeps may have some."""
    if request.continues is not None and request.continues.fields:
        return True
    return any(can_be_offered(tool, target) for tool in request.tools)


def _weakened(why: str, rule: str = "") -> Finding:
    return Finding("choice_weakened", "tool_choice", Action.CHANGED, why, Fault.RENDER, rule=rule)
