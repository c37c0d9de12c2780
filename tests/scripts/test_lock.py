"""The file of hashes for releases names what is pinned, all of it, and no place to get it from."""

import re

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.audit import pins
from scripts.revisions import ROOT
from scripts.sbom import NAME, needed

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
ENTRY = re.compile(r"^(\S+==.+?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def requirements():
    """The entries, each read by the rules of pip."""
    return [Requirement(text) for text, _ in ENTRY.findall(LOCK)]


def version(one):
    (pin,) = one.specifier
    return pin.version


def test_every_line_is_a_pin_with_hashes():
    """No host, no option, no requirement without a hash: pip refuses what is not listed."""
    rest = ENTRY.sub("", LOCK).splitlines()
    assert [line for line in rest if not line.startswith("#")] == []
    assert "://" not in LOCK


def test_it_has_the_versions_of_the_constraints():
    """What they do not have is for other platforms."""
    pinned = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    for one in requirements():
        name = canonicalize_name(one.name)
        if name in pinned:
            assert version(one) == pinned[name], name
        else:
            assert not one.marker.evaluate(), name


def test_it_has_all_that_is_needed():
    here = {
        canonicalize_name(one.name)
        for one in requirements()
        if one.marker is None or one.marker.evaluate()
    }
    assert here == set(needed()) - {NAME}
