"""The format of the reply: `response_format`, both ways.

Sources: SDK shared_params/response_format_json_schema.py, response_format_json_object.py. What is
not read here (`text`, and the types that single hosts have) stays native.
"""

from collections.abc import Mapping
from typing import Any

from canonicall.findings import Finding
from canonicall.request import OutputFormat
from canonicall.wire.output_formats import decode_named, encode_named, is_well_named

FIELD = "response_format"


def decode_output(value: Any) -> OutputFormat | None:
    """The format that the field asks for, None where it has no canonical meaning."""
    if not isinstance(value, dict):
        return None
    held = value.get("json_schema")
    if value.get("type") == "json_schema" and isinstance(held, dict):
        return decode_named(held)
    # {type: json_object, schema} is how llama.cpp, Together and Fireworks say a schema.
    is_any = value.get("type") == "json_object" and "schema" not in value
    return OutputFormat() if is_any else None


def encode_output(
    output: OutputFormat | None,
    spelled: Mapping[str, Any],
    findings: list[Finding],
    *,
    needs_name: bool = False,
) -> dict[str, Any]:
    """The field, as it was said before where that still says the same.

    `needs_name`: the target refuses a schema that has no name, or not a good one.
    """
    if output is None:
        return {}
    said = spelled.get(FIELD, {})
    if decode_output(said) == output:
        is_named = output.schema is None or is_well_named(said["json_schema"])
        if is_named or not needs_name:
            return {FIELD: said}
    if output.schema is None:
        return {FIELD: {"type": "json_object"}}
    return {FIELD: {"type": "json_schema", "json_schema": encode_named(output, findings)}}
