"""What tests need beside the usual packages: where it is, and what it means where it is missing.

Tests that need a component are skipped without it, with the reason and what to do about it. In CI
they fail: what CI says it has checked, it has checked.
"""

import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")


class Component(NamedTuple):
    """Something that is found, or else a command or a setting provides."""

    title: str
    remedy: str
    find: Callable[[], Path | None]


def _folder(variable: str, usual: str = "") -> Callable[[], Path | None]:
    """The folder that a variable of the environment names, or else its usual place."""

    def find() -> Path | None:
        named = os.environ.get(variable)
        place = Path(named) if named else ROOT / usual
        return place if (named or usual) and place.is_dir() else None

    return find


def _package(name: str) -> Callable[[], Path | None]:
    """The folder of a package that can be imported."""

    def find() -> Path | None:
        found = find_spec(name)
        return Path(found.origin).parent if found is not None and found.origin else None

    return find


def _beside_the_corpus() -> Path | None:
    corpus = COMPONENTS["corpus"].find()
    place = corpus.parent / "reference" if corpus else None
    return place if place and place.is_dir() else None


def _programs_of_postgres() -> Path | None:
    on_path = shutil.which("postgres")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in [*([Path(on_path).parent] if on_path else ()), *debian]:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    return None


COMPONENTS = {
    "corpus": Component(
        "recorded traffic", "let CANONICALL_CORPUS name its folder", _folder("CANONICALL_CORPUS")
    ),
    "reference": Component(
        "the reference", "put it beside the folder of CANONICALL_CORPUS", _beside_the_corpus
    ),
    "vectors": Component(
        "texts of models", "let CANONICALL_VECTORS name their folder", _folder("CANONICALL_VECTORS")
    ),
    "templates": Component(
        "chat templates", "run `make templates`", _folder("CANONICALL_TEMPLATES", ".templates")
    ),
    "agents": Component(
        "coding agents", "run `make agents`", _folder("CANONICALL_AGENTS", ".agents")
    ),
    "models": Component(
        "a model and its server", "run `make models`", _folder("CANONICALL_MODELS", ".models")
    ),
    "postgres": Component("a PostgreSQL server", "run `make postgres`", _programs_of_postgres),
    "llm-comply": Component(
        "the package llm-comply", "pip install 'canonicall[judges]'", _package("llm_comply")
    ),
}


def needs(name: str) -> pytest.MarkDecorator:
    """Marks tests that need a component; conftest.py looks for it before each of them."""
    return pytest.mark.needs(name)


def component(name: str, file: str = "") -> Path:
    """Where a component is, or a file of it. Without it the test is skipped; in CI it fails."""
    wanted = COMPONENTS[name]
    place = wanted.find()
    if place is not None and (place / file).exists():
        return place / file
    missing = f"{file} of {wanted.title}" if place else wanted.title
    reason = f"missing: {missing}; {wanted.remedy}"
    if IN_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
