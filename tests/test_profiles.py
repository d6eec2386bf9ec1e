"""The random examples of the tests: new ones where it is asked for, and the same from one seed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

CONFTEST = Path(__file__).with_name("conftest.py")
PRINTS_ITS_EXAMPLES = """
from hypothesis import given, strategies as st

@given(st.integers(0, 10**9))
def test_prints(number):
    print("drawn:", number)
"""


def drawn(folder, profile, seed):
    """Return the examples of a test in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(
        [*command, f"--hypothesis-seed={seed}"],
        cwd=folder,
        env={**os.environ, "HYPOTHESIS_PROFILE": profile, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if line.startswith("drawn:")]


@pytest.mark.slow
def test_examples_of_the_checks_follow_their_seed(tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    shutil.copy(CONFTEST, tests)
    (tests / "test_one.py").write_text(PRINTS_ITS_EXAMPLES)
    first = drawn(tmp_path, "ci", 1)
    assert len(first) >= 10
    assert drawn(tmp_path, "ci", 1) == first
    assert drawn(tmp_path, "ci", 2) != first


@pytest.mark.parametrize("profile", ["ci", "thorough"])
def test_failure_says_how_to_repeat_it(profile):
    assert settings.get_profile(profile).print_blob
    assert not settings.get_profile(profile).derandomize


def test_thorough_draws_more():
    few, many = (settings.get_profile(name).max_examples for name in ("ci", "thorough"))
    assert many >= 10 * few
