"""What the schema of a tool may say at a target, in sentences."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import fields

from canonicall.cli.provider_answers import listed, quoted
from canonicall.facts.schema_rules import StrictRule
from canonicall.facts.target import Target

_REFERENCES = {
    "all": "taken, recursive ones too",
    "acyclic": "taken, but not recursive ones",
    "inline": "taken; read better in their place",
    "none": "not read: what they stand for is put in their place",
}


_TOLD = (
    *("object_root", "root_refused", "keywords", "others", "told", "refs", "type_lists", "draft"),
    *("items_required", "property_pattern", "max_depth", "strict", "checked"),
    *("properties_required", "root_filled", "own_words"),
)
_TOLD_OF_STRICT = (
    *("keywords", "formats", "refs", "ref_alone", "all_required", "closed", "typed", "min_items"),
    *("max_depth", "max_properties", "max_values", "max_tools", "max_optional", "max_unions"),
    *("max_characters", "plain_values"),
    "max_optional_each",
)
"""The fields that have words below."""


def schema_facts(target: Target) -> Iterator[tuple[str, str, str]]:
    """What the schema of a tool may say: fields of `SchemaRule`, questions and answers."""
    rule = target.schemas
    yield "object_root", "root", "`type: object`" if rule.object_root else "any"
    yield "root_refused", "not at the root", listed(rule.root_refused, "nothing known")
    others = "others are refused" if rule.others == "refused" else "others are ignored"
    keywords = f"{listed(rule.keywords)}; {others}" if rule.keywords else "all"
    yield "keywords", "keywords", keywords
    yield "own_words", "in its own dialect also", listed(rule.own_words, "")
    yield "told", "what is left out", "is said in the description" if rule.told else ""
    yield "refs", "references", _REFERENCES[rule.refs]
    yield "type_lists", "lists of types", "one type and null" if rule.type_lists == "null" else ""
    yield "draft", "checked as", rule.draft
    yield "checked", "faults in it", "are looked for, and refused" if rule.checked else ""
    properties = "have to say `properties`" if rule.properties_required else ""
    yield "properties_required", "objects", properties
    filled = "are refused: such a tool has no schema" if rule.root_filled else ""
    yield "root_filled", "no properties", filled
    yield "items_required", "arrays", "have to say `items`" if rule.items_required else ""
    pattern = rule.property_pattern
    yield "property_pattern", "names of parameters", quoted(pattern) if pattern else ""
    yield "max_depth", "depth", f"at most {rule.max_depth}" if rule.max_depth else ""
    yield from untold(rule, _TOLD)
    if rule.strict is None:
        yield "strict", "strict mode", "nothing is known: the flag goes as it came"
    else:
        for question, answer in _strict_facts(rule.strict):
            yield "strict", f"strict: {question}", answer


def _strict_facts(rule: StrictRule) -> Iterator[tuple[str, str]]:
    formats = f"; as `format`, {listed(rule.formats)}" if rule.formats else ""
    items = f"; as `minItems`, {listed(rule.min_items)}" if rule.min_items else ""
    yield "keywords", listed(rule.keywords, "all") + items + formats
    beside = "; nothing may stand beside one" if rule.ref_alone else ""
    yield "references", _REFERENCES[rule.refs] + beside
    properties = "all properties are required" if rule.all_required else "properties may be missing"
    closed = "have to say" if rule.closed else "need not say"
    apart = ", none is a listed value" if rule.plain_values else ""
    yield "objects", f"{closed} `additionalProperties: false`{apart}; {properties}"
    yield "listed values", "need a `type` beside them" if rule.typed else ""
    limits = {
        "depth": rule.max_depth,
        "properties": rule.max_properties,
        "values in enums": rule.max_values,
        "characters of names and values": rule.max_characters,
        "strict tools": rule.max_tools,
        "properties that may be missing": rule.max_optional,
        "of one schema": rule.max_optional_each,
        "unions": rule.max_unions,
    }
    yield "at most", ", ".join(f"{what}: {most:,}" for what, most in limits.items() if most)
    yield from ((what, answer) for _, what, answer in untold(rule, _TOLD_OF_STRICT))


def untold(rule: Struct, told: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Fields that nothing above has words for, where they say something: by their names."""
    for field in fields(rule):
        value = getattr(rule, field.name)
        if field.name not in told and value != field.default:
            words = {True: "yes", False: "no"}
            answer = words[value] if isinstance(value, bool) else quoted(str(value))
            yield field.name, field.name.replace("_", " "), answer


def schema_answers(entries: Iterable[str], target: Target) -> str:
    """What the given entries of the rule for schemas say, in one cell."""
    told = [
        f"{question}: {answer}"
        for field, question, answer in schema_facts(target)
        if field in entries and answer
    ]
    return "; ".join(told)
