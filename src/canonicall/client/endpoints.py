"""Where a target is asked: address and headers, from its profile and the configuration."""

import inspect
import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import TypeAlias
from urllib.parse import quote, urlsplit

from msgspec import Struct

from canonicall.client.config import (
    VALUES_ENV,
    ClientConfig,
    ProviderConfig,
    TokenSource,
    base_url_env,
)
from canonicall.client.secrets import Secret
from canonicall.client.sigv4 import signed_headers
from canonicall.client.transport import Timeouts
from canonicall.errors import CanonicallError
from canonicall.facts.endpoint import AWS, BEARER, Endpoint, endpoint_of
from canonicall.facts.profile import Profile
from canonicall.facts.registry import get_profile
from canonicall.facts.target import Target
from canonicall.telemetry.propagation import TRACEPARENT, trace_headers

Choose: TypeAlias = Callable[[str, tuple[Secret, ...]], Secret]
"""One of a provider's keys, for one request."""
_SERVICE = "bedrock"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class MissingSetting(CanonicallError):
    """Something that a request needs was neither configured nor in the environment.

    `variables` are the environment variables of which any would do.
    """

    def __init__(
        self, what: str, *, where: str, help: str, variables: tuple[str, ...] = ()
    ) -> None:
        self.what = what
        self.where = where
        self.help = help
        self.variables = variables
        super().__init__(f"{where}: {what} {help}")


class Outgoing(Struct, frozen=True):
    """One request, ready to be sent."""

    url: str
    headers: dict[str, str]
    body: bytes
    timeouts: Timeouts
    proxy: str = ""
    secrets: tuple[Secret, ...] = ()
    """What errors must not show."""
    credentials: tuple[Secret, ...] = ()
    """The keys among them, which replies must not show either."""


class _Way(Struct, frozen=True):
    """How a target is asked, but for what each request has of its own."""

    profile: Profile
    own: ProviderConfig
    endpoint: Endpoint
    url: str
    headers: dict[str, str]
    keys: tuple[Secret, ...]
    timeouts: Timeouts
    proxy: str
    secrets: tuple[Secret, ...]
    credentials: tuple[Secret, ...]


_NONE = Secret("")
_MOST_WAYS = 1000


def endpoint_for(target: Target) -> Endpoint:
    """Path and headers of a target's format at its provider."""
    return endpoint_of(get_profile(target.provider).endpoints, target.format)


def check_settings(target: Target, config: ClientConfig) -> None:
    """Raise `MissingSetting` where a target cannot be asked: no model, no address or no key."""
    profile = get_profile(target.provider)
    way = _way(profile, target, config, True)
    own = way.own
    if not (own.pool or own.token or own.aws):
        _refuse_without_key(way)


async def outgoing(
    target: Target,
    body: bytes,
    config: ClientConfig,
    *,
    stream: bool,
    now: Callable[[], float],
    compacts: bool = False,
    choose: Choose | None = None,
) -> Outgoing:
    """The request that asks `target`; it is signed anew each time, and its token is valid now.

    `choose` takes one of several keys; without it that is the first.
    """
    profile = get_profile(target.provider)
    way = _way(profile, target, config, stream, compacts=compacts)
    own, endpoint, url = way.own, way.endpoint, way.url
    token = _NONE if own.token is None else await _fresh(own.token, profile.name)
    key = token or (own.secret if choose is None else choose(profile.name, way.keys))
    headers = dict(way.headers)
    if endpoint.auth == AWS and not key and own.aws is not None:
        region = _value("region", own, f"{profile.name}: signature")
        headers = signed_headers(
            url, headers, body, own.aws, region=region, service=_SERVICE, now=now()
        )
        del headers["host"]  # The transport writes it, from the same address.
    elif token:
        # What lasts an hour is an OAuth token, and every cloud takes it so.
        headers["authorization"] = f"Bearer {token.reveal()}"
    elif key:
        headers.update(_auth(endpoint, key))
    else:
        _refuse_without_key(way)
    if own.sends_trace and TRACEPARENT not in headers:
        # Behind the signature: whatever stands between may change them.
        headers |= trace_headers()
    secrets = (*way.secrets, token)
    credentials = (*way.credentials, token) if token else way.credentials
    return Outgoing(url, headers, body, way.timeouts, way.proxy, secrets, credentials)


