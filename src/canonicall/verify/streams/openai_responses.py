"""The events of a streamed response.

Every event has the next number. `response.created` and `response.in_progress` start the stream;
each item is added, filled and done; one of completed, incomplete and failed ends the stream with
the whole response in it; `error` ends it as well. Items may overlap, as hosted tools do.
"""

import re
from collections.abc import Callable, Iterator

from canonicall.verify.node import Node
from canonicall.verify.streams.grammar import Grammar
from canonicall.verify.streams.openai_items import CALLS, FAMILIES, Item
from canonicall.verify.violation import Violation

# The status of the response that each of its own events shows.
STATUS = {
    "response.created": {"in_progress", "queued"},
    "response.queued": {"queued"},
    "response.in_progress": {"in_progress"},
    "response.completed": {"completed"},
    "response.incomplete": {"incomplete"},
    "response.failed": {"failed", "cancelled"},
}
TERMINALS = {"response.completed", "response.incomplete", "response.failed"}
PARTS = {"response.content_part": "content", "response.reasoning_summary_part": "summary"}
INCOMPLETE = {"max_output_tokens", "max_messages", "content_filter", "steered"}
# What the provider's own tools report of their items, and what says nothing of the reply.
HOSTED = re.compile(
    r"response\.(web_search_call|file_search_call|code_interpreter_call|image_generation_call"
    r"|mcp_call|mcp_list_tools|shell_call_command|shell_call_output_content"
    r"|apply_patch_call_operation_diff|compaction|output_text\.annotation)\.\w+"
)
APART = re.compile(r"response\.(audio|steer)(\.\w+)+")


