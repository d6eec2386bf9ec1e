"""Settings of all tests and of the examples in docstrings and pages.

Pictures need no display, and a page's examples write their files into a folder of their own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")

# What builds the documentation needs what "make docs" installs, and has no examples.
collect_ignore_glob = ["docs/*.py", "docs/*/*.py"]


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
