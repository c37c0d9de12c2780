"""The names as types are the names of the registry."""

from importlib.resources import files
from typing import get_args

from canonicall import Format, ProviderName
from canonicall.facts.target import FORMATS
from canonicall.wire.formats import get_format


def test_every_built_in_provider_is_a_literal_name():
    profiles = files("canonicall.facts").joinpath("hosts").iterdir()
    built_in = {file.name.removesuffix(".toml") for file in profiles if file.name.endswith(".toml")}
    assert set(get_args(ProviderName)) == built_in
    assert list(get_args(ProviderName)) == sorted(built_in)


def test_every_format_is_a_literal_name():
    folders = files("canonicall.wire").iterdir()
    written = {
        one.name.replace("_", "-")
        for one in folders
        if one.is_dir() and one.joinpath("request.py").is_file()
    }
    assert set(get_args(Format)) == set(FORMATS) == written
    based = files("canonicall.facts").joinpath("formats").iterdir()
    bases = {file.name.removesuffix(".toml") for file in based}
    assert bases == {*written, "openai-compatible"}
    assert [get_format(name).name for name in FORMATS] == list(FORMATS)
