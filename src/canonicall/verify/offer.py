"""Tools and tool choice: the rules every format has, each in the words of its provider.

A format reads its own fields into an `Offer` and brings its words: one template for each code,
filled with `name`, `place`, `count`, `limit`, `pattern`, `mode` and `word`. A code that a provider
has no words for is not a rule there.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.verify.lexical import Declared, is_tool_name, repeated_names
from canonicall.verify.node import plain
from canonicall.verify.violation import Violation, refuse

LONG_NAME = "long_tool_name"
"""The template for a name that is only too long, where a provider tells it in other words."""


class Chosen(Struct, frozen=True):
    """A tool choice: its mode in canonical words, and the tools it names."""

    where: str
    mode: str
    names: tuple[str, ...] = ()
    is_named: bool = False
    word: str = ""
    """The mode as the provider writes it, where that is another word."""


class Offer(Struct, frozen=True):
    """What a request offers to the model."""

    where: str
    tools: tuple[Declared, ...]
    others: int = 0
    """Tools without a name of their own: the provider's."""
    is_given: bool = True
    """The list is there, empty or not."""
    chosen: Chosen | None = None
    is_thinking: bool = False
    is_used: bool = False
    """The history has calls or results."""

    @property
    def count(self) -> int:
        return len(self.tools) + self.others


class Words(Struct, frozen=True):
    """What a provider says for each code, and where it is written."""

    source: str
    errors: Mapping[str, str]

    def refuse(
        self, code: str, where: str, *, told: str = "", **parts: object
    ) -> Iterator[Violation]:
        """`told`: the template to use instead of that of the code, where the provider has it."""
        if code in self.errors:
            template = self.errors.get(told, self.errors[code])
            yield refuse(
                code, where, template.format(place=plain(where), **parts), source=self.source
            )


def offer_violations(offer: Offer, target: Target, words: Words) -> Iterator[Violation]:
    yield from _count(offer, target, words)
    yield from _names(offer, target, words)
    if offer.chosen is not None:
        yield from _choice(offer, offer.chosen, target, words)


def _count(offer: Offer, target: Target, words: Words) -> Iterator[Violation]:
    if offer.is_given and not offer.count:
        yield from words.refuse("empty_tools", offer.where)
    if target.max_tools and offer.count > target.max_tools:
        limit = target.max_tools
        yield from words.refuse("too_many_tools", offer.where, count=offer.count, limit=limit)
    if target.tools_with_history and offer.is_used and not offer.count:
        yield from words.refuse("tools_missing", offer.where)


def _names(offer: Offer, target: Target, words: Words) -> Iterator[Violation]:
    rule = target.names
    for tool in offer.tools:
        if not is_tool_name(tool.name, rule):
            parts = {"name": tool.name, "pattern": rule.pattern, "limit": rule.max_length}
            told = LONG_NAME if len(tool.name) > rule.max_length else ""
            count = len(tool.name)
            yield from words.refuse("bad_tool_name", tool.where, told=told, count=count, **parts)
    for tool in repeated_names(offer.tools):
        yield from words.refuse("duplicate_tool_name", tool.where, name=tool.name)


def _choice(offer: Offer, chosen: Chosen, target: Target, words: Words) -> Iterator[Violation]:
    if not offer.count:
        yield from words.refuse("choice_without_tools", chosen.where)
        return
    declared = {tool.name for tool in offer.tools}
    for name in chosen.names:
        if name not in declared:
            yield from words.refuse("choice_names_unknown_tool", chosen.where, name=name)
    if not _is_known(chosen, target):
        word = chosen.word or chosen.mode
        yield from words.refuse("choice_unsupported", chosen.where, mode=chosen.mode, word=word)
    is_forced = chosen.mode == "required" or chosen.is_named
    if is_forced and offer.is_thinking and not target.forced_choice_with_reasoning:
        yield from words.refuse("forced_choice_with_thinking", chosen.where)


def _is_known(chosen: Chosen, target: Target) -> bool:
    if chosen.is_named:
        return target.choice_names != "no"
    return chosen.mode in target.choice_modes
