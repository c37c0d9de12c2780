"""What has to hold of the paths in the findings of an encoded request."""

import re

from canonicall import get_rule
from canonicall.facts.target import FORMATS
from canonicall.findings import Action

TARGETS = (*FORMATS, "mistral", "deepseek", "openai:gpt-5")
STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def found_at(path, body):
    """The value at a path; an error where there is none."""
    assert path.startswith("$")
    assert "".join(step[0] for step in STEP.finditer(path)) == path[1:]
    for name, number in STEP.findall(path):
        body = body[name] if name else body[int(number)]
    return body


def check(report, came_in, encoded):
    for one in report:
        if one.came:
            found_at(one.came, came_in)
        if one.went:
            found_at(one.went, encoded.body)
        if one.rule:
            target = encoded.target
            assert get_rule(one.rule, format=target.format, model=target.model).source
        assert one.action is not Action.ADDED or not one.came
        assert one.action not in (Action.DROPPED, Action.SET_ASIDE) or not one.went
