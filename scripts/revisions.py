"""Revisions of this repository, each with an interpreter that imports its source.

In: anything that git resolves to a commit, the path of a folder that has `src/canonicall` (it
starts with `.` or `/`), or "" for the working tree. Out: a `Revision`: its source, the interpreter
to use, and the environment to start it with.

A commit is unpacked once to `.revisions/<sha>` and used again; `make clean` removes them. Where its
dependencies and pins equal those of the working tree, the interpreter that runs this module serves
both; otherwise the revision gets a virtual environment. `checkout` fails if the interpreter imports
canonicall from another place than the revision's source.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".revisions"


class RevisionError(Exception):
    """The revision cannot be used, and why."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of the source, and how to run programs against it."""

    label: str
    """What to call it in a report: the name asked for and the start of the commit."""
    folder: Path
    python: Path

    @property
    def source(self) -> Path:
        """The folder to import canonicall from."""
        return self.folder / "src"

    def environment(self) -> dict[str, str]:
        """The environment variables that make `python` import canonicall from `source`."""
        return {**os.environ, "PYTHONPATH": str(self.source)}


def checkout(rev: str) -> Revision:
    """The revision called so, unpacked and with an interpreter that was seen to import it."""
    if rev.startswith((".", "/")):
        folder, label = Path(rev).resolve(), rev
    elif rev:
        sha = _git("rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}").decode().strip()
        folder, label = _unpacked(sha), f"{rev} ({sha[:10]})" if rev not in sha else sha[:10]
    else:
        folder, label = ROOT, "working tree"
    revision = Revision(label, folder, _interpreter(folder))
    _check(revision)
    return revision


def _unpacked(sha: str) -> Path:
    folder = CACHE / sha
    if not folder.exists():
        CACHE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as new:
            tree = Path(new) / "tree"
            with tarfile.open(fileobj=BytesIO(_git("archive", sha))) as archive:
                archive.extractall(tree, filter="data")
            tree.rename(folder)
    return folder


def _interpreter(folder: Path) -> Path:
    if _needs(folder) == _needs(ROOT):
        return Path(sys.executable)
    python = folder / ".venv" / "bin" / "python"
    ready = folder / ".venv" / ".ready-for-tests"
    if not ready.exists():
        print(f"Setting up {python.parent.parent} (once) ...", file=sys.stderr)
        constraints = {"PIP_CONSTRAINT": str(folder / "constraints.txt")}
        install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable")
        _run(sys.executable, "-m", "venv", folder / ".venv")
        _run(python, *install, f"{folder}[dev]", **constraints)
        ready.touch()
    return python


def _needs(folder: Path) -> tuple[object, ...]:
    """What is installed for this source: its dependencies and their pins."""
    if not (folder / "pyproject.toml").exists():
        return _needs(ROOT)
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    pins = folder / "constraints.txt"
    return (
        project.get("requires-python"),
        project.get("dependencies"),
        project.get("optional-dependencies"),
        pins.read_text("utf-8") if pins.exists() else "",
    )


def _check(revision: Revision) -> None:
    code = "import canonicall; print(canonicall.__file__)"
    expected = revision.source / "canonicall" / "__init__.py"
    if not expected.exists():
        raise RevisionError(f"{revision.label}: there is no {expected}")
    imported = subprocess.run(  # noqa: S603 -- the interpreter of the revision
        [revision.python, "-c", code],
        env=revision.environment(),
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    if imported.returncode:
        raise RevisionError(f"{revision.label} cannot be imported:\n{imported.stderr.strip()}")
    if Path(imported.stdout.strip()).resolve() != expected.resolve():
        found = imported.stdout.strip()
        raise RevisionError(f"{revision.label}: canonicall comes from {found}, not {expected}")


def _git(*arguments: str) -> bytes:
    done = subprocess.run(  # noqa: S603 -- git, with arguments of our own
        ["git", *arguments],  # noqa: S607 -- the git on the path
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip() or "not found"
        raise RevisionError(f"git {' '.join(arguments)}: {why}")
    return done.stdout


def _run(*command: str | Path, **variables: str) -> None:
    done = subprocess.run(  # noqa: S603 -- venv and pip
        command, env={**os.environ, **variables}, check=False
    )
    if done.returncode:
        raise RevisionError(f"failed: {' '.join(map(str, command))}")
