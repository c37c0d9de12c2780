"""`make quick` chooses the tests that mirror a changed file."""

import subprocess
from pathlib import Path

import pytest

from scripts import quick

ROOT = Path(__file__).parents[2]

TREE = (
    "tests/test_ids.py",
    "tests/test_streams.py",
    "tests/bodies.py",
    "tests/laws/test_id_laws.py",
    "tests/wire/support.py",
    "tests/wire/test_reasoning.py",
    "tests/wire/gemini/test_tools.py",
    "tests/wire/gemini/test_tools_search.py",
    "tests/docs/test_docs.py",
    "tests/scripts/test_quick.py",
)


@pytest.fixture
def root(tmp_path):
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("from bodies import BASES\n" if "laws" in name else "")
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/canonicall/ids.py", ["tests/test_ids.py"]),
        (
            "src/canonicall/wire/gemini/tools.py",
            ["tests/wire/gemini/test_tools.py", "tests/wire/gemini/test_tools_search.py"],
        ),
        ("src/canonicall/wire/gemini/errors.py", ["tests/wire/gemini"]),
        ("src/canonicall/wire/cohere/errors.py", ["tests/wire"]),
        ("src/canonicall/wire/__init__.py", ["tests/wire"]),
        ("src/canonicall/wire/gemini/facts.toml", ["tests/wire/gemini"]),
        ("src/canonicall/streams/frames.py", ["tests/test_streams.py"]),
        ("src/canonicall/nobody.py", []),
        ("tests/wire/test_reasoning.py", ["tests/wire/test_reasoning.py"]),
        ("tests/wire/test_gone.py", []),
        ("tests/wire/support.py", ["tests/wire"]),
        ("tests/bodies.py", ["tests/laws/test_id_laws.py"]),
        ("scripts/quick.py", ["tests/scripts/test_quick.py"]),
        ("docs/streams.md", ["tests/docs"]),
        ("README.md", ["tests/docs"]),
        ("pyproject.toml", []),
    ],
)
def test_a_changed_file_has_the_tests_that_mirror_it(root, changed, tests):
    choice = quick.mirror(changed, root)
    assert choice.tests == tests
    assert choice.why


def test_every_module_here_has_tests_or_the_reason_why_not():
    """The rule finds something for nearly all of our own modules, and all that it finds exists."""
    modules = sorted((ROOT / "src").rglob("*.py"))
    choices = [quick.mirror(one.relative_to(ROOT).as_posix()) for one in modules]
    assert all((ROOT / test).exists() for one in choices for test in one.tests)
    assert len([one for one in choices if one.tests]) > 0.9 * len(choices)


def test_a_file_is_not_run_twice():
    assert quick.without_inner(["tests/a", "tests/a/test_b.py", "tests/test_c.py", "tests/a"]) == [
        "tests/a",
        "tests/test_c.py",
    ]


def test_changes_are_those_in_commits_in_files_and_of_new_files(tmp_path, monkeypatch):
    def git(*arguments):
        who = ("-c", "user.name=t", "-c", "user.email=t@t.test")
        command = ["git", *who, *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(quick, "ROOT", tmp_path)
    git("init")
    for name in ("committed.py", "edited.py", "same.py", "deleted.py"):
        (tmp_path / name).write_text("1\n")
    git("add", ".")
    git("commit", "-m", "first")
    (tmp_path / "committed.py").write_text("2\n")
    git("commit", "-am", "second")
    (tmp_path / "edited.py").write_text("2\n")
    (tmp_path / "deleted.py").unlink()
    (tmp_path / "new.py").write_text("1\n")
    assert quick.changed_since("HEAD") == ["deleted.py", "edited.py", "new.py"]
    every = ["committed.py", "deleted.py", "edited.py", "new.py"]
    assert quick.changed_since("HEAD~1") == every


def test_without_changes_nothing_is_run(monkeypatch, capsys):
    monkeypatch.setattr(quick, "changed_since", lambda revision: [])
    assert quick.main("HEAD") == 0
    assert capsys.readouterr().out == "Nothing has changed since HEAD: there is nothing to run.\n"


def test_what_is_chosen_is_said_and_run(monkeypatch, capsys):
    ran = []

    def run(command, **options):
        ran.append(command[command.index("-n") :])
        return subprocess.CompletedProcess(command, 5)

    monkeypatch.setattr(quick, "changed_since", lambda revision: ["README.md", "Makefile"])
    monkeypatch.setattr(subprocess, "run", run)
    assert quick.main("HEAD") == 0
    assert ran == [["-n", "auto", "-m", "not deep", "tests/docs"]]
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "Makefile: nothing (no test mirrors it)",
        "README.md: tests/docs (the documentation is checked there)",
    ]
