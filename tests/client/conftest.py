"""The port of the simulators is closed behind the last test."""

import pytest

from client_support import Port


@pytest.fixture(scope="session", autouse=True)
def port():
    yield
    Port.stop()
