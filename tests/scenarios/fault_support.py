"""What conversations with faults are held with: tools that tell what they were run for, a model that
asks until it knows, and simulators that do wrong what they are told to."""

import re

from canonicall.testing.exchange import SimResponse
from canonicall.testing.faults import Schedule
from canonicall.testing.script import call, says, thought
from canonicall.testing.simulator import Simulator
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset


def tools_that_tell(ran):
    """Tools that write down what they were run for."""

    def told(what):
        ran.append(what)
        return what

    @tool
    async def weather(city: str) -> str:
        """The weather."""
        return told(f"sunny in {city}")

    @tool
    async def clock(city: str) -> str:
        """The time."""
        return told(f"noon in {city}")

    return Toolset.of(weather, clock)


def answering(request):
    """A model that asks for what it does not know yet, and tells what it knows."""
    talk = request.conversation
    said = "\n".join(message.text for message in talk.messages if message.role == "user")
    city = re.findall(r"How is it in (\w+)\?", said)[-1]
    known = {one.result.text for one in talk.ledger.values() if one.result is not None}
    needed = {
        f"sunny in {city}": call("weather", city=city),
        f"noon in {city}": call("clock", city=city),
    }
    words = ["I will look at the sky and at the clock. " * 6]
    if needed.keys() <= known:
        needed, words = {f"sunny in {city}East": call("weather", city=f"{city}East")}, []
    if needed.keys() <= known:
        return says(right_answer(city))
    thinks = request.params.reasoning is not None and request.params.reasoning.enabled
    thoughts = [thought("Tools know.")] if thinks else []
    return says(*thoughts, *words, *(one for text, one in needed.items() if text not in known))


def right_answer(city):
    return f"{city}: sunny, noon; {city}East: sunny."


class Planned(Schedule):
    """Faults that are chosen as the conversation goes on."""

    def __init__(self):
        self.left = []

    def take(self):
        return frozenset(self.left.pop(0)) if self.left else frozenset()


class Refusing(Simulator):
    """Refuses as many requests as it is given words to refuse them in."""

    def __init__(self, provider, **options):
        super().__init__(provider, **options)
        self.refusals = []

    def answer(self, request):
        if not self.refusals:
            return super().answer(request)
        error = {"message": self.refusals.pop(0), "type": "invalid_request_error"}
        return SimResponse.json(400, {"error": error})
