"""A provider's profile and the families of its models: TOML files in, checked values out.

A profile says who the provider is (name, wire format, signing domain, address) and how it differs
from the base rules of its format. Every rule names the field of `Target` it overrides, the source
it was read in, and the month it was read:

    [rules.max_tools]
    value = 128
    source = "https://docs.example/limits"
    date = "2026-09"
    confidence = "A"

`value` may be left out for `unset = true` where the field can be None. For `ids` and `names` the
value is a table, and only the entries given are changed. `[[models]]` holds rules for the models a
glob matches; all entries that match apply, in the order of the file. An entry with `format` belongs
to that other format of the provider, everything else to its own. `[served]` holds rules of the same
form which say what the service takes beyond that, and which nothing is rendered by. `[errors]` says
how the host refuses (`host_errors`), `[simulator]` what its simulator does (`habits`).

What several providers share is written once. `families = ["claude"]` names files of `families/`:
what is said there of a family of models holds for every provider that serves it. A family writes
the names of models as their maker does; `model_prefix` says what may precede them here. An entry of
a family may name providers of which it is not known (`unknown_at`). `like = "openai-compatible"`
names a file of `formats/` with narrower values, which are taken where a provider states nothing.

Of two rules about one field the later one counts:

1. the base of the format (`formats/openai-chat.toml`),
2. what the provider is like (`formats/openai-compatible.toml`),
3. the provider's own rules, and its `[[models]]` for `match = "*"`,
4. the rules of its families, in the order in which it names them,
5. the provider's `[[models]]`, in the order of the file.

A family is about fewer models than a provider's rules are, and more is known there of each: so it
counts before them. A provider that treats a model of a family differently says so in `[[models]]`.

Only here is a profile checked: a wrong field, a wrong value or a missing source is refused with
the file and the path.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import get_data
from typing import Any, Literal, TypeAlias, get_type_hints

import msgspec
from msgspec import Struct

from canonicall.errors import InvalidValue, UnknownName
from canonicall.facts.endpoint import Endpoint, load_endpoints
from canonicall.facts.habits import NO_HABITS, Habits, load_habits
from canonicall.facts.host_errors import NO_ERRORS, HostErrors, load_errors
from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import FORMATS, FieldRule, IdRule, NameRule, Target

Confidence: TypeAlias = Literal["A", "B", "C", "U"]
"""A: specification or documentation. B: recorded traffic, or seen live by a maintained library.
C: third-party reports quoting the provider. U: uncertain, or the sources disagree."""


class Provenance(Struct, frozen=True, kw_only=True):
    """Where a statement was read, when, and how far to trust it."""

    source: str
    date: str
    confidence: Confidence = "U"


class Rule(Provenance, frozen=True, kw_only=True):
    """A value with its provenance: of a target's field, or of a capability.

    Whoever states a rule and no doubt means it: without a confidence it counts as a report."""

    value: Any
    confidence: Confidence = "C"
    adds: bool = False
    """Whether a list is added to the one that holds already, and does not replace it."""
    stated_by: str = ""
    """The file that states it, where that is not the provider's own: `families/claude`."""


class Quirk(Provenance, frozen=True, kw_only=True):
    """A known oddity in one sentence."""

    text: str


class ModelRules(Struct, frozen=True):
    """Rules for the models one of the globs matches, in one of the provider's formats."""

    match: tuple[str, ...]
    format: str
    rules: dict[str, Rule]
    served: dict[str, Rule] = {}
    unknown_at: tuple[str, ...] = ()
    """The providers of which it is not known; only entries of a family name some."""


