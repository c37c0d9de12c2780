"""The format of the reply: `text.format`, both ways.

Source: SDK response_text_config_param.py, response_format_text_json_schema_config_param.py. What is
not read here (`{"type": "text"}`) and what else `text` holds stays native.
"""

from collections.abc import Mapping
from typing import Any

from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.request import OutputFormat
from canonicall.wire.losses import dropped
from canonicall.wire.output_formats import (
    NO_SUCH_FORM,
    broken_output,
    decode_named,
    encode_named,
    is_refused_output,
    is_well_named,
    taken_out,
)

FIELD = "text"
_FORMAT = "format"


def decode_output(text: Any) -> OutputFormat | None:
    """The format that the field `text` asks for, None where it has no canonical meaning."""
    value = text.get(_FORMAT) if isinstance(text, dict) else None
    if not isinstance(value, dict):
        return None
    if value.get("type") == "json_schema":
        return decode_named(value)
    return OutputFormat() if value.get("type") == "json_object" else None


def take_output(
    fields: dict[str, Any], findings: list[Finding]
) -> tuple[OutputFormat | None, dict[str, Any]]:
    """The format, taken out of `fields`, and the field that said it."""
    held = fields.get(FIELD)
    output = decode_output(held)
    if output is not None:
        return output, taken_out(fields, FIELD, _FORMAT)
    unread = held.get(_FORMAT) if isinstance(held, dict) else None
    if isinstance(unread, dict) and unread.get("type") not in ("text", "json_schema"):
        unread = {}  # There is no other type.
    if broken_output(unread, unread, f"$.{FIELD}.{_FORMAT}", findings):
        taken_out(fields, FIELD, _FORMAT)
    return None, {}


def encode_output(
    output: OutputFormat | None,
    native: Mapping[str, Any],
    spelled: Mapping[str, Any],
    target: Target,
    findings: list[Finding],
) -> dict[str, Any]:
    """The field `text` with its native rest; the format as it was said before, if it still is."""
    rest = native.get(FIELD, {})
    if output is None:
        if isinstance(rest, dict) and is_refused_output(rest.get(_FORMAT), target):
            findings.append(dropped("params.output", NO_SUCH_FORM))
            rest = {name: field for name, field in rest.items() if name != _FORMAT}
        return {FIELD: rest} if rest else {}
    said = spelled.get(FIELD)
    form = said.get(_FORMAT) if isinstance(said, dict) else None
    if decode_output(said) == output and (output.schema is None or is_well_named(form)):
        wire = form
    elif output.schema is None:
        wire = {"type": "json_object"}
    else:
        wire = {"type": "json_schema", **encode_named(output, findings)}
    kept = rest if isinstance(rest, dict) else {}
    return {FIELD: {**kept, _FORMAT: wire}}
