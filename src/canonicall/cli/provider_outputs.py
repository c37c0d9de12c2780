"""What can be asked of the form of a reply, in sentences."""

from canonicall.cli.provider_answers import Fact, listed, quoted
from canonicall.facts.target import Target

_HELD = {
    "flag": "strict where the request says so",
    "always": "always strict",
    "never": "held to as far as its grammar goes",
}


def _modes(target: Target) -> str:
    known = {
        "schema": f"JSON by a schema, {_HELD[target.output_strict]}",
        "object": "any JSON object",
    }
    return "; ".join(known[mode] for mode in target.output_modes) or "nothing but text"


def _schemas(target: Target) -> str:
    """Where the rules are not those of tools."""
    rule = target.output_schemas
    if rule is None or "schema" not in target.output_modes:
        return ""
    root = "an object at the root" if rule.object_root else "any root"
    held = rule.strict if target.output_strict == "always" else None
    keywords = (held.keywords if held else ()) or rule.keywords
    others = "; others are ignored" if keywords and rule.others == "ignored" else ""
    return f"{root}, {listed(keywords, 'all keywords')}{others}"


OUTPUT_FACTS = (
    Fact("output_modes", "format of the reply", _modes, also="output_strict"),
    Fact(
        "output_refused",
        "other formats of the reply",
        lambda one: "" if one.output_refused else "taken, but not kept to",
    ),
    Fact("output_schemas", "schema of the reply", _schemas),
    Fact(
        "output_word",
        "word that any JSON object needs",
        lambda one: f"{quoted(one.output_word)}, in a message" if one.output_word else "",
    ),
)
