"""Arguments read from their text: JSON, several objects, XML, repair, and what was cut off."""

import pytest

from canonicall.guard.reading import read_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {"type": "object", "properties": {"lat": {"type": "number"}}},
    },
}


def read(raw):
    """The arguments, and the codes of what was remarkable."""
    found = read_arguments(raw, SCHEMA)
    return found.args, [finding.code for finding in found.findings]


@pytest.mark.parametrize("raw", [None, "", " \n", "null", "{}", '""'])
def test_nothing_means_no_arguments(raw):
    assert read_arguments(raw, SCHEMA).args == {}


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ('{"city": "Basel"}', None),
        ('"{\\"city\\": \\"Basel\\"}"', "arguments_unwrapped"),
        ("\"{'city': 'Basel'}\"", "arguments_unwrapped"),
        ("{'city': 'Basel'}", "arguments_repaired"),
        ('{city: "Basel",}', "arguments_repaired"),
        ('{"city": "Basel"}}', "arguments_repaired"),
        ('{"city": "Basel"}{"city": "Basel"}', "repeated_arguments"),
        ('{}\n{"city": "Basel"}', "repeated_arguments"),
        ("<city>Basel</city>", "arguments_from_xml"),
        ("<arguments><city>Basel</city></arguments>", "arguments_from_xml"),
        ('<arguments city="Basel"/>', "arguments_from_xml"),
        ('<parameter name="city">Basel</parameter>', "arguments_from_xml"),
    ],
)
def test_one_meaning_in_many_forms(raw, code):
    """Whatever is not plain JSON is reported."""
    assert read(raw) == ({"city": "Basel"}, [code] if code else [])


@pytest.mark.parametrize(
    ("raw", "args"),
    [
        (
            "<days>3</days><tags><item>a</item><item>b</item></tags>",
            {"days": 3, "tags": ["a", "b"]},
        ),
        ("<tags>a</tags>\n<tags>b</tags>", {"tags": ["a", "b"]}),
        ("<place><lat>4.5</lat></place>", {"place": {"lat": 4.5}}),
        ("<city><b>Basel</b> & more</city>", {"city": "<b>Basel</b> & more"}),
        ("<city><city>inner</city></city>", {"city": "<city>inner</city>"}),
        ("<city/>", {"city": ""}),
        ("<days>soon</days>", {"days": "soon"}),
    ],
)
def test_elements_have_the_types_of_the_schema(raw, args):
    """A string keeps its tags; what fits no type stays text, for the validator to refuse."""
    assert read(raw)[0] == args


@pytest.mark.parametrize(
    "raw",
    ['{"city": "Ba', '{"city": "Basel"', '{"a": {"b": 1}', '{"city"', "[1, 2", '{"n": 12'],
)
def test_text_that_ends_inside_its_object_was_cut_off(raw):
    """It is not closed for the model: the last word or number may lack its end."""
    found = read_arguments(raw, SCHEMA)
    assert (found.args, found.is_cut) == (None, True)


@pytest.mark.parametrize(
    "raw",
    [
        '{"city": "Basel"}{"city": "Bern"}',
        '{"n": 1}{"n": true}',
        '{"city": "Basel"} and more',
        "{'city': 'Ba",
        "{'city': 'Ba}",
        '{"a": 1}{"b": ',
        "[1, 2]",
        "42",
        "true",
        '"words"',
        "ls -la",
        "<city>Ba",
        "<city>Basel</city> and more",
        "{" * 500 + "}" * 500,
    ],
)
def test_what_cannot_be_read_is_not_guessed(raw):
    found = read_arguments(raw, SCHEMA)
    assert (found.args, found.is_cut) == (None, False)
    assert found.why


def test_several_objects_are_counted_for_the_model():
    assert "3 JSON objects" in read_arguments('{"a":1} {"a":2} {"a":3}', SCHEMA).why


def test_long_text_is_read_as_json_or_not_at_all():
    long = "x" * 300_000
    assert read_arguments(f'{{"city": "{long}"}}', SCHEMA).args == {"city": long}
    assert not read_arguments(f"{{'city': '{long}'}}", SCHEMA).is_cut
    assert read_arguments(f'{{"city": "{long}', SCHEMA).is_cut
