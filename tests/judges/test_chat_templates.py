"""The models' own chat templates judge what is printed, and what they print is read.

A conversation with calls and results is rendered by the template of each model. What we print for
the model's syntax has to stand in it byte for byte, and what stands around it is known.
"""

import pytest
from hypothesis import given

from batches import each
from canonicall import ToolCall, parse, syntax_of_model
from canonicall.errors import InvalidValue
from canonicall.syntax.glm45 import hunyuan_v3_syntax
from canonicall.syntax.registry import get_syntax
from canonicall.testing.strategies import json_objects
from components import component, needs
from judges.template_cases import CASES as OWN_CASES
from judges.template_cases import EXCUSED as OWN_EXCUSED
from judges.template_cases_of_packages import CASES as OTHER_CASES
from judges.template_cases_of_packages import EXCUSED as OTHER_EXCUSED
from judges.templates import (
    ANSWER,
    TOOLS,
    answered,
    calls_without,
    question,
    rendered,
    reply,
    results_of,
)

pytestmark = [needs("templates"), pytest.mark.deep]
CASES = {**OWN_CASES, **OTHER_CASES}
EXCUSED = {**OWN_EXCUSED, **OTHER_EXCUSED}
every_template = each("name", CASES)
PRINTED_CALLS = [name for name, case in CASES.items() if not case.calls_differ]
PRINTED_ALL = [name for name in PRINTED_CALLS if not CASES[name].left_out]
WITH_RESULTS = [name for name, case in CASES.items() if get_syntax(case.syntax).print_results]
PRINTED_RESULTS = [name for name in WITH_RESULTS if not CASES[name].results_differ]


def calls_for(case, left_out, count=None):
    """Calls as many as the template can say, unless a count says how many."""
    return calls_without(left_out, case.id)[: count or case.counts[-1]]


def syntax_of(case):
    return hunyuan_v3_syntax(case.suffix) if case.suffix else get_syntax(case.syntax)


def reply_for(case, calls):
    return reply(calls, content=case.content, encoded=case.encoded)


def conversation(name, calls):
    """All between the question and the answer, as the template prints it."""
    case = CASES[name]
    messages = [question(), reply_for(case, calls), *answered(results_of(calls))]
    return rendered(name, messages, is_mutable=case.is_mutable).partition(ANSWER)[0]


def turn(name, calls):
    """The turn of the model, as the template prints it."""
    case = CASES[name]
    text = rendered(name, [question(), reply_for(case, calls)], is_mutable=case.is_mutable)
    before = case.form.partition("CALLS")[0]
    assert text.startswith(before)
    return text.removeprefix(before)


def test_every_template_is_judged_or_excused():
    found = {path.stem for path in component("templates").glob("*.jinja")}
    assert found == {*CASES, *EXCUSED}


@each("name", PRINTED_CALLS)
def test_calls_are_printed_as_the_template_does(name):
    case = CASES[name]
    before, between = case.form.partition("RESULTS")[0].split("CALLS")
    for count in case.counts:
        calls = calls_for(case, case.left_out, count)
        expected = before + syntax_of(case).print_calls(calls) + between
        assert conversation(name, calls)[: len(expected)] == expected


@given(json_objects())
def test_any_arguments_are_printed_as_the_template_does(args):
    for name in PRINTED_ALL:
        case = CASES[name]
        id = case.id.format(index=0, name="now")
        calls = (ToolCall(id=id, name="now", args=args),) * case.counts[0]
        try:
            printed = syntax_of(case).print_calls(calls)
        except InvalidValue:
            continue  # a syntax without escapes cannot say every value; templates print it wrongly
        if case.indents and len(printed.splitlines()) > len(printed.split("\n")):
            continue
        assert printed in conversation(name, calls), name


@each("name", PRINTED_RESULTS)
def test_results_are_printed_as_the_template_does(name):
    case = CASES[name]
    between, after = case.form.partition("CALLS")[2].split("RESULTS")
    for count in case.counts:
        calls = calls_for(case, case.left_out, count)
        expected = between + syntax_of(case).print_results(results_of(calls)) + after
        assert conversation(name, calls)[-len(expected) :] == expected


@each("name", [one for one in PRINTED_CALLS if one in PRINTED_RESULTS])
def test_nothing_else_is_printed_between_question_and_answer(name):
    case = CASES[name]
    calls = calls_for(case, case.left_out)
    printed = syntax_of(case).print_calls(calls)
    expected = case.form.replace("RESULTS", syntax_of(case).print_results(results_of(calls)))
    assert conversation(name, calls) == expected.replace("CALLS", printed)


@every_template
@pytest.mark.parametrize("syntax", ["named", "auto"])
def test_what_the_template_prints_is_read(name, syntax):
    case = CASES[name]
    calls = calls_for(case, case.unread)
    named = case.syntax if syntax == "named" else "auto"
    parsed = parse(turn(name, calls), syntax=named, tools=TOOLS)
    assert [(one.name, one.args) for one in parsed.calls] == [(one.name, one.args) for one in calls]


@each("name", [one for one, case in CASES.items() if not case.adds_words])
def test_nothing_of_the_template_is_left_in_the_words(name):
    case = CASES[name]
    parsed = parse(turn(name, calls_for(case, case.unread)), syntax=case.syntax, tools=TOOLS)
    assert parsed.text.strip() == ""


@each("name", [one for one, case in CASES.items() if not case.is_taught])
def test_the_syntax_is_known_by_the_name_of_the_model(name):
    assert syntax_of_model(CASES[name].model or name) == CASES[name].syntax


@pytest.mark.parametrize("name", [one for one, case in CASES.items() if case.calls_differ])
def test_calls_that_differ_do_differ(name):
    calls = calls_for(CASES[name], ())
    assert syntax_of(CASES[name]).print_calls(calls) not in conversation(name, calls)


@pytest.mark.parametrize("name", [one for one in WITH_RESULTS if CASES[one].results_differ])
def test_results_that_differ_do_differ(name):
    case = CASES[name]
    calls = calls_for(case, ())
    printed = syntax_of(case).print_results(results_of(calls))
    assert printed not in conversation(name, calls)
