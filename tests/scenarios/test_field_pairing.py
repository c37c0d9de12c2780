"""Results that are doubled, missing, orphaned or out of order: B1 to B15 of the field catalogue."""

from itertools import permutations

import pytest

from canonicall import Outcome, StateElsewhere, wording
from canonicall.transcript.policy import Policy
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


@pytest.mark.parametrize("target", BACKS)
def test_b1_two_results_for_one_call_become_one(target):
    """A resumed session repeats an id with other words: the first stands, the other is reported."""
    body = chat(calls(call("call_1")), result("call_1", "one"), USER, result("call_1", "two"))
    encoded = sent(body, "openai-chat", target)
    assert of(encoded.body) == [("call", "run"), ("result", "one")]
    assert "conflicting_result" in encoded.report
    assert "result_not_sent" in encoded.report


@pytest.mark.parametrize("target", BACKS)
def test_b2_an_id_used_twice_in_one_message_names_two_calls(target):
    """Two calls share an id and two results as well: both pairs are sent, under ids of their own."""
    asked = calls(call("call_1", "first"), call("call_1", "second"))
    body = chat(asked, result("call_1", "one"), result("call_1", "two"))
    encoded = sent(body, "openai-chat", target)
    names, results = of(encoded.body)[:2], of(encoded.body)[2:]
    assert names == [("call", "first"), ("call", "second")]
    assert results == [("result", "one"), ("result", "two")]
    assert len(set(encoded.transcript.ids.values())) == 2 or target == "gemini"


def test_b3_of_doubled_outputs_one_stays_in_its_place_with_its_cache_mark():
    """Between two other results: place and mark are those of the first one."""
    mark = {"cache_control": {"type": "ephemeral"}}
    results = [
        told("toolu_1", "a"),
        told("toolu_2", "b", **mark),
        told("toolu_2", "b"),
        told("toolu_3", "c"),
    ]
    body = claude([use("toolu_1"), use("toolu_2"), use("toolu_3")], results)
    encoded = sent(body, "anthropic", "anthropic")
    assert encoded.body["messages"][2]["content"] == [results[0], results[1], results[3]]
    assert "duplicate_result" in encoded.report


@pytest.mark.parametrize("target", BACKS)
def test_b4_a_call_that_lost_its_result_is_answered(target):
    """Trimming took the result: one is made up that does not claim the tool did not run."""
    body = chat(calls(call("call_1")), {"role": "user", "content": "And?"})
    (_, (kind, text)) = of(sent(body, "openai-chat", target).body)
    assert kind == "result"
    assert text.removeprefix("Error: ") == wording(Outcome.RESULT_LOST)


@pytest.mark.parametrize("target", BACKS)
def test_b5_the_repair_needs_no_switch_and_is_reported(target):
    """Every provider gets it, and the report says that a result was made up, and where."""
    encoded = sent(
        chat(calls(call("call_1"), call("call_2")), result("call_2", "x")), "openai-chat", target
    )
    (finding,) = [one for one in encoded.report if one.code == "result_made_up"]
    assert (finding.action, finding.where) == ("added", "entries[1]")
    assert of(encoded.body)[3] == ("result", "x")


@pytest.mark.parametrize("target", BACKS)
def test_b6_a_result_that_nobody_asked_for_is_dropped_or_told_and_reported(target):
    """By default it is left out; the policy can have its words sent as the user's."""
    body = {"input": [USER, output("call_9", "late news")]}
    dropped = sent(body, "openai-responses", target)
    assert "late news" not in str(dropped.body)
    as_text = sent(body, "openai-responses", target, policy=Policy(orphans="text"))
    assert "late news" in str(as_text.body)
    assert of(dropped.body) == of(as_text.body) == []
    for encoded in (dropped, as_text):
        assert "orphan_result" in encoded.report
        assert "orphan_not_sent" in encoded.report


@pytest.mark.parametrize("target", BACKS)
def test_b7_results_stand_in_the_order_of_their_calls(target):
    """200 turns with results in every kind of disorder; not one is out of place."""
    turns = []
    for turn in range(200):
        ids = [f"call_{turn}_{n}" for n in range(4)]
        answers = [result(id, f"{turn}.{n}") for n, id in enumerate(ids)]
        disorder = list(permutations(answers))[turn % 24]
        turns += [calls(*(call(id) for id in ids)), *disorder]
    found = [
        text
        for kind, text in of(sent(chat(*turns), "openai-chat", target).body)
        if kind == "result"
    ]
    assert found == [f"{turn}.{n}" for turn in range(200) for n in range(4)]


@pytest.mark.parametrize("target", ["anthropic", "openai"])
def test_b8_words_stand_before_the_calls_of_their_message(target):
    """A call, then words, in one message: the words are kept and the call is next to its result."""
    body = claude([use("toolu_1"), {"type": "text", "text": "I ran it."}], [told("toolu_1", "x")])
    message = sent(body, "anthropic", target).body["messages"][1]
    if target == "openai":
        assert message["content"] == "I ran it."
    else:
        assert [block["type"] for block in message["content"]] == ["text", "tool_use"]


