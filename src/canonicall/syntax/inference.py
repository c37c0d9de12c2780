"""A form of calls in text, found from examples: texts of a host whose calls are known.

In: two or more texts, each with the calls that it should print. Out: a `TextForm` that reads every
example as just these calls, or the reason why there is none. Pure: nothing is asked or registered.

What is looked for, in this order: a JSON object that holds name and arguments, a name with a JSON
object after it, a name with arguments one by one. Markers are what all examples have in common
around these. Prose is no form: the opening has to have characters that prose hardly has, or to be a
label at the start of a line. What is in quotes or code is never taken.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.arguments import parse_arguments
from canonicall.facts.target import TextForm
from canonicall.folding import fold
from canonicall.request import Tool
from canonicall.syntax.reader import Reader
from canonicall.syntax.repair import repaired_object
from canonicall.syntax.scanner import TextScanner
from canonicall.syntax.text_form import KEY, MARKUP, NAME, syntax_of_form

Called: TypeAlias = tuple[str, dict[str, Any]]
"""The name of a tool, and the arguments."""
_NAME, _KEY = "\ue000", "\ue001"
"""Placeholders of one character, which cannot be cut in two."""
_BRACKETS = "<[{"
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"
_PROSE = re.compile(r"(?:^|\s)[a-z]+(?=\s)")
_LEAST = 2
_MOST_OBJECTS = 100
_FEW_ARGUMENTS = "the examples have no two arguments: what separates them is unknown."


class Example(Struct, frozen=True):
    """A text of a host, and the calls that were asked for."""

    text: str
    calls: tuple[Called, ...]


class Inferred(Struct, frozen=True):
    """The form of the examples, or why none was found."""

    form: TextForm | None = None
    reason: str = ""


class _Unclear(Exception):
    """The examples have no form of this kind. The message is the reason."""


def infer_form(examples: Sequence[Example], name: str = "learned") -> Inferred:
    """The form in which all examples print their calls; it is called `name`.

    At least two examples have to print one call each, of different tools. One with several calls
    shows what is between them.
    """
    single = [one for one in examples if len(one.calls) == 1 and _names_all(one)]
    if len({one.calls[0][0] for one in single}) < _LEAST:
        return Inferred(reason="Fewer than two examples name the tool that was asked for.")
    reasons = []
    for kind in (_objects, _json_after_names, _members):
        try:
            form = _checked(_written(kind(single, name)), examples)
        except _Unclear as unclear:
            reasons.append(f"{_KINDS[kind]}: {unclear}")
        else:
            return Inferred(form)
    return Inferred(reason=" ".join(reasons))


def _written(form: TextForm) -> TextForm:
    """The form with its placeholders as they are written."""
    texts = {key: getattr(form, key) for key in ("between", "closing", "after_value", "separator")}
    return replace(
        form,
        **{key: text.replace(_NAME, NAME).replace(_KEY, KEY) for key, text in texts.items()},
    )


def _names_all(example: Example) -> bool:
    return all(_last_word(name, example.text) is not None for name, _ in example.calls)


def _checked(form: TextForm, examples: Sequence[Example]) -> TextForm:
    """The form, if it reads all that it was found from; with a joint, if it needs one."""
    for one in examples:
        if len(one.calls) == 1 and _names_all(one) and not _reads(form, one):
            raise _Unclear("an example is read as something else.")
    for one in examples:
        if len(one.calls) > 1 and _names_all(one) and not _reads(form, one):
            joined = replace(form, joint=_joint(form, one))
            form = joined if joined.joint and _reads(joined, one) else form
    return form


def _reads(form: TextForm, example: Example) -> bool:
    """Whether the form reads an example as its calls."""
    tools = [Tool(name, parameters=_schema_of(arguments)) for name, arguments in example.calls]
    scanner = TextScanner(syntax_of_form(form), tools=tools)
    reply = fold([*scanner.feed(example.text), *scanner.close()])
    found = tuple((call.name, call.args) for call in reply.calls if not call.truncated)
    return found == example.calls


def _schema_of(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: {"const": arguments[key]} for key in arguments}}


class _Parts(NamedTuple):
    """A text around its call."""

    head: str
    between: str
    tail: str


def _objects(examples: Sequence[Example], form_name: str) -> TextForm:
    """Calls that are JSON objects with the name in them."""
    parts, keys = [], set()
    for one in examples:
        found = next(_objects_with_name(one), None)
        if found is None:
            raise _Unclear("no JSON object has the name and the arguments.")
        parts.append(found[0])
        keys.add(found[1])
    if len(keys) > 1:
        raise _Unclear("the keys of name and arguments differ.")
    ((name_key, arguments_key),) = keys
    return TextForm(
        name=form_name,
        arguments="object",
        opening=_opening(parts),
        closing=_shared_start(one.tail for one in parts).strip(),
        name_key=name_key,
        arguments_key=arguments_key,
    )


def _objects_with_name(example: Example) -> Iterator[tuple[_Parts, tuple[str, str]]]:
    ((name, arguments),) = example.calls
    for start, end, value in _json_objects(example.text, 0):
        name_key = next((key for key in value if value[key] == name), None)
        if name_key is None:
            continue
        rest = {key: one for key, one in value.items() if key != name_key}
        held = (key for key, one in rest.items() if one == arguments or _decoded(one) == arguments)
        arguments_key = next(held, "" if rest == arguments else None)
        if arguments_key is not None:
            parts = _Parts(example.text[:start], "", example.text[end:])
            yield parts, (name_key, arguments_key)


def _json_after_names(examples: Sequence[Example], form_name: str) -> TextForm:
    """Calls whose arguments are a JSON object after the name."""
    parts = []
    for one in examples:
        ((name, arguments),) = one.calls
        found = (span for span in _json_objects(one.text, 0) if span[2] == arguments)
        start, end, _ = next(found, (0, 0, None))
        named = _last_word(name, one.text[:start])
        if named is None:
            raise _Unclear("no JSON object with the arguments follows the name.")
        between = _without(name, _NAME, one.text[named.end() : start])
        tail = _without(name, _NAME, one.text[end:])
        parts.append(_Parts(one.text[: named.start()], between, tail))
    return TextForm(
        name=form_name,
        arguments="json",
        opening=_opening(parts),
        between=_same((one.between for one in parts), "what follows the name"),
        closing=_shared_start(one.tail for one in parts).strip(),
    )


class _Member(NamedTuple):
    """An argument in a text: how it is written, and what is before its parts."""

    key: str
    gap: str
    """Between what was before and the key."""
    lead: str
    """Between the key and the value."""
    quote: str
    is_text: bool
    escapes: str | None
    """None where the value has nothing to escape."""


class _Spread(NamedTuple):
    """A text around a call whose arguments are one by one."""

    parts: _Parts
    members: tuple[_Member, ...]
    end: int
    """Where the last value ends."""


def _members(examples: Sequence[Example], form_name: str) -> TextForm:
    """Calls whose arguments are written one by one."""
    spreads = [_spread(one) for one in examples]
    with_gaps = [one for one in spreads if len(one.members) >= _LEAST]
    if not with_gaps:
        raise _Unclear(_FEW_ARGUMENTS)
    members = [member for one in spreads for member in one.members]
    first = _same((one.members[0].gap for one in spreads if one.members), "what precedes a key")
    inner = _same((m.gap for one in with_gaps for m in one.members[1:]), "what separates arguments")
    tail = _shared_start(one.parts.tail for one in spreads if one.members)
    before_key = _shared_end((first, inner))
    rest = inner.removesuffix(before_key) if before_key else inner
    after_value = _shared_start((rest, tail))
    return TextForm(
        name=form_name,
        arguments="members",
        opening=_opening([one.parts for one in spreads]),
        between=first.removesuffix(before_key) if before_key else first,
        closing=tail[len(after_value) :].rstrip(),
        before_key=before_key,
        before_value=_same((one.lead for one in members), "what is between key and value"),
        after_value=after_value,
        separator=rest[len(after_value) :],
        **_values(members, is_tagged=">" in tail),
    )


def _values(members: Sequence[_Member], *, is_tagged: bool) -> dict[str, Any]:
    """How values are quoted and escaped."""
    quotes = {one.quote for one in members if one.is_text}
    others = {one.quote for one in members if not one.is_text}
    if len(quotes) > 1 or len(others) > 1 or not others <= {"", *quotes}:
        raise _Unclear("the values are not quoted in the same way.")
    quote = next(iter(quotes), "")
    if not quote and others - {""}:
        raise _Unclear("numbers are quoted and text is not.")
    seen = {one.escapes for one in members if one.escapes is not None}
    if len(seen) > 1:
        raise _Unclear("the values are not escaped in the same way.")
    usual = "xml" if is_tagged else "json" if quote else ""
    is_all = bool(quote) and others == {quote}
    return {
        "quote": quote,
        "quoted": "all" if is_all else "strings",
        "escapes": next(iter(seen), usual),
    }


def _spread(example: Example) -> _Spread:
    """The last place of the name after which all arguments are written."""
    ((name, arguments),) = example.calls
    for named in reversed([*_pattern(name).finditer(example.text)]):
        found = _spread_from(example.text, named, arguments)
        if found is not None:
            return found
    raise _Unclear("an argument, or its value, is not found after the name.")


def _spread_from(text: str, named: re.Match[str], arguments: dict[str, Any]) -> _Spread | None:
    at, left, before = named.end(), dict(arguments), named[0]
    members: list[_Member] = []
    placeholder = _NAME
    while left:
        keys = (_word(key, text, at) for key in left)
        key = min(
            (one for one in keys if one is not None), key=lambda one: one.start(), default=None
        )
        value = None if key is None else _value_after(left[key[0]], text, key.end())
        if key is None or value is None:
            return None
        gap = _without(before, placeholder, text[at : key.start()])
        lead = text[key.end() : value.start]
        quote = lead[-1:] if lead[-1:] in ('"', "'") and text[value.end :][:1] == lead[-1:] else ""
        lead = lead.removesuffix(quote) if quote else lead
        is_text = isinstance(left.pop(key[0]), str)
        members.append(_Member(key[0], gap, lead, quote, is_text, value.escapes))
        at, before, placeholder = value.end + len(quote), key[0], _KEY
    tail = _without(named[0], _NAME, _without(before, placeholder, text[at:]))
    return _Spread(_Parts(text[: named.start()], "", tail), tuple(members), at)


class _Value(NamedTuple):
    start: int
    end: int
    escapes: str | None


def _value_after(value: Any, text: str, at: int) -> _Value | None:
    """The first place where a value is written, in whatever way."""
    found = []
    for written, escapes in _spellings(value):
        place = _word(written, text, at) if written else None
        if place is not None:
            found.append((place.start(), -len(written), escapes))
    if not found:
        return None
    start, length, _ = min(found, key=lambda one: one[:2])
    kinds = {one[2] for one in found if one[:2] == (start, length)}
    return _Value(start, start - length, kinds.pop() if len(kinds) == 1 else None)


def _spellings(value: Any) -> Iterator[tuple[str, str]]:
    """The ways to write a value, each with how it is escaped."""
    if not isinstance(value, str):
        text = msgspec.json.encode(value).decode()
        yield from ((one, kind) for one in (text, str(value)) for kind in ("", "xml", "json"))
        return
    yield value, ""
    yield msgspec.json.encode(value).decode()[1:-1], "json"
    tagged = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for quote in ("&quot;", "&#34;", '"'):
        for other in ("&apos;", "&#39;", "&#x27;", "'"):
            yield tagged.replace('"', quote).replace("'", other), "xml"


def _joint(form: TextForm, example: Example) -> str:
    """What is between the first two calls of an example; empty text where that is not clear."""
    (name, arguments), (other, _) = example.calls[:2]
    text = example.text
    named = _word(name, text, max(text.find(form.opening), 0))
    if named is None:
        return ""
    end: int | None = None
    if form.arguments == "json":
        spans = _json_objects(text, named.end())
        end = next((end for _, end, value in spans if value == arguments), None)
    elif form.arguments == "members":
        spread = _spread_from(text, named, arguments)
        if spread is not None and spread.members:
            after = form.after_value.replace(KEY, spread.members[-1].key)
            end = spread.end + len(after) if text.startswith(after, spread.end) else None
    following = None if end is None else _word(other, text, end)
    return (
        ""
        if following is None
        else _without(name, _NAME, text[end : following.start()]).replace(_NAME, NAME)
    )


def _opening(parts: Sequence[_Parts]) -> str:
    """What all texts have before the call, without the prose before that."""
    heads = [one.head for one in parts]
    shared = _shared_end(heads)
    marked = MARKUP.search(shared)
    if marked is None:
        opening = shared[shared.rfind("\n") + 1 :].lstrip()
        at_line_start = all(one.removesuffix(opening)[-1:] in ("", "\n") for one in heads)
        if not opening.rstrip().endswith(":") or not at_line_start:
            raise _Unclear("nothing that prose does not have marks the call.")
    else:
        blank = [found.end() for found in re.finditer(r"\s", shared[: marked.start()])]
        opening = shared[marked.start() if marked[0] in _BRACKETS else max(blank, default=0) :]
    if any(one.removesuffix(opening)[-1:] in [*_QUOTES] for one in heads if opening != one):
        raise _Unclear("the call is quoted.")
    if "`" in shared[-len(opening) :] or any(one.count("```") % 2 for one in heads):
        raise _Unclear("the call is in code.")
    if "<" not in opening and _PROSE.search(opening):
        raise _Unclear("the call is a part of a sentence.")
    return opening


def _same(texts: Iterable[str], what: str) -> str:
    """The text that all examples have here."""
    found = {*texts}
    if len(found) != 1:
        raise _Unclear(f"{what} differs from example to example.")
    text = found.pop()
    if "<" not in text and _PROSE.search(text):
        raise _Unclear(f"{what} is prose.")
    return text


def _shared_start(texts: Iterable[str]) -> str:
    """What all texts begin with."""
    first, *others = texts
    length = len(first)
    for one in others:
        pairs = enumerate(zip(first[:length], one, strict=False))
        length = next((at for at, (a, b) in pairs if a != b), min(length, len(one)))
    return first[:length]


def _shared_end(texts: Iterable[str]) -> str:
    """What all texts end with."""
    return _shared_start(one[::-1] for one in texts)[::-1]


def _json_objects(text: str, at: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Every JSON object from `at` on, those inside of others too, with its place."""
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        pieces: list[str] = []
        reader = Reader(())
        reader.feed(text[at:])
        reader.close()
        for _ in reader.json_value(pieces.append):
            continue
        raw = "".join(pieces)
        value = parse_arguments(raw) or repaired_object(raw)
        if value is not None:
            yield at, at + len(raw), value
        at += 1


def _decoded(value: Any) -> Any:
    return parse_arguments(value) if isinstance(value, str) and "{" in value else None


def _pattern(word: str) -> re.Pattern[str]:
    before = r"(?<![\w])" if word[:1].isalnum() or word[:1] == "_" else ""
    after = r"(?![\w])" if word[-1:].isalnum() or word[-1:] == "_" else ""
    return re.compile(before + re.escape(word) + after)


def _word(word: str, text: str, at: int = 0) -> re.Match[str] | None:
    """The first place of a word that is no part of another one."""
    return _pattern(word).search(text, at)


def _last_word(word: str, text: str) -> re.Match[str] | None:
    found = [*_pattern(word).finditer(text)]
    return found[-1] if found else None


def _without(word: str, placeholder: str, text: str) -> str:
    """A marker with a placeholder for a word in it."""
    return _pattern(word).sub(lambda _: placeholder, text) if word else text


_KINDS: dict[Callable[[Sequence[Example], str], TextForm], str] = {
    _objects: "As a JSON object",
    _json_after_names: "As a name and a JSON object",
    _members: "As a name and single arguments",
}
