"""The format of the reply: `response_format`, both ways.

Source: SDK response_format_v2.py: any JSON object, maybe by a schema. What is not read here
(`{"type": "text"}`) stays native.
"""

from typing import Any

from canonicall.findings import Action, Fault, Finding
from canonicall.request import OutputFormat
from canonicall.wire.output_formats import unsaid

FIELD = "response_format"


def decode_output(value: Any) -> OutputFormat | None:
    """The format that the field asks for, None where it has no canonical meaning."""
    if not isinstance(value, dict) or value.get("type") != "json_object":
        return None
    schema = value.get("json_schema")
    is_read = isinstance(schema, dict | None) and value.keys() <= {"type", "json_schema"}
    return OutputFormat(schema) if is_read else None


def is_broken(value: Any, findings: list[Finding]) -> bool:
    """Whether a format that could not be read is none that Cohere has: it is reported."""
    if not isinstance(value, dict):
        return False
    if value.get("type") in (None, "", "text") and value.get("json_schema") is None:
        return False
    why = "It is no form of the reply that the format has."
    findings.append(Finding("param_dropped", f"$.{FIELD}", Action.DROPPED, why, Fault.INPUT))
    return True


def encode_output(output: OutputFormat | None, findings: list[Finding]) -> dict[str, Any]:
    """The field."""
    if output is None:
        return {}
    findings += unsaid(output)
    schema = {} if output.schema is None else {"json_schema": output.schema}
    return {FIELD: {"type": "json_object", **schema}}
