"""Where a store is: a file, or the URL of a database."""

import re
from urllib.parse import urlsplit

from canonicall.store.engine import Engine, StoreError, Tables
from canonicall.store.sqlite import Sqlite

_POSTGRES = re.compile(r"postgres(ql)?:", re.IGNORECASE)
_OTHER = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:\d+)?")
_WANTED = "Write it as postgresql://user@host/database"


def open_engine(place: str, tables: Tables) -> Engine:
    """What is at a place, ready for use."""
    name = shown(place)
    if not _POSTGRES.match(place):
        return Sqlite(place, tables)
    try:
        from canonicall.store.postgres import Postgres  # noqa: PLC0415  an extra, loaded late
    except ModuleNotFoundError as error:
        told = f"{name}: it needs the package {error.name}: pip install 'canonicall[postgres]'"
        raise StoreError(told) from None
    return Postgres(place, name, tables)


def shown(place: str) -> str:
    """How a place is shown: never with a password. StoreError where it names none.

    A URL that can be read in two ways is refused without showing any of it: what looks like a host
    may be the rest of a password.
    """
    if _POSTGRES.match(place):
        return _shown_url(place)
    if other := _OTHER.match(place):
        told = f"{other[1]}:// names no store. Give the path of a file, or a postgresql:// URL."
        raise StoreError(told)
    return place


def _shown_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = None
    if parts is None or not url[len(parts.scheme) :].startswith("://"):
        raise StoreError(f"this is no URL of a PostgreSQL database. {_WANTED}.")
    who, _, hosts = parts.netloc.rpartition("@")
    if url.count("@") > 1 or ("@" in url and not who) or parts.fragment:
        told = "this URL of a PostgreSQL database can be read in two ways."
        help = "with %40 for @, %2F for /, %3F for ?, %23 for # and %3A for : in a password"
        raise StoreError(f"{told} {_WANTED}, {help}.")
    if not all(_HOST.fullmatch(host) for host in hosts.split(",")):
        raise StoreError(f"the port of this URL of a PostgreSQL database is no number. {_WANTED}.")
    user = who.partition(":")[0]
    return f"postgresql://{user}{'@' if user else ''}{hosts}{parts.path}"