class Profile(Struct, frozen=True, kw_only=True):
    """One provider."""

    name: str
    title: str
    format: str
    formats: tuple[str, ...]
    """All formats it can be spoken to in; its own is the first."""
    other_apis: tuple[str, ...] = ()
    """The formats of its other APIs, to which nothing is sent. A body in one of them is judged by
    the rules of the format, or not at all where it has none here."""
    domain: str
    base_url: str = ""
    """What stands before the path of its format, as the official clients are given it."""
    base_urls: dict[str, str] = {}
    """The addresses of its other formats, where they differ."""
    other_hosts: dict[str, str] = {}
    """Hosts that stand for those an address is made with, for some regions for example."""
    endpoints: dict[str, Endpoint] = {}
    """Paths and headers by format, where they are not those of the format."""
    key_env: tuple[str, ...] = ()
    key_help: str = ""
    """What its key is and where it comes from, where that is not plain."""
    aliases: tuple[str, ...] = ()
    rules: dict[str, Rule] = {}
    served: dict[str, Rule] = {}
    """What the service takes although it is not sent."""
    like: str = ""
    """The file of `formats/` with the values that count where it states nothing itself."""
    families: tuple[str, ...] = ()
    """The families of the models it serves; their rules are among `models`."""
    model_prefix: str = ""
    """What may precede the name that the maker gave to a model, as a glob."""
    models: tuple[ModelRules, ...] = ()
    capabilities: dict[str, Rule] = {}
    quirks: tuple[Quirk, ...] = ()
    telemetry_name: str = ""
    """What OpenTelemetry calls it, where that is not its name."""
    errors: HostErrors = NO_ERRORS
    """How it refuses, where that is not as its format's owner does."""
    simulator: Habits = NO_HABITS
    """What its simulator does."""


_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_MONTH = re.compile(r"20\d\d-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?")

_NO_RULES = ("format", "provider", "model", "served")
RULE_FIELDS: dict[str, Any] = {
    name: kind for name, kind in get_type_hints(Target).items() if name not in _NO_RULES
}
_TABLES: dict[str, dict[str, Any]] = {
    "ids": get_type_hints(IdRule),
    "names": get_type_hints(NameRule),
    "fields": get_type_hints(FieldRule),
    "schemas": get_type_hints(SchemaRule),
}
_CAPABILITIES: dict[str, Any] = {
    "format": Literal["json", "xml", "custom"],
    "parallel": bool,
    "streaming": bool,
    "requires_schema": bool,
    "max_tools": int,
    "max_calls": int,
    "strict": bool,
    "tool_choice": tuple[Literal["auto", "required", "none", "named", "subset"], ...],
    "reasoning_replay": Literal["required", "recommended", "accepted", "rejected", "none"],
}
_KEYS = tuple(key for key in Profile.__struct_fields__ if key != "quirks")


def load_profile(data: bytes | str | Mapping[str, Any], where: str) -> Profile:
    """The profile in a TOML text or a mapping; `where` names its origin in errors."""
    table = dict(data) if isinstance(data, Mapping) else _parse(data, where)
    _known(table, _KEYS, where, "key of a profile")
    name = _text(table, "name", where)
    if not _NAME.fullmatch(name):
        raise InvalidValue(
            f"{name!r} cannot be a provider's name.",
            where=f"{where}: name",
            help="Use lower-case letters, digits, '.', '_' and '-'.",
        )
    format = _format(_text(table, "format", where))
    others = [_format(other) for other in _texts(table, "formats", where)]
    formats = (format, *(other for other in others if other != format))
    capabilities = dict(_table(table.get("capabilities", {}), f"{where}: capabilities"))
    quirks = capabilities.pop("quirks", [])
    like = _text(table, "like", where, default="")
    families = _texts(table, "families", where)
    prefix = _text(table, "model_prefix", where, default="")
    rules = load_rules(table.get("rules", {}), f"{where}: rules")
    own = _models(table.get("models", []), formats, where)
    shared = [
        _as_here(entry, prefix)
        for family in families
        for entry in load_family(family)
        if entry.format in formats and name not in entry.unknown_at
    ]
    return Profile(
        name=name,
        title=_text(table, "title", where, default=name),
        format=format,
        formats=formats,
        other_apis=_texts(table, "other_apis", where),
        domain=_text(table, "domain", where, default=name),
        base_url=_text(table, "base_url", where, default=""),
        base_urls=_convert(table.get("base_urls", {}), dict[str, str], f"{where}: base_urls"),
        other_hosts=_convert(table.get("other_hosts", {}), dict[str, str], f"{where}: other_hosts"),
        endpoints=load_endpoints(table.get("endpoints", {}), formats, f"{where}: endpoints"),
        key_env=_texts(table, "key_env", where),
        key_help=_text(table, "key_help", where, default=""),
        aliases=_texts(table, "aliases", where),
        like=like,
        families=families,
        model_prefix=prefix,
        rules={**load_likeness(like), **rules} if like else rules,
        served=load_rules(table.get("served", {}), f"{where}: served"),
        models=_in_order(own, shared) if shared else own,
        capabilities=_capabilities(capabilities, f"{where}: capabilities"),
        quirks=_quirks(quirks, f"{where}: capabilities.quirks"),
        telemetry_name=_text(table, "telemetry_name", where, default=""),
        errors=load_errors(table.get("errors", {}), formats, f"{where}: errors"),
        simulator=load_habits(table.get("simulator", {}), formats, f"{where}: simulator"),
    )


