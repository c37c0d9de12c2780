"""Names in, profiles and targets out.

A target is written as `provider`, `provider:model` or `provider/format:model`, the last one for a
provider spoken to in another of its formats: "kimi", "kimi:kimi-k2-0905-preview",
"openai/openai-responses:gpt-5". The model is everything behind the first colon, so it may hold
slashes and colons of its own.

Built-in profiles are read when they are first asked for. Registered ones stand beside them and,
with `replace`, before them.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import get_data
from typing import Any, cast

from msgspec.structs import replace as replace_fields

from canonicall.errors import InvalidValue, UnknownName
from canonicall.providers.profile import ModelRules, Profile, load_profile, override
from canonicall.target import Target

_FILE_NAME = re.compile("[a-z0-9-]+")
_registered: dict[str, Profile] = {}


def get_profile(name: str) -> Profile:
    """The profile of a provider, by its name or one of its aliases."""
    profile = find_profile(name)
    if profile is None:
        raise UnknownName("provider", name, provider_names(), aliases=_taken_names())
    return profile


def find_profile(name: str) -> Profile | None:
    """The same, or None where nothing has this name."""
    wanted = name.lower()
    profile = _registered.get(wanted) or _by_alias(_registered).get(wanted)
    return profile or _built_in(wanted) or _built_in_aliases().get(wanted)


def get_target(target: str | Target, *, base: Mapping[str, Target] | None = None) -> Target:
    """The target a text names; a target stays as it is.

    `base` gives the base rules of formats, by format name; what it lacks comes from `wire/`.
    """
    if isinstance(target, Target):
        return target
    if base is None:
        return _cached_target(target)
    return _build_target(target, base)


def provider_names() -> tuple[str, ...]:
    """All providers, by name; aliases are left out."""
    return tuple(sorted(_built_in_names() | _registered.keys()))


def registered_profiles() -> tuple[Profile, ...]:
    """The profiles that were added to those that are built in."""
    return tuple(_registered.values())


def register_provider(
    profile: Profile | Mapping[str, Any] | bytes | str, *, replace: bool = False
) -> Profile:
    """Add a provider: a profile, its mapping, or its TOML text.

    A name or alias that is taken is refused, unless `replace` says that the newcomer stands for it.
    """
    if not isinstance(profile, Profile):
        profile = load_profile(profile, "registered profile")
    if not replace:
        _refuse_taken(profile)
    _registered[profile.name] = profile
    _cached_target.cache_clear()
    return profile


def unregister_provider(name: str) -> None:
    """Take a registered provider away; a built-in one it stood for is back."""
    if name not in _registered:
        raise UnknownName("registered provider", name, _registered)
    del _registered[name]
    _cached_target.cache_clear()


def _refuse_taken(profile: Profile) -> None:
    for name in (profile.name, *profile.aliases):
        holder = find_profile(name)
        if holder is not None:
            raise InvalidValue(
                f"the name {name!r} belongs to the provider {holder.name!r} already.",
                where=f"register_provider({profile.name!r})",
                help="Choose another, or pass replace=True.",
            )


@lru_cache(maxsize=1024)
def _cached_target(text: str) -> Target:
    return _build_target(text, {})


def _build_target(text: str, base: Mapping[str, Target]) -> Target:
    head, _, model = text.partition(":")
    name, _, format = head.partition("/")
    profile = get_profile(name)
    format = format or profile.format
    if format not in profile.formats:
        raise UnknownName(f"format of the provider {profile.name!r}", format, profile.formats)
    target = replace_fields(
        base.get(format) or _base_target(format),
        provider=profile.name,
        model=model,
        domain=profile.domain,
    )
    parts = _parts_for(profile, format, model)
    for part in parts:
        target = override(target, part.rules)
    return replace_fields(target, served=_served(target, parts))


def _served(target: Target, parts: list[Profile | ModelRules]) -> tuple[tuple[str, Any], ...]:
    """What the service takes beyond the rules: what the format's owner alone is known to refuse,
    and what the profile says. An uncertain rule is rendered by, and does not count before these."""
    known = {
        field for part in parts for field, rule in part.rules.items() if rule.confidence != "U"
    }
    wider = {field: value for field, value in target.served if field not in known}
    served = replace_fields(target, **wider)
    for part in parts:
        served = override(served, part.served)
    fields = dict.fromkeys([*wider, *(field for part in parts for field in part.served)])
    values = ((field, getattr(served, field)) for field in fields)
    return tuple(one for one in values if one[1] != getattr(target, one[0]))


def _parts_for(profile: Profile, format: str, model: str) -> list[Profile | ModelRules]:
    """The parts of a profile that say something of a model in a format, in their order."""
    own: list[Profile | ModelRules] = [profile] if format == profile.format else []
    entries = (one for one in profile.models if one.format == format)
    return [*own, *(one for one in entries if _matches(one.match, model))]


def _matches(globs: tuple[str, ...], model: str) -> bool:
    return any(fnmatchcase(model.lower(), glob) for glob in globs)


def _base_target(format: str) -> Target:
    module = import_module(f"canonicall.wire.{format.replace('-', '_')}.target")
    return cast(Target, module.TARGET)


@cache
def _built_in_names() -> frozenset[str]:
    # Listing files loads a dozen modules, which nobody needs who knows a provider's name.
    resources = import_module("importlib.resources")
    folder = resources.files("canonicall.providers").joinpath("profiles")
    names = (file.name for file in folder.iterdir())
    return frozenset(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


@lru_cache(maxsize=1024)
def _built_in(name: str) -> Profile | None:
    """The profile in the file of this name, None where there is none."""
    if not _FILE_NAME.fullmatch(name):
        return None
    try:
        data = get_data("canonicall.providers", f"profiles/{name}.toml")
    except OSError:
        return None
    return load_profile(data, f"{name}.toml") if data is not None else None


@cache
def _built_in_aliases() -> dict[str, Profile]:
    profiles = {name: _built_in(name) for name in _built_in_names()}
    return _by_alias({name: one for name, one in profiles.items() if one is not None})


def _by_alias(profiles: Mapping[str, Profile]) -> dict[str, Profile]:
    return {alias: profile for profile in profiles.values() for alias in profile.aliases}


def _taken_names() -> set[str]:
    return {*provider_names(), *_built_in_aliases(), *_by_alias(_registered)}
