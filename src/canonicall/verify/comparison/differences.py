"""`compare`: two request bodies in, every difference in what they say out.

Both bodies are read here, raw, each by the reader of its format. Nothing is shared with the wire
decoders, the renderer and the conversation: what they change, or forget, shows as a difference.

What counts as the same:

- **Ids.** A call keeps its identity, not its id: every translation projects ids to the form of its
  target. A difference is a result that answers another call than before.
- **Texts.** Texts of one role may be joined to one or split, with white space between them.
- **Arguments, schemas, JSON in results** are compared as values, not as spelled.
- **A failed result** is one with a flag, or one whose text begins with "error".
- **The model and the address** are the target's. A stream that is asked for by the address (Gemini,
  Bedrock) is no parameter of the body.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from canonicall.errors import UnknownName
from canonicall.verify.comparison.block_formats import anthropic, bedrock
from canonicall.verify.comparison.gemini_format import gemini
from canonicall.verify.comparison.message_formats import cohere, ollama, openai_chat
from canonicall.verify.comparison.outline import (
    OfferedTool,
    Outline,
    Piece,
    Setting,
    obj,
    parsed,
    spelled,
)
from canonicall.verify.comparison.responses_format import openai_responses

READERS: dict[str, Callable[[dict[str, Any]], Outline]] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "cohere": cohere,
    "gemini": gemini,
    "ollama": ollama,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
}
_WITHOUT_STREAM = ("gemini", "bedrock")
_BESIDE = ".images["
"""In the path of media that has no place among the texts of its message."""


class Difference(Struct, frozen=True):
    """One thing that the second body says otherwise than the first."""

    kind: str
    came: str
    """The JSON path in the first body; empty where it is only in the second."""
    went: str
    """The JSON path in the second body; empty where it is only in the first."""
    before: Any = None
    after: Any = None
    name: str = ""
    """The parameter, the field or the tool that it is about."""

    def __str__(self) -> str:
        about = f" {self.name}" if self.name else ""
        came = f"{self.came or '-'} {_short(self.before)}"
        return f"{self.kind}{about}: {came} -> {self.went or '-'} {_short(self.after)}"


def compare(
    before: Any, source_format: str, after: Any, target_format: str
) -> tuple[Difference, ...]:
    """What `after` says otherwise than `before`. Bodies are objects or JSON."""
    return differences(outline(before, source_format), outline(after, target_format))


def outline(body: Any, format: str) -> Outline:
    """What a body of a format says."""
    reader = READERS.get(format)
    if reader is None:
        raise UnknownName("format", format, READERS)
    return reader(obj(parsed(body)))


def differences(before: Outline, after: Outline) -> tuple[Difference, ...]:
    """What the second outline says otherwise than the first."""
    found: list[Difference] = []
    names = _tools(before.tools, after.tools, found)
    came, went = _by_kind(before.pieces), _by_kind(after.pieces)
    pairs: list[tuple[int, int]] = []
    pairs += _texts(came["text"], went["text"], "text", found)
    pairs += _texts(came["thinking"], went["thinking"], "thinking", found)
    for kind in ("media", "server", "part", "speaker"):
        pairs += _same_values(came[kind], went[kind], kind, found)
    calls = _calls(came["call"], went["call"], names, found)
    results = _results(before.pieces, after.pieces, calls, found)
    _order(before, after, [*pairs, *calls], results, found)
    _settings(before, after, names, found)
    _fields(before, after, found)
    return tuple(found)


_Placed = tuple[int, Piece]
"""A piece and its number in its outline."""


def _by_kind(pieces: Iterable[Piece]) -> defaultdict[str, list[_Placed]]:
    found: defaultdict[str, list[_Placed]] = defaultdict(list)
    for index, piece in enumerate(pieces):
        found[piece.kind].append((index, piece))
    return found


class _Matching:
    """Things of two sides, of which those that belong together are taken out pair by pair."""

    def __init__(self, before: Sequence[_Placed], after: Sequence[_Placed]) -> None:
        self.before = list(before)
        self.after = list(after)
        self.pairs: list[tuple[_Placed, _Placed]] = []

    def by(
        self, ours: Callable[[Piece], Any], theirs: Callable[[Piece], Any] | None = None
    ) -> None:
        """Take out those that have the same key, first with first; None is no key."""
        if not self.before or not self.after:
            return
        keys: defaultdict[Any, list[_Placed]] = defaultdict(list)
        for one in self.after:
            keys[(theirs or ours)(one[1])].append(one)
        left, taken = [], set()
        for one in self.before:
            key = ours(one[1])
            same = keys.get(key) if key is not None else None
            if same:
                other = same.pop(0)
                taken.add(other[0])
                self.pairs.append((one, other))
            else:
                left.append(one)
        self.before = left
        self.after = [one for one in self.after if one[0] not in taken]


# Tools.


def _tools(
    before: Sequence[OfferedTool], after: Sequence[OfferedTool], found: list[Difference]
) -> dict[str, str]:
    """Compare what is offered; give back the new name of each tool that has one."""
    left: list[OfferedTool] = []
    there = defaultdict(list)
    for tool in after:
        there[(tool.kind == "server", tool.name)].append(tool)
    pairs: list[tuple[OfferedTool, OfferedTool]] = []
    for tool in before:
        same = there[(tool.kind == "server", tool.name)]
        if same:
            pairs.append((tool, same.pop(0)))
        else:
            left.append(tool)
    rest = [tool for tools in there.values() for tool in tools]
    names: dict[str, str] = {}
    for tool in left:
        other = next((one for one in rest if _is_renamed(tool, one)), None)
        if other is None:
            found.append(Difference("tool_missing", tool.path, "", tool.name, None, tool.name))
            continue
        rest.remove(other)
        names[tool.name] = other.name
        pairs.append((tool, other))
        found.append(_renamed(tool.path, other.path, tool.name, other.name))
    found += (Difference("tool_added", "", one.path, None, one.name, one.name) for one in rest)
    for tool, other in pairs:
        _tool(tool, other, found)
    return names


def _is_renamed(tool: OfferedTool, other: OfferedTool) -> bool:
    """Whether another name can stand for the tool: it says the same, and is as readable."""
    if tool.kind == "server" or other.kind == "server":
        return False
    return tool.description == other.description and _looks_like(tool.name, other.name)


def _looks_like(own: str, other: str) -> bool:
    """Whether two names share their beginning, character by character, but for signs."""
    letters = [one for one in own if one.isalnum() and one.isascii()]
    there = [one for one in other if one.isalnum() and one.isascii()]
    shared = min(len(letters), 8)
    return letters[:shared] == there[:shared] or set(letters[:shared]) <= set(there)


def _renamed(came: str, went: str, own: str, wire: str) -> Difference:
    return Difference("tool_renamed", came, went, own, wire, own)


def _tool(tool: OfferedTool, other: OfferedTool, found: list[Difference]) -> None:
    def differs(kind: str, before: Any, after: Any) -> None:
        if before != after:
            found.append(Difference(kind, tool.path, other.path, before, after, tool.name))

    differs("tool_kind_changed", tool.kind, other.kind)
    if tool.kind == other.kind:
        differs("schema_changed", tool.schema, other.schema)
    differs("description_changed", tool.description, other.description)
    differs("strict_changed", tool.strict, other.strict)


# Texts and thoughts.


def _texts(
    before: Sequence[_Placed], after: Sequence[_Placed], kind: str, found: list[Difference]
) -> list[tuple[int, int]]:
    """Compare what is said; texts may be joined, split, or said by another role."""
    ours, theirs = [_Rest(*one) for one in before], [_Rest(*one) for one in after]
    pairs: list[tuple[_Rest, _Rest]] = []
    for role in dict.fromkeys(one.piece.role for one in ours):
        mine = [one for one in ours if one.piece.role == role]
        its = [one for one in theirs if one.piece.role == role]
        pairs += (*_silent(mine, its), *_in_step(mine, its))
    for same_role in (True, False):
        pairs += (*_held(ours, theirs, same_role), *_holding(ours, theirs, same_role))
    pairs = _first_with_first(pairs)
    for one, other in pairs:
        _signature(one.piece, other.piece, found)
        if one.piece.role != other.piece.role:
            said = (one.piece, other.piece, one.piece.role, other.piece.role)
            found.append(_said(f"{kind}_role_changed", *said))
    for rest in ours:
        _leftover(rest, f"{kind}_missing", found, came=True)
    for rest in theirs:
        _leftover(rest, f"{kind}_added", found, came=False)
    return [(one.index, other.index) for one, other in pairs]


def _first_with_first(pairs: Sequence[tuple["_Rest", "_Rest"]]) -> list[tuple["_Rest", "_Rest"]]:
    """The pairs, of which those that say the same are in the order of both sides."""
    same: defaultdict[str, list[tuple[_Rest, _Rest]]] = defaultdict(list)
    ordered: list[tuple[_Rest, _Rest]] = []
    for one, other in pairs:
        if one.piece.text == other.piece.text:
            same[one.piece.text].append((one, other))
        else:
            ordered.append((one, other))
    for alike in same.values():
        mine = sorted((one for one, _ in alike), key=lambda one: one.index)
        its = sorted((other for _, other in alike), key=lambda one: one.index)
        ordered += zip(mine, its, strict=True)
    return ordered


def _silent(
    ours: Sequence["_Rest"], theirs: Sequence["_Rest"]
) -> Iterator[tuple["_Rest", "_Rest"]]:
    """Pieces that are nothing but a signature."""
    for one in ours:
        if one.piece.text:
            continue
        for other in theirs:
            is_same = not other.piece.text and other.piece.signature == one.piece.signature
            if is_same and other.left:
                one.left = other.left = []
                yield one, other
                break


def _in_step(
    ours: Sequence["_Rest"], theirs: Sequence["_Rest"]
) -> Iterator[tuple["_Rest", "_Rest"]]:
    """Go through the texts of both sides in order; what is only on one side is passed over."""
    mine = [one for one in ours if one.left and one.piece.text.strip()]
    its = [one for one in theirs if one.left and one.piece.text.strip()]
    while mine and its:
        one, other = mine[0], its[0]
        words, there = one.head, other.head
        if not words:
            mine.pop(0)
        elif not there:
            its.pop(0)
        elif _begins(there, words) or _begins(words, there):
            yield one, other
            length = min(len(words), len(there))
            one.pass_over(length)
            other.pass_over(length)
        elif any(_place(words, later.head) >= 0 for later in its):
            its.pop(0)
        else:
            mine.pop(0)


def _begins(text: str, words: str) -> bool:
    return text.startswith(words) and (len(text) == len(words) or text[len(words)].isspace())


def _held(
    small: Sequence["_Rest"], large: Sequence["_Rest"], same_role: bool
) -> Iterator[tuple["_Rest", "_Rest"]]:
    """Whole texts of one side, each with the text of the other side that holds it."""
    for one in small:
        words = one.whole
        if not words.strip():
            continue
        for other in large:
            is_same = other.piece.role == one.piece.role
            if is_same is same_role and other.cut(words):
                one.left = []
                yield one, other
                break


def _holding(
    small: Sequence["_Rest"], large: Sequence["_Rest"], same_role: bool
) -> Iterator[tuple["_Rest", "_Rest"]]:
    return ((mine, its) for its, mine in _held(large, small, same_role))


class _Rest:
    """What of a text has no counterpart yet."""

    def __init__(self, index: int, piece: Piece) -> None:
        self.index = index
        self.piece = piece
        self.left = [piece.text]

    @property
    def whole(self) -> str:
        """The text, if all of it is left."""
        return self.piece.text if self.left == [self.piece.text] else ""

    @property
    def head(self) -> str:
        """What is left of the text, from its first word on."""
        return self.left[-1].lstrip() if self.left else ""

    def pass_over(self, length: int) -> None:
        """Take out so many characters of the head."""
        self.left = [self.head[length:]]

    def cut(self, words: str) -> bool:
        """Take these words out; False where they are not in it."""
        for at, text in enumerate(self.left):
            start = _place(words, text)
            if start >= 0:
                self.left[at : at + 1] = [text[:start], text[start + len(words) :]]
                return True
        return False


def _place(words: str, text: str) -> int:
    """Where the words are a part of a text that stands for itself, -1 where they are none."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        begins = start == 0 or text[start - 1].isspace() or words[0].isspace()
        if begins and (end == len(text) or text[end].isspace() or words[-1].isspace()):
            return start
        start = text.find(words, start + 1)
    return -1


