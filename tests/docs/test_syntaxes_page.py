"""docs/syntaxes.md lists every syntax, and each sample there is what the syntax reads and prints."""

import re
from pathlib import Path

import pytest

from batches import each
from canonicall import InvalidValue, Tool, ToolCall, get_syntax, parse, syntax_names

PAGE = (Path(__file__).parents[2] / "docs" / "syntaxes.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", re.MULTILINE)
NOW = Tool("now", parameters={"type": "object", "properties": {"zone": {"type": "string"}}})
CALL = ToolCall(name="now", args={"zone": "CET"})


def rows():
    """Names with models and samples, the latter as a model would write them."""
    section = PAGE.partition("\n## All syntaxes\n")[2]
    return {name: (models, _text(sample)) for name, models, sample in ROW.findall(section)}


def _text(cell):
    found = re.fullmatch(r"`` (.*) ``", cell)
    return found[1].replace("\\|", "|").replace("\u21b5", "\n") if found else ""


def test_every_syntax_has_its_row():
    assert tuple(rows()) == syntax_names()


@each("name", syntax_names())
def test_the_sample_is_read_and_printed_so(name):
    models, sample = rows()[name]
    assert models
    print_calls = get_syntax(name).print_calls
    assert print_calls is not None
    if sample:
        assert sample == print_calls((CALL,))
    else:
        with pytest.raises(InvalidValue, match="has no form for calls"):
            print_calls((CALL,))
    called = parse(sample, syntax=name, tools=[NOW]).calls
    assert [(call.name, call.args) for call in called] == (
        [("now", {"zone": "CET"})] if sample else []
    )
