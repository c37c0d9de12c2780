"""The syntaxes by name. A file of this folder that has `SYNTAXES` is found by itself; which models
print a syntax of ours is said in `facts/families`.

Other packages add theirs by an entry point of the group `canonicall.syntaxes` that names a Syntax.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

from msgspec.structs import replace

from canonicall import syntax as folder
from canonicall.errors import InvalidValue, UnknownName
from canonicall.facts.syntaxes import printed_syntaxes
from canonicall.syntax.declaration import Syntax

GROUP = "canonicall.syntaxes"

_registered: dict[str, Syntax] = {}


def get_syntax(name: str) -> Syntax:
    """The syntax of this name."""
    known = _registered.get(name) or _known().get(name)
    if known is None:
        raise UnknownName("syntax", name, syntax_names())
    return known


def syntax_names() -> tuple[str, ...]:
    """The names of all syntaxes."""
    return tuple(sorted({**_known(), **_registered}))


def register_syntax(syntax: Syntax) -> None:
    """Add a syntax, or put it in the place of the one that has its name."""
    if not isinstance(syntax, Syntax):
        raise InvalidValue(
            f"{type(syntax).__name__} is no Syntax.",
            where="syntax",
            help="Declare one: Syntax(name=..., openers=(Opener(...),)).",
        )
    _registered[syntax.name] = syntax
    all_syntaxes.cache_clear()


def unregister_syntax(name: str) -> None:
    """Take a syntax that was added away; one of ours is there again."""
    _registered.pop(name, None)
    all_syntaxes.cache_clear()


class Syntaxes:
    """All syntaxes at one time, by name. Two of these are equal only if they are the same."""

    def __init__(self, syntaxes: Iterable[Syntax]) -> None:
        self._syntaxes = tuple(syntaxes)

    def __iter__(self) -> Iterator[Syntax]:
        return iter(self._syntaxes)


@cache
def all_syntaxes() -> Syntaxes:
    """All syntaxes; the same object until one is added or taken away."""
    return Syntaxes(map(get_syntax, syntax_names()))


@cache
def _known() -> dict[str, Syntax]:
    """Ours, and those that installed packages add."""
    added = map(_added, entry_points(group=GROUP))
    return {**_built_in(), **{one.name: one for one in added}}


def _added(entry: EntryPoint) -> Syntax:
    """The syntax that an entry point names."""
    where = f"entry point {entry.name} = {entry.value} of the group {GROUP}"
    help = "It has to name a canonicall.Syntax: module:NAME."
    try:
        found = entry.load()
    except (ImportError, AttributeError) as error:
        raise InvalidValue(f"it cannot be loaded: {error}.", where=where, help=help) from error
    if not isinstance(found, Syntax):
        raise InvalidValue(f"{type(found).__name__} is no Syntax.", where=where, help=help)
    return found


def _built_in() -> dict[str, Syntax]:
    modules = [
        import_module(f"{folder.__name__}.{found.name}")
        for found in iter_modules(folder.__path__)
        if found.name != "registry"
    ]
    declared = [one for module in modules for one in getattr(module, "SYNTAXES", ())]
    return {one.name: _as_known(one) for one in declared}


def _as_known(syntax: Syntax) -> Syntax:
    """A syntax of ours, with the models that are known to print it."""
    known = printed_syntaxes().get(syntax.name)
    if known is None:
        return syntax
    return replace(syntax, models=known.match, text_after_calls=known.text_after_calls)
