"""A change of a copy of the source is found in its kind and its group, and nothing else is found.

The copy is changed at its public names, so that these tests do not depend on where a rule is.
"""

import json
import shutil

import pytest

from corpus.support import needs_corpus
from scripts.golden.__main__ import main
from scripts.revisions import ROOT

pytestmark = [pytest.mark.deep, needs_corpus]

SENTENCE = """
from msgspec.structs import replace as _replace

def _reworded(finding):
    return _replace(finding, why=finding.why + " Indeed.") if finding.code == CODE else finding

def encode_request(*arguments, _original=_exported("encode_request"), **options):
    made = _original(*arguments, **options)
    report = type(made.report).of(map(_reworded, made.report))
    return _replace(made, report=report)
"""
BYTE = """
from msgspec.structs import replace as _replace

def encode_request(*arguments, _original=_exported("encode_request"), **options):
    made = _original(*arguments, **options)
    if made.target.provider != "mistral" or not made.body.get("model"):
        return made
    return _replace(made, body={**made.body, "model": made.body["model"] + "x"})
"""
VIOLATION = """
from msgspec.structs import replace as _replace

def verify(*arguments, _original=verify):
    report = _original(*arguments)
    renamed = (_replace(one, code="other_code") if one.code == CODE else one for one in report)
    return type(report).of(renamed)
"""
EVENT = """
class StreamDecoder(_exported("StreamDecoder")):
    def feed(self, data):
        finish = _exported("FinishReported")
        events = super().feed(data)
        return [finish(one.finish + "_x") if isinstance(one, finish) else one for one in events]
"""
EXCEPTION = """
def encode_request(request, target, _original=_exported("encode_request")):
    if target == "mistral":
        raise ValueError("not for mistral")
    return _original(request, target)
"""
NO_SIMULATORS = """
_sys.modules["canonicall.testing"] = None
"""
HEAD = """
import sys as _sys

CODE = {code!r}

def _exported(name):
    return getattr(_sys.modules[__name__], name)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the source, and the text of its top module."""
    folder = tmp_path_factory.mktemp("scratch")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    return folder, (folder / "src/canonicall/__init__.py").read_text("utf-8")


@pytest.fixture
def diff(copy, capsys):
    """The groups of differences between the working tree and a changed copy, by name."""

    def found(change, code="", **options):
        folder, text = copy
        changed = text + HEAD.format(code=code) + change if change else text
        (folder / "src/canonicall/__init__.py").write_text(changed, "utf-8")
        named = [f"--{name}={value}" for name, value in options.items()]
        status = main(["diff", "", "--after", str(folder), "--quiet", "--json", *named])
        assert status == 0
        value = json.loads(capsys.readouterr().out)
        return {(one["kind"], one["path"], one["codes"]): one for one in value["groups"]}

    return found


def test_an_unchanged_copy_has_no_differences(diff):
    """Two processes with other hash seeds give equal answers of every kind."""
    assert diff("", limit=25) == {}


def test_a_sentence_of_a_finding_is_found(diff):
    kinds = "body,findings,wording"
    found = diff(SENTENCE, "fields_dropped", kinds=kinds, providers="gemini,openai", limit=60)
    assert set(found) == {("wording", "sentence", "fields_dropped")}
    group = found["wording", "sentence", "fields_dropped"]
    assert all(one["after"].endswith("Indeed.") for one in group["examples"])


def test_a_byte_of_a_body_of_one_provider_is_found(diff):
    found = diff(BYTE, kinds="body,findings", providers="mistral,openai,groq", limit=40)
    assert set(found) == {("body", "model", "")}
    (group,) = found.values()
    assert set(group["providers"]) == {"mistral"}
    assert len(group["examples"]) == 3
    example = group["examples"][0]
    assert example["after"] == example["before"] + "x"


def test_a_violation_with_another_code_is_found(diff):
    found = diff(VIOLATION, "bad_call_id", kinds="violations,body", providers="mistral", limit=150)
    assert set(found) == {
        ("violations", "removed", "bad_call_id"),
        ("violations", "added", "other_code"),
    }


def test_an_event_of_a_stream_is_found(diff):
    found = diff(EVENT, kinds="stream,vectors", providers="openai", limit=400)
    assert ("stream", "events[].finish", "") in found
    assert {kind for kind, _, _ in found} == {"stream"}
    targets = {one["target"] for group in found.values() for one in group["examples"]}
    assert all(target.startswith("events") for target in targets)


def test_an_exception_is_an_answer_and_ends_nothing(diff):
    found = diff(EXCEPTION, kinds="body", providers="mistral,openai", limit=20)
    assert set(found) == {("body", "ValueError raised", "")}
    (group,) = found.values()
    assert set(group["providers"]) == {"mistral"}
    assert {one["after"] for one in group["examples"]} == {"not for mistral"}


def test_a_driver_that_fails_is_an_error(copy, capfd):
    folder, text = copy
    broken = text + HEAD.format(code="") + NO_SIMULATORS
    (folder / "src/canonicall/__init__.py").write_text(broken, "utf-8")
    assert main(["diff", "", "--after", str(folder), "--quiet", "--limit", "5"]) == 1
    assert "the driver failed with" in capfd.readouterr().err


@pytest.mark.parametrize("arguments", [["no-such-revision"], ["", "--kinds", "bodies"]])
def test_a_question_that_cannot_be_asked_is_an_error(arguments, capsys):
    assert main(["diff", *arguments]) == 2
    assert capsys.readouterr().err
