"""Where results and turns have to stand: B16 to B25 of the field catalogue."""

import pytest
from msgspec.structs import replace

from canonicall import Outcome, wording
from canonicall.facts.registry import get_target
from scenarios.field_support import USER, sent
from scenarios.pairing_support import (
    BACKS,
    call,
    calls,
    chat,
    claude,
    item,
    of,
    output,
    pairs,
    result,
    told,
    use,
)


def one_call_each(target):
    return replace(get_target(target), calls_per_message=1)


@pytest.mark.parametrize("target", ["openai", "vllm", "generic"])
def test_b16_a_target_that_takes_one_call_per_message_gets_the_turn_split(target):
    """Three parallel calls become three steps of one call and its result; words come once."""
    asked = calls(
        call("call_1", "one"), call("call_2", "two"), call("call_3", "three"), content="Hm."
    )
    body = chat(asked, result("call_1", "1"), result("call_2", "2"), result("call_3", "3"))
    made = sent(body, "openai-chat", one_call_each(target)).body
    assert of(made) == [
        ("call", "one"), ("result", "1"), ("call", "two"), ("result", "2"),
        ("call", "three"), ("result", "3"),
    ]  # fmt: skip
    assert [one["content"] for one in made["messages"] if one["role"] == "assistant"] == [
        "Hm.", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "target",
    [
        "anthropic",
        "bedrock",
        "openai/openai-responses",
        "gemini",
        "deepseek",
    ],
)
def test_b17_a_split_history_is_legal_in_every_format(target):
    """The same rule on formats that merge roles: calls and results alternate, none is missing."""
    body = claude(
        [use("toolu_1", "one"), use("toolu_2", "two")], [told("toolu_1", "1"), told("toolu_2", "2")]
    )
    made = sent(body, "anthropic", one_call_each(target)).body
    assert of(made) == [("call", "one"), ("result", "1"), ("call", "two"), ("result", "2")]
    if target == "deepseek":
        thoughts = [one.get("reasoning_content") for one in made["messages"][1::2]]
        assert thoughts == [" ", " "]


@pytest.mark.parametrize(
    ("target", "turns"),
    [("anthropic", "messages"), ("bedrock", "messages"), ("gemini", "contents")],
)
def test_b18_all_results_of_a_turn_share_one_message(target, turns):
    """Three tool messages of a chat client are three results in the next user message."""
    asked = calls(call("call_1", "one"), call("call_2", "two"), call("call_3", "three"))
    body = chat(asked, result("call_1", "1"), result("call_2", "2"), result("call_3", "3"))
    made = sent(body, "openai-chat", target).body[turns]
    assert len(made) == 3
    assert pairs(made[1]) == [("call", "one"), ("call", "two"), ("call", "three")]
    assert pairs(made[2]) == [("result", "1"), ("result", "2"), ("result", "3")]


def responses_in(body):
    parts = [part for content in body["contents"] for part in content["parts"]]
    return [part["functionResponse"] for part in parts if "functionResponse" in part]


@pytest.mark.parametrize("target", ["gemini", "vertex"])
def test_b19_a_function_response_is_named_by_its_call(target):
    """Chat results carry no name, and one carries none but an id like a name: the call decides."""
    body = chat(calls(call("toolu_read_file-1", "write")), result("toolu_read_file-1", "x"))
    (response,) = responses_in(sent(body, "openai-chat", target).body)
    assert response["name"] == "write"


@pytest.mark.parametrize("target", ["gemini", "vertex"])
def test_b20_reversed_results_are_attributed_to_their_own_calls(target):
    """Gemini pairs by name and order, so names and order have to be those of the calls."""
    body = chat(
        calls(call("a", "north"), call("b", "south")), result("b", "warm"), result("a", "cold")
    )
    responses = responses_in(sent(body, "openai-chat", target).body)
    assert responses == [
        {"name": "north", "response": {"output": "cold"}},
        {"name": "south", "response": {"output": "warm"}},
    ]


