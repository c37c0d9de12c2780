"""docs/violations.md is the table of the judge and of the explainer, in words of their own.

The rows follow from verify/codes.py, verify/streams/codes.py, facts/errors.toml and the files of
hosts alone: the page has to be as they are.
"""

import ast
from pathlib import Path

import pytest

from canonicall.verify.codes import CODES
from canonicall.verify.explainer import explain, table
from canonicall.verify.streams import codes as streams_codes
from canonicall.verify.streams.codes import STREAM_CODES
from finding_codes import codes_in_source

PAGE = Path(__file__).parents[2] / "docs" / "violations.md"
STREAMS = Path(streams_codes.__file__).parent
NOT_RECORDED = "none on record"
FORESEEN = "## What verify finds"
OF_STREAMS = "## What verify_stream finds"
UNFORESEEN = "## What only explain knows"


def foreseen() -> list[str]:
    """A row for each code that a violation can have, in the order of codes.py."""
    return [_row(code, meant.why, _example(code), meant.repair) for code, meant in CODES.items()]


def of_streams() -> list[str]:
    """A row for each code that only a stream can have. Clients differ: no words of one are shown."""
    return [f"| `{code}` | {meant.why} | {meant.repair} |" for code, meant in STREAM_CODES.items()]


def unforeseen() -> list[str]:
    """A row for each code that is only an answer of a provider, in the order of errors.toml."""
    first = {}
    for entry in table():
        if entry.code not in CODES:
            first.setdefault(entry.code, entry)
    return [_row(one.code, one.meaning, one.example, one.repair) for one in first.values()]


def _example(code: str) -> str:
    """The words on record for a code, or for a neighbour that can mean it as well."""
    for entry in table():
        if entry.code == code:
            return entry.example
    return next((entry.example for entry in table() if code in entry.also), "")


def _row(code: str, wrong: str, example: str, repair: str) -> str:
    quoted = f"`` {example.replace('|', chr(92) + '|')} ``" if example else NOT_RECORDED
    return f"| `{code}` | {wrong} | {quoted} | {repair} |"


def shown(heading: str) -> list[str]:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"{heading}\n")
    section = rest.partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize(
    ("heading", "rows"),
    [(FORESEEN, foreseen), (OF_STREAMS, of_streams), (UNFORESEEN, unforeseen)],
    ids=["verify", "verify_stream", "explain"],
)
def test_the_page_is_the_table(heading, rows):
    assert shown(heading) == rows(), "the rows should be:\n" + "\n".join(rows())


def test_every_example_on_the_page_is_understood():
    for code in CODES:
        example = _example(code)
        codes = {
            known for one in explain(example).entries for known in (one.code, *_also(one.code))
        }
        assert not example or code in codes


def _also(code: str) -> set[str]:
    return {other for entry in table() if entry.code == code for other in entry.also}


def test_codes_that_streams_share_with_bodies_are_named():
    section = PAGE.read_text(encoding="utf-8").partition(OF_STREAMS)[2].partition("\n## ")[0]
    shared = sorted(
        {
            node.value
            for path in STREAMS.glob("*.py")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and node.value in CODES
        }
    )
    *first, last = [f"`{code}`" for code in shared]
    assert f"streams have {', '.join(first)} and {last}," in " ".join(section.split())


def test_codes_that_findings_have_too_are_named():
    """A word may stand for a finding and for a violation; the page says which do."""
    both = sorted(codes_in_source() & set(CODES))
    named = ", ".join(f"`{code}`" for code in both)
    assert f"({named})" in " ".join(PAGE.read_text(encoding="utf-8").split())
