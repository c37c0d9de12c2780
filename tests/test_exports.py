"""The public names are what `__all__` says, no more and no less."""

import types

import canonicall


def test_all_is_exactly_what_is_exported():
    public = {
        name
        for name, value in vars(canonicall).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public == set(canonicall.__all__)
    assert list(canonicall.__all__) == sorted(canonicall.__all__)
