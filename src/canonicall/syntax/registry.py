"""The syntaxes by name. A file of this folder that has `SYNTAXES` is found by itself."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from canonicall import syntax as folder
from canonicall.errors import UnknownName
from canonicall.syntax.declaration import Syntax

_registered: dict[str, Syntax] = {}


def get_syntax(name: str) -> Syntax:
    """The syntax of this name."""
    known = _registered.get(name) or _built_in().get(name)
    if known is None:
        raise UnknownName("syntax", name, syntax_names())
    return known


def syntax_names() -> tuple[str, ...]:
    """The names of all syntaxes."""
    return tuple(sorted({**_built_in(), **_registered}))


def register_syntax(syntax: Syntax) -> None:
    """Add a syntax, or put it in the place of the one that has its name."""
    _registered[syntax.name] = syntax


def unregister_syntax(name: str) -> None:
    """Take a syntax that was added away; one of ours is there again."""
    _registered.pop(name, None)


@cache
def _built_in() -> dict[str, Syntax]:
    modules = [
        import_module(f"{folder.__name__}.{found.name}")
        for found in iter_modules(folder.__path__)
        if found.name != "registry"
    ]
    declared = [one for module in modules for one in getattr(module, "SYNTAXES", ())]
    return {one.name: one for one in declared}
