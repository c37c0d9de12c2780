"""The format of the reply: `output_config.format`, both ways.

Source: SDK json_output_format_param.py: a schema, and nothing else. The model is always held to it,
so it is strict. A format that cannot be read is left out: there is no other type.
"""

from collections.abc import Mapping
from typing import Any

from canonicall.findings import Finding
from canonicall.request import OutputFormat
from canonicall.wire.output_formats import broken_output, taken_out, unsaid

FIELD = "output_config"
_FORMAT = "format"


def decode_output(config: Any) -> OutputFormat | None:
    """The format in the field `output_config`, None where it has no canonical meaning."""
    value = config.get(_FORMAT) if isinstance(config, dict) else None
    if not isinstance(value, dict) or value.get("type") != "json_schema":
        return None
    schema = value.get("schema")
    return OutputFormat(schema, strict=True) if isinstance(schema, dict) else None


def take_output(
    fields: dict[str, Any], findings: list[Finding]
) -> tuple[OutputFormat | None, dict[str, Any]]:
    """The format, taken out of `fields`, and the field that said it."""
    held = fields.get(FIELD)
    output = decode_output(held)
    if output is not None:
        return output, taken_out(fields, FIELD, _FORMAT)
    unread = held.get(_FORMAT) if isinstance(held, dict) else None
    if isinstance(unread, dict) and broken_output({}, None, f"$.{FIELD}.{_FORMAT}", findings):
        taken_out(fields, FIELD, _FORMAT)
    return None, {}


def encode_output(
    output: OutputFormat | None, spelled: Mapping[str, Any], findings: list[Finding]
) -> dict[str, Any]:
    """What `output_config` says of the format, as before where that still says the same."""
    if output is None:
        return {}
    said = spelled.get(FIELD)
    known = decode_output(said)
    if isinstance(said, dict) and known is not None and known.schema == output.schema:
        return {_FORMAT: said[_FORMAT]}
    findings += unsaid(output)
    return {_FORMAT: {"type": "json_schema", "schema": output.schema}}
