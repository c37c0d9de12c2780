"""The driver runs against every revision, so it may import only what is exported for good."""

import ast
from importlib import import_module
from pathlib import Path

from scripts.golden import driver
from scripts.revisions import ROOT

PUBLIC = ("canonicall", "canonicall.testing", "canonicall.gateway")


def modules_of_the_driver():
    """The driver and all modules of the net that it imports."""
    found = {}
    waiting = [driver.__name__]
    while waiting:
        name = waiting.pop()
        path = ROOT / f"{name.replace('.', '/')}.py"
        if name not in found and path.exists():
            found[name] = path
            waiting += [one for module, names in imports(path) for one in submodules(module, names)]
    return found


def submodules(module, names):
    return [module, *(f"{module}.{name}" for name in names)] if module.startswith("scripts") else []


def imports(path):
    """Modules and names of every import in a file, wherever it is in it."""
    for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module, [one.name for one in node.names]
        elif isinstance(node, ast.Import):
            yield from ((one.name, []) for one in node.names)


def of_canonicall(path):
    return [
        (module, names) for module, names in imports(path) if module.split(".")[0] == "canonicall"
    ]


def test_the_driver_imports_only_exported_names():
    modules = modules_of_the_driver()
    assert {"scripts.golden.answers", "scripts.golden.inputs", "scripts.golden.damage"} <= set(
        modules
    )
    used = [one for path in modules.values() for one in of_canonicall(path)]
    assert used
    for module, names in used:
        assert module in PUBLIC, module
        exported = import_module(module).__all__
        assert set(names) <= set(exported), (module, set(names) - set(exported))
        assert names


def test_inputs_import_nothing_of_canonicall():
    """Neither the modules that read them nor the tables of the tests."""
    tables = [path for path in (ROOT / "tests/refusals").glob("*.py") if path.stem[:5] != "test_"]
    own = [ROOT / "scripts/golden" / f"{name}.py" for name in ("inputs", "damage", "plan")]
    paths = [*own, *tables, ROOT / "tests/verify/error_words.py"]
    assert len(paths) > 10
    assert [path.name for path in paths if of_canonicall(path)] == []
