"""A result is given to its call by evidence, strongest first, and never to another one."""

import itertools

import pytest

from canonicall import Conversation, Message, Outcome, Text, ToolCall, ToolResult, load
from canonicall.codec import decode_request, encode_request, render
from canonicall.facts.registry import provider_names
from canonicall.persisted import dump
from canonicall.request import Request

RESPELLED = [
    ("call_Ab1", "toolu_Ab1"),
    ("call_Ab1", "hist_tool_Ab1"),
    ("call_Ab1", "Ab1"),
    ("functions.a:0", "functions_a_0"),
    ("call_" + "x" * 60, "call_" + "x" * 35),
    ("call_" + "x" * 70, "call_" + "x" * 59),
    ("call_Ab1", " call_Ab1 "),
    ("call_Ab1", "call_Ab1|fc_1"),
    ("call_Ab1|fc_1", "call_Ab1"),
]


def call(id="", name="f", **args):
    return ToolCall(id=id, name=name, args=args)


def result(text, id="", name=""):
    return ToolResult(call_id=id, name=name, content=(Text(text=text),))


def tool(*results):
    return Message("tool", results)


def replies(*calls):
    return Message("assistant", calls)


def answers(conversation):
    """The text of the result of each call, in call order; None for an open one."""
    return [None if one.result is None else one.result.text for one in conversation.ledger.values()]


def sent(conversation, target="openai"):
    """The results of a request, in order."""
    body = encode_request(Request(conversation, model="m"), target).body
    return [one["content"] for one in body["messages"] if one["role"] == "tool"]


def every_way(*entries):
    """The same log, written at once, entry by entry, and in two parts."""
    yield Conversation.of(entries)
    one_by_one = Conversation()
    for entry in entries:
        one_by_one.append(entry)
        assert len(one_by_one.ledger) >= 0
    yield one_by_one
    for cut in range(len(entries)):
        parts = Conversation.of(entries[:cut])
        sent(parts)
        parts = parts.fork()
        parts.extend(entries[cut:])
        yield parts


def same_every_way(*entries):
    """The conversation of these entries, after a look that every way of writing it agrees."""
    ways = list(every_way(*entries))
    for way in ways:
        assert answers(way) == answers(ways[0])
        assert sent(way) == sent(ways[0])
        assert way.report.findings == ways[0].report.findings
    loaded = load(dump(ways[0])).conversation
    assert (answers(loaded), sent(loaded)) == (answers(ways[0]), sent(ways[0]))
    return ways[0]


@pytest.mark.parametrize(("known", "named"), RESPELLED)
def test_a_differently_spelled_id_finds_its_call(known, named):
    chat = same_every_way(replies(call(known), call("call_other")), tool(result("a", named)))
    assert answers(chat) == ["a", None]
    assert chat.report.counts == {"matched_by_spelling": 1}


def test_an_id_that_may_mean_two_calls_is_given_to_none():
    chat = same_every_way(replies(call("call_x"), call("toolu_x")), tool(result("?", "x")))
    assert answers(chat) == [None, None]
    (finding,) = chat.report.findings
    assert finding.code == "orphan_result"
    assert "'call_x', 'toolu_x'" in finding.why


def test_the_exact_id_is_stronger_than_a_spelling():
    chat = same_every_way(
        replies(call("call_x"), call("x")), tool(result("of x", "x")), tool(result("a", "toolu_x"))
    )
    assert answers(chat) == ["a", "of x"]


def test_only_an_open_call_is_found_by_spelling():
    chat = same_every_way(
        replies(call("call_x")), tool(result("first", "call_x")), tool(result("again", "toolu_x"))
    )
    assert answers(chat) == ["first"]
    assert chat.report.counts == {"orphan_result": 1}


