"""The bill of materials of an installation: `python -m scripts.sbom > canonicall.cdx.json`.

In: the metadata of what is installed here. Out: CycloneDX JSON with the library, everything that
its extra `all` needs on this platform, and what needs what. Of each: name, version, licence and
package URL. The licence is what the distribution says of itself.
"""

import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from typing import NamedTuple

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License, LicenseAcknowledgement
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NAME, EXTRA = "canonicall", "all"
_LONGEST_NAME = 100
"""Characters. Some distributions have the whole text of their licence where its name belongs."""
_CLASSIFIER = "License :: "


class Needs(NamedTuple):
    """A distribution, and the names of what it needs."""

    found: Distribution
    names: set[str]


def needed(name: str = NAME, extra: str = EXTRA) -> dict[str, Needs]:
    """What is installed because of a distribution with an extra, itself first."""
    made: dict[str, Needs] = {}
    seen = set()
    open = [(canonicalize_name(name), one) for one in ("", extra)]
    while open:
        name, extra = open.pop(0)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        one = made.setdefault(name, Needs(distribution(name), set()))
        for requirement in _requirements(one.found, extra):
            other = canonicalize_name(requirement.name)
            one.names.add(other)
            open += [(other, wanted) for wanted in ("", *sorted(requirement.extras))]
    return made


def _requirements(found: Distribution, extra: str) -> Iterator[Requirement]:
    """What it requires here, with the extra or without any."""
    for text in found.requires or ():
        one = Requirement(text)
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            yield one


def bill(needs: dict[str, Needs]) -> Bom:
    """The bill for a distribution and what it needs; the first is the subject."""
    components = {name: _component(one.found) for name, one in needs.items()}
    subject, *others = components.values()
    made = Bom(components=others)
    made.metadata.component = subject
    for name, one in needs.items():
        below = (components[other] for other in sorted(one.names - {name}))
        made.register_dependency(components[name], below)
    return made


def _component(found: Distribution) -> Component:
    name = canonicalize_name(found.metadata["Name"])
    url = PackageURL("pypi", name=name, version=found.version)
    return Component(
        name=name,
        version=found.version,
        type=ComponentType.LIBRARY,
        purl=url,
        bom_ref=url.to_string(),
        licenses=list(_licences(found)),
    )


def _licences(found: Distribution) -> Iterator[License]:
    factory = LicenseFactory()
    for text in _licence_names(found):
        yield factory.make_from_string(
            text, license_acknowledgement=LicenseAcknowledgement.DECLARED
        )


def _licence_names(found: Distribution) -> Iterable[str]:
    """Its expression; without one its name; without one what classifies it."""
    fields = found.metadata.json
    said = str(fields.get("license_expression") or fields.get("license", "")).strip()
    if said and len(said) <= _LONGEST_NAME:
        return [said]
    classes = found.metadata.get_all("Classifier") or ()
    return [one.rpartition(" :: ")[2] for one in classes if one.startswith(_CLASSIFIER)]


if __name__ == "__main__":
    sys.stdout.write(JsonV1Dot6(bill(needed())).output_as_string(indent=2) + "\n")
