"""Docstrings in three styles give the description and a text for each parameter."""

import pytest

from canonicall.tools.docstrings import read_docstring

INDENTED = """Look up the weather.

    It is as good as its source.

    Args:
        city (str): Name of the city,
            in any language.
        days: How many days; at most: ten.
        *tags: What to look at.

    Returns:
        city: not a parameter.
    """

UNDERLINED = """
    Look up the weather.

    It is as good as its source.

    Parameters
    ----------
    city : str
        Name of the city,
        in any language.
    days : int, optional
        How many days; at most: ten.
    *tags
        What to look at.

    Returns
    -------
    city
        Not a parameter.
    """

FIELDS = """Look up the weather.

    It is as good as its source.

    :param city: Name of the city,
        in any language.
    :param int days: How many days; at most: ten.
    :param tags: What to look at.
    :type city: str
    :returns: city
    """


@pytest.mark.parametrize("text", [INDENTED, UNDERLINED, FIELDS])
def test_three_styles_say_the_same(text):
    read = read_docstring(text)
    assert read.description == "Look up the weather.\n\nIt is as good as its source."
    assert read.parameters == {
        "city": "Name of the city, in any language.",
        "days": "How many days; at most: ten.",
        "tags": "What to look at.",
    }


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_text_says_nothing(text):
    assert read_docstring(text) == ("", {})


def test_a_title_in_prose_is_no_section():
    text = "Counts.\n\nArgs: there are none.\nParameters are for others."
    assert read_docstring(text) == (text, {})


def test_one_text_for_two_names():
    read = read_docstring("Add.\n\nParameters\n----------\nx, y : int\n    A number.\n")
    assert read.parameters == {"x": "A number.", "y": "A number."}


def test_words_after_a_section_are_description_again():
    read = read_docstring("Add.\n\nArgs:\n    x: A number.\n\nOnly whole numbers.")
    assert read.parameters == {"x": "A number."}
    assert read.description.split() == ["Add.", "Only", "whole", "numbers."]


def test_a_list_inside_a_text_stays_in_it():
    read = read_docstring(
        "Run.\n\nArgs:\n    mode: One of:\n        - fast: no checks\n        - safe"
    )
    assert read.parameters == {"mode": "One of: - fast: no checks - safe"}


def test_a_parameter_without_text_is_left_out():
    assert read_docstring("Run.\n\n:param x:\n:param y: Why.").parameters == {"y": "Why."}
