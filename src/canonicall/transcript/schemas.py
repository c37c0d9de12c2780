"""The schemas of a request, those of its tools and that of the reply, as one target takes them.

In: a request. Out: the same request where the target takes its schemas; otherwise with schemas it
takes, and a finding for each kind of change. A strict tool stays strict where strict mode can say
its schema exactly; meaning comes first, so elsewhere it is no longer strict. Where the target knows
no schema of the reply it is asked for any JSON object, or for none. The fields a format has for
that are chosen in `wire/<format>/output_format.py`.
"""

from functools import lru_cache
from operator import is_
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Media, Message, Text, ToolCall
from canonicall.errors import UntranslatableSchema
from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.plain import plain_json
from canonicall.request import OutputFormat, Request, Tool
from canonicall.schema.fitting import fit_schema
from canonicall.schema.losses import Change, Loss
from canonicall.schema.strict import Counts, counted
from canonicall.transcript.policy import Goal, Policy

_NOTHING = Counts()


class _Told(Struct, frozen=True):
    """Losses that say the same, as one finding tells them."""

    change: Change
    what: str
    place: str
    """Where the first of them is, to be put after the place of the schema."""
    why: str


class Made(Struct, frozen=True):
    """A schema as a rule takes it."""

    schema: dict[str, Any]
    changes: tuple[_Told, ...]
    counts: Counts
    """What limits of strict mode count in it."""


class _Known(Struct, frozen=True):
    """A schema that was fitted before: written, so that nobody can change it."""

    data: bytes | None
    """None where it fits as it is."""
    changes: tuple[_Told, ...]
    counts: Counts


_STRICT_TOOLS = "strict tools in a request"
_PLACE = "params.output"
_SCHEMA = f"{_PLACE}.schema"
_ANY_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


def fitted_schemas(request: Request, goal: Goal) -> Request:
    """`request` with tools whose schemas the target takes."""
    used = _used_by_output(request, goal.target)
    tools, findings = fitted_tools(request.tools, goal.target.schemas, goal.policy, used)
    goal.findings += findings
    return request if tools is request.tools else replace(request, tools=tools)


def fitted_tools(
    tools: tuple[Tool, ...], rule: SchemaRule, policy: Policy, used: Counts = _NOTHING
) -> tuple[tuple[Tool, ...], list[Finding]]:
    """`tools` with schemas that `rule` takes; the same tuple where nothing changes.

    `used`: what of the limits of strict mode the request has used up already.
    """
    findings: list[Finding] = []
    strict_tools = 0
    fitted: list[Tool] = []
    for index, tool in enumerate(tools):
        if tool.kind != "function":
            fitted.append(tool)
            continue
        if tool.parameters is None:
            if tool.strict and rule.strict is not None:
                lost = _too_many(strict_tools + 1, rule.strict.max_tools, _STRICT_TOOLS)
                strict_tools += not lost
                tool = _unstrict(tool, lost, index, policy, findings) if lost else tool  # noqa: PLW2901
            fitted.append(_with_none(tool, index, rule, findings))
            continue
        if tool.strict and rule.strict is not None:
            held = _fitted(tool, index, rule, strict=True)
            counts = held.counts
            sums = replace(
                counts,
                optional=used.optional + counts.optional,
                unions=used.unions + counts.unions,
                fields=used.fields + counts.properties,
                optional_each=counts.optional,
            )
            lost = why_not_strict(held, rule.strict, sums, strict_tools, policy)
            if not lost:
                used, strict_tools = sums, strict_tools + 1
                fitted.append(_with_schema(tool, held, index, policy, findings))
                continue
            tool = _unstrict(tool, lost, index, policy, findings)  # noqa: PLW2901
        plain = _fitted(tool, index, rule, strict=False)
        fitted.append(_with_schema(tool, plain, index, policy, findings))
    return (tools if all(map(is_, fitted, tools)) else tuple(fitted)), findings


def _fitted(tool: Tool, index: int, rule: SchemaRule, *, strict: bool) -> Made:
    return fit(tool.parameters or {}, f"tools[{index}].parameters", rule, strict=strict)


