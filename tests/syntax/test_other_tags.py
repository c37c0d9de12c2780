"""What is peculiar to the smaller tag syntaxes."""

import pytest

from canonicall.errors import InvalidValue
from canonicall.request import Tool
from syntax.tag_syntaxes import WEATHER, call, codes, printed, read, said

OSLO = [("weather", {"city": "Oslo"})]
BAR = "\uff5c"


def test_minimax_m2_cannot_say_the_end_of_its_own_arguments():
    with pytest.raises(InvalidValue, match="minimax_m2"):
        printed("minimax_m2", call(city="x</parameter>\n</invoke>"))


def test_minimax_m3_reads_elements_as_objects_and_lists():
    schema = {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "integer"}}, "name": {}},
    }
    tool = Tool("f", parameters={"properties": {"where": schema}})
    mark = "]<]minimax[>["
    text = (
        "<tool_call>\n<invoke name='f'><where><tags><item>1</item><item>2</item></tags>"
        "<name>x</name></where></invoke>\n</tool_call>"
    ).replace("<", f"{mark}<")
    parsed = read(text, "minimax_m3", [tool])
    assert said(parsed) == [("f", {"where": {"tags": [1, 2], "name": "x"}})]


def test_minimax_m3_forgets_tokens_before_closing_tags():
    mark = "]<]minimax[>["
    text = f'{mark}<tool_call>{mark}<invoke name="weather">{mark}<city>Oslo</city>{mark}</invoke>'
    assert said(read(text, "minimax_m3")) == OSLO


def test_step3_has_tokens_around_each_call():
    begin, end = f"<{BAR}tool_call_begin{BAR}>", f"<{BAR}tool_call_end{BAR}>"
    invoke = (
        '<steptml:invoke name="weather"><steptml:parameter name="city">Oslo'
        "</steptml:parameter></steptml:invoke>"
    )
    for lead in (f"function<{BAR}tool_sep{BAR}>", ""):
        calls = f"{begin}{lead}{invoke}{end}" * 2
        text = f"Hm.<{BAR}tool_calls_begin{BAR}>{calls}<{BAR}tool_calls_end{BAR}>"
        parsed = read(text, "step3_steptml")
        assert said(parsed) == OSLO * 2
        assert parsed.text == "Hm."
        between = text.replace(end + begin, f"{end}<{BAR}tool_sep{BAR}>{begin}")
        assert read(between, "step3_steptml").text == "Hm."


def test_kimi_k3_says_types_and_escapes_attributes():
    text = printed("kimi_k3_xtml", call('a"&b', n=1, s="<&quot;"))
    assert 'tool="a&quot;&amp;b" index="1"' in text
    assert said(read(text, "kimi_k3_xtml", None)) == [('a"&b', {"n": 1, "s": "<&quot;"})]


def test_kimi_k3_has_elements_for_words_and_thoughts():
    text = (
        "<|open|>think<|sep|>Hm.<|close|>think<|sep|>"
        "<|open|>response<|sep|>Yes.<|close|>response<|sep|><|close|>message<|sep|>"
    )
    parsed = read(text, "kimi_k3_xtml")
    assert (parsed.thinking, parsed.text) == ("Hm.", "Yes.")


def test_muse_glimmer_messages_by_recipient():
    text = (
        " to=self<|message|>Hm <atem:invoke><|eom|><|start|>assistant to=user<|message|>Yes."
        "<|eom|>" + printed("muse_glimmer_atem", call("x.weather", city="Oslo"))
    )
    parsed = read(text, "muse_glimmer_atem")
    assert parsed.thinking == "Hm <atem:invoke>"
    assert parsed.text == "Yes."
    assert said(parsed) == OSLO


def test_muse_glimmer_headers_inside_an_answer_are_quotations():
    quoted = printed("muse_glimmer_atem", call(city="Oslo")).removesuffix("<|eot|>")
    parsed = read(f" to=user<|message|>So: {quoted}", "muse_glimmer_atem")
    assert parsed.text == f"So: {quoted}"
    assert not parsed.calls


def test_dots_and_x_ai_blocks_may_hold_json():
    for block, syntax in (("dots_function_call", "dots"), ("x.ai:tool_call", "xai_tool_call")):
        text = f'<{block}>{{"name": "weather", "arguments": {{"city": "Oslo"}}}}</{block}>'
        assert said(read(text, syntax)) == OSLO


def test_minicpm5_values_in_cdata_and_blanks_of_the_tokenizer():
    value = "a</param></function>"
    text = printed("minicpm5_xml", call(city=value))
    assert f"<![CDATA[{value}]]>" in text
    assert said(read(text, "minicpm5_xml")) == [("weather", {"city": value})]
    for blank in ("\u0120", "", " "):
        text = f'<function{blank}name="weather"><param{blank}name="city">Oslo</param></function>'
        assert said(read(text, "minicpm5_xml")) == OSLO


def test_leaked_invokes_without_block_and_namespace():
    space = "antml:"
    invoke = (
        '<{0}invoke name="weather">\n<{0}parameter name="city">Oslo</{0}parameter>\n</{0}invoke>'
    )
    for text in (invoke.format(""), invoke.format(space)):
        parsed = read(f"court\n{text}", "anthropic_invoke")
        assert said(parsed) == OSLO
        assert parsed.text == "court\n"


def test_invokes_of_tools_that_were_not_offered_are_prose():
    text = 'Write <invoke name="other"><parameter name="a">1</parameter></invoke> then.'
    parsed = read(text, "anthropic_invoke")
    assert not parsed.calls
    assert parsed.text == text
    assert "call_not_offered" in codes(parsed)


def test_legacy_calls_are_named_by_tags():
    text = (
        "<function_calls>\n<invoke>\n<tool_name>weather</tool_name>\n<parameters>\n"
        "<city>Oslo</city>\n</parameters>\n</invoke>\n</function_calls>"
    )
    assert printed("anthropic_legacy", call(city="Oslo")) == text
    assert said(read(text, "anthropic_legacy")) == OSLO


@pytest.mark.parametrize(
    "end", ["</xai:function_call>", '</xai:function_call name="weather">', "</xai:function_call >"]
)
@pytest.mark.parametrize("name", ["parameter", "xai:parameter"])
def test_grok_closes_its_tags_as_it_likes(end, name):
    text = f'<xai:function_call name="weather"><{name} name="city">Oslo</{name}>{end} Done.'
    parsed = read(text, "xai_function_call")
    assert said(parsed) == OSLO
    assert parsed.text.strip() == "Done."


def test_grok_forgets_the_end_of_an_argument():
    text = '<xai:function_call name="weather"><parameter name="city">Oslo</xai:function_call>'
    assert said(read(text, "xai_function_call", [WEATHER])) == OSLO
