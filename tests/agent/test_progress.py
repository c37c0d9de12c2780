"""Runs that lead nowhere, and how far any run may go."""

import pytest

from agent.driving import Driver, last_reason, machine_for, outcomes, said
from agent.tools_at_hand import counter, pay, run, search, status, texts
from canonicall.agent.commands import CallModel, Finish
from canonicall.agent.inputs import Decided
from canonicall.agent.limits import RunLimits
from canonicall.agent.progress import LoopPolicy
from canonicall.errors import InvalidValue
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool


class TestLimits:
    def test_at_the_limit_of_turns_there_is_one_last_answer(self):
        steps = [says(call("weather", city=name)) for name in ("Paris", "Rome")]
        driver = run(*steps, "That is all I know.", limits=RunLimits(turns=2))
        models = [one for one in driver.commands if isinstance(one, CallModel)]
        assert [one.is_last for one in models] == [False, False, True]
        assert driver.finished == [Finish("limit", "turns reached 2")]
        assert texts(driver.machine)[-1] == "That is all I know."

    def test_a_model_that_calls_all_the_same_is_not_obeyed(self):
        """It is told once that there are no tools any more; then it is over."""
        steps = [says(call("weather", city=name)) for name in ("Paris", "Rome", "Oslo")]
        driver = run(*steps, limits=RunLimits(turns=1))
        assert driver.run_calls == [("weather", {"city": "Paris"})]
        assert outcomes(driver.machine) == [
            ("weather", "completed"),
            ("weather", "not_run"),
            ("weather", "not_run"),
        ]
        assert last_reason(driver) == "limit"

    def test_a_model_that_is_told_that_no_tool_is_left_has_the_last_word(self):
        steps = [says(call("weather", city=name)) for name in ("Paris", "Rome")]
        driver = run(*steps, "That is all.", limits=RunLimits(turns=1))
        assert last_reason(driver) == "limit"
        assert driver.machine.conversation.entries[-1].text == "That is all."

    def test_a_limit_that_says_stop_stops(self):
        driver = run(
            says(call("weather", city="Paris")),
            limits=RunLimits(tool_calls=1, at_tool_calls="stop"),
        )
        assert driver.finished == [Finish("limit", "tool_calls reached 1")]

    def test_the_next_question_begins_anew(self):
        driver = run("One.", "Two.", limits=RunLimits(turns=1))
        driver.run(said("And now?"))
        assert [one.reason for one in driver.finished] == ["answered", "answered"]


class TestProgress:
    def test_the_same_call_with_the_same_result_is_a_loop(self):
        steps = [says(call("weather", city="Paris")) for _ in range(3)]
        driver = run(*steps, "I am going in circles.")
        assert last_reason(driver) == "loop"
        assert len(driver.run_calls) == 3

    def test_a_cycle_of_two_is_a_loop(self):
        pair = [says(call("weather", city="Paris")), says(call("clock", city="Paris"))]
        driver = run(*pair * 3, "I am going in circles.")
        assert last_reason(driver) == "loop"

    def test_the_same_call_with_other_results_is_progress(self):
        results = iter(("1 failed", "2 failed", "3 failed", "passed"))

        @tool
        def run_tests() -> str:
            """Run the tests."""
            return next(results)

        driver = run(*[says(call("run_tests"))] * 4, "Fixed.", tools=(run_tests,))
        assert last_reason(driver) == "answered"

    def test_a_cycle_of_calls_in_one_turn_is_a_loop(self):
        both = says(call("weather", city="Paris"), call("clock", city="Paris"))
        assert last_reason(run(*[both] * 3, "Again.")) == "loop"

    def test_a_call_that_is_denied_every_time_is_a_loop(self):
        machine = machine_for(pay)
        steps = [says(call("pay", amount=3))] * 3
        driver = Driver(
            machine,
            ScriptedModel([*steps, "Then not."]),
            decide=lambda made: Decided(made.id, "deny"),
        )
        driver.run(said("Pay."))
        assert last_reason(driver) == "loop"

    def test_the_same_words_again_and_again_are_a_loop(self):
        """The results hide it: they differ by a number. What was called does not."""
        driver = run(
            *[says("Let me try again.", call("counter"))] * 4, "Enough.", tools=(counter(),)
        )
        assert driver.finished == [
            Finish("loop", "the same words again and again, and nothing new")
        ]
        assert len(driver.run_calls) == 4

    def test_a_cycle_of_words_is_a_loop(self):
        pair = [says("I look.", call("counter")), says("I look once more.", call("counter"))]
        driver = run(*pair * 4, "Enough.", tools=(counter(),))
        assert last_reason(driver) == "loop"
        assert len(driver.run_calls) == 8

    def test_the_same_words_with_other_arguments_and_the_same_answer_are_a_loop(self):
        steps = [says("I search.", call("search", words=f"word {n}")) for n in range(5)]
        driver = run(*steps, "Nothing there.", tools=(search,))
        assert last_reason(driver) == "loop"

    def test_the_same_words_with_something_new_are_progress(self):
        """Files that are read one after another may be announced in the same way."""
        steps = [says("The next one.", call("weather", city=f"city {n}")) for n in range(8)]
        assert last_reason(run(*steps, "All are sunny.")) == "answered"

    def test_no_words_are_not_the_same_words(self):
        driver = run(*[says(call("counter"))] * 6, "Done.", tools=(counter(),))
        assert last_reason(driver) == "answered"

    def test_words_beside_a_polling_tool_are_not_watched(self):
        driver = run(*[says("Still waiting.", call("status"))] * 8, "Ready.", tools=(status,))
        assert last_reason(driver) == "answered"

    def test_a_loop_can_end_the_run_at_once(self):
        steps = [says(call("weather", city="Paris")) for _ in range(3)]
        driver = run(*steps, loops=LoopPolicy(at_loop="stop"))
        assert last_reason(driver) == "loop"
        assert sum(isinstance(one, CallModel) for one in driver.commands) == 3

    @pytest.mark.parametrize(
        ("policy", "runs"),
        [(LoopPolicy(repeats=2), 2), (LoopPolicy(repeats=None, same_words=None), 7)],
    )
    def test_how_often_is_enough_is_a_choice(self, policy, runs):
        driver = run(*[says("So.", call("weather", city="Paris"))] * 7, "Done.", loops=policy)
        assert len(driver.run_calls) == runs

    def test_a_policy_that_takes_everything_for_a_loop_is_refused(self):
        with pytest.raises(InvalidValue, match="2 or more"):
            LoopPolicy(repeats=1)

    def test_a_polling_tool_may_be_asked_for_ever(self):
        driver = run(*[says(call("status"))] * 8, "Ready.", tools=(status,))
        assert last_reason(driver) == "answered"
