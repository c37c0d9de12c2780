"""What probes find out: how calls come, what is taken, which part a refusal is about."""

import asyncio

import pytest

from canonicall.client.retrying import RetryPolicy
from canonicall.discovery.discover import discover
from canonicall.discovery.profile_text import profile_text
from canonicall.errors import UnknownName
from canonicall.facts.profile import load_profile
from canonicall.testing.exchange import SimResponse
from canonicall.testing.faults import Schedule
from canonicall.testing.replies import _LEAK
from canonicall.testing.script import says
from canonicall.testing.small_model import SmallModel
from discovery.endpoints import KEY, URL, WHEN, Wire, found, simulated


def always(*faults):
    return Schedule([faults], repeat=True)


def test_calls_that_are_printed_in_the_text_are_recognised_by_their_syntax():
    info, _ = found(simulated("generic", faults=always("leaked_calls")))
    assert info.answer("structured_calls") is False
    assert info.answer("text_syntax") == info.parser == _LEAK
    assert info.format == "json"
    assert "<tool_call>" in info.example
    assert "Calls are printed in the text." in info.quirks
    assert info.answer("call_ids") is None
    load_profile(profile_text(info, date=WHEN), "leaks")


def test_ids_that_come_again_are_told():
    info, _ = found(simulated("openai", faults=always("reused_ids")))
    assert info.answer("ids_reused") is True
    assert "Another reply has the same ids again." in info.quirks


@pytest.mark.parametrize(("provider", "how"), [("openai", "pieces"), ("groq", "whole")])
def test_streams_of_whole_calls_are_told_from_streams_in_pieces(provider, how):
    info, _ = found(simulated(provider))
    assert info.answer("argument_streaming") == how


def test_a_stream_that_is_cut_leaves_the_question_open_or_says_what_came():
    simulator = simulated("openai", faults=[None, None, "cut_stream"])
    info, _ = found(simulator, format="openai-chat")
    assert info.answer("structured_calls") is True
    assert info.answer("argument_streaming") in (None, "pieces")
    assert info.answer("choice_required") == "obeyed"


def test_limits_are_waited_for():
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    # The first request only looks for the format: it has no messages, and is refused anyway.
    faults = [None, "rate_limited", None, "rate_limited", "overloaded"]
    options = {"format": "openai-chat", "model": "m", "key": KEY}
    wire = Wire(simulated("openai", faults=faults).answer)
    info = asyncio.run(discover(URL, transport=wire, sleep=sleep, random=lambda: 0.0, **options))
    assert waited == [1.0, 1.0, 0.5]
    assert info.answer("structured_calls") is True
    assert info.answer("argument_streaming") == "pieces"


def test_a_probe_that_only_meets_errors_stays_unknown_and_says_what_came():
    # This model takes the first request as it is: the two that are answered are all it needs.
    broken = [None, None, *["server_error"] * 500]
    simulator = simulated("openai", faults=broken)
    options = {"model": "gpt-4.1", "format": "openai-chat"}
    info, _ = found(simulator, retry=RetryPolicy(attempts=1), **options)
    assert info.answer("structured_calls") is True
    assert {"choice_required", "foreign_ids", "developer_role"} <= set(info.unknown)
    (said,) = [one for one in info.statements if one.question == "developer_role"]
    assert said.confidence == "U"
    assert "500" in said.evidence[0].received
    written = load_profile(profile_text(info, date=WHEN), "test")
    assert written.rules["developer"].source.startswith("Error text")


def test_a_model_that_calls_no_tools_is_not_said_to_be_unable():
    info, _ = found(simulated("openai", model=lambda request: says("I would rather not.")))
    assert info.answer("structured_calls") is None
    assert info.answer("parallel_calls") is None
    assert info.answer("choice_required") == "ignored"
    assert info.format == ""


def test_a_reply_that_was_cut_off_before_a_call_proves_nothing():
    """Servers hold a model to a call with a grammar that lets it say something before."""
    endless = says("I think about it. " * 9, finish="length")
    info, _ = found(simulated("openai", model=lambda request: endless))
    assert info.answer("choice_required") is info.answer("choice_named") is None
    assert info.answer("choice_none") == "obeyed"


def test_one_call_where_two_were_asked_for_proves_nothing():
    class OneAtATime(SmallModel):
        def __call__(self, request):
            reply = super().__call__(request)
            calls = reply.calls[:1]
            return says(*calls) if calls else reply

    info, _ = found(simulated("openai", model=OneAtATime(call_tools="*")))
    assert info.answer("parallel_calls") is None
    assert "parallel" not in load_profile(profile_text(info, date=WHEN), "test").capabilities


def test_a_refusal_of_the_first_request_teaches_the_field():
    simulator = simulated("openai")

    def picky(request):
        if b'"max_tokens"' in request.body:
            what = (
                "Unsupported parameter: 'max_tokens' is not supported with this model."
                " Use 'max_completion_tokens' instead."
            )
            error = {"message": what, "type": "invalid_request_error", "param": "max_tokens"}
            return SimResponse.json(400, {"error": error})
        return simulator.answer(request)

    info = asyncio.run(discover(URL, model="o9", key=KEY, transport=Wire(picky)))
    assert info.answer("token_limit_field") == "max_completion_tokens"
    rule = load_profile(profile_text(info, date=WHEN), "test").rules["token_limit_field"]
    assert rule.value == "max_completion_tokens"


def refusing(simulator, *words):
    """An endpoint that refuses bodies with some words, and does not say why."""

    def answer(request):
        if any(word in request.body for word in words):
            return SimResponse.json(400, {"error": {"message": "Bad Request"}})
        return simulator.answer(request)

    return asyncio.run(discover(URL, model="m", key=KEY, transport=Wire(answer)))


def test_a_refusal_without_a_reason_is_traced_to_the_part_that_caused_it():
    info = refusing(simulated("openai"), b'"oneOf"', b'"strict"', b'"reasoning_effort"')
    refused = {"schema_keywords", "strict_tools", "reasoning_setting", "foreign_ids"}
    assert {one.question for one in info.statements if one.answer is False} - refused == {
        "ids_reused",
        "tools_with_history",
    }
    assert [info.answer(one) for one in sorted(refused)] == [False] * 4
    assert info.answer("choice_required") == info.answer("choice_none") == "obeyed"
    assert info.answer("argument_streaming") == "pieces"
    schemas = load_profile(profile_text(info, date=WHEN), "test").rules["schemas"].value
    assert "oneOf" not in schemas["keywords"]


def test_an_endpoint_without_streams_is_not_said_to_refuse_reasoning():
    info = refusing(simulated("openai"), b'"stream":true')
    assert {"argument_streaming", "reasoning_setting"} <= set(info.unknown)
    assert info.answer("choice_required") == "obeyed"


def test_a_key_that_is_a_common_word_garbles_nothing():
    info, _ = found(simulated("ollama"), key="ollama", format="ollama")
    assert (info.wire_format, info.parser) == ("ollama", "ollama")


def test_a_format_that_nobody_has_is_told():
    with pytest.raises(UnknownName, match="openai-chat"):
        found(simulated("openai"), format="openai-chatt")


def test_where_nothing_at_all_is_taken_no_part_is_blamed():
    info = refusing(simulated("openai"), b'"tool_call_id"')
    assert {"foreign_ids", "developer_role", "tools_with_history"} <= set(info.unknown)
    (said,) = [one for one in info.statements if one.question == "developer_role"]
    assert said.evidence[0].probe == "history, nothing special"
