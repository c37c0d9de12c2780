"""The places of findings in both bodies: `came` where it came in, `went` where it goes out.

In: a request as it was read, the renderer that rendered it, the body that was written, and the
findings. Out: the findings with paths. A path that is given exists in its body; where it is not
known it is empty, as `came` is for what was added and `went` for what was dropped.

How a place is found: the format of the incoming body says which of its messages became which
entries, the renderer which turns an entry became, the encoder how many messages each turn was
written as. Inside of a message the n-th call is the n-th call, and so for results, texts, thoughts
and media; where their numbers differ, the path of the message is given.

Nothing of this runs for a request without findings.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeGuard

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Text, ToolCall, ToolResult
from canonicall.errors import MalformedBody
from canonicall.findings import Action, Finding, Place
from canonicall.request import Request, Tool
from canonicall.transcript.placing import BRIDGE, CONTINUE, START
from canonicall.transcript.render import Renderer
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.formats import get_format
from canonicall.wire.places import (
    INSTRUCTIONS,
    MESSAGES,
    Kind,
    canonical_name,
    existing,
    found_at,
    kind_of,
    parameter,
    parts_of,
    tool_paths,
)
from canonicall.wire.reading import parse_json

_PLACE = re.compile(r"(entries|turns|tools)\[(\d+)\](?:\.blocks\[(\d+)\])?")
_TOOLS = re.compile(r"\$\.(?:tools|functions|toolConfig\.tools)\[")
_MESSAGE = re.compile(r"\$\.(?:\w+\[\d+\]|\w+)")
_AROUND = ("request", "native", "$")
_ADDED, _GONE = Action.ADDED, (Action.DROPPED, Action.SET_ASIDE, Action.REFUSED)
_BRIDGES = (BRIDGE, CONTINUE, START)


class Sent:
    """One request on its way from one body to another."""

    def __init__(
        self,
        given: Request,
        request: Request,
        renderer: Renderer,
        transcript: Transcript,
        body: dict[str, Any],
    ) -> None:
        self._given = given
        """As it was read."""
        self._request = request
        """As it was written."""
        self._entries = request.conversation.entries
        self._ledger = request.conversation.ledger
        self._renderer = renderer
        self._transcript = transcript
        self._body = body
        # What was looked up once is kept: many findings may be about one message.
        self._parts_read: dict[tuple[str, ...], dict[Place, str]] = {}
        self._parts_by_path: dict[tuple[str, ...], dict[str, Place]] = {}
        self._parts_written: dict[int, list[str]] = {}
        self._entries_written: dict[tuple[int, bool], str] = {}
        self._places: dict[int, list[Place | None]] = {}
        self._answers: dict[int, dict[str, Place]] = {}
        self._made_up: dict[int, Iterator[Place]] = {}

    def read(self, findings: Iterable[Finding]) -> list[Finding]:
        """What was said while the body was read: `where` is a path of it, or of the log."""
        return [self._located(one, one.where, self._given.tools) for one in findings]

    def rendered(self, findings: Iterable[Finding]) -> list[Finding]:
        """What was said of the request and of the conversation before they were written."""
        given, left = self._given.tools, self._request.tools
        is_same = len(given) == len(left)
        return [
            one
            if one.went
            else self._located(one, "", given if is_same or one.code == "tool_dropped" else left)
            for one in findings
        ]

    def written(self, findings: Iterable[Finding]) -> list[Finding]:
        """What the encoder said. It counts only the turns that are messages.

        Where it wrote a field of its own it has said so.
        """
        return [one if one.went else self._located_turn(one) for one in findings]

    def _located_turn(self, finding: Finding) -> Finding:
        """`finding` of an encoder with its paths: its turn has another number among all turns."""
        tools = self._request.tools
        turn = _PLACE.match(finding.where) if finding.where.startswith("turns[") else None
        if turn is None or int(turn[2]) >= len(self._written_turns):
            return self._located(finding, "", tools)
        counted = replace(finding, where=f"turns[{self._written_turns[int(turn[2])]}]")
        return replace(self._located(counted, "", tools), where=finding.where)

    def _located(self, finding: Finding, path: str, tools: Sequence[Tool]) -> Finding:
        """`finding` with its paths; `path` is where it is in the incoming body, if that is said."""
        where, action = finding.where, finding.action
        place = _PLACE.match(where)
        came = action is not _ADDED
        went = not came or action not in _GONE
        paths = ("", "")
        if place is None:
            if where.partition("[")[0] in _AROUND:
                paths = self._parameter(self._only_field, came, went)
            elif not where.startswith("$."):
                paths = self._parameter(_canonical(where), came, went)
            elif not path:
                paths = self._parameter(canonical_name(where), came, went)
            else:
                paths = existing(path, self._came_in), self._went_from(path) if went else ""
        else:
            list_of, number, inner = place.groups()
            at, position = int(number), int(inner) if inner else None
            if list_of == "entries":
                sent = self._went_of(at, position, finding.code) if went else ""
                paths = self._came_of(at, position) if came else "", sent
            elif list_of == "turns":
                paths = self._came_of_turn(at), self._turn_path(at)
            else:
                paths = self._tool(at, tools)
        if not (came and paths[0]) and not (went and paths[1]):
            return finding
        return replace(finding, came=paths[0] if came else "", went=paths[1] if went else "")

    # The body that came in.

    @cached_property
    def _came_in(self) -> Any:
        source = self._given.source
        return parse_json(source.given, []) if source is not None else None

    @cached_property
    def _sources(self) -> list[tuple[str, ...]]:
        """The paths that each entry was read from; empty where the log is not what was read."""
        source, body = self._given.source, self._came_in
        if source is None or not isinstance(body, dict):
            return []
        try:
            places = list(get_format(source.format).message_places(body))
        except (MalformedBody, AttributeError, TypeError):
            return []  # It was changed after it was read.
        split = [
            int(found[2])
            for one in self._given.findings
            if one.code == "call_in_wrong_role" and (found := _PLACE.match(one.where))
        ]
        more = len(self._entries) - len(places)
        if more not in (0, len(split)):
            return []
        for at in split if more else ():
            if at >= len(places):
                return []
            places.insert(at, places[at])
        return places

    @cached_property
    def _alike(self) -> dict[str, list[int]]:
        """The entries that were read from each path."""
        found: dict[str, list[int]] = {}
        for entry, paths in enumerate(self._sources):
            for path in paths:
                found.setdefault(path, []).append(entry)
        return found

    def _came_of(self, entry: int, position: int | None) -> str:
        if entry >= len(self._sources):
            return ""
        if position is None:
            return existing(self._sources[entry][0], self._came_in)
        return self._came_parts(self._sources[entry]).get((entry, position), "")

    def _came_parts(self, paths: tuple[str, ...]) -> dict[Place, str]:
        """The paths of all blocks that were read from the same messages or items."""
        known = self._parts_read.get(paths)
        if known is None:
            entries = self._alike[paths[0]]
            places = [(at, n) for at in entries for n, _ in enumerate(self._blocks(at))]
            blocks = [block for at in entries for block in self._blocks(at)]
            found = _part_paths(blocks, paths, self._came_in)
            known = self._parts_read[paths] = dict(zip(places, found, strict=True))
        return known

    @cached_property
    def _first_entries(self) -> dict[int, int]:
        """The first entry that each turn was made of."""
        found: dict[int, int] = {}
        for entry in range(len(self._entries)):
            for at, _ in self._renderer.placed(entry):
                found.setdefault(at, entry)
        return found

    def _came_of_turn(self, turn: int) -> str:
        entry = self._first_entries.get(turn)
        return "" if entry is None else self._came_of(entry, None)

    def _blocks(self, entry: int) -> tuple[Block, ...]:
        message = self._entries[entry]
        return message.blocks if isinstance(message, Message) else ()

    # The body that goes out.

    @cached_property
    def _counts(self) -> list[int]:
        """How many messages each turn was written as."""
        return self._renderer.known_turns.counts

    @cached_property
    def _written_turns(self) -> list[int]:
        """The turns that are messages. Instructions may be a field of their own."""
        turns, count = self._transcript.turns, len(self._counts)
        spoken = [at for at, turn in enumerate(turns) if turn.role not in ("system", "developer")]
        return spoken if len(spoken) == count else list(range(len(turns) - count, len(turns)))

    @cached_property
    def _field(self) -> str:
        """The field with the messages of the turns; empty where it holds something else."""
        field = next((name for name in MESSAGES if name in self._body), "")
        messages = self._body[field] if field else None
        is_written = isinstance(messages, list) and len(messages) == sum(self._counts)
        return field if is_written else ""

    @cached_property
    def _messages(self) -> dict[int, tuple[int, int]]:
        """Where in `_field` the messages of each turn begin and end."""
        if not self._field:
            return {}
        ends = accumulate(self._counts, initial=0)
        return dict(zip(self._written_turns, pairwise(ends), strict=False))

    def _turn_paths(self, turn: int) -> list[str]:
        """The paths of what a turn was written as: its messages, or the field of instructions."""
        if turn in self._messages:
            return [f"$.{self._field}[{at}]" for at in range(*self._messages[turn])]
        top = next((name for name in INSTRUCTIONS if name in self._body), "")
        is_apart = self._field and top and turn < len(self._transcript.turns)
        return [f"$.{top}"] if is_apart else []

    def _turn_path(self, turn: int) -> str:
        first, end = self._messages.get(turn, (0, 0))
        if first < end:
            return f"$.{self._field}[{first}]"
        return next(iter(self._turn_paths(turn)), "")

    def _block_path(self, place: Place) -> str:
        turn, position = place
        known = self._parts_written.get(turn)
        if known is None:
            paths = self._turn_paths(turn)
            blocks = self._transcript.turns[turn].blocks
            known = self._parts_written[turn] = _part_paths(blocks, paths, self._body)
        return known[position]

    def _went_of(self, entry: int, position: int | None, code: str) -> str:
        if entry >= len(self._entries):
            return ""
        if code == "result_made_up":
            return self._next_made_up(entry)
        if position is None:
            return self._entry_path(entry, is_bridge=code == "bridge_added")
        if position < len(self._blocks(entry)):
            place = self._block_places(entry)[position]
            if place is not None:
                return self._block_path(place)
        return self._entry_path(entry, is_bridge=code == "bridge_added")

    def _entry_path(self, entry: int, *, is_bridge: bool = False) -> str:
        """The path of what an entry was sent as: its message, or its only block inside of one."""
        whole = None if is_bridge else self._renderer.whole_turn(entry)
        if whole is not None:
            return self._turn_path(whole)
        key = entry, is_bridge
        if key not in self._entries_written:
            placed = self._renderer.placed(entry)
            if not placed:
                placed = [one for one in self._block_places(entry) if one is not None]
            turns = self._transcript.turns
            own = [one for one in placed if _is_bridge(turns[one[0]]) is is_bridge] or placed
            is_inside = len(own) == 1 and len(turns[own[0][0]].blocks) > 1
            path = self._block_path(own[0]) if is_inside else ""
            self._entries_written[key] = path or (self._turn_path(own[0][0]) if own else "")
        return self._entries_written[key]

    def _block_places(self, entry: int) -> list[Place | None]:
        """Where each block of an entry is in the turns; None where it is not known."""
        known = self._places.get(entry)
        if known is None:
            theirs: dict[Kind, list[Place]] = {}
            for place in self._renderer.placed(entry):
                theirs.setdefault(kind_of(self._block(place)), []).append(place)
            blocks = self._blocks(entry)
            ours = Counter(map(kind_of, blocks))
            ranks: Counter[Kind] = Counter()
            known = self._places[entry] = []
            for position, block in enumerate(blocks):
                kind = kind_of(block)
                places = theirs.get(kind, [])
                rank, ranks[kind] = ranks[kind], ranks[kind] + 1
                if isinstance(block, ToolResult) and kind == "result":
                    known.append(self._result_place(block, (entry, position)))
                else:
                    known.append(places[rank] if len(places) == ours[kind] else None)
        return known

    def _result_place(self, result: ToolResult, place: Place) -> Place | None:
        """Where a result goes: it is sent beside its call, wherever it came."""
        one = self._ledger.answered(result, place)
        if one is None or one.result_entry != place[0]:
            return None
        if one.entry not in self._answers:
            calls = [call.id for call in self._blocks(one.entry) if _is_call(call)]
            placed = self._renderer.placed(one.entry)
            results = [at for at in placed if kind_of(self._block(at)) == "result"]
            is_whole = len(results) == len(calls)
            self._answers[one.entry] = dict(zip(calls, results, strict=True)) if is_whole else {}
        return self._answers[one.entry].get(one.id)

    def _next_made_up(self, entry: int) -> str:
        """Each of these findings is about the next result of the entry that is made up."""
        if entry not in self._made_up:
            placed = self._renderer.placed(entry)
            self._made_up[entry] = iter([one for one in placed if _is_made_up(self._block(one))])
        place = next(self._made_up[entry], None)
        return "" if place is None else self._block_path(place)

    def _block(self, place: Place) -> Block:
        return self._transcript.turns[place[0]].blocks[place[1]]

    def _went_from(self, path: str) -> str:
        """Where that went which was at a path of the incoming body."""
        if _TOOLS.match(path):
            known = _longest(path, self._tools_by_path)
            return self._went_tools.get(self._tools_by_path.get(known, ""), "")
        found = _MESSAGE.match(path)
        entries = self._alike.get(found[0], []) if found is not None else []
        if not entries:
            return parameter(canonical_name(path), self._body)
        parts = self._parts_at(self._sources[entries[0]])
        inner = _longest(existing(path, self._came_in), parts)
        paths = (self._went_of(*parts[inner], "") if inner else self._entry_path(entries[0]),)
        return next(filter(None, (*paths, *map(self._entry_path, entries))), "")

    def _parts_at(self, paths: tuple[str, ...]) -> dict[str, Place]:
        """The blocks that were read from parts of the same messages, by the paths of the parts."""
        if paths not in self._parts_by_path:
            found = self._came_parts(paths)
            self._parts_by_path[paths] = {
                path: place for place, path in found.items() if path not in self._alike
            }
        return self._parts_by_path[paths]

    # Around the conversation.

    def _parameter(self, name: str, came: bool, went: bool) -> tuple[str, str]:
        """The paths of a parameter, those that are wanted."""
        there = parameter(name, self._came_in) if came and name else ""
        return there, parameter(name, self._body) if went and name else ""

    @cached_property
    def _only_field(self) -> str:
        """The field that a finding about fields of the request is about, if there is only one."""
        native = self._given.native
        return next(iter(native.fields)) if native is not None and len(native.fields) == 1 else ""

    @cached_property
    def _came_tools(self) -> dict[str, str]:
        return tool_paths(self._came_in)

    @cached_property
    def _tools_by_path(self) -> dict[str, str]:
        return {path: name for name, path in self._came_tools.items()}

    @cached_property
    def _went_tools(self) -> dict[str, str]:
        """The paths of the offered tools by their own names."""
        own = self._transcript.names
        return {own.get(name, name): path for name, path in tool_paths(self._body).items()}

    def _tool(self, index: int, tools: Sequence[Tool]) -> tuple[str, str]:
        name = tools[index].name if index < len(tools) else ""
        came = self._came_tools.get(name, "")
        if _has_list(self._came_in, len(tools)):
            # Two tools may have one name, and a provider's own may have none.
            came = came if came.startswith(f"$.tools[{index}]") else f"$.tools[{index}]"
        return came, self._went_tools.get(name, "")


def _canonical(where: str) -> str:
    """The canonical name of the parameter at a place of the request; empty for any other place."""
    head, _, rest = where.partition(".")
    if head in ("params", "native"):
        return rest.partition(".")[0].partition("[")[0]
    return where if where in ("tools", "tool_choice") else ""


def _part_paths(blocks: Sequence[Block], paths: Sequence[str], body: Any) -> list[str]:
    """The path of each block in the messages at `paths`, which hold all of the blocks."""
    found = dict(found_at(path, body) for path in paths)
    found.pop("", None)
    # One of several items, and it is not known which: the list that they are in.
    first = next(iter(found), "")
    whole = first.rpartition("[")[0] if len(found) > 1 else first
    theirs: dict[Kind, list[str]] = {}
    for path, value in found.items():
        for kind, place in parts_of(value, path):
            theirs.setdefault(kind, []).append(place)
    kinds = [kind_of(block) for block in blocks]
    ours = Counter(kinds)
    left = {kind: iter(those) for kind, those in theirs.items() if len(those) == ours[kind]}
    return [next(left[kind]) if kind in left else whole for kind in kinds]


def _is_call(block: Block) -> TypeGuard[ToolCall]:
    return kind_of(block) == "call"


def _is_made_up(block: Block) -> bool:
    return isinstance(block, ToolResult) and block.synthetic


def _has_list(body: Any, count: int) -> bool:
    """Whether a body has a list of so many tools."""
    tools = body.get("tools") if isinstance(body, dict) else None
    return isinstance(tools, list) and len(tools) == count


def _longest(path: str, known: Container[str]) -> str:
    """The longest beginning of a path that is known; empty for none."""
    while path and path not in known:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return path


def _is_bridge(turn: Turn) -> bool:
    if len(turn.blocks) != 1:
        return False
    (block,) = turn.blocks
    return isinstance(block, Text) and block.text in _BRIDGES
