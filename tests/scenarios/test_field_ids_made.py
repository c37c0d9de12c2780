"""Ids that have to be made, kept or given back: A11 to A17, A20, A21 of the field catalogue."""

import re

import msgspec
import pytest
from msgspec.structs import replace

from canonicall.codec import translate
from canonicall.facts.registry import get_target
from scenarios.ids_support import BACKS, answered, asked, chat, contents, ids, sent


def test_a11_results_without_ids_go_to_the_first_open_call_of_their_name():
    """Calls f, g, f; answers g, f, f: the order among answers of one name decides."""
    body = contents(
        ("user", [{"text": "Go."}]),
        ("model", [asked("f", n=1), asked("g", n=2), asked("f", n=3)]),
        ("user", [answered("g", "of g"), answered("f", "first f"), answered("f", "second f")]),
    )
    messages = sent(body, "gemini", "openai")["messages"]
    calls = [one["id"] for one in messages[1]["tool_calls"]]
    told = {one["tool_call_id"]: one["content"] for one in messages[2:]}
    assert [told[id] for id in calls] == ["first f", "of g", "second f"]


def test_a11_an_explicit_id_wins_over_the_order():
    """Two calls of one name with ids, answered in reverse: each answer goes where it says."""
    body = contents(
        ("user", [{"text": "Go."}]),
        ("model", [{"functionCall": {"id": id, "name": "f", "args": {}}} for id in "ab"]),
        ("user", [answered("f", "of b", id="b"), answered("f", "of a", id="a")]),
    )
    result = sent(body, "gemini", "anthropic")["messages"][2]["content"]
    assert [one["content"] for one in result] == ["of a", "of b"]


@pytest.mark.parametrize("target", [*BACKS, "gemini"])
def test_a12_the_same_history_gives_the_same_bytes_and_a_longer_one_the_same_beginning(target):
    """Ids of calls that had none are made, never drawn: twice equal, and stable when it grows."""
    turns = [
        ("user", [{"text": "Go."}]),
        ("model", [asked("look", q="x"), asked("look", q="x")]),
        ("user", [answered("look", "a"), answered("look", "b")]),
    ]
    goal = get_target(target)
    once = translate(contents(*turns), "gemini", goal)
    assert once.data == translate(contents(*turns), "gemini", goal).data
    more = [*turns, ("model", [asked("look", q="x")]), ("user", [answered("look", "c")])]
    longer = ids(sent(contents(*more), "gemini", target))[0]
    assert longer[:2] == ids(once.body)[0]
    assert len(set(longer)) == 3 or target == "gemini"


@pytest.mark.parametrize("target", BACKS)
def test_a13_two_parallel_calls_of_one_function_have_two_ids(target):
    """Gemini names no ids; an id made from the function's name alone would be the same twice."""
    body = contents(
        ("user", [{"text": "Go."}]),
        ("model", [asked("weather", city="Oslo"), asked("weather", city="Rome")]),
        ("user", [answered("weather", "cold"), answered("weather", "warm")]),
    )
    made = sent(body, "gemini", target)
    calls, results = ids(made)
    assert calls == results
    assert len(set(calls)) == 2
    assert str(made).index("cold") < str(made).index("warm")


def test_a14_answers_by_name_are_not_all_given_to_the_last_call():
    """One answer for two calls of one name belongs to the first; the second is told as lost."""
    body = contents(
        ("user", [{"text": "Go."}]),
        ("model", [asked("weather", city="Oslo"), asked("weather", city="Rome")]),
        ("user", [answered("weather", "cold")]),
    )
    results = sent(body, "gemini", "anthropic")["messages"][2]["content"]
    assert [one.get("is_error", False) for one in results] == [False, True]
    assert results[0]["content"] == "cold"


@pytest.mark.parametrize("target", ["openai", "anthropic", "openai/openai-responses"])
def test_a15_ids_do_not_begin_again_in_every_content(target):
    """Two tool turns of a Gemini client: four different ids, each answered, and words kept."""
    turn = [{"text": "I look."}, asked("look", q="x"), asked("look", q="y")]
    body = contents(
        ("user", [{"text": "Go."}]),
        ("model", turn),
        ("user", [answered("look", "1"), answered("look", "2")]),
        ("model", turn),
        ("user", [answered("look", "3"), answered("look", "4")]),
    )
    made = sent(body, "gemini", target)
    calls, results = ids(made)
    assert calls == results
    assert len(set(calls)) == 4
    assert msgspec.json.encode(made).count(b"I look.") == 2


