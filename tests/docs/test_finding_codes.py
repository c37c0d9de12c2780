"""The codes of findings are followed through the source, or it is an error."""

import ast

import pytest

from finding_codes import ROOT, SOURCES, CannotFollow, Codes, codes_in_source


def test_the_source_is_really_read():
    assert len(SOURCES) > 100
    codes = {"orphan_result", "late_result", "result_pending", "cut_moved"}
    codes |= {"orphan_not_sent", "choice_weakened", "legacy_function", "name_guessed"}
    assert codes <= codes_in_source()


def test_the_only_other_kind_of_finding_is_the_judges():
    """Violations are not followed: they have a class, a folder, a table and a page of their own."""
    kinds = {
        (node.name, path.relative_to(ROOT / "src" / "canonicall").as_posix())
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Finding" for base in node.bases)
    }
    assert kinds == {("Violation", "verify/violation.py")}
    judged = [path for path in SOURCES if "verify" in path.parts]
    assert all(not Codes(path.read_text(encoding="utf-8")).all() for path in judged)
    made = [path for path in SOURCES if "Violation(" in path.read_text(encoding="utf-8")]
    assert [path.name for path in made] == ["violation.py"]


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ('Finding("a", where)', {"a"}),
        ('findings.Finding(where=w, code="a")', {"a"}),
        ('Finding("a" if x else "b", where)', {"a", "b"}),
        ('def f():\n c = "a"\n if x:\n  c = "b"\n Finding(c)', {"a", "b"}),
        ('def f():\n c, why = "a", "text"\n Finding(c, why)', {"a"}),
        ('def f():\n c, why = g()\n Finding(c)\ndef g():\n return "a", "text"', {"a"}),
        (
            'def f():\n why, c = g() if x else ("t", "b")\n Finding(c)\ndef g():\n return "t", "a"',
            {"a", "b"},
        ),
        ('def f():\n Finding(g())\ndef g():\n if x:\n  return "a"\n return "b"', {"a", "b"}),
        ('C = "a"\ndef f():\n Finding(C)', {"a"}),
        ('class K:\n def note(self, c):\n  Finding(c)\n def f(self):\n  self.note("a")', {"a"}),
        ('def note(x, *, c):\n Finding(c)\nnote(1, c="a")\nnote(2, c="b")', {"a", "b"}),
        ('def f():\n if (c := "a"):\n  Finding(c)', {"a"}),
        ('def f(output):\n output.note("a", Action.KEPT, why)', {"a"}),
    ],
)
def test_codes_are_followed(source, codes):
    """Literal, chosen, assigned, unpacked, returned or passed: the code is found."""
    assert Codes(source).all() == codes


@pytest.mark.parametrize(
    "source",
    [
        'Finding(f"a_{x}")',
        "Finding(*parts)",
        "def f():\n Finding(elsewhere)",
        'Finding(TABLE["a"])',
        "def f():\n c = other.code\n Finding(c)",
        "from canonicall.x import CODE\nFinding(CODE, where)",
    ],
)
def test_a_code_that_cannot_be_followed_is_an_error(source):
    with pytest.raises(CannotFollow, match="as a literal"):
        Codes(source).all()


@pytest.mark.parametrize(
    ("source", "pairs"),
    [
        ('Finding("a", w, Action.KEPT)', {("a", "kept")}),
        ('Finding("a", w, Action.KEPT if x else Action.MOVED)', {("a", "kept"), ("a", "moved")}),
        ('Finding("a" if x else "b", w, Action.KEPT)', {("a", "kept"), ("b", "kept")}),
        ('Finding("a" if x else "b", w, Action.KEPT if x else Action.MOVED)', set()),
        ('output.note("a", Action.KEPT, why)', {("a", "kept")}),
    ],
)
def test_actions_are_followed_where_there_is_no_doubt(source, pairs):
    assert Codes(source).done() == pairs
