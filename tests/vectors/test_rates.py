"""The table of rates counts what the tests prove."""

from importlib import import_module

from vectors.rates import COLUMNS, MODULES, rates
from vectors.support import all_vectors, needs_vectors

pytestmark = needs_vectors


def test_the_table_counts_every_vector_once_and_the_exceptions_of_the_tests() -> None:
    counted = rates()
    total = {column: sum(one[column] for one in counted.values()) for column in COLUMNS}
    listed = [import_module(f"vectors.test_{name}").EXCEPTIONS for name in MODULES]
    assert total["vectors"] + total["skipped"] == len(all_vectors())
    assert total["read"] + total["otherwise"] == total["vectors"]
    assert total["otherwise"] == sum(map(len, listed))
