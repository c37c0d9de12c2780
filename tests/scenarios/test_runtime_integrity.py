"""The edge cases that break tool calling elsewhere, as far as they concern what runs it.

Each is tested by the number of its row (from 22 on in `test_runtime_integrity_later.py`); what it
does to the stored state is tested in `test_tool_interaction_state.py` and `..._ids.py`. These rows
have their tests in other places:

- 8, killed and resumed: `store/test_sessions.py`, `test_after_kill_nine_...`
- 10, compaction inside a batch or in flight: `test_compaction_scenarios.py`
- 12, words before the result: `test_field_pairing.py`, `test_b10_...`
- 13, something between call and result: `test_field_pairing_places.py`, `test_b21_...`,
  `test_b22_...`; what the user says meanwhile: `runtime/test_session.py`
- 14, signatures of another model or endpoint: `test_field_reasoning.py`, `test_c3_...`,
  `test_c12_...`; `test_provider_switch_matrix.py`
- 17, unsigned calls and parallel calls of Gemini: `test_field_reasoning.py`, `test_c2_...`;
  `test_field_pairing_places.py`, `test_b18_...`
- 18, hosts that demand reasoning beside calls: `test_field_reasoning_kept.py`, `test_c15_...`
- 21, parallel streamed calls without numbers: `test_field_streaming.py`, `test_d2_...`;
  `test_field_streaming_ends.py`, `test_d31_...`; `client/test_model.py`, `test_what_hosts_do_...`
- 26, one failure and its siblings: `runtime/test_scheduler.py`, `test_one_that_fails_...`
- 28, loops, cycles and refused calls: `agent/test_progress.py`; `test_tool_loop.py`
- 29, media in results: `test_field_arguments.py`, `test_f12_...`; `client/test_recovery.py`,
  `test_media_that_a_model_does_not_take_...`
- 31, calls as text, in pieces or quoted: `client/test_model.py`, `test_calls_that_leaked_...`;
  `syntax/test_detection.py`, `test_what_is_quoted_...`
"""

import asyncio

import pytest

from canonicall.blocks import Message, Text, ToolResult
from canonicall.conversation import Conversation
from canonicall.runtime.events import ToolCallEvent
from canonicall.testing.script import call, says, thought
from canonicall.tools.functions import tool
from scenarios.runtime_support import (
    PLACES,
    cut_everywhere,
    heard,
    noting,
    outcomes,
    statuses,
    talking,
)

each_place = pytest.mark.parametrize("place", PLACES)


@each_place
async def test_row_7_after_an_interrupt_the_next_request_is_accepted(place):
    """Stopped while one tool runs and one has ended: every later request is fine."""

    @tool
    async def hang() -> str:
        """Waits for ever."""
        await asyncio.Event().wait()

    ran = []
    batch = says("I will.", call("write", path="a"), call("hang"))
    async with talking(place, batch, "I see.", tools=[noting(ran), hang], grace=0.0) as one:
        async for event in one.send("Go."):
            if isinstance(event, ToolCallEvent) and event.phase == "ended":
                one.cancel()
        assert outcomes(one) == ["completed", "unknown"]
        events = await heard(one, "What happened?")
    assert events[-1].text == "I see."
    assert statuses(one) == [200, 200]
    assert ran == ["a"]


def damaged():
    """What is left of a history that was cut without care: an orphan, a lost and an open call."""
    made = Conversation()
    made.append(Message("tool", (ToolResult(call_id="gone", content=(Text(text="orphaned"),)),)))
    made.user("Write two files.")
    first, _ = made.assistant([call("write", path="a"), call("write", path="b")]).calls
    made.result(first.id, "wrote a")
    made.user("And a third.")
    made.assistant([call("write", path="c")])
    return made


