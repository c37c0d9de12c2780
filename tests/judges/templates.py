"""Chat templates of models, rendered as transformers does it.

They are other people's work and no part of this repository: `make templates` fetches them, and
`CANONICALL_TEMPLATES` names their folder.
"""

import json
from datetime import UTC, datetime
from functools import cache

import pytest

from canonicall import Text, Tool, ToolCall, ToolResult
from components import component

jinja2 = pytest.importorskip("jinja2", reason="not installed: pip install 'canonicall[judges]'")
sandbox = pytest.importorskip("jinja2.sandbox")
extension = pytest.importorskip("jinja2.ext")


RICH = {
    "place": 'Zürich "Nord" <b>&',
    "lines": "a\n  b\n",
    "hushed": "",
    "days": 2,
    "ratio": 0.5,
    "flag": True,
    "nothing": None,
    "list": [1, 20],
    "nested": {"b": [{"unit": "°C"}], "A": {"x": "東京"}},
    "odd": {"empty": {}, "few": [], "no": False, "null": None},
}
"""Arguments of every kind, by names that tests leave out where a template cannot say them."""
_OF_TEXTS = {"type": "object", "description": "Texts.", "additionalProperties": {"type": "string"}}
_PROPERTIES = {
    "place": {"type": "string", "description": "One."},
    "lines": {"type": "string", "description": "One."},
    "hushed": {"type": "string", "description": "One."},
    "days": {"type": "integer", "description": "One."},
    "ratio": {"type": "number", "description": "One."},
    "flag": {"type": "boolean", "description": "One."},
    "nothing": {"type": "integer", "description": "One.", "nullable": True},
    "list": {"type": "array", "description": "One.", "items": {"type": "integer"}},
    "nested": _OF_TEXTS,
    "odd": _OF_TEXTS,
}
"""Some templates print tools with types of their own and know no others than these."""
TOOLS = (
    Tool("weather", "A tool.", {"type": "object", "properties": _PROPERTIES}),
    Tool(
        "now",
        "A tool.",
        {"type": "object", "properties": {"zone": {"type": "string", "description": "One."}}},
    ),
)
QUESTION, ANSWER = "QUESTION", "ANSWER"


def calls_without(left_out, id="abcdefgh{index}"):
    """Two calls, the first with all arguments but some, and one that has none at all."""
    rich = {key: value for key, value in RICH.items() if key not in left_out}
    made = (("weather", rich), ("now", {"zone": "CET"}), ("now", {}))
    return tuple(
        ToolCall(id=id.format(index=index, name=name), name=name, args=args)
        for index, (name, args) in enumerate(made)
    )


def results_of(calls):
    """What came of them: JSON, and text that is none."""
    texts = ('{"temp": 3}', "12:00 ☀", "a\nb")
    return tuple(
        ToolResult(call_id=call.id, name=call.name, content=(Text(text=text),))
        for call, text in zip(calls, texts, strict=False)
    )


def question():
    return {"role": "user", "content": QUESTION}


def reply(calls, *, content, encoded):
    """A reply as chat APIs have it. `encoded`: the arguments are a text, as on the wire."""
    made = [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": json.dumps(call.args, ensure_ascii=False) if encoded else call.args,
            },
        }
        for call in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def answered(results):
    """The results, and the answer they led to."""
    said = (
        {"role": "tool", "tool_call_id": one.call_id, "name": one.name, "content": one.text}
        for one in results
    )
    return [*said, {"role": "assistant", "content": ANSWER}]


def rendered(name, messages, *, is_mutable=False):
    """What the template makes of messages, behind the question.

    `is_mutable`: it changes lists, which transformers forbids and the engine it was made for allows.
    """
    definitions = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in TOOLS
    ]
    text = _template(name, is_mutable).render(
        messages=messages,
        tools=definitions,
        functions=json.dumps(definitions),
        datetime="2026-01-02",
        bos_token="",
        eos_token="",
        add_generation_prompt=False,
    )
    return text.rpartition(QUESTION)[2]


class Generation(extension.Extension):
    """The block `generation`, by which trainers know what the model said: here it changes nothing."""

    tags = frozenset({"generation"})

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


@cache
def _template(name, is_mutable):
    kind = sandbox.SandboxedEnvironment if is_mutable else sandbox.ImmutableSandboxedEnvironment
    environment = kind(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = datetime(2026, 1, 2, tzinfo=UTC).strftime
    source = (component("templates") / f"{name}.jinja").read_text(encoding="utf-8")
    return environment.from_string(source)


def _to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _refuse(message):
    raise jinja2.exceptions.TemplateError(message)
