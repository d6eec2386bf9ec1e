"""Naive Bayes is counting: learn in one pass, merge, forget, explain.

Everything public is imported when it is first used, so that ``import naively`` stays light.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as type checkers have it; importing typing takes as long as one mail
if TYPE_CHECKING:
    from typing import Any

    from naively import datasets as datasets
    from naively import lectures as lectures
    from naively.counting.tally import Tally as Tally
    from naively.estimators.compare import compare as compare
    from naively.estimators.drop_ins import BernoulliNB as BernoulliNB
    from naively.estimators.drop_ins import CategoricalNB as CategoricalNB
    from naively.estimators.drop_ins import ComplementNB as ComplementNB
    from naively.estimators.drop_ins import GaussianNB as GaussianNB
    from naively.estimators.drop_ins import MultinomialNB as MultinomialNB
    from naively.estimators.naive_bayes import NaiveBayes as NaiveBayes
    from naively.estimators.naive_bayes import load as load
    from naively.events import *  # noqa: F403  # as type checkers read it, what is public there
    from naively.events.joint_table import independence as independence
    from naively.inspect.likelihood import compare_event_models as compare_event_models
    from naively.inspect.parameters import parameter_counts as parameter_counts
    from naively.inspect.tallies import Counts as Counts
    from naively.inspect.tallies import Fading as Fading
    from naively.kernels.dispatch import set_threads as set_threads
    from naively.kernels.dispatch import show_config as show_config
    from naively.model.model import Model as Model
    from naively.schema.overview import columns as columns
    from naively.schema.text import Patterns as Patterns
    from naively.schema.text import Text as Text

__version__ = "0.1.0"  # as pyproject.toml has it

# Where each name comes from, beside the event models and their priors (``events.PUBLIC``).
_HOME = {
    "BernoulliNB": "naively.estimators.drop_ins",
    "CategoricalNB": "naively.estimators.drop_ins",
    "ComplementNB": "naively.estimators.drop_ins",
    "Counts": "naively.inspect.tallies",
    "Fading": "naively.inspect.tallies",
    "GaussianNB": "naively.estimators.drop_ins",
    "Model": "naively.model.model",
    "MultinomialNB": "naively.estimators.drop_ins",
    "NaiveBayes": "naively.estimators.naive_bayes",
    "Patterns": "naively.schema.text",
    "Tally": "naively.counting.tally",
    "Text": "naively.schema.text",
    "columns": "naively.schema.overview",
    "independence": "naively.events.joint_table",
    "compare_event_models": "naively.inspect.likelihood",
    "compare": "naively.estimators.compare",
    "parameter_counts": "naively.inspect.parameters",
    "load": "naively.estimators.naive_bayes",
    "set_threads": "naively.kernels.dispatch",
    "show_config": "naively.kernels.dispatch",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted([*_HOME, *import_module("naively.events").PUBLIC])
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in ("datasets", "lectures"):  # naively.lectures.check(...), without another import
        return import_module(f"naively.{name}")
    # Whether there is a submodule of some name is asked too, and must not load the event models.
    if name[:1].isupper() and name in import_module("naively.events").PUBLIC:
        return getattr(import_module("naively.events"), name)
    raise AttributeError(f"module 'naively' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__getattr__("__all__")])
