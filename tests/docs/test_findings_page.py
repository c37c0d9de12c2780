"""docs/findings.md lists exactly the finding codes of the source, with what is really done.

The codes are read from the syntax tree: every `Finding(...)` is followed to the literals its code can
be. A code that cannot be followed is an error, so none can be added without its row in the table.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from canonicall import (
    Action,
    CallClosed,
    Conversation,
    Finding,
    Message,
    Outcome,
    Text,
    ToolCall,
    ToolResult,
    drop,
    dump,
    load,
    shorten,
)

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "canonicall").rglob("*.py"))
PAGE = ROOT / "docs" / "findings.md"

Function = ast.FunctionDef | ast.AsyncFunctionDef


class CannotFollow(Exception):
    """The code of a finding is not a literal, nor a name that leads to literals."""


class Codes:
    """Follows the codes of the findings that one module makes."""

    def __init__(self, source: str, name: str = "module") -> None:
        self._module = ast.parse(source)
        self._name = name
        self._home: dict[ast.AST, Function | None] = {}
        self._functions: dict[str, list[Function]] = {}
        self._visit(self._module, None)
        self._following: set[tuple[ast.AST, int | None]] = set()

    def all(self) -> set[str]:
        """Every code that a finding of this module can have."""
        return {
            code
            for call in self._calls("Finding")
            for code in self._follow(self._argument(call, 0, "code"), self._home[call])
        }

    def _visit(self, node: ast.AST, home: Function | None) -> None:
        self._home[node] = home
        if isinstance(node, Function):
            self._functions.setdefault(node.name, []).append(node)
            home = node
        for child in ast.iter_child_nodes(node):
            self._visit(child, home)

    def _calls(self, name: str) -> Iterator[ast.Call]:
        for node in ast.walk(self._module):
            if isinstance(node, ast.Call) and _called(node) == name:
                yield node

    def _argument(self, call: ast.Call, position: int, name: str) -> ast.expr:
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        if position < len(call.args) and not any(
            isinstance(argument, ast.Starred) for argument in call.args[: position + 1]
        ):
            return call.args[position]
        raise self._lost(call)

    def _follow(self, node: ast.expr, home: Function | None, item: int | None = None) -> set[str]:
        """The texts that `node` can be; with `item`, those of that place of the tuple it is."""
        if (node, item) in self._following:
            return set()
        self._following.add((node, item))
        try:
            return self._values(node, home, item)
        finally:
            self._following.discard((node, item))

    def _values(self, node: ast.expr, home: Function | None, item: int | None) -> set[str]:
        found: set[str] = set()
        match node:
            case ast.Constant(value=str(code)) if item is None:
                found = {code}
            case ast.Tuple(elts=parts) if item is not None:
                found = self._follow(parts[item], home)
            case ast.IfExp(body=one, orelse=other):
                found = self._follow(one, home, item) | self._follow(other, home, item)
            case ast.Call() if _called(node) in self._functions:
                found = self._returned(_called(node), item)
            case ast.Name(id=name):
                found = self._assigned(name, home, item) or self._passed(name, home, item)
                found = found or self._assigned(name, None, item)
        if not found:
            raise self._lost(node)
        return found

    def _assigned(self, name: str, home: Function | None, item: int | None) -> set[str]:
        """What assignments in `home` give `name`, alone or as one of several."""
        found: set[str] = set()
        for target, value in self._assignments(home):
            if _is_name(target, name):
                found |= self._follow(value, home, item)
            elif isinstance(target, ast.Tuple):
                for place, part in enumerate(target.elts):
                    if _is_name(part, name):
                        found |= self._follow(value, home, place)
        return found

    def _assignments(self, home: Function | None) -> Iterator[tuple[ast.expr, ast.expr]]:
        for node in ast.walk(home or self._module):
            if self._home[node] is not home:
                continue
            match node:
                case ast.Assign(targets=targets, value=value):
                    yield from ((target, value) for target in targets)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    yield target, value
                case ast.NamedExpr(target=target, value=value):
                    yield target, value

    def _passed(self, name: str, home: Function | None, item: int | None) -> set[str]:
        """What callers in this module pass for the parameter `name` of `home`."""
        if home is None:
            return set()
        parameters = [parameter.arg for parameter in (*home.args.posonlyargs, *home.args.args)]
        if name not in parameters and name not in {one.arg for one in home.args.kwonlyargs}:
            return set()
        bound = parameters[:1] in (["self"], ["cls"])
        place = parameters.index(name) - bound if name in parameters else len(parameters)
        found: set[str] = set()
        for call in self._calls(home.name):
            found |= self._follow(self._argument(call, place, name), self._home[call], item)
        return found

    def _returned(self, function: str, item: int | None) -> set[str]:
        return {
            code
            for home in self._functions[function]
            for node in ast.walk(home)
            if isinstance(node, ast.Return) and node.value is not None and self._home[node] is home
            for code in self._follow(node.value, home, item)
        }

    def _lost(self, node: ast.expr) -> CannotFollow:
        return CannotFollow(
            f"{self._name}:{node.lineno}: write the code of the finding as a literal"
        )


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def codes_in_source() -> set[str]:
    return {
        code
        for path in SOURCES
        for code in Codes(path.read_text(encoding="utf-8"), path.name).all()
    }


def documented() -> dict[str, set[str]]:
    """Each code of the page with its actions; a code that stands twice is an error."""
    rows: dict[str, set[str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        match = re.match(r"\| `(\w+)` \| .+ \| ([^|]+) \| [^|]+ \|$", line)
        if match:
            assert match[1] not in rows, f"{match[1]} stands twice"
            rows[match[1]] = set(re.findall(r"`(\w+)`", match[2]))
    return rows


def test_the_page_lists_exactly_the_codes_of_the_source():
    assert set(documented()) == codes_in_source()


def test_the_source_is_really_read():
    assert len(SOURCES) > 10
    assert {"orphan_result", "late_result", "result_pending", "cut_moved"} <= codes_in_source()


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


# A way to provoke each code. What is done about it has to be what the page says.


def _told(*entries: Message) -> Conversation:
    return Conversation.of(entries)


def _call(id: str = "x", **fields: object) -> Message:
    return Message("assistant", (ToolCall(id=id, **{"name": "tool", **fields}),))


def _result(id: str = "x", text: str = "one", **fields: object) -> Message:
    return Message("tool", (ToolResult(call_id=id, content=(Text(text=text),), **fields),))


def _closed(*, after: Iterable[Message] = (), then: Message | None = None) -> Conversation:
    chat = _told(*after)
    chat.close("x", Outcome.UNKNOWN)
    if then is not None:
        chat.append(then)
    return chat


def _circular() -> dict[str, object]:
    value: dict[str, object] = {}
    value["inner"] = value
    return value


def _asked(*entries: Message) -> Conversation:
    return _told(Message("user", (Text(text="Hello " * 100),)), *entries)


PROVOKED: dict[str, Callable[[], Iterable[Finding]]] = {
    "lone_surrogate": lambda: _told(Message("user", (Text(text="\ud83d"),))).report,
    "circular_value": lambda: _told(_call(args=_circular())).report,
    "arguments_unreadable": lambda: _told(_call(raw='{"city": "Ba')).report,
    "arguments_disagree": lambda: _told(_call(args={"a": 1}, raw='{"a": 2}')).report,
    "call_in_wrong_role": lambda: _told(Message("user", _call().blocks)).report,
    "missing_tool_name": lambda: _told(_call(name="")).report,
    "missing_call_id": lambda: _told(_call("")).report,
    "reused_call_id": lambda: _told(_call(), _result(), _call()).report,
    "raw_id_taken_over": lambda: _asked(_call(), _asked().entries[0], _call()).report,
    "result_before_call": lambda: _told(_result(), _call()).report,
    "matched_by_position": lambda: _told(_call(), _result("")).report,
    "orphan_result": lambda: _told(_result()).report,
    "result_pending": lambda: (
        _told(_call(), _result(is_complete=False), _result(), _result(is_complete=False)).report
    ),
    "stand_in_replaced": lambda: (
        *_told(_call(), _result(synthetic=True), _result()).report,
        *_closed(after=(_call(), _result(synthetic=True))).report,
    ),
    "duplicate_result": lambda: _told(_call(), _result(), _result()).report,
    "conflicting_result": lambda: _told(_call(), _result(), _result(text="two")).report,
    "late_result": lambda: _closed(after=[_call()], then=_result()).report,
    "orphan_closing": lambda: _closed().report,
    "outcome_corrected": lambda: (
        _told(_call(), _result(is_complete=False), CallClosed("x", Outcome.NOT_RUN)).report
    ),
    "already_ended": lambda: _closed(after=(_call(), _result())).report,
    "compacted": lambda: drop(_asked(), 1).report,
    "cut_moved": lambda: drop(_asked(_call(), _result()), 2).report,
    "nothing_to_compact": lambda: drop(_asked(), 0).report,
    "shortened": lambda: shorten(_asked(), 100).report,
    "truncated_line": lambda: load(dump(_asked())[:-9]).report,
    "unended_line": lambda: load(dump(_asked())[:-1]).report,
    "unreadable_line": lambda: load(dump(_asked()) + b"?\n", recover=True).report,
}


def test_there_is_a_way_to_provoke_every_code():
    assert set(PROVOKED) == codes_in_source()


@pytest.mark.parametrize("code", PROVOKED)
def test_the_page_says_what_is_done(code):
    """The actions in the table are those that really occur."""
    done = {finding.action.value for finding in PROVOKED[code]() if finding.code == code}
    assert done
    assert done == documented()[code]


def test_the_page_names_every_action():
    assert {f"`{action}`" for action in Action} <= set(
        re.findall(r"`\w+`", PAGE.read_text("utf-8"))
    )
