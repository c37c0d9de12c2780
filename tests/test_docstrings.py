"""Everything that is exported says what it is: functions, classes, and their public methods."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

PACKAGES = ("canonicall", "canonicall.testing", "canonicall.gateway")
EXPORTED = [(package, name) for package in PACKAGES for name in import_module(package).__all__]


def methods(owner: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, those of its bases in this package included."""
    for base in owner.__mro__:
        if base.__module__.partition(".")[0] != "canonicall":
            continue
        for name, member in vars(base).items():
            function = member.fget if isinstance(member, property) else member
            function = getattr(function, "__func__", function)
            if not name.startswith("_") and inspect.isfunction(function):
                yield f"{base.__qualname__}.{name}", function


@pytest.mark.parametrize(("package", "name"), EXPORTED)
def test_what_is_exported_has_a_docstring(package, name):
    value = getattr(import_module(package), name)
    members = list(methods(value)) if inspect.isclass(value) else []
    if inspect.isclass(value) or inspect.isfunction(value):
        members.append((name, value))
    assert [one for one, member in members if not (member.__doc__ or "").strip()] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_exported_names_are_sorted_and_can_be_loaded(package):
    names = import_module(package).__all__
    assert list(names) == sorted(names)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = import_module(package).nothing