def _leftover(rest: _Rest, kind: str, found: list[Difference], *, came: bool) -> None:
    piece = rest.piece
    is_whole = rest.left == [piece.text]
    said = piece.text if is_whole else "\n".join(one for one in rest.left if one.strip())
    if not said and not (is_whole and piece.signature):
        return
    if not piece.text and piece.kind == "text":
        kind, said = kind.replace("text", "signature"), piece.signature
    if came:
        found.append(Difference(kind, piece.path, "", said, None, piece.role))
    else:
        found.append(Difference(kind, "", piece.path, None, said, piece.role))


def _said(kind: str, one: Piece, other: Piece, before: Any, after: Any) -> Difference:
    return Difference(kind, one.path, other.path, before, after)


def _signature(one: Piece, other: Piece, found: list[Difference]) -> None:
    if one.signature == other.signature:
        return
    missing = one.signature and not other.signature
    kind = "signature_missing" if missing else "signature_changed"
    kind = kind if one.signature else "signature_added"
    found.append(_said(kind, one, other, one.signature or None, other.signature or None))


# Media, and what only its own format understands.


def _same_values(
    before: Sequence[_Placed], after: Sequence[_Placed], kind: str, found: list[Difference]
) -> list[tuple[int, int]]:
    matching = _Matching(before, after)
    matching.by(lambda one: (one.role, one.value, one.text))
    matching.by(lambda one: (one.value, one.text))
    for (_, one), (_, other) in matching.pairs:
        _signature(one, other, found)
        if one.role != other.role and kind == "media":
            found.append(_said("media_moved", one, other, one.role, other.role))
    for _, one in matching.before:
        found.append(Difference(f"{kind}_missing", one.path, "", one.text or one.value, None))
    for _, other in matching.after:
        found.append(Difference(f"{kind}_added", "", other.path, None, other.text or other.value))
    return [(one[0], other[0]) for one, other in matching.pairs]


