"""The public names of `canonicall.testing`."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import canonicall.testing


def declared():
    """The names the type checker is shown, with their modules."""
    tree = ast.parse(Path(canonicall.testing.__file__).read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("canonicall.")
        for alias in node.names
    }


def test_what_is_loaded_is_what_the_type_checker_sees():
    assert declared() == canonicall.testing._HOME
    assert canonicall.testing.__all__ == sorted(declared())


@pytest.mark.parametrize("name", canonicall.testing.__all__)
def test_every_name_can_be_loaded(name):
    assert getattr(canonicall.testing, name).__module__ == canonicall.testing._HOME[name]


def test_other_names_are_refused_as_usual():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = canonicall.testing.nothing


def test_a_scripted_model_needs_no_server():
    """Nothing that serves is loaded for it, nor by the plugin that every pytest run loads."""
    program = (
        "import sys, canonicall.testing.pytest_plugin\n"
        "print(*[name for name in sys.modules if name.startswith('canonicall.')])\n"
        "from canonicall.testing import ScriptedModel\n"
        "print('uvicorn' in sys.modules, 'canonicall.testing.simulator' in sys.modules)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded, rest = shown.stdout.splitlines()
    assert set(loaded.split()) == {
        "canonicall.testing",
        "canonicall.testing.pytest_plugin",
        "canonicall.verify",
    }
    assert rest == "False False"
