"""The bill of materials is valid CycloneDX, and has everything that a release needs."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from scripts.audit import pins
from scripts.revisions import ROOT
from scripts.sbom import NAME, needed


@pytest.fixture(scope="module")
def text():
    command = [sys.executable, "-W", "error", "-m", "scripts.sbom"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def bill(text):
    return json.loads(text)


def test_it_is_valid(text):
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_it_has_every_dependency(bill):
    """By name, version, licence and address; the versions are those of the lock."""
    assert bill["metadata"]["component"]["purl"] == f"pkg:pypi/{NAME}@{version(NAME)}"
    locked = pins((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    components = {one["name"]: one for one in bill["components"]}
    assert len(components) > 40
    assert set(components) == set(needed()) - {NAME}
    for name, one in components.items():
        assert one["version"] == locked[name], name
        assert one["purl"] == f"pkg:pypi/{name}@{locked[name]}"
        assert one["licenses"], name


def test_it_says_what_needs_what(bill):
    below = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    names = {ref.partition("@")[0].removeprefix("pkg:pypi/"): refs for ref, refs in below.items()}
    assert f"pkg:pypi/msgspec@{version('msgspec')}" in names[NAME]
    assert f"pkg:pypi/yarl@{version('yarl')}" in names["aiohttp"]
    reached, open = set(), [bill["metadata"]["component"]["purl"]]
    while open:
        ref = open.pop()
        if ref not in reached:
            reached.add(ref)
            open += below[ref]
    assert reached == set(below)