# Calls and results.


def _calls(
    before: Sequence[_Placed],
    after: Sequence[_Placed],
    names: dict[str, str],
    found: list[Difference],
) -> list[tuple[int, int]]:
    """Which call is which, and what was changed in it. Tools of the history may be renamed too."""

    def wire(own: str) -> str:
        return names.get(own, own)

    matching = _Matching(before, after)
    matching.by(lambda one: (wire(one.name), one.value), lambda one: (one.name, one.value))
    matching.by(lambda one: one.id or None)
    matching.by(lambda one: one.value)
    matching.by(lambda one: wire(one.name), lambda one: one.name)
    matching.by(lambda _: "what is left, in order")
    told: set[tuple[str, str]] = set()
    for (_, one), (_, other) in matching.pairs:
        renamed = (one.name, other.name)
        if wire(one.name) != other.name and renamed not in told:
            told.add(renamed)
            found.append(_renamed(one.path, other.path, *renamed))
        if one.value != other.value:
            found.append(
                Difference("call_changed", one.path, other.path, one.value, other.value, one.name)
            )
        _signature(one, other, found)
    for _, one in matching.before:
        found.append(Difference("call_missing", one.path, "", one.value, None, one.name))
    for _, other in matching.after:
        found.append(Difference("call_added", "", other.path, None, other.value, other.name))
    return [(one[0], other[0]) for one, other in matching.pairs]