@pytest.mark.parametrize("in_one", [True, False], ids=["one message", "several messages"])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_named_results_of_a_run_come_before_any_position(order, in_one):
    """Three calls, one result without an id: wherever it is, it gets the call that is left."""
    results = [result("a", "call_a"), result("rest"), result("c", "call_c")]
    ordered = [results[at] for at in order]
    messages = [tool(*ordered)] if in_one else [tool(one) for one in ordered]
    chat = same_every_way(replies(call("call_a"), call("call_b"), call("call_c")), *messages)
    assert answers(chat) == ["a", "rest", "c"]
    assert chat.report.counts == {"matched_by_position": 1}


def test_a_user_message_in_between_does_not_end_the_run():
    chat = same_every_way(
        replies(call("call_a"), call("call_b")),
        tool(result("rest")),
        Message("user", (Text(text="By the way."),)),
        tool(result("a", "call_a")),
    )
    assert answers(chat) == ["a", "rest"]


def test_results_without_ids_keep_their_order_when_a_named_one_comes_between():
    chat = same_every_way(
        replies(*(call(f"call_{name}") for name in "abcd")),
        tool(result("first")),
        tool(result("second")),
        tool(result("b", "call_b")),
        tool(result("third")),
    )
    assert answers(chat) == ["first", "b", "second", "third"]


def test_a_result_that_names_a_call_is_never_given_to_another_one():
    chat = same_every_way(replies(call(name="lookup")), tool(result("of b", "b", name="lookup")))
    assert answers(chat) == [None]
    assert chat.report.counts == {"missing_call_id": 1, "orphan_result": 1}


def test_a_gemini_result_that_names_another_call_answers_none():
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "Go."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "lookup", "args": {}}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "b", "name": "lookup", "response": {"r": "of b"}}}
                ],
            },
        ]
    }
    chat = decode_request(body, "gemini").conversation
    assert answers(chat) == [None]


def test_a_result_without_an_id_is_not_given_to_a_call_that_the_provider_runs():
    """Anthropic's code execution calls a tool of the client: the result is that tool's."""
    run = ToolCall(id="srvtoolu_1", name="code_execution", args={}, kind="server")
    chat = same_every_way(replies(run, call("toolu_1")), tool(result("sun")))
    assert answers(chat) == [None, "sun"]


def test_after_the_exchange_a_position_is_final():
    """A named result that comes in a later exchange is late; it displaces nothing."""
    chat = same_every_way(
        replies(call("call_a"), call("call_b")),
        tool(result("by position")),
        replies(call("call_c")),
        tool(result("late", "call_a")),
    )
    assert answers(chat) == ["by position", None, None]
    assert chat.report.counts["conflicting_result"] == 1


def test_output_so_far_and_the_rest_go_to_the_same_call():
    pending = ToolResult(content=(Text(text="so far"),), is_complete=False)
    chat = same_every_way(
        replies(call("call_a"), call("call_b")), tool(pending), tool(result("all of it"))
    )
    assert answers(chat) == ["all of it", None]


def test_results_before_their_calls_are_moved_with_and_without_ids():
    named = same_every_way(
        tool(result("a", "call_a")), replies(call("call_a")), Message("user", (Text(text="And?"),))
    )
    unnamed = same_every_way(
        tool(result("a")), replies(call()), Message("user", (Text(text="And?"),))
    )
    for chat in (named, unnamed):
        assert sent(chat) == ["a"]
        assert chat.report.counts["result_before_call"] == 1


def test_a_result_is_found_when_the_model_spoke_between_it_and_its_later_call():
    for id in ("call_a", ""):
        chat = same_every_way(
            tool(result("a", id)),
            Message("assistant", (Text(text="I look it up."),)),
            replies(call(id)),
            Message("user", (Text(text="And?"),)),
        )
        assert sent(chat) == ["a"]


def test_a_result_in_a_message_of_the_model_waits_for_the_calls_of_its_exchange():
    """Messages of the model in a row are one exchange: its calls may come after the result."""
    chat = same_every_way(
        Message("assistant", (Text(text="I look it up."),)),
        Message("assistant", (result("a"),)),
        replies(call()),
        Message("assistant", (result("b"),)),
        replies(call()),
        Message("user", (Text(text="And?"),)),
    )
    assert sent(chat) == ["a", "b"]


