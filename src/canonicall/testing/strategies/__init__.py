"""Hypothesis strategies: what people, models and hosts write, for laws about what you build.

Most of what they make is damaged: few ids and names, so that everything collides, results without
calls and calls without results, arguments that are cut. `sound=True` makes what is not.

@given(conversations())
def test_my_provider_takes_anything(conversation): ...

Every function returns a strategy. Only here is the package hypothesis needed: it is loaded with the
first strategy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from canonicall.errors import CanonicallError

if TYPE_CHECKING:
    from canonicall.testing.strategies.of_blocks import (
        calls,
        json_objects,
        json_values,
        media,
        results,
        texts,
        thoughts,
        words,
    )
    from canonicall.testing.strategies.of_bodies import damaged_bodies, damaged_data
    from canonicall.testing.strategies.of_conversations import (
        assistant_messages,
        conversations,
        entries,
        entry_lists,
        messages,
        origins,
        other_messages,
        replies,
        result_messages,
    )
    from canonicall.testing.strategies.of_requests import choices, offers, params, requests, tools

_HOME = {
    "assistant_messages": "of_conversations",
    "calls": "of_blocks",
    "choices": "of_requests",
    "conversations": "of_conversations",
    "damaged_bodies": "of_bodies",
    "damaged_data": "of_bodies",
    "entries": "of_conversations",
    "entry_lists": "of_conversations",
    "json_objects": "of_blocks",
    "json_values": "of_blocks",
    "media": "of_blocks",
    "messages": "of_conversations",
    "offers": "of_requests",
    "origins": "of_conversations",
    "other_messages": "of_conversations",
    "params": "of_requests",
    "replies": "of_conversations",
    "requests": "of_requests",
    "result_messages": "of_conversations",
    "results": "of_blocks",
    "texts": "of_blocks",
    "thoughts": "of_blocks",
    "tools": "of_requests",
    "words": "of_blocks",
}

__all__ = [
    "HypothesisMissing",
    "assistant_messages",
    "calls",
    "choices",
    "conversations",
    "damaged_bodies",
    "damaged_data",
    "entries",
    "entry_lists",
    "json_objects",
    "json_values",
    "media",
    "messages",
    "offers",
    "origins",
    "other_messages",
    "params",
    "replies",
    "requests",
    "result_messages",
    "results",
    "texts",
    "thoughts",
    "tools",
    "words",
]


class HypothesisMissing(CanonicallError, ImportError):
    """The package that strategies are made with is not installed."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import_module("hypothesis")
    except ImportError:
        what = f"{__name__} needs hypothesis: pip install hypothesis, or canonicall[testing]"
        raise HypothesisMissing(what) from None
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