def _results(
    before: Sequence[Piece],
    after: Sequence[Piece],
    calls: Sequence[tuple[int, int]],
    found: list[Difference],
) -> list[tuple[int, int]]:
    """Compare the results of the same calls; give back which result is which."""
    ours, theirs = _answers(before), _answers(after)
    pairs: list[tuple[int, int]] = []
    unanswered: list[int] = []
    for call, its in calls:
        one, other = ours.get(call), theirs.pop(its, None)
        if one is not None and other is not None:
            pairs.append((one, other))
            _result(before[one], after[other], found)
        elif one is not None:
            found.append(_lost(before[one]))
        elif other is not None:
            unanswered.append(other)
    bound = {one for one, _ in pairs} | set(ours.values())
    free = [at for at, one in enumerate(before) if one.kind == "result" and at not in bound]
    there = {one for _, one in pairs}
    unmatched = [at for at, one in enumerate(after) if one.kind == "result" and at not in there]
    for other in unmatched:
        # A result that named no call, or one in another spelling, may answer one now.
        match = next((at for at in free if _is_same_text(before[at], after[other])), None)
        if match is None:
            found.append(Difference("result_added", "", after[other].path, None, after[other].text))
            continue
        free.remove(match)
        pairs.append((match, other))
        if other in unanswered:
            said = (before[match], after[other], before[match].id, after[other].id)
            found.append(_said("result_paired", *said))
    found += (_lost(before[at]) for at in free)
    return pairs