def _way(
    profile: Profile, target: Target, config: ClientConfig, stream: bool, *, compacts: bool = False
) -> _Way:
    """What does not change from one request to the next; it is worked out once."""
    key = (target.provider, target.format, target.model, stream, compacts)
    known = config.ways.get(key)
    if isinstance(known, _Way) and known.profile is profile:
        return known
    own = config.of(profile)
    endpoint = endpoint_of(profile.endpoints, target.format)
    url = address(target, own, stream=stream, compacts=compacts)
    headers = {
        "content-type": "application/json",
        **endpoint.headers,
        **{name.lower(): value for name, value in own.headers.items()},
    }
    proxy = config.proxy_of(own, url)
    password = Secret(urlsplit(proxy).password or "")
    timeouts = own.timeouts or config.timeouts
    secrets, credentials = (*own.secrets, password), (*own.credentials, password)
    way = _Way(
        profile, own, endpoint, url, headers, own.pool, timeouts, proxy, secrets, credentials
    )
    if len(config.ways) < _MOST_WAYS:
        config.ways[key] = way
    return way


def address(target: Target, own: ProviderConfig, *, stream: bool, compacts: bool = False) -> str:
    """The whole address of a target."""
    profile = get_profile(target.provider)
    endpoint = endpoint_of(profile.endpoints, target.format)
    if not target.model:
        help = f"Name one: {profile.name}:MODEL."
        raise MissingSetting("the target has no model.", where=profile.name, help=help)
    other = endpoint.compact_path if compacts else endpoint.stream_path if stream else ""
    path = other or endpoint.path
    model = quote(target.model.removeprefix("models/"), safe="")
    return base_address(profile, target.format, own) + path.replace("{model}", model)


def base_address(profile: Profile, format: str, own: ProviderConfig) -> str:
    """What stands before the path, its placeholders filled."""
    where = f"{profile.name}: base_url"
    if format in own.base_urls:
        base = own.base_urls[format]
    elif own.base_url and format in profile.base_urls:
        # The provider's own address would get what is meant for another host, the key included.
        help = f'Set base_urls["{format}"] beside base_url.'
        raise MissingSetting(f"the address for {format} is not known.", where=where, help=help)
    else:
        base = own.base_url or profile.base_urls.get(format) or profile.base_url
    if not base:
        variable = base_url_env(profile)
        help = f"Set base_url, or the variable {variable}."
        what = "the provider has no address of its own."
        raise MissingSetting(what, where=where, help=help, variables=(variable,))
    filled = _PLACEHOLDER.sub(lambda found: _value(found[1], own, where), base.rstrip("/"))
    for usual, special in profile.other_hosts.items():
        filled = filled.replace(f"//{usual}/", f"//{special}/")
    return filled


def _value(name: str, own: ProviderConfig, where: str) -> str:
    if own.values.get(name):
        return own.values[name]
    variables = VALUES_ENV.get(name, ())
    named = f", or the variable {' or '.join(variables)}" if variables else ""
    help = f'Set values["{name}"]{named}.'
    raise MissingSetting(f"{{{name}}} is not known.", where=where, help=help, variables=variables)


def _auth(endpoint: Endpoint, key: Secret) -> dict[str, str]:
    if endpoint.auth in (BEARER, AWS):
        return {"authorization": f"Bearer {key.reveal()}"}
    return {endpoint.auth: key.reveal()}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _refuse_without_key(way: _Way) -> None:
    """Raise where a service is asked; a server of one's own is asked without a key."""
    profile = way.profile
    is_service = profile.base_url.startswith("https:")
    if not is_service or is_loopback(urlsplit(way.url).hostname or ""):
        return
    if "authorization" in way.headers or way.endpoint.auth in way.headers:
        return
    variables = profile.key_env
    help = f"Set the variable {' or '.join(variables) or '?'}, or `key` in the configuration."
    told = f"{help} {profile.key_help}".rstrip()
    raise MissingSetting("there is no key.", where=profile.name, help=told, variables=variables)


async def _fresh(source: TokenSource, where: str) -> Secret:
    try:
        made = source()
        return Secret((await made if inspect.isawaitable(made) else made).strip())
    except Exception as error:
        # Its text is not told: it may quote what the token is made from.
        what = f"the source of its token failed ({type(error).__name__})."
        raise MissingSetting(what, where=where, help="See what `token` does.") from error
