"""Bodies without what looks like a key: rather a word too many is hidden than one too few.

Hidden are values of fields that are named like secrets, what has the form of a known kind of key,
and what follows a name like `password:` up to the end of its line. Long runs of base64, pictures
and the like, are told by their length. In a stream, a key is found also where it comes in pieces.

`redacted` is for logs, `redacted_request` for a request that a program is to judge afterwards.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from canonicall.client.secrets import HIDDEN

_DEEPEST = 100
_TOO_DEEP = "(nested too deeply)"
_ANYWHERE = ("password", "passwd", "passphrase", "secret", "authorization", "credential", "apikey")
_AT_THE_END = ("key", "keys", "token", "cookie", "auth", "pwd")
_NO_LETTERS = re.compile(r"[^a-z]")

# The beginnings of keys, each with the host that gives them out or its kind.
_KEY = re.compile(
    r"""
    (?: sk-[A-Za-z0-9_-]{16,}                       # OpenAI, Anthropic, DeepSeek, OpenRouter, ours
    | (?<![A-Za-z0-9])[sprc]k-[A-Za-z0-9_-]{6,}     # the same, short; Cerebras
    | [spr]k_(?:live|test)_[A-Za-z0-9]{6,}          # Stripe
    | AIza[A-Za-z0-9_-]{8,} | ya29\.[A-Za-z0-9_.-]+ | AQ\.[A-Za-z0-9_-]{16,}         # Google
    | (?:AKIA|ASIA|ABSK)[A-Za-z0-9+/=]{12,}         # AWS, Bedrock
    | (?:gsk|hf|fw|r8|tgp_v1|pcsk|lsv2_[ps]t)_[A-Za-z0-9_]{8,}                      # model hosts
    | (?:xai|nvapi|pplx|csk|dapi|api-key)-?[A-Za-z0-9_-]{16,}
    | gh[pousr]_[A-Za-z0-9]{8,} | github_pat_\w{8,} | glpat-[A-Za-z0-9_-]{8,}       # forges
    | xox[abeoprs]-[A-Za-z0-9-]{8,}                 # Slack
    | eyJ[A-Za-z0-9_.-]{16,}                        # JSON web tokens
    | (?i:bearer)[ \t]+[^\s"',;]+ | (?i:basic)[ \t]+[A-Za-z0-9+/]{16,}={0,2}
    | -----BEGIN[ ][A-Z ]{0,40}PRIVATE[ ]KEY-----(?s:.*?)(?:-----END[A-Z ]{0,40}-----|\Z)
    )""",
    re.VERBOSE,
)
# Texts with none of these hold no such key. To look for them is ten times as fast as the search.
_SIGNS = (
    *("k-", "k_", "AIza", "ya29.", "AQ.", "AKIA", "ASIA", "ABSK", "hf_", "fw_", "r8_", "tgp_v1_"),
    *("lsv2_", "xai", "nvapi", "pplx", "dapi", "api-key", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "glpat-", "xox", "eyJ", "-----BEGIN"),
)
_SIGNS_IN_ANY_CASE = ("bearer", "basic")
_NAMES = (*_ANYWHERE, "key", "token", "cookie", "auth", "pwd")
_NAMED = re.compile(
    r"(?i:(?:password|passwd|passphrase|secret|authorization|credential|api[_-]?key)[\w-]{0,40}"
    r"|(?:key|token|cookie|auth|pwd)(?![a-z]))"
    r"""\\{0,8}["']?[ \t]{0,8}[:=](?P<value>[^\r\n]*)"""
)
_IN_ADDRESS = re.compile(r"://[^\s/@:]{0,200}:(?P<value>[^\s/@]{1,400})@")
_BLOB = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{200,}={0,2}")

_HISTORY = ("messages", "input", "contents", "system", "instructions", "systemInstruction")
"""Fields of a request that hold what was said. In the others, schemas declare names."""
_DECLARING = ("properties", "patternProperties", "$defs", "definitions")

Span: TypeAlias = tuple[int, int]
Path: TypeAlias = tuple[str | int, ...]
Hide: TypeAlias = Callable[[str], str]


def redacted(body: bytes) -> Any:
    """A body to be logged: a JSON value, a list of them for a stream, or else text."""
    value = _read(body)
    if value is not None:
        return _hide_in(value)
    text = body.decode("utf-8", "replace")
    lines = [_of_line(line) for line in text.splitlines()]
    if any(isinstance(line, dict | list) for line in lines):
        return _hide_in([line for line in lines if line != ""])
    return redacted_text(text)


def redacted_request(body: dict[str, Any]) -> dict[str, Any]:
    """A request without keys, in which a provider would refuse the same as in `body`.

    What is hidden keeps its kind. Long runs of base64 keep their length, and what was equal is
    equal afterwards, so that ids and names still pair. A schema may declare a field that is named
    like a secret.
    """
    opened = {
        name: _hidden_value(inner)
        if is_secret_name(name)
        else _opened(inner, 1, declares=name not in _HISTORY)
        for name, inner in body.items()
    }
    hide = _StandIns()
    pieces: dict[Path, Iterator[str]] = {
        path: iter([hide(text)]) for path, text in _texts(opened, ())
    }
    made: dict[str, Any] = _rebuilt(opened, (), pieces, hide)
    return made


class _StandIns:
    """Hides keys as `redacted_text` does; equal texts stay equal, and others different."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        if _has(text, _SIGNS) and _KEY.fullmatch(text):
            # It may be the name of a tool or the id of a call.
            return f"hidden_{self._number(text)}"
        return _BLOB.sub(self._blob, "".join(_cut(text, secret_spans(text))))

    def _blob(self, found: re.Match[str]) -> str:
        content = found[0].rstrip("=")
        return f"{self._number(content):0{len(content)}d}{found[0][len(content) :]}"

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers) + 1)


def redacted_text(text: str) -> str:
    """Text without keys, and with long runs of base64 told by their length."""
    hidden = "".join(_cut(text, secret_spans(text)))
    return _BLOB.sub(lambda found: f"({len(found[0])} characters)", hidden)


def secret_spans(text: str) -> list[Span]:
    """Where in a text secrets stand, in order and without overlap."""
    found: list[Span] = []
    folded = text.casefold()
    if _has(text, _SIGNS) or _has(folded, _SIGNS_IN_ANY_CASE):
        found += [match.span() for match in _KEY.finditer(text)]
    if _has(folded, _NAMES):
        found += [match.span("value") for match in _NAMED.finditer(text)]
    found += [match.span("value") for match in _IN_ADDRESS.finditer(text)]
    joined: list[Span] = []
    for start, end in sorted(span for span in found if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _has(text: str, signs: tuple[str, ...]) -> bool:
    return any(sign in text for sign in signs)


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret: `api_key`, `X-Auth-Token`, `clientSecret`."""
    letters = _NO_LETTERS.sub("", name.lower())
    return letters.endswith(_AT_THE_END) or any(word in letters for word in _ANYWHERE)


class _Json:
    """JSON inside a text, as the arguments of calls are."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _hide_in(value: Any) -> Any:
    """Documents of a stream are looked at together, so that keys in pieces are found."""
    opened = _opened(value, 0)
    documents = opened if isinstance(opened, list) else [opened]
    pieces: dict[Path, list[str]] = {}
    for document in documents:
        for path, text in _texts(document, ()):
            pieces.setdefault(path, []).append(text)
    hidden = {path: _hide_pieces(texts) for path, texts in pieces.items()}
    done = [_rebuilt(document, (), hidden, redacted_text) for document in documents]
    return done if isinstance(opened, list) else done[0]


def _hide_pieces(texts: list[str]) -> Iterator[str]:
    """Each text without secrets, its own and those that only show when all are joined."""
    spans, at = secret_spans("".join(texts)) if len(texts) > 1 else [], 0
    following = 0
    for text in texts:
        end = at + len(text)
        while following < len(spans) and spans[following][1] <= at:
            following += 1
        inside: list[Span] = []
        here = following
        while here < len(spans) and spans[here][0] < end:
            inside.append((max(spans[here][0] - at, 0), min(spans[here][1] - at, len(text))))
            here += 1
        yield redacted_text("".join(_cut(text, inside)))
        at = end


def _cut(text: str, spans: list[Span]) -> Iterator[str]:
    at = 0
    for start, end in spans:
        yield text[at:start]
        yield HIDDEN
        at = end
    yield text[at:]


def _read(text: bytes | str) -> dict[str, Any] | list[Any] | str | None:
    """What a JSON text holds; None where it is none, or a mere number."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict | list | str) else None


def _of_line(line: str) -> Any:
    """A line of a stream: what its JSON holds, or itself."""
    value = _read(line.removeprefix("data:"))
    return line if value is None else value


def _opened(value: Any, depth: int, *, declares: bool = False, below: str = "") -> Any:
    """The value with the JSON in its texts read as well, and no deeper than can be walked.

    `declares`: there are schemas in it. `below`: the name of the field that it is in.
    """
    if isinstance(value, str):
        inner = _read(value) if value.lstrip()[:1] in ("{", "[", '"') else None
        return value if inner is None else _Json(_opened(inner, depth + 1))
    if not isinstance(value, dict | list):
        return value
    if depth >= _DEEPEST:
        return _TOO_DEEP
    if isinstance(value, list):
        return [_opened(inner, depth + 1, declares=declares) for inner in value]
    are_names = declares and below in _DECLARING
    return {
        name: _hidden_value(inner)
        if is_secret_name(name) and not (are_names and isinstance(inner, dict))
        else _opened(inner, depth + 1, declares=declares, below=name)
        for name, inner in value.items()
    }


def _hidden_value(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) else HIDDEN


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """All texts with their paths, in the order in which `_rebuilt` meets them."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, _Json):
        yield from _texts(value.value, (*path, ""))
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, (*path, name))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _texts(inner, (*path, at))


def _rebuilt(value: Any, path: Path, hidden: dict[Path, Iterator[str]], hide: Hide) -> Any:
    """The value with its texts hidden, and the names of its fields by `hide`."""
    if isinstance(value, str):
        return next(hidden[path])
    if isinstance(value, _Json):
        return msgspec.json.encode(_rebuilt(value.value, (*path, ""), hidden, hide)).decode()
    if isinstance(value, list):
        return [_rebuilt(inner, (*path, at), hidden, hide) for at, inner in enumerate(value)]
    if isinstance(value, dict):
        return {
            hide(name): _rebuilt(inner, (*path, name), hidden, hide)
            for name, inner in value.items()
        }
    return value
