"""``make bench-compare``: cases are run by both sides in turn, and what became worse is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from benchmarks import compare as comparing
from benchmarks.compare import Compared, Side, compare, save
from benchmarks.compare_cases import CASES, peak, texts


def of(base: list[float], here: list[float], mb: tuple[float, float] = (50.0, 50.0)) -> Compared:
    return Compared("a case", (base, here), mb)


def test_a_ratio_is_the_median_over_the_rounds() -> None:
    found = of([1.0, 2.0, 4.0], [1.1, 2.6, 40.0])
    assert found.slower == pytest.approx(1.3)
    assert found.worse
    assert not of([1.0, 1.0, 1.0], [1.1, 1.1, 9.0]).worse


def test_what_is_larger_is_worse_but_for_a_little() -> None:
    assert of([1.0], [1.0], (50.0, 56.0)).worse
    assert not of([1.0], [1.0], (50.0, 54.0)).worse
    assert not of([1.0], [1.0], (1.0, 2.9)).worse  # of a process, some MB are chance


@pytest.mark.slow
def test_a_case_is_run_by_both_sides_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "BUILD", tmp_path)
    monkeypatch.setattr(comparing, "RESULTS", tmp_path / "compare.jsonl")
    name = next(name for name in CASES if name.startswith("start-up"))
    sides = Side("abc", Path(sys.executable)), Side("def", Path(sys.executable))
    found = compare(name, *sides, rounds=1)
    assert [len(side) for side in found.seconds] == [1, 1]
    assert 0.2 < found.slower < 5
    for _ in range(2):
        save([found], *sides)
    lines = (tmp_path / "compare.jsonl").read_text(encoding="utf-8").splitlines()
    assert [(line["base"], line["here"]) for line in map(json.loads, lines)] == [("abc", "def")] * 2
    assert json.loads(lines[0])["cases"][name]["slower"] == float(f"{found.slower:.3g}")


def test_a_side_that_takes_too_long_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = tmp_path / "never"
    never.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    never.chmod(0o755)
    monkeypatch.setattr(comparing, "BUILD", tmp_path)
    monkeypatch.setattr(comparing, "LONGEST", 0.1)
    found = compare("never", Side("abc", never), Side("def", never), rounds=2)
    assert found.seconds == ([0.1, 0.1], [0.1, 0.1])
    assert found.megabytes == (0, 0)
    assert not found.worse


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is told by Linux")
def test_memory_is_what_is_taken_at_most() -> None:
    assert 90 < peak(lambda: bytes([1]) * 100_000_000) < 130


def test_texts_are_of_about_so_many_words() -> None:
    found, labels = texts(50, 100)
    assert len(found) == len(labels) == 50
    assert 80 < sum(len(text.split()) for text in found) / 50 < 120
