"""The offer: the tools and the choice of a request, as one target can express them.

In: a request. Out: the same request with tools the target can be given and a choice it can be told;
what could not be said is met by offering less, and every change is a finding.
"""

from operator import is_

from msgspec.structs import replace

from canonicall.blocks import Message, Native, ToolCall
from canonicall.facts.target import Target, field_tree
from canonicall.findings import Action, Fault, Finding, in_words
from canonicall.request import Reasoning, Request, Tool, ToolChoice
from canonicall.transcript.fields import kept_fields, takes_unknown
from canonicall.transcript.output import used_by_output
from canonicall.transcript.policy import DEFAULT, Policy
from canonicall.transcript.schemas import fitted_tools
from canonicall.transcript.turns import Transcript

_NO_LONGER = "Not available any more."
_ADDED = "param_added", Action.ADDED, Fault.NONE
_CHANGED = "param_changed", Action.CHANGED, Fault.RENDER
_TOOL_FIELDS = frozenset(Tool.__struct_fields__)


def fitted_offer(
    request: Request, target: Target, *, policy: Policy = DEFAULT
) -> tuple[Request, list[Finding]]:
    """`request` with an offer that fits `target`."""
    findings: list[Finding] = []
    request = _known_choice(_once(request, findings), target, findings)
    for fit in _FITS:
        request = fit(request, target, findings)
    used = used_by_output(request, target)
    tools, about_schemas = fitted_tools(request.tools, target.schemas, policy, used)
    if tools is not request.tools:
        request = replace(request, tools=tools)
    return request, [*findings, *about_schemas]


def within_cache_marks(
    request: Request, transcript: Transcript, target: Target
) -> tuple[Request, list[Finding]]:
    """`request` whose tools carry no more cache marks than the messages leave free."""
    marked = [index for index, tool in enumerate(request.tools) if tool.cache is not None]
    if not marked:
        return request, []
    free = max(target.cache_marks - transcript.cache_marks, 0) if target.marked_tools else 0
    surplus = marked[: max(len(marked) - free, 0)]
    if not surplus:
        return request, []
    many = f"{target.cache_marks} cache marks" if target.marked_tools else "no cache marks on tools"
    why = f"The target takes {many}; those of tools were left out."
    finding = Finding(
        "cache_mark_dropped",
        "tools",
        Action.DROPPED,
        why,
        Fault.RENDER,
        rule="cache_marks" if target.marked_tools else "marked_tools",
    )
    tools = tuple(
        replace(tool, cache=None) if index <= surplus[-1] and tool.cache is not None else tool
        for index, tool in enumerate(request.tools)
    )
    return replace(request, tools=tools), [finding]


def renamed_tools(request: Request, transcript: Transcript) -> tuple[Transcript, list[Finding]]:
    """A finding for each tool that is sent under another name, also one that only calls name.

    The names of the transcript are those tools then. One that the provider runs has no other name.
    """
    if not transcript.names:
        return transcript, []
    places = {
        tool.name: f"tools[{at}]" for at, tool in enumerate(request.tools) if tool.kind != "server"
    }
    for at, entry in enumerate(request.conversation.entries):
        for position, block in enumerate(entry.blocks if isinstance(entry, Message) else ()):
            if isinstance(block, ToolCall) and block.kind != "server":
                places.setdefault(block.name, in_words((at, position)))
    names = {wire: own for wire, own in transcript.names.items() if own in places}
    findings = [
        Finding(
            "tool_renamed",
            places[own],
            Action.CHANGED,
            f"The tool {own!r} is sent as {wire!r}: the target does not take its own name.",
            Fault.PROJECTION,
        )
        for wire, own in names.items()
    ]
    return replace(transcript, names=names), findings


def _once(request: Request, findings: list[Finding]) -> Request:
    """Of tools that have one name, the first: all providers refuse the others."""
    seen: set[str] = set()
    tools = []
    for index, tool in enumerate(request.tools):
        if tool.kind != "server" and tool.name in seen:
            why = f"Another tool is called {tool.name} already; the first counts."
            told = Finding("tool_dropped", f"tools[{index}]", Action.DROPPED, why, Fault.RENDER)
            findings.append(told)
            continue
        seen.add(tool.name if tool.kind != "server" else "")
        tools.append(tool)
    return request if len(tools) == len(request.tools) else replace(request, tools=tuple(tools))


def _unmixed(request: Request, target: Target, findings: list[Finding]) -> Request:
    """Functions without the tools that the provider runs, where it takes only one of both."""
    if target.mixed_tools or all(tool.kind == "server" for tool in request.tools):
        return request
    tools = []
    for index, tool in enumerate(request.tools):
        if tool.kind == "server" and _can_be_offered(tool, target):
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


def _known_choice(request: Request, target: Target, findings: list[Finding]) -> Request:
    """No choice of a tool that is not offered. A group may bring more of them, and so may the state
    that a provider keeps."""
    choice = request.tool_choice
    stored = request.continues.fields if request.continues is not None else {}
    may_be_kept = bool(stored) and not request.tools
    if choice is None or not choice.names or may_be_kept:
        return request
    offers = [tool for tool in request.tools if _can_be_offered(tool, target)]
    if any(tool.members for tool in offers):
        return request
    offered = {one.name for one in offers if one.name and _has_name(one, target)}
    names = tuple(name for name in choice.names if name in offered)
    if names == choice.names:
        return request
    lost = ", ".join(name for name in choice.names if name not in offered)
    why = f"There is no tool that is called {lost}."
    findings.append(Finding("choice_weakened", "tool_choice", Action.CHANGED, why, Fault.RENDER))
    known = replace(choice, names=names, mode=choice.mode if names else "auto")
    return replace(request, tool_choice=known)


