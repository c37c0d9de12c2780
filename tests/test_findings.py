"""Reports: for programs and for people."""

import msgspec

from canonicall import Action, Fault, Finding, Report

ORPHAN = Finding("orphan_result", "entries[2].blocks[0]", Action.SET_ASIDE, "Why.", Fault.INPUT)
REUSED = Finding("reused_call_id", "entries[3].blocks[1]", Action.KEPT, "Why too.", Fault.INPUT)


def test_a_report_answers_by_code():
    report = Report.of([ORPHAN, REUSED, REUSED])
    assert "orphan_result" in report
    assert "duplicate_result" not in report
    assert report.counts == {"orphan_result": 1, "reused_call_id": 2}
    assert len(report) == 3
    assert list(report) == [ORPHAN, REUSED, REUSED]


def test_an_empty_report_is_false_and_says_so():
    assert not Report()
    assert str(Report()) == "nothing to report"


def test_a_finding_reads_as_a_sentence_with_its_place():
    assert str(ORPHAN) == "entries[2].blocks[0]: Why. [orphan_result, set_aside]"
    assert str(Report.of([ORPHAN, REUSED])).count("\n") == 1


def test_a_finding_that_was_stored_without_places_can_be_read():
    old = {"code": "orphan_result", "where": ORPHAN.where, "action": "set_aside"}
    read = msgspec.convert({**old, "why": "Why.", "fault": "input"}, Finding)
    assert read == ORPHAN
    assert (read.came, read.went, read.rule) == ("", "", "")
    assert msgspec.json.decode(msgspec.json.encode(read), type=Finding) == ORPHAN
