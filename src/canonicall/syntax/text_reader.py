"""The text of a model as it comes, and the ways to take it. See `reader` for how it is used."""

import re
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from canonicall.syntax.stops import Stops

_T = TypeVar("_T")
Reading: TypeAlias = Generator[None, None, _T]
"""A program, or a part of one, that gives a value when it is done."""
Sink: TypeAlias = Callable[[str], Any]
"""What takes text as it comes."""

_BLANK = re.compile(r"\s*")
_MOST_BLANK = 256


class TextReader:
    """The text so far that nobody has taken yet, and ways to take it."""

    def __init__(self, turn_ends: tuple[str, ...] = ()) -> None:
        self.turn_ends = turn_ends
        """Markers that mean nothing but that a turn, or a part of it, has ended."""
        self.position = 0
        """How many characters have been taken."""
        self._text = ""
        self._at = 0
        self._closed = False
        self._taken: list[str] = []
        """What was taken since the first mark that counts still."""
        self._marks = 0
        self._flow: tuple[re.Pattern[str], Sink] | None = None
        """Where text goes that has none of these characters: there the program need not look."""

    # The side that brings text.

    def feed(self, text: str) -> bool:
        """Add text. Whether there is anything in it that the program has to look at."""
        if self._flow is not None:
            telling, sink = self._flow
            if text and telling.search(text) is None:
                self.position += len(text)
                if self._marks:
                    self._taken.append(text)
                sink(text)
                return False
            self._flow = None
        self._text = self._text[self._at :] + text if self._at < len(self._text) else text
        self._at = 0
        return True

    def passes(self, text: str, sink: Sink) -> bool:
        """Whether text would go to `sink` unseen. It counts as taken then, and is not given."""
        flow = self._flow
        if flow is None or flow[1] != sink or self._marks or flow[0].search(text) is not None:
            return False
        self.position += len(text)
        return True

    def close(self) -> None:
        """Nothing more comes."""
        self._closed = True

    # The side that takes it.

    @property
    def rest(self) -> str:
        """What is there and has not been taken."""
        return self._text[self._at :]

    @property
    def at_end(self) -> bool:
        """Whether all has been taken and nothing more comes."""
        return self._closed and self._at >= len(self._text)

    def mark(self) -> int:
        """From here on, what is taken is remembered as well: see `since`."""
        self._marks += 1
        return len(self._taken)

    def since(self, mark: int) -> str:
        """All that was taken since `mark`, which ends with this. The last mark ends first."""
        taken = "".join(self._taken[mark:])
        self._marks -= 1
        if not self._marks:
            self._taken.clear()
        return taken

    def give_back(self, text: str) -> None:
        """Put text that was taken back, to be read in another way."""
        self.position -= len(text)
        if self._marks:
            self._forget(len(text))
        start = self._at - len(text)
        if start >= 0 and self._text.startswith(text, start):
            # It is still there. A copy of all that follows, for every marker, is not linear.
            self._at = start
            return
        self._text = text + self._text[self._at :]
        self._at = 0

    def _forget(self, count: int) -> None:
        """What is given back was not taken, for any mark that still counts."""
        while count and self._taken:
            last = self._taken.pop()
            if len(last) > count:
                self._taken.append(last[: len(last) - count])
            count -= min(count, len(last))

    def unmarked(self, reading: Reading[_T]) -> Reading[_T]:
        """Read without remembering what is taken: of a call that was told nothing is given back."""
        marks, self._marks = self._marks, 0
        value = yield from reading
        self._marks = marks
        return value

    def take(self, count: int) -> str:
        """Take `count` characters that are there."""
        at = self._at
        taken = self._text[at : at + count]
        self._at = at + len(taken)
        self.position += len(taken)
        if self._marks:
            self._taken.append(taken)
        return taken

    def take_begun(self, *literals: str) -> bool:
        """Take what came of one of `literals`, if there is nothing else. Whether it was so."""
        if len(self._text) - self._at >= max(map(len, literals)):
            return False
        rest = self.rest
        is_begun = bool(rest) and any(one.startswith(rest) and one != rest for one in literals)
        if is_begun:
            self.take(len(rest))
        return is_begun

    def peek(self, count: int = 1) -> Reading[str]:
        """The next characters, fewer only at the end."""
        while len(self._text) - self._at < count and not self._closed:
            yield
        return self._text[self._at : self._at + count]

    def blank(self) -> Reading[str]:
        """Take white space."""
        taken: list[str] = []
        while True:
            found = _BLANK.match(self._text, self._at)
            if found is not None and found.end() > self._at:
                taken.append(self.take(found.end() - self._at))
            if self._at < len(self._text) or self._closed:
                return "".join(taken)
            yield

    def accept(self, *literals: str) -> Reading[str]:
        """Take one of `literals` if it comes next, the longest that does; else take nothing."""
        return self.take(len((yield from self.next_of(*literals))))

    def next_of(self, *literals: str) -> Reading[str]:
        """Which of `literals` comes next, the longest that does; nothing is taken."""
        while True:
            rest = self._text[self._at : self._at + max(map(len, literals))]
            waiting = [one for one in literals if len(one) > len(rest) and one.startswith(rest)]
            if not waiting or self._closed:
                fitting = [one for one in literals if rest.startswith(one)]
                return max(fitting, key=len, default="")
            yield

    def turn_has_ended(self) -> Reading[bool]:
        """Whether a marker comes next that ends the turn."""
        return bool(self.turn_ends) and bool((yield from self.next_of(*self.turn_ends)))

    def follows(self, skip: int, *literals: str) -> Reading[bool]:
        """Whether one of `literals`, or the end, comes behind `skip` characters and white space.

        Nothing is taken. Only so much white space is looked past that the text held is bounded.
        """
        longest = max(map(len, literals), default=0)
        while True:
            start = self._at + skip
            found = _BLANK.match(self._text, start)
            ahead = found.end() if found is not None else start
            rest = self._text[ahead : ahead + longest]
            if ahead - start > _MOST_BLANK:
                return False
            if rest.startswith(literals):
                return True
            may_grow = not rest or any(one.startswith(rest) for one in literals)
            if self._closed or not may_grow:
                return may_grow
            yield

    def comes(self, stops: Stops) -> Reading[bool]:
        """Whether a marker comes next, or as much of one as there is before the end."""
        yield from self.peek()
        while True:
            if not stops.begins_at(self._text, self._at):
                return stops.stands_at(self._text, self._at)
            if self._closed:
                return True
            yield

    def match(
        self, pattern: re.Pattern[str], most: int, begun: re.Pattern[str] | None = None
    ) -> Reading[re.Match[str] | None]:
        """Take what `pattern` matches next, if it does. `most`: it needs no more characters.

        `begun` matches whatever may become a match: other text has not to wait.
        """
        while len(self._text) - self._at < most and not self._closed:
            found = pattern.match(self._text, self._at)
            if found is not None and found.end() < len(self._text):
                break
            if found is None and begun is not None and not begun.match(self._text, self._at):
                return None
            yield
        found = pattern.match(self._text, self._at)
        if found is not None:
            self.take(found.end() - self._at)
        return found

    def ahead(
        self, pattern: re.Pattern[str], most: int, begun: re.Pattern[str]
    ) -> Reading[re.Match[str] | None]:
        """What `pattern` matches next; as `match`, but nothing is taken."""
        found = yield from self.match(pattern, most, begun)
        if found is not None:
            self._at -= len(found[0])
            self.position -= len(found[0])
            if self._marks:
                self._forget(len(found[0]))
        return found

    def follows_like(
        self, skip: int, pattern: re.Pattern[str], most: int, begun: re.Pattern[str]
    ) -> Reading[bool]:
        """Whether `pattern` matches after `skip` characters; nothing is taken. As for `match`,
        it needs no more than `most`, and `begun` matches whatever may become a match."""
        while True:
            near = self._text[self._at + skip : self._at + skip + most]
            found = pattern.match(near)
            is_all = self._closed or len(near) == most
            if is_all or (found is not None and found.end() < len(near)):
                return found is not None
            if found is None and not begun.match(near):
                return False
            yield

    def up_to(self, stops: Stops, most: int) -> Reading[tuple[str, str]]:
        """Take the text before a marker that is no further away than `most` characters.

        Gives that text and the marker, which is not taken. Where there is none, takes nothing.
        """
        while True:
            # No further than a marker may be: else a text full of openings is read again for each.
            near = self._text[self._at : self._at + most + stops.longest]
            found = stops.find(near, 0)
            if found is not None and (self._closed or not stops.may_grow(near, found)):
                is_near = found.start() <= most
                return (self.take(found.start()), found[0]) if is_near else ("", "")
            if self._closed or stops.held_from(near, 0) > most:
                return "", ""
            yield

    def until(self, stops: Stops, sink: Sink, *, consume: bool = True) -> Reading[str]:
        """Give text to `sink` up to a marker, and take the marker. Empty text: the end came."""
        while True:
            text = self._text
            found = stops.find(text, self._at)
            # A marker may grow, and may be part of a longer one that begins before it.
            held = len(text) if self._closed else stops.held_from(text, self._at)
            if found is not None and found.start() < held:
                self._give(found.start(), sink)
                return self.take(len(found[0])) if consume else found[0]
            self._give(held, sink)
            if self._closed:
                return ""
            if self._at == len(text):
                self._flow = (stops.telling, sink)
            yield

    def _give(self, end: int, sink: Sink) -> None:
        if end > self._at:
            sink(self.take(end - self._at))
