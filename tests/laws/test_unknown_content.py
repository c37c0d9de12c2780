"""A part or a field that a format does not have: the target accepts what is sent, and what was lost
has a finding.

The table is every part of every format, and parts of none, in every list of parts of every format's
request, and one more field in every object.
"""

import json
from functools import cache

import pytest

from canonicall import CanonicallError, translate, verify
from unknown_content import BASES, FIELD, PARTS, with_field, with_part

from bodies import DISTINCT

REFUSED = {("gemini", "responses file")}
"""`file_data` is a field of Gemini too, in another form: refused with its path."""


@cache
def plain(format, target):
    """The request of a format for a target, with nothing put in."""
    sent = translate(BASES[format], format, DISTINCT[target])
    return json.dumps(sent.body), sent.report.findings


def faults(format, cases, targets):
    """What is wrong with what is sent: objections of the judge, and losses in silence."""
    for name, place, body in cases:
        for target in targets:
            try:
                sent = translate(body, format, DISTINCT[target])
            except CanonicallError as error:
                if (format, name) not in REFUSED:
                    yield name, place, target, repr(error)
                continue
            for one in verify(sent.body, sent.target):
                yield name, place, target, one.code, one.where
            data, before = plain(format, target)
            is_lost = json.dumps(sent.body) == data
            if is_lost and not any(one not in before for one in sent.report):
                yield name, place, target, "lost in silence"


def parts(format):
    for name, part in PARTS.items():
        for place, body in with_part(format, part):
            yield name, place, body


def fields(format):
    for value in ("x", {"a": 1}):
        for place, body in with_field(format, value):
            yield f"{FIELD} {value!r}", place, body


def some(format):
    """Every target of the format itself, and one of each other format."""
    others = {target.format: name for name, target in DISTINCT.items() if target.format != format}
    own = [name for name, target in DISTINCT.items() if target.format == format]
    return [*own, *others.values()]


@pytest.mark.parametrize("format", BASES)
def test_a_part_that_the_format_does_not_have(format):
    assert list(faults(format, parts(format), some(format))) == []


@pytest.mark.parametrize("format", BASES)
def test_a_field_that_the_format_does_not_have(format):
    assert list(faults(format, fields(format), some(format))) == []


@pytest.mark.deep
@pytest.mark.parametrize("format", BASES)
def test_for_every_target(format):
    assert list(faults(format, [*parts(format), *fields(format)], DISTINCT)) == []


IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
BARE = {"image_url": {"url": "https://example.com/a.png"}}


@pytest.mark.parametrize("part", [IMAGE, BARE])
def test_an_image_of_another_format_in_a_result_is_shown(part):
    body = json.loads(json.dumps(BASES["openai-chat"]))
    body["messages"][3]["content"].append(part)
    sent = translate(body, "openai-chat", "anthropic")
    shown = sent.body["messages"][2]["content"][0]["content"]
    assert shown == [{"type": "text", "text": "42"}, IMAGE]
    assert "foreign_part" in sent.report
    again = translate(body, "openai-chat", "openai")
    assert again.body["messages"][4]["content"][1] == {"type": "image_url", **BARE}
