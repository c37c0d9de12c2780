"""Tool-call ids as other gateways broke them: group A of the field catalogue, on whole bodies."""

import re

import msgspec
import pytest
from msgspec.structs import replace

from canonicall.codec import decode_response, encode_response, translate
from canonicall.providers.registry import get_target, provider_names
from canonicall.target import IdRule
from canonicall.verify import verify

BACKS = ["anthropic", "openai", "openai/openai-responses", "bedrock", "mistral", "cohere", "ollama"]
CALL_IDS = {"tool_use": "id", "function_call": "call_id"}
RESULT_IDS = {"tool_result": "tool_use_id", "function_call_output": "call_id"}


def sent(body, source, target, **options):
    """The body for `target`, which the judge has to accept."""
    goal = get_target(target)
    encoded = translate(body, source, goal, **options)
    assert [str(one) for one in verify(encoded.body, goal)] == []
    return encoded.body


def ids(body):
    """The ids of all calls and of all results in a body of any format, in order."""
    calls, results = [], []

    def walk(node):
        if isinstance(node, list):
            for item in node:
                walk(item)
        if not isinstance(node, dict):
            return
        kind = node.get("type")
        if kind in CALL_IDS:
            calls.append(node[CALL_IDS[kind]])
        elif kind in RESULT_IDS:
            results.append(node[RESULT_IDS[kind]])
        elif node.get("role") == "tool":
            results.append(node["tool_call_id"])
        elif "toolUse" in node or "functionCall" in node:
            calls.append(node["toolUse"]["toolUseId"] if "toolUse" in node else call_id(node))
        elif "toolResult" in node or "functionResponse" in node:
            results.append(node["toolResult"]["toolUseId"] if "toolResult" in node else None)
        elif "function" in node and "id" in node:
            calls.append(node["id"])
        for item in node.values():
            walk(item)

    def call_id(node):
        return node["functionCall"].get("id")

    walk(body.get("messages") or body.get("input") or body.get("contents"))
    return calls, results


def chat(*turns, name="Bash"):
    """A chat request: each turn is a list of ids that are called and answered in order."""
    messages = [{"role": "user", "content": "Go."}]
    for turn in turns:
        function = {"name": name, "arguments": "{}"}
        calls = [{"id": id, "type": "function", "function": function} for id in turn]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": id, "content": f"of {id}"} for id in turn]
    return {"model": "m", "messages": messages}


def contents(*parts_by_role):
    return {"contents": [{"role": role, "parts": parts} for role, parts in parts_by_role]}


def asked(name, **args):
    return {"functionCall": {"name": name, "args": args}}


def answered(name, text, **more):
    return {"functionResponse": {"name": name, "response": {"output": text}, **more}}


@pytest.mark.parametrize("target", ["anthropic", "azure/anthropic", "vertex/anthropic"])
def test_a1_kimi_style_ids_are_legal_for_anthropic_on_both_sides(target):
    """Dots and colons in a raw id never reach Claude; call and result change together."""
    from_chat = ids(sent(chat(["functions.Bash:0", "functions.Bash:1"]), "openai-chat", target))
    item = {"type": "function_call", "call_id": "functions.Bash:0", "name": "B", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "functions.Bash:0", "output": "done"}
    from_responses = ids(sent({"input": [item, output]}, "openai-responses", target))
    for calls, results in (from_chat, from_responses):
        assert calls == results
        assert all(re.fullmatch("toolu_[A-Za-z0-9_-]{24}", id) for id in calls)
    assert len(set(from_chat[0])) == 2


def test_a2_dotted_ids_are_repaired_on_the_native_messages_path_too():
    """Anthropic in and Anthropic out is no pass-through: an illegal id is replaced, a legal kept."""
    use = {"type": "tool_use", "id": "mcp.files.read.1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "mcp.files.read.1", "content": "text"}
    own = {"type": "tool_use", "id": "toolu_01A", "name": "read", "input": {}}
    own_result = {"type": "tool_result", "tool_use_id": "toolu_01A", "content": "more"}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [use, own]},
        {"role": "user", "content": [result, own_result]},
    ]
    body = sent({"model": "m", "max_tokens": 9, "messages": messages}, "anthropic", "anthropic")
    calls, results = ids(body)
    assert calls == results
    assert calls[1] == "toolu_01A"
    assert "mcp.files" not in str(body["messages"])
    assert [one["content"] for one in body["messages"][2]["content"]] == ["text", "more"]


