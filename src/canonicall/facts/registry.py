"""Names in, profiles and targets out.

A target is written as `provider`, `provider:model` or `provider/format:model`, the last one for a
provider spoken to in another of its formats: "kimi", "kimi:kimi-k2-0905-preview",
"openai/openai-responses:gpt-5". The name of a format means the provider that defines it, in that
format: "openai-responses:gpt-5". The model is everything after the first colon, so it may contain
slashes and colons. `target_parts` is the only reader of such names.

Built-in profiles are read when they are first asked for. Registered ones stand beside them and,
with `replace`, before them.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import get_data
from typing import Any

from msgspec import Struct
from msgspec.structs import replace as replace_fields

from canonicall.errors import InvalidValue, UnknownName
from canonicall.facts.bases import base_rule, base_target
from canonicall.facts.host_errors import NO_ERRORS, HostErrors
from canonicall.facts.names import TargetName
from canonicall.facts.profile import (
    RULE_FIELDS,
    ModelRules,
    Profile,
    Rule,
    load_family,
    load_likeness,
    load_profile,
    override,
)
from canonicall.facts.target import FORMATS, Target
from canonicall.findings import Finding

_FILE_NAME = re.compile("[a-z0-9-]+")
_WILDCARD = re.compile(r"[*?\[]")
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


def named_profile(name: str) -> Profile | None:
    """The profile of exactly this name, which is what `Target.provider` is; None where there is
    none."""
    return _registered.get(name) or _built_in(name)


def errors_of(provider: str) -> HostErrors:
    """How the provider of a target refuses."""
    profile = named_profile(provider)
    return profile.errors if profile is not None else NO_ERRORS


class TargetParts(Struct, frozen=True):
    """What the name of a target says."""

    profile: Profile
    format: str = ""
    """Empty where the name leaves it open."""
    model: str = ""


def target_parts(name: str) -> TargetParts:
    """The provider, the format and the model that a target's name gives.

    Raises `UnknownName`. Where the name is that of a model, the error suggests the target.
    """
    parts = find_target_parts(name)
    if parts is None:
        head = name.partition(":")[0].partition("/")[0]
        known = provider_names()
        raise UnknownName(
            "provider", head, known, aliases={*_taken_names(), *FORMATS}, meant=meant_target(name)
        )
    profile, format = parts.profile, parts.format
    if format and format not in profile.formats:
        meant = "" if parts.model else f"{profile.name}:{format}"
        what = f"format of the provider {profile.name!r}"
        raise UnknownName(what, format, profile.formats, meant=meant)
    return parts


def find_target_parts(name: str) -> TargetParts | None:
    """The same, or None where no provider and no format has this name.

    A format that is named beside a provider is not checked.
    """
    head, _, model = name.partition(":")
    first, _, format = head.partition("/")
    profile = find_profile(first)
    if profile is None and head.lower() in FORMATS:
        format = head.lower()
        profile = find_profile(base_target(format).provider)
    return None if profile is None else TargetParts(profile, format, model)


def meant_target(name: str) -> str:
    """The target that is meant where only a model is named; empty where no provider is known.

    A provider names its models by the globs of its profile and by its own name. The longest match
    counts, then the provider that defines its format: others serve the same models.
    """
    found = [
        (length, base_target(profile.format).provider == profile.name, profile.name)
        for profile in map(get_profile, provider_names())
        if (length := _length_named(name.lower(), profile))
    ]
    return f"{max(found)[2]}:{name}" if found else ""


def get_target(target: TargetName | Target, *, base: Mapping[str, Target] | None = None) -> Target:
    """The target a text names; a target stays as it is.

    `base` gives the base rules of formats, by format name; what it lacks comes from `formats/`.
    """
    if isinstance(target, Target):
        return target
    if base is None:
        return _cached_target(target)
    return _build_target(target, base)


def get_rule(key: str, *, format: str = "", model: str = "") -> Rule:
    """The fact that a finding names in `rule`, with its source, date and confidence.

    A key is `<profile>.<rule>`, or `<format>.<rule>` for a rule of the format itself, or
    `families/<family>.<rule>` for a rule that holds wherever such models are served. Where there
    are several rules of one name, `format` and `model` say which one is meant: the last that holds
    for them counts. Raises `UnknownName`.
    """
    owner, _, field = key.rpartition(".")
    if "/" in owner:
        return _shared_rule(owner, field, format, model)
    profile = find_profile(owner)
    found: list[Rule] = []
    if profile is not None:
        parts = _parts_for(profile, format or profile.format, model)
        found = [part.rules[field] for part in parts if field in part.rules]
    if not found and owner in FORMATS and field in RULE_FIELDS and (model or profile is None):
        found = [base_rule(owner, field)]
    if not found and profile is not None:
        found = [one.rules[field] for one in profile.models if field in one.rules]
    if not found and owner in FORMATS and field in RULE_FIELDS:
        found = [base_rule(owner, field)]
    if not found:
        known = [f"{profile.name}.{name}" for name in profile.rules] if profile is not None else []
        raise UnknownName("rule", key, known)
    return found[-1]


def _shared_rule(owner: str, field: str, format: str, model: str) -> Rule:
    """A rule of a file that several providers name."""
    folder, _, name = owner.partition("/")
    if folder == "families":
        named = [one for one in load_family(name) if field in one.rules]
        # Providers write more before the name of a model than its maker does.
        spelled = [one for one in named if _matches(tuple(f"*{glob}" for glob in one.match), model)]
        here = [one for one in spelled or named if format in ("", one.format)]
        found = [one.rules[field] for one in here or named]
    else:
        rules = load_likeness(name)
        found = [rules[field]] if field in rules else []
    if not found:
        raise UnknownName("rule", f"{owner}.{field}", ())
    return found[-1]


def with_rule_keys(findings: Iterable[Finding], target: Target) -> list[Finding]:
    """`findings` of a request for `target`, in which `rule` is the whole key of the fact."""
    return [
        replace_fields(one, rule=_rule_key(one.rule, target))
        if one.rule and "." not in one.rule
        else one
        for one in findings
    ]


def provider_names() -> tuple[str, ...]:
    """All providers, by name; aliases are left out."""
    return tuple(sorted(built_in_names() | _registered.keys()))


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
    _forget_targets()
    return profile


def unregister_provider(name: str) -> None:
    """Take a registered provider away; a built-in one it stood for is back."""
    if name not in _registered:
        raise UnknownName("registered provider", name, _registered)
    del _registered[name]
    _forget_targets()


def _refuse_taken(profile: Profile) -> None:
    for name in (profile.name, *profile.aliases):
        holder = find_profile(name)
        if holder is not None:
            raise InvalidValue(
                f"the name {name!r} belongs to the provider {holder.name!r} already.",
                where=f"register_provider({profile.name!r})",
                help="Choose another, or pass replace=True.",
            )


def _forget_targets() -> None:
    _cached_target.cache_clear()
    _stated.cache_clear()


@lru_cache(maxsize=1024)
def _cached_target(text: str) -> Target:
    return _build_target(text, {})


def _build_target(text: str, base: Mapping[str, Target]) -> Target:
    named = target_parts(text)
    profile = named.profile
    return target_of(profile, named.format or profile.format, named.model, base=base)


def target_of(
    profile: Profile, format: str, model: str, *, base: Mapping[str, Target] | None = None
) -> Target:
    """The target for a model in a format, which may be that of another API of the provider."""
    base = base or {}
    target = replace_fields(
        base.get(format) or base_target(format),
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


def _rule_key(field: str, target: Target) -> str:
    """The key of a rule: of the file that states it for the target, else of the format."""
    stated_by = _stated(target.provider, target.format, target.model).get(field, target.format)
    return f"{stated_by}.{field}"


@lru_cache(maxsize=1024)
def _stated(provider: str, format: str, model: str) -> dict[str, str]:
    """The rules that hold for a model in a format beyond the format's, and who states each."""
    profile = find_profile(provider)
    if profile is None or profile.name != provider:
        return {}
    return {
        field: rule.stated_by or provider
        for part in _parts_for(profile, format, model)
        for field, rule in part.rules.items()
    }


