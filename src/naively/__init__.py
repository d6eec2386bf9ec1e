"""Naive Bayes is counting: learn in one pass, merge, forget, explain.

Everything public is imported when it is first used, so that ``import naively`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from naively.core.compute import set_threads, show_config
    from naively.core.event import EventModel
    from naively.core.tally import Tally
    from naively.estimators.naive_bayes import NaiveBayes, load
    from naively.events import Bernoulli, Categorical, Gaussian, Multinomial
    from naively.model import Model

__version__: str

_HOME = {
    "Bernoulli": "naively.events",
    "Categorical": "naively.events",
    "EventModel": "naively.core.event",
    "Gaussian": "naively.events",
    "Model": "naively.model",
    "Multinomial": "naively.events",
    "NaiveBayes": "naively.estimators.naive_bayes",
    "Tally": "naively.core.tally",
    "load": "naively.estimators.naive_bayes",
    "set_threads": "naively.core.compute",
    "show_config": "naively.core.compute",
}

__all__ = [
    "Bernoulli",
    "Categorical",
    "EventModel",
    "Gaussian",
    "Model",
    "Multinomial",
    "NaiveBayes",
    "Tally",
    "load",
    "set_threads",
    "show_config",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("naively")
    if name not in _HOME:
        raise AttributeError(f"module 'naively' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
