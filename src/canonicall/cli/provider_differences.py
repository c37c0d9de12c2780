"""Where models and formats of a provider differ: what each entry of its profile changes."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from canonicall.cli.provider_answers import listed, quoted
from canonicall.cli.provider_facts import answer_to
from canonicall.cli.provider_page_parts import Sources, table
from canonicall.cli.provider_schemas import schema_answers
from canonicall.facts.profile import ModelRules, Profile, Rule, override
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target

_OF_THINKING = ("efforts", "thinking_limits")
"""What is told together with how a model is told to think."""


def for_models(profile: Profile, sources: Sources) -> list[str]:
    rows = []
    for entry, told in _differences(profile, sources):
        models = _models(profile, entry)
        for what, answer, marks in told:
            rows.append((models, what, answer, marks))
            models = "the same"
    if not rows:
        return []
    head = ("models", "what", "here", "source")
    return ["### Where models or formats differ", "", *table(head, rows)]


def _differences(
    profile: Profile, sources: Sources
) -> Iterator[tuple[ModelRules, list[tuple[str, str, str]]]]:
    """What each entry changes. What holds in two formats alike is told once, for both."""
    known: dict[tuple[str, ...], list[tuple[str, str, str]]] = {}
    for entry in profile.models:
        told: dict[tuple[str, str], list[str]] = {}
        for field, rule in entry.rules.items():
            told.setdefault(_told(profile, entry, field, rule), []).append(sources.of(rule))
        rows = [(*said, " ".join(dict.fromkeys(marks))) for said, marks in told.items()]
        if known.get(entry.match) != rows:
            yield entry, rows
        known[entry.match] = rows


def _told(profile: Profile, entry: ModelRules, field: str, rule: Rule) -> tuple[str, str]:
    """One rule of an entry, in words."""
    target = _target_at(profile, entry)
    if field == "schemas":
        return "schemas of tools", schema_answers(rule.value, target)
    if field == "domain":
        return "reads signatures of", quoted(target.domain)
    return answer_to("thinking" if field in _OF_THINKING else field, target)


def _target_at(profile: Profile, entry: ModelRules) -> Target:
    """What holds for a model of the entry, with all that the file says before it."""
    model = entry.match[0].replace("*", "")
    target = get_target(f"{profile.name}/{entry.format}")
    for one in profile.models[: profile.models.index(entry) + 1]:
        if one.format == entry.format and any(fnmatchcase(model, glob) for glob in one.match):
            target = override(target, one.rules)
    return target


def _models(profile: Profile, entry: ModelRules) -> str:
    models = "all" if entry.match == ("*",) else listed(entry.match)
    if entry.format == profile.format:
        twins = [one.format for one in profile.models if _is_twin(one, entry)]
        return f"{models}, in {listed(twins)} too" if twins else models
    return f"{models} in `{entry.format}`"


def _is_twin(one: ModelRules, other: ModelRules) -> bool:
    """Whether one entry of the file stands for several formats."""
    return one.format != other.format and (one.match, one.rules) == (other.match, other.rules)


def served(profile: Profile, sources: Sources) -> list[str]:
    rows = []
    for models, wider, rules in _wider(profile):
        told: dict[tuple[str, str], list[str]] = {}
        for field, rule in rules.items():
            told.setdefault(_taken(field, wider), []).append(sources.of(rule))
        rows += [(models, *one, " ".join(dict.fromkeys(marks))) for one, marks in told.items()]
    if not rows:
        return []
    return [
        "## What it takes all the same",
        "",
        "The service is known to take this. It is not sent, so that what is rendered passes with",
        "every model and version. `verify`, `check` and the simulator let it pass.",
        "",
        *table(("models", "what", "here", "source"), rows),
    ]


def _wider(profile: Profile) -> Iterator[tuple[str, Target, dict[str, Rule]]]:
    """Models, their service as it is known to be, and what makes it wider than what is sent."""
    yield "all", override(get_target(profile.name), profile.served), profile.served
    for entry in profile.models:
        yield (
            _models(profile, entry),
            override(_target_at(profile, entry), entry.served),
            entry.served,
        )


def _taken(field: str, served: Target) -> tuple[str, str]:
    if field != "ids":
        return answer_to(field, served)
    if not served.ids.refused:
        return "id of a call", "none is needed" if served.ids.style == "echoed" else "any"
    limit = f", at most {served.ids.max_length} characters" if served.ids.max_length else ""
    some = f"any that matches {quoted(served.ids.pattern)}{limit}"
    return "id of a call", "none is needed" if served.ids.style == "echoed" else some