@pytest.mark.parametrize("target", ["anthropic", "mistral", "gemini"])
def test_b9_words_on_both_sides_of_a_call_do_not_split_the_turn(target):
    """Text, call, text: both texts are sent once, and the result follows the turn at once."""
    words = [{"type": "text", "text": text} for text in ("Before.", "After.")]
    body = claude([words[0], use("toolu_1"), words[1]], [told("toolu_1", "x")])
    made = sent(body, "anthropic", target).body
    turns = made.get("messages") or made["contents"]
    assert [str(made).count(text) for text in ("Before.", "After.")] == [1, 1]
    assert [pairs(turn) for turn in turns[1:3]] == [[("call", "run")], [("result", "x")]]


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "gemini"])
def test_b10_results_come_first_in_the_users_turn(target):
    """A note was put before the result: it is sent behind it."""
    note = {"type": "text", "text": "A reminder."}
    encoded = sent(claude([use("toolu_1")], [note, told("toolu_1", "x")]), "anthropic", target)
    made = str(encoded.body)
    assert made.index("'x'") < made.index("A reminder.")
    assert "results_moved" in encoded.report


@pytest.mark.parametrize("target", ["openai", "openai/openai-responses", "groq", "deepseek"])
def test_b11_words_beside_results_come_behind_the_tool_messages(target):
    """One user message of Claude's format with a result and words is two for chat, in order."""
    body = claude([use("toolu_1")], [told("toolu_1", "x"), {"type": "text", "text": "Next."}])
    made = sent(body, "anthropic", target).body
    last, words = (made.get("messages") or made["input"])[-2:]
    assert pairs(last) == [("result", "x")]
    assert words == {"role": "user", "content": "Next."}


@pytest.mark.parametrize("target", ["gemini", "bedrock", "openai", "mistral"])
def test_b12_interleaved_items_become_whole_steps(target):
    """Call, output, two calls, their outputs reversed: each step's results follow its calls."""
    items = [
        item("call_1", "one"),
        output("call_1", "1"),
        item("call_2", "two"),
        item("call_3", "three"),
    ]
    body = {"input": [USER, *items, output("call_3", "3"), output("call_2", "2")]}
    assert of(sent(body, "openai-responses", target).body) == [
        ("call", "one"), ("result", "1"),
        ("call", "two"), ("call", "three"), ("result", "2"), ("result", "3"),
    ]  # fmt: skip


@pytest.mark.parametrize("target", BACKS)
def test_b13_parallel_calls_of_a_responses_client_are_one_message(target):
    """Three call items in a row are one turn, and every output finds its call."""
    names = ["one", "two", "three"]
    items = [item(f"call_{name}", name) for name in names]
    body = {"input": [USER, *items, *(output(f"call_{name}", name) for name in names)]}
    encoded = sent(body, "openai-responses", target)
    assert of(encoded.body) == [("call", one) for one in names] + [("result", one) for one in names]
    assert len([turn for turn in encoded.transcript.turns if turn.role == "assistant"]) == 1


@pytest.mark.parametrize("target", BACKS)
def test_b14_an_assistant_message_that_says_nothing_is_not_sent(target):
    """Empty text before a call makes no item, no part and no message."""
    empty = {"role": "assistant", "content": ""}
    body = chat(empty, calls(call("call_1"), content=""), result("call_1", "x"))
    made = sent(body, "openai-chat", target).body
    assert len(made.get("messages") or made.get("input") or made["contents"]) == 3
    assert of(made) == [("call", "run"), ("result", "x")]


@pytest.mark.parametrize("target", ["openai/openai-responses", "azure/openai-responses", "openai"])
def test_b15_an_output_whose_call_was_compacted_away_is_not_sent(target):
    """The call is gone, its output came along: OpenAI would refuse it, so it stays here."""
    summary = {"role": "user", "content": "Summary: we ran one tool."}
    body = {"input": [summary, output("call_gone", "old"), item("call_2"), output("call_2", "new")]}
    encoded = sent(body, "openai-responses", target)
    assert of(encoded.body) == [("call", "run"), ("result", "new")]
    assert "orphan_not_sent" in encoded.report


CONTINUED = {"model": "m", "previous_response_id": "resp_1", "input": [output("call_9", "x"), USER]}


def test_b27_a_continued_response_gets_its_outputs_and_no_old_calls():
    """The provider keeps the calls: their outputs are sent to it, and nothing is put before them."""
    made = sent(CONTINUED, "openai-responses", "openai/openai-responses", provider="openai").body
    assert {name: made[name] for name in CONTINUED} == CONTINUED


def test_b26_another_account_is_not_told_to_continue_what_it_has_not_stored():
    """Azure knows no response of OpenAI's: nothing is sent in place of what is kept there."""
    with pytest.raises(StateElsewhere, match=r"`previous_response_id`.* azure/openai-responses"):
        sent(CONTINUED, "openai-responses", "azure/openai-responses", provider="openai")
