"""How the rules of one format are told: for each code a body that is refused and one that is not."""

import ast
from pathlib import Path
from typing import Any, Protocol

import pytest

from canonicall.facts.target import Target
from canonicall.verify import Violation, verify
from canonicall.verify.codes import CODES

SOURCE = Path(__file__).parents[2] / "src" / "canonicall" / "verify"


class Case(Protocol):
    """A body that breaks a rule, and its neighbour that does not."""

    refused: dict[str, Any]
    accepted: dict[str, Any]
    target: Target
    accepted_target: Target | None


class Judge:
    """Asserts what every case of every format has to show."""

    def codes_of(self, *modules: str) -> set[str]:
        """The codes that stand as literals in the source of a format."""
        found: set[str] = set()
        for module in modules:
            tree = ast.parse((SOURCE / f"{module}.py").read_text("utf-8"))
            found |= {
                node.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and node.value in CODES
            }
        return found

    def refuses(self, code: str, case: Case) -> None:
        report = verify(case.refused, case.target)
        assert code in report, str(report)
        for violation in report:
            assert isinstance(violation, Violation)
            assert violation.where.startswith("$")
            assert violation.why
            assert violation.repair
            assert violation.source
            assert violation.action == "refused"
            assert "{" not in violation.error

    def accepts(self, case: Case) -> None:
        report = verify(case.accepted, case.accepted_target or case.target)
        assert not report, str(report)


@pytest.fixture(scope="session")
def judge() -> Judge:
    return Judge()
