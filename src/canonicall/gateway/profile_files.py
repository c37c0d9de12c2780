"""Profiles that the settings name as files: read, checked and registered, or nothing at all."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from canonicall.client.profile_files import read_profile
from canonicall.errors import CanonicallError
from canonicall.gateway.config_problems import Problems, inside
from canonicall.providers.profile import Profile
from canonicall.providers.registry import find_profile, register_provider, unregister_provider

_WHERE = "$.profiles"


def read_profiles(paths: Iterable[str], problems: Problems) -> list[Profile]:
    """The profiles in files; each that cannot be used is a problem with its file and place."""
    found: dict[str, Profile] = {}
    for at, path in enumerate(paths):
        place = inside(_WHERE, at)
        try:
            profile = read_profile(path)
        except CanonicallError as error:
            told = str(error)
            problems.error(place, told if path in told else f"{path}: {told}")
            continue
        if profile.name in found:
            what = f"{path}: another of these files is about {profile.name!r} already."
            problems.error(place, what, "Give each a name of its own.")
        found.setdefault(profile.name, profile)
    return list(found.values())


@contextmanager
def registered(profiles: Iterable[Profile], problems: Problems) -> Iterator[None]:
    """Profiles known from here on, unless problems are found meanwhile: then all is as before.

    One that has the name of another takes its place: an endpoint that was probed again is read
    again, and what an operator names counts more than what is built in.
    """
    new = list(profiles)
    before = [find_profile(one.name) for one in new]
    for one in new:
        register_provider(one, replace=True)
    try:
        yield
    finally:
        if problems.errors:
            for one, old in zip(new, before, strict=True):
                unregister_provider(one.name)
                if old is not None and find_profile(one.name) != old:
                    register_provider(old, replace=True)


def register_files(paths: Iterable[str]) -> None:
    """Make profiles in files known; those that are known as they are stay."""
    for profile in map(read_profile, paths):
        if find_profile(profile.name) != profile:
            register_provider(profile, replace=True)


def in_folder(paths: Iterable[str], folder: Path) -> tuple[str, ...]:
    """Paths as a file in this folder means them."""
    return tuple(str(folder / path) for path in paths)
