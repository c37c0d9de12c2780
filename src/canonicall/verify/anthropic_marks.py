"""Cache marks of the Messages API: what one may say, how many there may be, and in which order."""

from collections.abc import Iterator
from typing import Any

from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.cache_marks import Mark, marks_in_order
from canonicall.verify.node import Node, dotted
from canonicall.verify.violation import Violation, refuse

CACHING = "platform.claude.com: prompt caching"
MARK = "cache_control"
_NAMES = vocabulary("anthropic")


def mark_violations(root: Node, target: Target) -> Iterator[Violation]:
    found = [tool for tool in root.nodes("tools") if tool.has(MARK)]
    found += [one for part in ("system", "messages") for one in _marked_in(root, part)]
    for owner in (root, *found):
        yield from _mark(owner)
    # The mark of the request is one of them, unless the last block has it already.
    count = len(found) + (root.has(MARK) and not _last_mark(root))
    if count > target.cache_marks:
        error = (
            f"A maximum of {target.cache_marks} blocks with cache_control may be provided. "
            f"Found {count}."
        )
        yield refuse("too_many_cache_marks", "$", error, source=CACHING)
    marks = [Mark(owner.at(MARK), _lifetime(owner.get(MARK)) == "1h") for owner in found]
    yield from marks_in_order(marks, target, CACHING)
    if target.cache_order:
        yield from _automatic_mark(root)


def _mark(owner: Node) -> Iterator[Violation]:
    """What one mark says: its kind, its lifetime, and nothing that nobody knows."""
    mark = owner.get(MARK)
    if not isinstance(mark, dict) or mark == {"type": "ephemeral"}:
        return
    place, where = _place(owner), owner.at(MARK)
    if mark.get("type") != "ephemeral":
        error = f"{place}: Input tag '{mark.get('type')}' found using 'type' does not match any of "
        error += "the expected tags: 'ephemeral'"
        if mark.get("type") is None:
            error = f"{place}: Unable to extract tag using discriminator 'type'"
        yield refuse("bad_cache_mark", where, error, source="error text of the API")
        return
    if mark.get("ttl") is not None and mark["ttl"] not in _NAMES.lifetimes:
        error = f"{place}.ephemeral.ttl: Input should be '5m' or '1h'"
        yield refuse("bad_cache_mark", f"{where}.ttl", error, source="error text of the API")
    for name in sorted(mark.keys() - set(_NAMES.mark_fields)):
        error = f"{place}.ephemeral.{name}: Extra inputs are not permitted"
        yield refuse("unknown_field", f"{where}.{name}", error, source="error text of the API")


def _place(owner: Node) -> str:
    """Where a mark stands, in the words of the API, which names the type of a block as well."""
    where = dotted(owner.at(MARK))
    if not where.startswith("messages"):
        return where
    return f"{dotted(owner.where)}.{owner.get('type')}.{MARK}"


def _automatic_mark(root: Node) -> Iterator[Violation]:
    """A mark of the request stands on its last block, which may have one that says the same.

    That it is refused is documented, the words are not.
    """
    automatic, last = _lifetime(root.get(MARK)), _lifetime(_last_mark(root))
    if automatic and last and automatic != last:
        error = "cache_control: the last block has a cache_control with another ttl, "
        error += f"'{last}' and not '{automatic}'"
        yield refuse("cache_mark_order", root.at(MARK), error, source=CACHING)


def _last_mark(root: Node) -> Any:
    messages = root.nodes("messages")
    content = messages[-1].get("content") if messages else None
    last = content[-1] if isinstance(content, list) and content else None
    return last.get(MARK) if isinstance(last, dict) else None


def _lifetime(mark: Any) -> str:
    """The lifetime that a mark names, or the usual one; "" where there is no mark."""
    return str(mark.get("ttl") or "5m") if isinstance(mark, dict) else ""


def _marked_in(root: Node, part: str) -> Iterator[Node]:
    yield from _marked(root.get(part), root.at(part))


def _marked(value: Any, where: str) -> Iterator[Node]:
    """Blocks that have a cache mark, and those in them; arguments are not looked into."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from _marked(item, f"{where}[{at}]")
    elif isinstance(value, dict):
        yield from _marked(value.get("content"), f"{where}.content")
        if value.get(MARK) is not None:
            yield Node(value, where)
