"""DeepSeek's DSML: what arguments say of themselves, and the spellings that leak."""

import pytest

from canonicall.request import Tool
from canonicall.syntax.parsing import parse
from syntax.tag_syntaxes import call, printed, read, said

BAR = "\uff5c"
TEXT = (
    '<%(t)stool_calls>\n<%(t)sinvoke name="weather">\n'
    '<%(t)sparameter name="city" string="true">Oslo</%(t)sparameter>\n'
    "</%(t)sinvoke>\n</%(t)stool_calls>"
)


def _dsml(text: str, token: str = f"{BAR}DSML{BAR}") -> str:
    return text.replace("<", f"<{token}").replace(f"<{token}/", f"</{token}")


@pytest.mark.parametrize(
    "token",
    [
        f"{BAR}DSML{BAR}",
        f"{BAR}{BAR}DSML{BAR}{BAR}",
        f"{BAR}{BAR}DSML{BAR}{BAR} ",
        "|DSML|",
        "||DSML||",
        "\u2016DSML\u2016",
        " | DSML | ",
        f"{BAR}DSML{BAR} ",
        f"DSML{BAR}",
        "\\DSML\\",
    ],
)
def test_spellings_of_the_token(token):
    parsed = read("Hm. " + TEXT % {"t": token}, "deepseek_v4_dsml")
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert parsed.text == "Hm. "


@pytest.mark.parametrize("syntax", ["deepseek_v32_dsml", "deepseek_v4_dsml"])
@pytest.mark.parametrize("block", ["tool_calls", "function_calls", "tool_use", ""])
def test_names_of_the_block(syntax, block):
    text = '<invoke name="weather"/>'
    text = f"<{block}>{text}</{block}>" if block else text
    assert said(read(_dsml(text), syntax)) == [("weather", {})]


def _value(attribute: str, value: str, schema: dict[str, object] | None) -> object:
    tool = Tool("f", parameters={"properties": {"a": schema} if schema else {}})
    text = f'<invoke name="f"><parameter name="a"{attribute}>{value}</parameter></invoke>'
    (_, args), *_ = said(read(_dsml(text), "deepseek_v4_dsml", [tool]))
    return args["a"]


@pytest.mark.parametrize(
    ("attribute", "value", "schema", "expected"),
    [
        (' string="true"', "12", None, "12"),
        (' string="true"', "12", {"type": "string"}, "12"),
        (' string="true"', "12", {"type": "integer"}, 12),
        (' string="false"', "12", None, 12),
        (' string="false"', "null", {"type": "string"}, "null"),
        (' string="false"', "{oops", None, "{oops"),
        ("", "12", None, "12"),
        ("", "12", {"type": "integer"}, 12),
    ],
)
def test_an_argument_says_whether_it_is_a_string(attribute, value, schema, expected):
    assert _value(attribute, value, schema) == expected


def test_arguments_wrapped_into_one_are_unwrapped():
    text = '<invoke name="weather"><parameter name="%s" string="false">%s</parameter></invoke>'
    fitting = _dsml(text % ("arguments", '{"city": "Oslo", "days": 1}'))
    assert said(read(fitting, "deepseek_v4_dsml")) == [("weather", {"city": "Oslo", "days": 1})]
    other = _dsml(text % ("arguments", '{"town": "Oslo"}'))
    assert said(read(other, "deepseek_v4_dsml")) == [("weather", {"arguments": {"town": "Oslo"}})]


def test_one_json_object_in_the_call():
    text = _dsml('<invoke name="weather">\n') + '{"city": "Oslo"}' + _dsml("</invoke>")
    assert said(read(text, "deepseek_v4_dsml")) == [("weather", {"city": "Oslo"})]


def test_printed_arguments_say_their_type():
    text = printed("deepseek_v32_dsml", call(city="Oslo", days=2))
    assert 'name="city" string="true">Oslo<' in text
    assert 'name="days" string="false">2<' in text
    assert text.startswith(f"<{BAR}DSML{BAR}function_calls>")


@pytest.mark.parametrize(
    ("token", "block", "name"),
    [
        (f"{BAR}DSML{BAR}", "function_calls", "deepseek_v32_dsml"),
        (f"{BAR}DSML{BAR}", "tool_calls", "deepseek_v4_dsml"),
        (f"{BAR}DSML{BAR} ", "calls", "deepseek_v41_dsml"),
        (f"{BAR}GCML{BAR}", "tool_calls", "gigachat35"),
    ],
)
def test_the_tags_tell_the_version(token, block, name):
    text = TEXT.replace("tool_calls", block) % {"t": token}
    assert printed(name, call(city="Oslo")) == text
    found = parse(text)
    assert (found.syntax, said(found)) == (name, [("weather", {"city": "Oslo"})])
