"""Settings of all tests and of the examples in docstrings and pages.

Pictures need no display, and a page's examples write their files into a folder of their own.

With ``--quick`` everything of a kind is tested once: of a test with many cases four are run,
spread over all of them, and of one that is marked as slow the first case; a slow test without
cases is left out. The laws are run on all of ``CASES``, and in plain NumPy on some. With
``--rest`` the others are run, and with ``--third N`` only every third of them, from the Nth on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")

# What builds the documentation needs what "make docs" installs, and has no examples.
collect_ignore_glob = ["docs/*.py", "docs/*/*.py"]


MOST = 4  # cases of a test that are run with --quick
LAWS = "tests/test_laws.py"
# In plain NumPy each fourth case will do: that it computes the same, the kernels' tests show.
EACH = 4 if os.environ.get("NAIVELY_NATIVE") == "0" else 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options that divide the tests."""
    parser.addoption("--quick", action="store_true", help="test everything of a kind once")
    parser.addoption("--rest", action="store_true", help="run what --quick leaves out")
    parser.addoption("--third", type=int, metavar="N", help="every third of them, from the Nth on")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Compare pictures with the kept ones, as pytest-mpl does if it is asked to."""
    config.option.mpl = True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what is to be run with --quick, or the rest."""
    quick, rest = config.getoption("--quick"), config.getoption("--rest")
    if quick == rest:
        return
    tests: dict[str, list[pytest.Item]] = {}  # of which a module's fixture may part the cases
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen = {item for cases in tests.values() for item in some_of(cases)}
    kept = [item for item in items if (item in chosen) == quick]
    third = config.getoption("--third")
    if third is not None:
        kept = kept[third % 3 :: 3]
    config.hook.pytest_deselected(items=list(set(items).difference(kept)))
    items[:] = kept


def some_of(cases: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return which cases of one test are run with --quick."""
    first = cases[0]
    if first.get_closest_marker("slow"):
        return [first] if "[" in first.nodeid else []
    if first.nodeid.startswith(LAWS):
        return list(cases[::EACH])
    if len(cases) <= MOST:
        return list(cases)
    return [cases[i * len(cases) // MOST] for i in range(MOST)]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Close the figures that a test has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(request: pytest.FixtureRequest) -> None:
    """Run the examples of a page where the files that they write are in nobody's way."""
    if request.node.path.suffix == ".md":
        folder = request.getfixturevalue("tmp_path")
        request.getfixturevalue("monkeypatch").chdir(folder)
