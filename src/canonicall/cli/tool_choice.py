"""`--tools`: the built-in ones, none, or those that a Python file defines."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from canonicall.cli.builtin_tools import builtin_tools
from canonicall.cli.files import UnusableFile
from canonicall.errors import CanonicallError
from canonicall.tools.bound import BoundTool
from canonicall.tools.toolset import Toolset

BUILTIN, NONE = "builtin", "none"
_HELP = "Define a function there, with @canonicall.tool above it."


def choose_tools(choice: str) -> Toolset:
    """The tools that are meant."""
    if choice == BUILTIN:
        return builtin_tools(Path.cwd())
    if choice == NONE:
        return Toolset()
    return _defined_in(Path(choice))


def _defined_in(path: Path) -> Toolset:
    """Every tool and toolset that has a name in the file, in the order of the file."""
    found = {
        id(value): value
        for value in vars(_loaded(path)).values()
        if isinstance(value, BoundTool | Toolset)
    }
    if not found:
        raise UnusableFile(str(path), f"there is no tool in it. {_HELP}")
    try:
        return Toolset.of(*found.values())
    except CanonicallError as error:
        raise UnusableFile(str(path), error) from None


def _loaded(path: Path) -> ModuleType:
    if not path.is_file():
        what = f"there is no such file. --tools takes {BUILTIN}, {NONE} or a Python file."
        raise UnusableFile(str(path), what)
    # Annotations are looked up in the module by its name.
    name = f"canonicall_tools_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UnusableFile(str(path), f"it is no Python file. {_HELP}")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001  # it is the user's code: whatever it raises
        raise UnusableFile(str(path), f"{type(error).__name__}: {error}") from None
    return module
