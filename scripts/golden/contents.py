"""Contents of records, and what differs between two of them.

In: two records of the same question (kind, codes, content as bytes). Out: `Difference`s with a path
and codes, which name the group they belong to, and texts that show both sides.

Lists of findings, violations, sentences and causes are compared by their codes: what was added,
removed, or has another place, action, fault or sentence. All else is compared by path, and a
changed body names the codes that came and went with the change. Streams are compared frame by
frame. Equal JSON in other bytes is the path `(bytes)`.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from scripts.golden.paths import Change, as_text, changes

_FIELDS = {
    "findings": ("where", "action", "fault"),
    "damaged-findings": ("where", "action", "fault"),
    "violations": ("where",),
    "damaged-violations": ("where",),
    "explain": ("places", "violations"),
    "wording": ("sentence",),
}
"""What the entries of a list have beside their code."""


class Difference(NamedTuple):
    """One difference between two records."""

    path: str
    codes: str
    before: str
    after: str


def differences(
    kind: str, before: tuple[bytes, bytes], after: tuple[bytes, bytes]
) -> list[Difference]:
    """What differs between two records, given as their codes and contents."""
    (codes, content), (new_codes, new_content) = before, after
    changed = _changed_codes(codes, new_codes)
    one, other = _value(content), _value(new_content)
    if _is_failure(one) or _is_failure(other):
        return [_between_failures(one, other)]
    if kind in _FIELDS:
        found = list(_by_code(one, other, _FIELDS[kind]))
    else:
        found = [
            Difference(change.path, changed, as_text(change.before), as_text(change.after))
            for change in changes(_without_findings(one), _without_findings(other))
        ]
        found += (
            item._replace(path=f"findings {item.path}")
            for item in _by_code(_findings(one), _findings(other), _FIELDS["findings"])
        )
    if found:
        return found
    if content == new_content:
        return [Difference("(codes)", changed, codes.decode(), new_codes.decode())]
    shown = (content.decode(errors="replace"), new_content.decode(errors="replace"))
    return [Difference("(bytes)", changed, *shown)]


def _changed_codes(before: bytes, after: bytes) -> str:
    """The codes that came (`+`) and those that went (`-`)."""
    old, new = (set(codes.decode().split(",")) - {""} for codes in (before, after))
    came = [f"+{code}" for code in sorted(new - old)]
    return " ".join([*came, *(f"-{code}" for code in sorted(old - new))])


def _value(content: bytes) -> Any:
    """The JSON of a record; streams and bodies that are strings are parsed too."""
    try:
        value = json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
    if isinstance(value, str):
        return _unfolded(value)
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], int):
        return {"status": value[0], "body": _unfolded(value[1])}
    return value


def _unfolded(text: str) -> Any:
    """The value of a text that is JSON, a stream of events, or JSON on every line."""
    if text.startswith(("data:", "event:", ":")):
        return [_frame(frame) for frame in text.split("\n\n") if frame]
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line]
    except ValueError:
        return text


def _frame(text: str) -> Any:
    lines = [line.partition(": ") for line in text.split("\n")]
    data = "\n".join(value for name, _, value in lines if name == "data")
    try:
        value = json.loads(data)
    except ValueError:
        value = data or text
    names = [value for name, _, value in lines if name == "event"]
    return {"event": names[0], "data": value} if names else value


def _is_failure(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"exception", "message"}


def _between_failures(one: Any, other: Any) -> Difference:
    """With an exception all findings are gone: their codes would part what belongs together."""
    was = one["exception"] if _is_failure(one) else ""
    now = other["exception"] if _is_failure(other) else ""
    if was and now:
        path = f"{was}: message" if was == now else f"{was} became {now}"
    else:
        path = f"{was} no longer raised" if was else f"{now} raised"
    shown = [value["message"] if _is_failure(value) else as_text(value) for value in (one, other)]
    return Difference(path, "", *shown)


def _findings(value: Any) -> list[list[Any]]:
    """The findings beside what was read."""
    found = value.get("findings") if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _without_findings(value: Any) -> Any:
    if _findings(value):
        return {key: one for key, one in value.items() if key != "findings"} | {"findings": []}
    return value


def _by_code(
    before: list[list[Any]], after: list[list[Any]], fields: tuple[str, ...]
) -> Iterator[Difference]:
    """Entries that were added, removed or changed, by their code."""
    old, new = map(Counter, (map(_entry, before), map(_entry, after)))
    gone, come = list((old - new).elements()), list((new - old).elements())
    for code in sorted({code for code, _ in (*gone, *come)}):
        was = [json.loads(rest) for it, rest in gone if it == code]
        now = [json.loads(rest) for it, rest in come if it == code]
        for one, other in zip(was, now, strict=False):
            for change in _in_fields(one, other, fields):
                yield Difference(change.path, code, as_text(change.before), as_text(change.after))
        for one in was[len(now) :]:
            yield Difference("removed", code, _shown(one), "(absent)")
        for other in now[len(was) :]:
            yield Difference("added", code, "(absent)", _shown(other))
    if not gone and not come and before != after:
        yield Difference("order", "", as_text(before), as_text(after))


def _entry(entry: list[Any]) -> tuple[str, str]:
    return entry[0], json.dumps(entry[1:])


def _in_fields(one: list[Any], other: list[Any], fields: tuple[str, ...]) -> Iterator[Change]:
    for name, before, after in zip(fields, one, other, strict=True):
        if before != after:
            yield Change(name, before, after)


def _shown(entry: list[Any]) -> str:
    return ", ".join(map(as_text, entry))
