"""The registry of syntaxes: ours, those of other packages, and one's own."""

import sys

import pytest

from canonicall import (
    InvalidValue,
    Syntax,
    UnknownName,
    detect_syntax,
    get_syntax,
    parse,
    register_syntax,
    syntax_names,
    unregister_syntax,
)
from canonicall.syntax import registry
from canonicall.syntax.json_calls import json_opener
from syntax.support import said

CALL = '<say>{"name": "f", "arguments": {"a": 1}}</say>'


def own(name="own", **fields):
    return Syntax(name=name, openers=(json_opener("<say>", "</say>"),), **fields)


@pytest.fixture
def known():
    """The registry as it was, afterwards."""
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)
    _forget()


def _forget():
    registry._known.cache_clear()
    registry.all_syntaxes.cache_clear()


def test_every_syntax_is_there_by_its_name():
    assert len(syntax_names()) > 60
    assert syntax_names() == tuple(sorted(syntax_names()))
    for name in syntax_names():
        assert get_syntax(name).name == name


def test_an_unknown_name_is_an_error_that_knows_the_others():
    with pytest.raises(UnknownName, match="no syntax is called 'hermse'"):
        get_syntax("hermse")
    with pytest.raises(UnknownName, match="hermes"):
        parse("x", syntax="hermse")


@pytest.mark.usefixtures("known")
def test_ones_own_is_read_and_detected_until_it_is_taken_away():
    register_syntax(own(models=("*own-model*",)))
    assert said(parse(CALL, syntax="own").calls) == [("f", {"a": 1})]
    assert detect_syntax(CALL) == "own"
    unregister_syntax("own")
    assert detect_syntax(CALL) is None
    with pytest.raises(UnknownName):
        get_syntax("own")


@pytest.mark.usefixtures("known")
def test_one_of_ours_can_be_replaced_and_comes_back():
    ours = get_syntax("hermes")
    register_syntax(own("hermes"))
    assert get_syntax("hermes") is not ours
    unregister_syntax("hermes")
    assert get_syntax("hermes") is ours


def test_only_a_syntax_can_be_registered():
    with pytest.raises(InvalidValue, match="str is no Syntax"):
        register_syntax("hermes")


def test_taking_away_what_is_not_there_does_nothing():
    unregister_syntax("nobody")


def installed(folder, monkeypatch, entry, module):
    """A package that adds a syntax, as an installer leaves it."""
    info = folder / "other_syntaxes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-syntaxes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[canonicall.syntaxes]\n{entry}\n")
    (folder / "other_syntaxes.py").write_text(module)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "other_syntaxes", raising=False)
    _forget()


MODULE = """
from canonicall import Syntax
from canonicall.syntax.json_calls import json_opener

SAY = Syntax(name="say", openers=(json_opener("<say>", "</say>"),))
"""


@pytest.mark.usefixtures("known")
def test_an_installed_package_adds_its_syntax(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "say = other_syntaxes:SAY", MODULE)
    assert "say" in syntax_names()
    assert said(parse(CALL).calls) == [("f", {"a": 1})]
    assert parse(CALL).syntax == "say"


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("entry", "module", "why"),
    [
        ("say = other_syntaxes:SAY", "SAY = 'hermes'\n", "str is no Syntax"),
        ("say = other_syntaxes:GONE", MODULE, "cannot be loaded"),
        ("say = gone_syntaxes:SAY", MODULE, "cannot be loaded"),
    ],
)
def test_a_wrong_entry_says_which_one_it_is(tmp_path, monkeypatch, entry, module, why):
    installed(tmp_path, monkeypatch, entry, module)
    with pytest.raises(InvalidValue, match=why) as caught:
        syntax_names()
    assert "canonicall.syntaxes" in str(caught.value)
    assert entry.partition(" = ")[2] in str(caught.value)
