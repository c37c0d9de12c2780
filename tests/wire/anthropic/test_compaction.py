"""A request for a summary has nothing that could only shape a reply."""

from canonicall.wire.anthropic.compaction import fit_compaction

ASKED = {"compaction": {"type": "summarize"}, "max_tokens": 9}


def test_what_shapes_a_reply_is_left_out_with_a_finding_each():
    findings = []
    body = ASKED | {
        "context_management": {"edits": []},
        "stop_sequences": ["x"],
        "tool_choice": {"type": "tool", "name": "f"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    }
    assert fit_compaction(body, findings) == ASKED | {"output_config": {"effort": "low"}}
    places = ["context_management", "stop_sequences", "tool_choice", "output_config"]
    assert [one.where for one in findings] == [f"params.{place}" for place in places]


def test_all_else_stays():
    findings = []
    body = ASKED | {"tool_choice": {"type": "auto"}, "output_config": {"effort": "low"}}
    assert fit_compaction(body, findings) == body
    assert fit_compaction(ASKED, findings) == ASKED
    assert findings == []