@each_place
async def test_row_11_the_request_for_a_summary_is_sound_where_the_history_is_not(place):
    """The rescue must not fail of what it is to rescue from."""
    async with talking(place, "Two files.", conversation=damaged()) as one:
        events = await heard(one, "Summarise what happened.")
    assert events[-1].text == "Two files."
    assert statuses(one) == [200]


@pytest.mark.parametrize("is_quiet", [False, True])
@pytest.mark.parametrize("place", ["anthropic", "bedrock", "gemini", "cohere"])
async def test_row_15_a_thought_that_broke_off_is_never_sent_back_half(place, is_quiet):
    """With an error or in silence: the provider, which knows its signatures, takes what follows."""
    async for one, events, _ in cut_everywhere(place, is_quiet=is_quiet):
        assert set(statuses(one)) == {200}
        assert events[-1].text == "Done."
        assert not one.conversation.ledger.open
    if place in ("anthropic", "bedrock"):
        # The last answer was whole, and so its signed thought goes back.
        assert "Let me see." in str(one.served.seen[-1].body)


@pytest.mark.parametrize("place", ["anthropic", "bedrock", "gemini"])
async def test_row_16_thoughts_of_two_replies_in_a_row_are_not_spliced(place):
    """Each reply keeps its signed thought before its own words, and the provider takes both."""
    steps = (says(thought("One."), "First."), says(thought("Two."), "Second."), "Third.")
    async with talking(place, *steps[:2]) as one:
        await heard(one, "Hello?")
        await heard(one, "Go on.")
        asked, first, _, second = one.conversation.entries
    joined = Conversation()
    for entry in (asked, first, second):
        joined.append(entry)
    async with talking(place, *steps[2:], conversation=joined) as one:
        await heard(one, "And?")
    assert statuses(one) == [200]
    told = str(one.served.seen[0].body)
    places = [told.find(words) for words in ("One.", "First.", "Two.", "Second.")]
    assert [at for at in places if at >= 0] == sorted(at for at in places if at >= 0)
    assert min(places[1], places[3]) >= 0


@pytest.mark.parametrize("is_quiet", [False, True])
async def test_row_19_reasoning_items_have_their_followers_wherever_a_reply_broke_off(is_quiet):
    """Items of reasoning, calls and outputs come in sets that the Responses API accepts."""
    async for one, events, _ in cut_everywhere("openai/openai-responses", is_quiet=is_quiet):
        assert set(statuses(one)) == {200}
        assert events[-1].text == "Done."


async def test_row_19_a_call_goes_to_another_service_without_what_only_openai_reads():
    """Encrypted reasoning and item ids of one service are not shown to another."""
    said = says(thought("Hm."), call("write", path="a"))
    async with talking("openai/openai-responses", said, "Done.", tools=[noting([])]) as one:
        await heard(one)
        at_home = str(one.served.seen[-1].body)
    assert "encrypted_content" in at_home
    async with talking(
        "azure/openai-responses", "Hello.", tools=[noting([])], conversation=one.conversation
    ) as other:
        await heard(other, "And you?")
    assert statuses(other) == [200]
    assert "encrypted_content" not in str(other.served.seen[-1].body)


@each_place
@pytest.mark.parametrize("fault", ["cut_arguments", "bad_arguments"])
async def test_row_20_cut_arguments_are_never_run(place, fault):
    """No half of a file and no `{}` is written; a comma too many may be repaired, to the whole.

    The model hears of it, and what was broken does not spoil the requests that follow.
    """
    files, whole = [], "a long text " * 20

    @tool
    async def write(text: str = "") -> str:
        """Writes a file."""
        files.append(text)
        return "written"

    steps = (says(call("write", text=whole)), "Done.", "Still here.")
    async with talking(place, *steps, tools=[write], faults=[fault]) as one:
        await heard(one)
        await heard(one, "And?")
    assert files in ([[]] if fault == "cut_arguments" else [[], [whole]])
    assert set(statuses(one)) == {200}
    assert not one.conversation.ledger.open
