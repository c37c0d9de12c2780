"""`validate_call`: whether a call may be run, and with which arguments.

In: a call as a model made it, and the tools that were offered. Out: the call to run, with arguments
that are clean and that the tool's schema accepts, or a refusal that tells the model what to do.
A call that was cut off is never run, nor is one of which anything is in doubt.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec
from jsonschema_rs import ValidationError
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Text, ToolCall, ToolResult
from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding
from canonicall.guard.budget import CorrectionBudget, Refusal
from canonicall.guard.coercion import coerced
from canonicall.guard.feedback import ToolError, excerpt, message_of, outcome_of, urged
from canonicall.guard.problems import Problems, missing_required, nearest, problems_in
from canonicall.guard.reading import read_arguments
from canonicall.guard.sanitising import (
    LIMITS,
    Limits,
    oversize,
    sanitised,
    sanitised_text,
)
from canonicall.guard.soundness import is_sound
from canonicall.guard.validators import UnusableSchema, errors_in, validator_of
from canonicall.ids import made_call_id
from canonicall.outcome import Outcome
from canonicall.request import Tool
from canonicall.syntax.offered import offered_tools

Tools: TypeAlias = Mapping[str, Tool] | Iterable[Tool | dict[str, Any]]

_NO_PROBLEMS = Problems()


class Validated(Struct, frozen=True, gc=False):
    """What became of a call."""

    call: ToolCall
    """The call to run; where it was refused, the call as it came."""
    findings: tuple[Finding, ...] = ()
    error: ToolError | None = None
    """Why it must not be run; None where it may be."""
    budget: CorrectionBudget | None = None
    """What is left of the budget that was given."""

    @property
    def ok(self) -> bool:
        """Whether the call may be run."""
        return self.error is None

    @property
    def outcome(self) -> Outcome | None:
        """How the call ended, where it was refused: `truncated` or `invalid`."""
        return None if self.error is None else outcome_of(self.error.refusal)

    @property
    def result(self) -> ToolResult | None:
        """The result that tells the model why its call was refused; None where it was not."""
        if self.error is None:
            return None
        return ToolResult(
            call_id=self.call.id,
            content=(Text(text=self.error.text),),
            error=True,
            is_complete=True,
            outcome=self.outcome,
            name=self.call.name,
        )


def validate_call(
    call: ToolCall,
    tools: Tools,
    *,
    index: int = 0,
    limits: Limits = LIMITS,
    budget: CorrectionBudget | None = None,
) -> Validated:
    """Check one call before it is run.

    Tools that are offered in every turn are best given as a mapping by name. With a budget, the
    refusal says how many attempts are left, and `budget` of what comes back is the one to go on
    with. A call without an id gets one, made of its name, its arguments and `index`, its position
    among the calls of its turn.
    """
    if call.id or call.kind == "server":
        return examined(call, tools, limits=limits, budget=budget)
    named = replace(call, id=made_call_id(call.name, _spelled(call), index))
    checked = examined(named, tools, limits=limits, budget=budget)
    why = f"The call of {call.name or 'no tool'} has no id; it gets {named.id}."
    made = Finding("missing_call_id", "id", Action.ADDED, why, Fault.NONE)
    return replace(checked, findings=(made, *checked.findings))


def _spelled(call: ToolCall) -> str:
    """The arguments as text for an id; values that are not JSON have no part in it."""
    if call.raw is not None:
        return call.raw
    try:
        return msgspec.json.encode(call.args, order="deterministic").decode()
    except (TypeError, ValueError, RecursionError):
        return ""


def examined(
    call: ToolCall,
    tools: Tools,
    *,
    limits: Limits = LIMITS,
    budget: CorrectionBudget | None = None,
) -> Validated:
    """What `validate_call` says of a call, which keeps the id that it has."""
    tool = tools.get(call.name) if type(tools) is dict else None
    if tool is None:
        tools = tools if isinstance(tools, (Mapping, tuple, list)) else tuple(tools)
        tool = _found(call.name, tools)
    if (
        tool is not None
        and call.kind == "function"
        and not call.truncated
        and is_sound(call.args, tool.parameters, limits)
    ):
        return Validated(call) if budget is None else _restored(call, budget)
    return _Examination(call, tool, tools, limits, budget).validated()


def _restored(call: ToolCall, budget: CorrectionBudget) -> Validated:
    return Validated(call, budget=budget.restore(call.name))


def _found(name: str, tools: Tools) -> Tool | None:
    if isinstance(tools, Mapping):
        return tools.get(name)
    for one in tools:
        if not isinstance(one, Tool):
            return offered_tools(tools).get(name)
        if one.name == name:
            return one
    return None


class _Examination:
    """One call that is not known to be sound at a glance."""

    def __init__(
        self,
        call: ToolCall,
        tool: Tool | None,
        tools: Tools,
        limits: Limits,
        budget: CorrectionBudget | None,
    ) -> None:
        self._call = call
        self._tool = tool
        self._tools = tools
        self._limits = limits
        self._budget = budget
        self._findings: list[Finding] = []
        self._schema: dict[str, Any] = (tool.parameters if tool else None) or {}

    def validated(self) -> Validated:
        call = self._call
        if call.kind == "server":
            # Its provider runs it.
            return Validated(call, budget=self._budget)
        if call.truncated:
            return self._refused(Refusal.TRUNCATED, "call_truncated")
        if self._tool is None:
            return self._refused(Refusal.UNKNOWN_TOOL, "tool_not_offered", self._no_such_tool())
        if len(call.raw or "") > self._limits.max_bytes:
            why = f"they are larger than {self._limits.max_bytes:,} bytes"
            return self._refused(Refusal.TOO_LARGE, "arguments_too_large", why)
        return self._with_text() if call.kind == "custom" else self._with_arguments()

    def _with_text(self) -> Validated:
        """A call whose input is free text."""
        call = self._call
        text, findings = sanitised_text(call.raw or "", "raw")
        self._findings += findings
        return self._accepted(replace(call, raw=text) if findings else call)

    def _with_arguments(self) -> Validated:
        args = self._call.args
        if args is None:
            read = read_arguments(self._call.raw, self._schema)
            self._findings += read.findings
            if read.is_cut:
                return self._refused(Refusal.TRUNCATED, "call_truncated")
            if read.args is None:
                return self._refused(Refusal.UNREADABLE, "arguments_unparsed", read.why)
            args = read.args
        try:
            clean, findings = sanitised(args)
        except InvalidValue as error:
            return self._refused(Refusal.UNREADABLE, "arguments_unparsed", str(error).rstrip("."))
        self._findings += findings
        too_large = oversize(clean, self._limits)
        if too_large:
            return self._refused(Refusal.TOO_LARGE, "arguments_too_large", too_large)
        return self._checked(clean)

    def _checked(self, args: dict[str, Any]) -> Validated:
        """The call with these arguments, if the schema accepts them, as they are or coerced."""
        try:
            validator = validator_of(self._schema)
        except UnusableSchema as error:
            return self._unchecked(args, str(error))
        errors = [] if validator.is_valid(args) else errors_in(args, validator)
        if errors:
            args, findings, errors = coerced(args, errors, validator)
            if errors:
                return self._invalid(args, errors)
            self._findings += findings
        return self._accepted(self._with(args))

    def _unchecked(self, args: dict[str, Any], why: str) -> Validated:
        """The schema says nothing that could be checked, but for the arguments it requires."""
        told = f"Calls of {self._call.name} cannot be checked against its schema: {why}"
        self._findings.append(
            Finding("schema_unusable", "tool.parameters", Action.KEPT, told, Fault.INPUT)
        )
        problems = missing_required(args, self._schema)
        if problems.missing:
            return self._refused(Refusal.INVALID, "arguments_invalid", problems=problems)
        return self._accepted(self._with(args))

    def _invalid(self, args: dict[str, Any], errors: list[ValidationError]) -> Validated:
        problems = problems_in(args, errors, self._schema)
        return self._refused(Refusal.INVALID, "arguments_invalid", problems=problems)

    def _with(self, args: dict[str, Any]) -> ToolCall:
        """The call with these arguments. A text that says something else would contradict them."""
        call = self._call
        if any(finding.action is not Action.KEPT for finding in self._findings):
            return replace(call, args=args, raw=None)
        return replace(call, args=args) if call.args is None else call

    def _accepted(self, call: ToolCall) -> Validated:
        budget = self._budget and self._budget.restore(call.name)
        return Validated(call, tuple(self._findings), budget=budget)

    def _refused(
        self, refusal: Refusal, code: str, detail: str = "", problems: Problems = _NO_PROBLEMS
    ) -> Validated:
        name = self._call.name
        message = message_of(refusal, detail, problems)
        self._findings.append(Finding(code, "args", Action.REFUSED, message, Fault.INPUT))
        budget = self._budget and self._budget.spend(name, refusal)
        left = None if budget is None else budget.left(name, refusal)
        refusals = 1 if budget is None else budget.refusals(name, refusal)
        is_about_schema = refusal in (Refusal.INVALID, Refusal.UNREADABLE) and self._schema
        error = ToolError(
            name,
            refusal,
            urged(message, name, refusal, left, refusals),
            problems.missing,
            problems.wrong,
            problems.unknown,
            excerpt(self._schema, problems.names, whole=refusals > 1) if is_about_schema else None,
            left,
        )
        return Validated(self._call, tuple(self._findings), error, budget)

    def _no_such_tool(self) -> str:
        name = self._call.name
        tools = self._tools
        known = list(tools if isinstance(tools, Mapping) else offered_tools(tools))
        if not name:
            return "it names no tool."
        close = nearest(name, known)
        hint = f"Did you mean {close}?" if close else f"There are: {', '.join(known[:20])}."
        return f"no tool is called {name[:100]}. {hint if known else 'There are no tools.'}"
