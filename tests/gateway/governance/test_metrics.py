"""What Prometheus is shown, read by its own parser."""

import subprocess
import sys

import pytest

from canonicall.gateway.governance.labels import Bounded, ModelNames
from canonicall.gateway.governance.metrics import Metrics
from canonicall.reply import Usage
from canonicall.telemetry.counters import HELP
from gateway.governance.told import begun, served

parser = pytest.importorskip("prometheus_client.parser")


def samples(metrics):
    """All values, by name and labels."""
    return {
        (one.name, *sorted(one.labels.items())): one.value
        for family in parser.text_string_to_metric_families(metrics.text().decode())
        for one in family.samples
    }


def value(metrics, name, **labels):
    return samples(metrics).get((name, *sorted(labels.items())))


def watch(metrics, **fields):
    one = begun(**fields.pop("of", {}))
    metrics.begun(one)
    metrics.ended(served(of=one, **fields))


def test_requests_by_all_that_is_known_of_them():
    metrics = Metrics(["m"])
    watch(metrics)
    watch(metrics)
    watch(metrics, status=502, error="overloaded")
    known = {"front": "anthropic", "model": "m", "provider": "openai"}
    name = "canonicall_requests_total"
    assert value(metrics, name, **known, status="200", error="") == 2
    assert value(metrics, name, **known, status="502", error="overloaded") == 1


def test_times_and_whose_they_are():
    metrics = Metrics()
    watch(metrics, seconds=9.0, first_byte_seconds=0.5, upstream_seconds=0.25)
    watch(metrics, seconds=1.0, upstream_seconds=1.5)
    both = {"front": "anthropic", "provider": "openai"}
    assert value(metrics, "canonicall_request_seconds_sum", **both) == 10.0
    assert value(metrics, "canonicall_first_byte_seconds_count", **both) == 1
    assert value(metrics, "canonicall_upstream_seconds_sum", provider="openai") == 1.75
    assert value(metrics, "canonicall_overhead_seconds_sum", front="anthropic") == 0.25
    assert value(metrics, "canonicall_overhead_seconds_count", front="anthropic") == 2


def test_tokens_by_kind():
    metrics = Metrics(["m"])
    watch(metrics, usage=Usage(100, 20, 30, 0, -5))
    name, known = "canonicall_tokens_total", {"model": "m", "provider": "openai"}
    kinds = ("input", "output", "cache_read", "cache_write", "reasoning")
    counted = [value(metrics, name, **known, kind=kind) for kind in kinds]
    assert counted == [100, 20, 30, None, None]


def test_findings_replies_and_attempts():
    metrics = Metrics()
    watch(metrics, findings=(("call_closed", 2), ("id_changed", 1)), attempts=4, fallbacks=1)
    watch(metrics, findings=(("call_closed", 1),), is_forwarded=True, is_complete=False)
    watch(metrics, error="overloaded", status=503)
    assert value(metrics, "canonicall_findings_total", code="call_closed") == 3
    assert value(metrics, "canonicall_findings_total", code="id_changed") == 1
    name, known = "canonicall_replies_total", {"front": "anthropic", "provider": "openai"}
    assert value(metrics, name, **known, way="translated") == 1
    assert value(metrics, name, **known, way="forwarded") == 1
    assert value(metrics, "canonicall_replies_incomplete_total", **known) == 1
    assert value(metrics, "canonicall_retries_total", provider="openai") == 2
    assert value(metrics, "canonicall_fallbacks_total", provider="openai") == 1


def test_a_request_that_reached_no_provider_is_no_reply():
    metrics = Metrics()
    watch(metrics, target="", status=404, error="not_found", attempts=0)
    assert not any(key[0].startswith("canonicall_replies") for key in samples(metrics))


def test_what_is_open():
    metrics = Metrics()
    first, second = begun(streams=True), begun()
    metrics.begun(first)
    metrics.begun(second)
    assert value(metrics, "canonicall_requests_open") == 2
    assert value(metrics, "canonicall_streams_open") == 1
    metrics.ended(served(of=first))
    assert value(metrics, "canonicall_streams_open") == 0
    assert value(metrics, "canonicall_requests_open") == 1


