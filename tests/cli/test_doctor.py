"""`canonicall doctor`: packages and keys, and never the value of one."""

import json
from importlib import metadata

import pytest
from click.testing import CliRunner

from canonicall.cli import doctor
from canonicall.cli.verbs import cli


def run(*arguments, **env):
    return CliRunner(env=env).invoke(cli, ["doctor", *arguments])


def test_packages_are_those_that_the_installation_names():
    told = json.loads(run("--json").stdout)
    packages = {one["name"]: one for one in told["packages"]}
    assert packages["msgspec"]["installed"] == metadata.version("msgspec")
    assert packages["msgspec"]["extra"] == ""
    assert packages["click"]["extra"] == packages["rich"]["extra"] == "cli"
    assert len(packages) == len(told["packages"])
    assert not {"pytest", "hypothesis", "mistral-common"} & set(packages)  # only tests need these


def test_a_missing_package_comes_with_the_command_that_installs_it(monkeypatch):
    known = metadata.version
    gone = metadata.PackageNotFoundError

    def version(name):
        if name == "rich":
            raise gone(name)
        return known(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    done = run()
    assert done.exit_code == 0
    assert "missing" in done.stdout
    assert "pip install 'canonicall[cli]'" in done.stdout


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_keys_are_named_and_never_shown(arguments):
    done = run(*arguments, OPENAI_API_KEY="sk-very-secret", ANTHROPIC_API_KEY="")
    assert done.exit_code == 0
    assert "OPENAI_API_KEY" in done.stdout
    assert "secret" not in done.output
    if arguments:
        keys = {one["provider"]: one for one in json.loads(done.stdout)["keys"]}
        assert keys["openai"]["present"] == ["OPENAI_API_KEY"]
        assert keys["anthropic"]["present"] == []


def test_what_vertex_takes_for_a_key_is_said():
    assert "gcloud auth print-access-token" in " ".join(run().stdout.split())
    keys = {one["provider"]: one for one in json.loads(run("--json").stdout)["keys"]}
    assert "lasts an hour" in keys["vertex"]["help"]
    assert keys["openai"]["help"] == ""


def test_versions_are_those_of_the_version_verb():
    version = json.loads(CliRunner().invoke(cli, ["version", "--json"]).stdout)
    assert version.items() <= json.loads(run("--json").stdout)["versions"].items()


def test_it_takes_no_arguments():
    assert run("me").exit_code == 2
