"""The native kernels, if they were built and ``NAIVELY_NATIVE=0`` does not turn them off."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TypeVar, cast

built: ModuleType | None
try:
    built = import_module("naively.kernels._native")
except ImportError:
    built = None

NATIVE = built if os.environ.get("NAIVELY_NATIVE", "1") != "0" else None
Kernel = TypeVar("Kernel", bound=Callable[..., object])


def choose(kernel: Kernel) -> Kernel:
    """Return the native kernel of the same name, or this one where there is none."""
    return cast("Kernel", getattr(NATIVE, kernel.__name__, kernel))
