"""The format of the reply: `format`, both ways.

Source: SDK _types.py, `BaseGenerateRequest.format`: "json", a JSON Schema, or nothing. Each has one
way to be said, so nothing has to be remembered.
"""

from typing import Any

from canonicall.findings import Finding
from canonicall.request import OutputFormat
from canonicall.wire.output_formats import unsaid

FIELD = "format"


def decode_output(value: Any) -> OutputFormat | None:
    """The format that the field asks for, None where it has no canonical meaning."""
    if value == "json":
        return OutputFormat()
    return OutputFormat(value) if isinstance(value, dict) else None


def encode_output(output: OutputFormat | None, findings: list[Finding]) -> dict[str, Any]:
    """The field."""
    if output is None:
        return {}
    findings += unsaid(output)
    return {FIELD: "json" if output.schema is None else output.schema}
