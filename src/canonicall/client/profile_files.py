"""Profiles in files, such as `canonicall discover -o` writes them: read here, at the rim."""

from pathlib import Path

from canonicall.errors import InvalidValue
from canonicall.facts.profile import Profile, load_profile


def read_profile(path: str | Path) -> Profile:
    """The profile in a TOML file; what is wrong with it is told with the file and the place."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        what = f"the profile cannot be read: {error.strerror}."
        raise InvalidValue(what, where=str(path)) from None
    return load_profile(data, str(path))
