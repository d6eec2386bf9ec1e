"""Who uses naively has its types: a user's program passes the strictest checks, and runs."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / "tests" / "typed_program.py"  # make types checks it by mypy


def test_the_package_says_that_it_has_types() -> None:
    assert files("naively").joinpath("py.typed").is_file()


def test_the_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(PROGRAM), run_name="__main__")
    assert "spam True 300" in capsys.readouterr().out


@pytest.mark.slow
def test_pyright_finds_nothing_in_the_program() -> None:
    pyright = shutil.which("pyright", path=str(Path(sys.executable).parent))
    if pyright is None:
        pytest.skip("pyright is not installed: make types installs it")
    # The package of PyPI brings Pyright itself at its first run, which takes a network.
    started = subprocess.run([pyright, "--version"], check=False, capture_output=True, text=True)
    if started.returncode != 0:
        pytest.skip("pyright cannot be started; it takes Node.js, and a network at its first run")
    done = subprocess.run([pyright], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