class OpenaiResponsesGrammar(Grammar):
    """One streamed response."""

    source = "platform.openai.com: responses streaming; openai.types.responses.ResponseStreamEvent"

    def __init__(self) -> None:
        super().__init__()
        self._next = 0
        self._id = ""
        self._has_started = False
        self._is_in_progress = False
        self._items: dict[int, Item] = {}
        self._call_ids: set[str] = set()

    def frame(self, name: str, data: Node) -> Iterator[Violation]:
        kind = data.text("type")
        if name != kind:
            yield self.broken("event_name_differs", data.where)
        yield from self._numbered(data)
        if self.is_over:
            yield self.broken("event_after_end", data.where)
        elif kind == "error":
            yield from self.missing(data.node("error") if data.has("error") else data, "message")
            self.failed()
        elif kind in STATUS:
            yield from self._lifecycle(kind, data)
        else:
            if not self._has_started:
                error = f"Expected to have received `response.created` before `{kind}`"
                yield self.broken("stream_not_started", data.where, error)
            elif not self._is_in_progress:
                yield self.broken("event_out_of_order", data.where)
            yield from self._of_item(kind, data)

    def _numbered(self, data: Node) -> Iterator[Violation]:
        number = data.integer("sequence_number")
        if number != self._next:
            yield self.broken("sequence_broken", data.at("sequence_number"))
        self._next = (self._next if number is None else number) + 1

    def _lifecycle(self, kind: str, data: Node) -> Iterator[Violation]:
        response = data.node("response")
        yield from self.missing(response, "id", "object", "created_at", "model", "output", "status")
        yield from self._course(kind, data)
        if self._id and response.text("id") != self._id:
            error = "Lifecycle response identity changed."
            yield self.broken("stream_id_changed", response.at("id"), error)
        self._id = self._id or response.text("id")
        if response.text("status") not in STATUS[kind]:
            yield self.broken("done_differs", response.at("status"))
        if kind in TERMINALS:
            yield from self._terminal(kind, response)
        elif response.values("output"):
            yield self.broken("event_out_of_order", response.at("output"))

    def _course(self, kind: str, data: Node) -> Iterator[Violation]:
        """Created comes first and once, then in_progress once, before any item."""
        if kind == "response.created":
            if self._has_started:
                yield self.broken("stream_started_twice", data.where)
            self._has_started = True
        elif not self._has_started:
            error = f"Expected to have received `response.created` before `{kind}`"
            yield self.broken("stream_not_started", data.where, error)
        elif self._is_in_progress != (kind in TERMINALS) and kind != "response.failed":
            yield self.broken("event_out_of_order", data.where)
        if kind == "response.in_progress":
            self._is_in_progress = True

    def _terminal(self, kind: str, response: Node) -> Iterator[Violation]:
        self.is_over = True
        if kind == "response.failed":
            yield from self.missing(response.node("error"), "code", "message")
            return
        output = response.nodes("output")
        if kind == "response.completed":
            self.complete = True
            if any(item.done is None for item in self._items.values()):
                error = "Cannot complete response with unfinished output items."
                yield self.broken("block_left_open", response.where, error)
            if len(output) != len(self._items):
                yield self.broken("done_differs", response.at("output"))
        else:
            reason = response.node("incomplete_details").text("reason")
            self.complete = reason in INCOMPLETE
            if reason and not self.complete:
                yield self.broken("finish_unknown", response.at("incomplete_details"))
        for (_, item), final in zip(sorted(self._items.items()), output, strict=False):
            if item.done is not None and not item.same_as(final):
                yield self.broken("done_differs", final.where)

    def _of_item(self, kind: str, data: Node) -> Iterator[Violation]:
        stem, _, event = kind.rpartition(".")
        if kind == "response.output_item.added":
            yield from self._added(data)
        elif APART.fullmatch(kind):
            return
        elif not (
            kind == "response.output_item.done"
            or HOSTED.fullmatch(kind)
            or (stem in FAMILIES and event in ("delta", "done"))
            or (stem in PARTS and event in ("added", "done"))
        ):
            yield self.broken("unknown_event", data.at("type"))
        else:
            yield from self._into(stem, event, data)

    def _added(self, data: Node) -> Iterator[Violation]:
        index = data.integer("output_index")
        node = data.node("item")
        if index != len(self._items):
            error = f"Duplicate response output index {index}." if index in self._items else ""
            yield self.broken("index_out_of_order", data.at("output_index"), error)
        item = Item(node, self)
        self._items[len(self._items) if index is None else index] = item
        yield from self.missing(node, "type")
        if item.type not in CALLS:
            yield from self.missing(node, "id")
            return
        call_id = node.text("call_id")
        if not (call_id and node.text("name")):
            yield self.broken("call_incomplete", node.where)
        if call_id and call_id in self._call_ids:
            yield self.broken("duplicate_call_id", node.at("call_id"))
        self._call_ids.add(call_id)
        if node.text("arguments") or node.text("input"):
            yield self.broken("content_twice", node.where)

    def _not_open(self, data: Node, index: int | None) -> Violation:
        never = (
            f"Received a content event for output index {index} before receiving its output item"
        )
        error = "" if index in self._items else never
        return self.broken("block_not_open", data.at("output_index"), error)

    def _into(self, stem: str, event: str, data: Node) -> Iterator[Violation]:
        """An event of an item that has to be open."""
        index = data.integer("output_index")
        item = None if index is None else self._items.get(index)
        if item is None or item.done is not None:
            yield self._not_open(data, index)
            return
        id = item.added.text("id")
        if data.has("item_id") and id and data.text("item_id") != id:
            yield self.broken("stream_id_changed", data.at("item_id"))
        if stem == "response.output_item":
            yield from item.ended(data.node("item"))
        elif stem in PARTS:
            list = PARTS[stem]
            act: Callable[[str, Node, int | None], Iterator[Violation]]
            act = item.part_added if event == "added" else item.part_done
            yield from act(list, data, data.integer(f"{list}_index"))
        elif stem in FAMILIES:
            family = FAMILIES[stem]
            place = data.integer(f"{family.list}_index") if family.list else None
            yield from (item.delta if event == "delta" else item.given)(family, data, place)