@cache
def load_family(name: str) -> tuple[ModelRules, ...]:
    """What is said of a family of models, in each format that something is known of."""
    where = f"families/{name}"
    table = _read("families", name)
    _known(table, ("title", "syntaxes", "models"), where, "key of a family")
    return _models(table.get("models", []), FORMATS, where, stated_by=where)


@cache
def load_likeness(name: str) -> dict[str, Rule]:
    """The rules of a file of `formats/` that is no format: narrower values of one."""
    where = f"formats/{name}"
    table = _read("formats", name)
    return sourced_rules(table, "rules", where, stated_by=where)


def sourced_rules(
    table: Mapping[str, Any], key: str, where: str, *, stated_by: str = ""
) -> dict[str, Rule]:
    """Rules of a file that says once at its top where and when they were read."""
    told = {name: table[name] for name in ("source", "date", "confidence")}
    rules = {field: {**told, **rule} for field, rule in table.get(key, {}).items()}
    return load_rules(rules, f"{where}: {key}", stated_by=stated_by)


def _read(folder: str, name: str) -> dict[str, Any]:
    place = f"{folder}/{name}"
    try:
        data = get_data("canonicall.facts", f"{place}.toml") if _NAME.fullmatch(name) else None
    except OSError:
        data = None
    if data is None:
        # Listing files loads a dozen modules, which nobody needs whose names are right.
        files = import_module("importlib.resources").files("canonicall.facts").joinpath(folder)
        known = [file.name.removesuffix(".toml") for file in files.iterdir()]
        raise UnknownName(f"file in {folder}", name, known)
    return _parse(data, place)


def _as_here(entry: ModelRules, prefix: str) -> ModelRules:
    """What a family says, in the names of a provider."""
    match = tuple(glob if glob.startswith("*") else prefix + glob for glob in entry.match)
    return msgspec.structs.replace(entry, match=match)


def _in_order(own: Iterable[ModelRules], shared: Iterable[ModelRules]) -> tuple[ModelRules, ...]:
    """What holds for all models, what holds for families, and what a provider says of some."""
    everywhere = [one for one in own if one.match == ("*",)]
    special = (one for one in own if one.match != ("*",))
    return (*everywhere, *shared, *special)


def override(target: Target, rules: Mapping[str, Rule]) -> Target:
    """`target` with its fields as `rules` say."""
    changes = {field: changed(getattr(target, field), field, rule) for field, rule in rules.items()}
    return msgspec.structs.replace(target, **changes)


def changed(value: Any, field: str, rule: Rule) -> Any:
    """The value of a field, as a rule says."""
    if field in _TABLES:
        return msgspec.structs.replace(value, **rule.value)
    return (*value, *rule.value) if rule.adds else rule.value


