"""The class prior: how probable each class is before anything is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.core.event import How
from naively.core.kernels import Floats
from naively.events import Beta, Dirichlet

ClassPrior: TypeAlias = "str | Sequence[float] | Mapping[Any, float] | Beta | Dirichlet"


def class_probabilities(
    prior: ClassPrior, how: How, class_count: Floats, classes: NDArray[Any]
) -> Floats:
    """Return the probability of each class: as counted, given, or estimated under a prior."""
    if not isinstance(prior, str | Beta | Dirichlet):
        return given_prior(prior, classes)
    if isinstance(prior, Beta | Dirichlet):
        count = np.maximum(class_count + pretend_classes(prior, how, classes), 0.0)
    elif prior in ("data", "uniform"):
        count = class_count if prior == "data" else np.ones(len(classes))
    else:
        raise ValueError(
            "class_prior must be 'data', 'uniform', probabilities, Beta or Dirichlet, "
            f"got {prior!r}."
        )
    if not count.sum() > 0:
        raise ValueError("Nothing is left to predict from: the counts are all zero.")
    p: Floats = count / count.sum()
    return p


def is_estimated(prior: ClassPrior) -> bool:
    """Whether the class prior follows from the class counts."""
    return prior == "data" if isinstance(prior, str) else isinstance(prior, Beta | Dirichlet)


def pretend_classes(prior: Beta | Dirichlet, how: How, classes: NDArray[Any]) -> Floats:
    """Return the pretend rows of each class that its prior stands for."""
    if isinstance(prior, Beta):
        if len(classes) != 2:
            raise ValueError(
                f"class_prior={prior} is for two classes, but there are {len(classes)}; "
                "give a Dirichlet."
            )
        of_second, of_first = prior.pretend(how)
        return np.stack([of_first, of_second])
    pretend = prior.pretend(how)
    if pretend.ndim and pretend.shape != classes.shape:
        raise ValueError(
            f"class_prior={prior} has {len(pretend)} counts for {len(classes)} classes; "
            "give one for each, or one for all."
        )
    return pretend


def given_prior(prior: Sequence[float] | Mapping[Any, float], classes: NDArray[Any]) -> Floats:
    """Check probabilities that were given for the classes, in order or by label."""
    if isinstance(prior, Mapping):
        labels = classes.tolist()
        if set(prior) != set(labels):
            raise ValueError(f"class_prior names {list(prior)}, but the classes are {labels}.")
        prior = [prior[label] for label in labels]
    p = np.asarray(prior, np.float64)
    if p.shape != classes.shape:
        raise ValueError(
            f"class_prior must have one probability for each of the {len(classes)} classes, "
            f"got shape {p.shape}."
        )
    if not (np.isfinite(p).all() and (p >= 0).all() and np.isclose(p.sum(), 1.0)):
        raise ValueError(f"class_prior must be probabilities that sum to 1, got {p.tolist()}.")
    return p
