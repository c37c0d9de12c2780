"""What a run of the driver has to do: kinds, targets, models, and how many inputs.

In: the names that the compared revisions know (`Names`), and the choices of the person who asks.
Out: one `Plan`, the same for every revision, so that all drivers write records of the same keys in
the same order. A provider that only one revision knows is asked of both.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

KINDS = {
    "body": "bytes of every recorded request, encoded for every provider and format",
    "findings": "code, place, action and fault of what was changed for that",
    "violations": "code and place of what the judge refuses, in bodies as recorded and as rendered",
    "stream": "events of recorded streams, recorded replies, and both encoded for the fronts",
    "vectors": "calls, text and thinking read from the texts of models",
    "explain": "causes found for the known error texts",
    "simulator": "answers of the simulators to recorded requests and to the refusals",
    "target": "rules for every provider, format and model that a profile or a recording names",
    "damaged-body": "bytes of damaged requests",
    "damaged-findings": "findings of damaged requests",
    "damaged-violations": "violations of damaged requests",
    "wording": "sentences of findings, violations and explanations",
}
DAMAGED = 5_000
"""How many damaged bodies there are. Each is encoded for every target."""


class Names(Struct, frozen=True):
    """What a revision knows: the formats of its providers, its own first, and kinds of models."""

    formats: dict[str, list[str]]
    models: list[tuple[str, str, str]]
    """Provider, format, and a model that a profile has rules for."""


class TargetName(Struct, frozen=True):
    """A target as users write it: `provider`, or `provider/format` for its further formats."""

    name: str
    provider: str
    format: str


class Plan(Struct, frozen=True):
    """The work of one driver."""

    kinds: list[str]
    targets: list[TargetName]
    models: list[tuple[str, str, str]]
    providers: list[str] = []
    """The only providers that records are written of; all of them where there is none."""
    limit: int = 0
    """About how many inputs of each sort are used; all of them where it is 0."""


def make_plan(
    names: Sequence[Names],
    *,
    kinds: Iterable[str] = (),
    providers: Iterable[str] = (),
    limit: int = 0,
) -> Plan:
    """The plan for revisions with these names; the order of the last one counts."""
    formats: dict[str, list[str]] = {}
    for one in reversed(names):
        for provider, spoken in one.formats.items():
            known = formats.setdefault(provider, [])
            known += [format for format in spoken if format not in known]
    targets = [
        TargetName(f"{provider}/{format}" if at else provider, provider, format)
        for provider, spoken in sorted(formats.items())
        for at, format in enumerate(spoken)
    ]
    models = sorted({model for one in names for model in one.models})
    wanted = list(kinds)
    unknown = [kind for kind in wanted if kind not in KINDS]
    if unknown:
        raise ValueError(f"no kind is called {', '.join(unknown)}. Known: {', '.join(KINDS)}.")
    return Plan(wanted or list(KINDS), targets, models, list(providers), limit)
