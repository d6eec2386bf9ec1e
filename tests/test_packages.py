"""What is published: an sdist that needs no git, a wheel of plain Python; how it is released."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.check_release import ROOT, faults

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LAW = "tests/test_laws.py::test_merge_is_refit"
BUILD = """
import sys, scikit_build_core.build as to
to.build_sdist(sys.argv[1])
"""
PREDICT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[2].split():
            raise ImportError(f"{name} is not needed")

sys.meta_path.insert(0, Refuse())
from naively import NaiveBayes, load

nb = load(sys.argv[1])
rows = {"size": [0.5, None], "colour": ["red", "never seen"], "note": ["a prize", None]}
print(nb.predict(rows).shape, nb.predict_proba(rows).shape, len(nb.explain(rows)))
nb.partial_fit(rows, [0, 1])
"""


def run(*command: Any, **options: Any) -> str:
    done = subprocess.run(
        list(map(str, command)), check=False, capture_output=True, text=True, **options
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.slow
def test_an_sdist_of_a_folder_without_git_is_installed_and_keeps_a_law(tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core", reason="make setup installs what builds packages")
    copy, dist, here = tmp_path / "copy", tmp_path / "dist", tmp_path / "venv"
    left_out = shutil.ignore_patterns(
        ".git", ".venv", "build", "dist", "_build", "__pycache__", ".*_cache"
    )
    shutil.copytree(ROOT, copy, ignore=left_out)
    (copy / "build").mkdir()
    (copy / "build" / "made.txt").write_text("this is not shipped")
    run(sys.executable, "-c", BUILD, dist, cwd=copy)
    (sdist,) = dist.iterdir()
    shutil.unpack_archive(sdist, tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert (unpacked / "src/native/module.cpp").is_file()
    assert (unpacked / "LICENSE").is_file()
    assert not (unpacked / "build").exists()
    # A new environment downloads nothing: beside naively it sees what is installed here.
    venv.create(here, with_pip=False)
    python = here / "bin/python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    pure = ["--no-deps", "--no-build-isolation", "--config-settings=wheel.cmake=false", "--quiet"]
    run(sys.executable, "-m", "pip", "install", *pure, "--target", site, sdist)
    others = [folder for folder in sys.path if folder.endswith("site-packages")]
    env = {name: of for name, of in os.environ.items() if not name.startswith("COV_CORE")}
    env["PYTHONPATH"] = os.pathsep.join([str(site), *others])
    known = run(python, "-c", "import naively; print(naively.__file__)", env=env, cwd=tmp_path)
    assert Path(known.strip()).is_relative_to(site)
    options = ["-q", "--quick", "-p", "no:cacheprovider", "-p", "no:xdist"]
    said = run(python, "-m", "pytest", *options, LAW, env=env, cwd=unpacked)
    assert " passed" in said


def test_a_loaded_model_predicts_explains_and_learns_with_few_packages(tmp_path: Path) -> None:
    from naively import NaiveBayes

    columns = {
        "size": [*range(39), None],
        "colour": ["red", "blue"] * 20,
        "note": ["win a prize now", "lunch at noon"] * 20,
    }
    NaiveBayes().fit(columns, [0, 1] * 20).save(tmp_path / "m.naively", keep_rows=True)
    names = {re.match(r"[\w-]+", of)[0] for of in PROJECT["project"]["dependencies"]}  # type: ignore[index]
    assert names >= {"numpy", "safetensors", "threadpoolctl"}
    refused = names - {"numpy", "safetensors", "threadpoolctl"} | {"sklearn"}
    said = run(sys.executable, "-c", PREDICT, tmp_path / "m.naively", " ".join(sorted(refused)))
    assert said == "(2,) (2, 2) 2\n"


def test_wheels_are_built_for_each_python_that_is_supported() -> None:
    built = PROJECT["tool"]["cibuildwheel"]["build"]
    least = PROJECT["project"]["requires-python"].removeprefix(">=3.")
    assert built == [f"cp3{minor}-*" for minor in range(int(least), 15)]


def test_a_release_checks_the_tag_and_trusts_the_publisher() -> None:
    flow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    jobs = flow["jobs"]
    steps = {name: str(job["steps"]) for name, job in jobs.items()}
    assert "tools/check_release.py" in steps["check"]
    assert {jobs["source"]["needs"], jobs["wheels"]["needs"]} == {"check"}
    assert set(jobs["publish"]["needs"]) == {"source", "wheels"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets" not in str(flow)
    for path in re.findall(r"(?:tools|tests)/\w+\.py", str(flow)):
        assert (ROOT / path).is_file(), path


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The files of a release, as they ought to be for its tag."""
    version = PROJECT["project"]["version"]
    others = "src/naively/__init__.py", "CITATION.cff", "packages/js/package.json"
    for name in ("pyproject.toml", *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    section = f"## [{version}] - 2026-12-01\n\n### Added\n\n- All.\n"
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n{section}")
    return tmp_path


def test_a_tag_is_released_if_all_say_the_same(release: Path) -> None:
    tag, log = f"v{PROJECT['project']['version']}", release / "CHANGELOG.md"
    right = log.read_text()
    assert faults(tag, release) == []
    assert "packages/js/package.json has version" in " ".join(faults("v9.9.9", release))
    assert "CHANGELOG.md has no section [9.9.9]." in faults("v9.9.9", release)
    assert faults(tag[1:], release) == [f"{tag[1:]} is no tag as v1.2.3."]
    log.write_text(right.replace("- All.", "").replace("### Added", ""))
    assert faults(tag, release) == [f"CHANGELOG.md says nothing of {tag[1:]}."]
    log.write_text(right.replace(" - 2026-12-01", ""))
    assert faults(tag, release) == [f"CHANGELOG.md has no date of {tag[1:]}."]
    log.write_text(right.replace("[Unreleased]\n", "[Unreleased]\n\n- More.\n"))
    assert faults(tag, release) == ["CHANGELOG.md has lines under Unreleased."]
