"""The audit finds what an advisory names, and only that."""

import json
import zipfile

import pytest

from scripts.audit import main, pins

PINS = "Some_Package==1.4.2\nother==2.0 ; python_version > '3'\n# left==1\n"


def advisory(name="some-package", *, ecosystem="PyPI", **more):
    package = {"name": name, "ecosystem": ecosystem}
    top = {key: more.pop(key) for key in ("withdrawn",) if key in more}
    return {"id": "TEST-1", "summary": "Bad.", "affected": [{"package": package, **more}], **top}


def between(*events):
    return [{"type": "ECOSYSTEM", "events": list(events)}]


@pytest.fixture
def run(tmp_path, capsys):
    file, folder = tmp_path / "pins.txt", tmp_path / "advisories"
    file.write_text(PINS)
    folder.mkdir()

    def check(*given, place=folder):
        for at, one in enumerate(given):
            (folder / f"{at}.json").write_text(json.dumps(one))
        code = main(["--advisories", str(place), "--pins", str(file)])
        return code, capsys.readouterr()

    return check


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (advisory(versions=["1.4.2"]), 1),
        (advisory(versions=["1.4.1"]), 0),
        (advisory(ranges=between({"introduced": "0"}, {"fixed": "1.4.3"})), 1),
        (advisory(ranges=between({"introduced": "0"}, {"fixed": "1.4.2"})), 0),
        (advisory(ranges=between({"introduced": "1.4.2"})), 1),
        (advisory(ranges=between({"introduced": "1.5"})), 0),
        (advisory(ranges=between({"introduced": "0"}, {"last_affected": "1.4.2"})), 1),
        (advisory(ranges=between({"introduced": "0"}, {"last_affected": "1.4.1"})), 0),
        (
            advisory(
                ranges=between(
                    {"introduced": "0"}, {"fixed": "1.0"}, {"introduced": "1.4"}, {"fixed": "1.5"}
                )
            ),
            1,
        ),
        (advisory("Some.Package", versions=["1.4.2"]), 1),
        (advisory("third", versions=["1.4.2"]), 0),
        (advisory(ecosystem="npm", versions=["1.4.2"]), 0),
        (advisory(versions=["1.4.2"], withdrawn="2026-01-01T00:00:00Z"), 0),
    ],
)
def test_a_pin_that_an_advisory_names_fails_the_audit(run, given, code):
    got, said = run(given)
    assert got == code
    assert ("some-package 1.4.2: TEST-1" in said.out) == bool(code)


def test_an_archive_is_read_as_a_folder_is(run, tmp_path):
    place = tmp_path / "all.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("TEST-1.json", json.dumps(advisory(versions=["1.4.2"])))
    assert run(place=place)[0] == 1


def test_nothing_that_can_be_checked_is_an_error(run, tmp_path):
    assert run()[0] == 2
    assert run(place=tmp_path / "gone")[0] == 2


def test_pins_are_read_as_pip_reads_them():
    assert pins(PINS) == {"some-package": "1.4.2", "other": "2.0"}


def test_pins_of_several_files_are_checked(run, tmp_path):
    more = tmp_path / "requirements.lock"
    more.write_text("for-windows==3.1 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n")
    _, told = run(advisory(), advisory("for-windows", versions=["3.1"]))
    assert "0 found" in told.out
    folder = str(tmp_path / "advisories")
    assert main(["--advisories", folder, "--pins", str(tmp_path / "pins.txt"), str(more)]) == 1
