"""What is wrong with a configuration: every fault at once, each with its place and what to do.

`Problems` collects them while a file is read. `check_settings` then judges settings that are well
formed by their meaning: do the names in them lead anywhere, does one setting contradict another?
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, to_builtins

from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.endpoints import MissingSetting, base_address, is_loopback
from canonicall.client.transport import Timeouts
from canonicall.errors import CanonicallError, UnknownName
from canonicall.facts.profile import Profile
from canonicall.facts.registry import (
    find_profile,
    find_target_parts,
    meant_target,
    provider_names,
)
from canonicall.gateway.config.settings import (
    KeySettings,
    ModelSettings,
    PromptSettings,
    ProviderSettings,
    ServerSettings,
    Settings,
    fits,
)
from canonicall.store.engine import StoreError
from canonicall.store.places import shown

ROOT = "$"
_MOST = 100
"""Errors that are told: whoever has more has another file in hand."""
_PARTS = re.compile(r"[\s:/@]+")
"""What messages cut a value at, to name one part of it."""
_SHORTEST = 4
"""Shorter values of the environment are no secrets."""
_SHORTEST_PART = 8
"""Shorter parts of a value are ordinary words, which messages have as well."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w-]*")
_KINDS = (
    (bool, "true or false"),
    (str, "text"),
    (int | float, "a number"),
    (dict, "a section"),
    (list, "a list"),
    (type(None), "nothing"),
)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_ORIGIN = re.compile(r"https?://[^/?#@]+/?")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_AT_LEAST = {
    "workers": 1,
    "max_body_bytes": 1,
    "max_body_depth": 1,
    "max_head_bytes": 256,
    "max_headers": 1,
    "max_connections": 1,
    "port": 0,
}
_NOT_NEGATIVE = ("keep_alive_seconds", "notice_seconds", "drain_seconds")
_POSITIVE = ("head_seconds", "body_seconds", "idle_seconds", "read_seconds")
_MOST_WORKERS = 256


class Problem(Struct, frozen=True):
    """One thing that is wrong, or only worth knowing. No value is quoted: it may be a key."""

    where: str
    """The path to it: `$.models.fast.choices[0].target`."""
    what: str
    help: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what} {self.help}".rstrip()


class UnusableSettings(CanonicallError, ValueError):
    """A configuration that nothing can be served with. `problems` are all that were found."""

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{file}: {one}" for one in self.problems))


class Problems:
    """What has been found so far."""

    def __init__(self) -> None:
        self._hidden: dict[str, str] = {}
        """Values of the environment, and parts of them: each with what is told in its place."""
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []

    def error(self, where: str, what: str, help: str = "") -> None:
        """Something that nothing can be served with.

        Where a place, something in it or what it is in is wrong already, this follows from that,
        and is not told.
        """
        if len(self.errors) >= _MOST:
            return
        places = [one.where for one in self.errors]
        if not any(_is_in(one, where) or _is_in(where, one) for one in places):
            self.errors.append(self._problem(where, what, help))

    def warn(self, where: str, what: str, help: str = "") -> None:
        """Something that is probably not meant, and can be served."""
        self.warnings.append(self._problem(where, what, help))

    def hide(self, value: str, reference: str) -> None:
        """Tell a reference where a message would quote the value, or a part of it: a setting that
        is wrong is often a key in the wrong place."""
        parts = [part for part in _PARTS.split(value) if len(part) >= _SHORTEST_PART]
        for part in (value, *parts):
            for form in (part, repr(part)[1:-1]):
                if len(form) >= _SHORTEST:
                    self._hidden.setdefault(form, reference)

    def _problem(self, where: str, what: str, help: str) -> Problem:
        # The whole before its parts.
        for value in sorted(self._hidden, key=len, reverse=True):
            what = what.replace(value, self._hidden[value])
            help = help.replace(value, self._hidden[value])
        return Problem(where, what, help)

    def raise_any(self, file: str) -> None:
        """Refuse the file where anything in it is wrong."""
        if self.errors:
            raise UnusableSettings(file, self.errors)


def _is_in(path: str, where: str) -> bool:
    return path.startswith(where) and path[len(where) : len(where) + 1] in ("", ".", "[")


