"""Settings of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets, named by NAIVELY_DATA."""
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        pytest.skip("NAIVELY_DATA is not set: no real data sets to test on")
    return Path(folder)
