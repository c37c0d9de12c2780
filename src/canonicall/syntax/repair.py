"""JSON that models get wrong, read as it was meant: a closed list of faults, in one pass.

Single quotes, Python's words for true, false and null, commas before a closing bracket, brackets
left open at the end, raw control characters inside strings, keys without quotes, comments, quotes
inside a string that are not escaped (one ends the string only where a value may end), and
backslashes that escape nothing. Anything else stays unreadable: guessing further would change what
was said.
"""

import re
from typing import Any

import msgspec

_GRAMMAR = r"""
    (?P<blank>\s+|//[ \t][^\r\n]*|/\*.{0,256}?\*/)
    | (?P<string>STRING)
    | (?P<open>[{\[])
    | (?P<close>[}\]])
    | (?P<comma>,)
    | (?P<colon>:)
    | (?P<word>[^\s"'{}\[\],:]+)
    | (?P<open_quote>["'])
"""
_STRING = r"""%(q)s(?:[^%(q)s\\]++|\\.)*%(q)s?"""
_STRING_WITH_QUOTES = r"""%(q)s(?:[^%(q)s\\]++|\\.|%(q)s(?!\s*(?:[,:}\]]|\Z)))*+%(q)s"""


def _tokens(string: str) -> re.Pattern[str]:
    either = "|".join(string % {"q": quote} for quote in "\"'")
    return re.compile(_GRAMMAR.replace("STRING", either), re.VERBOSE | re.DOTALL)


_READINGS = (_tokens(_STRING), _tokens(_STRING_WITH_QUOTES))
"""How strings end: at the first quote, or at the first that stands where a value may end. The
second is tried where the first makes no sense."""
_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false"}
_WORDS |= {"null": "null", "undefined": "null", "NaN": "null"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_TO_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|.)|["\x00-\x1f]', re.DOTALL)
_IS_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_QUOTED_FOR_NOTHING = "'`$"
"""What other languages escape and JSON does not. Before all else the backslash itself was meant:
models that write patterns and paths forget to double it."""
_MEANINGLESS_BEHIND = " \t\r\n}]`;,"
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$.-]*")


def repaired_object(raw: str, *, cut: bool = False, closed: bool = False) -> dict[str, Any] | None:
    """The object that `raw` was meant to be, None if it cannot be told.

    `cut` says that the text ended inside it: then what is whole of it counts. `closed` asks for the
    opposite: the text has to close it, and nothing that means something may follow.
    """
    value = repaired_value(raw, cut=cut, closes=not closed, alone=closed)
    return value if isinstance(value, dict) else None


def repaired_value(raw: str, *, cut: bool = False, closes: bool = True, alone: bool = True) -> Any:
    """The value that `raw` was meant to be, None if it cannot be told.

    `closes`: brackets that are open at the end are closed. `alone`: nothing that means something
    may follow the value; without it, what follows is not looked at, so `raw` has to be kept.
    """
    for tokens in _READINGS:
        try:
            return msgspec.json.decode(_rewritten(raw, cut, tokens, closes, alone))
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            continue
    return None


def _rewritten(raw: str, cut: bool, tokens: re.Pattern[str], closes: bool, alone: bool) -> str:
    written: list[str] = []
    open_brackets: list[str] = []
    for token in tokens.finditer(raw):
        kind, text = token.lastgroup, token[0]
        if kind == "blank":
            continue
        if kind == "open_quote":
            return ""  # Nothing behind it ends a string: to look again from each quote takes long.
        if kind == "close":
            _drop_comma(written)
            if open_brackets and open_brackets[-1] == text:
                open_brackets.pop()
        elif kind == "open":
            open_brackets.append("}" if text == "{" else "]")
        else:
            text = _scalar(token)
        written.append(text)
        if not open_brackets and kind == "close":
            if alone and raw[token.end() :].strip(_MEANINGLESS_BEHIND):
                return ""
            break
    if cut:
        _drop_half_member(written, open_brackets)
    _drop_comma(written)
    return "".join(written) + ("".join(reversed(open_brackets)) if closes else "")


def _scalar(token: re.Match[str]) -> str:
    """A string or a word as JSON has it; commas and colons as they are."""
    if token.lastgroup == "string":
        return _string(token[0])
    return _word(token[0], token.string, token.end()) if token.lastgroup == "word" else token[0]


def _drop_comma(written: list[str]) -> None:
    while written and written[-1] == ",":
        written.pop()


def _drop_half_member(written: list[str], open_brackets: list[str]) -> None:
    """Take off a key without its value."""
    if written and written[-1] == ":":
        del written[-2:]
    elif open_brackets and open_brackets[-1] == "}" and len(written) > 1:
        is_lone_key = written[-1][:1] == '"' and written[-2] in ("{", ",")
        if is_lone_key:
            written.pop()


def _string(text: str) -> str:
    """A string in double quotes, closed, with all escaped that has to be."""
    quote, inner = text[0], text[1:]
    if inner.endswith(quote) and not _ends_escaped(inner[:-1]):
        inner = inner[:-1]
    if _ends_escaped(inner):
        inner = inner[:-1]
    return f'"{_TO_ESCAPE.sub(_escaped, inner)}"'


def _escaped(found: re.Match[str]) -> str:
    """What has to stand in JSON for a backslash and what follows it, or for a lone character."""
    said = found[0]
    if said[0] != "\\":
        return _json_escape(said)
    if _IS_ESCAPE.fullmatch(said):
        return said
    if said[1] in _QUOTED_FOR_NOTHING or said[1] < " ":
        return _json_escape(said[1])
    return "\\" + said


def _json_escape(char: str) -> str:
    return msgspec.json.encode(char).decode()[1:-1]


def _ends_escaped(text: str) -> bool:
    """Whether the last character of `text` escapes what would follow."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _word(text: str, raw: str, end: int) -> str:
    known = _WORDS.get(text)
    if known is not None:
        return known
    if _NUMBER.fullmatch(text):
        return text
    is_key = raw[end : end + 20].lstrip().startswith(":") and _PLAIN_KEY.fullmatch(text)
    return f'"{text}"' if is_key else text
