"""Forms of calls in text, inferred from examples: any template is found, prose never is."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from batches import each
from canonicall.blocks import ToolCall
from canonicall.errors import InvalidValue
from canonicall.facts.target import TextForm
from canonicall.folding import fold
from canonicall.request import Tool
from canonicall.syntax.inference import Example, infer_form
from canonicall.syntax.parsing import parse
from canonicall.syntax.registry import syntax_names
from canonicall.syntax.scanner import TextScanner
from canonicall.syntax.text_form import syntax_of_form
from canonicall.testing.conformance import check_syntax
from canonicall.testing.conformance.accounting import is_all_there
from syntax.support import work

PROBES = (
    ("weather_report", {"city": "Oslo", "days": 3}),
    ("local_time", {"zone": "Lima", "hours": 12}),
    ("book_room", {"guest": "Ann Lee", "late": True}),
)
OTHERS = (
    ("now", {}),
    ("search", {"query": "red shoes", "limit": 5, "exact": False}),
    ("get-it", {"path": "a/b.txt"}),
)


def tools_for(*calls):
    return [
        Tool(
            name,
            parameters={
                "type": "object",
                "properties": {key: {"const": value} for key, value in arguments.items()},
            },
        )
        for name, arguments in calls
    ]


def as_calls(calls):
    return tuple(ToolCall(name=name, args=arguments) for name, arguments in calls)


def read(text, form, *calls):
    parsed = parse(text, syntax=syntax_of_form(form), tools=tools_for(*calls))
    return [(one.name, one.args) for one in parsed.calls]


def bare(value):
    return value if isinstance(value, str) else json.dumps(value)


def in_xml(value):
    text = bare(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;")


def joined(arguments, one, separator=""):
    return separator.join(one(key, value) for key, value in arguments.items())


TEMPLATES = {
    "attributes": lambda n, a: (
        f'<tool name="{n}"{joined(a, lambda k, v: f" {k}={chr(34)}{in_xml(v)}{chr(34)}")}/>'
    ),
    "elements": lambda n, a: (
        f"<tool><name>{n}</name>"
        f"<args>{joined(a, lambda k, v: f'<{k}>{in_xml(v)}</{k}>')}</args></tool>"
    ),
    "lines of elements": lambda n, a: (
        f"<run>\n  <tool>{n}</tool>\n{joined(a, lambda k, v: f'  <{k}>{in_xml(v)}</{k}>' + chr(10))}"
        "</run>"
    ),
    "parameters": lambda n, a: (
        f"<fn={n}>{joined(a, lambda k, v: f'<p k={chr(34)}{k}{chr(34)}>{bare(v)}</p>')}</fn>"
    ),
    "invented": lambda n, a: f"@@CALL {n}|{json.dumps(a)}@@",
    "pairs": lambda n, a: f"#call {n}({joined(a, lambda k, v: f'{k}={json.dumps(v)}', ', ')})",
    "object": lambda n, a: f"[[CALL {json.dumps({'do': n, 'with': a})}]]",
    "flat object": lambda n, a: f"%%{json.dumps({'do': n, **a})}%%",
    "the name twice": lambda n, a: f"[{n}]{json.dumps(a)}[/{n}]",
    "lines": lambda n, a: f"%TOOL {n}{joined(a, lambda k, v: f'{chr(10)}{k}: {bare(v)}')}\n%END",
    "label": lambda n, a: f"Tool: {n}\nInput: {json.dumps(a)}",
    "JSON in an attribute": lambda n, a: f"<use tool='{n}' input='{json.dumps(a)}' />",
}


@each(("name", "write"), TEMPLATES.items())
def test_a_form_is_found_proved_and_reads_other_calls(name, write):
    lead = "" if name == "label" else "Of course. "
    form = infer_form([Example(lead + write(*one), (one,)) for one in PROBES]).form
    assert form is not None
    check_syntax(syntax_of_form(form)).raise_if_broken()
    for one in OTHERS:
        assert read(f"One moment.\n{write(*one)}", form, one) == [one], write(*one)


def test_values_with_quotes_and_tags_show_how_they_are_escaped():
    probes = (PROBES[0], ("local_time", {"zone": 'R&D <"x">', "hours": 3}))
    form = infer_form([Example(TEMPLATES["attributes"](*one), (one,)) for one in probes]).form
    assert form.escapes == "xml"
    form = infer_form([Example(TEMPLATES["pairs"](*one), (one,)) for one in probes]).form
    assert form.escapes == "json"
    form = infer_form([Example(TEMPLATES["parameters"](*one), (one,)) for one in probes]).form
    assert form.escapes == ""


def test_two_calls_in_one_frame_show_what_is_between_them():
    def write(*calls):
        inner = "".join(f'<c n="{name}">{json.dumps(held)}</c>' for name, held in calls)
        return f"<calls>{inner}</calls>"

    examples = [Example(write(one), (one,)) for one in PROBES[:2]]
    both = Example(write(*PROBES[:2]), PROBES[:2])
    form = infer_form([*examples, both]).form
    assert form.joint == '</c><c n="'
    assert read(write(*PROBES), form, *PROBES) == [*PROBES]
    assert syntax_of_form(form).print_calls(as_calls(PROBES[:2])).startswith("<calls><c")
    check_syntax(syntax_of_form(form)).raise_if_broken()


PROSE = {
    "a sentence": lambda n, a: f"I would call {n} with {json.dumps(a)}.",
    "a sentence with stars": lambda n, a: (
        f"I would call *{n}* with {joined(a, lambda k, v: f'{k} {bare(v)}', ' and ')}."
    ),
    "code": lambda n, a: f"Run `{n}({json.dumps(a)})` please.",
    "a fence": lambda n, a: f"```\n<do>{n}</do>{json.dumps(a)}\n```",
    "quoted": lambda n, a: f"You could say '<do>{n}</do>{json.dumps(a)}'.",
    "no arguments": lambda n, a: f"<do>{n}</do>",
    "no name": lambda n, a: f"<do>{json.dumps(a)}</do>",
    "other values": lambda n, a: f"<do>{n}</do>{json.dumps(dict.fromkeys(a, 'x'))}",
    "empty": lambda n, a: "",
}


@each(("name", "write"), PROSE.items())
def test_what_is_no_call_is_not_inferred(name, write):
    found = infer_form([Example(write(*one), (one,)) for one in PROBES])
    assert found.form is None, name
    assert found.reason


def test_one_example_is_not_enough():
    one = PROBES[0]
    assert infer_form([Example(TEMPLATES["invented"](*one), (one,))]).form is None
    assert infer_form([]).form is None


def test_examples_that_differ_have_no_form():
    writers = (TEMPLATES["invented"], TEMPLATES["elements"], TEMPLATES["pairs"])
    examples = [Example(w(*one), (one,)) for w, one in zip(writers, PROBES, strict=True)]
    assert infer_form(examples).form is None


# Random templates.

letters = st.text("ABCxyz", min_size=1, max_size=4)
signs = st.text("@#%~^<>[]=|/+*$", min_size=2, max_size=4)
ends = st.sampled_from((" ", ":", "\n", "> ", "="))
openings = signs | st.tuples(signs, letters, ends).map("".join)
marks = st.text("@#%~^|;+*$", min_size=1, max_size=3)
values = st.text("abcdefgh XYZ0123", min_size=1, max_size=12).map(str.strip).filter(bool)
names = st.from_regex(r"\A[a-z]{3,8}_[a-z]{2,6}\Z")
keys = st.from_regex(r"\A[a-z]{3,8}\Z")


@st.composite
def templates(draw):
    """A function that writes a call, and the characters that its values must not have."""
    opening, between, closing = draw(openings), draw(marks), draw(marks)
    encoding = draw(st.sampled_from(("json", "object", "elements", "pairs", "attributes")))
    repeats = draw(st.booleans()) and encoding == "json"
    end = f"{closing}{{}}{closing}" if repeats else closing
    if encoding == "json":
        return lambda n, a: opening + n + between + json.dumps(a) + end.format(n)
    if encoding == "object":
        return lambda n, a: f"{opening}{json.dumps({'tool': n, 'input': a})}{closing}"
    if encoding == "elements":
        return lambda n, a: (
            f"{opening}{n}{between}{joined(a, lambda k, v: f'<{k}>{in_xml(v)}</{k}>')}{closing}"
        )
    if encoding == "pairs":
        sign, gap = (
            draw(st.sampled_from(("=", ": ", ":="))),
            draw(st.sampled_from((", ", "; ", "&"))),
        )
        return lambda n, a: (
            f"{opening}{n}{between}{joined(a, lambda k, v: f'{k}{sign}{json.dumps(v)}', gap)}{closing}"
        )
    quote = draw(st.sampled_from("\"'"))
    return lambda n, a: (
        f"{opening}{n}{between}{joined(a, lambda k, v: f' {k}={quote}{in_xml(v)}{quote}')}{closing}"
    )


@st.composite
def called(draw):
    """A name, and two or three arguments, one of them a number."""
    held = draw(st.dictionaries(keys, values, min_size=1, max_size=2))
    number = draw(keys.filter(lambda key: key not in held))
    return draw(names), {**held, number: draw(st.integers(10, 999))}


def is_told_apart(call):
    """Whether each name, key and value of a call can be found in a text: none is part of another."""
    name, arguments = call
    said = [name, *arguments, *map(bare, arguments.values())]
    return len({*said}) == len(said) and not any(
        one in other for at, one in enumerate(said) for other in said[:at] + said[at + 1 :]
    )


@given(templates(), st.lists(called().filter(is_told_apart), min_size=3, max_size=3), called())
def test_a_random_template_is_found_and_reads_other_calls(write, probes, other):
    assume(len({name for name, _ in probes}) == 3)
    found = infer_form([Example(write(*one), (one,)) for one in probes])
    assert found.form is not None, (write(*probes[0]), found.reason)
    assert read(write(*other), found.form, other) == [other], (found.form, write(*other))


@given(templates(), st.lists(called().filter(is_told_apart), min_size=3, max_size=3), st.data())
def test_a_form_reads_the_same_in_any_pieces(write, probes, data):
    assume(len({name for name, _ in probes}) == 3)
    form = infer_form([Example(write(*one), (one,)) for one in probes]).form
    text = "Well.\n" + "\n".join(write(*one) for one in probes)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    scanner = TextScanner(syntax_of_form(form), tools=tools_for(*probes))
    events = []
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        events += scanner.feed(text[begin:end])
    assert (
        fold([*events, *scanner.close()])
        == parse(text, syntax=syntax_of_form(form), tools=tools_for(*probes)).reply
    )


words = st.sampled_from(
    ("I", "could", "call", "use", "with", "the", "tool", "for", "and", "set", "to", "is", "Oslo,")
)


@given(st.lists(words, min_size=1, max_size=6), st.lists(words, max_size=3), st.data())
def test_prose_is_never_inferred(before, between, data):
    """The same sentence in all examples, with the right name and arguments in it."""
    ending = data.draw(st.sampled_from((".", " please.", "?", "")))
    shows = data.draw(st.booleans())

    def write(name, arguments):
        said = (
            json.dumps(arguments) if shows else joined(arguments, lambda k, v: f"{k} {v}", " and ")
        )
        return " ".join((*before, name, *between, said)) + ending

    assert infer_form([Example(write(*one), (one,)) for one in PROBES]).form is None


@given(st.lists(st.text(), min_size=3, max_size=3))
def test_a_text_without_calls_is_never_inferred(texts):
    examples = [Example(text, (one,)) for text, one in zip(texts, PROBES, strict=True)]
    assert infer_form(examples).form is None


# Forms as data.


def test_equal_names_of_two_hosts_are_two_forms():
    one = TextForm(name="learned", opening="@@CALL ", between="|", closing="@@")
    other = TextForm(name="learned", opening="##RUN ", between=" ", closing="##")
    call = ("now", {"zone": "CET"})
    assert read('@@CALL now|{"zone": "CET"}@@', one, call) == [call]
    assert read('@@CALL now|{"zone": "CET"}@@', other, call) == []
    assert read('##RUN now {"zone": "CET"}##', other, call) == [call]
    assert "learned" not in syntax_names()


def test_a_weak_opening_calls_offered_tools_only():
    form = TextForm(name="learned", opening="[", between="]", closing="[/{name}]")
    text = '[now]{"zone": "CET"}[/now] and [link]{"a": 1}[/link]'
    assert [one.name for one in parse(text, syntax=syntax_of_form(form)).calls] == []
    assert read(text, form, ("now", {"zone": "CET"})) == [("now", {"zone": "CET"})]


def test_a_call_that_is_cut_is_marked():
    form = TextForm(name="learned", opening="@@CALL ", between="|", closing="@@")
    (call,) = parse('@@CALL now|{"zone": "C', syntax=syntax_of_form(form)).calls
    assert call.truncated


def test_a_value_that_a_form_cannot_say_is_refused():
    form = TextForm(
        name="learned",
        opening="%TOOL ",
        closing="\n%END",
        arguments="members",
        before_key="\n",
        before_value=": ",
    )
    with pytest.raises(InvalidValue, match="cannot be said"):
        syntax_of_form(form).print_calls((ToolCall(name="f", args={"a": "1\nb: 2"}),))


def form_of(name):
    return infer_form([Example(TEMPLATES[name](*one), (one,)) for one in PROBES]).form


def parts_of(form):
    """What texts in a form are made of, whole and broken."""
    fields = (getattr(form, name) for name in form.__struct_fields__)
    markers = [one for one in fields if isinstance(one, str) and one]
    return st.sampled_from(
        [*markers, *(one[:-1] for one in markers), "f", "a", " ", "\n", '"', "{"]
    )


@each("name", TEMPLATES)
@given(data=st.data())
def test_broken_text_never_raises_and_is_kept(data, name):
    form = form_of(name)
    text = "".join(data.draw(st.lists(parts_of(form), max_size=20)))
    tools = tools_for(("f", {"a": "x"}))
    whole = parse(text, syntax=syntax_of_form(form), tools=tools).reply
    scanner = TextScanner(syntax_of_form(form), tools=tools)
    events = [event for char in text for event in scanner.feed(char)]
    assert fold([*events, *scanner.close()]) == whole
    assert is_all_there(text, whole, syntax_of_form(form))


@each("name", TEMPLATES)
def test_work_grows_with_the_text(name):
    syntax = syntax_of_form(form_of(name))
    whole = TEMPLATES[name]("f", {"a": "x", "b": 1})
    for bit in (whole, whole[:-3], syntax.openers[0].marker, f"{syntax.openers[0].marker}f"):
        steps, _ = work(syntax, [bit * (2_000 // len(bit))], tools=tools_for(("f", {})))
        more, _ = work(syntax, [bit * (4_000 // len(bit))], tools=tools_for(("f", {})))
        assert more < 2.3 * steps + 500, bit
