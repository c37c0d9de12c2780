"""`discover` and `conform` before a real server: what they find out is so, and nothing is broken."""

import pytest

from canonicall import Agent, discover, profile_text, register_provider, tool
from canonicall.facts.profile import load_profile
from canonicall.testing.conformance import probe_endpoint
from models.llama_server import MODEL

pytestmark = [pytest.mark.deep, pytest.mark.needs("models")]

WHEN = "2026-11-18"
ANSWERS = {
    "wire_format": "openai-chat",
    "structured_calls": True,
    "call_ids": "32 letters and digits",
    "ids_reused": False,
    "finish_with_calls": "tool_calls",
    "argument_streaming": "pieces",
    "usage_in_streams": True,
    "token_limit_field": "max_tokens",
    "parallel_switch": True,
    "strict_tools": True,
    "foreign_ids": True,
    "system_role": True,
    "users_in_a_row": True,
    "user_after_results": True,
    "text_beside_calls": True,
    "empty_results": True,
    "tools_with_history": False,
}
"""What depends on the server alone."""


@pytest.mark.parametrize("provider", ["", "llamacpp"])
async def test_nothing_is_broken(llama, provider):
    """By the rules of the format, and by those that we believe of this server."""
    asked = {"format": "openai-chat"} if not provider else {"provider": provider}
    report = await probe_endpoint(llama.base_url("calls"), **asked)
    report.raise_if_broken()
    assert {one.name for one in report.open} <= {"unpaired", "streamed", "parallel"}


async def test_calls_in_the_text_are_found(llama):
    report = await probe_endpoint(llama.base_url("leaks"), format="openai-chat")
    assert [check.name for check in report.checks if check.state == "broken"] == ["call"]
    assert "printed in the words, as hermes" in report["call"].evidence[0]


async def test_what_is_found_out_of_it(llama):
    info = await discover(llama.base_url("calls"))
    found = {one.question: one.answer for one in info.statements}
    assert found.items() >= ANSWERS.items()
    # The model may go on in words up to the limit: then nothing is known.
    assert found["choice_required"] in (None, "obeyed")
    assert load_profile(profile_text(info, date=WHEN, name="house"), "house").format == info.parser


async def test_a_host_that_prints_calls_is_found_out_and_used(llama):
    info = await discover(llama.base_url("leaks"))
    assert info.answer("structured_calls") is False
    assert info.answer("text_syntax") == info.parser == "hermes"

    ran = []

    @tool
    async def get_weather(city: str) -> str:
        """The weather in a city."""
        ran.append(city)
        return "windy"

    register_provider(profile_text(info, date=WHEN, name="house"))
    async with Agent(f"house:{MODEL}", tools=[get_weather]) as agent:
        assert await agent.ask("get_weather: Oslo?") == "It is windy in Oslo."
    assert ran == ["Oslo"]
