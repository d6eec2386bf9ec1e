"""What a command costs, measured as the child of a small process.

A process counts the memory of the one that started it until it is another program, so that the
peak of a child of the benchmark would be that of the benchmark. This file runs as a program of its
own, which holds almost nothing: ``python process.py COMMAND ...``.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds on the wall, seconds of all processors, and peak memory in MB."""

    seconds: float
    cpu: float
    peak: float


def cost(command: Sequence[str | Path]) -> Cost:
    """Run a command; what it prints is shown only if it fails.

    Raises
    ------
    RuntimeError
        If the command fails.
    """
    done = subprocess.run(
        [sys.executable, "-I", "-S", __file__, *command],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return Cost(*json.loads(done.stdout))


def _main() -> int:
    begin = time.perf_counter()
    done = subprocess.run(sys.argv[1:], check=False, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1e6 if sys.platform == "darwin" else 1e6 / 1024  # it counts bytes, Linux 1024 of them
    print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / unit]))
    return done.returncode


if __name__ == "__main__":
    sys.exit(_main())
