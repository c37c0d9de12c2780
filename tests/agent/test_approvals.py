"""Decisions about calls: once, for the session, by rule; each of them is data of the conversation."""

import pytest
from msgspec.structs import replace

from agent.driving import Driver, machine_for, outcomes, said
from canonicall.agent.commands import AskApproval, AwaitExternal, RunBatch
from canonicall.agent.inputs import Cancelled, Decided, ModelReplied, Supplied
from canonicall.agent.rules import means, rule_for, rule_like
from canonicall.blocks import CallClosed, Text, ToolCall, ToolResult
from canonicall.decisions import CallAsked, CallDecided, Rule, UserWentOn
from canonicall.errors import InvalidValue
from canonicall.persisted import dump, load
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool


@tool(approval="always")
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool(approval="always")
def shell(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


@tool(external=True, approval="always")
def ask_boss(question: str) -> str:
    """Ask somebody who is not here."""


def waiting(*calls, tools=(pay, shell, ask_boss), **options):
    """A machine whose calls wait for a decision, and their ids."""
    machine = machine_for(*tools, target="openai:gpt-5.2", **options)
    machine.step(said("Go."))
    machine.step(ModelReplied(says(*calls)))
    return machine, [one.id for one in machine.conversation.ledger.values()]


def records(machine, kind):
    return [entry for entry in machine.conversation.entries if isinstance(entry, kind)]


def asked_about(driver):
    commands = [one for one in driver.commands if isinstance(one, AskApproval)]
    return [call.args for one in commands for call in one.calls]


def driven(decide, *steps, conversation=None, **options):
    machine = machine_for(pay, shell, conversation=conversation, **options)
    driver = Driver(machine, ScriptedModel([*steps, "Done."]), decide=decide)
    driver.run(said("Go."))
    return driver


PAYMENTS = [says(call("pay", amount=amount)) for amount in (1, 2, 3)]


def test_once_is_for_one_call():
    driver = driven(lambda made: Decided(made.id, "allow"), *PAYMENTS)
    assert asked_about(driver) == [{"amount": 1}, {"amount": 2}, {"amount": 3}]


def test_for_the_session_is_for_every_later_call_of_the_tool():
    driver = driven(
        lambda made: Decided(made.id, "allow", scope="session"),
        *PAYMENTS,
        says(call("shell", command="ls")),
    )
    assert asked_about(driver) == [{"amount": 1}, {"command": "ls"}]
    assert [arguments for _, arguments in driver.run_calls][:3] == [
        {"amount": n} for n in (1, 2, 3)
    ]


def test_by_rule_is_for_the_calls_that_the_rule_means():
    commands = ("git status", "git log", "rm x", "git diff")
    driver = driven(
        lambda made: Decided(
            made.id, "allow", scope="rule", rule=Rule("sh*", {"command": "git *"})
        ),
        *(says(call("shell", command=command)) for command in commands),
    )
    assert asked_about(driver) == [{"command": "git status"}, {"command": "rm x"}]


PRINTED = [
    says(replace(call("shell", command=command), recovered=True)) for command in ("ls", "pwd")
]


def test_what_was_allowed_does_not_allow_calls_that_were_read_from_text():
    """Somebody else may have written the text."""
    allow = says(call("shell", command="ls"))
    driver = driven(lambda made: Decided(made.id, "allow", scope="session"), allow, *PRINTED)
    assert asked_about(driver) == [{"command": "ls"}] * 2
    asked = [one for command in driver.commands for one in getattr(command, "calls", ())]
    assert [one.recovered for one in asked if isinstance(one, ToolCall)] == [False, True]
    denied = driven(lambda made: Decided(made.id, "deny", scope="session"), allow, *PRINTED)
    assert asked_about(denied) == [{"command": "ls"}]


def test_a_tool_may_need_approval_only_if_its_call_was_read_from_text():
    @tool(approval="recovered")
    def look(place: str) -> str:
        """Look."""
        return place

    steps = [says(call("look", place="a")), says(replace(call("look", place="b"), recovered=True))]
    driver = Driver(
        machine_for(look),
        ScriptedModel([*steps, "Done."]),
        decide=lambda made: Decided(made.id, "deny"),
    )
    driver.run(said("Go."))
    assert asked_about(driver) == [{"place": "b"}]
    assert driver.run_calls == [("look", {"place": "a"})]


def test_a_denial_can_stand_as_well_and_keeps_its_reason():
    driver = driven(lambda made: Decided(made.id, "deny", "not today", scope="session"), *PAYMENTS)
    assert driver.run_calls == []
    ledger = driver.machine.conversation.ledger.values()
    assert [(str(one.outcome), one.why) for one in ledger] == [("denied", "not today")] * 3
    assert len(asked_about(driver)) == 1


def test_of_several_decisions_the_last_one_counts():
    machine = machine_for(pay)
    machine.step(Decided("", "allow", scope="rule", rule=Rule("*")))
    machine.step(Decided("", "deny", "no more", scope="rule", rule=Rule("pay")))
    machine.step(said("Go."))
    machine.step(ModelReplied(says(call("pay", amount=1))))
    assert outcomes(machine) == [("pay", "denied")]


def test_a_decision_that_stands_is_for_what_waits_already():
    machine, (first, _, _) = waiting(
        call("pay", amount=1), call("pay", amount=2), call("shell", command="ls")
    )
    commands = machine.step(Decided(first, "allow", scope="session"))
    assert [type(one) for one in commands] == [RunBatch, RunBatch]
    assert [one.name for one in machine.undecided] == ["shell"]
    commands = machine.step(Decided("", "deny", "no", scope="rule", rule=Rule("sh*")))
    assert machine.undecided == ()
    assert outcomes(machine)[-1] == ("shell", "denied")


def test_what_stands_is_in_force_again_when_the_conversation_is_loaded():
    driver = driven(lambda made: Decided(made.id, "allow", scope="session"), PAYMENTS[0])
    again = load(dump(driver.machine.conversation)).conversation
    later = driven(lambda made: pytest.fail("asked"), PAYMENTS[1], conversation=again.fork())
    assert [arguments for _, arguments in later.run_calls] == [{"amount": 2}]
    decided = records(later.machine, CallDecided)[-1]
    assert (decided.by, decided.rule, decided.scope) == ("rule", Rule("pay"), "once")


def test_whoever_wants_to_be_asked_each_time_is():
    driver = driven(
        lambda made: Decided(made.id, "allow", scope="session"), *PAYMENTS, standing_decisions=False
    )
    assert len(asked_about(driver)) == 3


def test_everything_about_a_decision_is_on_record():
    machine, (id,) = waiting(call("pay", amount=300))
    edited = call("pay", amount=3)
    machine.step(
        Decided(
            id, "allow", "that much", edited, scope="rule", rule=Rule("pay", {"amount": 3}), by="me"
        )
    )
    assert records(machine, CallAsked) == [CallAsked(id, "approval", "openai:gpt-5.2", bound=True)]
    assert records(machine, CallDecided) == [
        CallDecided(
            id, "allow", "rule", Rule("pay", {"amount": 3}), {"amount": 3}, "that much", "me", True
        )
    ]


def test_only_the_first_decision_is_on_record():
    machine, (id,) = waiting(call("ask_boss", question="Why?"))
    assert isinstance(machine.step(Decided(id, "allow"))[0], AwaitExternal)
    assert machine.step(Decided(id, "allow")) == []
    assert len(records(machine, CallDecided)) == 1
    assert [one.what for one in records(machine, CallAsked)] == ["approval", "external"]


@pytest.mark.parametrize(("policy", "ends"), [("wait", "None"), ("supersede", "superseded")])
def test_what_became_of_calls_when_the_user_went_on_is_on_record(policy, ends):
    machine, (id,) = waiting(call("pay", amount=3), while_pending=policy)
    machine.step(said("What does it cost?"))
    assert records(machine, UserWentOn) == [UserWentOn(policy, (id,), bound=True)]
    assert outcomes(machine) == [("pay", ends)]
    kinds = [type(entry) for entry in machine.conversation.entries]
    assert policy == "wait" or kinds.index(UserWentOn) < kinds.index(CallClosed)


def test_nothing_is_recorded_when_nothing_waited():
    machine = machine_for(pay)
    machine.step(said("Go."))
    machine.step(said("And go on."))
    assert records(machine, UserWentOn) == []


@pytest.mark.parametrize("how", ["cancel", "go on"])
def test_what_is_outside_may_have_acted_when_nobody_waits_any_more(how):
    """It is never said of an external call that it did not happen."""
    machine, (id,) = waiting(call("ask_boss", question="Why?"), while_pending="supersede")
    machine.step(Decided(id, "allow"))
    machine.step(Cancelled() if how == "cancel" else said("Never mind."))
    assert outcomes(machine) == [("ask_boss", "unknown")]
    machine.step(Supplied(id, ToolResult(content=(Text(text="because"),))))
    assert outcomes(machine) == [("ask_boss", "unknown")]
    assert "late_result" in machine.conversation.report


def test_a_result_from_outside_can_be_declined():
    machine, (id,) = waiting(call("ask_boss", question="Why?"))
    machine.step(Decided(id, "allow"))
    machine.step(Decided(id, "deny", "there is nobody"))
    assert outcomes(machine) == [("ask_boss", "denied")]


@pytest.mark.parametrize(
    "wrong", [Decided("", "allow"), Decided("", "allow", scope="session"), "rule without one"]
)
def test_a_decision_that_is_about_nothing_is_refused(wrong):
    machine, (id,) = waiting(call("pay", amount=3))
    decision = Decided(id, "allow", scope="rule") if isinstance(wrong, str) else wrong
    before = len(machine.conversation)
    with pytest.raises(InvalidValue, match="which calls"):
        machine.step(decision)
    assert len(machine.conversation) == before
    assert len(machine.undecided) == 1


@pytest.mark.parametrize(
    ("rule", "arguments", "is_meant"),
    [
        (Rule("pay"), {"amount": 3}, True),
        (Rule("p?y"), {}, True),
        (Rule("payments"), {}, False),
        (Rule("*", {"amount": 3}), {"amount": 3, "to": "x"}, True),
        (Rule("*", {"amount": 3}), {"amount": 4}, False),
        (Rule("*", {"amount": 3}), {}, False),
        (Rule("*", {"amount": 1}), {"amount": True}, False),
        (Rule("*", {"to": "a*"}), {"to": "abc"}, True),
        (Rule("*", {"to": "a*"}), {"to": "cab"}, False),
        (Rule("*", {"to": "a*"}), {"to": ["a"]}, False),
        (Rule("*", {"to": {"x": 1, "y": 2}}), {"to": {"y": 2, "x": 1}}, True),
        (Rule("[", {}), {}, False),
    ],
)
def test_which_calls_a_rule_means(rule, arguments, is_meant):
    made = ToolCall(name="pay", args=arguments)
    assert means(rule, made, "allow") is means(rule, made, "deny") is is_meant


def test_a_rule_with_arguments_means_no_call_without_them():
    made = ToolCall(name="pay", raw="3", kind="custom")
    assert not means(Rule("pay", {"amount": 3}), made, "allow")


@pytest.mark.parametrize("name", ["pay", "a[b]", "what?", "*"])
def test_the_rule_of_a_tool_or_a_call_means_no_other(name):
    made = ToolCall(name=name, args={"command": "rm *", "n": 1})
    for rule in (rule_for(made), rule_like(made)):
        assert means(rule, made, "allow")
        assert not means(rule, ToolCall(name="pax", args=made.args), "allow")
    other = ToolCall(name=name, args={"command": "rm x", "n": 1})
    assert not means(rule_like(made), other, "allow")
