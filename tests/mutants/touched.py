"""Which tests run which lines, and how long each takes."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.copies import FAILED, Copy
from tests.mutants.mutate import Mutant

DURATION = re.compile(r"^([\d.]+)s (?:call|setup|teardown) +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Touched:
    """The tests that run each line of each file, and the seconds of each test."""

    tests: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    @classmethod
    def measure(cls, copy: Copy, jobs: int, left_out: list[str]) -> Touched:
        """Run all tests once; those that fail are said, and left out."""
        from coverage import CoverageData

        config = copy.folder / "coverage.ini"  # of its own: nothing but what is asked for here
        config.write_text("[run]\n", encoding="utf-8")
        options = [f"-n{jobs}", "--cov=src/naively", "--cov-context=test", "--cov-report="]
        options += [f"--cov-config={config}", "-vv", "--durations=0", "--durations-min=0"]
        run = copy.pytest([*options, *(f"--ignore={path}" for path in left_out)])
        failed = set(FAILED.findall(run.stdout))
        for test in sorted(failed):
            print(f"left out, as it fails before anything is changed: {test}", flush=True)
        seconds: Counter[str] = Counter()
        for duration, test in DURATION.findall(run.stdout):
            seconds[test.strip()] += float(duration)
        if not seconds:
            raise RuntimeError(f"No tests were run.\n{run.stdout}{run.stderr}")
        data = CoverageData(copy.folder / ".coverage")
        data.read()
        lines = {
            Path(path).resolve().relative_to(copy.folder).as_posix(): {
                str(line): sorted({test.rpartition("|")[0] for test in tests} - {""} - failed)
                for line, tests in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }
        return cls(lines, dict(seconds))

    def by(self, mutant: Mutant, most: float) -> list[str]:
        """Return the quickest tests that run the statement, or, of a constant, its file."""
        of_file = self.tests.get(mutant.file, {})
        found = {test for line in mutant.lines for test in of_file.get(str(line), [])}
        if mutant.constant:
            found = {test for tests in of_file.values() for test in tests}
        chosen, spent = [], 0.0
        for test in sorted(found, key=lambda test: (self.seconds.get(test, 0.0), test)):
            spent += self.seconds.get(test, 0.0)
            if spent > most and chosen:
                break
            chosen.append(test)
        return chosen

    def keep(self, path: Path) -> None:
        """Write it to a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(vars(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Touched:
        """Read it from the file."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))
