"""Profiles that the settings name as files: read, and told of where they cannot be used."""

from collections.abc import Iterable
from pathlib import Path

from canonicall.client.profile_files import read_profile
from canonicall.errors import CanonicallError
from canonicall.facts.profile import Profile
from canonicall.gateway.config_problems import Problems, inside
from canonicall.gateway.registrations import bring

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


def bring_files(paths: Iterable[str]) -> set[str]:
    """Make profiles in files known, and give their names."""
    profiles = [read_profile(path) for path in paths]
    for profile in profiles:
        bring(profile)
    return {profile.name for profile in profiles}


def in_folder(paths: Iterable[str], folder: Path) -> tuple[str, ...]:
    """Paths as a file in this folder means them."""
    return tuple(str(folder / path) for path in paths)
