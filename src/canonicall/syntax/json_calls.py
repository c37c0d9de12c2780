"""Calls that are JSON: objects with a name and arguments, one, several in a row, or in lists.

A call is told as soon as its name is known and its arguments begin; from there on they are passed
on as they come, character for character. Where they stand before the name, or are JSON inside a
JSON text, they wait until both are known. An object that turns out to be no call before anything
was told of it is text.

Decisions, where engines differ:

- Text behind the calls is kept, and so is text between them and their closing marker.
- A closing marker that is missing changes nothing about calls that are whole.
- Brackets that are missing before the closing marker are mended, with a finding; brackets too many
  behind a call are left out, with a finding.
- A call without arguments is a call with none, where a marker says that it is meant as one.
- Arguments that are no object are kept as text in `raw`; `args` is None then.
- Of a name said twice the last one counts, of arguments said twice the first ones.
- Models that are free to choose call the members otherwise, put the arguments beside the name, or
  use the name as the key; all that counts where it cannot mean anything else.
- A fence around the JSON means nothing.
"""

from canonicall.findings import Action
from canonicall.syntax.code_spans import code_openers
from canonicall.syntax.declaration import Looks, Opener, Place, ReadCalls, only_named
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_object import JsonObject, Span
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

USUAL = JsonForm()
_FENCE = "```"


def json_opener(marker: str, *closers: str, form: JsonForm = USUAL) -> Opener:
    """A marker behind which JSON calls stand, up to one of `closers` if there are any."""
    return Opener(
        marker,
        json_calls(*closers, form=form, marker=marker),
        looks=_is_json,
        closers=closers,
    )


def _is_json(reader: Reader) -> Reading[bool]:
    """Whether JSON comes next, in a fence or not."""
    yield from reader.blank()
    return bool((yield from reader.next_of("{", "[", _FENCE)))


def bare_opener(bracket: str, *, form: JsonForm) -> Opener:
    """JSON calls with no marker but the bracket they begin with.

    Behind words they may be an example, so there they count only where tools tell what a call is,
    and not where no syntax was named.
    """
    read = json_calls(form=form, opened=bracket)

    def read_first_or_offered(reader: Reader, output: Output) -> Reading[bool]:
        if output.has_words and not output.tools:
            return False
        return (yield from read(reader, output))

    return Opener(bracket, read_first_or_offered, detected_place="start", by_form=True)


def taught_opener(bracket: str, *, form: JsonForm) -> Opener:
    """The same for models that were taught to call like that: theirs count anywhere."""
    return Opener(
        bracket, json_calls(form=form, opened=bracket), detected_place="start", by_form=True
    )


def fenced_openers(*, form: JsonForm) -> tuple[Opener, ...]:
    """JSON calls in a fence; all else in a fence, or between ticks, is code.

    Only a fence that says so holds calls wherever it stands; where no syntax was named, others are
    examples unless they are the first thing that is said.
    """
    places: dict[str, Place] = dict.fromkeys(("```json", "```"), "start")
    places |= dict.fromkeys(("```tool_call", "```tool_calls", "```function_call"), "line")
    fences = (
        Opener(
            marker,
            json_calls("```", form=form),
            looks=next_is("{", "["),
            place="line",
            detected_place=place,
            closers=("```",),
            by_form=True,
        )
        for marker, place in places.items()
    )
    return (*fences, *only_named(*code_openers(())))


def json_calls(
    *closers: str, form: JsonForm = USUAL, marker: str = "", opened: str = ""
) -> ReadCalls:
    """A reader of JSON calls up to one of `closers`.

    `marker` is what opens calls; another one means that these have ended. `opened` is a bracket
    that was read as the marker already.
    """
    ends = stops(*closers, *((marker,) if marker else ()))

    def read(reader: Reader, output: Output) -> Reading[bool]:
        span = Span(reader, output, form, ends)
        yield from reader.blank()
        fence = "" if opened else (yield from reader.accept(f"{_FENCE}json", _FENCE))
        yield from _sequence(span, opened)
        if span.found and fence:
            yield from reader.blank()
            yield from reader.accept(_FENCE)
        if span.found and closers:
            yield from _close(reader, output, closers)
        return span.found

    return read


def next_is(*firsts: str) -> Looks:
    """Whether one of these comes next, behind white space that is taken."""
    longest = max(map(len, firsts))

    def looks(reader: Reader) -> Reading[bool]:
        yield from reader.blank()
        return (yield from reader.peek(longest)).startswith(firsts)

    return looks


def _sequence(span: Span, opened: str) -> Reading[None]:
    """Objects and lists of them, as long as they follow each other."""
    reader = span.reader
    depth = 1 if opened == "[" else 0
    is_open = opened == "{"
    while True:
        if not is_open:
            yield from reader.blank()
            if (yield from reader.comes(span.ends)):
                return
        first = "{" if is_open else (yield from reader.peek())
        if first == "{":
            if not (yield from _object(span, is_open=is_open)):
                return
            is_open = False
        elif first == "[":
            reader.take(1)
            depth += 1
        elif first and first in "]," and depth:
            reader.take(1)
            depth -= first == "]"
        elif first and first in "]}" and span.found:
            _stray(span, reader.take(1))
        elif not (first and first in ",;" and span.found and (yield from _goes_on(span))):
            return


def _object(span: Span, *, is_open: bool) -> Reading[bool]:
    """One object. Whether more may follow it."""
    was_found = span.found
    mark = span.reader.mark()
    one = JsonObject(span)
    is_call = yield from one.read(is_open=is_open)
    raw = span.reader.since(mark)
    if is_call:
        span.found = True
        return True
    if was_found:
        span.output.text(raw)
    return was_found and one.is_whole


def _stray(span: Span, bracket: str) -> None:
    why = f"A {bracket!r} too many stood behind a call; it was left out."
    span.output.note("text_in_call", Action.DROPPED, why)


def _goes_on(span: Span) -> Reading[bool]:
    """Whether the separator that comes next has another call behind it; else it is text."""
    reader = span.reader
    mark = reader.mark()
    reader.take(1)
    yield from reader.blank()
    first = yield from reader.peek()
    taken = reader.since(mark)
    if first in ("{", "["):
        return True
    span.output.text(taken)
    return False


def _close(reader: Reader, output: Output, closers: tuple[str, ...]) -> Reading[None]:
    """Take the closing marker if it is there, or what came of it before the text was cut."""
    yield from reader.blank()
    if not (yield from reader.accept(*closers)) and not reader.take_begun(*closers):
        output.unclosed = closers
