"""The pages docs/providers/NAME.md, made of the profiles and of what the judge refuses.

`python -m canonicall.cli.provider_pages` writes them; a test holds that they are up to date. Every
statement has a number that leads to its source at the end of the page.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from canonicall.cli.provider_answers import listed, quoted
from canonicall.cli.provider_facts import GROUPS, answer_to
from canonicall.cli.provider_refusals import Refusal, refusals
from canonicall.cli.provider_schemas import schema_answers, schema_facts
from canonicall.providers.profile import ModelRules, Profile, Provenance, Rule, override
from canonicall.providers.registry import get_profile, get_target, provider_names
from canonicall.target import Target
from canonicall.wire.formats import get_format

FOLDER = Path("docs") / "providers"
_TRUST = {"A": "documented", "B": "recorded", "C": "reported", "U": "uncertain"}
_TEXTS = 3
"""Error texts that are shown for one code."""
_CAPABILITIES = {
    "format": "how calls are written",
    "parallel": "several calls in one reply",
    "max_calls": "calls in one reply, at most",
    "streaming": "calls in streams",
    "strict": "arguments held to their schema",
    "requires_schema": "only declared tools can be called",
    "max_tools": "tools in a request, at most",
    "tool_choice": "tool choice",
    "reasoning_replay": "reasoning that is sent back is",
}


class Sources:
    """The sources of one page, each with one number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, *texts: str) -> str:
        """The numbers of these sources, as links to them."""
        numbers = [self._numbers.setdefault(text, len(self._numbers) + 1) for text in texts]
        return " ".join(f"[{number}](#sources)" for number in dict.fromkeys(numbers))

    def of(self, fact: Provenance) -> str:
        return self.mark(
            f"{fact.source} ({fact.date}, {fact.confidence}: {_TRUST[fact.confidence]})"
        )

    def of_format(self, format: str) -> str:
        place = _rules_of(format)
        return self.mark(
            f"The rules of the format `{format}`, each with its source: [{place}](../../{place})"
        )

    def lines(self) -> Iterator[str]:
        return (f"{number}. {text}" for text, number in self._numbers.items())


