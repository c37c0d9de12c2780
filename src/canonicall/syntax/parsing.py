"""The whole text of a reply at once."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from canonicall.blocks import Thinking, ToolCall
from canonicall.findings import Finding
from canonicall.folding import fold
from canonicall.reply import Reply
from canonicall.request import Tool
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.scanner import AUTO, TextScanner


class Parsed(Struct, frozen=True):
    """What the text of a model says."""

    reply: Reply
    syntax: str
    """The syntax of the calls; empty where none was told and none was found."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls that the text holds, in order."""
        return self.reply.calls

    @property
    def text(self) -> str:
        """The words outside of calls and thoughts."""
        return self.reply.message.text

    @property
    def thinking(self) -> str:
        """The reasoning that the text holds."""
        blocks = self.reply.message.blocks
        return "\n".join(block.text for block in blocks if isinstance(block, Thinking))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was remarkable while reading."""
        return self.reply.findings


def parse(
    text: str,
    *,
    syntax: str | Syntax = AUTO,
    tools: Iterable[Tool | dict[str, Any]] | None = None,
    starts_in_thinking: bool = False,
) -> Parsed:
    """The calls, words and thoughts in the text of a model.

    `syntax` is the name of one, a declaration, or "auto": then its markers decide.
    """
    scanner = TextScanner(syntax, tools=tools, starts_in_thinking=starts_in_thinking)
    events = [*scanner.feed(text), *scanner.close()]
    named = "" if scanner.syntax.name == AUTO else scanner.syntax.name
    return Parsed(fold(events), scanner.detected or named)
