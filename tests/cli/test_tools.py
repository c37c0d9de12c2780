"""`canonicall tools convert`: the list it prints, what it says about it, how it ends."""

import json

import pytest
from click.testing import CliRunner

from canonicall import translate_tools
from canonicall.cli.verbs import cli
from canonicall.wire.formats import FORMATS

PLAIN = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
FUSSY = {"type": "object", "properties": {"q": {"type": "string", "not": {"const": ""}}}}


def function(name, schema):
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def convert(value, *arguments):
    given = value if isinstance(value, str) else json.dumps(value)
    return CliRunner().invoke(cli, ["tools", "convert", "-", *arguments], input=given)


@pytest.mark.parametrize("target", [*FORMATS, "kimi", "mistral:mistral-large-latest"])
def test_the_list_is_what_the_library_makes(target):
    tools = [function("find", PLAIN)]
    done = convert(tools, "--to", target)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == translate_tools(tools, "openai-chat", target).tools
    assert "1 tool, openai-chat to" in done.stderr


def test_losses_are_told_on_standard_error():
    done = convert([function("find", FUSSY)], "--to", "gemini")
    assert done.exit_code == 0
    assert "schema_weakened" in done.stderr
    assert "tools[0].parameters#/properties/q" in done.stderr
    assert "Nothing was lost" not in done.stderr


def test_json_has_the_list_and_what_was_done():
    done = convert({"tools": [function("find it", FUSSY)]}, "--to", "gemini", "--json")
    told = json.loads(done.stdout)
    assert (told["from"], told["to"], done.stderr) == ("openai-chat", "gemini", "")
    (declared,) = told["tools"][0]["functionDeclarations"]
    assert told["names"] == {declared["name"]: "find it"}
    assert "schema_weakened" in [finding["code"] for finding in told["findings"]]


def test_a_name_that_changed_is_told():
    done = convert([function("find it", PLAIN)], "--to", "anthropic")
    (made,) = json.loads(done.stdout)
    assert f"find it is called {made['name']} there." in " ".join(done.stderr.split())


def test_strict_makes_every_function_strict():
    done = convert([function("find", PLAIN)], "--to", "openai", "--strict")
    (made,) = json.loads(done.stdout)
    assert made["function"]["strict"] is True
    assert made["function"]["parameters"]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (function("find", FUSSY), "`not` is not taken"),
        ({"type": "web_search_20250305", "name": "web_search"}, "web_search"),
    ],
)
def test_without_losses_a_loss_is_an_error(tool, told):
    done = convert([tool], "--to", "gemini", "--no-loss")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.startswith("canonicall: error: standard input: ")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_losses_what_only_changes_its_words_is_fine():
    said = {"type": "object", "properties": {"unit": {"const": "celsius"}}}
    done = convert([function("find", said)], "--to", "gemini", "--no-loss")
    assert done.exit_code == 0
    assert "schema_reworded" in done.stderr


@pytest.mark.parametrize("empty", ["[]", '{"tools": []}'])
def test_no_tools_are_no_tools(empty):
    done = convert(empty, "--to", "gemini")
    assert (done.exit_code, json.loads(done.stdout)) == (0, [])
    assert "0 tools" in done.stderr


@pytest.mark.parametrize(
    ("data", "told"),
    [("", "nothing in it"), ("{", "not JSON"), ("{}", "no list of tools"), ("[7]", "Name the")],
)
def test_what_is_no_list_is_told_in_one_line(data, told):
    done = convert(data, "--to", "gemini")
    assert (done.exit_code, done.stdout) == (1, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_tool_that_is_damaged_is_told_with_its_place():
    done = convert([function("find", PLAIN), 7], "--to", "gemini")
    assert done.exit_code == 1
    assert "$.tools[1]" in done.stderr


@pytest.mark.parametrize(
    "arguments", [(), ("--to", "gemeni"), ("--to", "gemini", "--from", "canonical")]
)
def test_wrong_arguments_end_with_2(arguments):
    done = convert([], *arguments)
    assert (done.exit_code, done.stdout) == (2, "")


def test_an_unknown_target_is_told_what_there_is():
    said = convert([], "--to", "gemeni").stderr
    assert "Did you mean 'gemini'?" in said
    assert "openai-responses" in said


def test_the_help_has_an_example():
    shown = CliRunner().invoke(cli, ["tools", "convert", "--help"]).stdout
    assert "\n    canonicall tools convert" in shown
    assert max(map(len, shown.splitlines())) <= 80
