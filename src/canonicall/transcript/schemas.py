"""The schemas of tools, as one target takes them.

In: tools. Out: the same tools where the target takes their schemas; others with a schema it takes,
and a finding for each kind of change. A strict tool stays strict where strict mode can say its
schema exactly; meaning comes first, so elsewhere it is no longer strict.
"""

from functools import lru_cache
from operator import is_
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.errors import UntranslatableSchema
from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.findings import Action, Fault, Finding
from canonicall.plain import plain_json
from canonicall.request import Tool
from canonicall.schema.fitting import fit_schema
from canonicall.schema.losses import Change, Loss
from canonicall.schema.strict import Counts, counted
from canonicall.transcript.policy import Policy

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
