"""The format of the reply: the rules every provider has, each in its own words.

A format reads its fields into an `Asked`. The schemas in it are looked at by the same judges as
those of tools; what they find is told as a fault of the format.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.facts.target import OutputMode, Target
from canonicall.verify.codes import CODES
from canonicall.verify.violation import Violation, refuse


class Asked(Struct, frozen=True):
    """What a request asks the reply to be."""

    where: str
    mode: OutputMode
    messages: Any = None
    """Where a word may have to stand that any JSON object needs."""


class OutputWords(Struct, frozen=True):
    """What a provider says, and where it is written."""

    source: str
    unknown_mode: str = ""
    """That it does not know the `{mode}`."""
    no_word: str = ""


def output_violations(asked: Asked, target: Target, words: OutputWords) -> Iterator[Violation]:
    """Whether the target can be asked for it at all."""
    if asked.mode not in target.output_modes and target.output_refused:
        error = words.unknown_mode.replace("{mode}", f"json_{asked.mode}")
        yield refuse("parameter_unsupported", asked.where, error, source=words.source)
    elif asked.mode == "object" and not _is_said(target.output_word, asked.messages):
        yield refuse("json_word_missing", asked.where, words.no_word, source=words.source)


def of_output(found: Iterable[Violation]) -> Iterator[Violation]:
    """What was found in a schema as by the judge of tools, told of the reply."""
    code = "bad_output_format"
    known = CODES[code]
    for one in found:
        yield replace(one, code=code, why=known.why, repair=known.repair)


def _is_said(word: str, messages: Any) -> bool:
    """Any place will do: providers look through the text of all messages."""
    if not word:
        return True
    try:
        return word in msgspec.json.encode(messages).decode().lower()
    except (TypeError, ValueError, RecursionError):
        return True  # That this is no JSON is told elsewhere.
