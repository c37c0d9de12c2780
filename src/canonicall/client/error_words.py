"""Fields of a target that only the words of a refusal tell: the parameter or the value it names."""

import re
from collections.abc import Callable

from canonicall.client.refused_output import less_output
from canonicall.facts.lessons import Fields, lessons, pattern
from canonicall.facts.target import FieldPlace, FieldRule, Target, ThinkingKind
from canonicall.transcript.thinking import EFFORTS

_PLACES: tuple[FieldPlace, ...] = ("request", "message", "part", "call", "tool")
_SWITCHES: tuple[ThinkingKind, ...] = ("adaptive", "enabled", "disabled")
_NAMED = ("temperature", "top_p", "top_k", "seed", "stop", "reasoning", "max_tokens", "output")


def fields_in(code: str, words: str, target: Target) -> Fields:
    """What the words of a refusal of this name say; empty where they say nothing more."""
    read = _READERS.get(code)
    return {} if read is None else read(words, target)


def _parameter(words: str, target: Target) -> Fields:
    """The parameter that an error names, in the words of `Params`."""
    demanded = _demanded(words, target) or less_output(words, target)
    if demanded:
        return demanded
    instead = pattern("token_limit").search(words)
    if instead is not None:
        return {"token_limit_field": instead[1]}
    found = pattern("parameter").search(words)
    named = next(filter(None, found.groups()), "") if found else ""
    name = named.partition(".")[0]
    if name == "parallel_tool_calls":
        return {"parallel_switch": False}
    if name == "tool_choice":
        return lessons().change("choice_unsupported", target.format)
    efforts = _listed_efforts(words)
    if efforts:
        return {"thinking": ("effort",), "efforts": efforts}
    name = lessons().reading.parameters.get(name, name)
    return {"refused_params": (name,)} if name in _NAMED else {}


def _listed_efforts(words: str) -> tuple[str, ...]:
    """The efforts that an error says a model knows; other values are listed in the same words."""
    found = pattern("values").search(words)
    listed = re.findall(r"\w+", found[1]) if found else []
    efforts = tuple(one for one in ("none", *EFFORTS) if one in listed)
    return efforts if {"low", "medium", "high"} & set(efforts) else ()


def _demanded(words: str, target: Target) -> Fields:
    """What an error wants a request to say, where a target can be told to."""
    del target
    said = words.lower()
    return next((one.change for one in lessons().demand if one.text in said), {})


def _unknown_field(words: str, target: Target) -> Fields:
    """Nothing any more that the target is not known to have, and not the field that it names."""
    found = pattern("field").search(words)
    name = (found["name"] or found["path"]) if found else ""
    if not name or lessons().is_of_format("unknown_field", target.format):
        return {}
    rule = target.fields
    kept = {place: tuple(one for one in getattr(rule, place) if one != name) for place in _PLACES}
    closed: Fields = {"fields": FieldRule(**kept, closed=_PLACES)}
    if "reasoning" in name or "thinking" in name:
        return {**closed, **lessons().change("reasoning_refused", target.format)}
    return {**closed, **_parameter(f"Unknown parameter: '{name}'", target)}


def _thinking(words: str, target: Target) -> Fields:
    """Without the way of switching thinking that an error names first."""
    found = pattern("thinking").search(words)
    if found is None:
        return {"refused_params": ("reasoning",)}
    named = (found["kind"] or "adaptive").lower()
    ways = target.thinking if named in target.thinking else _SWITCHES
    return {"thinking": tuple(one for one in ways if one != named)}


def _effort(words: str, target: Target) -> Fields:
    """The efforts that an error lists; where it lists none, none is told any more."""
    del target
    values = _listed_efforts(words)
    if values:
        return {"thinking": ("effort",), "efforts": values}
    found = pattern("levels").search(words)
    listed = found[1].split(", ") if found else []
    return {"efforts": tuple(one for one in EFFORTS if one in listed)}


_READERS: dict[str, Callable[[str, Target], Fields]] = {
    "parameter_unsupported": _parameter,
    "missing_field": _demanded,
    "thinking_unsupported": _thinking,
    "effort_unsupported": _effort,
    "bad_output_format": less_output,
    "unknown_field": _unknown_field,
}
