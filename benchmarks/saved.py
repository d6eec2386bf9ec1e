"""Results as JSON, with the machine and the versions that they were measured on.

Files in ``benchmarks/results`` are what the pages of measurements show (``docs/benchmarks.md``,
``docs/speed.md``). Neither the names of users and computers nor their paths are in them.
"""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import naively
from naively.kernels import dispatch

PACKAGES = ("naively", "numpy", "scipy", "scikit-learn")


def save(path: Path, command: str, results: list[dict[str, Any]]) -> None:
    """Write results, the command that measured them, the machine and the versions."""
    write(
        path,
        {"command": command, "machine": machine(), "versions": versions(), "results": results},
    )


def write(path: Path, found: dict[str, Any]) -> None:
    """Write JSON that people can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def machine() -> str:
    """Say what computes here: the processor, how many cores this process may use, the kernels."""
    return f"{processor()}, {cores()} cores; kernels {kernels()}"


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> str:
    """Return how much memory the machine has, if the system says it."""
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (AttributeError, OSError, ValueError):
        return "unknown"


def system() -> str:
    """Return the name of the operating system, and nothing of this computer's own."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def kernels() -> str:
    """Say which kernels are in use."""
    native = dispatch.NATIVE
    return "in NumPy" if native is None else f"native, {native.instruction_set()}"


def versions(more: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the versions of Python, of what is measured and of what else is installed."""
    found = {"Python": platform.python_version()}
    for name in (*PACKAGES, *more):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {**found, "naively": naively.__version__}
