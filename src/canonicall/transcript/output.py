"""The format of the reply, as one target can be asked for it.

In: a request. Out: the same request with a schema that the target takes, with any JSON object
where it knows no schema, or without a format; a finding for each change. The fields a format has
for it are chosen in `wire/<format>/output_format.py`.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Media, Message, Text, ToolCall
from canonicall.errors import UntranslatableSchema
from canonicall.facts.schema_rules import SchemaRule, StrictRule
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import OutputFormat, Request
from canonicall.schema.strict import Counts, counted
from canonicall.transcript.policy import Policy
from canonicall.transcript.schemas import fit, told_changes, why_not_strict

_PLACE = "params.output"
_SCHEMA = f"{_PLACE}.schema"
_NONE = Counts()
_ANY_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


def fitted_output(
    request: Request, target: Target, policy: Policy
) -> tuple[Request, list[Finding]]:
    """`request` with a format of the reply that `target` can be asked for."""
    asked = request.params.output
    if asked is None:
        return request, []
    findings: list[Finding] = []
    given = asked
    if asked.schema is not None and "schema" not in target.output_modes:
        asked = _as_any_object(asked, target, policy, findings)
    if asked is not None and asked.schema is None:
        asked = _any_object(asked, request, target, findings)
    if asked is not None and asked.schema is not None:
        asked = _by_schema(asked, asked.schema, target, policy, findings)
    if asked is given:
        return request, findings
    return replace(request, params=replace(request.params, output=asked)), findings


def used_by_output(request: Request, target: Target) -> Counts:
    """What a fitted format of the reply uses up of the limits that strict tools have as well."""
    asked = request.params.output
    if asked is None or asked.schema is None or not _is_held(asked, target):
        return _NONE
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
