"""What several formats have in common where they ask for a reply of a certain form."""

import re
from typing import Any

from canonicall.facts.target import OutputMode, Target
from canonicall.findings import Action, Fault, Finding
from canonicall.request import OutputFormat
from canonicall.wire.losses import dropped

_DEFAULT_NAME = "reply"
_MOST = 64
_MODES: dict[str, OutputMode] = {"json_object": "object", "json_schema": "schema"}
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]+")

NO_SUCH_FORM = "The target has no such form of a reply."


def decode_named(held: dict[str, Any]) -> OutputFormat | None:
    """A schema with its name, as both of OpenAI's APIs have it."""
    schema, strict = held.get("schema"), held.get("strict")
    name, description = held.get("name") or "", held.get("description") or ""
    is_read = (
        isinstance(schema, dict)
        and isinstance(name, str)
        and isinstance(description, str)
        and isinstance(strict, bool | None)
    )
    return OutputFormat(schema, name, description, strict) if is_read else None


def encode_named(output: OutputFormat, findings: list[Finding]) -> dict[str, Any]:
    """A schema with its name, which has to be there."""
    held: dict[str, Any] = {"name": _wire_name(output, findings)}
    if output.description:
        held["description"] = output.description
    held["schema"] = output.schema
    if output.strict is not None:
        held["strict"] = output.strict
    return held


def is_well_named(held: Any) -> bool:
    """Whether what holds a schema has a name as OpenAI takes it."""
    name = held.get("name") if isinstance(held, dict) else None
    return isinstance(name, str) and 0 < len(name) <= _MOST and not _REFUSED.search(name)


def broken_output(value: Any, held: Any, where: str, findings: list[Finding]) -> bool:
    """Whether a format that could not be read says nothing that a provider could: it is reported.

    It may have a name and no schema, in `held`, or a type that only its host knows.
    """
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind and (kind != "json_schema" or (is_well_named(held) and held.get("schema") is None)):
        return False
    why = "It holds no schema of the reply that could be read."
    findings.append(Finding("param_dropped", where, Action.DROPPED, why, Fault.INPUT))
    return True


def is_refused_output(form: Any, target: Target) -> bool:
    """Whether a format that was not read asks for what the target does not give."""
    kind = form.get("type") if isinstance(form, dict) else "text"
    if kind == "text":
        return False
    mode = _MODES.get(str(kind))
    if mode is None:
        return target.schemas.checked
    # A schema beside it says no word that the target may want.
    needs_word = mode == "object" and bool(target.output_word)
    return needs_word or (target.output_refused and mode not in target.output_modes)


def taken_out(fields: dict[str, Any], name: str, inner: str) -> dict[str, Any]:
    """The object in the field `name` with nothing but `inner`; in `fields` its rest is left."""
    held = fields.pop(name)
    rest = {key: one for key, one in held.items() if key != inner and one is not None}
    if rest:
        fields[name] = rest
    return {name: {inner: held[inner]}}


def unsaid(output: OutputFormat) -> list[Finding]:
    """What is lost where a format has no place for a description; a label is no loss."""
    if not output.description:
        return []
    why = "The format has no place for a description of the reply's schema."
    return [dropped("params.output.description", why)]


def _wire_name(output: OutputFormat, findings: list[Finding]) -> str:
    """The name, of letters, digits, underscores and dashes, 64 at most; it has to be there.

    Source: SDK openai, shared_params/response_format_json_schema.py. The default is no finding: a
    label says nothing.
    """
    fitted = _REFUSED.sub("_", output.name)[:_MOST]
    if fitted != output.name:
        why = f"The name of the reply's schema is written {fitted}."
        where = "params.output.name"
        findings.append(Finding("param_changed", where, Action.CHANGED, why, Fault.RENDER))
    return fitted or _DEFAULT_NAME
