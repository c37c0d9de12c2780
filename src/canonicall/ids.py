"""Identity of tool calls: derive a canonical id, recognise one, swap prefixes, compare spellings.

In: what a provider said about a call. Out: `hist_tool_` and 24 characters that are the same in
every process and differ for every different call. Only this file knows how an id is made.

Ingestion derives (`canonical_tool_id`); the `normalize_to_*` functions only swap prefixes, so
that an id can travel to a provider and come back. The swap is a round trip for canonical ids;
it is not injective over ids of mixed origin (`call_x` and `toolu_x` meet), which is why nothing
but a canonical id is ever sent through it.
"""

import re
from binascii import b2a_base64
from collections.abc import Container, Iterator
from hashlib import sha256

HISTORY_PREFIX = "hist_tool_"
OPENAI_PREFIX = "call_"
ANTHROPIC_PREFIX = "toolu_"

_PREFIXES = (HISTORY_PREFIX, ANTHROPIC_PREFIX, "tooluse_", OPENAI_PREFIX, "fc_")
_LIMITS = (40, 64)
"""The longest ids that OpenAI's Chat Completions and Anthropic's Messages accept."""
_REPLACED = re.compile(r"[^A-Za-z0-9_-]")
_SUFFIX_BYTES = 18
"""They are 24 characters of Base64."""
_CANONICAL = re.compile(HISTORY_PREFIX + "[A-Za-z0-9_-]+")
_TO_BASE64URL = bytes.maketrans(b"+/", b"-_")


def canonical_tool_id(
    *,
    provider_name: str,
    raw_id: str | None,
    tool_name: str | None,
    turn_key: str,
    call_index: int,
) -> str:
    """The canonical id of one call.

    All five fields take part, always: providers reuse raw ids, so the raw id alone names nothing.
    A missing raw id or tool name counts as the empty string; turn key and index still tell such
    calls apart. An id that is canonical already is returned unchanged.
    """
    if raw_id and is_canonical_tool_id(raw_id):
        return raw_id
    return derived_tool_id(provider_name, raw_id, tool_name, turn_key, call_index)


def derived_tool_id(
    provider_name: str,
    raw_id: str | None,
    tool_name: str | None,
    turn_key: str,
    call_index: int,
) -> str:
    """The hash of the five fields, whatever the raw id looks like.

    For a call whose id is canonical but taken: a second occurrence needs an id of its own.
    """
    joined = f"{provider_name}|{raw_id or ''}|{tool_name or ''}|{turn_key}|{call_index}"
    # Exactly four separators means that no field holds one, and without a backslash nothing
    # needs escaping: the usual case costs one join.
    if joined.count("|") != 4 or "\\" in joined:
        fields = (provider_name, raw_id or "", tool_name or "", turn_key, str(call_index))
        joined = "|".join(_escaped(field) for field in fields)
    # A lone surrogate has no UTF-8 form; "surrogatepass" gives each one bytes of its own.
    digest = sha256(joined.encode("utf-8", "surrogatepass")).digest()
    return HISTORY_PREFIX + base64url(digest[:_SUFFIX_BYTES])


def made_call_id(tool_name: str, arguments: str, call_index: int) -> str:
    """An id for a call that has none, and that is in no conversation yet."""
    joined = "|".join(map(_escaped, (tool_name, arguments, str(call_index))))
    digest = sha256(joined.encode("utf-8", "surrogatepass")).digest()
    return OPENAI_PREFIX + base64url(digest[:_SUFFIX_BYTES])


def is_canonical_tool_id(id: str) -> bool:
    """Whether `id` has the canonical form: the prefix, then what every provider accepts.

    The bare prefix is none: two calls without ids would share it.
    """
    return id.startswith(HISTORY_PREFIX) and _CANONICAL.fullmatch(id) is not None


def normalize_to_openai_tool_id(id: str) -> str:
    """`hist_tool_x` and `toolu_x` become `call_x`; anything else gets the prefix `call_`."""
    return _with_prefix(id, OPENAI_PREFIX)


def normalize_to_history_tool_id(id: str) -> str:
    """`call_x` and `toolu_x` become `hist_tool_x`; anything else gets the prefix `hist_tool_`."""
    return _with_prefix(id, HISTORY_PREFIX)


def normalize_to_anthropic_tool_id(id: str) -> str:
    """`hist_tool_x` and `call_x` become `toolu_x`; anything else gets the prefix `toolu_`."""
    return _with_prefix(id, ANTHROPIC_PREFIX)


class Spellings:
    """Calls by every form in which a result may write their id.

    Clients and hosts rewrite ids on the way: they swap or drop a prefix (`call_x`, `toolu_x`, `x`),
    replace characters (`functions.a:0`, `functions_a_0`), cut at a length limit, join two ids
    (`call_x|fc_1`), or leave blanks around them.
    """

    def __init__(self) -> None:
        self._whole: dict[str, list[str]] = {}
        self._cut: dict[str, list[str]] = {}

    def add(self, raw_id: str, call: str) -> None:
        """Note a call under its raw id."""
        for form in _forms(raw_id):
            self._whole.setdefault(form, []).append(call)
        for form in _cuts(raw_id):
            self._cut.setdefault(form, []).append(call)

    def matching(self, id: str, open_calls: Container[str], at_most: int) -> list[str]:
        """The first of the open calls whose id may be spelled `id`.

        A call that is not open any more is forgotten here: it is not looked at twice.
        """
        found: dict[str, None] = {}
        for calls in self._written_as(id):
            kept: list[str] = []
            seen = 0
            while seen < len(calls) and len(found) < at_most:
                if calls[seen] in open_calls:
                    kept.append(calls[seen])
                    found[calls[seen]] = None
                seen += 1
            if len(kept) < seen:
                calls[:seen] = kept
        return list(found)

    def _written_as(self, id: str) -> Iterator[list[str]]:
        for form in _forms(id):
            yield self._whole.get(form, [])
        written = _written(id)
        if len(written) in _LIMITS:
            yield self._cut.get(written, [])
        for form in _cuts(id):
            yield self._whole.get(form, [])


def base64url(digest: bytes) -> str:
    """Base64 with the URL-safe alphabet, as `base64.urlsafe_b64encode` writes it."""
    return b2a_base64(digest, newline=False).translate(_TO_BASE64URL).decode()


def _with_prefix(id: str, prefix: str) -> str:
    if id.startswith(prefix):
        return id
    for known in (HISTORY_PREFIX, OPENAI_PREFIX, ANTHROPIC_PREFIX):
        if id.startswith(known):
            return prefix + id[len(known) :]
    return prefix + id


def _escaped(field: str) -> str:
    return field.replace("\\", "\\\\").replace("|", "\\|")


def _forms(id: str) -> list[str]:
    """An id and its parts if it is joined, in plain characters, with and without the prefix.

    What is joined to the id of a call is that of an item. It counts only as a whole: `fc_1` without
    its prefix would mean another call, `1` or `call_1`.
    """
    head, *items = id.split("|")
    forms = dict.fromkeys(map(_written, items))
    for part in (id, head):
        written = _written(part)
        prefix = next((one for one in _PREFIXES if written.startswith(one)), "")
        forms |= {written: None, written[len(prefix) :]: None}
    return [form for form in forms if form]


def _cuts(id: str) -> list[str]:
    """What is left of an id at the limits that it exceeds."""
    written = _written(id)
    return [written[:limit] for limit in _LIMITS if len(written) > limit]


def _written(id: str) -> str:
    return _REPLACED.sub("_", id.strip())