def test_the_five_counters_have_their_own_names_and_are_counters():
    metrics = Metrics()
    for name in HELP:
        metrics.tally.add("openai", name)
    metrics.tally.add("openai", "tool_calls_repaired")
    text = metrics.text().decode()
    for name, help in HELP.items():
        count = 2 if name == "tool_calls_repaired" else 1
        assert f"# HELP {name} {help}\n# TYPE {name} counter\n" in text
        assert f'\n{name}{{provider="openai"}} {count}.0\n' in text


def test_names_that_clients_make_up_make_no_series():
    metrics = Metrics(["fast", "claude-*"])
    for at in range(200):
        watch(metrics, of={"model": f"made-up-{at}"})
        watch(metrics, of={"model": f"claude-{at}"})
    watch(metrics, of={"model": "fast"})
    models = {dict(key[1:]).get("model") for key in samples(metrics)} - {None}
    assert models == {"other", "claude-*", "fast"}


def test_whatever_comes_the_series_are_bounded():
    metrics = Metrics()
    for at in range(600):
        watch(
            metrics,
            of={"front": f"f{at}"},
            target=f"p{at}:m",
            error=f"e{at}",
            status=at,
            findings=((f"c{at}", 1),),
        )
    by_label = {}
    for key in samples(metrics):
        for label, text in key[1:]:
            by_label.setdefault(label, set()).add(text)
    sizes = {label: len(found) for label, found in by_label.items() if label != "le"}
    assert max(sizes.values()) == 501
    assert all("other" in by_label[label] for label in ("front", "provider", "status", "error"))


def test_after_a_reload_counts_stay_and_other_names_are_known():
    metrics = Metrics(["old"])
    watch(metrics, of={"model": "old"})
    metrics.know_models(["new"])
    watch(metrics, of={"model": "new"})
    watch(metrics, of={"model": "old"})
    models = [dict(key[1:])["model"] for key in samples(metrics) if "requests_total" in key[0]]
    assert models == ["old", "new", "other"]


def test_two_gateways_in_one_process_do_not_mix():
    one, other = Metrics(), Metrics()
    watch(one)
    assert value(one, "canonicall_request_seconds_count", front="anthropic", provider="openai") == 1
    assert not any("seconds_count" in key[0] for key in samples(other))


def test_no_series_says_when_it_was_made():
    metrics = Metrics()
    watch(metrics)
    assert "_created" not in metrics.text().decode()


def test_labels_keep_the_first_names():
    names = Bounded(2)
    assert [names.label(name) for name in "abcab"] == ["a", "b", "other", "a", "b"]
    assert ModelNames(["a*"]).label("") == ""


WITHOUT = """
import sys
sys.modules["prometheus_client"] = None
from canonicall.gateway.governance.metrics import Metrics
try:
    Metrics()
except ImportError as error:
    print(error)
"""

TOGETHER = """
import os
from gateway.governance.told import begun, served
from canonicall.gateway.governance.metrics import Metrics
metrics = Metrics(["m"])
metrics.begun(begun())
if os.fork() == 0:
    metrics.tally.add("openai", "tool_calls_total")
    metrics.ended(served())
    os._exit(0)
os.wait()
metrics.tally.add("openai", "tool_calls_total")
metrics.ended(served())
print(metrics.text().decode())
"""


def ran(program, **environ):
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), **environ},
    )
    return done.stdout


def test_without_the_package_it_says_what_to_install():
    assert ran(WITHOUT).strip().endswith("pip install 'canonicall[server]'")


@pytest.mark.skipif(sys.platform == "win32", reason="workers share one port on POSIX only")
def test_workers_count_together_where_they_have_a_folder(tmp_path):
    text = ran(TOGETHER, PROMETHEUS_MULTIPROC_DIR=str(tmp_path))
    assert 'tool_calls_total{provider="openai"} 2.0' in text
    assert "# TYPE tool_calls_total counter" in text
    counted = [line for line in text.splitlines() if line.startswith("canonicall_requests_total")]
    assert [line.rpartition(" ")[2] for line in counted] == ["2.0"]
