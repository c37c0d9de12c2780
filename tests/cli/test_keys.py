"""`canonicall keys new`: a key for clients, and a section for the gateway that does not hold it."""

import hashlib
import json

import pytest
import yaml
from click.testing import CliRunner

from canonicall.cli.verbs import cli
from canonicall.gateway.config import read_settings


def new(*arguments):
    return CliRunner().invoke(cli, ["keys", "new", *arguments])


def test_the_section_is_taken_by_the_gateway_and_holds_only_the_hash():
    done = new("--name", "a desk: #1", "--models", "fast, claude-*", "--expires", "2027-01-31")
    assert done.exit_code == 0
    key = next(
        line.strip() for line in done.output.splitlines() if line.startswith("  sk-canonicall-")
    )
    section = done.output[done.output.index("keys:\n") :]
    assert key not in section
    assert list(yaml.safe_load(section)["keys"]) == ["a desk: #1"]
    made = read_settings(section.encode(), "a.yaml", {}).settings.keys["a desk: #1"]
    assert made.hash == f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"
    assert made.models == ("fast", "claude-*")
    assert made.expires == "2027-01-31"


def test_programs_get_json_and_no_two_keys_are_equal():
    first, second = (json.loads(new("--json").output) for _ in range(2))
    assert first["key"] != second["key"]
    digest = hashlib.sha256(first["key"].encode()).hexdigest()
    assert first["keys"] == {"key": {"hash": f"sha256:{digest}"}}


def test_an_end_can_be_counted_in_days():
    section = json.loads(new("--expires", "90d", "--json").output)["keys"]["key"]
    assert len(section["expires"]) == len("2027-01-31")


@pytest.mark.parametrize("wrong", ["soon", "2027-13-01", "999999d", "-1d"])
def test_an_end_that_is_no_moment_is_refused(wrong):
    done = new("--expires", wrong)
    assert done.exit_code == 2
    assert "Write 2027-01-31, 2027-01-31T12:00Z, or 90d." in done.stderr


@pytest.mark.parametrize("arguments", [[], ["old"]])
def test_there_is_nothing_else_to_do_with_keys(arguments):
    done = CliRunner().invoke(cli, ["keys", *arguments])
    assert done.exit_code == 2
    assert "new" in done.stderr


def test_an_admin_key_opens_the_admin_endpoints():
    for arguments, is_admin in ((("--admin",), True), ((), False)):
        done = new("--name", "operator", *arguments)
        section = done.output[done.output.index("keys:\n") :]
        made = read_settings(section.encode(), "a.yaml", {}).settings.keys["operator"]
        assert made.admin is is_admin
