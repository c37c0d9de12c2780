"""What is PostgreSQL's own: a server that goes away, a database that others use, URLs that do not do."""

import asyncio
import socket
import subprocess
import sys

import pytest

from canonicall.gateway.keeping import Keeping
from canonicall.store.database import Database
from canonicall.store.engine import Lost, StoreError, Taken
from canonicall.store.places import shown
from canonicall.store.sessions import SessionStore, Stored

pytestmark = pytest.mark.deep

END_OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = '{name}' AND pid <> pg_backend_pid()
"""
COUNT = "CREATE SEQUENCE canonicall.deaths"
DIE_ONCE = """
    CREATE FUNCTION canonicall.die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('canonicall.deaths') = 1 THEN
            PERFORM pg_terminate_backend(pg_backend_pid());
        END IF;
        RETURN NULL;
    END $$
"""
AT_COMMIT = """
    CREATE CONSTRAINT TRIGGER die AFTER INSERT ON canonicall.sessions
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION canonicall.die()
"""
SECRET = "hunter2"  # noqa: S105  of nobody


@pytest.fixture
def url(postgres):
    return postgres.new_database()


def cut_off(postgres, url):
    """End every connection to a database; how many there were."""
    return len(postgres.run(END_OTHERS.format(name=url.rpartition("/")[2])))


async def created(store, *ids):
    """What became of each session that was to be created, all of them asked for at once."""
    wanted = [store.create(Stored(id, "openai")) for id in ids]
    return await asyncio.gather(*wanted, return_exceptions=True)


def test_a_connection_that_was_lost_is_opened_again(postgres, url):
    """Whoever asks next does not notice."""
    database = Database(url)
    store = SessionStore(database)
    for id in ("a", "b"):
        asyncio.run(store.create(Stored(id, "openai")))
        assert cut_off(postgres, url) == 1
    assert {one.id for one in asyncio.run(store.list())} == {"a", "b"}
    cut_off(postgres, url)
    database.close()


def test_while_it_is_away_all_is_an_error_and_behind_it_nothing_is(postgres, url):
    database = Database(url)
    store = SessionStore(database)
    door = f"ALTER DATABASE {url.rpartition('/')[2]} ALLOW_CONNECTIONS"
    postgres.run(f"{door} false")
    cut_off(postgres, url)
    problems = asyncio.run(created(store, "a", "b"))
    assert [type(one) for one in problems] == [Lost, Lost]
    assert "not currently accepting connections" in str(problems[0])
    postgres.run(f"{door} true")
    assert asyncio.run(created(store, "a", "b")) == [None, None]
    database.close()


def test_what_was_lost_on_its_way_to_the_disk_is_not_done_again(postgres, url):
    """Done twice it might find itself there, and take itself for somebody else."""
    database = Database(url)
    store = SessionStore(database)
    for statement in (COUNT, DIE_ONCE, AT_COMMIT):
        postgres.run(statement, url)

    async def in_one_transaction():
        """While the writer is busy, they come together."""
        busy = asyncio.ensure_future(database.read("SELECT 1 FROM pg_sleep(0.3)"))
        await asyncio.sleep(0.1)
        problems = await created(store, "a", "b")
        await asyncio.wait([busy])
        busy.exception()
        return problems

    problems = asyncio.run(in_one_transaction())
    assert [type(one) for one in problems] == [Lost, Lost]
    assert "nobody can tell" in str(problems[0])
    assert asyncio.run(created(store, "a", "b")) == [None, None]
    database.close()


def test_it_has_a_schema_of_its_own(postgres, url):
    """Tables of others that are called the same stay as they are; a gateway's are beside ours."""
    postgres.run("CREATE TABLE sessions (id TEXT)", url)
    database = Database(url)
    asyncio.run(SessionStore(database).create(Stored("a", "openai")))
    database.close()
    Keeping(url).close()
    versions = postgres.run("SELECT name, version FROM canonicall.versions ORDER BY name", url)
    assert versions == [("gateway", 2), ("sessions", 1)]
    assert postgres.run("SELECT * FROM sessions", url) == []
    assert postgres.run("SELECT id FROM canonicall.sessions", url) == [("a",)]


def test_to_use_it_needs_no_right_to_make_it(postgres, url):
    Database(url).close()
    role = "user_" + url.rpartition("/")[2]
    for statement in (
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA canonicall TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA canonicall TO {role}",
    ):
        postgres.run(statement, url)
    database = Database(url.replace("postgres@", f"{role}@"))
    asyncio.run(SessionStore(database).create(Stored("a", "openai")))
    database.close()


