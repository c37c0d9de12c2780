"""Values that the service model of Converse does not have, told as its validation tells them.

It counts from one, and what a list holds are its members. What stands in a message is not repeated
in the answer; names of tools are.
"""

import re
from collections.abc import Iterator

from canonicall.facts.target import FieldPlace, NameRule, Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.node import Node, dotted, plain
from canonicall.verify.violation import Violation, refuse

MODEL = "botocore 1.44.0, bedrock-runtime service model; words: NousResearch/hermes-agent#55429"
FORMATS = vocabulary("bedrock").media_formats
STATUS = ("success", "error")
POINTS = {"type": ("default",), "ttl": vocabulary("bedrock").lifetimes}


def unmet(where: str, wanted: str, value: str | None = None) -> str:
    """What is said of a value that is not as the service model wants it."""
    place = re.sub(r"\[(\d+)\]", lambda found: f".{int(found[1]) + 1}.member", plain(where))
    shown = "Value" if value is None else f"Value '{value}'"
    return (
        f"1 validation error detected: {shown} at '{place}' failed to satisfy constraint: {wanted}"
    )


def one_of(known: tuple[str, ...]) -> str:
    return f"Member must satisfy enum value set: [{', '.join(known)}]"


def one_member(node: Node, known: tuple[str, ...]) -> Iterator[Violation]:
    """A union has exactly one of its members."""
    count = sum(node.has(name) for name in known)
    if count == 1:
        return
    verb = "can only set" if count else "must set"
    keys = f"{', '.join(known[:-1])}, or {known[-1]}"
    error = f"The value at {dotted(node.where)} {verb} one of the following keys: {keys}."
    yield refuse("bad_part", node.where, error, source="envoyproxy/ai-gateway#2476")


def unknown_members(
    node: Node, known: tuple[str, ...], place: FieldPlace, target: Target
) -> Iterator[Violation]:
    """Members that a structure does not have, where the target's places are closed."""
    if place not in target.fields.closed:
        return
    for name in node.fields:
        if name not in known and node.has(name):
            error = f'Unknown parameter in {plain(node.where)}: "{name}", must be one of: '
            error += ", ".join(known)
            source = "botocore 1.44.0, validate.py; strands-agents/harness-sdk#1703"
            yield refuse("unknown_field", node.at(name), error, source=source)


def name_wanted(name: str, rule: NameRule) -> str:
    """What the name of a tool has to be, where it is not."""
    if len(name) > rule.max_length:
        return f"Member must have length less than or equal to {rule.max_length}"
    if not name:
        return "Member must have length greater than or equal to 1"
    return f"Member must satisfy regular expression pattern: {rule.pattern}"


def media_violations(kind: str, media: Node, target: Target) -> Iterator[Violation]:
    """The format of an image, a document, a film or a sound, which a document need not have; and an
    address, which not every model reads."""
    where = media.at("format")
    source = media.node("source")
    is_read = kind in target.media and kind not in target.media_by_url
    if source.has("s3Location") and is_read:
        error = "This model doesn't support the s3Uri field. Remove s3Uri and try again."
        yield refuse("bad_part", source.at("s3Location"), error, source="recorded traffic")
    if not media.has("format") and kind != "document":
        yield refuse("missing_field", where, unmet(where, "Member must not be null"), source=MODEL)
    elif media.has("format") and media.get("format") not in FORMATS[kind]:
        yield refuse("unknown_value", where, unmet(where, one_of(FORMATS[kind])), source=MODEL)


def status_violations(result: Node) -> Iterator[Violation]:
    where = result.at("status")
    if result.has("status") and result.get("status") not in STATUS:
        yield refuse("unknown_value", where, unmet(where, one_of(STATUS)), source=MODEL)


def point_violations(point: Node) -> Iterator[Violation]:
    for key, known in POINTS.items():
        where = point.at(key)
        if point.has(key) and point.get(key) not in known:
            yield refuse("unknown_value", where, unmet(where, one_of(known)), source=MODEL)
        elif key == "type" and not point.has(key):
            error = unmet(where, "Member must not be null")
            yield refuse("missing_field", where, error, source=MODEL)
