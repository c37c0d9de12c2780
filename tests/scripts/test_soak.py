"""A soak of one minute ends well, and one that sees something wrong does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.soak.__main__ import grown
from scripts.soak.fronts import Answer, Unexpected, outcome
from scripts.soak.upstream import KEY

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.deep
@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_minute_of_mixed_load_and_faults():
    """What workers use still grows in the first minute: only what clients saw counts here."""
    run = subprocess.run(
        [sys.executable, "-m", "scripts.soak", "1"],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=dict(os.environ),
        text=True,
        timeout=300,
    )
    assert "unexpected outcomes: 0" in run.stdout, run.stdout + run.stderr
    assert "worker kills" in run.stdout
    assert "full disks" in run.stdout


def test_growth_beyond_a_tenth_since_the_second_quarter_is_told():
    steady = [100.0, 200.0, 230.0, 219.0]
    assert grown({"steady": steady}) == []
    assert grown({"steady": steady, "leak": [1.0, 200.0, 210.0, 221.0]}) == [
        "leak: 1.10 times the second quarter in the last"
    ]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, "application/json", b"<html>"),
        Answer(502, "application/json", b'{"message":"no envelope"}'),
        Answer(502, "application/json", b'{"error":{"message":"no type of the front"}}'),
        Answer(200, "text/event-stream", b'event: message_stop\ndata: {"type":"message_stop"}\n\n'),
        Answer(200, "application/json", b'{"type":"message","content":"%b"}' % KEY.encode()),
        Answer(
            500, "application/json", b'{"type":"error","error":{"message":"The gateway failed"}}'
        ),
    ],
)
def test_an_answer_that_no_client_can_use_is_unexpected(answer):
    with pytest.raises(Unexpected):
        outcome("anthropic", answer)
