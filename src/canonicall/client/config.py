"""Settings of the client: given in code, or read from the environment; only here is it read."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from canonicall.client.breaker import BreakerPolicy
from canonicall.client.keys import KeyPolicy
from canonicall.client.redaction import is_secret_name
from canonicall.client.retrying import RetryPolicy
from canonicall.client.secrets import Secret
from canonicall.client.sigv4 import AwsCredentials
from canonicall.client.transport import Timeouts
from canonicall.facts.profile import Profile
from canonicall.facts.registry import get_profile, provider_names
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits
from canonicall.syntax.recovery import Recover, one_of_recover

TokenSource: TypeAlias = Callable[[], str | Awaitable[str]]
"""Gives a token that is valid now: for clouds whose tokens last an hour."""

VALUES_ENV = {
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "resource": ("AZURE_OPENAI_RESOURCE", "AZURE_RESOURCE_NAME"),
    "location": ("GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"),
    "project": ("GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"),
    "account": ("SNOWFLAKE_ACCOUNT",),
    "account_id": ("CLOUDFLARE_ACCOUNT_ID",),
    "gateway_id": ("CLOUDFLARE_GATEWAY_ID",),
}
"""What fills `{name}` in an address, as the official clients call it."""
_AWS_ENV = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


class ProviderConfig(Struct, frozen=True, kw_only=True):
    """Settings for one provider. What is left out comes from the environment and the profile."""

    key: Secret | str | None = None
    keys: Sequence[Secret | str] = ()
    """More keys, used in turn with `key`; one that is rate limited or rejected has to wait."""
    key_env: Sequence[str] = ()
    """The variables that hold its keys, in place of those that the profile names."""
    token: TokenSource | None = None
    """Asked before every request, in place of `key`."""
    base_url: str = ""
    base_urls: dict[str, str] = {}
    """The addresses of its other formats, where the profile has those of their own."""
    headers: dict[str, str] = {}
    timeouts: Timeouts | None = None
    proxy: str | None = None
    """The address of a proxy; "" for none, whatever the environment says."""
    values: dict[str, str] = {}
    """What fills `{region}`, `{resource}` and the like in the address."""
    aws: AwsCredentials | None = None
    recover: Recover | None = None
    """Whether calls are read from the text of its replies; None: as `ClientConfig.recover` says."""
    sends_trace: bool = False
    """Whether its host is told which trace a request belongs to, by the headers `traceparent` and
    `tracestate` of the current span. It need not know, so it is told only where that is wanted."""

    def __post_init__(self) -> None:
        if isinstance(self.key, str):
            force_setattr(self, "key", Secret(self.key.strip()))
        more = (self.keys,) if isinstance(self.keys, str) else self.keys
        hidden = tuple(Secret(one.strip()) if isinstance(one, str) else one for one in more)
        force_setattr(self, "keys", hidden)
        if self.recover is not None:
            one_of_recover(self.recover)
        if isinstance(self.key_env, str):
            force_setattr(self, "key_env", (self.key_env,))

    @property
    def secret(self) -> Secret:
        """The first key; empty where there is none."""
        return next(iter(self.pool), Secret(""))

    @property
    def pool(self) -> tuple[Secret, ...]:
        """All keys, each once."""
        given = (self.key, *self.keys)
        return tuple(dict.fromkeys(one for one in given if isinstance(one, Secret) and one))

    @property
    def credentials(self) -> tuple[Secret, ...]:
        """What opens the provider, or the way to it."""
        aws = () if self.aws is None else (self.aws.secret_key, self.aws.session_token)
        password = Secret(urlsplit(self.proxy or "").password or "")
        # Of `Bearer KEY` the key is meant.
        shown = (
            Secret(value.rpartition(" ")[2])
            for name, value in self.headers.items()
            if is_secret_name(name)
        )
        return (*self.pool, *aws, password, *shown)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Everything that must not be shown."""
        return (*self.credentials, *map(Secret, self.headers.values()))

    def __repr__(self) -> str:
        given = [name for name in self.__struct_fields__ if getattr(self, name)]
        return f"ProviderConfig({', '.join(given)})"


