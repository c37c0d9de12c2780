"""The public names are what `__all__` says, no more and no less."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import canonicall
from batches import each


def declared():
    """The names the type checker is shown, with their modules."""
    tree = ast.parse(Path(canonicall.__file__).read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("canonicall.")
        for alias in node.names
    }


def test_all_is_exactly_what_is_exported():
    assert set(canonicall.__all__) == set(declared())
    assert list(canonicall.__all__) == sorted(canonicall.__all__)


def test_what_is_loaded_is_what_the_type_checker_sees():
    assert declared() == {**canonicall._HOME, "verify": "canonicall.verify"}


@each("name", sorted(canonicall.__all__))
def test_every_name_can_be_loaded(name):
    assert getattr(canonicall, name) is not None
    assert name in dir(canonicall)


def test_other_names_are_refused_as_usual():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = canonicall.nothing


def test_importing_the_package_loads_next_to_nothing():
    program = (
        "import canonicall, sys; print([m for m in sys.modules if m.startswith('canonicall.')])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "['canonicall.verify']"


def test_the_function_verify_is_not_hidden_by_its_folder():
    import_module("canonicall.verify.judge")
    assert callable(canonicall.verify)
