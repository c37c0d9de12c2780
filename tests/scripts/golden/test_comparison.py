import io

import pytest

from scripts.golden import report
from scripts.golden.comparison import DriverFailed, Progress, compare

END = b'end\t{"body":2,"findings":1}\n'
BODY = b'body\topenai\topenai\tone\t\t{"a":1}\n'
OTHER = b'body\topenai\topenai\tone\tlate\t{"a":2}\n'
SECOND = b'body\tmistral\tmistral\ttwo\t\t{"a":1}\n'
FINDINGS = b"findings\topenai\topenai\tone\t\t[]\n"
LATE = b'findings\topenai\topenai\tone\t\t[["late","x","kept","input"]]\n'


def test_equal_lines_are_counted_and_not_kept():
    found = compare([BODY, SECOND, FINDINGS, END], [BODY, SECOND, FINDINGS, END])
    assert found.records == {"body": 2, "findings": 1}
    assert found.groups.largest_first() == []


def test_lines_that_differ_are_grouped():
    found = compare([BODY, SECOND, FINDINGS, END], [OTHER, SECOND, LATE, END])
    groups = found.groups.largest_first()
    assert [(one.kind, one.path, one.codes) for one in groups] == [
        ("body", "a", "+late"),
        ("findings", "added", "late"),
    ]


@pytest.mark.parametrize("lines", [[BODY], [], [BODY, SECOND]])
def test_a_driver_that_ends_early_is_an_error(lines):
    with pytest.raises(DriverFailed, match="ended after"):
        compare(lines, [BODY, SECOND, FINDINGS, END])
    with pytest.raises(DriverFailed, match="ended after"):
        compare([BODY, SECOND, FINDINGS, END], lines)


def test_drivers_that_write_different_records_are_an_error():
    with pytest.raises(DriverFailed, match="different records"):
        compare([BODY, END], [SECOND, END])
    with pytest.raises(DriverFailed, match="different records"):
        compare([BODY, END], [BODY, FINDINGS, END])


def test_contents_may_hold_what_parts_columns():
    before = b'vectors\tvllm\tauto\tone\t\t"a\\tb"\n'
    after = b'vectors\tvllm\tauto\tone\t\t"a\\tc"\n'
    (group,) = compare([before, END], [after, END]).groups.largest_first()
    assert (group.examples[0].before, group.examples[0].after) == ("a\tb", "a\tc")


def test_progress_says_how_far_it_is():
    out = io.StringIO()
    lines = [BODY] * 4_096 + [END]
    compare(lines, lines, progress=Progress(out, seconds=0))
    assert out.getvalue() == "4,096 records, 0 differ\n"


def test_the_report_is_a_table_and_then_the_groups():
    found = compare([BODY, SECOND, FINDINGS, END], [OTHER, SECOND, LATE, END])
    assert report.as_text(found, "old", "new") == (
        "before: old\n"
        "after:  new\n"
        "\n"
        "kind      groups  differences  of records\n"
        "body           1            1           2\n"
        "findings       1            1           1\n"
        "\n"
        "1 x body: a [+late]\n"
        "  openai 1\n"
        "  openai, one\n"
        "    1 | 2\n"
        "\n"
        "1 x findings: added [late]\n"
        "  openai 1\n"
        "  openai, one\n"
        "    (absent) | x, kept, input\n"
    )


def test_the_report_says_that_nothing_differs():
    found = compare([BODY, SECOND, FINDINGS, END], [BODY, SECOND, FINDINGS, END])
    assert report.as_text(found, "old", "new").endswith("\nNothing differs.\n")


def test_the_report_for_tools_has_the_same():
    found = compare([BODY, SECOND, FINDINGS, END], [OTHER, SECOND, FINDINGS, END])
    value = report.as_value(found, "old", "new")
    assert value["kinds"]["body"] == {"groups": 1, "differences": 1, "records": 2}
    assert value["groups"] == [
        {
            "kind": "body",
            "path": "a",
            "codes": "+late",
            "count": 1,
            "providers": {"openai": 1},
            "examples": [
                {"provider": "openai", "target": "openai", "id": "one", "before": "1", "after": "2"}
            ],
        }
    ]