def test_a_result_that_was_moved_is_not_reported_as_left_out():
    chat = Conversation.of(
        [tool(result("a", "call_a")), replies(call("call_a")), tool(result("b", "call_b"))]
    )
    findings = encode_request(Request(chat, model="m"), "openai").report
    places = [one.where for one in findings if one.code == "orphan_not_sent"]
    assert places == ["entries[2].blocks[0]"]


def test_the_head_of_a_history_was_cut_off_in_front_of_a_result():
    """The first result belongs to a call that is gone; the calls have results enough."""
    chat = same_every_way(
        tool(result("of a call that is gone", name="f")),
        replies(call(), call()),
        tool(result("a", name="f"), result("b", name="f")),
    )
    assert answers(chat) == ["a", "b"]


def test_an_early_result_without_an_id_gives_way_to_the_calls_own():
    chat = Conversation.of([tool(result("of an older call"))])
    (made,) = chat.assistant([call()]).calls
    chat.result(made.id, "its own")
    assert answers(chat) == ["its own"]
    assert sent(chat) == ["its own"]


def test_a_call_with_an_early_result_can_be_closed():
    chat = Conversation.of([tool(result("of an older call"))])
    (made,) = chat.assistant([call()]).calls
    chat.close(made.id, Outcome.NOT_RUN)
    assert chat.ledger[made.id].outcome is Outcome.NOT_RUN
    assert chat.ledger[made.id].closed


def test_a_call_that_was_answered_by_position_is_not_open():
    chat = Conversation.of([replies(call("call_a")), tool(result("a"))])
    assert not chat.ledger.open
    assert "already_ended" in [
        one.code for one in chat.close(next(iter(chat.ledger)), Outcome.NOT_RUN).findings
    ]


def three_calls():
    """Calls with ids that most targets have to replace, and one without."""
    chat = Conversation()
    chat.user("Go.")
    chat.assistant([call("call/a", "look up"), call("call/b", "look up"), call()])
    return chat


@pytest.mark.parametrize("target", provider_names())
def test_an_id_that_was_sent_comes_back_as_the_call_it_names(target):
    """Whatever form a target has for ids: the conversation remembers what it was rendered with."""
    chat = three_calls()
    ids = render(chat, target).ids
    for made in chat.fork().ledger.values():
        chat.result(ids[made.id] or made.id, f"of {made.id}")
    assert answers(chat) == [f"of {id}" for id in chat.ledger]
    assert "orphan_result" not in chat.report
    assert "matched_by_spelling" not in chat.report


@pytest.mark.parametrize("target", ["mistral", "kimi", "bedrock"])
def test_without_memory_no_id_is_recognised_by_its_shape(target):
    """The same ids in a conversation that was never rendered, and in one for another target."""
    sent_ids = list(render(three_calls(), target).ids.values())
    elsewhere = three_calls()
    render(elsewhere, "openai")
    for chat in (three_calls(), elsewhere):
        for id in sent_ids:
            chat.result(id, "?")
        assert answers(chat) == [None, None, None]


def test_a_providers_own_id_counts_before_one_that_was_sent():
    """Kimi was sent `functions.get:0` for one call, and then gives that id to another one."""
    chat = Conversation()
    chat.user("Go.")
    chat.assistant([call("call_a", "get")])
    assert list(render(chat, "kimi").ids.values()) == ["functions.get:0"]
    chat.user("Once more.")
    chat.assistant([call("functions.get:0", "get")])
    chat.result("functions.get:0", "of the second")
    assert answers(chat) == [None, "of the second"]
    chat.result("functions.get:0", "of the second")
    assert answers(chat) == [None, "of the second"]
    assert "duplicate_result" in chat.report
