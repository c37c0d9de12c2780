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
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Text, ToolResult
from canonicall.errors import MalformedBody
from canonicall.findings import Action, Finding, Place
from canonicall.ledger import Interaction
from canonicall.request import Request, Tool
from canonicall.transcript.placing import BRIDGE, CONTINUE, START
from canonicall.transcript.render import Renderer
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.formats import get_format
from canonicall.wire.places import (
    INSTRUCTIONS,
    MESSAGES,
    canonical_name,
    existing,
    kind_of,
    parameter,
    parts_of,
    tool_paths,
    value_at,
)

_ENTRY = re.compile(r"entries\[(\d+)\](?:\.blocks\[(\d+)\])?")
_TURN = re.compile(r"turns\[(\d+)\](?:\.blocks\[(\d+)\])?")
_TOOL = re.compile(r"tools\[(\d+)\]")
_PARAMETER = re.compile(r"(?:params|native)\.(\w+)|(tools|tool_choice)")
_TOOLS = re.compile(r"\$\.(?:tools|functions|toolConfig\.tools)\[")
_MESSAGE = re.compile(r"\$\.(?:\w+\[\d+\]|\w+)")
_AROUND = ("request", "native", "$")
_GONE = (Action.DROPPED, Action.SET_ASIDE, Action.REFUSED)
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
        self._came_in: Any = given.source.body if given.source is not None else None
        self._made_up: dict[int, int] = {}

    def read(self, findings: Iterable[Finding]) -> list[Finding]:
        """What was said while the body was read: `where` is a path of it, or of the log."""
        return [self._located(one, one.where, self._given.tools) for one in findings]

    def rendered(self, findings: Iterable[Finding]) -> list[Finding]:
        """What was said of the request and of the conversation before they were written."""
        given, left = self._given.tools, self._request.tools
        is_same = len(given) == len(left)
        return [
            self._located(one, "", given if is_same or one.code == "tool_dropped" else left)
            for one in findings
        ]

    def written(self, findings: Iterable[Finding]) -> list[Finding]:
        """What the encoder said. It counts only the turns that are messages."""
        found = []
        for one in findings:
            turn = _TURN.match(one.where)
            place = self._written_turns[int(turn[1])] if turn else None
            where = one.where if place is None else f"turns[{place}]"
            found.append(self._located(replace(one, where=where), "", self._request.tools))
            if place is not None:
                found[-1] = replace(found[-1], where=one.where)
        return found

    def _located(self, finding: Finding, path: str, tools: Sequence[Tool]) -> Finding:
        """`finding` with its paths; `path` is where it is in the incoming body, if that is said."""
        came = went = ""
        if entry := _ENTRY.match(finding.where):
            place = int(entry[1]), int(entry[2]) if entry[2] else None
            came = self._came_of(*place)
            went = self._went_of(*place, finding)
        elif turn := _TURN.match(finding.where):
            came = self._came_of_turn(int(turn[1]))
            went = self._turn_path(int(turn[1]))
        elif tool := _TOOL.match(finding.where):
            came, went = self._tool(int(tool[1]), tools)
        elif finding.where in _AROUND:
            came, went = self._parameter(self._only_field(finding))
        elif named := _PARAMETER.match(finding.where):
            came, went = self._parameter(named[1] or named[2])
        elif path.startswith("$."):
            came = existing(path, self._came_in)
            went = self._went_from(path)
        elif finding.where.startswith("$."):
            came, went = self._parameter(canonical_name(finding.where))
        came = "" if finding.action is Action.ADDED else came
        went = "" if finding.action in _GONE else went
        return replace(finding, came=came, went=went) if came or went else finding

    # The body that came in.

    @cached_property
    def _sources(self) -> list[tuple[str, ...]]:
        """The paths that each entry was read from; empty where the log is not what was read."""
        source = self._given.source
        if source is None or not isinstance(source.body, dict):
            return []
        try:
            places = list(get_format(source.format).message_places(source.body))
        except (MalformedBody, AttributeError, TypeError):
            return []  # It was changed after it was read.
        split = [
            int(found[1])
            for one in self._given.findings
            if one.code == "call_in_wrong_role" and (found := _ENTRY.match(one.where))
        ]
        more = len(self._entries) - len(places)
        if more not in (0, len(split)):
            return []
        for at in split if more else ():
            places.insert(at, places[at])
        return places

    @cached_property
    def _alike(self) -> dict[str, list[int]]:
        """The entries that were read from each path."""
        found: dict[str, list[int]] = {}
        for entry, paths in enumerate(self._sources):
            for path in paths:
                found.setdefault(existing(path, self._came_in), []).append(entry)
        return found

    def _came_of(self, entry: int, position: int | None) -> str:
        if entry >= len(self._sources):
            return ""
        paths = self._sources[entry]
        first = existing(paths[0], self._came_in)
        if position is None:
            return first
        entries = self._alike[first]
        before = sum(len(self._blocks(at)) for at in entries if at < entry)
        blocks = [block for at in entries for block in self._blocks(at)]
        return _same_part(before + position, blocks, paths, self._came_in)

    def _came_of_turn(self, turn: int) -> str:
        for entry in range(len(self._sources)):
            if any(at == turn for at, _ in self._renderer.placed(entry)):
                return self._came_of(entry, None)
        return ""

    def _blocks(self, entry: int) -> tuple[Block, ...]:
        message = self._entries[entry]
        return message.blocks if isinstance(message, Message) else ()

    # The body that goes out.

    @cached_property
    def _written_turns(self) -> list[int]:
        """The turns that are messages. Instructions may be a field of their own."""
        turns, count = self._transcript.turns, len(self._renderer.known_turns.counts)
        spoken = [at for at, turn in enumerate(turns) if turn.role not in ("system", "developer")]
        return spoken if len(spoken) == count else list(range(len(turns) - count, len(turns)))

    @cached_property
    def _turn_paths(self) -> dict[int, tuple[str, ...]]:
        """The messages that each turn was written as."""
        counts = self._renderer.known_turns.counts
        field = next((name for name in MESSAGES if name in self._body), "")
        if not field or sum(counts) != len(self._body[field]):
            return {}
        paths: dict[int, tuple[str, ...]] = {}
        start = 0
        for turn, count in zip(self._written_turns, counts, strict=False):
            paths[turn] = tuple(f"$.{field}[{at}]" for at in range(start, start + count))
            start += count
        top = next((name for name in INSTRUCTIONS if name in self._body), "")
        for turn in range(len(self._transcript.turns)) if top else ():
            paths.setdefault(turn, (f"$.{top}",))
        return paths

    def _turn_path(self, turn: int) -> str:
        paths = self._turn_paths.get(turn, ())
        return existing(paths[0], self._body) if paths else ""

    def _went_of(self, entry: int, position: int | None, finding: Finding) -> str:
        if finding.action in _GONE or entry >= len(self._entries):
            return ""
        placed = self._renderer.placed(entry)
        if finding.code == "result_made_up":
            return self._next_made_up(entry, placed)
        if position is not None and position < len(self._blocks(entry)):
            return self._went_of_block(entry, position, placed)
        if not placed:
            places = (self._result_place(entry, n) for n, _ in enumerate(self._blocks(entry)))
            placed = [place for place in places if place is not None]
        return self._first_path(placed, is_bridge=finding.code == "bridge_added")

    def _first_path(self, placed: Iterable[Place], *, is_bridge: bool = False) -> str:
        """The path of the first of some blocks, or of its message where nothing else is in it."""
        sent = list(placed)
        own = [one for one in sent if _is_bridge(self._turn(one[0])) is is_bridge] or sent
        if len(own) == 1 and len(self._turn(own[0][0]).blocks) > 1:
            return self._block_path(*own[0])
        return self._turn_path(own[0][0]) if own else ""

    def _went_of_block(self, entry: int, position: int, placed: list[Place]) -> str:
        blocks = self._blocks(entry)
        kind = kind_of(blocks[position])
        if kind == "result":
            place = self._result_place(entry, position)
            if place is not None:
                return self._block_path(*place)
        ours = [at for at, block in enumerate(blocks) if kind_of(block) == kind]
        theirs = [place for place in placed if kind_of(self._block(place)) == kind]
        if len(ours) == len(theirs):
            return self._block_path(*theirs[ours.index(position)])
        return self._first_path(placed)

    def _result_place(self, entry: int, position: int) -> Place | None:
        """Where a result goes: it is sent beside its call, wherever it came."""
        block = self._blocks(entry)[position]
        if not isinstance(block, ToolResult):
            return None
        one = self._ledger.answered(block, (entry, position))
        return None if one is None or one.result_entry != entry else self._answer_to(one)

    def _answer_to(self, one: Interaction) -> Place | None:
        calls = [block for block in self._blocks(one.entry) if kind_of(block) == "call"]
        number = next((n for n, call in enumerate(calls) if getattr(call, "id", "") == one.id), -1)
        placed = self._renderer.placed(one.entry)
        results = [place for place in placed if kind_of(self._block(place)) == "result"]
        return results[number] if len(results) == len(calls) and number >= 0 else None

    def _next_made_up(self, entry: int, placed: list[Place]) -> str:
        """Each of these findings is about the next result of the entry that is made up."""
        made = [
            place
            for place in placed
            if isinstance(block := self._block(place), ToolResult) and block.synthetic
        ]
        number = self._made_up.get(entry, 0)
        self._made_up[entry] = number + 1
        return self._block_path(*made[number]) if number < len(made) else ""

    def _block_path(self, turn: int, position: int) -> str:
        paths = self._turn_paths.get(turn, ())
        return _same_part(position, self._turn(turn).blocks, paths, self._body) if paths else ""

    def _turn(self, turn: int) -> Turn:
        return self._transcript.turns[turn]

    def _block(self, place: Place) -> Block:
        return self._turn(place[0]).blocks[place[1]]

    def _went_from(self, path: str) -> str:
        """Where that went which was at a path of the incoming body."""
        if _TOOLS.match(path):
            own = next((name for name, at in self._came_tools.items() if _is_in(path, at)), "")
            return self._went_tools.get(own, "")
        path = existing(path, self._came_in)
        found = _MESSAGE.match(path)
        entries = self._alike.get(found[0], ()) if found is not None else ()
        if not entries:
            return parameter(canonical_name(path), self._body)
        for entry in entries:
            for position, _ in enumerate(self._blocks(entry)):
                if _is_in(path, self._came_of(entry, position), inside=found[0] if found else ""):
                    return self._went_of_block(entry, position, self._renderer.placed(entry))
        return self._first_path(one for entry in entries for one in self._renderer.placed(entry))

    # Around the conversation.

    def _parameter(self, name: str) -> tuple[str, str]:
        return parameter(name, self._came_in), parameter(name, self._body)

    def _only_field(self, finding: Finding) -> str:
        """The field that a finding about fields of the request is about, if there is only one."""
        is_stored = finding.code == "stored_turns_lost"
        native = self._given.continues if is_stored else self._given.native
        return next(iter(native.fields)) if native is not None and len(native.fields) == 1 else ""

    @cached_property
    def _came_tools(self) -> dict[str, str]:
        return tool_paths(self._came_in)

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


