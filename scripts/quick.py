"""Run the tests that mirror what was changed since a revision, committed or not: `make quick`.

A changed test file is run itself. For a changed module the tests that are named after it are run,
or else those of the folder that mirrors its own. `mirror` is the rule, and says why.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
NOTHING_RAN = 5
"""The exit code of pytest where every test was left out."""
FEW = 3
"""As many files are run sooner without other processes."""


class Choice(NamedTuple):
    """The tests for one changed file, and why it is these."""

    changed: str
    tests: list[str]
    why: str


def changed_since(revision: str) -> list[str]:
    """Files that differ from a revision, and those that git does not know yet."""
    listing = (
        ["diff", "--name-only", "--no-renames", revision, "--"],
        ["ls-files", "--others", "--exclude-standard"],
    )
    return sorted({line for one in listing for line in _git(*one).splitlines()})


def _git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  what is run is written here
        ["git", *arguments],  # noqa: S607  whichever git people have
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def mirror(changed: str, root: Path = ROOT) -> Choice:
    """The tests for a changed file."""
    path = Path(changed)
    first, *folders = path.parent.parts or ("",)
    if first == "tests":
        return _of_tests(path, root)
    if first == "src":
        return _of_module(path, Path("tests", *folders[1:]), root)
    if first == "scripts":
        return _of_module(path, Path("tests", "scripts"), root)
    if path.suffix == ".md":
        return Choice(changed, ["tests/docs"], "the documentation is checked there")
    return Choice(changed, [], "no test mirrors it")


def _of_tests(path: Path, root: Path) -> Choice:
    changed = path.as_posix()
    if not (root / path).exists():
        return Choice(changed, [], "it is gone")
    if path.name.startswith("test_"):
        return Choice(changed, [changed], "it is a test itself")
    if path.parent != Path("tests"):
        return Choice(changed, [path.parent.as_posix()], "it supports the tests of its folder")
    imports = re.compile(rf"^(from|import) {path.stem}\b", re.MULTILINE)
    files = sorted((root / "tests").rglob("test_*.py"))
    used = [one for one in files if imports.search(one.read_text("utf-8"))]
    return Choice(changed, [str(one.relative_to(root)) for one in used], "these import it")


def _of_module(path: Path, folder: Path, root: Path) -> Choice:
    """Tests named after the module; else its folder, or the nearest one above that is mirrored."""
    changed = path.as_posix()
    named = sorted((root / folder).glob(f"test_{path.stem}*.py"))
    if named:
        found = [str(one.relative_to(root)) for one in named]
        return Choice(changed, found, "named after it")
    while folder != Path("tests"):
        if (root / folder).is_dir():
            return Choice(changed, [folder.as_posix()], "the folder that mirrors its own")
        beside = folder.parent / f"test_{folder.name}.py"
        if (root / beside).exists():
            return Choice(changed, [beside.as_posix()], "named after its folder")
        folder = folder.parent
    return Choice(changed, [], "no test mirrors it")


def without_inner(tests: list[str]) -> list[str]:
    """Each test once: a file in a folder that is run as a whole is left out."""
    every = sorted(set(tests))
    return [one for one in every if not any(Path(two) in Path(one).parents for two in every)]


def main(revision: str) -> int:
    choices = [mirror(one) for one in changed_since(revision)]
    if not choices:
        print(f"Nothing has changed since {revision}: there is nothing to run.")
        return 0
    for choice in choices:
        print(f"{choice.changed}: {' '.join(choice.tests) or 'nothing'} ({choice.why})")
    tests = without_inner([test for choice in choices for test in choice.tests])
    if not tests:
        print("No test mirrors what has changed: `make test` runs them all.")
        return 0
    few = len(tests) <= FEW and all(one.endswith(".py") for one in tests)
    workers = "0" if few else "auto"
    run = [sys.executable, "-m", "pytest", "-q", "-n", workers, "-m", "not deep", *tests]
    code = subprocess.run(run, cwd=ROOT, check=False).returncode  # noqa: S603  the same
    return 0 if code == NOTHING_RAN else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
