"""What the schemas of tools and replies may say at one target, as data."""

from typing import Literal, TypeAlias

from msgspec import Struct

References: TypeAlias = Literal["all", "acyclic", "inline", "none"]
"""all: `$ref` is taken, recursive ones too. acyclic: recursive ones are refused. inline: taken, but
what is not recursive is read better in its place. none: only what stands in its place is read."""


class StrictRule(Struct, frozen=True):
    """What a schema may say where the provider holds the model to it; a limit of 0 is none."""

    keywords: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    refs: References = "all"
    ref_alone: bool = False
    """Nothing may stand beside a `$ref`."""
    all_required: bool = False
    """Every property is required; one that may be missing is null."""
    some_required: bool = False
    """A tool that has parameters has to require at least one of them."""
    closed: bool = True
    """Every object says `additionalProperties: false`."""
    any_json: bool = False
    """A schema may say nothing at all, which means any JSON."""
    typed: bool = False
    """Listed values need the name of their type beside them."""
    plain_values: bool = False
    """Listed values are texts, numbers and the like, never objects or lists."""
    min_items: tuple[int, ...] = ()
    """The only values `minItems` may have; () where it may have any."""
    max_depth: int = 0
    max_properties: int = 0
    max_values: int = 0
    """How many values the enums of one schema may have together."""
    max_characters: int = 0
    """How long the names and the listed texts of one schema may be together."""
    max_optional_each: int = 0
    """How many properties one schema may leave optional, inner ones too."""

    # In all strict tools of a request together.
    max_tools: int = 0
    max_optional: int = 0
    max_unions: int = 0
    max_fields: int = 0
    """Properties, those inside of others too."""


class SchemaRule(Struct, frozen=True, cache_hash=True):
    """What the schema of a tool's parameters may say."""

    object_root: bool = True
    """The root has to be `type: object`."""
    root_refused: tuple[str, ...] = ()
    """Keywords that may stand inside, but not at the root."""
    keywords: tuple[str, ...] = ()
    """The keywords that are read; () where it is all of them."""
    own_words: tuple[str, ...] = ()
    """Words of the format's own dialect of schemas that not every host of it has, and this one."""
    others: Literal["refused", "ignored"] = "refused"
    """What happens to the others. Ignored ones stay, unless another word says the same."""
    told: bool = False
    """What is left out is said in the description of its place, in strict mode as well."""
    refs: References = "all"
    type_lists: Literal["all", "null"] = "all"
    """null: a list of types is one type, and null."""
    draft: Literal["", "any", "draft-07", "2020-12"] = ""
    """The draft a schema has to be valid in. any: which one is not known, so what is valid in
    either stays. "": nothing is known of such a check."""
    checked: bool = False
    """The provider is known to read schemas closely and to refuse what breaks these rules.
    Elsewhere they are kept too, but the verifier looks at the root only: hosts that speak a format
    of others take most schemas unread."""
    properties_required: bool = False
    """The root has to list its properties, be it none."""
    root_filled: bool = False
    """A root that lists no properties is refused: a tool without parameters has no schema."""
    items_required: bool = False
    """An array has to say what its items are."""
    property_pattern: str = ""
    """What the name of a parameter has to match, inner properties apart."""
    max_depth: int = 0
    strict: StrictRule | None = None
    """None where nothing is known of a strict mode: the flag goes as it came."""
