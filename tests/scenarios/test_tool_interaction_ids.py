"""Failure modes seen in the field that concern ids: reused, missing, equal, in other clothes.

Every test feeds the conversation what a provider, a client or a runtime really sent when other
systems broke, and checks what the ledger then knows.
"""

import pytest

from canonicall import (
    Conversation,
    Message,
    Origin,
    Outcome,
    Text,
    ToolCall,
    ToolResult,
    decode_request,
    dump,
    load,
    normalize_to_anthropic_tool_id,
    normalize_to_openai_tool_id,
    render,
    wording,
)
from scenarios.state_support import KIMI, answers, call, codes


def test_reused_raw_ids_in_later_turns():
    """`functions.read_file:0` in every turn: three calls, three results, none dropped."""
    conversation = Conversation()
    for turn in range(3):
        conversation.user(f"Read file {turn}.")
        conversation.assistant([call("functions.read_file:0", path=f"{turn}")], origin=KIMI)
        conversation.result("functions.read_file:0", f"content {turn}")
    assert len(conversation.ledger) == 3
    assert answers(conversation) == ["content 0", "content 1", "content 2"]
    assert conversation.report.counts == {"reused_call_id": 2}


def test_constant_raw_id_with_equal_messages():
    """One constant id, and the same call with the same arguments again: still two calls."""
    conversation = Conversation()
    for text in ("first", "second"):
        conversation.assistant([call("call_0", name="poll")], origin=Origin("llamacpp"))
        conversation.result("call_0", text)
    assert answers(conversation) == ["first", "second"]


def test_reused_raw_id_while_the_first_call_is_unanswered():
    """A result after the second call with an id belongs to the second call, not the lost first."""
    conversation = Conversation()
    conversation.assistant([call("call_0", path="a")])
    conversation.user("Never mind. The other file.")
    second = conversation.assistant([call("call_0", path="b")])
    conversation.result("call_0", "content of b")
    assert "raw_id_taken_over" in codes(second)
    assert answers(conversation) == [None, "content of b"]
    assert [one.call.args["path"] for one in conversation.ledger.open] == ["a"]


def test_duplicate_ids_within_a_message():
    """Two different calls with one id: told apart by position, results in order of arrival."""
    conversation = Conversation()
    appended = conversation.assistant([call("call_x", path="a"), call("call_x", path="b")])
    assert codes(appended) == ["reused_call_id"]
    assert len({one.id for one in appended.calls}) == 2
    conversation.result("call_x", "content of a")
    conversation.result("call_x", "content of b")
    assert answers(conversation) == ["content of a", "content of b"]


def test_missing_and_empty_ids():
    """Calls without ids, over several turns: results find them by position."""
    conversation = Conversation()
    for turn in ("one", "two"):
        appended = conversation.assistant(
            [call(name="search", q=turn), call(name="fetch", q=turn)], origin=Origin("gemini")
        )
        assert codes(appended) == ["missing_call_id", "missing_call_id"]
        conversation.append(
            Message(
                "tool",
                (
                    ToolResult(content=(Text(text=f"search {turn}"),)),
                    ToolResult(content=(Text(text=f"fetch {turn}"),)),
                ),
            )
        )
    assert len(set(conversation.ledger)) == 4
    assert answers(conversation) == ["search one", "fetch one", "search two", "fetch two"]


def test_results_without_ids_in_another_order_are_matched_by_name():
    conversation = Conversation()
    conversation.assistant([call(name="search"), call(name="fetch"), call(name="search")])
    for name in ("fetch", "search", "search"):
        conversation.append(
            Message("tool", (ToolResult(name=name, content=(Text(text=f"{name}!"),)),))
        )
    assert answers(conversation) == ["search!", "fetch!", "search!"]
    assert conversation.report.counts["matched_by_position"] == 3


def test_a_result_without_id_and_without_open_call_is_an_orphan():
    conversation = Conversation()
    conversation.assistant([call("call_1")])
    conversation.result("call_1", "done")
    appended = conversation.append(Message("tool", (ToolResult(content=(Text(text="?"),)),)))
    assert codes(appended) == ["orphan_result"]
    assert answers(conversation) == ["done"]


def test_missing_tool_name():
    appended = Conversation().assistant([ToolCall(id="call_1", args={})])
    assert codes(appended) == ["missing_tool_name"]
    assert appended.calls[0].id.startswith("hist_tool_")


def test_similar_ids_are_never_collapsed():
    """Ids that truncation or stripping would merge keep distinct canonical ids."""
    raw = [
        "call|fc_1",
        "call|fc_2",
        "toolu_vrtx_01A",
        "toolu_vrtx_01B",
        "a.b",
        "ab",
        "x" * 64 + "1",
    ]
    raw += ["x" * 64 + "2", "call_x", "toolu_x", "x"]
    conversation = Conversation()
    conversation.assistant([call(id) for id in raw])
    assert len(set(conversation.ledger)) == len(raw)
    for id in reversed(raw):
        conversation.result(id, f"result of {id}")
    assert answers(conversation) == [f"result of {id}" for id in raw]