def provider_page(name: str) -> str:
    """The page of one provider."""
    profile = get_profile(name)
    sources = Sources()
    parts = [
        [f"# {profile.title}", "", *_introduction(profile)],
        _capabilities(profile, sources),
        ["## What it wants", "", *_wanted_introduction(profile)],
        *_wants(profile, sources),
        _for_models(profile, sources),
        ["## What it refuses", "", *_refused_introduction(profile)],
        *_refused(profile, sources),
        _served(profile, sources),
        _quirks(profile, sources),
        ["## Sources", "", *sources.lines()],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _introduction(profile: Profile) -> list[str]:
    others = [f"{quoted(url)} for `{format}`" for format, url in profile.base_urls.items()]
    addresses = [quoted(profile.base_url)] if profile.base_url else []
    rows = [
        ("name", listed([profile.name, *profile.aliases])),
        ("formats", listed(profile.formats)),
        ("address", ", ".join([*addresses, *others]) or "yours"),
        ("key", listed(profile.key_env, "none of its own")),
        ("reads signatures of", quoted(profile.domain)),
    ]
    return [
        (
            "This page is made by `python -m canonicall.cli.provider_pages`; the data is in"
            f" [{profile.name}.toml](../../src/canonicall/providers/profiles/{profile.name}.toml)."
        ),
        (
            f"`canonicall check FILE --as {profile.name}` judges a request by these rules."
            " All providers: [providers.md](../providers.md)."
        ),
        "",
        *_table(("what", "here"), rows),
    ]


def _capabilities(profile: Profile, sources: Sources) -> list[str]:
    rows = [
        (what, _in_words(profile.capabilities[name].value), sources.of(profile.capabilities[name]))
        for name, what in _CAPABILITIES.items()
        if name in profile.capabilities
    ]
    return ["## What it can do", "", *_table(("what", "here", "source"), rows)] if rows else []


def _wanted_introduction(profile: Profile) -> list[str]:
    told = [f"Spoken to in `{profile.format}`. A number leads to the source."]
    if len(profile.formats) > 1:
        others = ", ".join(map(_base, profile.formats[1:]))
        told += [f"In its other formats their rules hold, with the differences below: {others}."]
    return told


def _base(format: str) -> str:
    """A format with a link to its rules: the page of whoever has it as the first, or the source."""
    owner = get_format(format).target.provider
    place = f"{owner}.md" if get_profile(owner).format == format else f"../../{_rules_of(format)}"
    return f"[`{format}`]({place})"


def _rules_of(format: str) -> str:
    return f"src/canonicall/wire/{format.replace('-', '_')}/target.py"


def _wants(profile: Profile, sources: Sources) -> Iterator[list[str]]:
    target = get_target(profile.name)
    for title, facts in GROUPS.items():
        rows = [
            (fact.question, answer, _source(profile, sources, fact.field, fact.also))
            for fact in facts
            if (answer := fact.answer(target))
        ]
        yield [f"### {title}", "", *_table(("what", "here", "source"), rows)]
    rows = [
        (what, answer, _schema_source(profile, sources, field))
        for field, what, answer in schema_facts(target)
        if answer
    ]
    yield ["### Schemas of tools", "", *_table(("what", "here", "source"), rows)]


def _source(profile: Profile, sources: Sources, *fields: str) -> str:
    rules = [profile.rules[field] for field in fields if field in profile.rules]
    return " ".join(map(sources.of, rules)) or sources.of_format(profile.format)


def _schema_source(profile: Profile, sources: Sources, field: str) -> str:
    """A rule for schemas changes some entries; the others are the format's."""
    rule = profile.rules.get("schemas")
    is_own = rule is not None and field in rule.value
    return _source(profile, sources, *(["schemas"] if is_own else []))


def _for_models(profile: Profile, sources: Sources) -> list[str]:
    rows = []
    for entry in profile.models:
        told: dict[tuple[str, str], list[str]] = {}
        for field, rule in entry.rules.items():
            told.setdefault(_told(profile, entry, field, rule), []).append(sources.of(rule))
        models = _models(profile, entry)
        for (what, answer), marks in told.items():
            rows.append((models, what, answer, " ".join(dict.fromkeys(marks))))
            models = "the same"
    if not rows:
        return []
    table = _table(("models", "what", "here", "source"), rows)
    return ["### Where models or formats differ", "", *table]


def _told(profile: Profile, entry: ModelRules, field: str, rule: Rule) -> tuple[str, str]:
    """One rule of an entry, in words."""
    target = _target_at(profile, entry)
    if field == "schemas":
        return "schemas of tools", schema_answers(rule.value, target)
    if field == "domain":
        return "reads signatures of", quoted(target.domain)
    return answer_to(field, target)


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
    return models if entry.format == profile.format else f"{models} in `{entry.format}`"


def _refused_introduction(profile: Profile) -> list[str]:
    return [
        (
            f"What `verify` finds in a body of `{profile.format}`, and what else `explain` knows."
            " The words on record are the provider's or, where it has none, those of its format."
        ),
        "[violations.md](../violations.md) says what each means, and what any host may answer.",
    ]


def _refused(profile: Profile, sources: Sources) -> Iterator[list[str]]:
    found = refusals(profile.name, _targets(profile))
    told = [
        (f"`{one.code}`", one.why, _words(one), one.repair, _marks(one, sources))
        for one in found
        if one.texts
    ]
    if told:
        yield _table(("code", "what is wrong", "words on record", "repair", "source"), told)
    silent = [one.code for one in found if not one.texts]
    if silent:
        yield [f"Without words on record: {listed(silent)}."]


def _served(profile: Profile, sources: Sources) -> list[str]:
    rows = []
    for models, served, rules in _wider(profile):
        told: dict[tuple[str, str], list[str]] = {}
        for field, rule in rules.items():
            told.setdefault(_taken(field, served), []).append(sources.of(rule))
        rows += [(models, *one, " ".join(dict.fromkeys(marks))) for one, marks in told.items()]
    if not rows:
        return []
    return [
        "## What it takes all the same",
        "",
        "The service is known to take this. It is not sent, so that what is rendered passes with",
        "every model and version. `verify`, `check` and the simulator let it pass.",
        "",
        *_table(("models", "what", "here", "source"), rows),
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


def _targets(profile: Profile) -> list[Target]:
    """The provider in its own format, and what models make of it."""
    own = get_target(profile.name).as_served
    entries = [entry for entry in profile.models if entry.format == profile.format]
    return [own, *(override(own, entry.rules) for entry in entries)]


def _words(refusal: Refusal) -> str:
    return "<br>".join(quoted(entry.example) for entry in refusal.texts[:_TEXTS])


def _marks(refusal: Refusal, sources: Sources) -> str:
    return sources.mark(*(entry.source for entry in refusal.texts[:_TEXTS]))


def _quirks(profile: Profile, sources: Sources) -> list[str]:
    if not profile.quirks:
        return []
    told = [f"- {quirk.text} {sources.of(quirk)}" for quirk in profile.quirks]
    return ["## Good to know", "", *told]


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return listed(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines]


def main() -> None:
    """Write the page of every provider."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in provider_names():
        (folder / f"{name}.md").write_text(provider_page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