def _parse(data: bytes | str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(data if isinstance(data, str) else data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValue(f"this is not TOML: {error}.", where=where) from error


def load_rules(value: Any, where: str, *, stated_by: str = "") -> dict[str, Rule]:
    """The rules of a table, by the fields of `Target` that they are about."""
    table = _table(value, where)
    _known(table, RULE_FIELDS, where, "field of Target")
    rules = {field: _rule(table[field], field, f"{where}.{field}") for field in table}
    if not stated_by:
        return rules
    return {
        field: msgspec.structs.replace(rule, stated_by=stated_by) for field, rule in rules.items()
    }


def _rule(value: Any, field: str, where: str) -> Rule:
    table = _table(value, where)
    if field not in _TABLES:
        return _sourced(table, RULE_FIELDS[field], where)
    rule = _sourced(table, dict[str, Any], where)
    _known(rule.value, _TABLES[field], where, f"entry of {field}")
    entries = {
        key: _convert(entry, _TABLES[field][key], f"{where}.value.{key}")
        for key, entry in rule.value.items()
    }
    return msgspec.structs.replace(rule, value=entries)


def _sourced(table: Mapping[str, Any], kind: Any, where: str) -> Rule:
    keys = ("value", "unset", "adds", "source", "date", "confidence")
    _known(table, keys, where, "key of a rule")
    if ("value" in table) == (table.get("unset") is True):
        raise InvalidValue("a rule has either `value` or `unset = true`.", where=where)
    value = _convert(table.get("value"), kind, f"{where}.value")
    adds = _convert(table.get("adds", False), bool, f"{where}.adds")
    if adds and not isinstance(value, tuple):
        raise InvalidValue("only a list can be added to.", where=f"{where}.adds")
    return Rule(value=value, adds=adds, **_provenance(table, where))


def _provenance(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    source = _text(table, "source", where)
    date = _text(table, "date", where)
    if not _MONTH.fullmatch(date):
        raise InvalidValue(
            f"{date!r} is not a date.", where=f"{where}.date", help="Write it as 2026-09."
        )
    told = {"source": source, "date": date}
    if "confidence" not in table:
        return told
    confidence = _convert(table["confidence"], Confidence, f"{where}.confidence")
    return {**told, "confidence": confidence}


def _models(
    value: Any, formats: tuple[str, ...], where: str, *, stated_by: str = ""
) -> tuple[ModelRules, ...]:
    entries = _convert(value, list[dict[str, Any]], f"{where}: models")
    return tuple(
        rules
        for index, entry in enumerate(entries)
        for rules in _model(entry, formats, f"{where}: models[{index}]", stated_by)
    )


def _model(
    entry: dict[str, Any], formats: tuple[str, ...], where: str, stated_by: str
) -> list[ModelRules]:
    """The rules of an entry, once for each format that it is about."""
    keys = ("match", "format", "rules", "served", *(["unknown_at"] if stated_by else []))
    _known(entry, keys, where, "key of a model entry")
    format = entry.get("format")
    meant = (
        _texts(entry, "format", where)
        if isinstance(format, list)
        else (_text(entry, "format", where, default=formats[0]),)
    )
    for one in meant:
        if one not in formats:
            raise UnknownName(f"format of this provider ({where})", one, formats)
    match = entry.get("match")
    globs = (match,) if isinstance(match, str) else _texts(entry, "match", where)
    if not globs:
        raise InvalidValue("the entry has no `match`.", where=where, help='Write match = "*".')
    rules = load_rules(entry.get("rules", {}), f"{where}.rules", stated_by=stated_by)
    served = load_rules(entry.get("served", {}), f"{where}.served", stated_by=stated_by)
    lower = tuple(glob.lower() for glob in globs)
    unknown_at = _texts(entry, "unknown_at", where)
    return [
        ModelRules(match=lower, format=one, rules=rules, served=served, unknown_at=unknown_at)
        for one in meant
    ]


def _capabilities(table: Mapping[str, Any], where: str) -> dict[str, Rule]:
    _known(table, (*_CAPABILITIES, "quirks"), where, "capability")
    return {
        name: _sourced(_table(entry, f"{where}.{name}"), _CAPABILITIES[name], f"{where}.{name}")
        for name, entry in table.items()
    }


def _quirks(value: Any, where: str) -> tuple[Quirk, ...]:
    quirks = []
    for index, entry in enumerate(_convert(value, list[dict[str, Any]], where)):
        here = f"{where}[{index}]"
        _known(entry, ("text", "source", "date", "confidence"), here, "key of a quirk")
        quirks.append(Quirk(text=_text(entry, "text", here), **_provenance(entry, here)))
    return tuple(quirks)


def _format(name: str) -> str:
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return name


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidValue(f"a table belongs here, not {value!r}.", where=where)
    return value


def _text(table: Mapping[str, Any], key: str, where: str, *, default: str | None = None) -> str:
    value = table.get(key, default)
    if isinstance(value, str) and (value or default == ""):
        return value
    what = f"`{key}` is missing." if value is None else f"`{key}` has to be text, not {value!r}."
    raise InvalidValue(what, where=where)


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    texts: tuple[str, ...] = _convert(table.get(key, []), tuple[str, ...], f"{where}: {key}")
    return texts


def _convert(value: Any, kind: Any, where: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InvalidValue(f"{value!r} does not fit: {error}.", where=where) from error


def _known(table: Mapping[str, Any], known: Any, where: str, kind: str) -> None:
    for key in table:
        if key not in known:
            near = get_close_matches(str(key), list(known), n=1)
            help = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(sorted(known))}."
            raise InvalidValue(f"{key!r} is no {kind}.", where=where, help=help)
