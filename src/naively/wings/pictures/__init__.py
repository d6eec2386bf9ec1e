"""Pictures of numbers: arrays are drawn on Matplotlib's Axes; nothing here knows a model.

The files that draw are imported when they are first asked for, as ``pictures.scores``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from naively.wings.pictures import by_class, estimates, evidence, scores

__all__ = ["by_class", "estimates", "evidence", "scores"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