class ClientConfig:
    """Settings for all providers."""

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        providers: Mapping[str, ProviderConfig | Mapping[str, Any]] | None = None,
        *,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy | None = None,
        breaker: BreakerPolicy | None = None,
        keys: KeyPolicy | None = None,
        replies: ReplyLimits | None = None,
        save_refused: str | Path | None = None,
        recover: Recover = "known",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`environ` is where keys and the like are looked up that are not given. `save_refused` is
        a folder for requests that a provider refuses, one file each, without keys. `replies` are
        the limits for what comes back. `recover`: whether calls are read from the text of replies,
        as hosts are known to print them."""
        self.save_refused = save_refused or None
        self.recover: Recover = one_of_recover(recover)
        self.timeouts = timeouts or Timeouts()
        self.retry = retry or RetryPolicy()
        self.breaker = breaker or BreakerPolicy()
        self.keys = keys or KeyPolicy()
        self.replies = replies or DEFAULT_LIMITS
        self.ways: dict[object, object] = {}
        """What was worked out of it for targets: it never changes."""
        self._environ = dict(environ or {})
        self._providers = {
            get_profile(name).name: one
            if isinstance(one, ProviderConfig)
            else ProviderConfig(**one)
            for name, one in (providers or {}).items()
        }

    @classmethod
    def from_environment(  # noqa: PLR0913  each is a choice of its own
        cls,
        providers: Mapping[str, ProviderConfig | Mapping[str, Any]] | None = None,
        *,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy | None = None,
        breaker: BreakerPolicy | None = None,
        keys: KeyPolicy | None = None,
        replies: ReplyLimits | None = None,
        save_refused: str | Path | None = None,
        recover: Recover = "known",
    ) -> "ClientConfig":
        """Keys, addresses and proxies as the environment has them now; `providers` come first."""
        return cls(
            providers,
            timeouts=timeouts,
            retry=retry,
            breaker=breaker,
            keys=keys,
            replies=replies,
            save_refused=save_refused,
            recover=recover,
            environ=os.environ,
        )

    def of(self, profile: Profile) -> ProviderConfig:
        """All that is known for one provider."""
        own = self._providers.get(profile.name) or ProviderConfig()
        is_signed = not set(_AWS_ENV).isdisjoint(profile.key_env)
        pool = own.pool or tuple(
            Secret(self._environ[name].strip()) for name in self._key_names(own, profile)
        )
        return replace(
            own,
            key=None,
            keys=pool,
            aws=own.aws or (self._aws() if is_signed else None),
            base_url=own.base_url or self._first(base_url_env(profile)),
            values={**self._values(), **own.values},
            timeouts=own.timeouts or self.timeouts,
        )

    def recover_of(self, provider: str) -> Recover:
        """Whether calls are read from the text of a provider's replies."""
        own = self._providers.get(provider)
        return self.recover if own is None or own.recover is None else own.recover

    def proxy_of(self, own: ProviderConfig, url: str) -> str:
        """The proxy for an address; empty where it is asked directly."""
        if own.proxy is not None:
            return own.proxy
        parts = urlsplit(url)
        excepted = self._first("no_proxy", "NO_PROXY")
        if _is_excepted(parts.hostname or "", parts.port, excepted):
            return ""
        name = f"{parts.scheme}_proxy"
        return self._first(name, name.upper(), "all_proxy", "ALL_PROXY")

    def present(self) -> dict[str, tuple[str, ...]]:
        """Which providers have a key, and the names of the variables it is in; never the key.

        A key that was given in code is named `config`.
        """
        found = {}
        for name in provider_names():
            own = self._providers.get(name)
            given = own is not None and (own.secret or own.token or own.aws)
            profile = get_profile(name)
            signing = [key for key in profile.key_env if key in _AWS_ENV and self._environ.get(key)]
            names = (*self._key_names(own, profile), *signing)
            if given or names:
                found[name] = ("config",) if given else names
        return found

    def __repr__(self) -> str:
        return f"ClientConfig(keys for {', '.join(self.present()) or 'nobody'})"

    def _key_names(self, own: ProviderConfig | None, profile: Profile) -> tuple[str, ...]:
        """The variables that hold keys: those that are named, or the first that the profile knows
        with those that are numbered behind it, OPENAI_API_KEY_2 and so on."""
        if own is not None and own.key_env:
            return tuple(name for name in own.key_env if self._environ.get(name))
        known = (name for name in profile.key_env if name not in _AWS_ENV)
        first = next((name for name in known if self._environ.get(name)), "")
        if not first:
            return ()
        numbered = (f"{first}_{number}" for number in count(2))
        return (first, *takewhile(self._environ.get, numbered))

    def _first(self, *names: str) -> str:
        """The first of these variables that is set."""
        return next((self._environ[name] for name in names if self._environ.get(name)), "")

    def _values(self) -> dict[str, str]:
        found = {name: self._first(*variables) for name, variables in VALUES_ENV.items()}
        return {name: value for name, value in found.items() if value}

    def _aws(self) -> AwsCredentials | None:
        access, secret, session = (self._environ.get(name, "").strip() for name in _AWS_ENV)
        if not access or not secret:
            return None
        return AwsCredentials(access, Secret(secret), Secret(session))


def base_url_env(profile: Profile) -> str:
    """The variable that holds another address for a provider: OPENAI_BASE_URL and so on."""
    return f"{profile.name.upper().replace('-', '_').replace('.', '_')}_BASE_URL"


def _is_excepted(host: str, port: int | None, excepted: str) -> bool:
    """Whether `no_proxy` names the host: itself, a domain it is in, or all with a star."""
    for entry in filter(None, (one.strip().lower() for one in excepted.split(","))):
        name = entry.removeprefix("*").lstrip(".")
        if port is not None:
            name = name.removesuffix(f":{port}")
        if entry == "*" or host == name or (name and host.endswith(f".{name}")):
            return True
    return False
