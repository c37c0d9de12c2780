"""The format of the reply: `outputConfig.textFormat`, both ways. The schema in it is a text.

Source: the `bedrock-runtime` service model of botocore, shapes `OutputConfig`, `OutputFormat` and
`JsonSchemaDefinition`. What is not read here, and what else `outputConfig` holds, stays native.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from canonicall.findings import Finding
from canonicall.request import OutputFormat
from canonicall.wire.output_formats import broken_output, taken_out

FIELD = "outputConfig"
_FORMAT = "textFormat"


def decode_output(config: Any) -> OutputFormat | None:
    """The format in the field `outputConfig`, None where it has no canonical meaning."""
    held = _held(config)
    if not isinstance(held, dict):
        return None
    schema = _read(held.get("schema"))
    name, description = held.get("name") or "", held.get("description") or ""
    if schema is None or not isinstance(name, str) or not isinstance(description, str):
        return None
    return OutputFormat(schema, name, description, strict=True)


def take_output(
    fields: dict[str, Any], findings: list[Finding]
) -> tuple[OutputFormat | None, dict[str, Any]]:
    """The format, taken out of `fields`, and the field that said it."""
    output = decode_output(fields.get(FIELD))
    if output is not None:
        return output, taken_out(fields, FIELD, _FORMAT)
    config = fields.get(FIELD)
    asked = config.get(_FORMAT) if isinstance(config, dict) else None
    if isinstance(asked, dict):
        broken_output({}, None, f"$.{FIELD}.{_FORMAT}", findings)
        taken_out(fields, FIELD, _FORMAT)
    return None, {}


def _held(config: Any) -> Any:
    """What holds the schema, None where there is no such thing."""
    for name in (_FORMAT, "structure", "jsonSchema"):
        config = config.get(name) if isinstance(config, dict) else None
    return config


def encode_output(
    output: OutputFormat | None, native: Mapping[str, Any], spelled: Mapping[str, Any]
) -> dict[str, Any]:
    """The field with its native rest; the format as it was said before, if it still is."""
    rest = native.get(FIELD, {})
    if output is None:
        return {FIELD: rest} if rest else {}
    kept = rest if isinstance(rest, dict) else {}
    said = spelled.get(FIELD)
    if isinstance(said, dict) and _is_same(decode_output(said), output):
        return {FIELD: {**kept, **said}}
    held = {"schema": msgspec.json.encode(output.schema).decode()}
    held |= {"name": output.name} if output.name else {}
    held |= {"description": output.description} if output.description else {}
    form = {"type": "json_schema", "structure": {"jsonSchema": held}}
    return {FIELD: {**kept, _FORMAT: form}}


def _is_same(said: OutputFormat | None, output: OutputFormat) -> bool:
    """Whether both say the same, whether it is called strict or not."""
    return said is not None and (said.schema, said.name, said.description) == (
        output.schema,
        output.name,
        output.description,
    )


def _read(text: Any) -> dict[str, Any] | None:
    """The schema in a text, None where there is none."""
    try:
        schema = msgspec.json.decode(text) if isinstance(text, str) else None
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return schema if isinstance(schema, dict) else None
