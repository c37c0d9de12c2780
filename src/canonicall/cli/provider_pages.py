"""The pages docs/providers/NAME.md, made of the profiles and of what the judge refuses.

`python -m canonicall.cli.provider_pages` writes them; a test holds that they are up to date. Every
statement has a number that leads to its source at the end of the page.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from canonicall.cli.provider_answers import listed, quoted
from canonicall.cli.provider_differences import for_models, served
from canonicall.cli.provider_facts import GROUPS
from canonicall.cli.provider_page_parts import Sources, rules_of, table
from canonicall.cli.provider_refusals import Refusal, refusals
from canonicall.cli.provider_schemas import schema_facts
from canonicall.facts.profile import Profile, override
from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.facts.target import Target
from canonicall.wire.formats import get_format

FOLDER = Path("docs") / "providers"
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


def provider_page(name: str) -> str:
    """The page of one provider."""
    profile = get_profile(name)
    sources = Sources()
    parts = [
        [f"# {profile.title}", "", *_introduction(profile)],
        _capabilities(profile, sources),
        ["## What it wants", "", *_wanted_introduction(profile)],
        *_wants(profile, sources),
        for_models(profile, sources),
        ["## What it refuses", "", *_refused_introduction(profile)],
        *_refused(profile),
        served(profile, sources),
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
            f" [{profile.name}.toml](../../src/canonicall/facts/hosts/{profile.name}.toml)."
        ),
        (
            f"`canonicall check FILE --as {profile.name}` judges a request by these rules."
            " All providers: [providers.md](../providers.md)."
        ),
        "",
        *table(("what", "here"), rows),
    ]


def _capabilities(profile: Profile, sources: Sources) -> list[str]:
    rows = [
        (what, _in_words(profile.capabilities[name].value), sources.of(profile.capabilities[name]))
        for name, what in _CAPABILITIES.items()
        if name in profile.capabilities
    ]
    return ["## What it can do", "", *table(("what", "here", "source"), rows)] if rows else []


def _wanted_introduction(profile: Profile) -> list[str]:
    told = [f"Spoken to in `{profile.format}`. A number leads to the source."]
    if len(profile.formats) > 1:
        others = ", ".join(map(_base, profile.formats[1:]))
        told += [f"In its other formats their rules hold, with the differences below: {others}."]
    return told


def _base(format: str) -> str:
    """A format with a link to its rules: the page of whoever has it as the first, or the source."""
    owner = get_format(format).target.provider
    place = f"{owner}.md" if get_profile(owner).format == format else f"../../{rules_of(format)}"
    return f"[`{format}`]({place})"


def _wants(profile: Profile, sources: Sources) -> Iterator[list[str]]:
    target = get_target(profile.name)
    for title, facts in GROUPS.items():
        rows = [
            (fact.question, answer, _source(profile, sources, fact.field, fact.also))
            for fact in facts
            if (answer := fact.answer(target))
        ]
        yield [f"### {title}", "", *table(("what", "here", "source"), rows)]
    rows = [
        (what, answer, _schema_source(profile, sources, field))
        for field, what, answer in schema_facts(target)
        if answer
    ]
    yield ["### Schemas of tools", "", *table(("what", "here", "source"), rows)]


def _source(profile: Profile, sources: Sources, *fields: str) -> str:
    rules = [profile.rules[field] for field in fields if field in profile.rules]
    return " ".join(map(sources.of, rules)) or sources.of_format(profile.format)


def _schema_source(profile: Profile, sources: Sources, field: str) -> str:
    """A rule for schemas changes some entries; the others are the format's."""
    rule = profile.rules.get("schemas")
    is_own = rule is not None and field in rule.value
    return _source(profile, sources, *(["schemas"] if is_own else []))


def _refused_introduction(profile: Profile) -> list[str]:
    return [
        (
            f"What `verify` finds in a body of `{profile.format}`, and what else `explain` knows."
            " The words on record are the provider's or, where it has none, those of its format."
        ),
        "[violations.md](../violations.md) says what each means, and what any host may answer.",
    ]


def _refused(profile: Profile) -> Iterator[list[str]]:
    found = refusals(profile.name, _targets(profile))
    told = [
        (f"`{one.code}`", one.why, _words(one), one.repair, _reports(one))
        for one in found
        if one.texts
    ]
    if told:
        yield table(("code", "what is wrong", "words on record", "repair", "source"), told)
    silent = [one.code for one in found if not one.texts]
    if silent:
        yield [f"Without words on record: {listed(silent)}."]


def _targets(profile: Profile) -> list[Target]:
    """The provider in its own format, and what models make of it."""
    own = get_target(profile.name).as_served
    entries = [entry for entry in profile.models if entry.format == profile.format]
    return [own, *(override(own, entry.rules) for entry in entries)]


def _words(refusal: Refusal) -> str:
    return "<br>".join(quoted(entry.example) for entry in refusal.texts[:_TEXTS])


def _reports(refusal: Refusal) -> str:
    """Who has told of it. Most are so short that a number would only lead away from them."""
    reports = dict.fromkeys(entry.source for entry in refusal.texts[:_TEXTS])
    return "; ".join(reports).replace("|", "\\|")


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


def main() -> None:
    """Write the page of every provider."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in provider_names():
        (folder / f"{name}.md").write_text(provider_page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
