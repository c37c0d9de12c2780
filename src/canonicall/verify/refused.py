"""Fields that are refused: by a model, which its target lists with the words, or as unknown."""

from collections.abc import Iterator
from typing import Any

from canonicall.facts.target import Target
from canonicall.verify.node import Node
from canonicall.verify.thinking import is_kind_of_thinking
from canonicall.verify.violation import Violation, refuse


def refused_fields(root: Node, target: Target) -> Iterator[Violation]:
    for rule in target.refusals:
        if target.thinking and is_kind_of_thinking(rule):
            continue
        value = _value(root, rule.field)
        if value is None or value in rule.taken or (rule.values and value not in rule.values):
            continue
        if rule.beside and not _is_there(_value(root, rule.beside), rule.beside_values):
            continue
        error = rule.error.replace("{value}", str(value)).replace("{model}", target.model)
        where, source = root.at(rule.field), "the profile of the provider"
        yield refuse("parameter_unsupported", where, error, source=source)


def unknown_fields(root: Node, target: Target, words: str, source: str) -> Iterator[Violation]:
    """Fields of a request that the provider does not have; `words` has a place for the `{name}`."""
    if "request" in target.fields.closed:
        known = target.fields.request
        for name in root.fields:
            if name not in known and root.has(name):
                error = words.replace("{name}", name)
                yield refuse("unknown_field", root.at(name), error, source=source)


def _value(root: Node, path: str) -> Any:
    """What stands at a path; None where nothing does, or something that has no fields."""
    value: Any = root.fields
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _is_there(value: Any, wanted: tuple[str | bool, ...]) -> bool:
    return value in wanted if wanted else value not in (None, "", [], {})
