"""A tag that holds one call, in any of the forms that prompts ask for: `<tool>`, xAI's tags.

The name of the tool is an attribute, an element (`<name>`, `<tool_name>`, `<function>`), the tag of
an offered tool inside, or a part of JSON or Python. The arguments are attributes, elements, JSON,
or the one text that the tool takes, with or without an element around all of them; see
`tagged_body`. They may precede the name.

What names no tool is no call, with one exception: a bare command is for an offered tool that is
called bash, shell, command or run, if the syntax was named; the finding `name_guessed` says so.
"""

import re
from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from canonicall.arguments import parse_arguments
from canonicall.findings import Action
from canonicall.request import Tool
from canonicall.syntax.declaration import Opener
from canonicall.syntax.element_values import element_json, plain_text
from canonicall.syntax.json_calls import json_calls
from canonicall.syntax.output import Output
from canonicall.syntax.python_calls import python_calls
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.tagged_body import NO_HEAD, SHELLS, WRAPPERS, Body, Head, words_as_argument
from canonicall.syntax.typed_values import json_of, json_text, member_schema, types_of
from canonicall.syntax.xml_arguments import IN_A_TAG
from canonicall.syntax.xml_values import ValueEnds, read_raw

_NAMES = {"<tool_name>": "</tool_name>", "<name>": "</name>", "<function>": "</function>"}
_WRAPPER_TAGS = tuple(f"<{one}>" for one in WRAPPERS)
_NAME_KEYS = ("name", "tool_name", "tool", "function")
_ID_KEYS = ("id", "call_id", "tool_call_id")
_FRAME_KEYS = {"type": ("function", "tool", "tool_call")}
_HEAD = re.compile(r"""((?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>""")
_HEAD_BEGUN = re.compile(r"""(?:[^<>"']++|"[^"]*+"|'[^']*+')*+(?:"[^"]*+|'[^']*+)?\Z""")
_ATTRIBUTE = re.compile(r"""([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_PYTHON = re.compile(r"\[?\s{0,8}([A-Za-z_][\w.\-]{0,127})\s{0,8}\(")
_PYTHON_BEGUN = re.compile(r"(?:\[?\s{0,8}(?:[A-Za-z_][\w.\-]{0,127}\s{0,8})?)?\Z")
_LEAD = re.compile(r"([A-Za-z_][\w.\-]{0,127})\s{0,8}(?=\{|<[^/])")
_LEAD_BEGUN = re.compile(r"(?:[A-Za-z_][\w.\-]{0,127}\s{0,8}<?)?\Z")
_LONGEST_HEAD = 4096
_LONGEST_NAME = 256


class CallTag(Struct, frozen=True):
    """A tag that holds one call."""

    name: str
    is_common: bool = False
    """Documents have it as well: a bare name or Python in it counts only for offered tools."""
    other_ends: tuple[str, ...] = ()
    """Other closing tags that models write for it."""
    leaves: tuple[str, ...] = ()
    """What follows the opening tag where another reader reads on."""

    @property
    def ends(self) -> tuple[str, ...]:
        return (f"</{self.name}>", *self.other_ends)

    def openers(self) -> tuple[Opener, ...]:
        """The markers that open its calls."""
        return (
            Opener(f"<{self.name}>", self._read_bare, is_common=self.is_common),
            *(
                Opener(f"<{self.name}{blank}", self._read_with_attributes, is_common=self.is_common)
                for blank in (" ", "\n")
            ),
        )

    def _body(self, reader: Reader, output: Output, head: Head = NO_HEAD) -> Body:
        return Body(reader, output, self.ends, WRAPPERS, head)

    def _read_bare(self, reader: Reader, output: Output) -> Reading[bool]:
        """A call whose tag has no attributes."""
        yield from reader.blank()
        if self.leaves and (yield from reader.next_of(*self.leaves)):
            return False
        first = yield from reader.next_of("{", "[", "```")
        code = yield from reader.ahead(_PYTHON, _LONGEST_NAME, _PYTHON_BEGUN)
        if first and code is None:
            return (yield from json_calls(*self.ends)(reader, output))
        if (yield from reader.next_of(*_WRAPPER_TAGS)):
            return (yield from self._arguments_first(reader, output))
        if (yield from reader.next_of(*_NAMES)):
            name = yield from _name_element(reader)
            return bool(name) and (yield from self._body(reader, output).elements(name))
        if (yield from reader.next_of("<")):
            return (yield from self._tool_inside(reader, output))
        return (yield from self._words(reader, output))

    def _arguments_first(self, reader: Reader, output: Output) -> Reading[bool]:
        """A call whose name follows its arguments."""
        wrapper = yield from reader.accept(*_WRAPPER_TAGS)
        unclosed = tuple((end, ()) for end in self.ends)
        ends = ValueEnds((f"</{wrapper[1:]}",), ("<",), unclosed)
        raw, _ = yield from read_raw(reader, ends)
        yield from reader.blank()
        name = yield from _name_element(reader)
        yield from reader.blank()
        made = _wrapped(raw, name, output)
        if not name or made is None or not (yield from reader.accept(*self.ends)):
            return False
        return self._body(reader, output).whole(name, made)

    def _tool_inside(self, reader: Reader, output: Output) -> Reading[bool]:
        """The tag of an offered tool in this one."""
        tags = tuple(f"<{name}>" for name in output.tools)
        inner = (yield from reader.accept(*tags)) if tags else ""
        if not inner:
            return False
        within = Body(reader, output, (f"</{inner[1:]}",), WRAPPERS)
        if not (yield from within.read(inner[1:-1], words_as_argument)):
            return False
        yield from reader.blank()
        yield from reader.accept(*self.ends)
        return True

    def _words(self, reader: Reader, output: Output) -> Reading[bool]:
        """Python, a name before arguments, or a command."""
        code = yield from reader.ahead(_PYTHON, _LONGEST_NAME, _PYTHON_BEGUN)
        if code is not None and self._may_call(code[1], output):
            return (yield from python_calls(*self.ends)(reader, output))
        lead = yield from reader.ahead(_LEAD, _LONGEST_NAME, _LEAD_BEGUN)
        if lead is not None and self._may_call(lead[1], output):
            reader.take(len(lead[0]))
            return (yield from self._body(reader, output).elements(lead[1]))
        tool = _shell(output.tools)
        if tool is None or output.reading is not None or (yield from reader.next_of(*self.ends)):
            return False
        if not (yield from self._body(reader, output).read(tool.name, words_as_argument)):
            return False
        why = f"A <{self.name}> named no tool; it was taken for a command for {tool.name!r}."
        output.note("name_guessed", Action.CHANGED, why)
        return True

    def _may_call(self, name: str, output: Output) -> bool:
        return name in output.tools or not (self.is_common or output.tools)

    def _read_with_attributes(self, reader: Reader, output: Output) -> Reading[bool]:
        """A call whose tag has attributes; they may be all there is."""
        head = yield from reader.match(_HEAD, _LONGEST_HEAD, _HEAD_BEGUN)
        if head is None:
            return False
        name, said = _read_head(head[1].rstrip("/"), output.tools)
        body = self._body(reader, output, said)
        is_closed = head[1].endswith("/")
        if not name or is_closed:
            return bool(name) and body.whole(name)
        yield from reader.blank()
        if self.leaves and (yield from reader.next_of(*self.leaves)):
            return False
        return (yield from body.read(name, self._as_argument))

    def _as_argument(self, words: str, tool: Tool | None) -> str | None:
        """Words as the one text of a tool, unless there is something in them for another reader."""
        is_other = any(one in words for one in self.leaves)
        return None if is_other else words_as_argument(words, tool)


def _name_element(reader: Reader) -> Reading[str]:
    """A name in an element; empty text if none comes next."""
    opened = yield from reader.accept(*_NAMES)
    if not opened:
        return ""
    name, end = yield from reader.up_to(stops(_NAMES[opened]), _LONGEST_NAME)
    reader.take(len(end))
    return name.strip()


def _read_head(text: str, tools: Mapping[str, Tool]) -> tuple[str, Head]:
    """The name of the tool in the attributes of a tag, and what else they say."""
    said = [(one[1], plain_text(one[2] or one[3] or "")) for one in _ATTRIBUTE.finditer(text)]
    found = dict(said)
    # Of an attribute said twice the last counts.
    odd = [_ATTRIBUTE.sub("", text).strip(), *(one for key, one in said if found[key] != one)]
    name = next((found.pop(key) for key in _NAME_KEYS if found.get(key)), "")
    schema = (tools[name].parameters or {}) if name in tools else {}
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    id = next((found.pop(key) for key in _ID_KEYS if key in found and key not in known), "")
    for key, values in _FRAME_KEYS.items():
        if key not in known and found.get(key) in values:
            found.pop(key)
    members = []
    for key, raw in found.items():
        if key in WRAPPERS and key not in known and parse_arguments(raw):
            members.append(raw.strip()[1:-1])
            continue
        types = types_of(member_schema(schema, key, schema), schema)
        members.append(f"{json_text(key)}:{json_of(raw, types)[0]}")
    return name, Head(id, "{" + ",".join(members) + "}", " ".join(odd))


def _wrapped(raw: str, name: str, output: Output) -> str | None:
    """The JSON of all arguments, given the content of the element around them; None if they cannot
    be read."""
    text, tool = plain_text(raw), output.tools.get(name)
    if parse_arguments(text) is not None:
        return text
    schema = (tool.parameters or {}) if tool is not None else {}
    left_out = partial(output.left_out, IN_A_TAG)
    written = element_json([raw], {**schema, "type": "object"}, schema, left_out)
    return written if written.startswith("{") else words_as_argument(raw, tool)


def _shell(tools: Mapping[str, Tool]) -> Tool | None:
    """The offered tool that runs commands."""
    return next((tools[name] for name in SHELLS if name in tools), None)