def known_models(profile: Profile, format: str) -> tuple[str, ...]:
    """A name for each group of models that has rules of its own in a format."""
    globs = (glob for one in profile.models if one.format == format for glob in one.match)
    return tuple(dict.fromkeys(glob.replace("*", "") for glob in globs))


def _matches(globs: tuple[str, ...], model: str) -> bool:
    return any(fnmatchcase(model.lower(), glob) for glob in globs)


def _length_named(model: str, profile: Profile) -> int:
    """How much of the beginning of a model's name says that the model is of this provider."""
    globs = (glob for one in profile.models for glob in one.match if fnmatchcase(model, glob))
    named = (_WILDCARD.split(glob, maxsplit=1)[0] for glob in globs)
    own = (name for name in (profile.name, *profile.aliases) if _begins_with(model, name))
    return max(map(len, (*named, *own)), default=0)


def _begins_with(model: str, provider: str) -> bool:
    """Whether a model's name is a provider's name and more, such as a version."""
    rest = model.removeprefix(provider)
    return rest != model and not rest[:1].isalpha() and ":" not in rest


@cache
def built_in_names() -> frozenset[str]:
    """The names of the hosts that have a file here."""
    # Listing files loads a dozen modules, which nobody needs who knows a provider's name.
    resources = import_module("importlib.resources")
    folder = resources.files("canonicall.facts").joinpath("hosts")
    names = (file.name for file in folder.iterdir())
    return frozenset(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


@lru_cache(maxsize=1024)
def _built_in(name: str) -> Profile | None:
    """The profile in the file of this name, None where there is none."""
    if not _FILE_NAME.fullmatch(name):
        return None
    try:
        data = get_data("canonicall.facts", f"hosts/{name}.toml")
    except OSError:
        return None
    return load_profile(data, f"{name}.toml") if data is not None else None


@cache
def _built_in_aliases() -> dict[str, Profile]:
    profiles = {name: _built_in(name) for name in built_in_names()}
    return _by_alias({name: one for name, one in profiles.items() if one is not None})


def _by_alias(profiles: Mapping[str, Profile]) -> dict[str, Profile]:
    return {alias: profile for profile in profiles.values() for alias in profile.aliases}


def _taken_names() -> set[str]:
    return {*provider_names(), *_built_in_aliases(), *_by_alias(_registered)}
