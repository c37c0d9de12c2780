"""What a conversation says, in whatever format it was read: for comparing before and after.

A body may move, join and split what it is given; it may not say something else. So names are
compared as the client knows them, texts without the blanks that joining puts between them, and a
failure counts whether a flag or a word tells it.
"""

import re
from collections import Counter
from typing import Any, NamedTuple

from canonicall.blocks import Code, Media, Message, Summary, Text, ToolCall
from canonicall.conversation import Conversation
from canonicall.facts.target import Target
from canonicall.findings import Report
from canonicall.ledger import Interaction
from canonicall.outcome import Outcome, wording
from canonicall.transcript.completion import family
from canonicall.wire.writing import words_of

_NOTE = re.compile(r"\[[^\]\s]+(: see the message after the results| left out: [^\]]*)\]")
_FAILED = re.compile(r"^(error:\s*)+", re.IGNORECASE)
ADDED = ("bridge_added", "ending_added", "words_added", "media_dropped", "media_moved")
"""Findings that say that words were put in."""


class Answered(NamedTuple):
    """A call and its result."""

    name: str
    arguments: dict[str, Any]
    text: str
    failed: bool


def squeezed(text: str) -> str:
    """`text` without its blanks."""
    return "".join(text.split())


_NOTHING_CAME = {
    squeezed(_FAILED.sub("", wording(outcome))) for outcome in (Outcome.COMPLETED, Outcome.FAILED)
}


def answered(conversation: Conversation, names: dict[str, str]) -> list[Answered]:
    """The calls with their results, in call order. `names` leads back to the client's own names."""
    return [
        _answered(one, names) for one in conversation.ledger.values() if one.call.kind != "server"
    ]


def _answered(one: Interaction, names: dict[str, str]) -> Answered:
    text = _NOTE.sub("", one.result.text).strip() if one.result is not None else ""
    failed = one.result is not None and one.result.error
    failed |= text.lower().startswith("error")
    told = squeezed(_FAILED.sub("", text))
    return Answered(
        names.get(one.name, one.name),
        arguments_of(one.call),
        "" if told in _NOTHING_CAME else told,
        failed,
    )


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object, as a target without freeform calls gets them."""
    if call.args is not None:
        return call.args
    return {"input" if call.kind == "custom" else "_raw": call.raw or ""}


def words(conversation: Conversation, *roles: str) -> list[str]:
    """The texts of these roles in order, those of results apart."""
    return [
        squeezed(words_of(block))
        for message in conversation.messages
        if message.role in roles
        for block in message.blocks
        if isinstance(block, (Text, Summary, Code)) and words_of(block).strip()
    ]


def media(conversation: Conversation) -> Counter[tuple[str, str]]:
    """Family and data of all media, in results and elsewhere."""
    return Counter(
        (family(part), part.data or "")
        for message in conversation.messages
        for part in _parts(message)
        if isinstance(part, Media)
    )


def _parts(message: Message) -> list[Any]:
    inside = [part for result in message.results for part in result.content or ()]
    return [*message.blocks, *inside]


def media_for(conversation: Conversation, target: Target) -> Counter[tuple[str, str]]:
    """The media of `conversation` that `target` can be sent, in a result or behind it."""
    sent = Counter[tuple[str, str]]()
    for message in conversation.messages:
        for block in message.blocks:
            if isinstance(block, Media) and family(block) in target.media:
                sent[family(block), block.data or ""] += 1
        for result in message.results:
            flagged = result.error and target.result_error_flag
            taken = {*target.media, *(() if flagged else target.result_media)}
            sent.update(
                (family(part), part.data or "")
                for part in result.content or ()
                if isinstance(part, Media) and family(part) in taken
            )
    return sent


def assert_same_words(before: Conversation, after: Conversation, report: Report) -> None:
    """Every text is there, from the same side and in order; nothing is added without a finding."""
    instructing, asking = ("system", "developer"), ("user", "tool")
    sides = [instructing, asking, ("assistant",)]
    if "instruction_as_user" in report:
        sides = [(*instructing, *asking), ("assistant",)]
    for roles in sides:
        said, sent = "".join(words(before, *roles)), "".join(words(after, *roles))
        if not any(code in report for code in ADDED):
            assert sent == said
        at = 0
        for text in words(before, *roles):
            assert text in sent[at:]
            at = sent.index(text, at) + len(text)
