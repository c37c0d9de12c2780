"""`.ci/run` runs three stages within its budget, and says how long each took, whatever happens."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / ".ci" / "run"
MAKE = """#!/bin/sh
echo "made $1 CI=$CI corpus=$CANONICALL_CORPUS"
test "$1" != "$FAILS"
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="it is a program for bash")


@pytest.fixture
def ran(tmp_path):
    """Runs a copy of it with a `make` that only says what it was asked for."""
    checkout = tmp_path / "checkout"
    (checkout / ".ci").mkdir(parents=True)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "make").write_text(MAKE)
    (programs / "make").chmod(0o755)

    def run(text=None, **env):
        program = checkout / ".ci" / "run"
        program.write_text(text or RUN.read_text())
        own = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", **env}
        command = ["bash", str(program)]
        return subprocess.run(command, env=own, capture_output=True, text=True, check=False)

    return run


def table(done):
    return re.findall(r"^(make [\w-]+|in all) +\d+ s   (.+)$", done.stdout, re.MULTILINE)


def test_three_stages_are_run_in_ci_and_timed(ran, tmp_path):
    (tmp_path / "shared" / "corpus").mkdir(parents=True)
    done = ran()
    assert done.returncode == 0, done.stderr
    corpus = f"CI=true corpus={tmp_path}/shared/corpus"
    made = [line for line in done.stdout.splitlines() if line.startswith("made")]
    assert made == [f"made {name} {corpus}" for name in ("check", "test-all", "demo")]
    stages = [(f"make {name}", "ok") for name in ("check", "test-all", "demo")]
    assert table(done) == [*stages, ("in all", "of 3600")]


def test_the_table_is_there_where_a_stage_fails_and_the_next_are_not_run(ran):
    done = ran(FAILS="test-all", CI="1")
    assert done.returncode != 0
    assert "made demo" not in done.stdout
    assert "CI=1" in done.stdout
    assert table(done)[:2] == [("make check", "ok"), ("make test-all", "failed")]


def test_a_stage_is_stopped_when_the_budget_is_spent(ran):
    assert "budget=3600\n" in RUN.read_text()
    done = ran(RUN.read_text().replace("budget=3600\n", "budget=0\n"))
    assert done.returncode == 124
    assert table(done)[0] == ("make check", "stopped: the budget is spent")