def _with_none(tool: Tool, index: int, rule: SchemaRule, findings: list[Finding]) -> Tool:
    """A tool without a schema; a strict one says that it has no parameters, in a closed object."""
    if not tool.strict or rule.strict is None or not rule.strict.closed:
        return tool
    findings.append(
        Finding(
            "schema_reworded",
            f"tools[{index}].parameters",
            Action.CHANGED,
            "A strict tool without parameters has to say that it has none.",
            Fault.RENDER,
            rule="schemas",
        )
    )
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return replace(tool, parameters=closed)


def _with_schema(
    tool: Tool, made: Made, index: int, policy: Policy, findings: list[Finding]
) -> Tool:
    if made.schema is tool.parameters:
        return tool
    findings += told_changes(made, f"tools[{index}].parameters", tool.name, policy)
    return replace(tool, parameters=made.schema)


def told_changes(
    made: Made, where: str, name: str, policy: Policy, rule: str = "schemas"
) -> list[Finding]:
    """A finding for each kind of change to the schema at `where`; `name`: whose it is."""
    findings: list[Finding] = []
    for told in made.changes:
        place = where + told.place
        if policy.schemas == "refuse" and told.change != "reworded":
            raise UntranslatableSchema(told.what, tool=name, where=place)
        findings.append(
            Finding(_code_of(told.change), place, Action.CHANGED, told.why, Fault.RENDER, rule=rule)
        )
    return findings


def _code_of(change: Change) -> str:
    match change:
        case "weakened":
            return "schema_weakened"
        case "narrowed":
            return "schema_narrowed"
        case "reworded":
            return "schema_reworded"


def why_not_strict(made: Made, rule: StrictRule, sums: Counts, tools: int, policy: Policy) -> str:
    """Why a schema cannot be strict here, behind so many strict tools; "" where it can."""
    inexact = [told for told in made.changes if told.change != "reworded"]
    if inexact and policy.strict_tools == "exact":
        return inexact[0].what
    required = made.schema.get("required")
    is_some = isinstance(required, list) and any(isinstance(name, str) for name in required)
    if rule.some_required and made.schema.get("properties") and not is_some:
        return "At least one parameter has to be required."
    if rule.plain_values and sums.structured:
        return "Listed values may not be objects or lists."
    limits = (
        (tools + 1, rule.max_tools, _STRICT_TOOLS),
        (sums.optional, rule.max_optional, "optional parameters in strict tools"),
        (sums.optional_each, rule.max_optional_each, "optional parameters in a strict schema"),
        (sums.unions, rule.max_unions, "parameters of several types in strict tools"),
        (sums.properties, rule.max_properties, "properties in a strict schema"),
        (sums.values, rule.max_values, "listed values in a strict schema"),
        (sums.characters, rule.max_characters, "characters of names and values in a strict schema"),
        (sums.fields, rule.max_fields, "properties in all strict tools"),
    )
    return next(filter(None, (_too_many(*one) for one in limits)), "")


def _too_many(count: int, limit: int, what: str) -> str:
    return f"There may be {limit} {what}." if limit and count > limit else ""


def _unstrict(tool: Tool, lost: str, index: int, policy: Policy, findings: list[Finding]) -> Tool:
    where = f"tools[{index}].strict"
    if policy.schemas == "refuse":
        raise UntranslatableSchema(lost, tool=tool.name, where=where)
    why = f"Strict mode cannot say the schema of {tool.name}, so it is not strict. {lost}"
    findings.append(
        Finding("strict_dropped", where, Action.CHANGED, why, Fault.RENDER, rule="schemas")
    )
    return replace(tool, strict=False)


def fit(schema: dict[str, Any], where: str, rule: SchemaRule, *, strict: bool) -> Made:
    """A schema as `rule` takes it."""
    try:
        known = _known(msgspec.json.encode(schema), rule, strict)
    except (TypeError, ValueError, RecursionError):
        # No JSON, or deeper than anybody reads it: an error with the place. One that contains
        # itself is cut where it does.
        plain, findings = plain_json(schema, where)
        fitted = fit_schema(plain, rule, strict=strict)
        cut = tuple(Loss("weakened", None, one.why) for one in findings)
        return Made(fitted.schema, _told((*cut, *fitted.losses)), counted(fitted.schema))
    made = schema if known.data is None else msgspec.json.decode(known.data)
    return Made(made, known.changes, known.counts)


