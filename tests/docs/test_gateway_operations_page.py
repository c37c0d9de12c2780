"""docs/gateway-operations.md shows keys, endpoints, metrics and log lines as they are."""

import io
import json
import re
from pathlib import Path

import pytest

from canonicall.gateway import operations
from canonicall.gateway.config import KeySettings
from canonicall.gateway.governance.metrics import Metrics
from canonicall.gateway.governance.request_log import RequestLog
from canonicall.reply import Usage
from canonicall.telemetry.counters import HELP
from docs.test_docs import table
from gateway.governance.told import begun, served

PAGE = (Path(__file__).parents[2] / "docs" / "gateway-operations.md").read_text(encoding="utf-8")


def watched():
    """Metrics that have seen everything once."""
    metrics = Metrics(["m"])
    for name in HELP:
        metrics.tally.add("openai", name)
    fields = {"attempts": 3, "fallbacks": 1, "is_complete": False, "usage": Usage(1, 1)}
    times = {"first_byte_seconds": 0.5, "upstream_seconds": 0.1}
    metrics.begun(begun())
    metrics.ended(served(findings=(("call_closed", 1),), **fields, **times))
    return metrics.text().decode()


def test_every_metric_with_its_type_and_labels():
    pytest.importorskip("prometheus_client")
    text = watched()
    expected = []
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        sample = re.search(rf"^{name}(?:_sum)?(?:{{(.*)}})? \S+$", text, re.MULTILINE)
        labels = sorted(re.findall(r'(\w+)="', sample[1] or ""))
        expected.append([f"`{name}`", kind, ", ".join(f"`{label}`" for label in labels)])
    assert [row[:3] for row in table(PAGE, "metric")] == expected


def test_every_field_of_a_key_with_its_default():
    defaults = [
        f"`{getattr(KeySettings(hash=''), name)!r}`" for name in KeySettings.__struct_fields__
    ]
    defaults[0] = "required"
    assert [row[:2] for row in table(PAGE, "field") if len(row) == 3] == [
        [f"`{name}`", default]
        for name, default in zip(KeySettings.__struct_fields__, defaults, strict=True)
    ]


def test_every_field_of_a_line_of_the_log():
    file = io.BytesIO()
    log = RequestLog(file, bodies=True)
    log.ended(served())
    log.close()
    fields = [row[0] for row in table(PAGE, "field") if len(row) == 2]
    assert fields == [f"`{name}`" for name in json.loads(file.getvalue())]


def test_every_endpoint_with_its_method():
    """The docstring lists them; the routes are tested by name."""
    listed = re.findall(r"^ +(GET|POST) +(\S+) {2,}", operations.__doc__, re.MULTILINE)
    shown = [[cell.strip("`") for cell in row[:2]] for row in table(PAGE, "path")]
    assert shown == [[path, method] for method, path in listed]
    plain = {path for _, path in listed if "{" not in path}
    assert plain == {*operations._ROUTES, *operations._ADMIN_ROUTES}