def test_a_database_of_a_newer_version_is_left_alone(postgres, url):
    Database(url).close()
    postgres.run("UPDATE canonicall.versions SET version = 99", url)
    with pytest.raises(StoreError, match=r"newer canonicall \(version 99\)"):
        Database(url)


async def test_sessions_are_listed_by_their_bytes(url):
    """As in SQLite, whatever the language of the database."""
    database = Database(url)
    store = SessionStore(database)
    for id in ("b", "B", "a", "_"):
        await store.create(Stored(id, "openai"))
    assert [one.id for one in await store.list()] == ["B", "_", "a", "b"]
    with pytest.raises(Taken, match="there is a session 'a' already"):
        await store.create(Stored("a", "openai"))
    database.close()


def problem_of(place):
    """What is said when it is opened: one line, without the password."""
    with pytest.raises(StoreError) as raised:
        Database(place)
    told = str(raised.value)
    assert SECRET not in told
    assert "\n" not in told
    return told


def test_what_cannot_be_reached_is_told_in_a_line(postgres):
    there = f"postgresql://someone:{SECRET}@127.0.0.1"
    told = problem_of(f"{there}:{postgres.port}/db")
    assert told.startswith(f"postgresql://someone@127.0.0.1:{postgres.port}/db: ")
    assert 'role "someone" does not exist' in told
    assert "does not exist" in problem_of(postgres.url("nowhere", f"postgres:{SECRET}"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        told = problem_of(f"{there}:{free.getsockname()[1]}/db")
    assert told.endswith("the server cannot be reached: Connection refused")
    told = problem_of(f"postgresql://u:{SECRET}@nowhere.invalid/db")
    assert told.startswith("postgresql://u@nowhere.invalid/db: it cannot be used as a store: ")


def test_a_password_opens_and_is_never_told(postgres, url):
    postgres.run(f"CREATE ROLE guarded SUPERUSER LOGIN PASSWORD '{SECRET}@/'", url)
    Database(url.replace("postgres@", f"guarded:{SECRET}%40%2F@")).close()
    told = problem_of(url.replace("postgres@", f"guarded:{SECRET}@"))
    assert "password authentication failed" in told


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (f"postgresql:/someone:{SECRET}@host/db", "no URL"),
        (f"postgresql:{SECRET}", "no URL"),
        (f"postgresql://someone:[{SECRET}@host/db", "no URL"),
        (f"postgresql://someone:x@{SECRET}@host/db", "two ways"),
        (f"postgresql://someone:x/{SECRET}@host/db", "two ways"),
        (f"postgresql://someone:x?{SECRET}@host/db", "two ways"),
        (f"postgresql://someone:x#{SECRET}@host/db", "two ways"),
        (f"postgresql://someone:{SECRET}#", "port"),
        (f"postgresql://someone:{SECRET}", "port"),
        (f"postgres://h:1,someone:{SECRET}/db", "port"),
        (f"mysql://someone:{SECRET}@host/db", "mysql:// names no store"),
        (f"sqlite:///{SECRET}", "sqlite:// names no store"),
    ],
)
def test_a_wrong_url_is_told_without_showing_it(url, problem):
    assert problem in problem_of(url)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://u:p@h:1/d", "postgresql://u@h:1/d"),
        ("postgres://h/d?password=p", "postgresql://h/d"),
        ("postgresql://u@[::1]:5432,h2/d", "postgresql://u@[::1]:5432,h2/d"),
        ("postgresql:///d?host=/run/postgresql", "postgresql:///d"),
        ("postgresql://", "postgresql://"),
    ],
)
def test_how_a_database_is_shown(url, name):
    assert shown(url) == name


WITHOUT = """
import sys
sys.modules["asyncpg"] = None
from canonicall import Database
try:
    Database("postgresql://someone:hunter2@host/db")
except Exception as error:
    print(type(error).__name__, error)
"""


def test_without_the_package_it_says_what_to_install():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "StoreError postgresql://someone@host/db: it needs the package asyncpg:"
        " pip install 'canonicall[postgres]'\n"
    )


def test_a_file_needs_nothing_of_it(tmp_path):
    code = "import sys, canonicall; canonicall.Database(sys.argv[1]).close(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "s.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = done.stdout.split()
    assert "canonicall.store.sqlite" in loaded
    assert not {"asyncpg", "canonicall.store.postgres"} & set(loaded)
