"""What tells providers apart is a field of the target; the judge compares no names."""

import ast
from pathlib import Path

from batches import each
from canonicall.verify import judge

FILES = sorted(Path(judge.__file__).parent.rglob("*.py"))


@each("file", FILES, ids=[file.stem for file in FILES])
def test_no_rule_asks_who_the_provider_is(file):
    """The explainer may: whose words an error is in is a fact about the provider, as data."""
    compared = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Compare)
        and any(
            isinstance(part, ast.Attribute) and part.attr == "provider"
            for side in (node.left, *node.comparators)
            for part in ast.walk(side)
        )
    ]
    assert compared == (["target.provider in entry.providers"] if file.stem == "explainer" else [])
