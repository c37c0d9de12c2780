"""Tags that prompts of all kinds ask for: `<tool>`, tags named like tools, YAML between them.

- `toolname_as_tag_xml`: `<read_file><path>a</path></read_file>`, as Cline, Roo and others ask for;
  JSON or elements inside, or words for a tool that takes one text: `<bash>ls</bash>`. Words that
  are YAML are read as that if the tool takes no text, or if they begin with one of its arguments.
  Only names of tools that were offered are tags. Keys are never thrown away, whatever their name.
- `yaml_in_xml`: the same tags with lines of YAML inside, and elements as well. YAML waits for the
  closing tag. What is no YAML map stays text.
- `tool_tag`: `<tool>...</tool>`, in all the forms of `call_tags`.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.request import Tool
from canonicall.syntax.call_tags import CallTag
from canonicall.syntax.declaration import Opener, ReadCalls, Syntax
from canonicall.syntax.output import Output
from canonicall.syntax.printing import bare_text, compact_json, with_printing
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.tagged_body import Body, WordsToJson, words_as_argument
from canonicall.syntax.typed_values import json_of, json_text, member_schema, types_of
from canonicall.syntax.yaml_subset import Bare, yaml_map

_TOOL, _TOOL_END = "<tool>", "</tool>"
_SELF_CLOSED = re.compile(r"\s*/>")
_HEAD_END = re.compile(r"\s*>")
_PLAIN_WORD = re.compile(r"(?!(?i:true|false|null|none)\Z)[A-Za-z_]\w*", re.ASCII)
_LONGEST_BLANK = 64


# Tags named like tools.


def _tool_openers(words: WordsToJson, *, only_named: bool = False) -> Any:
    def openers(tools: Mapping[str, Tool]) -> tuple[Opener, ...]:
        return tuple(
            Opener(f"<{name}{rest}", _tool_named(name, rest, words), only_named=only_named)
            for name in tools
            for rest in (">", "/>", " ", "\n")
        )

    return openers


def _tool_named(name: str, rest: str, words: WordsToJson) -> ReadCalls:
    """A reader of calls whose tag has the name of the tool, and `rest` behind it."""

    def read(reader: Reader, output: Output) -> Reading[bool]:
        body = Body(reader, output, (f"</{name}>", "</function>"))
        if rest == "/>" or (yield from _is_self_closed(reader, rest)):
            return body.whole(name)
        if (
            rest == "\n"
        ):  # A tag that was never closed: what it should have around it, it has in it.
            return (yield from Body(reader, output, ("/>",)).read(name, words))
        is_open = rest == ">" or (yield from reader.match(_HEAD_END, _LONGEST_BLANK)) is not None
        return is_open and (yield from body.read(name, words))

    return read


def _is_self_closed(reader: Reader, rest: str) -> Reading[bool]:
    return rest == " " and (yield from reader.match(_SELF_CLOSED, _LONGEST_BLANK)) is not None


def _words_or_yaml(words: str, tool: Tool | None) -> str | None:
    """Words, if the tool takes one text and they are not YAML that begins with an argument."""
    known = (tool.parameters or {}).get("properties") if tool is not None else None
    first = next(iter(yaml_map(words) or ()), None)
    said = None if isinstance(known, dict) and first in known else words_as_argument(words, tool)
    return said or _yaml_as_arguments(words, tool)


def _yaml_as_arguments(words: str, tool: Tool | None) -> str | None:
    """Lines of YAML as arguments."""
    found = yaml_map(words)
    if not found:
        return None
    schema = (tool.parameters or {}) if tool is not None else {}
    return _yaml_json(found, schema, schema)


def _yaml_json(value: Any, schema: Any, root: dict[str, Any]) -> str:
    if isinstance(value, Bare):
        types = types_of(schema, root)
        return json_of(value, types)[0] if types else _bare_json(value)
    if isinstance(value, dict):
        pairs = (
            f"{json_text(key)}:{_yaml_json(item, member_schema(schema, key, root), root)}"
            for key, item in value.items()
        )
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        inner = member_schema(schema, None, root)
        return "[" + ",".join(_yaml_json(item, inner, root) for item in value) + "]"
    return json_text(value) if isinstance(value, str) else msgspec.json.encode(value).decode()


def _bare_json(text: Bare) -> str:
    """A scalar of YAML that no schema speaks of."""
    is_word = text.lower() in ("true", "false")
    types = ("null", "boolean") if is_word else ("null", "integer", "number", "string")
    return "null" if text == "~" else json_of(text, types)[0]


def _print_tags(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(
        f"<{call.name}>{''.join(map(_element, arguments_of(call).items()))}</{call.name}>"
        for call in calls
    )


def _print_yaml(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(f"<{call.name}>\n{_yaml_lines(call)}</{call.name}>" for call in calls)


def _yaml_lines(call: ToolCall) -> str:
    pairs = ((_yaml(key), _yaml(one)) for key, one in arguments_of(call).items())
    return "".join(f"{key}: {one}\n" for key, one in pairs)


def _yaml(value: Any) -> str:
    """Plain words as they are. All else is JSON, which is YAML and can say a tag without `<`."""
    if isinstance(value, str) and _PLAIN_WORD.fullmatch(value):
        return value
    return compact_json(value).replace("<", "\\u003c")


def _print_tool_tags(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(
        f"{_TOOL}<tool_name>{call.name}</tool_name>"
        f"{''.join(map(_element, arguments_of(call).items()))}{_TOOL_END}"
        for call in calls
    )


def _element(member: tuple[str, Any]) -> str:
    """An argument as an element. Blanks around its text are escaped, so that they count."""
    key, value = member
    text = bare_text(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    said = text.strip()
    begin = text.index(said) if said else len(text)
    lead, tail = text[:begin], text[begin + len(said) :]
    return f"<{key}>{_numbers(lead)}{said}{_numbers(tail)}</{key}>"


def _numbers(blanks: str) -> str:
    return "".join(f"&#{ord(char)};" for char in blanks)


SYNTAXES = (
    with_printing(
        Syntax(
            name="toolname_as_tag_xml",
            notation="xml",
            tool_openers=_tool_openers(_words_or_yaml),
            is_marked=False,
        ),
        _print_tags,
    ),
    with_printing(
        Syntax(
            name="yaml_in_xml",
            kin_of="toolname_as_tag_xml",
            notation="custom",
            tool_openers=_tool_openers(_yaml_as_arguments, only_named=True),
            is_marked=False,
        ),
        _print_yaml,
    ),
    with_printing(
        Syntax(
            name="tool_tag",
            notation="xml",
            openers=CallTag("tool", is_common=True).openers(),
        ),
        _print_tool_tags,
    ),
)
