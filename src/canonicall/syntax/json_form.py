"""What a JSON object that is a call looks like, and what its values mean."""

import ast

import msgspec
from msgspec import Struct

from canonicall.syntax.repair import repaired_value

_NO_LITERAL = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
_WORDS = {"True": True, "False": False, "None": None}


class JsonForm(Struct, frozen=True):
    """What an object that is a call looks like: the names of its members."""

    names: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")
    other_names: tuple[str, ...] = ("tool_name", "tool", "function_name", "function")
    """Members that models call the name where they are free to: they count where it is missing."""
    other_arguments: tuple[str, ...] = ("args", "input", "tool_input", "params", "kwargs")
    """The same for arguments, if they are an object."""
    ids: tuple[str, ...] = ("id",)
    inner: tuple[str, ...] = ("function", "tool_call", "toolCall", "function_call")
    """Members that hold the object that has the name."""
    lists: tuple[str, ...] = ()
    """Members that hold calls, in a list or one alone."""
    words: tuple[str, ...] = ()
    """Members that hold what is said beside the calls."""
    frames: tuple[str, ...] = ("type", "index")
    """Members that say nothing of their own."""
    is_strict: bool = False
    """It is a call by its form only: any other member means that it is none, those of other names
    as well, and so does a lack of arguments, unless a tool of this name was offered."""
    is_python: bool = False
    """Arguments are Python literals; they wait until they are whole and are passed on as JSON."""
    is_flat: bool = False
    """All members but the name are the arguments."""

    @property
    def known(self) -> tuple[str, ...]:
        """Every member that a call may have."""
        alone = self.names + self.arguments + self.ids + self.frames
        return alone + self.inner + self.lists + self.words


def flat_form(name: str) -> JsonForm:
    """An object whose members are all arguments, but for the name."""
    none: tuple[str, ...] = ()
    return JsonForm((name,), none, none, none, none, none, frames=none, is_flat=True)


def plain_value(pieces: list[str], *, is_python: bool = False) -> object:
    """The value that was written; bare words are text."""
    raw = "".join(pieces)
    if is_python:
        try:
            return ast.literal_eval(raw)
        except _NO_LITERAL:
            pass
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        if raw in _WORDS:
            return _WORDS[raw]
        meant = repaired_value(raw) if raw[:1] in ("'", '"', "{", "[") else None
        return raw if meant is None else meant


def python_as_json(raw: str) -> str:
    """A Python literal as JSON; as it is if it is none, or says a key twice: JSON has that as well,
    and whoever mends it later keeps the text."""
    try:
        tree = ast.parse(raw.strip(), mode="eval")
        if any(map(_says_a_key_twice, ast.walk(tree))):
            return raw
        return msgspec.json.encode(ast.literal_eval(tree)).decode()
    except _NO_LITERAL:
        return raw


def _says_a_key_twice(node: ast.AST) -> bool:
    if not isinstance(node, ast.Dict):
        return False
    keys = [one.value for one in node.keys if isinstance(one, ast.Constant)]
    return len(set(keys)) < len(keys)
