"""Whether a reply says what a vector expects.

Calls are compared by name and by the values of their arguments, words without their white space.
Three things are the same though they look different:

- Numbers of the same value: 1.23e3 and 1230, 5.0 and 5.
- Words before and behind a call, which are two texts here and one in an answer of other engines.
- A call that the end of the text cut. Here it is kept, marked as truncated and not to be run; other
  engines, which have no such mark, leave it out, or leave all that was said of it in the words.

Where engines agree only on the calls (strength `consensus_calls`), the words of any of them do.
"""

import json
from typing import Any

from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.syntax.parsing import Parsed
from vectors.vector import Answer, Vector


def difference(vector: Vector, parsed: Parsed) -> str:
    """What is not as expected; empty if all is."""
    calls = runnable(vector.expected_calls, parsed.calls)
    is_left_out = len(calls) < len(parsed.calls)
    if len(vector.expected_calls) != len(calls):
        return f"{len(parsed.calls)} calls: {parsed.calls}"
    is_cut = bool(vector.incomplete) or not vector.calls_json_ok
    pairs = zip(vector.expected_calls, calls, strict=True)
    if not all(_is_same_call(wanted, call, is_cut=is_cut) for wanted, call in pairs):
        return f"the calls are {parsed.calls}"
    if not any(is_same_text(one, parsed, vector, is_left_out) for one in _contents(vector)):
        return f"the text is {parsed.text!r}"
    if not _is_same(vector.expected_reasoning, _blocks(parsed, Thinking)):
        return f"the thought is {parsed.thinking!r}"
    return ""


def agrees(answer: Answer, vector: Vector, parsed: Parsed) -> bool:
    """Whether a reply has the calls and the words that an engine answers."""
    calls = runnable(answer.calls, parsed.calls)
    return (
        len(calls) == len(answer.calls)
        and all(map(_is_same_call, answer.calls, calls))
        and is_same_text(answer.content or "", parsed, vector, len(calls) < len(parsed.calls))
    )


def runnable(wanted: list[Any], calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The calls without one too many at the end that was cut: nobody is to run that."""
    is_surplus = len(calls) == len(wanted) + 1 and calls[-1].truncated
    return calls[:-1] if is_surplus else calls


def is_same_text(wanted: str | None, parsed: Parsed, vector: Vector, is_left_out: bool) -> bool:
    """Whether the words are those. `is_left_out`: a cut call is, which they may go on with."""
    texts = _blocks(parsed, Text)
    if _is_same(wanted, texts) or wanted is None or not is_left_out:
        return _is_same(wanted, texts)
    said, expected = _letters("".join(texts)), _letters(wanted)
    return expected.startswith(said) and _letters(vector.text).endswith(expected[len(said) :])


def _contents(vector: Vector) -> list[str | None]:
    """The words that are as expected: those of any engine, where they agree only on the calls."""
    is_open = vector.strength.startswith("consensus_calls")
    others = vector.alt_expected if is_open and vector.alt_expected else {}
    return [vector.expected_content, *(one.content or "" for one in others.values())]


def _blocks(parsed: Parsed, kind: type[Text | Thinking]) -> list[str]:
    return [one.text for one in parsed.reply.message.blocks if isinstance(one, kind)]


def _is_same(wanted: str | None, texts: list[str]) -> bool:
    """White space does not count; None means that nothing was expected of it."""
    return wanted is None or wanted.split() in ("\n".join(texts).split(), "".join(texts).split())


def _letters(text: str) -> str:
    return "".join(text.split())


def _is_same_call(wanted: dict[str, Any], call: ToolCall, *, is_cut: bool = False) -> bool:
    if wanted["name"] not in (None, call.name):
        return False
    if not is_cut and not _same_arguments(wanted.get("arguments"), call.args, call.raw):
        return False
    return all(_at(call.args, *one) for one in wanted.get("arguments_subset") or ())


def _same_arguments(wanted: Any, args: dict[str, Any] | None, raw: str | None) -> bool:
    if isinstance(wanted, str):
        try:
            wanted = json.loads(wanted)
        except ValueError:
            return raw == wanted
    return wanted is None or _canonical(wanted) == _canonical(args)


def _canonical(value: Any) -> str:
    """Tells true from 1, which Python does not."""
    return json.dumps(_with_plain_numbers(value), sort_keys=True)


def _with_plain_numbers(value: Any) -> Any:
    """JSON has one kind of number: 5.0 is 5."""
    if isinstance(value, dict):
        return {key: _with_plain_numbers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_plain_numbers(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _at(value: Any, path: list[str | int], wanted: Any) -> bool:
    for step in path:
        value = value[step]
    return bool(value == wanted)
