"""Naive Bayes is counting: learn in one pass, merge, forget, explain.

Everything public is imported when it is first used, so that ``import naively`` stays light.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as type checkers have it; importing typing takes as long as one mail
if TYPE_CHECKING:
    from typing import Any

    from naively.counting.tally import Tally
    from naively.estimators.categorical_nb import CategoricalNB
    from naively.estimators.discrete_nb import BernoulliNB, ComplementNB, MultinomialNB
    from naively.estimators.gaussian_nb import GaussianNB
    from naively.estimators.scikit import NaiveBayes, load
    from naively.events import (
        Bernoulli,
        Beta,
        Categorical,
        Complement,
        Dirichlet,
        Estimate,
        Exponential,
        Gamma,
        Gaussian,
        Geometric,
        Histogram,
        JointTable,
        KernelDensity,
        LogNormal,
        Multinomial,
        Normal,
        NormalInverseGamma,
        Poisson,
    )
    from naively.events.base import EventModel
    from naively.kernels.dispatch import set_threads, show_config
    from naively.model.model import Model
    from naively.schema.patterns import Patterns
    from naively.schema.text import Text

__version__: str

_HOME = {
    "Bernoulli": "naively.events",
    "BernoulliNB": "naively.estimators.discrete_nb",
    "Beta": "naively.events",
    "Categorical": "naively.events",
    "CategoricalNB": "naively.estimators.categorical_nb",
    "Complement": "naively.events",
    "ComplementNB": "naively.estimators.discrete_nb",
    "Dirichlet": "naively.events",
    "Estimate": "naively.events",
    "EventModel": "naively.events.base",
    "Exponential": "naively.events",
    "Gamma": "naively.events",
    "Gaussian": "naively.events",
    "GaussianNB": "naively.estimators.gaussian_nb",
    "Geometric": "naively.events",
    "Histogram": "naively.events",
    "JointTable": "naively.events",
    "KernelDensity": "naively.events",
    "LogNormal": "naively.events",
    "Model": "naively.model.model",
    "Multinomial": "naively.events",
    "MultinomialNB": "naively.estimators.discrete_nb",
    "NaiveBayes": "naively.estimators.scikit",
    "Normal": "naively.events",
    "NormalInverseGamma": "naively.events",
    "Patterns": "naively.schema.patterns",
    "Poisson": "naively.events",
    "Tally": "naively.counting.tally",
    "Text": "naively.schema.text",
    "load": "naively.estimators.scikit",
    "set_threads": "naively.kernels.dispatch",
    "show_config": "naively.kernels.dispatch",
}

__all__ = [
    "Bernoulli",
    "BernoulliNB",
    "Beta",
    "Categorical",
    "CategoricalNB",
    "Complement",
    "ComplementNB",
    "Dirichlet",
    "Estimate",
    "EventModel",
    "Exponential",
    "Gamma",
    "Gaussian",
    "GaussianNB",
    "Geometric",
    "Histogram",
    "JointTable",
    "KernelDensity",
    "LogNormal",
    "Model",
    "Multinomial",
    "MultinomialNB",
    "NaiveBayes",
    "Normal",
    "NormalInverseGamma",
    "Patterns",
    "Poisson",
    "Tally",
    "Text",
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
