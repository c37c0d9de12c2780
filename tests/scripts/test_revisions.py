import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import revisions
from scripts.revisions import ROOT, Revision, RevisionError, checkout

_HAS_HISTORY = (
    shutil.which("git") is not None
    and subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True).returncode == 0  # noqa: PLW1510, S607
)
needs_history = pytest.mark.skipif(not _HAS_HISTORY, reason="this is not a git work tree")


def test_no_name_is_the_working_tree():
    revision = checkout("")
    assert revision.source == ROOT / "src"
    assert revision.environment()["PYTHONPATH"] == str(ROOT / "src")


def test_a_folder_serves_in_place_of_a_revision(tmp_path):
    _package(tmp_path / "src" / "canonicall")
    revision = checkout(str(tmp_path))
    assert _imported(revision) == tmp_path / "src" / "canonicall" / "__init__.py"


@needs_history
def test_a_commit_is_unpacked_once_and_imported_from_there(tmp_path, monkeypatch):
    monkeypatch.setattr(revisions, "CACHE", tmp_path / "cache")
    first = checkout("HEAD")
    assert first.source.is_relative_to(tmp_path / "cache")
    assert _imported(first) == first.source / "canonicall" / "__init__.py"
    mark = first.folder / "mark"
    mark.touch()
    assert checkout("HEAD") == first
    assert mark.exists()


@needs_history
def test_a_name_that_git_does_not_know_is_an_error():
    with pytest.raises(RevisionError, match="no-such-revision"):
        checkout("no-such-revision")


def test_a_folder_without_the_package_is_an_error(tmp_path):
    with pytest.raises(RevisionError, match="there is no"):
        checkout(str(tmp_path))


def test_a_source_that_cannot_be_imported_is_an_error(tmp_path):
    _package(tmp_path / "src" / "canonicall", "raise ValueError('broken on purpose')")
    with pytest.raises(RevisionError, match="broken on purpose"):
        checkout(str(tmp_path))


def test_an_interpreter_that_imports_another_source_is_an_error(tmp_path):
    _package(tmp_path / "src" / "canonicall")
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho /elsewhere/canonicall/__init__.py\n")
    python.chmod(0o755)
    with pytest.raises(RevisionError, match="comes from /elsewhere"):
        revisions._check(Revision("scratch", tmp_path, python))


def test_other_pins_ask_for_another_interpreter(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    assert revisions._needs(tmp_path) == revisions._needs(ROOT)
    with (tmp_path / "constraints.txt").open("a") as pins:
        pins.write("one-more==1.0\n")
    assert revisions._needs(tmp_path) != revisions._needs(ROOT)


def _package(folder: Path, code: str = "") -> None:
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(code)


def _imported(revision: Revision) -> Path:
    code = "import canonicall; print(canonicall.__file__)"
    done = subprocess.run(
        [revision.python, "-c", code],
        env=revision.environment(),
        capture_output=True,
        check=True,
        text=True,
    )
    return Path(done.stdout.strip())