@pytest.mark.parametrize("target", BACKS)
def test_b21_nothing_is_put_between_a_call_and_its_result(target):
    """Fillers for a missing user turn stand at the ends of the history, never inside a chain."""
    chain = [
        calls(call("call_1", "one")),
        result("call_1", "1"),
        calls(call("call_2", "two")),
        result("call_2", "2"),
    ]
    body = {"model": "m", "messages": [*chain, {"role": "assistant", "content": "Done."}]}
    made = sent(body, "openai-chat", target).body
    turns = [pairs(turn) for turn in made.get("messages") or made.get("input") or made["contents"]]
    first = turns.index([("call", "one")])
    assert first < 2
    assert turns[first : first + 4] == [
        [("call", "one")], [("result", "1")], [("call", "two")], [("result", "2")],
    ]  # fmt: skip


@pytest.mark.parametrize("target", BACKS)
def test_b22_a_system_message_among_the_results_does_not_part_them(target):
    """It stands between two results of one turn; both results stay together, it comes later."""
    system = {"role": "system", "content": "Be brief."}
    asked = calls(call("call_1", "one"), call("call_2", "two"))
    body = chat(
        {"role": "system", "content": "Top."},
        asked,
        result("call_1", "1"),
        system,
        result("call_2", "2"),
    )
    made = sent(body, "openai-chat", target).body
    assert of(made) == [("call", "one"), ("call", "two"), ("result", "1"), ("result", "2")]
    assert str(made).count("Be brief.") == 1
    turns = made.get("messages") or made.get("input") or made["contents"]
    assert str(turns).index("'2'") < str(turns).index("Be brief.")


ROLES = {
    "anthropic": "user",
    "bedrock": "user",
    "gemini": "user",
    "openai": "tool",
    "cohere": "tool",
    "ollama": "tool",
}


@pytest.mark.parametrize("target", ROLES)
def test_b23_a_result_has_the_role_of_its_format(target):
    """Also where the client sent it in the assistant's own message."""
    right = chat(calls(call("call_1")), result("call_1", "x"))
    wrong = claude([use("toolu_1"), told("toolu_1", "x")])
    for body, source in ((right, "openai-chat"), (wrong, "anthropic")):
        made = sent(body, source, target).body
        turns = made.get("messages") or made["contents"]
        holders = [turn["role"] for turn in turns if ("result", "x") in pairs(turn)]
        assert holders == [ROLES[target]]


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "gemini"])
def test_b24_assistant_items_in_a_row_are_one_message(target):
    """Two messages and a call of a Responses client are one turn of the assistant."""
    said = [{"role": "assistant", "content": text} for text in ("One.", "Two.")]
    body = {"input": [USER, *said, item("call_1"), output("call_1", "x")]}
    made = sent(body, "openai-responses", target).body
    turns = made.get("messages") or made["contents"]
    assert [turn["role"] for turn in turns][::2] == ["user", "user"]
    assert len(turns) == 3
    assert all(word in str(turns[1]) for word in ("One.", "Two.", "run"))


EMPTY = {
    "anthropic": None,
    "openai": "",
    "openai/openai-responses": "",
    "mistral": "",
    "bedrock": "said",
    "minimax": "said",
}


@pytest.mark.parametrize("content", [[], "", None])
@pytest.mark.parametrize("target", EMPTY)
def test_b25_a_result_without_content_is_still_a_result(target, content):
    """Two steps with empty results stay two steps; where a text is wanted, one says it was empty."""
    body = claude(
        [use("toolu_1")], [told("toolu_1", content)], [use("toolu_2")], [told("toolu_2", content)]
    )
    encoded = sent(body, "anthropic", target)
    results = [turn.blocks[0] for turn in encoded.transcript.turns[2::2]]
    words = wording(Outcome.COMPLETED) if EMPTY[target] == "said" else ""
    assert [one.text for one in results] == [words, words]
    assert not any(one.error for one in results)
