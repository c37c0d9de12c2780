"""The documentation says what the code does: examples run, tables agree, links lead somewhere."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import msgspec
import pytest

from batches import each
from canonicall import Event, Policy, tool_from_schema
from canonicall.discovery.statement import QUESTIONS
from canonicall.framing.limits import ReplyLimits
from canonicall.gateway.config import Section, Settings
from canonicall.outcome import MAY_HAVE_RUN, Outcome, status_of, wording
from canonicall.testing import Fault, strategies
from canonicall.testing.conformance import endpoints, providers, syntaxes
from canonicall.tools.functions import Declared

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
)
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(
    r"^```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
_MACHINE_PATH = re.compile(
    r"(?<![\w.:/~*-])/(?:bin|etc|home|media|mnt|opt|private|root|srv|tmp|usr|var|work|Users)(?:/|\b)"
    r"|\b[A-Z]:\\"
)


class Example(NamedTuple):
    """One Python block of a page, and the line its code starts at."""

    code: str
    line: int


def python_blocks(page: str) -> list[Example]:
    return [
        Example(match["body"], page.count("\n", 0, match.start("body")) + 1)
        for match in _FENCE.finditer(page)
        if match["language"] == "python"
    ]


def run_examples(page: str, name: str) -> None:
    """Run a page's examples in order, in one namespace. Tracebacks show the line of the page."""
    namespace: dict[str, Any] = {"__name__": "__example__"}
    for code, line in python_blocks(page):
        padded = "\n" * (line - 1) + code
        exec(compile(padded, name, "exec"), namespace)  # noqa: S102  # running them is the point


