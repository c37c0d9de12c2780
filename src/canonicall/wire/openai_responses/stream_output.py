"""The output of a streamed response: which item an event is about, and what all of them say.

An item is known by its place, the `output_index`. Where hosts leave that out, or give every item
the same, the ids tell. A call that ends under another id than it began with is still one call: the
last id counts.
"""

from typing import Any

from canonicall.events import Event
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.openai_responses.finish import COMPLETED
from canonicall.wire.openai_responses.stream_item import GrowingItem, Told
from canonicall.wire.openai_responses.stream_items import GrowingCall, GrowingReasoning
from canonicall.wire.openai_responses.stream_message import GrowingMessage
from canonicall.wire.reading import objects_at, text_at

_GROWING: dict[str, type[GrowingItem]] = {
    "message": GrowingMessage,
    "reasoning": GrowingReasoning,
    "function_call": GrowingCall,
    "custom_tool_call": GrowingCall,
}
"""The items that come in pieces. All others are told when they are whole."""


class GrowingOutput:
    """The items of one stream."""

    def __init__(self, domain: str) -> None:
        self._told = Told(domain)
        self._items: list[tuple[int, GrowingItem]] = []
        """In the order of their coming, each with its place in the output."""
        self._by_place: dict[int, GrowingItem] = {}

    @property
    def done(self) -> int:
        """How many items are whole."""
        return sum(item.is_done for _, item in self._items)

    def at(self, data: dict[str, Any]) -> GrowingItem | None:
        """The item that an event is about."""
        place = data.get("output_index")
        if place.__class__ is int:
            return self._by_place.get(place)
        id = data.get("item_id")
        named = (one for _, one in reversed(self._items) if id and one.item.get("id") == id)
        return next(named, self._items[-1][1] if self._items else None)

    def add(self, item: dict[str, Any], place: int | None, events: list[Event]) -> GrowingItem:
        """Begin an item; it goes on if it has begun already, as in a stream that was resumed."""
        if place is None:
            place = len(self._items)
        known = self._by_place.get(place)
        if known is not None and _is_same(known, item) and not _is_next(known, item):
            return known
        kind = text_at(item.get("type"), "$.item.type")
        growing = _GROWING.get(kind, GrowingItem)(item, self._told)
        growing.start(events)
        self._items.append((place, growing))
        self._by_place[place] = growing
        return growing

    def finish(self, item: dict[str, Any], place: int | None, events: list[Event]) -> None:
        """Take in a whole item, once."""
        growing = self._find(item, place) or self.add(item, place, events)
        if not growing.is_done:
            growing.finish(item, events)

    def finish_all(self, output: list[Any], is_complete: bool, events: list[Event]) -> None:
        """Tell what the items have not said of themselves: some hosts leave their ends out.

        A call that is still open in a response that broke off stays open.
        """
        items = [item for item, _ in objects_at(output, "$.response.output")]
        named = [item.get("call_id") for item in items]
        for position, item in enumerate(items):
            growing = self._find(item, position, named) or self.add(item, position, events)
            is_cut = growing.is_call and not is_complete and item.get("status") != COMPLETED
            if not growing.is_done and not is_cut:
                growing.finish(item, events)
        if is_complete:
            for _, growing in self._items:
                if not growing.is_done:
                    whole = growing.whole() or growing.item
                    growing.finish({**whole, "status": COMPLETED}, events)

    def cut(self, events: list[Event]) -> None:
        """Nothing more comes: end what can be kept as far as it came."""
        for _, item in self._items:
            if not item.is_done:
                item.cut(events)

    def whole(self, findings: list[Finding]) -> list[dict[str, Any]]:
        """The items as far as they came."""
        output: list[dict[str, Any]] = []
        for place, item in sorted(self._items, key=lambda one: one[0]):
            whole = item.whole()
            if whole is not None:
                output.append(whole)
            elif type(item) is GrowingItem:
                kind = item.item.get("type")
                why = f"The stream broke off inside an item of type {kind!r}; it was left out."
                where = f"$.output[{place}]"
                findings.append(Finding("item_unfinished", where, Action.DROPPED, why, Fault.INPUT))
        return output

    def _find(
        self, item: dict[str, Any], place: int | None, named: list[Any] | None = None
    ) -> GrowingItem | None:
        """The item that this is the whole of. `named`: the ids of all calls in the response."""
        known = self._by_place.get(place) if place is not None else None
        if known is not None and _is_same(known, item):
            return known
        for name in ("call_id", "id"):
            value = item.get(name)
            for _, one in self._items:
                if value and one.item.get(name) == value and _is_same(one, item):
                    return one
        if known is not None and _is_renamed(known, item):
            is_gone = named is not None and known.item.get("call_id") not in named
            return known if is_gone or not known.is_done else None
        return None


def _is_renamed(known: GrowingItem, item: dict[str, Any]) -> bool:
    """Whether a call may be the one known, under another id: there is one call for each place."""
    one, other = known.item.get("name"), item.get("name")
    is_of_type = known.is_call and known.item.get("type") == item.get("type")
    return is_of_type and (not one or not other or one == other)


def _is_same(known: GrowingItem, item: dict[str, Any]) -> bool:
    """Whether an item is the one known. Item ids change (Copilot's do), those of calls seldom."""
    if known.item.get("type") != item.get("type"):
        return False
    one, other = known.item.get("call_id"), item.get("call_id")
    return not one or not other or one == other


def _is_next(known: GrowingItem, item: dict[str, Any]) -> bool:
    """Whether an item takes the place of one that has ended: some hosts do not count."""
    one, other = known.item.get("id"), item.get("id")
    return known.is_done and bool(one and other) and one != other