def inside(where: str, name: str | int) -> str:
    """The path to something in what `where` leads to."""
    if isinstance(name, int):
        return f"{where}[{name}]"
    return f"{where}.{name}" if _PLAIN_NAME.fullmatch(name) else f'{where}["{name}"]'


def kind_of(value: Any) -> str:
    """What a value is, in a word: the value itself is not told."""
    return next((name for kind, name in _KINDS if isinstance(value, kind)), type(value).__name__)


def check_settings(settings: Settings, environ: Mapping[str, str], problems: Problems) -> None:
    """Everything that is wrong with settings, or worth knowing, beyond the type of each."""
    _check_server(settings, problems)
    for name, provider in settings.providers.items():
        _check_provider(name, provider, environ, inside("$.providers", name), problems)
    _check_models(settings, problems)
    _check_keys(settings, problems)
    if settings.store.days <= 0:
        problems.error("$.store.days", "nothing would be kept.", "Give a number above 0.")
    for limit in ("max_turns", "max_bytes"):
        if getattr(settings.store, limit) < 0:
            problems.error(f"$.store.{limit}", "it must be 0 or more.", "0 is no limit.")
    for limit in settings.replies.__struct_fields__:
        if getattr(settings.replies, limit) < 1:
            problems.error(f"$.replies.{limit}", "it must be 1 or more.")
    for name, prompt in settings.prompts.items():
        _check_prompt(prompt, inside("$.prompts", name), problems)
    try:
        shown(settings.store.path)
    except StoreError as error:
        problems.error("$.store.path", str(error))
    if not settings.providers and not settings.models:
        what = "no provider and no model is named."
        problems.warn("$", what, "Clients must ask for provider:model themselves.")


def _check_prompt(prompt: PromptSettings, where: str, problems: Problems) -> None:
    if not prompt.versions:
        problems.error(inside(where, "versions"), "it has none.", "Give it `messages`.")
    elif prompt.default and prompt.default not in prompt.versions:
        known = f"Its versions are: {', '.join(prompt.versions)}."
        problems.error(inside(where, "default"), "there is no such version.", known)
    for name, version in prompt.versions.items():
        if not version.messages:
            problems.error(inside(inside(where, "versions"), name), "it has no message.")


def exposure(settings: Settings) -> Problem | None:
    """Whether anybody in the network could use the provider's keys. Asked again for `--host`."""
    server = settings.server
    if is_loopback(server.host) or settings.keys or (server.open and server.allowed_hosts):
        return None
    what = "other machines could ask, and no virtual key is needed."
    help = (
        "Make one with `canonicall keys new`, or set `open: true` and `allowed_hosts` under"
        " `server`: the names by which clients ask."
    )
    return Problem("$.server.host", what, help)


def profile_of(settings: Settings, name: str) -> Profile | None:
    """The profile of a provider that a target names: a section, or a provider of the registry."""
    section = settings.providers.get(name)
    return find_profile((section.profile if section else "") or name)


def _check_server(settings: Settings, problems: Problems) -> None:
    server = settings.server
    for field, least in _AT_LEAST.items():
        if getattr(server, field) < least:
            problems.error(f"$.server.{field}", f"it must be {least} or more.")
    if server.port > 65535:
        problems.error("$.server.port", "ports end at 65535.")
    if server.workers > _MOST_WORKERS:
        problems.error("$.server.workers", f"there can be {_MOST_WORKERS} at most.")
    _check_seconds(server, problems)
    for at, origin in enumerate(server.allowed_origins):
        if "*" not in origin and not _ORIGIN.fullmatch(origin):
            what, help = "this is not an origin.", "Write it as https://app.example.com."
            problems.error(f"$.server.allowed_origins[{at}]", what, help)
    exposed = exposure(settings)
    if exposed is not None:
        problems.error(exposed.where, exposed.what, exposed.help)
    if server.workers > 1 and not settings.store.path:
        what = (
            "each worker has a memory of its own: a stored response is found by one of them only."
        )
        problems.warn("$.store.path", what, "Name a file, or a database by its URL.")


def _check_seconds(server: ServerSettings, problems: Problems) -> None:
    for field in _NOT_NEGATIVE:
        if (getattr(server, field) or 0) < 0:
            problems.error(f"$.server.{field}", "it must not be negative.")
    for field in _POSITIVE:
        if getattr(server, field) <= 0:
            problems.error(f"$.server.{field}", "it must be above 0.")


