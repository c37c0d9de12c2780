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


def named(records):
    return [pytest.param(record, id=record["id"]) for record in records]
