"""explain knows what people report, in every form that it is pasted in, and nothing else."""

import json
import time

import pytest

from batches import each
from canonicall.testing.simulator import Simulator
from canonicall.verify import explain, verify
from canonicall.verify.explainer import table
from refusals.test_refusals import every_row
from testing.asking import ask
from verify.error_words import WORDS
from verify.unrelated_words import UNRELATED

LINE = "2026-01-01 12:00:00 INFO worker[3]: the turn took 1.2 s\n"
ERROR = (
    "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"
)


def codes(error):
    return [entry.code for entry in explain(error).entries]


def in_json(words):
    return json.dumps({"error": {"message": words, "code": None}})


def of_python(words):
    return (
        f"Error code: 400 - {{'error': {{'message': {words!r}, 'type': 'invalid_request_error'}}}}"
    )


def of_litellm(words):
    return f"litellm.BadRequestError: SomeException - {in_json(words)}. Received Model Group=some"


def of_genai(words):
    said = {"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}
    return f"google.genai.errors.ClientError: 400 INVALID_ARGUMENT. {said}"


def of_boto(words):
    where = "(ValidationException) when calling the Converse operation"
    return f"botocore.errorfactory.ValidationException: An error occurred {where}: {words}"


def of_openrouter(words):
    inner = {"raw": in_json(words), "provider_name": "Some"}
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": inner}}


def of_a_comment(words):
    return "/**\n * 400 " + words.replace(" ", "\n *  ")


def of_a_terminal(words):
    """Broken into lines, with a frame at their side, as coding agents show it."""
    return "  ⎿ API Error: 400 " + words.replace(" ", " \n  │   ")


@each(("code", "words"), WORDS)
def test_what_people_report_is_known(code, words):
    assert codes(words) == [code]


@pytest.mark.parametrize(
    "wrap",
    [in_json, of_python, of_litellm, of_genai, of_boto, of_openrouter, of_a_terminal, of_a_comment],
)
def test_it_is_known_in_every_form(wrap):
    # A number alone, and what a whole body holds, are known without words around them only.
    missed = [
        (words, code, codes(wrap(words)))
        for code, words in WORDS
        if "{" not in words and codes(wrap(words))[:1] != [code]
    ]
    assert missed == []


@each("words", UNRELATED)
def test_of_other_errors_nothing_is_known(words):
    assert codes(words) == []


@pytest.mark.parametrize("status", ["429", "HTTP 503", "401", "400 Bad Request"])
def test_a_status_alone_says_a_little(status):
    assert len(codes(status)) == 1


def test_vague_words_give_way():
    assert codes("Error code: 400 - Provider returned error") == ["reason_not_told"]
    assert codes(f"Error code: 500 - Provider returned error: {ERROR}") == ["missing_result"]


@each("entry", table(), ids=lambda entry: entry.code)
def test_what_lies_outside_of_the_request_is_never_the_judge_s(entry):
    assert not (entry.outside and entry.also)


@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_an_error_is_found_in_a_long_log(place):
    lines = [LINE] * 20_000
    lines.insert(int(place * len(lines)), f"ERROR {ERROR}\n")
    text = "".join(lines)
    assert len(text) > 1_000_000
    start = time.perf_counter()
    (entry,) = explain(text).entries
    assert time.perf_counter() - start < 20
    assert entry.code == "missing_result"
    assert entry.places == ("messages.3", "toolu_1")


@pytest.mark.parametrize(
    "text",
    [
        "error " * 170_000,
        '"' * 1_000_000,
        "\n " * 500_000,
        "\\" * 1_000_000,
        "[[1," * 250_000,
        '{"a": "' * 140_000,
    ],
)
def test_a_long_text_takes_no_longer_than_it_must(text):
    """Seconds on a slow machine; a pattern that goes back over its text would take hours."""
    start = time.perf_counter()
    explain(text)
    assert time.perf_counter() - start < 20


@every_row
def test_what_the_simulators_answer_is_known(row):
    """A new refusal whose words nothing here knows wants an entry in errors.toml."""
    _, answer = ask(Simulator(row.provider), row.path, row.body)
    told = explain(answer)
    meant = {entry.code for entry in told.entries}
    meant |= {code for entry in table() if entry.code in meant for code in entry.also}
    judged = {one.code for one in verify(row.body, row.target)}
    assert told, answer
    assert not judged or meant & judged, (answer, judged)
