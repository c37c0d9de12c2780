"""The conformance of syntaxes: ours have it, and one that loses something has not."""

import json
import re

import pytest
from msgspec.structs import replace

from batches import sampled
from canonicall import Opener, Syntax, UnknownName, register_syntax, unregister_syntax
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.registry import get_syntax, syntax_names
from canonicall.testing.conformance import check_syntax


def print_calls(calls):
    return "\n".join(
        f"<<call {json.dumps({'name': call.name, 'arguments': call.args})} call>>" for call in calls
    )


SOUND = Syntax(
    name="mine", openers=(json_opener("<<call", "call>>"),), thinking=(), print_calls=print_calls
)


@pytest.mark.parametrize("name", sampled(syntax_names(), every=9))
def test_every_syntax_conforms(name):
    check_syntax(name).raise_if_broken()


def test_a_syntax_is_checked_without_being_registered():
    report = check_syntax(SOUND).raise_if_broken()
    assert (report.kind, report.subject) == ("syntax", "mine")
    assert {check.state for check in report.checks} == {"held"}
    assert "mine" not in syntax_names()


def test_what_had_the_name_before_is_there_again():
    register_syntax(SOUND)
    try:
        check_syntax(replace(SOUND, models=("mine-*",)))
        assert get_syntax("mine") is SOUND
    finally:
        unregister_syntax("mine")
    before = get_syntax("hermes")
    check_syntax(replace(SOUND, name="hermes"))
    assert get_syntax("hermes") is before


def test_an_unknown_name_is_told():
    with pytest.raises(UnknownName, match="no syntax is called 'nobody'"):
        check_syntax("nobody")


def test_a_syntax_that_nobody_prints_is_judged_by_the_texts_that_are_given():
    silent = replace(SOUND, print_calls=None)
    report = check_syntax(silent, texts=['w1q <<call {"name": "f", "arguments": {}} call>> w2q'])
    assert [one.name for one in report.open] == ["read_again", "words_kept", "detected"]
    assert report["splits"].cases == report["nothing_lost"].cases > 1
    assert report.ok


def forgetful(calls):
    return print_calls([replace(call, args={}) for call in calls])


def talkative(calls):
    return print_calls(calls) + " Over."


def failing(calls):
    raise KeyError("city")


@pytest.mark.parametrize(
    ("printer", "check", "words"),
    [
        (forgetful, "read_again", "is read as [('get_weather', {})]"),
        (talkative, "read_again", "these words are left over: ' Over.'"),
        (failing, "read_again", "KeyError: 'city'"),
        (talkative, "words_kept", "Over."),
        (forgetful, "detected", "read as mine"),
    ],
)
def test_a_printer_that_says_something_else_is_found(printer, check, words):
    report = check_syntax(replace(SOUND, print_calls=printer))
    assert words in " ".join(report[check].evidence)
    assert report[check].state == "broken"


def swallowing(reader, output):
    """Takes whatever comes before the end of a call, and says nothing of it."""
    del output
    yield from reader.match(re.compile(r"[^>]*"), 500)
    yield from reader.accept(">>")
    return True


def hasty(reader, output):
    """Looks at what is there, and does not wait for the rest."""
    call = output.call()
    if not reader.rest.lstrip().startswith("{"):
        return False
    call.name("f")
    yield from reader.blank()
    yield from reader.json_value(call.arguments)
    return call.end()


def raising(reader, output):
    yield from reader.blank()
    raise ValueError("not expected")


@pytest.mark.parametrize(
    ("reader", "check", "words"),
    [
        (swallowing, "nothing_lost", "these are nowhere: w0q"),
        (hasty, "splits", "it says something else"),
        (raising, "splits", "ValueError: not expected"),
    ],
)
def test_a_reader_that_loses_words_or_does_not_wait_is_found(reader, check, words):
    opener = Opener("<<call", reader, closers=("call>>",))
    report = check_syntax(replace(SOUND, openers=(opener,)))
    assert report[check].state == "broken"
    assert words in " ".join(report[check].evidence)
