"""Identity of tool calls: keys of turns, canonical ids, their prefixes and spellings.

In: what a provider said about a call. Out: `hist_tool_` and 24 characters that are the same in
every process and differ for every different call. Only this file knows how an id is made.

Ingestion derives (`canonical_tool_id`); the `normalize_to_*` functions only swap prefixes, so
that an id can travel to a provider and come back. The swap is a round trip for canonical ids;
it is not injective over ids of mixed origin (`call_x` and `toolu_x` meet), which is why nothing
but a canonical id is ever sent through it.

An id is derived from the key of its turn. A message keeps the key that it came with. One that came
without gets a key from what it says, never from its place, so that replay and compaction change no
id. Models repeat themselves: the same call, under the same id or none, in many turns. A message
that was there before gets a key from what it says and from what it answers: the messages between it
and the turn before. So these keep their ids too when a client prunes the head of its history; only
the first that is left may change. Messages that are equal and answer the same are counted.
"""

import re
from binascii import b2a_base64
from collections.abc import Container, Iterator
from hashlib import sha256

import msgspec

from canonicall.blocks import Message, Text, ToolCall, ToolResult

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


_PREFIX = "turn_"
_BYTES = 12
"""They are 16 characters of Base64."""
_LONGEST_COUNT = 9
"""Digits. What an equal message answers is a longer part of a key."""


class TurnKeys:
    """The keys given so far. Equal messages are told apart by what they answer, then counted."""

    def __init__(self) -> None:
        self._occurrences: dict[str, int] = {}
        """How often a key was given, without the count at its end."""
        self.heard: list[Message] = []
        """What was said to the model since its last message; it is for others to add to."""

    def fork(self) -> "TurnKeys":
        """An independent copy."""
        twin = TurnKeys()
        twin._occurrences = dict(self._occurrences)
        twin.heard = list(self.heard)
        return twin

    def key_of(self, message: Message) -> str:
        """The key of the next message of the model."""
        if message.turn_key:
            self._note(message.turn_key)
            self.heard.clear()
            return message.turn_key
        base, occurrences = _PREFIX + _digest(_said(message)), self._occurrences
        if base in occurrences:
            base = f"{base}.{_digest([_said(one) for one in self.heard])}"
        self.heard.clear()
        if base not in occurrences:
            occurrences[base] = 1
            return base
        occurrences[base] += 1
        return f"{base}.{occurrences[base]}"

    def _note(self, key: str) -> None:
        """Count a key that was given before."""
        if not key.startswith(_PREFIX):
            return
        base, _, count = key.rpartition(".")
        if not (count.isdecimal() and len(count) <= _LONGEST_COUNT):
            base, count = key, "1"
        self._occurrences[base] = max(self._occurrences.get(base, 0), int(count))
        self._occurrences.setdefault(base.partition(".")[0], 1)


def _digest(said: list[object]) -> str:
    return base64url(sha256(msgspec.json.encode(said)).digest()[:_BYTES])


def _said(message: Message) -> list[object]:
    """What a message says, for its key.

    Reasoning is left out: clients drop and rewrite it, and the key has to survive that.
    """
    parts: list[object] = [message.role]
    for block in message.blocks:
        if type(block) is Text:
            parts.append(block.text)
        elif type(block) is ToolCall:
            parts += (block.raw_id or block.id, block.name)
            parts.append(block.raw if block.args is None else block.args)
        elif type(block) is ToolResult and message.role != "assistant":
            parts.append(block.text)
    return parts