@pytest.mark.parametrize("target", [*BACKS, "azure", "gemini", "vertex"])
def test_a3_a_signature_that_a_gateway_hid_in_an_id_goes_nowhere(target):
    """An id with a base64 tail of a kilobyte fits no other provider and is not sent to any."""
    id = "call_7f__thought__" + "Cs4B+/8=" * 120
    calls, results = ids(body := sent(chat([id]), "openai-chat", target))
    assert "thought__" not in str(body)
    assert calls == results or target in ("gemini", "vertex")
    assert all(len(id) <= 64 for id in calls if id)


def test_a4_gemini_history_gives_short_call_ids_and_no_item_ids_on_responses():
    """A signed Gemini turn becomes items whose call_id is short and whose signature is gone."""
    signed = {**asked("look", q="x"), "thoughtSignature": "S" * 949}
    body = contents(
        ("user", [{"text": "Go."}]), ("model", [signed]), ("user", [answered("look", "seen")])
    )
    call, output = sent(body, "gemini", "openai/openai-responses")["input"][1:]
    assert call.keys() == {"type", "call_id", "name", "arguments"}
    assert len(call["call_id"]) == len("call_") + 24
    assert output["call_id"] == call["call_id"]
    assert output["output"] == "seen"


@pytest.mark.parametrize("target", BACKS)
@pytest.mark.parametrize("length", [40, 41, 64, 65])
def test_a6_ids_at_the_edge_of_a_limit_are_kept_or_replaced_as_one(target, length):
    """An id of the target's own shape stays while it fits, and is replaced one letter later."""
    rule = get_target(target).ids
    id = rule.prefix + "x" * (length - len(rule.prefix))
    calls, results = ids(sent(chat([id]), "openai-chat", target))
    assert calls == results
    limits = {"openai": 40, "openai/openai-responses": 64, "mistral": 9, "ollama": 40}
    assert (calls == [id]) == (length <= limits.get(target, 64) and target != "mistral")
    assert len(calls[0]) <= limits.get(target, 64)


@pytest.mark.parametrize("target", provider_names())
def test_a7_every_back_end_has_its_own_longest_id(target):
    """46 characters of another model: each provider gets at most what its profile allows."""
    calls, _ = ids(sent(chat(["toolu_" + "b" * 40], name="run"), "openai-chat", target))
    longest = {"mistral": 9, "kimi-hosted": len("functions.run:0"), "bedrock": 64, "anthropic": 64}
    assert calls == ["toolu_" + "b" * 40] or len(calls[0] or "") <= longest.get(target, 40)


@pytest.mark.parametrize("target", BACKS)
def test_a8_two_long_ids_with_the_same_beginning_stay_two(target):
    """Cutting at 64 would make them one; two calls keep two ids and their own results."""
    first, second = "tooluse_" + "a" * 60 + "1", "tooluse_" + "a" * 60 + "2"
    body = sent(chat([first, second]), "openai-chat", target)
    calls, results = ids(body)
    assert calls == results
    assert len(set(calls)) == 2
    assert all(len(id) <= 64 for id in calls)
    assert str(body).index(f"of {first}") < str(body).index(f"of {second}")


def test_a9_a_signature_is_kept_aside_for_the_next_gemini_turn():
    """The stored conversation goes to OpenAI without the signature and to Gemini with it."""
    signed = {**asked("look", q="x"), "thoughtSignature": "c2lnbmF0dXJl"}
    body = contents(
        ("user", [{"text": "Go."}]), ("model", [signed]), ("user", [answered("look", "seen")])
    )
    for target in ("openai", "anthropic", "mistral"):
        assert "c2lnbmF0dXJl" not in str(sent(body, "gemini", target))
    again = sent(body, "gemini", "gemini:gemini-3-pro")
    assert again["contents"][1]["parts"] == [signed]


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "openai"])
def test_a10_a_call_written_in_both_shapes_is_one_call(target):
    """A chat message that repeats its call as a tool_use part asks once."""
    body = chat(["toolu_01"])
    body["messages"][1]["content"] = [
        {"type": "text", "text": "Now."},
        {"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {}},
    ]
    made = sent(body, "openai-chat", target)
    calls, results = ids(made)
    assert calls == results
    assert len(calls) == 1
    assert "Now." in str(made)


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