def _check_provider(
    name: str, section: ProviderSettings, environ: Mapping[str, str], where: str, problems: Problems
) -> None:
    profile = find_profile(section.profile or name)
    if not _NAME.fullmatch(name):
        what = f"{name!r} cannot be the name of a provider."
        problems.error(where, what, "Use lower-case letters, digits, '.', '_' and '-'.")
        return
    if profile is None:
        unknown = str(UnknownName("provider", section.profile or name, provider_names()))
        help = "" if section.profile else "Or set `profile` to the provider it behaves like."
        problems.error(inside(where, "profile") if section.profile else where, unknown, help)
        return
    if section.format and section.format not in profile.formats:
        problems.error(inside(where, "format"), _unknown_format(profile, section.format))
        return
    for format in section.base_urls:
        if format not in profile.formats:
            place = inside(inside(where, "base_urls"), format)
            problems.error(place, _unknown_format(profile, format))
    given = {"base_url": section.base_url}
    given |= {f"base_urls.{format}": url for format, url in section.base_urls.items()}
    for field, url in given.items():
        if url and not _is_address(url):
            problems.error(f"{where}.{field}", "this is no address.", "Begin with https://.")
    _check_address(profile, section, environ, where, problems)
    _check_sending(section, where, problems)
    if not section.profile and _is_private(section.base_url) and _is_public(profile.base_url):
        what = f"replies from here are passed on as {profile.name}'s own, often unread."
        help = "If another server answers, set `profile` to what it is: vllm, llamacpp,"
        help += " llama-cpp-python, generic."
        problems.warn(inside(where, "base_url"), what, help)
    if section.sends_trace and find_spec("opentelemetry") is None:
        help = "Install canonicall[telemetry]."
        problems.warn(inside(where, "sends_trace"), "opentelemetry is not installed.", help)


def _check_sending(section: ProviderSettings, where: str, problems: Problems) -> None:
    """What every request is sent with: nothing in it may make each of them fail."""
    if section.proxy and not _is_address(section.proxy):
        # It is not told: there may be a password in it.
        help = "Write http://host:port, or an empty text for none."
        problems.error(inside(where, "proxy"), "this is no address of a proxy.", help)
    for name, value in section.headers.items():
        place = inside(inside(where, "headers"), name)
        if not _HEADER.fullmatch(name):
            help = "Use letters, digits and '-'."
            problems.error(place, f"{name!r} cannot be the name of a header.", help)
        elif not _HEADER_VALUE.fullmatch(value):
            what = "a header has printable characters only, in one line."
            problems.error(place, what, "Leave line breaks and the like out.")
    for field, seconds in to_builtins(section.timeouts or Timeouts()).items():
        if seconds is not None and seconds <= 0:
            what = "nothing would ever be in time."
            help = "Give seconds above 0, or null to wait for ever."
            problems.error(inside(inside(where, "timeouts"), field), what, help)


def _check_address(
    profile: Profile,
    section: ProviderSettings,
    environ: Mapping[str, str],
    where: str,
    problems: Problems,
) -> None:
    """Whether it is known where the provider is asked, with everything that its address needs."""
    format = section.format or profile.format
    urls = section.base_urls | ({format: section.base_url} if section.base_url else {})
    own = ProviderConfig(base_urls=urls, values=section.values)
    try:
        config = ClientConfig({profile.name: own}, environ=environ)
        base_address(profile, format, config.of(profile))
    except MissingSetting as error:
        problems.error(inside(where, "base_url"), error.what, error.help)


def _unknown_format(profile: Profile, format: str) -> str:
    return str(UnknownName(f"format of the provider {profile.name!r}", format, profile.formats))


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _is_private(url: str) -> bool:
    """Whether an address is one of this machine or of a network of one's own."""
    host = urlsplit(url).hostname or "" if _is_address(url) else ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost"


def _is_public(url: str) -> bool:
    return bool(url) and not _is_private(url)


