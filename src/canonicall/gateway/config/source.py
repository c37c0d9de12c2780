"""Where settings come from: a file, the environment or neither; and again while they are in use.

A file passes four steps, and everything that is wrong with it is told in one error:

1. text: TOML or YAML as plain values. Moments become text again, because only text can hold a
   reference; a name that stands twice in a section is refused in both languages, where YAML by
   itself would drop the first.
2. references: `${NAME}`, `${NAME:-default}`, `$$`. They are put in after the file was parsed, so
   that no value of a variable can change its structure.
3. shape: every name and every type is checked. Short forms are written out here, and only here: one
   text for a list of one, `key` for `keys`, `"provider:model"` for a model with one choice, a list
   of targets for one choice and its fallbacks, `messages` for a prompt with one version.
4. meaning: `check_settings`.
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from datetime import date, time
from pathlib import Path, PurePath
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.client.config import ClientConfig
from canonicall.client.profile_files import read_profile
from canonicall.client.secrets import Secret
from canonicall.errors import CanonicallError, UnknownName
from canonicall.facts.profile import Profile
from canonicall.gateway.config.checks import (
    ROOT,
    Problem,
    Problems,
    UnusableSettings,
    check_settings,
    inside,
    kind_of,
    profile_of,
)
from canonicall.gateway.config.settings import (
    Choice,
    ModelSettings,
    PromptMessage,
    PromptSettings,
    ProviderSettings,
    RepairSettings,
    Settings,
    StoreSettings,
)
from canonicall.gateway.registrations import registered

MOST_BYTES = 4 * 1024 * 1024
MOST_VALUES = 100_000
"""YAML repeats a part by naming it, and the repetition can be repeated: that must end somewhere."""
_DEEPEST = 40
_YAML = (".yaml", ".yml")
_TOO_LARGE = "the file is too large for a configuration."
_DOLLAR = re.compile(r"\$(?:\$|\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}|)")
_Kind = TypeVar("_Kind", bound=Struct)
_WANTED = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
_ELSEWHERE = {
    "api_base": "base_url",
    "api_key": "key",
    "api_keys": "keys",
    "model_list": "models",
    "url": "base_url",
}
"""What other gateways call a setting, and its name here."""
SIMULATED = "generic:simulated"
"""Who is asked where nothing is configured: the provider whose rules all others can live with."""
_NOWHERE = "http://simulated.invalid/v1"
"""An address that a simulator answers for; it can never be one of the network (RFC 6761)."""
_ANY_KEY = Secret("any")
"""Simulators take any key. One of so few letters is none that a log would have to hide."""
Tell: TypeAlias = Callable[[str, str], None]
"""Is told what happens while a gateway runs: one word for programs, one line for people."""
WATCH_SECONDS = 1.0
"""How often a file that is watched is looked at."""
REFUSED = "reload_refused"
RELOADED = ("reloaded", "The settings were read again and are in use.")
_FIXED = ("host", "port", "workers")


class Loaded(Struct, frozen=True):
    """The settings of a file, and what is worth knowing about them."""

    settings: Settings
    warnings: tuple[Problem, ...] = ()


def load_file(path: str | Path, environ: Mapping[str, str]) -> Loaded:
    """The settings in a file; `UnusableSettings` with all faults where there are any."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        unreadable = Problem(ROOT, f"the file cannot be read: {error.strerror}.")
        raise UnusableSettings(str(path), [unreadable]) from None
    return read_settings(data, str(path), environ)


def read_settings(data: bytes, file: str, environ: Mapping[str, str]) -> Loaded:
    """The settings in the bytes of a file; its name says what language it is in."""
    problems = Problems()
    tree = _parse_text(data, file, problems)
    problems.raise_any(file)
    filled = _fill_references(tree, environ, ROOT, problems)
    settings = _read_section(Settings, filled, ROOT, problems)
    folder = Path(file).parent
    settings = replace(settings, profiles=tuple(str(folder / one) for one in settings.profiles))
    with registered(_read_profiles(settings.profiles, problems)):
        check_settings(settings, environ, problems)
        problems.raise_any(file)
    return Loaded(_completed(settings, environ), tuple(problems.warnings))