def broken_links(page: Path, text: str) -> Iterator[str]:
    """Links to files that are not there, outside the repository, or to headings that do not exist."""
    for match in _LINK.finditer(_FENCE.sub("", text)):
        target, _, anchor = match["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        found = path.is_relative_to(ROOT) and path.exists()
        if found and anchor:
            found = anchor in anchors(path.read_text(encoding="utf-8"))
        if not found:
            yield match["target"]


def anchors(page: str) -> set[str]:
    """The names of a page's headings, as they stand in links."""
    headings = _HEADING.findall(_FENCE.sub("", page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(page: str, first_column: str) -> list[list[str]]:
    """The cells of every table whose first column has this title, without the title row."""
    rows: list[list[str]] = []
    wanted = in_table = False
    for line in page.splitlines():
        if not line.startswith("|"):
            in_table = False
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not in_table:
            in_table, wanted = True, cells[0] == first_column
        elif wanted and not set(line) <= set("|-: "):
            rows.append(cells)
    return rows


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", GUIDES, ids=relative)
def test_every_example_runs(page, tmp_path, monkeypatch):
    """Examples are executed in a folder of their own; their asserts prove what they say."""
    monkeypatch.chdir(tmp_path)
    run_examples(page.read_text(encoding="utf-8"), relative(page))


@each(
    "name",
    [
        "README.md",
        "docs/agents.md",
        "docs/architecture.md",
        "docs/arguments.md",
        "docs/clients.md",
        "docs/conversations.md",
        "docs/cookbook.md",
        "docs/discovery.md",
        "docs/findings.md",
        "docs/gateway-fronts.md",
        "docs/gateway-operations.md",
        "docs/gateway.md",
        "docs/providers.md",
        "docs/simulators.md",
        "docs/streams.md",
        "docs/syntaxes.md",
        "docs/testing.md",
        "docs/tools.md",
        "docs/translating.md",
        "docs/violations.md",
    ],
)
def test_examples_prove_something(name):
    """A page that promises runnable examples has some, and they assert."""
    blocks = python_blocks((ROOT / name).read_text(encoding="utf-8"))
    assert any("assert " in block.code for block in blocks)


RECIPES = python_blocks((ROOT / "docs/cookbook.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda one: f"line {one.line}")
def test_a_recipe_stands_alone(recipe):
    """Whoever copies one needs no other."""
    page = f"```python\n{recipe.code}```\n"
    run_examples(page, "docs/cookbook.md")


def test_a_false_example_is_caught_with_its_line():
    page = "# Title\n\n```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n"
    with pytest.raises(AssertionError) as caught:
        run_examples(page, "page.md")
    assert caught.traceback[-1].lineno + 1 == 8


def test_the_outcomes_page_is_the_vocabulary():
    """Every outcome, in order: side effects, status and wording as the code has them."""
    shown = table((ROOT / "docs/outcomes.md").read_text(encoding="utf-8"), "outcome")
    assert shown == [
        [
            f"`{outcome}`",
            "yes" if outcome in MAY_HAVE_RUN else "no",
            f"`{status_of(outcome)}`",
            wording(outcome),
        ]
        for outcome in Outcome
    ]


def test_the_guide_shows_the_policy_as_it_is():
    """Every choice with its default."""
    shown = table((ROOT / "docs/translating.md").read_text(encoding="utf-8"), "field")
    assert [row[:2] for row in shown] == [
        [f"`{name}`", f"`{getattr(Policy(), name)}`"] for name in Policy.__struct_fields__
    ]


def test_the_tools_page_shows_the_declarations_as_they_are():
    """Each with its default, and none but those that can be given."""
    shown = table((ROOT / "docs/tools.md").read_text(encoding="utf-8"), "field")
    plain = tool_from_schema("plain", run=print)
    assert [row[:2] for row in shown] == [
        [f"`{row[0].strip('`')}`", f"`{getattr(plain, row[0].strip('`'))!r}`"] for row in shown
    ]
    described = {"title", "output_schema"}
    assert {row[0].strip("`") for row in shown} | described == set(Declared.__annotations__)


def test_the_streams_page_lists_the_events():
    """Every event, in order, with its fields."""
    shown = table((ROOT / "docs/streams.md").read_text(encoding="utf-8"), "event")
    assert [row[:2] for row in shown] == [
        [f"`{kind.__name__}`", ", ".join(f"`{name}`" for name in kind.__struct_fields__)]
        for kind in get_args(Event)
    ]


def test_the_simulators_page_lists_the_faults():
    """Every fault, in order."""
    shown = table((ROOT / "docs/simulators.md").read_text(encoding="utf-8"), "fault")
    assert [row[0] for row in shown] == [f"`{fault}`" for fault in Fault]


@pytest.mark.parametrize(
    ("title", "checks"),
    [
        ("of a profile", providers.CHECKS),
        ("of a syntax", syntaxes.CHECKS),
        ("of an endpoint", endpoints.CHECKS),
    ],
)
def test_the_testing_page_lists_the_checks(title, checks):
    """Every check, in order, in its own words."""
    shown = table((ROOT / "docs/testing.md").read_text(encoding="utf-8"), title)
    assert shown == [[f"`{name}`", about] for name, about in checks.items()]


def test_the_testing_page_lists_the_strategies():
    shown = table((ROOT / "docs/testing.md").read_text(encoding="utf-8"), "strategy")
    named = {name for row in shown for name in re.findall(r"`(\w+)\(", row[0])}
    assert named == set(strategies.__all__) - {"HypothesisMissing"}


def test_the_discovery_page_lists_the_questions():
    """Every question, in order, in its own words."""
    shown = table((ROOT / "docs/discovery.md").read_text(encoding="utf-8"), "question")
    assert [row[:2] for row in shown] == [
        [f"`{name}`", asks] for name, (asks, _) in QUESTIONS.items()
    ]


def test_the_gateway_page_has_every_setting_with_its_default():
    """In the order of the structs; a section by a name of one's own is NAME."""
    shown = table((ROOT / "docs/gateway.md").read_text(encoding="utf-8"), "setting")
    sections = ("server", "profiles", "providers", "models", "keys", "prompts")
    sections += ("replies", "repair", "log", "store")
    assert set(sections) == set(Settings.__struct_fields__)
    expected = [row for name in sections for row in settings_of(Settings, name)]
    assert [row[:2] for row in shown] == expected


def settings_of(kind, name, before="") -> list[list[str]]:
    """The rows of one field: its own, or those of the section that it is."""
    field = next(one for one in msgspec.structs.fields(kind) if one.name == name)
    path = f"{before}{name}"
    inner = next((one for one in (field.type, *get_args(field.type)) if is_section(one)), None)
    is_list = get_origin(field.type) is tuple
    if inner is not None and not is_list:
        path += "" if inner is field.type else ".NAME"
        return [
            row for one in inner.__struct_fields__ for row in settings_of(inner, one, f"{path}.")
        ]
    default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory
    default = default() if callable(default) else default
    is_needed = default is msgspec.NODEFAULT
    cell = "needed" if is_needed else f"`{msgspec.json.encode(default).decode()}`"
    rows = [[f"`{path}`", cell]]
    if inner is not None:
        rows += [
            row for one in inner.__struct_fields__ for row in settings_of(inner, one, f"{path}[].")
        ]
    return rows


def is_section(kind) -> bool:
    return isinstance(kind, type) and issubclass(kind, (Section, ReplyLimits))


def test_the_architecture_page_has_the_layers_of_the_contract():
    """Every module of the contract has a row, with the number of its layer."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contract["tool"]["importlinter"]["contracts"][0]["layers"]
    expected = {
        (str(len(layers) - place), name.strip())
        for place, layer in enumerate(layers)
        for name in layer.split(":")
    }
    rows = table((ROOT / "docs/architecture.md").read_text(encoding="utf-8"), "layer")
    shown = {(number, re.search(r"\w+", file)[0]) for number, file, _ in rows}
    assert shown == expected


def test_the_glossary_gives_each_word_one_meaning():
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^- \*\*(.+?)\*\*:", glossary, re.MULTILINE)
    assert len(words) == len(set(words))
    assert set(words) == {
        *("conversation", "entry", "message", "turn", "turn key", "exchange", "block", "summary"),
        *("origin", "native", "opaque state", "signing domain", "call", "result", "interaction"),
        *("ledger", "canonical id", "raw id", "outcome", "status", "closing", "finding", "report"),
        *(
            "fault",
            "loss",
            "violation",
            "compaction",
            "cut point",
            "format",
            "body",
            "request",
            "reply",
        ),
        *("target", "profile", "confidence", "transcript", "projection", "wire id", "policy"),
        *("judge", "syntax", "stream", "frame", "event", "piece", "folding", "complete"),
        *("truncated", "partial call", "marker", "detection", "leak"),
        *("refusal", "coercion", "correction budget", "tool", "toolset", "declaration", "external"),
        *("simulator", "door", "script", "seal", "fault on demand", "conformance", "check"),
        *("record", "decision", "approval rule", "delta"),
    }


@each("page", PAGES, ids=relative)
def test_links_lead_somewhere(page):
    assert list(broken_links(page, page.read_text(encoding="utf-8"))) == []


def test_a_broken_link_is_caught():
    page = ROOT / "docs" / "imagined.md"
    text = "[a](glossary.md) [b](gone.md) [c](../../x.md) [d](glossary.md#gone) [e](https://x.org)"
    assert list(broken_links(page, text)) == ["gone.md", "../../x.md", "glossary.md#gone"]


def test_the_readme_leads_to_every_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = {match["target"] for match in _LINK.finditer(readme)}
    pages = {relative(path) for path in PAGES if path.parent in (ROOT, ROOT / "docs")}
    assert pages - linked == {"README.md"}


@each("page", PAGES, ids=relative)
def test_no_page_names_a_place_on_somebodys_machine(page):
    text = page.read_text(encoding="utf-8")
    assert [match[0] for match in _MACHINE_PATH.finditer(text)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /home/me/project", True),
        ("`/tmp/x`", True),
        ("C:\\Users", True),
        ("../src/canonicall/ids.py", False),
        ("https://example.org/home/page", False),
        ("tests/tmp/x", False),
        ("and/or", False),
    ],
)
def test_machine_paths_are_told_from_others(text, found):
    assert bool(_MACHINE_PATH.search(text)) is found
