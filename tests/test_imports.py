"""Each module can be the first that is imported: none counts on another having been before it."""

import subprocess
import sys
from pathlib import Path

import pytest

import canonicall

ROOT = Path(canonicall.__file__).parent
# In one process, each module anew: what it imports of the package is forgotten before the next.
ALONE = """
import importlib, sys
for name in sys.argv[1:]:
    for known in [one for one in sys.modules if one.partition(".")[0] == "canonicall"]:
        del sys.modules[known]
    importlib.import_module(name)
"""


def modules(folder):
    paths = sorted((ROOT / folder).rglob("*.py"))
    names = [".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in paths]
    return [name for name in names if not name.endswith(("__main__", "__init__"))]


@pytest.mark.parametrize("folder", ["testing", "transcript", "verify", "wire", "facts"])
def test_every_module_can_come_first(folder):
    names = modules(folder)
    assert len(names) > 5
    done = subprocess.run(
        [sys.executable, "-c", ALONE, *names], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
