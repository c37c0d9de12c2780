"""Which tools and which model a talk has."""

import pytest

from canonicall.cli.files import UnusableFile
from canonicall.cli.model_choice import OFFLINE, ModelChoice
from canonicall.cli.tool_choice import choose_tools
from canonicall.client.endpoints import MissingSetting
from canonicall.conversation import Conversation
from canonicall.events import StreamEnded, TextAdded
from canonicall.facts.registry import get_target
from canonicall.request import Request
from canonicall.runtime.model import ModelError
from cli.talks import write_script, write_tools


def test_tools_are_built_in_none_or_those_of_a_file(tmp_path):
    assert "read_file" in choose_tools("builtin")
    assert len(choose_tools("none")) == 0
    assert choose_tools(write_tools(tmp_path)).names == ("weather", "pay", "slow")


def test_a_toolset_in_a_file_counts_and_nothing_twice(tmp_path):
    path = tmp_path / "sets.py"
    path.write_text(
        "from canonicall import Toolset, tool\n"
        "def one() -> str:\n    'One.'\n"
        "def two() -> str:\n    'Two.'\n"
        "BOTH = Toolset.of(one, two)\nAGAIN = BOTH\n"
    )
    assert choose_tools(str(path)).names == ("one", "two")


TWICE = """
from canonicall import tool

@tool
def same() -> str:
    "One."

other = tool(lambda: 1, name="same")
"""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (None, "no such file"),
        ("x = 1", "there is no tool in it"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def (", "SyntaxError"),
        (TWICE, "two tools have this name"),
    ],
)
def test_a_file_without_usable_tools_is_told(tmp_path, source, words):
    path = tmp_path / "tools.py"
    if source is not None:
        path.write_text(source)
    with pytest.raises(UnusableFile, match=words) as told:
        choose_tools(str(path))
    assert str(path) in str(told.value)


@pytest.mark.parametrize(
    ("name", "environ", "words"),
    [
        (OFFLINE, {}, "No provider is named: a small simulated model answers, offline."),
        ("anthropic:claude-sonnet-4-5", {"ANTHROPIC_API_KEY": "sk-x"}, "Anthropic answers."),
        ("ollama:qwen3", {}, "Ollama answers."),
        (
            "generic:m",
            {"GENERIC_BASE_URL": "http://host/v1"},
            "Any OpenAI-compatible host answers.",
        ),
    ],
)
def test_who_answers_is_told_without_any_key(name, environ, words):
    assert ModelChoice(environ=environ).told(name) == words


@pytest.mark.parametrize(
    ("name", "environ", "words"),
    [
        (
            "anthropic:claude-sonnet-4-5",
            {},
            "anthropic: there is no key. Set the variable ANTHROPIC_API_KEY.",
        ),
        (
            "gemini:g",
            {"OPENAI_API_KEY": "sk-x"},
            "Set the variable GEMINI_API_KEY or GOOGLE_API_KEY.",
        ),
        ("openai:m", {"OPENAI_BASE_URL": "http://host/v1"}, "openai: there is no key."),
        ("generic:m", {}, "Give it with --base-url, or set the variable GENERIC_BASE_URL."),
        (
            "bedrock:m",
            {},
            "{region} is not known. Set the variable AWS_REGION or AWS_DEFAULT_REGION.",
        ),
        ("vertex:m", {"GOOGLE_CLOUD_LOCATION": "x", "GOOGLE_CLOUD_PROJECT": "p"}, "`gcloud auth"),
    ],
)
def test_a_provider_that_cannot_be_asked_is_an_error_and_nobody_answers_for_it(
    name, environ, words
):
    with pytest.raises(MissingSetting) as caught:
        ModelChoice(environ=environ).told(name)
    told = str(caught.value)
    assert words in told
    assert told.endswith("Or take the simulated model: --model sim.")
    assert "sk-x" not in told


async def test_a_model_that_was_named_is_never_simulated():
    """Not even if it was not checked before whether it can be asked."""
    talk = Conversation()
    talk.user("Go.")
    model = ModelChoice(environ={})
    with pytest.raises(ModelError, match="there is no key"):
        _ = [event async for event in model.ask(Request(talk), get_target("openai:gpt-5.2"))]
    await model.close()


async def test_words_come_one_by_one_and_make_the_whole(tmp_path):
    text = "Two  spaces, a\nline and an end. "
    path = tmp_path / "script.jsonl"
    write_script(tmp_path, text)
    talk = Conversation()
    talk.user("Go.")
    model = ModelChoice(script=path)
    events = [event async for event in model.ask(Request(talk), get_target(OFFLINE))]
    words = [event.text for event in events if isinstance(event, TextAdded)]
    assert len(words) > 5
    assert "".join(words) == text
    assert isinstance(events[-1], StreamEnded)
    assert events[-1].reply.message.text == text
