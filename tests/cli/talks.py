"""Tools, scripts and judgements for the tests of `run` and `chat`."""

import asyncio
import json

from canonicall.codec import encode_request
from canonicall.facts.registry import provider_names
from canonicall.request import Request
from canonicall.store.database import Database
from canonicall.store.sessions import SessionStore
from canonicall.verify import verify

TOOLS = '''
"""Tools of a test."""

import asyncio

from canonicall import ToolContext, tool


@tool
async def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@tool(approval="always")
async def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


@tool
async def slow(context: ToolContext) -> str:
    """Works until it is stopped."""
    context.report("at work")
    while not context.cancelled:
        await asyncio.sleep(0.01)
    return "stopped"
'''
SCENARIO = (
    {
        "text": "I will look.",
        "calls": [{"name": "weather", "arguments": {"city": "Paris"}}, {"name": "weather"}],
    },
    {"calls": [{"name": "pay", "arguments": {"amount": 3}}, {"name": "pray"}]},
    "All is done.",
)


def calls(name, **arguments):
    """A reply of a script with one call."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def write_script(folder, *replies):
    path = folder / "script.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return str(path)


def write_tools(folder):
    path = folder / "tools.py"
    path.write_text(TOOLS)
    return str(path)


def stored(path, id):
    """The conversation of a stored session."""

    async def load():
        database = Database(path)
        try:
            return (await SessionStore(database).load(id)).conversation
        finally:
            database.close()

    return asyncio.run(load())


def outcomes(conversation):
    return [(one.name, str(one.outcome)) for one in conversation.ledger.values()]


def refused_by(conversation):
    """The providers that would refuse to go on with a conversation."""
    assert not conversation.ledger.open
    conversation = conversation.fork()
    conversation.user("And now?")
    return [
        name
        for name in provider_names()
        if list(verify(encode_request(Request(conversation, model="m"), name).body, name))
    ]
