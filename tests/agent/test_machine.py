"""The loop of an agent, step by step."""

import pytest

from agent.driving import Driver, last_reason, machine_for, outcomes, said
from agent.tools_at_hand import ask_person, broken, clock, pay, run, texts, weather
from canonicall.agent.commands import AskApproval, CallModel, Finish, RunBatch, Withdraw
from canonicall.agent.inputs import CallEnded, Decided, ModelChosen, ModelFailed, ModelReplied
from canonicall.agent.limits import RunLimits
from canonicall.blocks import Text, ToolCall, ToolResult
from canonicall.codec import encode_request
from canonicall.errors import InvalidValue
from canonicall.facts.registry import get_target, provider_names
from canonicall.reply import LENGTH
from canonicall.request import Request
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.verify import verify


class TestAnswering:
    def test_words_without_calls_are_the_end(self):
        driver = run("Hello.")
        assert last_reason(driver) == "answered"
        assert texts(driver.machine) == ["Paris?", "Hello."]

    def test_calls_are_run_and_the_model_is_asked_again(self):
        driver = run(says(call("weather", city="Paris")), "Sunny.")
        assert driver.run_calls == [("weather", {"city": "Paris"})]
        assert outcomes(driver.machine) == [("weather", "completed")]
        assert last_reason(driver) == "answered"

    def test_parallel_calls_are_one_batch_and_each_result_finds_its_call(self):
        """Results that come back in reverse are still those of their calls."""
        steps = [says(call("weather", city="Paris"), call("clock", city="Rome")), "Done."]
        driver = Driver(machine_for(weather, clock), ScriptedModel(steps), reverse=True)
        driver.run(said("Both?"))
        batches = [one for one in driver.commands if isinstance(one, RunBatch)]
        assert [len(one.batch.calls) for one in batches] == [2]
        ledger = driver.machine.conversation.ledger.values()
        assert [(one.name, one.result.text) for one in ledger] == [
            ("weather", "sunny in Paris"),
            ("clock", "noon in Rome"),
        ]

    def test_a_tool_that_raises_gives_an_error_and_the_loop_goes_on(self):
        driver = run(says(call("broken")), "It failed.", tools=(broken,))
        (one,) = driver.machine.conversation.ledger.values()
        assert one.result.error
        assert "no disk" in one.result.text
        assert last_reason(driver) == "answered"

    def test_a_model_that_fails_ends_the_run(self):
        machine = machine_for(weather)
        machine.step(said("Hi"))
        assert machine.step(ModelFailed("503")) == [Finish("failed", "503")]
        assert machine.is_idle

    def test_a_reply_nobody_asked_for_is_refused(self):
        with pytest.raises(InvalidValue, match="did not wait"):
            machine_for(weather).step(ModelReplied(says("Hello.")))


class TestRefusals:
    def test_wrong_arguments_are_told_and_the_model_may_correct_itself(self):
        driver = run(says(call("weather")), says(call("weather", city="Paris")), "Sunny.")
        assert outcomes(driver.machine) == [("weather", "invalid"), ("weather", "completed")]
        assert driver.run_calls == [("weather", {"city": "Paris"})]

    def test_empty_arguments_again_and_again_come_to_an_end(self):
        """The model is asked for words in the end, with the tools declared but forbidden."""
        steps = [says(call("weather")) for _ in range(3)]
        driver = run(*steps, "I cannot find out.")
        assert last_reason(driver) == "corrections_exhausted"
        assert driver.run_calls == []
        last = [one for one in driver.commands if isinstance(one, CallModel)][-1]
        assert last.is_last
        assert last.request.tool_choice.mode == "none"
        assert last.request.tools

    def test_a_tool_that_was_not_offered_is_answered(self):
        driver = run(says(call("delete_all")), "Sorry.")
        assert outcomes(driver.machine) == [("delete_all", "invalid")]

    def test_a_call_that_was_cut_is_never_run(self):
        cut = ToolCall(name="weather", raw='{"city": "Pa', truncated=True)
        driver = run(says(cut, finish=LENGTH), "Again.")
        assert driver.run_calls == []
        assert outcomes(driver.machine) == [("weather", "truncated")]