def _lost(result: Piece) -> Difference:
    return Difference("result_missing", result.path, "", result.text, None, result.id)


def _answers(pieces: Sequence[Piece]) -> dict[int, int]:  # noqa: C901  one rule each
    """The result of each call that has one: by its id, or, where there is none, by position.

    An id means the call of the last run of the model's pieces that has it. A result may precede its
    call, if nothing but results and the model's own text is between them.
    """
    answers: dict[int, int] = {}
    by_id: defaultdict[str, list[int]] = defaultdict(list)
    nameless: list[int] = []
    early: list[int] = []
    waiting: dict[int, int] = {}
    is_models = False
    run = 0
    for at, piece in enumerate(pieces):
        is_new, is_models = piece.role == "assistant" and not is_models, piece.role == "assistant"
        if is_new:
            nameless = []
            run = at
        if piece.kind == "call":
            if by_id[piece.id] and by_id[piece.id][0] < run:
                by_id[piece.id] = []
            (by_id[piece.id] if piece.id else nameless).append(at)
            for result in early:
                if result not in waiting.values() and pieces[result].id == piece.id:
                    waiting[at] = result
                    break
        elif piece.kind == "result":
            call = _call_for(piece, pieces, by_id, nameless, answers, run)
            if call is not None:
                answers[call] = at
            elif not by_id.get(piece.id):
                early.append(at)
        elif piece.role not in ("assistant", "tool"):
            early = []
    return {**waiting, **answers}


def _call_for(
    result: Piece,
    pieces: Sequence[Piece],
    by_id: dict[str, list[int]],
    nameless: Sequence[int],
    answers: dict[int, int],
    run: int,
) -> int | None:
    """The open call that a result answers."""
    if result.id:
        return next((one for one in by_id.get(result.id, ()) if one not in answers), None)
    named = (one for ids in by_id.values() for one in ids if one >= run)
    calls = sorted((*nameless, *named))
    fits = (one for one in calls if not result.name or pieces[one].name == result.name)
    return next((one for one in fits if one not in answers), None)


def _result(one: Piece, other: Piece, found: list[Difference]) -> None:
    if _failed(one) != _failed(other):
        found.append(_said("error_changed", one, other, _failed(one), _failed(other)))
    if not _is_same_text(one, other):
        found.append(_said("result_changed", one, other, one.text, other.text))


def _failed(result: Piece) -> bool:
    return result.error or result.text.lower().startswith("error")


def _is_same_text(one: Piece, other: Piece) -> bool:
    ours, theirs = one.text, other.text
    if ours == theirs:
        return True
    if one.error and theirs in (f"Error: {ours}", f"Error:\n{ours}"):
        return True
    if ours[:1] in ("{", "[") and theirs[:1] == ours[:1]:
        return spelled(parsed(ours)) == spelled(parsed(theirs)) and parsed(ours) is not None
    return False


# Order.


def _order(
    before: Outline,
    after: Outline,
    pairs: Sequence[tuple[int, int]],
    results: Sequence[tuple[int, int]],
    found: list[Difference],
) -> None:
    """What comes before something that it came after."""
    placed = sorted(_with_places(pairs, before, after))
    kept = _longest_rise([went for _, went in placed])
    steady = [placed[at] for at in kept]
    moved = [placed[at] for at in sorted(set(range(len(placed))) - set(kept))]
    for came, went in moved:
        one, other = before.pieces[came], after.pieces[went]
        found.append(Difference("order_changed", one.path, other.path, came, went, one.kind))
    ordered = sorted(results)
    in_row = _longest_rise([went for _, went in ordered])
    for at, (came, went) in enumerate(ordered):
        if at in in_row and not _crosses(came, went, steady):
            continue
        one, other = before.pieces[came], after.pieces[went]
        found.append(_said("result_moved", one, other, came, went))


