"""What simulators take from the files of hosts: models, paths, and the host behind a target."""

from canonicall.facts.endpoint import format_endpoint
from canonicall.facts.habits import NO_HABITS, Habits
from canonicall.facts.host_errors import HostErrors
from canonicall.facts.registry import errors_of, named_profile
from canonicall.facts.target import Target


def habits_of(target: Target) -> Habits:
    """What the simulator of the target's host does."""
    profile = named_profile(target.provider)
    return profile.simulator if profile is not None else NO_HABITS


def errors_like(target: Target) -> tuple[HostErrors, ...]:
    """How the target's host refuses, and the host that it is like."""
    own = errors_of(target.provider)
    return (own, errors_of(own.like)) if own.like else (own,)


def host_format(target: Target) -> str:
    """The format that the target's host speaks first."""
    profile = named_profile(target.provider)
    return profile.format if profile is not None else target.format


def models_of(provider: str) -> tuple[str, ...]:
    """Models to show for a provider; one made-up name where none is known."""
    profile = named_profile(provider)
    known = profile.simulator.models if profile is not None else ()
    return known or (f"{provider}-model",)


def path_of(format: str, model: str) -> str:
    """Where a format is asked for a reply of one model."""
    endpoint = format_endpoint(format)
    return f"{endpoint.version}{endpoint.path}".replace("{model}", model)
