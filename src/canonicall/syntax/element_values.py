"""Arguments that are elements: `<city>Rome</city>`, lists and objects as elements in elements.

Nothing but the schema of the tool tells what an element is. Decisions:

- A list is said in several elements of its name, in elements inside of one, whatever they are
  called, as JSON, or, if its items are no texts, as values with commas or line ends between them.
- An object has an element for each member; a member said several times is a list.
- Without a schema elements inside are members, or items where all are called `item`; what has no
  elements in it is text.
- `&lt;` and its kind, and `<![CDATA[...]]>`, are undone in values that have no elements in them.
- Attributes of elements inside mean nothing; they are left out, and told.
- Blanks around a value mean nothing. Around several lines, the line ends next to the tags mean
  nothing, and code between them keeps its indentation. What is escaped always counts.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from canonicall.syntax.typed_values import is_text, json_of, json_text, member_schema, types_of

_BEGIN = re.compile(r"\s*<([^\s<>/\"'=!?]+)(\s[^<>]*?)?(/?)>")
CDATA, CDATA_END = "<![CDATA[", "]]>"
ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
LONGEST_ENTITY = 10
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_SPECIAL = re.compile(rf"{re.escape(CDATA)}|{ENTITY.pattern}")
_ITEM = "item"
LeftOut: TypeAlias = Callable[[str], object]
"""Is told what stands in a tag and means nothing."""
_DEEPEST = 32
"""Elements inside of more elements than this stay text."""


class _Element(NamedTuple):
    """An element inside of a value."""

    name: str
    raw: str
    attributes: str


def element_json(raws: list[str], schema: Any, root: dict[str, Any], left_out: LeftOut) -> str:
    """The JSON of an argument, given all the elements that say it."""
    values = _Values(root, left_out)
    if len(raws) > 1 and "array" in types_of(schema, root):
        return values.of_items(raws, member_schema(schema, None, root), 0)
    return values.of(raws[-1], schema, 0)


class TrimmedText:
    """Passes a text on as it comes, without the blanks around it."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._lead: list[str] = []
        """Blanks before the text, while they may still count."""
        self._is_lead_settled = False
        self._has_line_before = False
        self._held: list[str] = []
        """What may turn out to be blanks behind it, or a first line that is the only one."""
        self._has_held_line = False
        self._has_lines = False

    def add(self, piece: str) -> None:
        """More text. Blanks at its end wait."""
        if not self._is_lead_settled and not self._held:
            text = piece.lstrip()
            self._lead.append(piece[: len(piece) - len(text)])
            self._has_line_before = self._has_line_before or "\n" in self._lead[-1]
            piece = text
        said = piece.rstrip()
        if said:
            self.keep(said)
        if len(said) < len(piece):
            self._held.append(piece[len(said) :])
            self._has_held_line = self._has_held_line or "\n" in self._held[-1]

    def keep(self, text: str) -> None:
        """Text that counts also if it is blank."""
        self._held.append(text)
        self._has_lines = self._has_lines or self._has_held_line or "\n" in text
        if self._is_lead_settled or not self._has_line_before or self._has_lines:
            self._write(self._indentation() + "".join(self._held))
            self._held.clear()
            self._has_held_line = False

    def end(self) -> None:
        """Nothing more comes."""
        rest = "".join(self._held)
        if not self._is_lead_settled:
            self._write(rest.rstrip())
        elif self._has_lines and "\n" in rest:
            self._write(rest[: rest.rindex("\n")])

    def _indentation(self) -> str:
        """What of the blanks before the text counts, once."""
        lead = "".join(self._lead)
        self._lead.clear()
        self._is_lead_settled = True
        return lead.partition("\n")[2]


def character_of(entity: str) -> str:
    """The character that an escape stands for; itself if there is no such character."""
    name = entity[1:-1]
    if name[0] != "#":
        return _NAMED[name]
    code = int(f"0{name[1:]}", 16 if name[1] in "xX" else 10)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else entity


def plain_text(raw: str) -> str:
    """The text of an element."""
    pieces: list[str] = []
    text = TrimmedText(pieces.append)
    at = 0
    while special := _SPECIAL.search(raw, at):
        text.add(raw[at : special.start()])
        at = special.end()
        if special[0] != CDATA:
            text.keep(character_of(special[0]))
            continue
        end = raw.find(CDATA_END, at)
        end = len(raw) if end < 0 else end
        text.keep(raw[at:end])
        at = end + len(CDATA_END)
    text.add(raw[at:])
    text.end()
    return "".join(pieces)


class _Values:
    """Makes JSON of elements."""

    def __init__(self, root: dict[str, Any], left_out: LeftOut) -> None:
        self._root = root
        self._left_out = left_out

    def of(self, raw: str, schema: Any, depth: int) -> str:
        """The JSON of one value."""
        root = self._root
        types = types_of(schema, root)
        may_have_elements = not types or "object" in types or "array" in types
        children = _children(raw) if may_have_elements and depth < _DEEPEST else None
        if not children:
            return _leaf(raw, types, schema, root)
        for one in children:
            self._left_out(one.attributes)
        is_list = "array" in types if types else all(one.name == _ITEM for one in children)
        if not is_list:
            return self._object(children, schema, depth)
        inner = member_schema(schema, None, root)
        if all(member_schema(inner, one.name, root) is not None for one in children):
            # An only item, without its element.
            return f"[{self._object(children, inner, depth)}]"
        return self.of_items([one.raw for one in children], inner, depth)

    def of_items(self, raws: list[str], schema: Any, depth: int) -> str:
        """The JSON of a list."""
        return f"[{','.join(self.of(raw, schema, depth + 1) for raw in raws)}]"

    def _object(self, children: list[_Element], schema: Any, depth: int) -> str:
        said: dict[str, list[str]] = {}
        for one in children:
            said.setdefault(one.name, []).append(one.raw)
        members = []
        for name, raws in said.items():
            inner = member_schema(schema, name, self._root)
            if len(raws) == 1:
                written = self.of(raws[0], inner, depth + 1)
            else:
                written = self.of_items(raws, member_schema(inner, None, self._root), depth)
            members.append(f"{json_text(name)}:{written}")
        return "{" + ",".join(members) + "}"


def _leaf(raw: str, types: tuple[str, ...], schema: Any, root: dict[str, Any]) -> str:
    text = plain_text(raw)
    written, _ = json_of(text, types)
    if "array" not in types or "string" in types or written[:1] == "[":
        return written
    if not text.strip():
        return "[]"
    inner = types_of(member_schema(schema, None, root), root)
    items = [text] if is_text(inner) else [one for one in re.split(r"[,\n]", text) if one.strip()]
    return f"[{','.join(json_of(one, inner)[0] for one in items)}]"


def _children(text: str) -> list[_Element] | None:
    """The elements of a text, None if it is not made of elements alone."""
    found: list[_Element] = []
    at = 0
    while begin := _BEGIN.match(text, at):
        attributes = (begin[2] or "").strip()
        if begin[3]:
            found.append(_Element(begin[1], "", attributes))
            at = begin.end()
            continue
        end = _end(text, begin.end(), begin[1])
        if end is None:
            return None
        found.append(_Element(begin[1], text[begin.end() : end.start()], attributes))
        at = end.end()
    return found if not text[at:].strip() else None


def _end(text: str, at: int, name: str) -> re.Match[str] | None:
    """The closing tag of an element, with elements of the same name inside it."""
    depth = 1
    for found in re.compile(rf"<(/?){re.escape(name)}\s*>").finditer(text, at):
        depth += -1 if found[1] else 1
        if not depth:
            return found
    return None
