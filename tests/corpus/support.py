"""Recorded traffic by protocol."""

import json
import os
from pathlib import Path

import pytest

CORPUS = os.environ.get("CANONICALL_CORPUS")
needs_corpus = pytest.mark.skipif(not CORPUS, reason="CANONICALL_CORPUS does not name a folder")


def recorded(protocol):
    """Every record of a protocol."""
    for path in sorted(Path(CORPUS).glob("*.jsonl")) if CORPUS else ():
        for line in path.read_text().splitlines():
            if f'"{protocol}"' in line:
                record = json.loads(line)
                if record["protocol"] == protocol:
                    yield record


def every_record():
    """Every record of every protocol, in one pass."""
    for path in sorted(Path(CORPUS).glob("*.jsonl")) if CORPUS else ():
        for line in path.read_text().splitlines():
            yield json.loads(line)


def each(records, size=50):
    """A test for each record, run in groups: thousands of tests cost more than what they test."""

    def decorate(test):
        def run(records):
            for record in records:
                try:
                    test(record)
                except AssertionError as error:
                    raise AssertionError(f"{record['id']}: {error}") from error

        run.__doc__ = test.__doc__
        run.__name__ = test.__name__
        groups = [records[at : at + size] for at in range(0, len(records), size)]
        ids = [f"from {at}" for at in range(0, len(records), size)]
        return pytest.mark.parametrize("records", groups, ids=ids)(run)

    return decorate


def arguments_in(raw):
    """The arguments of a call; the text itself where it is no JSON."""
    try:
        return json.loads(raw or "{}") or {}
    except ValueError:
        return raw