def _has_name(tool: Tool, target: Target) -> bool:
    """Whether a tool is chosen by its name. One of the provider's is where its definition has it;
    where calls are items, or beside the content, it is chosen by its type, or not at all."""
    if tool.kind != "server":
        return True
    is_said = tool.native is not None and "name" in tool.native.fields
    return is_said and target.results not in ("items", "tool_messages")


def _narrowed(request: Request, target: Target, findings: list[Finding]) -> Request:
    """A list of allowed tools the target cannot be told becomes the list of tools."""
    choice = request.tool_choice
    if choice is None or not choice.names or target.choice_names == "many":
        return request
    one_forced = len(choice.names) == 1 and choice.mode == "required"
    if target.choice_names == "one" and one_forced:
        return request
    tools = tuple(tool for tool in request.tools if tool.name in choice.names)
    why = "The target cannot be told which tools are allowed; only those are offered."
    findings.append(
        Finding(
            "choice_weakened", "tool_choice", Action.CHANGED, why, Fault.RENDER, rule="choice_names"
        )
    )
    return replace(request, tools=tools, tool_choice=replace(choice, names=()))


def _without_tools(request: Request, target: Target, findings: list[Finding]) -> Request:
    """Where "none" cannot be said, no tool is offered, unless the history demands tools."""
    choice = request.tool_choice
    if choice is None or choice.mode != "none" or "none" in target.choice_modes:
        return request
    if not request.tools or (target.tools_with_history and _called_names(request)):
        return request
    why = "The target cannot be told to call no tool, so none is offered."
    findings.append(
        Finding(
            "choice_weakened", "tool_choice", Action.CHANGED, why, Fault.RENDER, rule="choice_modes"
        )
    )
    return replace(request, tools=(), tool_choice=None)


def _with_stubs(request: Request, target: Target, findings: list[Finding]) -> Request:
    """A declaration for every tool of the history, where the target demands one.

    "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    (Bedrock); other providers answer alike.
    """
    if not target.tools_with_history or request.continues is not None:
        return request
    offered = any(_can_be_offered(tool, target) for tool in request.tools)
    names = () if offered else _called_names(request)
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


def _unforced(request: Request, target: Target, findings: list[Finding]) -> Request:
    """No forced call where the model thinks and the target refuses both together.

    "Thinking may not be enabled when tool_choice forces tool use." (Anthropic); "Thinking mode
    does not support this tool_choice" (DeepSeek).
    """
    choice, reasoning = request.tool_choice, request.params.reasoning
    if choice is None or choice.mode != "required" or target.forced_choice_with_reasoning:
        return request
    asked = reasoning is not None and bool(reasoning.enabled or reasoning.budget)
    refused = reasoning is not None and (reasoning.enabled is False or reasoning.effort == "none")
    refused = refused and not _always_thinks(target)
    thinks = target.thinks and target.reasoning_placeholder is not None
    if refused or not (asked or thinks):
        return request
    why = "The target does not force a call while the model thinks; it may choose."
    findings.append(
        Finding(
            "choice_weakened",
            "tool_choice",
            Action.CHANGED,
            why,
            Fault.RENDER,
            rule="forced_choice_with_reasoning",
        )
    )
    return replace(request, tool_choice=replace(choice, mode="auto"))


def _unmarked(request: Request, target: Target, findings: list[Finding]) -> Request:
    """Tools that are not strict, where the mark is refused, or says nothing: only a function has a
    schema that it could be held to."""
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


def _unreasoned(request: Request, target: Target, findings: list[Finding]) -> Request:
    """A model that takes tools only while it does not reason is told not to: else it would."""
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


def _always_thinks(target: Target) -> bool:
    """Whether a wish not to think is refused, and so not sent."""
    return any(
        one.field == "thinking.type" and not one.beside and one.values in ((), ("disabled",))
        for one in target.refusals
    )


def _known_fields_only(request: Request, target: Target, findings: list[Finding]) -> Request:
    """The request and its tools without native fields that are not for this target."""
    is_own = request.domain == target.domain if request.domain else None
    native = request.native
    if native is not None and native.format == target.format:
        native = kept_fields(
            native, "request", target, is_own=is_own, where="request", findings=findings
        )
    spelled = request.spelled
    if spelled is not None and not takes_unknown("request", target, is_own=is_own):
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


def _without_own_words(native: Native, target: Target) -> Native | None:
    """Native fields without those that say in the words of their format what the tool says in
    canonical ones (Gemini's `parameters`): for others nothing is lost with them."""
    if native.format == target.format:
        return native
    rest = {name: field for name, field in native.fields.items() if name not in _TOOL_FIELDS}
    return Native(native.format, rest) if rest else None


def _can_be_offered(tool: Tool, target: Target) -> bool:
    """Tools a provider runs on its side exist in its own format only, and not at every host."""
    if tool.kind != "server":
        return True
    if tool.name in target.unreplayed:
        return False
    return tool.native is not None and tool.native.format == target.format


def _called_names(request: Request) -> list[str]:
    return list(
        dict.fromkeys(
            call.name
            for message in request.conversation.messages
            for call in message.calls
            if call.kind != "server"
        )
    )


_FITS = (
    *(_unmixed, _narrowed, _without_tools, _known_fields_only, _with_stubs, _unforced),
    *(_unmarked, _unreasoned),
)
"""The steps that make an offer fit, in their order."""