def _check_models(settings: Settings, problems: Problems) -> None:
    globs: list[str] = []
    for name, model in settings.models.items():
        where = inside("$.models", name)
        if not name:
            problems.error(where, "the name is empty.", "Name what clients ask for; * is anything.")
        _check_model(model, settings, where, problems)
        earlier = next((glob for glob in globs if fits(glob, name)), None)
        if "*" in name:
            globs.append(name)
            if earlier is not None:
                what = f"{earlier!r} stands before it, and takes all its names."
                problems.warn(where, what, "Put the narrower name first.")


def _check_model(model: ModelSettings, settings: Settings, where: str, problems: Problems) -> None:
    if not model.choices:
        problems.error(where, "nobody answers for it.", 'Name a target: "provider:model".')
    for at, choice in enumerate(model.choices):
        place = inside(inside(where, "choices"), at)
        _check_target(choice.target, settings, inside(place, "target"), problems)
        if choice.weight < 0:
            problems.error(inside(place, "weight"), "it must not be negative.")
    if model.choices and all(choice.weight == 0 for choice in model.choices):
        problems.error(inside(where, "choices"), "all weights are 0.", "Give one of them a weight.")
    asked = [choice.target for choice in model.choices if choice.weight > 0]
    for at, target in enumerate(model.fallbacks):
        place = inside(inside(where, "fallbacks"), at)
        _check_target(target, settings, place, problems)
        if target in asked:
            problems.warn(place, f"{target!r} has been asked before.", "It is not asked twice.")
        asked.append(target)


def _check_target(target: str, settings: Settings, where: str, problems: Problems) -> None:
    head, _, model = target.partition(":")
    name, _, format = head.partition("/")
    if not model:
        problems.error(where, *_no_model(target, settings))
        return
    if target != target.strip() or any(part != part.strip() for part in (head, model)):
        problems.error(where, f"there is a space in {target!r}.", "Write provider:model without.")
        return
    profile = profile_of(settings, name)
    if profile is None:
        if name not in settings.providers and find_target_parts(target) is None:
            known = {*settings.providers, *provider_names()}
            problems.error(where, str(UnknownName("provider", name, known)))
    elif format and format not in profile.formats:
        problems.error(where, _unknown_format(profile, format))


def _no_model(target: str, settings: Settings) -> tuple[str, str]:
    """What is wrong with a target without a colon, and what to do."""
    if not target:
        return "the target is empty.", "Write provider:model."
    if target in settings.models:
        meant = [one.target for one in settings.models[target].choices if ":" in one.target]
        written = f", such as {meant[0]!r}" if meant else ""
        what = f"{target!r} is a name that clients ask for; a target is a model of a provider."
        return what, f"Write provider:model{written}."
    if find_target_parts(target) is None and (full := meant_target(target)):
        return f"{target!r} names no provider.", f"Write {full!r}."
    return f"{target!r} names no model.", "Write provider:model."


def _check_keys(settings: Settings, problems: Problems) -> None:
    holders: dict[str, str] = {}
    for name, key in settings.keys.items():
        where = inside("$.keys", name)
        _check_key(key, where, problems)
        if key.hash in holders:
            what = f"it is the same key as {holders[key.hash]!r}."
            problems.error(inside(where, "hash"), what, "Give each its own: `canonicall keys new`.")
        holders.setdefault(key.hash, name)
        for at, glob in enumerate(key.models):
            known = any(fits(glob, one) or fits(one, glob) for one in settings.models)
            if ":" not in glob and glob != "*" and not known:
                place = inside(inside(where, "models"), at)
                problems.warn(place, f"no model is called {glob!r}.", "It lets nothing in.")


def _check_key(key: KeySettings, where: str, problems: Problems) -> None:
    if not _HASH.fullmatch(key.hash):
        # What stands there is not told: it may be the key itself.
        what = "it must be `sha256:` and 64 digits, 0 to 9 and a to f."
        problems.error(
            inside(where, "hash"), what, "`canonicall keys new` prints a key and its hash."
        )
    if key.expires:
        try:
            datetime.fromisoformat(key.expires)
        except ValueError:
            what = "this is no day or moment of ISO 8601."
            problems.error(inside(where, "expires"), what, "Write 2027-01-31 or 2027-01-31T12:00Z.")
    for field in ("requests_per_minute", "tokens_per_minute", "concurrent"):
        if getattr(key, field) < 0:
            problems.error(inside(where, field), "it must not be negative.", "0 is no limit.")