class TestApprovals:
    def test_nothing_runs_before_somebody_agreed(self):
        steps = [says(call("pay", amount=3), call("weather", city="Rome")), "Paid."]
        machine = machine_for(pay, weather)
        driver = Driver(
            machine, ScriptedModel(steps), decide=lambda call: Decided(call.id, "allow")
        )
        driver.run(said("Pay."))
        asked = [one for one in driver.commands if isinstance(one, AskApproval)]
        assert [call.name for one in asked for call in one.calls] == ["pay"]
        assert [name for name, _ in driver.run_calls] == ["weather", "pay"]

    def test_a_denied_call_is_told_so_with_the_reason(self):
        steps = [says(call("pay", amount=3)), "Then not."]
        machine = machine_for(pay)
        deny = lambda call: Decided(call.id, "deny", "too much")  # noqa: E731
        driver = Driver(machine, ScriptedModel(steps), decide=deny)
        driver.run(said("Pay."))
        (one,) = machine.conversation.ledger.values()
        assert (str(one.outcome), one.why) == ("denied", "too much")
        assert driver.run_calls == []

    def test_arguments_can_be_edited(self):
        steps = [says(call("pay", amount=300)), "Paid."]
        machine = machine_for(pay)
        edit = lambda made: Decided(made.id, "allow", edited=call("pay", amount=3))  # noqa: E731
        driver = Driver(machine, ScriptedModel(steps), decide=edit)
        driver.run(said("Pay."))
        assert driver.run_calls == [("pay", {"amount": 3})]

    def test_the_first_decision_counts(self):
        machine = machine_for(pay)
        machine.step(said("Pay."))
        (asked,) = machine.step(ModelReplied(says(call("pay", amount=3))))
        (id,) = (call.id for call in asked.calls)
        assert isinstance(machine.step(Decided(id, "allow"))[0], RunBatch)
        assert machine.step(Decided(id, "deny")) == []

    def test_an_external_result_is_waited_for(self):
        steps = [says(call("ask_person", question="Why?")), "Because."]
        answer = ToolResult(content=(Text(text="because"),), is_complete=True)
        machine = machine_for(ask_person)
        driver = Driver(machine, ScriptedModel(steps), supply=lambda call: answer)
        driver.run(said("Ask."))
        assert outcomes(machine) == [("ask_person", "completed")]

    @pytest.mark.parametrize("policy", ["wait", "supersede"])
    def test_what_happens_when_the_user_types_on(self, policy):
        machine = machine_for(pay, while_pending=policy)
        machine.step(said("Pay."))
        (asked,) = machine.step(ModelReplied(says(call("pay", amount=3))))
        commands = machine.step(said("Wait, what does it cost?"))
        if policy == "wait":
            assert commands == []
            assert not machine.conversation.ledger[asked.calls[0].id].outcome
        else:
            assert [type(one) for one in commands] == [Withdraw, CallModel]
            assert outcomes(machine) == [("pay", "superseded")]
            assert texts(machine)[-1] == "Wait, what does it cost?"


class TestSteering:
    def test_words_wait_until_no_call_is_open(self):
        machine = machine_for(weather)
        machine.step(said("Paris?"))
        (batch,) = machine.step(ModelReplied(says(call("weather", city="Paris"))))
        assert machine.step(said("And Rome?")) == []
        assert texts(machine) == ["Paris?"]
        (made,) = batch.batch.calls
        result = ToolResult(call_id=made.id, content=(Text(text="sunny"),))
        (ask,) = machine.step(CallEnded(made.id, result))
        roles = [message.role for message in ask.request.conversation.messages]
        assert roles == ["user", "assistant", "tool", "user"]

    def test_a_turn_stays_with_the_model_that_began_it(self):
        machine = machine_for(weather)
        machine.step(said("Paris?"))
        machine.step(ModelChosen(get_target("anthropic")))
        (batch,) = machine.step(ModelReplied(says(call("weather", city="Paris"))))
        (made,) = batch.batch.calls
        (ask,) = machine.step(CallEnded(made.id, ToolResult(content=(Text(text="sunny"),))))
        assert ask.target.provider == "openai"
        machine.step(ModelReplied(says("Sunny.")))
        (ask,) = machine.step(said("And Rome?"))
        assert ask.target.provider == "anthropic"


SCENARIO = (
    says(call("weather", city="Paris"), call("pay", amount=3), call("weather")),
    says(call("ask_person", question="Why?"), call("clock", city="Rome")),
    "Done.",
)


@pytest.mark.parametrize("at", range(11))
def test_wherever_the_user_cancels_every_call_has_one_end(at):
    """L10, at every step of a run with all kinds of calls; the history is fit for every provider."""
    machine = machine_for(weather, clock, pay, ask_person)
    answer = ToolResult(content=(Text(text="because"),))
    driver = Driver(machine, ScriptedModel(SCENARIO), supply=lambda call: answer)
    steps = driver.run(said("Go."), cancel_after=at)
    assert steps <= 11
    assert machine.is_idle
    assert not machine.conversation.ledger.open
    assert len(driver.finished) == 1
    for name in provider_names():
        encoded = encode_request(Request(machine.conversation, model="m"), name)
        assert list(verify(encoded.body, name)) == []


def test_the_scenario_is_as_long_as_the_cancellations():
    driver = Driver(
        machine_for(weather, clock, pay, ask_person),
        ScriptedModel(SCENARIO),
        supply=lambda call: ToolResult(content=(Text(text="because"),)),
    )
    assert driver.run(said("Go.")) <= 10
    assert last_reason(driver) == "answered"


class TestCounters:
    def test_calls_refusals_and_repairs_are_counted_by_provider(self):
        @tool
        def count(number: int) -> str:
            """Counts."""
            return str(number)

        steps = [says(call("count", number="3"), call("count"), call("nothing")), "Done."]
        driver = run(*steps, tools=(count,), target="kimi")
        (counts,) = driver.machine.tally.by_provider.values()
        assert list(driver.machine.tally.by_provider) == ["kimi"]
        assert (counts.tool_calls_total, counts.tool_calls_invalid_args) == (3, 2)
        assert counts.tool_calls_repaired == 1

    def test_a_run_that_reaches_its_limit_is_counted(self):
        driver = run(says(call("weather", city="Paris")), "Done.", limits=RunLimits(turns=1))
        (counts,) = driver.machine.tally.by_provider.values()
        assert counts.tool_loop_max_iterations == 1
