"""Densities of conjugate priors and of the posteriors that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from naively.counting.names import Level
from naively.events.base import Distribution
from naively.events.prior import (
    Beta,
    Dirichlet,
    Gamma,
    InverseGamma,
    Normal,
    NormalInverseGamma,
    Prior,
)
from naively.kernels.reference import Floats


def log_density(prior: Prior, parameters: Mapping[str, Floats]) -> Floats:
    """Return the log density of parameters, in the shape that they broadcast to.

    The last axis of a Dirichlet's probabilities is its outcomes, which are summed over.
    """
    from scipy import stats
    from scipy.special import gammaln, xlogy

    match prior:
        case NormalInverseGamma(mean, rows, shape, scale):
            v = parameters["variance"]
            of_mean = stats.norm.logpdf(parameters["mean"], mean, np.sqrt(v / rows))
            return np.asarray(of_mean + stats.invgamma.logpdf(v, shape, scale=scale))
        case InverseGamma():
            return np.asarray(prior.frozen.logpdf(parameters["variance"]))
        case Dirichlet():
            p = parameters["p"]
            alpha = np.broadcast_to(prior.alpha, p.shape[-1:]).astype(np.float64)
            size = gammaln(alpha.sum()) - gammaln(alpha).sum()
            return np.asarray(size + xlogy(alpha - 1, p).sum(axis=-1))
        case _:
            of = marginals(prior)
            (value,) = (parameters[name] for name in parameters if name != "variance")
            (distribution,) = of.values()
            return np.asarray(distribution.logpdf(value))


def marginals(prior: Prior, levels: Sequence[Level] = ()) -> dict[Level, Distribution]:
    """Return the distribution of each parameter by itself, by its name or its level."""
    from scipy import stats

    match prior:
        case Beta(a, b):
            return {"p": stats.beta(np.asarray(a), np.asarray(b))}
        case Gamma(shape, rate):
            return {"rate": stats.gamma(np.asarray(shape), scale=1 / np.asarray(rate))}
        case Normal():
            return {"mean": prior.frozen}
        case InverseGamma():
            return {"variance": prior.frozen}
        case NormalInverseGamma():
            return {**prior.frozen}
        case Dirichlet():
            alpha = np.broadcast_to(prior.alpha, len(levels)).tolist()
            return {
                level: stats.beta(a, sum(alpha) - a) for level, a in zip(levels, alpha, strict=True)
            }
        case _:
            raise TypeError(f"{prior} is of no known family")
