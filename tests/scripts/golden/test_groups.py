from scripts.golden.contents import Difference
from scripts.golden.groups import Groups, Source, around


def add(groups, id, *, provider="openai", kind="body", path="a", codes="", before="1", after="2"):
    source = Source(kind, provider, provider, id)
    groups.add(source, [Difference(path, codes, before, after)])


def test_equal_changes_are_one_group_with_its_providers():
    groups = Groups()
    add(groups, "1")
    add(groups, "2")
    add(groups, "2", provider="mistral")
    (group,) = groups.largest_first()
    assert group.count == 3
    assert group.providers == {"openai": 2, "mistral": 1}


def test_kind_path_and_codes_part_groups():
    groups = Groups()
    add(groups, "1")
    add(groups, "1", kind="damaged-body")
    add(groups, "1", path="b")
    add(groups, "1", codes="+late")
    assert len(groups.largest_first()) == 4


def test_the_largest_group_is_first():
    groups = Groups()
    add(groups, "1", path="rare")
    add(groups, "1", path="often")
    add(groups, "2", path="often")
    assert [group.path for group in groups.largest_first()] == ["often", "rare"]


def test_a_record_counts_once_in_a_group_and_once_in_its_kind():
    groups = Groups()
    twice = [
        Difference("a", "", "1", "2"),
        Difference("a", "", "3", "4"),
        Difference("b", "", "", ""),
    ]
    groups.add(Source("body", "openai", "openai", "1"), twice)
    assert [group.count for group in groups.largest_first()] == [1, 1]
    assert groups.records == {"body": 1}


def test_examples_are_few_and_of_different_records_and_providers():
    groups = Groups(examples=2)
    for provider in ("a", "b", "c"):
        add(groups, "1", provider=provider)
    for provider in ("a", "b", "c"):
        add(groups, "2", provider=provider)
    add(groups, "3", provider="c")
    (group,) = groups.largest_first()
    shown = [(example.provider, example.id) for example in group.examples]
    assert len(shown) == 2
    assert len({id for _, id in shown}) == 2
    assert len({provider for provider, _ in shown}) == 2


def test_texts_are_cut_around_the_first_difference():
    before, after = around("x" * 500 + "old" + "y" * 500, "x" * 500 + "new" + "y" * 500, 30)
    assert before == "…xxxxxxxxxoldyyyyyyyyyyyyyyyy…"
    assert after == "…xxxxxxxxxnewyyyyyyyyyyyyyyyy…"
    assert around("short", "shore", 30) == ("short", "shore")


def test_a_difference_at_the_end_is_shown():
    before, after = around("x" * 100, "x" * 100 + "end", 20)
    assert after.endswith("end")
    assert before.endswith("xxx")


def test_examples_are_kept_short():
    groups = Groups()
    add(groups, "1", before="x" * 100_000, after="y" * 100_000)
    (group,) = groups.largest_first()
    assert len(group.examples[0].before) < 1_000
