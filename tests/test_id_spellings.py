"""When two texts may be the same id, and when they may not."""

import pytest

from canonicall.ids import Spellings

LONG = "call_" + "x" * 40 + "y" * 30

SAME = [
    ("call_x", "toolu_x"),
    ("call_x", "hist_tool_x"),
    ("call_x", "x"),
    ("toolu_x", "call_x"),
    ("tooluse_Ab1", "call_Ab1"),
    ("x", "call_x"),
    ("functions.a:0", "functions_a_0"),
    ("functions_a_0", "functions.a:0"),
    ("functions.a:0", "call_functions_a_0"),
    ("call_x", "  call_x\n"),
    (" call_x", "call_x"),
    ("call_x|fc_1", "call_x"),
    ("call_x|fc_1", "fc_1"),
    ("call_x", "call_x|fc_1"),
    ("call_x|fc_1", "call_x_fc_1"),
    (LONG, LONG[:40]),
    (LONG, LONG[:64]),
    (LONG[:40], LONG),
    (LONG[:64], LONG),
]
OTHER = [
    ("call_x", "call_X"),
    ("call_x", "call_y"),
    ("call_1", "call_11"),
    ("functions.a:0", "functions.a:1"),
    ("functions.a:0", "functionsa0"),
    (LONG, LONG[:41]),
    (LONG + "1", LONG + "2"),
    ("call_", "toolu_"),
    ("", "call_x"),
    ("call_x|fc_1", "call_y|fc_2"),
    ("call_1", "call_x|fc_1"),
    ("1", "call_x|fc_1"),
    ("call_x|fc_1", "toolu_1"),
]


def matching(known, named):
    spellings = Spellings()
    spellings.add(known, "the call")
    return spellings.matching(named, {"the call"}, 3)


@pytest.mark.parametrize(("known", "named"), SAME)
def test_the_same_id_in_another_spelling(known, named):
    assert matching(known, named) == ["the call"]


@pytest.mark.parametrize(("known", "named"), OTHER)
def test_another_id(known, named):
    assert matching(known, named) == []


IDS = ("call_x", "toolu_x", "call_y", "tooluse_x", "fc_x")


def test_all_calls_that_may_be_meant_are_named_up_to_a_number():
    spellings = Spellings()
    for id in IDS:
        spellings.add(id, id)
    assert spellings.matching("x", {"toolu_x", "call_y"}, 3) == ["toolu_x"]
    spellings = Spellings()
    for id in IDS:
        spellings.add(id, id)
    assert spellings.matching("x", IDS, 3) == ["call_x", "toolu_x", "tooluse_x"]
    assert spellings.matching("x", IDS[1:], 2) == ["toolu_x", "tooluse_x"]


def test_many_calls_of_one_spelling_cost_no_more_than_as_many_others():
    """Each call is looked at a few times, however many results may mean it."""
    looked = []

    class Open:
        def __contains__(self, call):
            looked.append(call)
            return call >= 900

    spellings, count = Spellings(), 1_000
    for number in range(count):
        spellings.add("a.b", number)
    for _ in range(count):
        assert spellings.matching("a_b", Open(), 3) == [900, 901, 902]
    assert len(looked) < 10 * count
