"""What is known of a host is in its file: no Python file of the package asks who the provider is."""

import ast
from pathlib import Path

import canonicall
from batches import each
from canonicall.facts.registry import get_profile, provider_names
from canonicall.facts.target import FORMATS

PACKAGE = Path(canonicall.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
NOT_NAMES = {"custom"}
"""Aliases that are words of wire formats: a kind of tool."""
NAMES = {
    name
    for provider in provider_names()
    for name in (provider, *get_profile(provider).aliases)
    if name not in FORMATS
} - NOT_NAMES
ALLOWED = {
    "cli/demo_journey.py": "the route of the demo, in the order it is told",
    "client/redaction.py": "what keys begin with",
    "discovery/tooling.py": "styles of declaring tools, named as seed strategy 10 has them",
    "facts/endpoint.py": "a way of signing requests",
    "facts/names.py": "the names themselves, for type checkers; a test compares them with the files",
    "importing/sessions/pi_messages.py": "what pi calls its APIs",
    "syntax/mistral.py": "the name of a syntax",
    "testing/conformance/talks.py": "origins of made-up conversations",
    "testing/pytest_plugin.py": "the provider that is simulated by default",
    "testing/simulator.py": "the same",
    "testing/strategies/of_blocks.py": "origins of made-up blocks",
    "testing/strategies/of_conversations.py": "origins of made-up conversations",
}
"""Files that write the name of a provider that is not the name of a format, each with the reason."""
COMPARED = {
    # The parsers that users have registered.
    "codec/parsers.py": ["provider in _OWN", "_OWN[provider]"],
}
"""Where a name of a provider is looked for in a table of Python, each with the reason."""


def named_in(file):
    tree = ast.parse(file.read_text())
    found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in found if isinstance(value, str) and value in NAMES}


def is_provider(node):
    """Whether an expression is the name of a provider."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("provider", "provider_name")


def asked_in(file):
    """Comparisons of a provider's name, and tables that are looked up by it."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Compare():
                sides = (node.left, *node.comparators)
                if any(map(is_provider, sides)) and any(map(_is_known, sides)):
                    yield ast.unparse(node)
            case ast.Subscript(slice=key) if is_provider(key) and _is_constant(node.value):
                yield ast.unparse(node)
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[key, *_]):
                if is_provider(key) and _is_constant(owner):
                    yield ast.unparse(node)


def _is_known(node):
    """Whether an expression names providers, or is a table of the module."""
    named = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
    return _is_constant(node) or not named.isdisjoint({*NAMES, *FORMATS})


def _is_constant(node):
    return isinstance(node, ast.Name) and node.id.strip("_").isupper()


@each("file", FILES, ids=[str(file.relative_to(PACKAGE)) for file in FILES])
def test_no_file_names_a_provider_but_these(file):
    where = str(file.relative_to(PACKAGE))
    assert not named_in(file) or where in ALLOWED


@each("file", FILES, ids=[str(file.relative_to(PACKAGE)) for file in FILES])
def test_no_provider_is_compared_by_name(file):
    where = str(file.relative_to(PACKAGE))
    assert set(asked_in(file)) == set(COMPARED.get(where, []))


@each("where", ALLOWED)
def test_what_is_allowed_is_needed(where):
    assert named_in(PACKAGE / where)
