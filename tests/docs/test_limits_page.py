"""docs/limits.md is up to date: every bound of the settings is on it, with a test that exists."""

import re
from pathlib import Path

import pytest

from canonicall.client.transport import Timeouts
from canonicall.framing.limits import ReplyLimits
from canonicall.gateway.config import KeySettings, ServerSettings, StoreSettings
from scripts.limits import SECTIONS, page

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = {
    "replies": ReplyLimits.__struct_fields__,
    "timeouts": Timeouts.__struct_fields__,
    "server": [one for one in ServerSettings.__struct_fields__ if re.match("max_|.*_seconds", one)],
    "store": [one for one in StoreSettings.__struct_fields__ if re.match("max_|days", one)],
    "keys.NAME": [one for one in KeySettings.__struct_fields__ if re.match(".*_per_|conc", one)],
}


def test_the_page_is_what_the_settings_say():
    shown = (ROOT / "docs" / "limits.md").read_text()
    assert shown == page(), "run: python -m scripts.limits > docs/limits.md"


@pytest.mark.parametrize("section", BOUNDS)
def test_every_setting_that_is_a_bound_is_on_it(section):
    rows = page()
    assert [one for one in BOUNDS[section] if f"{section}.{one}`" not in rows] == []


def test_every_bound_names_a_test_that_exists():
    for bound in (one for rows in SECTIONS.values() for one in rows):
        file, _, name = bound.test.partition("::")
        assert f"def {name}" in (ROOT / file).read_text(), bound.test
