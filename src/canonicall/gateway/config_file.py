"""One file in, settings out; or everything that is wrong with it, in one error."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from canonicall.gateway.config_checks import check_settings
from canonicall.gateway.config_problems import ROOT, Problem, Problems
from canonicall.gateway.config_shape import read_section
from canonicall.gateway.config_text import parse_text
from canonicall.gateway.environment_references import fill_references
from canonicall.gateway.environment_settings import completed
from canonicall.gateway.profile_files import in_folder, read_profiles
from canonicall.gateway.registrations import registered
from canonicall.gateway.settings import Settings


class Loaded(Struct, frozen=True):
    """Settings, and what is worth knowing about them."""

    settings: Settings
    warnings: tuple[Problem, ...] = ()


def load_file(path: str | Path, environ: Mapping[str, str]) -> Loaded:
    """The settings in a file; `UnusableSettings` with all faults where there are any."""
    problems = Problems()
    data = b""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        problems.error(ROOT, f"the file cannot be read: {error.strerror}.")
    problems.raise_any(str(path))
    return read_settings(data, str(path), environ)


def read_settings(data: bytes, file: str, environ: Mapping[str, str]) -> Loaded:
    """The settings in the bytes of a file; its name says what language it is in."""
    problems = Problems()
    tree = parse_text(data, file, problems)
    problems.raise_any(file)
    filled = fill_references(tree, environ, ROOT, problems)
    settings = read_section(Settings, filled, ROOT, problems)
    settings = replace(settings, profiles=in_folder(settings.profiles, Path(file).parent))
    with registered(read_profiles(settings.profiles, problems), problems):
        check_settings(settings, environ, problems)
    problems.raise_any(file)
    return Loaded(completed(settings, environ), tuple(problems.warnings))
