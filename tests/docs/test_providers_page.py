"""docs/providers.md shows the built-in providers and the fields of a target as they are."""

import re
from pathlib import Path

import pytest

from canonicall import Target, get_profile, get_target, provider_names
from canonicall.facts.profile import Confidence, Profile
from canonicall.facts.target import IdRule

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")


def built_in() -> list[str]:
    """A row for each provider, by name."""
    return [_row(get_profile(name)) for name in provider_names()]


def _row(profile: Profile) -> str:
    target = get_target(profile.name)
    own = [entry.rules for entry in profile.models if entry.format == profile.format]
    ids = _with_models(_shown(target.ids), [_style(rules) for rules in own if "ids" in rules])
    kept = [f"`{rules['reasoning'].value}`" for rules in own if "reasoning" in rules]
    cells = (
        f"[`{profile.name}`](providers/{profile.name}.md)",
        profile.title,
        ", ".join(f"`{format}`" for format in profile.formats),
        ids,
        _with_models(f"`{target.reasoning}`", kept),
        f"`{target.results}`",
    )
    return f"| {' | '.join(cells)} |"


def _shown(rule: IdRule) -> str:
    more = {"prefixed": f" `{rule.prefix}`", "short": f" {rule.max_length}"}
    return f"{rule.style}{more.get(rule.style, '')}"


def _style(rules) -> str:
    return rules["ids"].value.get("style", "other limits")


def _with_models(usual: str, others: list[str]) -> str:
    different = [other for other in dict.fromkeys(others) if other != usual]
    return f"{usual}; some models {' or '.join(different)}" if different else usual


def _first_cells(heading: str) -> list[str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [
        cell
        for line in section.splitlines()
        if line.startswith("| `")
        for cell in re.findall(r"`(\w+)`", line.split("|")[1])
    ]


def test_the_table_shows_the_built_in_providers():
    section = PAGE.partition("\n## Built-in providers\n")[2].partition("\n## ")[0]
    shown = [line for line in section.splitlines() if line.startswith("| [`")]
    assert shown == built_in(), "the rows should be:\n" + "\n".join(built_in())


def test_the_readme_counts_them():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(provider_names())} providers as data" in readme


def test_every_field_of_a_target_is_explained():
    identity = ("format", "provider", "model")
    fields = [field for field in Target.__struct_fields__ if field not in identity]
    assert _first_cells("The rules") == fields


def test_every_key_of_a_profile_and_every_confidence_is_explained():
    keys = [key for key in Profile.__struct_fields__ if key != "quirks"]
    assert _first_cells("A profile") == [*keys, *Confidence.__args__]


@pytest.mark.parametrize("cells", [["`a`"], ["`a`", "`b`", "`b`"]])
def test_a_cell_names_each_difference_once(cells):
    assert _with_models("`a`", cells) in ("`a`", "`a`; some models `b`")
