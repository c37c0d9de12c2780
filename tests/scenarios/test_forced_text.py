"""The last turn of a run, in which the model is asked for words: no end without answer and reason."""

import pytest

from canonicall import Agent, AgentFailed, Message, Reply, RunLimits, Text, Thinking, ToolCall, tool
from canonicall.agent.progress import LoopPolicy
from canonicall.blocks import Media
from canonicall.runtime.model import LocalModel


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


CALL = ToolCall(name="weather", args={"city": "Rome"})
WORDS, OTHER = Text(text="Sunny."), Text(text="Really.")
PICTURE = Media(media_type="image/png", data="aGk=")
NO_ANSWER = "the model gave no answer"
ONLY_CALLS = "the model called tools instead of answering"
ENDS = {
    "nothing": ([()], "", NO_ANSWER),
    "blank words": ([(Text(text=" \n"),)], "", NO_ANSWER),
    "a thought": ([(Thinking(text="Hm."),)], "", NO_ANSWER),
    "calls, then nothing": ([(CALL,), ()], "", NO_ANSWER),
    "calls, and again": ([(CALL,), (CALL,)], "", ONLY_CALLS),
    "calls, then words": ([(CALL,), (WORDS,)], "Sunny.", ""),
    "words and calls, and again": ([(OTHER, CALL), (WORDS, CALL)], "Sunny.", ""),
    "words and calls, then nothing": ([(WORDS, CALL), ()], "Sunny.", ""),
    "words and calls, then calls": ([(WORDS, CALL), (CALL,)], "Sunny.", ""),
    "words": ([(WORDS,)], "Sunny.", ""),
    "a picture": ([(PICTURE,)], "", ""),
}


async def ended(replies, finish="stop", **options):
    """How a run ends in which the model answers so."""
    said = iter(replies)

    def model(request):
        return Reply(Message("assistant", next(said), finish=finish))

    session = Agent(LocalModel(model), "openai", tools=[weather]).session(**options)
    *_, end = [event async for event in session.send("How is it?")]
    assert not session.conversation.ledger.open
    await session.close()
    return end


@pytest.mark.parametrize(("last", "text", "why"), ENDS.values(), ids=ENDS)
async def test_at_the_limit_there_is_an_answer_or_a_reason(last, text, why):
    end = await ended([(CALL,), *last], limits=RunLimits(turns=1))
    assert end.reason == "limit"
    assert end.text.strip() == text
    assert end.detail == ("turns reached 1; " + why if why else "turns reached 1")


@pytest.mark.parametrize(("last", "text", "why"), ENDS.values(), ids=ENDS)
async def test_behind_a_loop_there_is_an_answer_or_a_reason(last, text, why):
    end = await ended([(CALL,), (CALL,), *last], loops=LoopPolicy(repeats=2))
    assert end.reason == "loop"
    assert end.text.strip() == text
    assert end.detail.endswith(why)


@pytest.mark.parametrize("finish", ["stop", "filter", "length", "refusal"])
async def test_a_run_that_ends_by_itself_without_an_answer_says_so(finish):
    """There was no limit: the model has nothing to say, or is not let say it."""
    end = await ended([()], finish)
    told = NO_ANSWER if finish == "stop" else f"{NO_ANSWER} ({finish})"
    assert (end.reason, end.detail, end.text) == ("answered", told, "")


@pytest.mark.parametrize(
    ("last", "text", "why"), [ENDS["nothing"], ENDS["blank words"], ENDS["calls, and again"]]
)
async def test_who_asks_an_agent_is_told_why_there_is_no_answer(last, text, why):
    said = iter([(CALL,), *last])
    model = LocalModel(lambda request: Reply(Message("assistant", next(said))))
    agent = Agent(model, "openai", tools=[weather], limits=RunLimits(turns=1))
    with pytest.raises(AgentFailed, match=f"turns reached 1; {why}"):
        await agent.ask("How is it?")
