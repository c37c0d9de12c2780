"""One vector, as it is recorded."""

from typing import Any

import msgspec


class Answer(msgspec.Struct, frozen=True):
    """What one engine makes of a text."""

    calls: list[dict[str, Any]] = []
    content: str | None = None


class Vector(msgspec.Struct, frozen=True):
    """One text and what it means."""

    id: str
    format: str
    mode: str
    text: str
    expected_calls: list[dict[str, Any]]
    strength: str = ""
    chunks: list[str] | None = None
    tools: list[Any] | None = None
    expected_content: str | None = None
    expected_reasoning: str | None = None
    alt_expected: dict[str, Answer] | None = None
    """What each engine says, where several were asked."""
    starts_in_reasoning: bool | None = None
    incomplete: bool | None = None
    calls_json_ok: bool = True
    notes: str | None = None