def _with_places(
    pairs: Iterable[tuple[int, int]], before: Outline, after: Outline
) -> Iterator[tuple[int, int]]:
    """The pairs whose order says something.

    Images in a field of their message (Ollama, and replies at OpenRouter) are neither before nor
    after its text, and media of a result is part of it. Equal media, and equal texts of which one
    side has more, cannot be told apart.
    """
    came_often, went_often = (Counter(map(_said_by, one.pieces)) for one in (before, after))
    for came, went in pairs:
        piece, said = before.pieces[came], _said_by(before.pieces[came])
        if piece.kind == "media":
            is_beside = _BESIDE in piece.path or _BESIDE in after.pieces[went].path
            if piece.role != "tool" and not is_beside and came_often[said] == 1:
                yield came, went
        elif piece.kind != "text" or went_often[said] in (0, came_often[said]):
            yield came, went


def _said_by(piece: Piece) -> tuple[str, str, str]:
    return piece.kind, piece.text.strip(), piece.value


def _crosses(came: int, went: int, steady: Sequence[tuple[int, int]]) -> bool:
    """Whether something that kept its place came before it and follows now, or the reverse."""
    at = bisect_left(steady, (came, -1))
    is_after = at > 0 and steady[at - 1][1] > went
    return is_after or (at < len(steady) and steady[at][1] < went)


def _longest_rise(values: Sequence[int]) -> list[int]:
    """The places of a longest subsequence that does not fall."""
    ends: list[int] = []
    places: list[int] = []
    previous: list[int] = []
    for at, value in enumerate(values):
        # Equal values rise as well: joined texts are at one place.
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            if ends[middle] <= value:
                low = middle + 1
            else:
                high = middle
        previous.append(places[low - 1] if low else -1)
        ends[low : low + 1] = [value]
        places[low : low + 1] = [at]
    kept: list[int] = []
    at = places[-1] if places else -1
    while at >= 0:
        kept.append(at)
        at = previous[at]
    return kept[::-1]


# Parameters.


def _settings(
    before: Outline, after: Outline, names: dict[str, str], found: list[Difference]
) -> None:
    for name in dict.fromkeys((*before.settings, *after.settings)):
        one, other = before.settings.get(name), after.settings.get(name)
        if name == "stream":
            if before.format in _WITHOUT_STREAM or after.format in _WITHOUT_STREAM:
                continue
            one, other = _streamed(one), _streamed(other)
        if name == "parallel" and not (_may_call(before) and _may_call(after)):
            continue
        if name == "tool_choice" and one is not None:
            mode, chosen = one.value
            one = Setting(one.path, (mode, tuple(names.get(own, own) for own in chosen)))
        _setting("parameter", name, one, other, found)


def _may_call(outline: Outline) -> bool:
    """Whether a tool can be called; else how many at once says nothing."""
    choice = outline.settings.get("tool_choice")
    return bool(outline.tools) and (choice is None or choice.value[0] != "none")


def _streamed(one: Setting | None) -> Setting | None:
    """Whether a stream is asked for; not to ask is to ask for none."""
    return one if one is not None and one.value is True else None


def _fields(before: Outline, after: Outline, found: list[Difference]) -> None:
    is_same = before.format == after.format
    for name, one in before.fields.items():
        _setting("field", name, one, after.fields.get(name) if is_same else None, found)
    for name, other in after.fields.items():
        if not is_same or name not in before.fields:
            _setting("field", name, None, other, found)


def _setting(
    kind: str, name: str, one: Setting | None, other: Setting | None, found: list[Difference]
) -> None:
    if one is None and other is not None:
        found.append(Difference(f"{kind}_added", "", other.path, None, other.value, name))
    elif one is not None and other is None:
        found.append(Difference(f"{kind}_missing", one.path, "", one.value, None, name))
    elif one is not None and other is not None and one.value != other.value:
        values = (one.value, other.value, name)
        found.append(Difference(f"{kind}_changed", one.path, other.path, *values))


def _short(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= 80 else f"{said[:77]}..."
