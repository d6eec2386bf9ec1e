"""Settings of all tests."""

from __future__ import annotations

import os
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Threads of libraries that wait for work sleep: while they spin, no other test has their CPU.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # 2^4 cycles; 2^26 without

# While one works on the code the examples stay the same, so that a new failure is of the last edit.
# What is checked before a change is accepted draws new ones for each commit, from a seed that it
# prints.
settings.register_profile("default", deadline=None, max_examples=10, derandomize=True)
settings.register_profile(
    "ci", settings.get_profile("default"), derandomize=False, database=None, print_blob=True
)
settings.register_profile("thorough", settings.get_profile("ci"), max_examples=200)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.load_profile(PROFILE)


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples, of whatever profile, where everything of a kind is tested once."""
    if config.getoption("--quick", default=False):
        settings.register_profile("quick", settings.get_profile(PROFILE), max_examples=4)
        settings.load_profile("quick")


@pytest.fixture(autouse=True)
def _no_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets, named by NAIVELY_DATA."""
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        pytest.skip("NAIVELY_DATA is not set: no real data sets to test on")
    return Path(folder)


@pytest.fixture(scope="session")
def spamassassin(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of real mail, by class."""
    folder = tmp_path_factory.mktemp("spamassassin")
    with tarfile.open(data_folder / "mail" / "spamassassin.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """Return how to connect to a server of PostgreSQL, which starts when it is first asked for."""
    from tests.databases import server

    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(server()))


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def database(
    request: pytest.FixtureRequest, postgres: Callable[[], str]
) -> Iterator[tuple[str, Any]]:
    """The name of a database and a connection to it, empty: DuckDB, SQLite, PostgreSQL in turn."""
    from tests.databases import connected

    with connected(request.param, postgres) as connection:
        yield request.param, connection