class YamlMissing(CanonicallError, ImportError):
    """The package that reads YAML is not installed."""


def _parse_text(data: bytes, file: str, problems: Problems) -> dict[str, Any]:
    """The values in a file, by its ending; empty where there are none, or it cannot be read."""
    ending = PurePath(file).suffix.lower()
    if ending != ".toml" and ending not in _YAML:
        problems.error(
            ROOT, "the name of the file does not say what is in it.", "End it with .toml or .yaml."
        )
        return {}
    if len(data) > MOST_BYTES:
        problems.error(ROOT, _TOO_LARGE)
        return {}
    try:
        text = data.decode("utf-8-sig")
        value = tomllib.loads(text) if ending == ".toml" else _yaml(text)
    except UnicodeDecodeError as error:
        problems.error(ROOT, f"byte {error.start + 1} is not UTF-8.", "Save the file as UTF-8.")
    except RecursionError:
        problems.error(ROOT, "it is nested too deeply.")
    except (tomllib.TOMLDecodeError, _Unreadable) as error:
        language = "TOML" if ending == ".toml" else "YAML"
        problems.error(ROOT, f"this is not {language}: {str(error).rstrip('.')}.")
    else:
        return _Plain(problems).root({} if value is None else value)
    return {}


class _Unreadable(Exception):
    """YAML that cannot be read, with the line."""


