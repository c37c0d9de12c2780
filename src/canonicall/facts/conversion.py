"""Values of a TOML table as typed values, or an error that names the file and the path in it."""

from typing import Any

import msgspec

from canonicall.errors import InvalidValue


def convert(value: Any, kind: Any, where: str) -> Any:
    """`value` as a `kind`. `where`: the file and the path of the value."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        said = str(error)
        what, marked, path = said.rpartition(" - at `$")
        if not marked:
            raise InvalidValue(f"{value!r} does not fit: {said}.", where=where) from error
        raise InvalidValue(f"{what}.", where=f"{where}{path.removesuffix('`')}") from error
