"""The providers that settings bring into the registry: they come with them, and leave with them.

What a program registers itself is no affair of the settings, and stays.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from canonicall.client.profile_files import read_profile
from canonicall.facts.profile import Profile
from canonicall.facts.registry import (
    find_profile,
    register_provider,
    registered_profiles,
    unregister_provider,
)

_brought: dict[str, Profile] = {}


def bring(profile: Profile) -> None:
    """Make a provider known that settings have; one that is known as it is stays."""
    if find_profile(profile.name) != profile:
        register_provider(profile, replace=True)
    _brought[profile.name] = profile


def bring_files(paths: Iterable[str]) -> set[str]:
    """Make profiles in files known, and give their names."""
    profiles = [read_profile(path) for path in paths]
    for profile in profiles:
        bring(profile)
    return {profile.name for profile in profiles}


def take_away(names: Iterable[str]) -> None:
    """Take providers out of the registry again that settings brought; built-in ones are back."""
    known = _still_known()
    for name in names:
        if name in known:
            unregister_provider(name)
        _brought.pop(name, None)


def take_away_all() -> None:
    """The same for everything that any settings brought."""
    take_away(tuple(_brought))


@contextmanager
def registered(profiles: Iterable[Profile]) -> Iterator[None]:
    """Profiles known from here on, unless an error is raised in here: then all is as before.

    One that has the name of another takes its place: an endpoint that was probed again is read
    again, and what an operator names counts more than what is built in. What other settings brought
    is not known meanwhile: these are judged by what they say themselves.
    """
    new = list(profiles)
    before = {one.name: one for one in registered_profiles()}
    old = _still_known()
    for name in old:
        unregister_provider(name)
    for one in new:
        register_provider(one, replace=True)
    try:
        yield
    except BaseException:
        for one in new:
            unregister_provider(one.name)
        new = []
        raise
    finally:
        for one in before.values():
            if find_profile(one.name) != one and all(one.name != other.name for other in new):
                register_provider(one, replace=True)
        _brought.update({one.name: one for one in new})


def _still_known() -> dict[str, Profile]:
    """What settings brought, and nobody has replaced since."""
    known = {one.name: one for one in registered_profiles()}
    return {name: one for name, one in _brought.items() if known.get(name) == one}
