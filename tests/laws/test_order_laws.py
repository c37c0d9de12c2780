"""L3, checked in the source: no result depends on the order of a set, which differs by process."""

import ast
from collections.abc import Iterator
from pathlib import Path

import canonicall

SOURCE = Path(canonicall.__file__).parent

# Sets whose order has no effect.
HARMLESS = {
    "_FIELDS.keys() & body.keys()": "marks are counted; their order has no effect",
    "_MESSAGE_FIELDS.keys() & message.keys()": "marks are counted; their order has no effect",
    "_NUMBERS & node.keys()": "only whether there is one",
    "set(comments)": "a table for lookups",
}
_METHODS = ("union", "difference", "intersection", "symmetric_difference")
_OPERATORS = (ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)


def test_nothing_is_done_in_the_order_of_a_set():
    found = [
        (path.relative_to(SOURCE).as_posix(), ast.unparse(walked))
        for path in sorted(SOURCE.rglob("*.py"))
        for walked in in_order(ast.parse(path.read_text("utf-8")))
        if is_set(walked) and ast.unparse(walked) not in HARMLESS
    ]
    assert found == []


def test_the_order_of_sets_is_seen():
    code = "for a in b.keys() - c: ...\n[x for x in {1, 2}]\nlist(set(y))\nsorted(z.keys() & q)\n"
    seen = [ast.unparse(one) for one in in_order(ast.parse(code)) if is_set(one)]
    assert sorted(seen) == ["b.keys() - c", "set(y)", "{1, 2}"]


def in_order(tree: ast.Module) -> Iterator[ast.expr]:
    """Every expression that is iterated over."""
    for node in ast.walk(tree):
        match node:
            case ast.For(iter=walked) | ast.Starred(value=walked):
                yield walked
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                yield from (one.iter for one in node.generators)
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[walked, *_]):
                yield walked
            case ast.Call(func=ast.Attribute(attr="join"), args=[walked]):
                yield walked


def is_set(node: ast.expr) -> bool:
    match node:
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
            return True
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _METHODS
        case ast.BinOp(left=left, op=operator, right=right):
            return isinstance(operator, _OPERATORS) and any(map(_is_set_or_keys, (left, right)))
    return False


def _is_set_or_keys(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="keys")):
            return True
    return is_set(node)
