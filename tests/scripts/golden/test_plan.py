import pytest

from scripts.golden.plan import KINDS, Names, make_plan

OLD = Names({"a": ["chat"], "gone": ["chat"]}, [("a", "chat", "m-1")])
NEW = Names({"a": ["responses", "chat"], "b": ["chat"]}, [("b", "chat", "m-2")])


def test_a_target_of_either_revision_is_asked_of_both():
    plan = make_plan([OLD, NEW])
    assert [one.name for one in plan.targets] == ["a", "a/chat", "b", "gone"]
    assert plan.models == [("a", "chat", "m-1"), ("b", "chat", "m-2")]
    assert plan.kinds == list(KINDS)


def test_the_first_format_of_the_newer_revision_needs_no_name():
    first, second, *_ = make_plan([OLD, NEW]).targets
    assert (first.name, first.format) == ("a", "responses")
    assert (second.name, second.format) == ("a/chat", "chat")


def test_an_unknown_kind_is_an_error_that_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"no kind is called bodies. Known: body, findings"):
        make_plan([NEW], kinds=["body", "bodies"])
