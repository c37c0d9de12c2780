"""Lists of models: which format a list is of, and the names in it."""

import re
from collections.abc import Sequence
from typing import Any

# Where a list does not say what a model does, its name often says what it does not.
_SILENT = re.compile(
    r"embed|rerank|whisper|tts|speech|audio|moderation|guard|dall-e|image|video|ocr", re.IGNORECASE
)
_GENERATES = "generateContent"


def listed_models(body: Any) -> tuple[str, ...]:
    """The names in a list of models, in whatever shape it came; empty where it is none."""
    if not isinstance(body, dict):
        return ()
    for field, name in (("data", "id"), ("models", "name"), ("modelSummaries", "modelId")):
        entries = body.get(field)
        if isinstance(entries, list):
            fitting = [one for one in entries if isinstance(one, dict) and _talks(one)]
            names = (one.get(name) for one in fitting)
            return tuple(one.removeprefix("models/") for one in names if isinstance(one, str))
    return ()


def first_that_talks(names: Sequence[str]) -> str:
    """The first model whose name does not say that it answers no questions; else the first."""
    talking = [one for one in names if not _SILENT.search(one)]
    return next(iter((*talking, *names)), "")


def format_of_list(body: Any) -> str:
    """The format whose list of models this is; empty where its shape does not tell.

    OpenAI says `object: list`, Anthropic `has_more`; of those that say `models`, Gemini has the
    methods of each, Ollama a digest, Cohere the endpoints.
    """
    if not isinstance(body, dict):
        return ""
    if isinstance(body.get("data"), list):
        first = _first(body["data"])
        is_anthropic = "has_more" in body and first.get("type", "model") == "model"
        return "anthropic" if is_anthropic and "object" not in body else "openai-chat"
    first = _first(body.get("models"))
    for field, format in (
        ("supportedGenerationMethods", "gemini"),
        ("digest", "ollama"),
        ("endpoints", "cohere"),
    ):
        if field in first:
            return format
    return ""


def _talks(entry: dict[str, Any]) -> bool:
    """Whether a model answers in words, as far as the list says it: embeddings do not."""
    methods = entry.get("supportedGenerationMethods")
    endpoints = entry.get("endpoints")
    if isinstance(methods, list):
        return _GENERATES in methods
    return "chat" in endpoints if isinstance(endpoints, list) else True


def _first(entries: Any) -> dict[str, Any]:
    first = entries[0] if isinstance(entries, list) and entries else None
    return first if isinstance(first, dict) else {}