@lru_cache(maxsize=2048)
def _known(data: bytes, rule: SchemaRule, strict: bool) -> _Known:
    """What fitting the schema that was written as `data` gives."""
    schema: dict[str, Any] = msgspec.json.decode(data)
    fitted = fit_schema(schema, rule, strict=strict)
    counts = counted(fitted.schema) if strict else Counts()
    if fitted.schema is schema:
        return _Known(None, (), counts)
    return _Known(msgspec.json.encode(fitted.schema), _told(fitted.losses), counts)


def _told(losses: tuple[Loss, ...]) -> tuple[_Told, ...]:
    """The losses with those that say the same told once, at the place of the first."""
    alike: dict[tuple[Change, str], list[Loss]] = {}
    for loss in losses:
        alike.setdefault((loss.change, loss.what), []).append(loss)
    told = []
    for (change, what), those in alike.items():
        pointer = those[0].pointer
        others = len(those) - 1
        why = f"{what} So in {others} other place{'s'[: others - 1]} as well." if others else what
        told.append(_Told(change, what, f"#{pointer}" if pointer else "", why))
    return tuple(told)


def fitted_output(request: Request, goal: Goal) -> Request:
    """`request` with a format of the reply that the target can be asked for."""
    asked = request.params.output
    if asked is None:
        return request
    target, policy, findings = goal.target, goal.policy, goal.findings
    given = asked
    if asked.schema is not None and "schema" not in target.output_modes:
        asked = _as_any_object(asked, target, policy, findings)
    if asked is not None and asked.schema is None:
        asked = _any_object(asked, request, target, findings)
    if asked is not None and asked.schema is not None:
        asked = _by_schema(asked, asked.schema, target, policy, findings)
    if asked is given:
        return request
    return replace(request, params=replace(request.params, output=asked))


def _used_by_output(request: Request, target: Target) -> Counts:
    """What a fitted format of the reply uses up of the limits that strict tools have as well."""
    asked = request.params.output
    if asked is None or asked.schema is None or not _is_held(asked, target):
        return _NOTHING
    return counted(asked.schema)


def _rule(target: Target) -> SchemaRule:
    return target.output_schemas or target.schemas


def _rule_name(target: Target) -> str:
    return "schemas" if target.output_schemas is None else "output_schemas"


def _is_held(asked: OutputFormat, target: Target) -> bool:
    """Whether the rules of strict mode hold for the schema."""
    is_asked = bool(asked.strict) and target.output_strict == "flag"
    return _rule(target).strict is not None and (is_asked or target.output_strict == "always")


def _as_any_object(
    asked: OutputFormat, target: Target, policy: Policy, findings: list[Finding]
) -> OutputFormat | None:
    """Without the schema, where the target knows none."""
    if "object" not in target.output_modes or not _may_be_object(asked.schema or {}):
        why = "The target cannot be told what form a reply has to have."
        findings.append(_dropped(why, "output_modes"))
        return None
    why = "The target can be asked for a JSON object, but not for one that fits a schema."
    _may_be_lossy(policy, why, _SCHEMA, asked)
    findings.append(
        Finding("schema_weakened", _SCHEMA, Action.CHANGED, why, Fault.RENDER, rule="output_modes")
    )
    return OutputFormat()


