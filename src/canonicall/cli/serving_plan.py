"""What a gateway serves, as values to show: no secret among them."""

from ipaddress import ip_address

from msgspec import Struct

from canonicall.gateway.config import ModelSettings, Problem, Settings, profile_of
from canonicall.store.places import shown

# What clients put behind the address they are given, so that theirs ends where it has to; and the
# variable in which their official SDKs and agents look for it.
_FRONTS = {
    "openai-chat": ("/v1", "OPENAI_BASE_URL"),
    "openai-responses": ("/v1", "OPENAI_BASE_URL"),
    "anthropic": ("", "ANTHROPIC_BASE_URL"),
    "gemini": ("", "GOOGLE_GEMINI_BASE_URL"),
}


class FrontPlan(Struct, frozen=True):
    """A front door."""

    format: str
    variable: str
    url: str


class ModelPlan(Struct, frozen=True):
    """A name that clients can ask for."""

    name: str
    choices: tuple[str, ...]
    fallbacks: tuple[str, ...]


class ProviderPlan(Struct, frozen=True):
    """A back."""

    name: str
    profile: str
    format: str
    url: str
    keys: int
    """How many there are; a host of one's own may need none."""


class KeyPlan(Struct, frozen=True):
    """A virtual key, by its name."""

    name: str
    models: tuple[str, ...]
    expires: str
    revoked: bool
    admin: bool


class Plan(Struct, frozen=True):
    """All of it."""

    url: str
    workers: int
    is_simulated: bool
    store: str
    fronts: tuple[FrontPlan, ...]
    models: tuple[ModelPlan, ...]
    providers: tuple[ProviderPlan, ...]
    keys: tuple[KeyPlan, ...]
    warnings: tuple[Problem, ...] = ()


def plan_of(
    settings: Settings,
    *,
    url: str = "",
    is_simulated: bool = False,
    warnings: tuple[Problem, ...] = (),
) -> Plan:
    """What would be served by settings; `url` is where it is, once that is known."""
    url = url or _address(settings)
    return Plan(
        url=url,
        workers=settings.server.workers,
        is_simulated=is_simulated,
        store=shown(settings.store.path),
        fronts=tuple(
            FrontPlan(format, variable, url + ending)
            for format, (ending, variable) in _FRONTS.items()
        ),
        models=tuple(
            ModelPlan(name, _shares(model), model.fallbacks)
            for name, model in settings.models.items()
        ),
        providers=tuple(_provider(settings, name) for name in settings.providers),
        keys=tuple(
            KeyPlan(name, key.models, key.expires, key.revoked, key.admin)
            for name, key in settings.keys.items()
        ),
        warnings=warnings,
    )


def _address(settings: Settings) -> str:
    host, port = settings.server.host, settings.server.port
    try:
        is_bracketed = ip_address(host).version == 6
    except ValueError:
        is_bracketed = False
    return f"http://[{host}]:{port}" if is_bracketed else f"http://{host}:{port}"


def _shares(model: ModelSettings) -> tuple[str, ...]:
    """The choices, each with its share where there are several."""
    total = sum(choice.weight for choice in model.choices)
    if len(model.choices) == 1:
        return (model.choices[0].target,)
    return tuple(
        f"{choice.target} ({choice.weight / total:.0%})"
        for choice in model.choices
        if choice.weight > 0
    )


def _provider(settings: Settings, name: str) -> ProviderPlan:
    section = settings.providers[name]
    profile = profile_of(settings, name)
    format = section.format or (profile.format if profile else "")
    known = profile.base_urls.get(format) or profile.base_url if profile else ""
    url = section.base_urls.get(format) or section.base_url or known
    named = profile.name if profile else section.profile
    return ProviderPlan(name, named, format, url, len(section.keys))
