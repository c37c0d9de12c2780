"""Items that are no messages: calls, outputs, what the provider ran, what nobody knows."""

import pytest

from canonicall.blocks import Native, ToolCall, ToolResult
from canonicall.wire.openai_responses import FORMAT
from canonicall.wire.openai_responses.messages import decode_input
from wire.openai_responses.forms import NO_CUSTOM, ORIGIN, decode, encode, own, user


def test_a_call_keeps_its_text_and_what_stands_beside_it():
    item = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "f",
        "arguments": '{"a":  1}',
        "namespace": "n",
        "status": "completed",
        "caller": {"type": "direct"},
    }
    (message,) = decode(item)
    (call,) = message.blocks
    assert (call.id, call.name, call.raw, call.args) == ("call_1", "f", '{"a":  1}', None)
    assert call.opaque == own("item_id", "fc_1")
    assert call.native.fields == {
        "namespace": "n",
        "status": "completed",
        "caller": {"type": "direct"},
    }
    assert encode("assistant", call) == [item]


@pytest.mark.parametrize("id", [None, "null", ""])
def test_a_call_without_an_id_has_the_empty_id(id):
    (message,) = decode({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"})
    assert message.blocks[0].id == ""


def test_bedrock_mantle_writes_the_ids_of_its_stream():
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    (message,) = decode({**item, "item_id": "fc_1", "output_index": 1})
    assert encode("assistant", *message.blocks) == [{**item, "id": "fc_1"}]


def test_arguments_that_are_an_object_are_read_and_reported():
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": {"a": 1}}
    messages, findings = decode_input([item], origin=ORIGIN, domain="openai")
    assert messages[0].blocks[0].args == {"a": 1}
    assert [(one.code, one.where) for one in findings] == [
        ("arguments_not_text", "$.input[0].arguments")
    ]


def test_custom_calls_and_their_outputs_come_back_as_such():
    items = [
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "run", "input": "1+1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "2"},
    ]
    said, answered = decode(*items)
    assert said.blocks[0].kind == "custom"
    assert said.blocks[0].raw == "1+1"
    assert encode("assistant", *said.blocks) + encode("tool", *answered.blocks) == items


def test_an_output_for_a_target_without_custom_tools_answers_a_function():
    (message,) = decode({"type": "custom_tool_call_output", "call_id": "c", "output": "2"})
    assert encode("tool", *message.blocks, target=NO_CUSTOM) == [
        {"type": "function_call_output", "call_id": "c", "output": "2"}
    ]


@pytest.mark.parametrize(
    "output",
    [
        "text",
        "",
        [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}],
        [{"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "high"}],
        [{"type": "input_image", "file_id": "file-1"}],
        [
            {
                "type": "input_file",
                "file_data": "data:application/pdf;base64,aGk=",
                "filename": "a.pdf",
            }
        ],
        [{"type": "input_file", "file_url": "https://example.com/a.pdf"}],
        [{"type": "input_file", "file_id": "file-1"}],
    ],
)
def test_outputs_come_back(output):
    item = {"type": "function_call_output", "call_id": "c", "output": output, "status": "completed"}
    (message,) = decode(item)
    assert encode("tool", *message.blocks) == [item]


def test_an_empty_output_is_an_empty_result():
    (message,) = decode({"type": "function_call_output", "call_id": "c", "output": ""})
    assert message.blocks == (ToolResult(call_id="c", content=(), is_complete=True),)


SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}}


def test_what_the_provider_ran_is_a_call_with_its_result():
    (message,) = decode(SEARCH)
    call, result = message.blocks
    assert (call.kind, call.id, call.name, call.args) == (
        "server",
        "ws_1",
        "web_search",
        {"query": "q"},
    )
    assert call.opaque == own("server_block", SEARCH)
    assert result.call_id == "ws_1"
    assert result.is_complete
    assert encode("assistant", call, result) == [SEARCH]


@pytest.mark.parametrize(
    ("item", "name", "arguments"),
    [
        (
            {"type": "file_search_call", "id": "x", "queries": ["q"]},
            "file_search",
            {"queries": ["q"]},
        ),
        (
            {"type": "code_interpreter_call", "id": "x", "code": "1"},
            "code_interpreter",
            {"code": "1"},
        ),
        ({"type": "image_generation_call", "id": "x", "result": "aGk="}, "image_generation", {}),
        ({"type": "computer_call", "call_id": "x", "action": {"a": 1}}, "computer", {"a": 1}),
        ({"type": "shell_call", "call_id": "x", "action": {"a": 1}}, "shell", {"a": 1}),
        ({"type": "local_shell_call", "call_id": "x", "action": {"a": 1}}, "local_shell", {"a": 1}),
        (
            {"type": "apply_patch_call", "call_id": "x", "operation": {"a": 1}},
            "apply_patch",
            {"a": 1},
        ),
        (
            {"type": "tool_search_call", "call_id": "x", "arguments": {"a": 1}},
            "tool_search",
            {"a": 1},
        ),
        (
            {"type": "program", "call_id": "x", "code": "1", "fingerprint": "f"},
            "program",
            {"code": "1"},
        ),
    ],
)
def test_every_hosted_item_tells_what_was_asked_and_comes_back(item, name, arguments):
    (message,) = decode(item)
    call = message.calls[0]
    assert (call.kind, call.id, call.name, call.args) == ("server", "x", name, arguments)
    assert encode("assistant", *message.blocks) == [item]


def test_an_mcp_call_keeps_its_arguments_as_text():
    item = {"type": "mcp_call", "id": "mcp_1", "name": "ask", "arguments": '{"a":1}', "error": "no"}
    (message,) = decode(item)
    call, result = message.blocks
    assert (call.name, call.raw, call.args, result.error) == ("ask", '{"a":1}', None, True)


def test_outputs_of_hosted_calls_find_their_call_even_where_they_do_not_name_it():
    items = [
        {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "arguments": {}},
        {"type": "tool_search_call", "id": "tsc_2", "call_id": None, "arguments": {}},
        {"type": "tool_search_output", "id": "tso_1", "call_id": None, "tools": []},
        {"type": "tool_search_output", "id": "tso_2", "call_id": None, "tools": []},
        {"type": "shell_call", "id": "sh_1", "call_id": "call_s", "action": {}},
        {"type": "shell_call_output", "call_id": "call_s", "output": []},
    ]
    (message,) = decode(*items)
    assert [one.call_id for one in message.results] == ["tsc_1", "tsc_2", "call_s"]
    assert encode("assistant", *message.blocks) == items


def test_a_search_the_provider_ran_is_complete_even_without_its_output():
    hosted = {"type": "tool_search_call", "id": "tsc_1", "execution": "server", "arguments": {}}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    (message,) = decode(hosted, call)
    assert [one.call_id for one in message.results] == ["tsc_1"]
    assert encode("assistant", *message.blocks) == [hosted, call]
    (message,) = decode({**hosted, "execution": "client"})
    assert message.results == ()


def test_the_output_of_a_hosted_call_is_written_whole_in_any_turn():
    item = {"type": "computer_call_output", "call_id": "c", "output": {"type": "screenshot"}}
    (message,) = decode(item)
    assert encode("tool", *message.blocks) == [item]


def test_the_id_of_an_output_belongs_to_its_domain():
    item = {"type": "function_call_output", "id": "fco_1", "call_id": "c", "output": "1"}
    (message,) = decode(item)
    assert message.blocks[0].opaque == own("item_id", "fco_1")
    assert encode("tool", *message.blocks) == [item]


@pytest.mark.parametrize(
    ("item", "role"),
    [
        ({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []}, "assistant"),
        (
            {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}"},
            "assistant",
        ),
        ({"type": "compaction", "id": "cmp_1", "encrypted_content": "e"}, "assistant"),
        ({"type": "item_reference", "id": "msg_1"}, "assistant"),
        ({"id": "msg_1"}, "assistant"),
        ({"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}, "user"),
        ({"type": "additional_tools", "role": "developer", "tools": []}, "developer"),
    ],
)
def test_items_without_canonical_meaning_come_back_whole(item, role):
    (message,) = decode(item)
    assert message.role == role
    assert message.blocks[0].native == Native(FORMAT, item)
    assert encode(role, *message.blocks) == [item]


def test_an_unheard_of_item_is_kept_and_reported():
    item = {"type": "dream", "id": "dr_1"}
    messages, findings = decode_input([user("a"), item], origin=ORIGIN, domain="openai")
    assert [(one.code, one.where, one.action) for one in findings] == [
        ("unknown_item", "$.input[1]", "kept")
    ]
    assert encode("assistant", *messages[1].blocks) == [item]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (ToolCall(id="c", name="f", args={"a": "ä"}), '{"a":"ä"}'),
        (ToolCall(id="c", name="f", args={"a": 1}, raw='{ "a": 1 }'), '{ "a": 1 }'),
        (ToolCall(id="c", name="f", args={}, raw=""), "{}"),
        (ToolCall(id="c", name="f", args={}, raw="null"), "{}"),
        (ToolCall(id="c", name="f"), "{}"),
    ],
)
def test_arguments_are_the_text_of_an_object(call, arguments):
    (item,) = encode("assistant", call)
    assert item == {"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments}
