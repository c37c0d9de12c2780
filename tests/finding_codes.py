"""Follows the codes of findings through the source, and reads the tables of docs/findings.md.

Every `Finding(...)` is followed to the literals its code can be. A code that cannot be followed is an
error, so none can be added without its row in a table. Only findings are followed: a `Violation` is
made by `canonicall.verify` alone, from a table of its own, and has a page of its own.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "canonicall").rglob("*.py"))
PAGE = ROOT / "docs" / "findings.md"

ABOUT_CONVERSATIONS = (
    "While appending: values",
    "While appending: calls",
    "While appending: results and closings",
    "While compacting",
    "While loading",
)
ABOUT_TEXT = "While reading calls in text"
ABOUT_BODIES = ("While reading a body", "While rendering", "While writing a body")
ABOUT_SESSIONS = "While reading a session"
ABOUT_CALLS = ("While checking a call", "While making a result")
ABOUT_GATEWAY = "In the gateway"

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
            for call, _ in self._made()
            for code in self._follow(self._argument(call, 0, "code"), self._home[call])
        }

    def done(self) -> set[tuple[str, str]]:
        """Codes with an action each, where the source leaves no doubt that they go together."""
        pairs: set[tuple[str, str]] = set()
        for call, place in self._made():
            home = self._home[call]
            codes = self._follow(self._argument(call, 0, "code"), home)
            actions = self._follow(self._argument(call, place, "action"), home)
            if len(codes) == 1 or len(actions) == 1:
                pairs |= {(code, action) for code in codes for action in actions}
        return pairs

    def _made(self) -> Iterator[tuple[ast.Call, int]]:
        """Where findings are made, with the place of the action: here, or by a note that another
        module makes a finding of."""
        for call in self._calls("Finding"):
            yield call, 2
        for call in self._calls("note"):
            if "note" not in self._functions:
                yield call, 1

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
            case ast.Attribute(value=ast.Name(id="Action"), attr=action) if item is None:
                found = {action.lower()}
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


@cache
def codes_in_source() -> set[str]:
    return {code for module in modules() for code in module.all()}


@cache
def done_in_source() -> dict[str, set[str]]:
    """Each code with the actions that the source certainly has for it."""
    found: dict[str, set[str]] = {}
    for module in modules():
        for code, action in module.done():
            found.setdefault(code, set()).add(action)
    return found


def modules() -> Iterator[Codes]:
    """Those that make findings; of the others nothing has to be followed."""
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if "Finding(" in text or "note(" in text:
            yield Codes(text, path.relative_to(ROOT).as_posix())


def sections() -> dict[str, list[str]]:
    """The lines of the page by heading."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        found.setdefault(heading, []).append(line)
    return found


def documented(*headings: str) -> dict[str, set[str]]:
    """Each code under these headings with its actions; a code that stands twice is an error."""
    rows: dict[str, set[str]] = {}
    for heading in headings:
        for line in sections()[heading]:
            match = re.match(r"\| `(\w+)` \| .+ \| ([^|]+) \| [^|]+ \|$", line)
            if match:
                assert match[1] not in rows, f"{match[1]} stands twice"
                rows[match[1]] = set(re.findall(r"`(\w+)`", match[2]))
    return rows
