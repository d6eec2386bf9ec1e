"""Results as JSON, with the machine and the versions that they were measured on.

Files in ``benchmarks/results`` are what the page of measurements shows (``docs/benchmarks.md``).
"""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import naively
from naively.kernels import dispatch

PACKAGES = ("naively", "numpy", "scipy", "scikit-learn")


def save(path: Path, command: str, results: list[dict[str, Any]]) -> None:
    """Write results, the command that measured them, the machine and the versions."""
    found = {"command": command, "machine": machine(), "versions": versions(), "results": results}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def machine() -> str:
    """Say what computes here: the processor, how many cores this process may use, the kernels."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    native = dispatch.NATIVE
    kernels = "in NumPy" if native is None else f"native, {native.instruction_set()}"
    processor = names[0] if names else platform.machine()
    return f"{processor}, {cores} cores; kernels {kernels}"


def versions() -> dict[str, str]:
    """Return the versions of Python and of what is measured."""
    found = {name: version(name) for name in PACKAGES}
    return {"Python": platform.python_version(), **found, "naively": naively.__version__}