def test_results_pair_before_any_id_is_rewritten():
    """Results bind by the ids as they came, whatever canonical or provider form they get later."""
    conversation = Conversation()
    first = conversation.assistant([call("toolu_1", path="a"), call("call_1", path="b")]).calls
    conversation.result("call_1", "b")
    conversation.result("toolu_1", "a")
    assert answers(conversation) == ["a", "b"]
    assert normalize_to_openai_tool_id(first[0].id) != normalize_to_openai_tool_id(first[1].id)


def test_results_may_use_the_canonical_id_in_a_providers_clothes():
    conversation = Conversation()
    calls = conversation.assistant([call("functions.f:0"), call("functions.f:1")]).calls
    conversation.result(normalize_to_anthropic_tool_id(calls[1].id), "second")
    conversation.result(normalize_to_openai_tool_id(calls[0].id), "first")
    assert answers(conversation) == ["first", "second"]


def test_native_kimi_id_is_kept_beside_the_canonical_one():
    """A Kimi target needs its own id shape again, so the raw id survives storing."""
    conversation = Conversation()
    conversation.assistant([call("functions.read_file:3")], origin=KIMI)
    loaded = load(dump(conversation)).conversation
    (one,) = loaded.ledger.values()
    assert one.call.raw_id == "functions.read_file:3"
    assert one.id.startswith("hist_tool_")


def test_ids_and_wording_are_stable_for_the_prompt_cache():
    """The same history gives the same ids and the same words in every run."""
    one, other = Conversation(), Conversation()
    for conversation in (one, other):
        conversation.assistant([call(name="search"), call("call_0"), call("call_0")])
    assert list(one.ledger) == list(other.ledger)
    assert wording(Outcome.UNKNOWN) == wording(Outcome.UNKNOWN)


def test_turn_keys_do_not_depend_on_the_position_in_a_list():
    """A client that trims the head of its history gets the same ids for what is left."""
    long, short = Conversation(), Conversation()
    long.user("Earlier.")
    long.assistant([call("call_7", path="z")])
    long.result("call_7", "z")
    for conversation in (long, short):
        conversation.assistant([call("functions.read_file:0", path="a")], origin=KIMI)
        conversation.result("functions.read_file:0", "a")
    assert list(long.ledger)[1:] == list(short.ledger)


def equal_turns(*asked, polls=1):
    """Messages in which the model makes the same call again and again, as Chat writes it."""
    function = {"name": "status", "arguments": "{}"}
    calls = [{"id": "call_0", "type": "function", "function": function}]
    for text in asked:
        yield {"role": "user", "content": text}
        for number in range(polls):
            yield {"role": "assistant", "content": None, "tool_calls": calls}
            yield {"role": "tool", "tool_call_id": "call_0", "content": f"{number} of {text}"}


@pytest.mark.parametrize("target", ["anthropic", "openai", "mistral"])
@pytest.mark.parametrize("polls", [1, 3])
def test_equal_turns_keep_their_ids_when_the_head_of_a_history_is_pruned(polls, target):
    """All but the first that is left: nothing says any more that an equal one came before it."""
    asked = ["Now?", "And now?", "Please look again.", "Once more."]

    def ids(start):
        messages = list(equal_turns(*asked, polls=polls))[start:]
        conversation = decode_request({"messages": messages}, "openai-chat").conversation
        return list(conversation.ledger), list(render(conversation, target).ids.values())

    whole, sent = ids(0)
    assert len(set(whole)) == len(set(sent)) == len(asked) * polls
    for start in range(1, 2 + 6 * polls):
        left, left_sent = ids(start)
        assert left[1:] == whole[len(whole) - len(left) + 1 :]
        assert left_sent[1:] == sent[len(sent) - len(left) + 1 :]


def test_equal_turns_that_answer_the_same_are_counted():
    """Also behind a conversation that was stored in between."""
    conversation = Conversation()

    def one_more(conversation):
        conversation.user("Continue.")
        conversation.assistant([call("call_0", name="poll")])
        conversation.result("call_0", "nothing yet")
        return [one.turn_key for one in conversation.ledger.values()]

    for _ in range(3):
        keys = one_more(conversation)
    assert len(set(conversation.ledger)) == 3
    assert keys[2] == f"{keys[1]}.2"
    loaded = load(dump(conversation)).conversation
    assert one_more(loaded) == one_more(conversation) == [*keys, f"{keys[1]}.3"]


def test_several_replies_in_one_turn_share_its_key_without_colliding():
    """A runtime may give one turn key to all replies of a turn; constant ids still differ."""
    conversation = Conversation()
    for text in ("a", "b"):
        conversation.assistant([call("call_0"), call("call_0")], turn_key="turn-17")
        conversation.result("call_0", f"{text}1")
        conversation.result("call_0", f"{text}2")
    assert len(set(conversation.ledger)) == 4
    assert [one.call.index for one in conversation.ledger.values()] == [0, 1, 2, 3]
    assert answers(conversation) == ["a1", "a2", "b1", "b2"]
