"""The history of a framework is refused by its name, wherever it is given for a request."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall import ForeignHistory, MalformedBody, decode_request, read_document, translate
from canonicall.cli.verbs import cli
from canonicall.facts.target import FORMATS
from canonicall.frameworks import SHAPES, framework_shape
from foreign_histories import HISTORIES
from gateway_support import World, ask

FIELDS = {"gemini": "contents", "openai-responses": "input"}
JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["ai", "request", "tool-call", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "type", "kind", "parts", "content", "data", "toolCallId"]),
            inner,
        )
    ),
    max_leaves=12,
)


def test_every_shape_of_the_table_has_an_example():
    found = [framework_shape(history) for history in HISTORIES.values()]
    assert set(found) == set(SHAPES)


@each("format", FORMATS)
@each(("looks_like", "history"), HISTORIES.items())
def test_no_format_decodes_it(format, looks_like, history):
    body = {FIELDS.get(format, "messages"): history}
    for given_as in (body, json.dumps(body).encode(), json.dumps(history)):
        with pytest.raises(ForeignHistory) as caught:
            decode_request(given_as, format)
        assert looks_like in str(caught.value)
        assert f"which is not a request of {format}. " in str(caught.value)
    with pytest.raises(MalformedBody, match="this looks like a"):
        translate(body, format, "anthropic")


@each(("looks_like", "history"), HISTORIES.items())
def test_no_document_is_read_from_it(looks_like, history):
    for value in (history, {"messages": history}, history[-1] if "UI" in looks_like else history):
        with pytest.raises(ForeignHistory) as caught:
            read_document(json.dumps(value).encode())
        assert looks_like in str(caught.value)


@pytest.mark.parametrize(
    "verb", [["check", "--as"], ["fix", "--as"], ["convert", "--to"], ["import"]], ids="/".join
)
@each(("looks_like", "history"), HISTORIES.items())
def test_every_verb_says_what_it_is(verb, tmp_path, looks_like, history):
    file = tmp_path / "history.json"
    for data in (json.dumps(history), json.dumps(history, indent=2)):
        file.write_text(data)
        options = [*verb[1:], "anthropic"] if verb[1:] else ["-o", str(tmp_path / "out")]
        done = CliRunner().invoke(cli, [verb[0], str(file), *options])
        assert done.exit_code == 1, done.output
        assert looks_like in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize("back", ["openai/openai-chat", "anthropic"])
@each(("looks_like", "history"), HISTORIES.items())
async def test_the_gateway_refuses_it_and_asks_no_provider(back, looks_like, history):
    world = World()
    gateway = world.gateway()
    body = {"model": f"{back}:some-model", "messages": history}
    answer = await ask(gateway, "/v1/chat/completions", body)
    assert answer.status == 400
    assert looks_like in answer.json["error"]["message"]
    assert not any(one.seen for one in world.simulators.values())
    await gateway.close()


@given(JSON)
def test_nothing_raises(value):
    for held in (value, [value], {"messages": value}, {"input": [value]}):
        framework_shape(held)