PNG = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
FIDELITY = {
    "systemInstruction": {"parts": [{"text": "Rule one."}, {"text": "Rule two."}]},
    "tools": [{"functionDeclarations": [{"name": "shot"}, {"name": "look"}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["shot"]}},
    **contents(
        ("user", [{"text": "Go."}, PNG]),
        ("model", [{**asked("shot"), "thoughtSignature": "U0lH"}]),
        ("user", [{"text": "And now?"}, answered("shot", "taken", parts=[PNG])]),
    ),
}


def test_a16_a_gemini_front_loses_nothing_on_the_way_to_chat():
    """Both rules, the image, the allowed name, the result's image; words come after the result."""
    body = sent(FIDELITY, "gemini", "openai")
    system, user, assistant, result, media, last = body["messages"]
    assert system["content"] == "Rule one.\nRule two."
    assert user["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="
    assert result["tool_call_id"] == assistant["tool_calls"][0]["id"]
    assert result["content"].startswith("taken")
    assert media["content"][1] == user["content"][1]
    assert last == {"role": "user", "content": "And now?"}
    assert body["tool_choice"] == {"type": "function", "function": {"name": "shot"}}


def test_a16_a_gemini_front_loses_nothing_on_the_way_to_gemini():
    """The same request to Gemini itself: signature, media in the result and names are there."""
    body = sent(FIDELITY, "gemini", "gemini:gemini-3-pro")
    assert body["systemInstruction"] == FIDELITY["systemInstruction"]
    assert body["toolConfig"] == FIDELITY["toolConfig"]
    assert body["contents"][1]["parts"][0]["thoughtSignature"] == "U0lH"
    assert body["contents"][2]["parts"] == [answered("shot", "taken", parts=[PNG])]
    assert body["contents"][3]["parts"] == [{"text": "And now?"}]


def test_a17_mistral_gets_nine_letters_and_digits_and_no_two_calls_share_them():
    """Its own ids stay, all others are mapped; an id that is taken already is not given twice."""
    foreign = [f"toolu_{n:03}" for n in range(300)]
    calls, results = ids(sent(chat(foreign, ["D681PevKs"]), "openai-chat", "mistral"))
    assert calls == results
    assert len(set(calls)) == 301
    assert all(re.fullmatch("[A-Za-z0-9]{9}", id) for id in calls)
    assert calls[-1] == "D681PevKs"
    (made,), _ = ids(sent(chat(["toolu_1"]), "openai-chat", "mistral"))
    (kept, other), answers = ids(sent(chat(["toolu_1"], [made]), "openai-chat", "mistral"))
    assert kept == made
    assert other != made
    assert answers == [kept, other]


ITEMS = [
    {"role": "user", "content": "Go."},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
    {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "g", "input": "x"},
    {"type": "function_call_output", "id": "fco_1", "call_id": "call_1", "output": "a"},
    {"type": "custom_tool_call_output", "id": "ctco_1", "call_id": "call_2", "output": "b"},
]


def test_a20_item_ids_keep_their_type_at_home_and_stay_there():
    """OpenAI gets its own item ids back, each on its item; another account gets none of them."""
    home = sent({"input": ITEMS}, "openai-responses", "openai/openai-responses")
    assert home["input"] == ITEMS
    away = sent({"input": ITEMS}, "openai-responses", "azure/openai-responses:gpt-5")
    assert [one.get("id") for one in away["input"]] == [None] * 5
    assert [one["type"] for one in away["input"][1:]] == [one["type"] for one in ITEMS[2:]]


def test_a20_an_item_id_without_its_prefix_is_not_sent():
    """Clients write the call id into `id`; OpenAI wants `fc` there, or nothing."""
    call = {"type": "function_call", "id": "call_1", "call_id": "call_1", "name": "f"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "a"}
    body = {"input": [ITEMS[0], {**call, "arguments": "{}"}, output]}
    made = sent(body, "openai-responses", "openai/openai-responses")["input"]
    assert "id" not in made[1]
    assert made[1]["call_id"] == made[2]["call_id"] == "call_1"


@pytest.mark.parametrize("target", ["gemini:gemini-3-pro", "vertex:gemini-3-pro"])
def test_a21_whether_google_is_told_ids_is_a_rule_of_the_target(target):
    """Its own id is echoed on both sides; a target whose rule takes none gets none."""
    call = {"functionCall": {"id": "adk-7", "name": "f", "args": {}}}
    body = contents(
        ("user", [{"text": "Go."}]), ("model", [call]), ("user", [answered("f", "x", id="adk-7")])
    )
    assert ids(sent(body, "gemini", target)) == (["adk-7"], ["adk-7"])
    goal = get_target(target)
    without = replace(goal, ids=replace(goal.ids, max_length=0))
    assert ids(sent(body, "gemini", without)) == ([], [])
    assert ids(sent(chat(["call_1"]), "openai-chat", target)) == ([], [])
