"""The files that one request passes can be counted, for any revision."""

import pytest

from scripts.revisions import checkout
from scripts.trace_path import PATHS, lines_of


@pytest.mark.deep
def test_the_paths_of_the_working_tree_are_followed():
    """Each begins and ends in the package, and nothing that only serves tests is on it."""
    revision = checkout("")
    files = {name: trace(revision) for name, trace in PATHS.items()}
    assert all(lines_of(found, revision) > 0 for found in files.values())
    assert not any(one.startswith(("testing/", "cli/")) for one in files["library"])
    assert any(one.startswith("gateway/") for one in files["gateway"])
    assert not any(one.startswith("gateway/") for one in files["library"])
