"""Results as they stand in the prompts of models, and their ids, which are those of the calls."""

import pytest

from batches import each
from canonicall import Text, ToolCall, ToolResult
from canonicall.syntax.registry import get_syntax

RESULTS = tuple(
    ToolResult(call_id=f"c{index}", name=name, content=(Text(text=text),))
    for index, (name, text) in enumerate((("now", "7"), ("get", '"x"')))
)
HEADER = "<|start_header_id|>{}<|end_header_id|>\n\n"
LOOKS = {
    "apriel": '<|begin_tool_result|>\n7\n\n\n<|begin_tool_result|>\n"x"\n',
    "bielik": '<|function_output|>7<|function_output|>"x"',
    "command_r_action_json": "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><results>\n7</results><|END_OF_TURN_TOKEN|>"
    '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><results>\n"x"</results><|END_OF_TURN_TOKEN|>',
    "deepseek_v4_dsml": '<tool_result>7</tool_result>\n\n<tool_result>"x"</tool_result>',
    "firefunction_v2": f'{HEADER.format("tool")}7<|eot_id|>{HEADER.format("tool")}"x"<|eot_id|>',
    "glm47_xml": '<|observation|><tool_response>7</tool_response><tool_response>"x"</tool_response>',
    "granite_20b_fc": '<function_response> 7<function_response> "x"',
    "hunyuan_a13b": '<tool_response>7</tool_response><|extra_0|><tool_response>"x"</tool_response>',
    "hunyuan_v3": "<tool_responses>\n<tool_response>\n7\n</tool_response>\n"
    '<tool_response>\n"x"\n</tool_response>\n</tool_responses>',
    "internlm2": "<|im_start|>environment name=<|plugin|>\n7<|im_end|>\n"
    '<|im_start|>environment name=<|plugin|>\n"x"<|im_end|>\n',
    "lfm2": "<|tool_response_start|>7<|tool_response_end|><|im_end|>\n"
    '<|im_start|>tool\n<|tool_response_start|>"x"<|tool_response_end|>',
    "ling3": '<tool_response>\n7\n</tool_response>\n<tool_response>\n"x"\n</tool_response>',
    "llama3_json": f'{HEADER.format("ipython")}"7"<|eot_id|>{HEADER.format("ipython")}"\\"x\\""<|eot_id|>',
    "llama4_pythonic": '<|header_start|>ipython<|header_end|>\n\n"7"<|eot|>'
    '<|header_start|>ipython<|header_end|>\n\n"\\"x\\""<|eot|>',
    "minimax_m3": '\n<response>7</response>\n<response>"x"</response>',
    "mistral_nemo": '[TOOL_RESULTS]{"content": 7, "call_id": "c0"}[/TOOL_RESULTS]'
    '[TOOL_RESULTS]{"content": "x", "call_id": "c1"}[/TOOL_RESULTS]',
    "mistral_v7": "[TOOL_RESULTS]c0[TOOL_CONTENT]7[/TOOL_RESULTS]"
    '[TOOL_RESULTS]c1[TOOL_CONTENT]"x"[/TOOL_RESULTS]',
    "muse_glimmer_atem": '<|start|>tool now<|message|><tool_output name="now">\n7\n</tool_output><|eot|>'
    '<|start|>tool get<|message|><tool_output name="get">\n"x"\n</tool_output><|eot|>',
    "poolside_laguna_s": '<tool_response>7</tool_response>\n<tool_response>"x"</tool_response>',
    "reka_edge": '<tool_response>\n7\n</tool_response><tool_response>\n"x"\n</tool_response>',
    "seed_oss": '<seed:bos>tool\n7<seed:eos><seed:bos>tool\n"x"<seed:eos>',
    "step35": '<tool_response>7</tool_response><tool_response>"x"</tool_response>',
}


@each(("syntax", "text"), LOOKS.items())
def test_how_results_look(syntax, text):
    print_results = get_syntax(syntax).print_results
    assert print_results is not None
    assert print_results(RESULTS) == text


@pytest.mark.parametrize(
    ("syntax", "foreign", "ids"),
    [
        ("kimi_k2", "call_9", ["functions.now:0", "functions.get:1"]),
        ("cohere_command3", "call_9", ['"0"', '"1"']),
        ("cohere_command4", "call_9", ['"0"', '"1"']),
        ("solar_open", "<9>", [":begin|>0<", ":begin|>1<"]),
    ],
)
def test_results_have_the_ids_that_their_calls_were_printed_with(syntax, foreign, ids):
    declared = get_syntax(syntax)
    calls = tuple(ToolCall(id=foreign + one.name, name=one.name, args={}) for one in RESULTS)
    results = tuple(
        ToolResult(call_id=call.id, name=call.name, content=(Text(text="7"),)) for call in calls
    )
    for printed in (declared.print_calls(calls), declared.print_results(results)):
        assert foreign not in printed
        assert all(id in printed for id in ids)


@pytest.mark.parametrize("syntax", ["qwen3_coder_xml", "step35", "seed_oss", "minicpm5_xml"])
def test_templates_that_say_true_as_python_does(syntax):
    text = get_syntax(syntax).print_calls((ToolCall(name="f", args={"a": True, "b": None}),))
    assert "True" in text
    assert "null" in text
