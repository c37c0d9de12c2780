"""The reference has a table of error texts. Each of them is the answer to a row, and is understood."""

import json
import re
from functools import cache

from canonicall import explain
from canonicall.testing.simulator import Simulator
from components import component
from refusals.test_refusals import ROWS
from testing.asking import ask

HEADING = "## 4. Error-signature table"
# Answers that no single body can provoke.
ELSEWHERE = {
    "in the latest assistant message cannot be modified": "tests/testing/test_seals.py",
    "bound to a different conversation": "tests/testing/test_seals.py",
    "tool_use_failed": "the model made it, not the request",
}


@cache
def patterns():
    """The patterns of the table, in its order."""
    section = (
        (component("reference") / "protocols.md")
        .read_text()
        .partition(HEADING)[2]
        .partition("\n## ")[0]
    )
    cells = [
        line.removeprefix("| ").split(" | ")[0] for line in section.splitlines() if "`" in line
    ]
    return [one.replace("\\|", "|") for cell in cells for one in re.findall(r"`((?:[^`])+)`", cell)]


@cache
def answers():
    return [
        json.dumps(ask(Simulator(row.provider), row.path, row.body)[1]).replace("\\", "")
        for row in ROWS.values()
    ]


def test_every_error_text_is_the_answer_to_a_row():
    assert len(patterns()) > 40
    unsaid = [
        one for one in patterns() if not any(re.search(one, said, re.DOTALL) for said in answers())
    ]
    assert unsaid == list(ELSEWHERE)


def test_every_answer_in_known_words_is_understood():
    known = [said for said in answers() if any(re.search(one, said) for one in patterns())]
    assert [said for said in known if not explain(said)] == []
