"""Tools for machines, and a run of one to its end."""

from agent.driving import Driver, machine_for, said
from canonicall.testing.script import ScriptedModel
from canonicall.tools.functions import tool


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@tool
def clock(city: str) -> str:
    """The time in a city."""
    return f"noon in {city}"


@tool(approval="always")
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool(external=True)
def ask_person(question: str) -> str:
    """Ask a person."""


@tool(polling=True)
def status() -> str:
    """How far it is."""
    return "working"


@tool
def broken() -> str:
    """Fails."""
    raise RuntimeError("no disk")


@tool
def search(words: str) -> str:
    """Search."""
    return "nothing found"


def counter():
    """A tool that never gives the same result twice."""
    numbers = iter(range(100))

    @tool
    def counter() -> str:
        """Counts."""
        return f"run {next(numbers)}"

    return counter


def run(*steps, tools=(weather, clock), first="Paris?", **options):
    driver = Driver(machine_for(*tools, **options), ScriptedModel(steps))
    driver.run(said(first))
    return driver


def texts(machine):
    return [message.text for message in machine.conversation.messages if message.text]
