"""What a body adds to a name: `target_for` for the body of a request, `source_of` for any body.

A provider speaks several formats and serves many models, and a body shows which of them it is
for: by what only one format writes, and by the model it names.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from canonicall.detection import other_api, possible_formats, reply_format
from canonicall.errors import MalformedBody, UnknownName
from canonicall.facts.profile import Profile
from canonicall.facts.registry import (
    find_target_parts,
    get_profile,
    get_target,
    known_models,
    provider_names,
    target_of,
    target_parts,
)
from canonicall.facts.target import FORMATS, Target
from canonicall.lookalikes import likeness


def target_for(body: Any, named: str) -> Target:
    """The target that `named` means for this body.

    A format or model that is named stays. Otherwise the body is taken to be in the provider's own
    format if it can be, else in another that the provider speaks, or that another API of it takes.
    """
    parts = target_parts(named)
    if not isinstance(body, dict) or (parts.format and parts.model):
        return get_target(named)
    profile = parts.profile
    format = parts.format or _format_of(body, profile)
    model = parts.model or _model_in(body, format)
    if format in profile.other_apis:
        return target_of(profile, format, model)
    return get_target(f"{profile.name}/{format}:{model}")


class Source(Struct, frozen=True):
    """Where a body comes from."""

    format: str
    provider: str = ""
    """Empty where only the format is known."""


def source_of(body: Any, named: str) -> Source:
    """The format of a body, and the provider it was written for, where `named` is a provider.

    Raises `MalformedBody` where the body is in none of the provider's formats, or not recognised.
    """
    if named in FORMATS:
        return Source(named)
    parts = find_target_parts(named)
    if parts is None:
        raise UnknownName("wire format", named, FORMATS, aliases=provider_names())
    profile, replied = parts.profile, reply_format(body)
    possible = (replied,) if replied else possible_formats(body)
    spoken = (parts.format,) if parts.format else profile.formats
    found = next((format for format in spoken if format in possible), None)
    if found is None and not possible and len(spoken) == 1:
        (found,) = spoken
    if found is None:
        seen = f"this is {likeness(body).what}; its format is not recognised"
        what = f"this looks like {possible[0]}" if possible else seen
        raise MalformedBody(
            f"{what}, and {profile.name} speaks {', '.join(spoken)}. Name the format."
        )
    return Source(found, profile.name)


def targets_of_models(target: Target) -> Iterator[Target]:
    """The targets for the models of a provider that have rules of their own, in one format."""
    for model in known_models(get_profile(target.provider), target.format):
        yield get_target(f"{target.provider}/{target.format}:{model}")


def api_without_rules(body: Any, named: str) -> str:
    """The API of the provider that a body is for, if nothing is known here of what it takes."""
    parts, api = target_parts(named), other_api(body)
    return api if not parts.format and api in parts.profile.other_apis else ""


def _format_of(body: dict[str, Any], profile: Profile) -> str:
    possible = possible_formats(body)
    taken = (*profile.formats, *profile.other_apis)
    return next((format for format in taken if format in possible), profile.format)


def _model_in(body: dict[str, Any], format: str) -> str:
    """The model that a body names. Where it usually stands in the address, it has its path."""
    model = body.get("modelId" if format == "bedrock" else "model")
    if not isinstance(model, str):
        return ""
    return model.rpartition("models/")[2] if format == "gemini" else model
