"""The format of the reply in a `generationConfig`: `responseMimeType` and one of two schemas.

As with a function's parameters, `responseSchema` is in Google's own dialect, which is made plain,
remembered, and written again as long as it says the same; `responseJsonSchema` is JSON Schema.
Source: SDK types.py, `GenerateContentConfig`. Other media types stay native.
"""

from collections.abc import Mapping
from typing import Any

from canonicall.findings import Action, Fault, Finding
from canonicall.request import OutputFormat
from canonicall.wire.gemini.schemas import is_dialect, plain_schema, spelled_out
from canonicall.wire.output_formats import unsaid

_TYPE = "responseMimeType"
_DIALECT = "responseSchema"
_JSON_SCHEMA = "responseJsonSchema"
_FIELDS = (_TYPE, _DIALECT, _JSON_SCHEMA)
_JSON = "application/json"


def take_output(
    config: dict[str, Any], findings: list[Finding]
) -> tuple[OutputFormat | None, dict[str, Any]]:
    """The format, taken out of `config`, and the fields that said it."""
    said = {name: config[name] for name in _FIELDS if name in config}
    if _DIALECT in said and _JSON_SCHEMA in said:
        why = "A reply has one schema, not two; the JSON Schema counts."
        where = "$.generationConfig"
        findings.append(Finding("two_schemas", where, Action.DROPPED, why, Fault.INPUT))
        del said[_DIALECT], config[_DIALECT]
    schema = next((name for name in (_DIALECT, _JSON_SCHEMA) if name in said), "")
    if schema and said.get(_TYPE) in (None, "", "text/plain"):
        # The API refuses a schema for plain text; the schema says more.
        why = f"A reply that has a schema is {_JSON}."
        where = f"$.generationConfig.{_TYPE}"
        findings.append(Finding("value_changed", where, Action.CHANGED, why, Fault.INPUT))
        said[_TYPE] = config[_TYPE] = _JSON
    output = _decode(said)
    if output is None:
        return None, {}
    for name in said:
        del config[name]
    return output, said


def _decode(said: Mapping[str, Any]) -> OutputFormat | None:
    if said.get(_TYPE) != _JSON:
        return None
    if _JSON_SCHEMA in said:
        schema = said[_JSON_SCHEMA]
    elif isinstance(said.get(_DIALECT), dict):
        schema = plain_schema(said[_DIALECT])
    else:
        schema = said.get(_DIALECT)
    return OutputFormat(schema) if isinstance(schema, dict | None) else None


def encode_output(
    output: OutputFormat | None, said: Mapping[str, Any], findings: list[Finding]
) -> dict[str, Any]:
    """The fields of the format; `said`: those that said it before."""
    if output is None:
        return {}
    findings += unsaid(output)
    if output.schema is None:
        return {_TYPE: _JSON}
    dialect: Any = said.get(_DIALECT)
    if is_dialect(dialect) and plain_schema(dialect) == output.schema:
        return {_TYPE: _JSON, _DIALECT: spelled_out(dialect)}
    return {_TYPE: _JSON, _JSON_SCHEMA: output.schema}