def _yaml(text: str) -> Any:
    try:
        import yaml  # noqa: PLC0415  an extra
    except ImportError:
        help = "Install it with: pip install 'canonicall[server]', or write TOML."
        raise YamlMissing(f"YAML needs the package PyYAML. {help}") from None

    class Loader(yaml.SafeLoader):
        """Builds plain values only, and takes no name twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    line = key.start_mark.line + 1
                    raise _Unreadable(f"{key.value!r} stands twice in one section (line {line})")
                seen |= {key.value} if isinstance(key, yaml.ScalarNode) else set()
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)  # noqa: S506  a safe loader, and stricter
    except yaml.MarkedYAMLError as error:
        place = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        said = " ".join(filter(None, (error.context, error.problem)))
        raise _Unreadable(f"{said}{place}") from None
    except (yaml.YAMLError, ValueError) as error:
        # A date such as 2026-02-30 is a ValueError.
        raise _Unreadable(" ".join(str(error).split())) from None


class _Plain:
    """Values as the rest expects them: text for moments, names that are text, a bounded size."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._left = MOST_VALUES

    def root(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._problems.error(
                ROOT, "the file is not made of named sections.", "Begin with `providers:`."
            )
            return {}
        plain: dict[str, Any] = self._plain(value, ROOT, 0)
        return {} if self._left < 0 else plain

    def _plain(self, value: Any, where: str, depth: int) -> Any:
        self._left -= 1
        if self._left <= 0 or depth > _DEEPEST:
            if self._left >= 0:
                self._problems.error(ROOT, _TOO_LARGE, "It repeats or nests its parts too often.")
            self._left = -1
            return {}
        if isinstance(value, dict):
            return self._mapping(value, where, depth)
        if isinstance(value, list):
            return [self._plain(one, inside(where, at), depth + 1) for at, one in enumerate(value)]
        return value.isoformat() if isinstance(value, date | time) else value

    def _mapping(self, value: dict[Any, Any], where: str, depth: int) -> dict[str, Any]:
        for name in value:
            if not isinstance(name, str):
                what = f"the name {name!r} is not text."
                place = inside(where, str(name))
                self._problems.error(place, what, f'Put it in quotes: "{name}".')
        return {
            name: self._plain(one, inside(where, name), depth + 1)
            for name, one in value.items()
            if isinstance(name, str)
        }


def _fill_references(value: Any, environ: Mapping[str, str], where: str, problems: Problems) -> Any:
    """`value` with every reference in its texts replaced."""
    if isinstance(value, dict):
        return {
            name: _fill_references(one, environ, inside(where, name), problems)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [
            _fill_references(one, environ, inside(where, at), problems)
            for at, one in enumerate(value)
        ]
    if isinstance(value, str) and "$" in value:
        return _DOLLAR.sub(lambda found: _filled(found, environ, where, problems), value)
    return value


def _filled(
    found: re.Match[str], environ: Mapping[str, str], where: str, problems: Problems
) -> str:
    name, default = found["name"], found["default"]
    if found[0] == "$$":
        return "$"
    if name is None:
        what = "a dollar sign stands alone."
        problems.error(where, what, "Write ${NAME} for a variable, and $$ for the sign itself.")
        return ""
    problems.hide(environ.get(name, ""), f"${{{name}}}")
    if default is not None:
        # As in a shell: a variable that is empty counts as missing here.
        return environ.get(name) or default
    if name not in environ:
        help = f"Set it, or give a default: ${{{name}:-...}}."
        problems.error(where, f"the environment variable {name} is not set.", help)
    return environ.get(name, "")


def _read_section(kind: type[_Kind], value: Any, where: str, problems: Problems) -> _Kind:
    """The settings in a section. Where something is wrong, its default stands in for it."""
    if kind in _SHORT_FORMS:
        value = _SHORT_FORMS[kind](value, where, problems)
    if value is None:
        # `openai:` with nothing behind it is how YAML writes an empty section.
        value = {}
    is_section = isinstance(value, dict)
    if not is_section:
        problems.error(where, f"expected a section, got {kind_of(value)}.", _names(kind))
        value = {}
    types = get_type_hints(kind)
    _refuse_unknown(kind, value, where, problems)
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        place = inside(where, field.name)
        if field.name in value:
            read = _read(types[field.name], value[field.name], place, problems)
            if read is not msgspec.UNSET:
                found[field.name] = read
        elif field.required and is_section:
            problems.error(place, "it is missing.")
        if field.required:
            found.setdefault(field.name, "")
    return kind(**found)


def _refuse_unknown(
    kind: type[Struct], value: Mapping[str, Any], where: str, problems: Problems
) -> None:
    known = kind.__struct_fields__
    for name in value:
        if name in known:
            continue
        meant = _ELSEWHERE.get(name, name)
        hint = f"It is called {meant!r} here." if meant != name else ""
        said = str(UnknownName("setting here", name, known))
        problems.error(
            inside(where, name), f"{said[: said.index('. ') + 1]} {hint}" if hint else said
        )


def _names(kind: type[Struct]) -> str:
    return f"Its settings are: {', '.join(kind.__struct_fields__)}."


def _read(kind: Any, value: Any, where: str, problems: Problems) -> Any:
    """A value of a type; UNSET where it is none."""
    if get_origin(kind) is dict:
        return _read_entries(get_args(kind)[1], value, where, problems)
    if get_origin(kind) is tuple:
        return _read_list(get_args(kind)[0], value, where, problems)
    if get_origin(kind) is UnionType:
        if value is None:
            return None
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _read_section(kind, value, where, problems)
    if kind is Secret:
        return _read_secret(value, where, problems)
    return _read_plain(kind, value, where, problems)


def _read_entries(kind: Any, value: Any, where: str, problems: Problems) -> Any:
    if value is None:
        return {}
    if not isinstance(value, dict):
        problems.error(where, f"expected names with a value each, got {kind_of(value)}.")
        return msgspec.UNSET
    read = {name: _read(kind, one, inside(where, name), problems) for name, one in value.items()}
    return {name: one for name, one in read.items() if one is not msgspec.UNSET}


def _read_list(kind: Any, value: Any, where: str, problems: Problems) -> Any:
    if not isinstance(value, list):
        one = _read(kind, value, where, problems)
        return msgspec.UNSET if one is msgspec.UNSET else (one,)
    read = [_read(kind, one, inside(where, at), problems) for at, one in enumerate(value)]
    return tuple(one for one in read if one is not msgspec.UNSET)


def _read_secret(value: Any, where: str, problems: Problems) -> Any:
    if isinstance(value, Secret):
        return value
    if isinstance(value, str) and value.strip():
        return Secret(value.strip())
    what = (
        "the key is empty." if isinstance(value, str) else f"expected text, got {kind_of(value)}."
    )
    problems.error(where, what, "Refer to a variable that holds it: ${NAME}.")
    return msgspec.UNSET


def _read_plain(kind: Any, value: Any, where: str, problems: Problems) -> Any:
    try:
        # Not strict: a variable of the environment is text, whatever it is to be.
        read = msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        if get_origin(kind) is Literal:
            choices = ", ".join(get_args(kind))
            problems.error(where, "this is none of the choices.", f"Choose from: {choices}.")
        else:
            quotes = "Put it in quotes." if kind is str and isinstance(value, int | float) else ""
            problems.error(where, f"expected {_WANTED[kind]}, got {kind_of(value)}.", quotes)
        return msgspec.UNSET
    if isinstance(read, float) and not math.isfinite(read):
        problems.error(where, "the number is not finite.")
        return msgspec.UNSET
    return read


def _provider(value: Any, where: str, problems: Problems) -> Any:
    value = _with_recover(value)
    if not isinstance(value, dict) or "key" not in value:
        return value
    place = inside(where, "key")
    if "keys" in value:
        problems.error(place, "`keys` stands beside it.", "Give one of the two.")
    key = _read_secret(value["key"], place, problems)
    rest = {name: one for name, one in value.items() if name != "key"}
    return {"keys": [] if key is msgspec.UNSET else [key], **rest}


def _repair(value: Any, where: str, problems: Problems) -> Any:
    """`leaks: true` and `leaks: false` are what `recover` was before."""
    if not isinstance(value, dict) or "leaks" not in value:
        return _with_recover(value)
    place = inside(where, "leaks")
    if "recover" in value:
        problems.error(place, "`recover` stands beside it.", "Give `recover` alone.")
    reads = _read_plain(bool, value["leaks"], place, problems)
    recover = "off" if reads is False else "known"
    problems.warn(place, "this setting has another name now.", f"Write recover: {recover!r}.")
    rest = {name: one for name, one in value.items() if name != "leaks"}
    return {"recover": recover, **rest}


def _with_recover(value: Any) -> Any:
    """A section in which `recover: off` is text again: YAML reads it as false."""
    is_off = isinstance(value, dict) and value.get("recover") is False
    return {**value, "recover": "off"} if is_off else value


def _model(value: Any, where: str, problems: Problems) -> Any:
    if isinstance(value, str):
        return {"choices": [value]}
    if isinstance(value, list):
        return {"choices": value[:1], "fallbacks": value[1:]}
    if not isinstance(value, dict) or "target" not in value:
        return value
    if "choices" in value:
        problems.error(
            inside(where, "target"), "`choices` stands beside it.", "Give one of the two."
        )
    rest = {name: one for name, one in value.items() if name != "target"}
    return {"choices": value["target"], **rest}


def _prompt(value: Any, where: str, problems: Problems) -> Any:
    del where, problems
    if isinstance(value, dict) and "messages" in value:
        return {"versions": {"1": value}}
    return value


def _prompt_message(value: Any, where: str, problems: Problems) -> Any:
    del where, problems
    return {"content": value} if isinstance(value, str) else value


def _choice(value: Any, where: str, problems: Problems) -> Any:
    del where, problems
    return {"target": value} if isinstance(value, str) else value


_SHORT_FORMS: dict[type[Struct], Callable[[Any, str, Problems], Any]] = {
    ProviderSettings: _provider,
    RepairSettings: _repair,
    ModelSettings: _model,
    Choice: _choice,
    PromptSettings: _prompt,
    PromptMessage: _prompt_message,
}


def _read_profiles(paths: Iterable[str], problems: Problems) -> list[Profile]:
    """The profiles in files; each that cannot be used is a problem with its file and place."""
    found: dict[str, Profile] = {}
    for at, path in enumerate(paths):
        place = inside("$.profiles", at)
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


def environment_settings(environ: Mapping[str, str]) -> Settings | None:
    """A back for each provider with a key, asked as `provider:model`; None where there is none."""
    present = ClientConfig(environ=environ).present()
    if not present:
        return None
    settings = Settings(
        providers={name: ProviderSettings() for name in present},
        store=StoreSettings(path=str(state_file(environ))),
    )
    return _completed(settings, environ)


def default_settings(environ: Mapping[str, str]) -> Settings:
    """What is served where nothing is configured: one simulated model, for every name."""
    provider, _, name = SIMULATED.partition(":")
    answered = ModelSettings(choices=(Choice(target=SIMULATED),))
    return Settings(
        providers={provider: ProviderSettings(base_url=_NOWHERE, keys=(_ANY_KEY,))},
        models={name: answered, "*": answered},
        store=StoreSettings(path=str(state_file(environ))),
    )


def state_file(environ: Mapping[str, str]) -> Path:
    """Where the gateway keeps what it knows, in the user's folder for such."""
    home = environ.get("HOME") or str(Path.home())
    state = environ.get("XDG_STATE_HOME") or Path(home) / ".local" / "state"
    return Path(state) / "canonicall" / "gateway.db"


def _completed(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Settings in which each section has what it lacks and the environment knows.

    That is a key, and what fills `{region}` and the like. A section with an address of its own gets
    no key: it would go to a host it is not meant for.
    """
    config = ClientConfig(environ=environ)
    filled = dict(settings.providers)
    for name, section in settings.providers.items():
        profile = profile_of(settings, name)
        if profile is None:
            continue
        known = config.of(profile)
        takes_key = bool(known.secret) and not section.keys and not section.base_url
        filled[name] = replace(
            section,
            keys=(known.secret,) if takes_key else section.keys,
            values={**known.values, **section.values},
        )
    return replace(settings, providers=filled)


class SettingsSource:
    """The settings in use, and the way to get newer ones."""

    def __init__(self, load: Callable[[], Settings], *, file: str | Path | None = None) -> None:
        """`load` reads them, and raises one of our errors where they are unusable."""
        self._load = load
        self._file = None if file is None else Path(file)
        self._seen: tuple[int, ...] = ()
        self._seen = self._stamp()
        self.settings = load()

    def renew(self, tell: Tell) -> bool:
        """Read them again. Unusable ones are told about, and the old ones stay in use."""
        self._seen = self._stamp()
        try:
            newer = self._load()
        except (CanonicallError, OSError) as error:
            tell(REFUSED, f"The settings stay as they were: {error}")
            return False
        changed = [
            name
            for name in _FIXED
            if getattr(newer.server, name) != getattr(self.settings.server, name)
        ]
        if changed:
            tell("restart_needed", f"{', '.join(changed)}: changed only by a restart.")
        self.settings = newer
        return True

    def has_changed(self) -> bool:
        """Whether the file is another one than the last time it was read."""
        return self._stamp() != self._seen

    def _stamp(self) -> tuple[int, ...]:
        if self._file is None:
            return ()
        try:
            found = self._file.stat()
        except OSError:
            # An editor may take it away before the new one is in its place.
            return self._seen
        return (found.st_mtime_ns, found.st_size, found.st_ino)