def _same_part(position: int, blocks: Sequence[Block], paths: Sequence[str], body: Any) -> str:
    """The path of what a block is in the messages at `paths`, which hold all of `blocks`."""
    found = [path for path in (existing(path, body) for path in paths) if path]
    kind = kind_of(blocks[position]) if position < len(blocks) else "other"
    ours = [at for at, block in enumerate(blocks) if kind_of(block) == kind]
    theirs = [
        place for path in found for of, place in parts_of(value_at(path, body), path) if of == kind
    ]
    if position < len(blocks) and len(ours) == len(theirs):
        return theirs[ours.index(position)]
    # One of several items, and it is not known which: the list that they are in.
    return found[0].rpartition("[")[0] if len(found) > 1 else next(iter(found), "")


def _has_list(body: Any, count: int) -> bool:
    """Whether a body has a list of so many tools."""
    tools = body.get("tools") if isinstance(body, dict) else None
    return isinstance(tools, list) and len(tools) == count


def _is_in(path: str, place: str, inside: str = "") -> bool:
    """Whether a path leads to a place or further, and the place is `inside` of another."""
    is_there = path == place or path.startswith((f"{place}.", f"{place}["))
    return is_there and place.startswith(inside) and len(place) > len(inside)


def _is_bridge(turn: Turn) -> bool:
    return len(turn.blocks) == 1 and any(
        isinstance(block, Text) and block.text in _BRIDGES for block in turn.blocks
    )