def _any_object(
    asked: OutputFormat, request: Request, target: Target, findings: list[Finding]
) -> OutputFormat | None:
    """Any JSON object: as such, or by a schema that says no more, which asks for no word."""
    word = target.output_word
    is_known = "object" in target.output_modes
    # What the provider keeps may have the word.
    may_be_said = request.continues is not None or _is_said(word, request, target)
    if is_known and (not word or may_be_said):
        return asked
    if "schema" in target.output_modes and target.output_strict != "always":
        why = "That the reply is a JSON object is said by a schema that allows any."
        rule = "output_word" if is_known else "output_modes"
        told = Finding("schema_reworded", _SCHEMA, Action.CHANGED, why, Fault.RENDER, rule=rule)
        findings.append(told)
        return replace(asked, schema=_ANY_OBJECT, strict=None)
    why = "The target cannot be asked for just any JSON object."
    if is_known:
        why = f"The target gives JSON objects only where a message says the word {word!r}."
    findings.append(_dropped(why, "output_word" if is_known else "output_modes"))
    return None


def _by_schema(
    asked: OutputFormat,
    schema: dict[str, Any],
    target: Target,
    policy: Policy,
    findings: list[Finding],
) -> OutputFormat | None:
    """With a schema that the target takes, strict where it is strict and can say it exactly."""
    rule = _rule(target)
    if rule.object_root and not _may_be_object(schema):
        why = "A reply that has a schema is an object here; this one is not."
        findings.append(_dropped(why, _rule_name(target)))
        return None
    if _is_held(asked, target) and rule.strict is not None:
        is_always = target.output_strict == "always"
        held = fit(schema, _SCHEMA, rule, strict=True)
        wanted = replace(policy, strict_tools="made") if is_always else policy
        lost = why_not_strict(held, _of_replies(rule.strict), _alone(held.counts), 0, wanted)
        if not lost:
            findings += told_changes(held, _SCHEMA, asked.name, policy, _rule_name(target))
            return asked if held.schema is schema else replace(asked, schema=held.schema)
        if is_always:
            why = f"The target cannot say the schema of the reply. {lost}"
            findings.append(_dropped(why, _rule_name(target)))
            return None
        why = f"Strict mode cannot say the schema of the reply, so it is not strict. {lost}"
        where = f"{_PLACE}.strict"
        _may_be_lossy(policy, why, where, asked)
        findings.append(
            Finding(
                "strict_dropped", where, Action.CHANGED, why, Fault.RENDER, rule=_rule_name(target)
            )
        )
        asked = replace(asked, strict=False)
    plain = fit(schema, _SCHEMA, rule, strict=False)
    findings += told_changes(plain, _SCHEMA, asked.name, policy, _rule_name(target))
    return asked if plain.schema is schema else replace(asked, schema=plain.schema)


def _may_be_lossy(policy: Policy, what: str, where: str, asked: OutputFormat) -> None:
    """An error where the policy refuses a schema that cannot be said."""
    if policy.schemas == "refuse":
        raise UntranslatableSchema(what, tool=asked.name, where=where)


def _of_replies(rule: StrictRule) -> StrictRule:
    """The limits of strict mode without those that count tools."""
    return replace(rule, max_tools=0, max_fields=0)


def _alone(counts: Counts) -> Counts:
    return replace(counts, optional_each=counts.optional)


def _may_be_object(schema: dict[str, Any]) -> bool:
    """Whether a value that fits may be an object, for all that the root says of its type."""
    kind = schema.get("type", "object")
    kinds = kind if isinstance(kind, list) else [kind]
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    may_be_listed = not isinstance(values, list) or any(isinstance(one, dict) for one in values)
    return "object" in kinds and may_be_listed


def _is_said(word: str, request: Request, target: Target) -> bool:
    """Whether a message holds the word. The first instructions, where they go to the top, are no
    message; what precedes them may not be sent."""
    is_first = target.system == "top"
    for message in request.conversation.messages:
        is_apart = is_first and message.role == "system"
        if not is_apart and word in message.text.lower():
            return True
        is_first = is_first and not _is_surely_sent(message)
    return False


def _is_surely_sent(message: Message) -> bool:
    return any(
        isinstance(block, Media)
        or (isinstance(block, Text) and bool(block.text.strip()))
        or (isinstance(block, ToolCall) and block.kind != "server")
        for block in message.blocks
    )


def _dropped(why: str, rule: str) -> Finding:
    return Finding("param_dropped", _PLACE, Action.DROPPED, why, Fault.RENDER, rule=rule)
