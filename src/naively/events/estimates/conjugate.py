"""Densities of conjugate priors and of the posteriors that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from naively.counting.axis import Level
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
    from scipy.special import gammaln, xlogy

    match prior:
        case NormalInverseGamma():
            both = np.broadcast_arrays(parameters["mean"], parameters["variance"])
            return np.asarray(prior.log_pdf(np.stack(both, axis=-1)))
        case Dirichlet():
            # SciPy's refuses probabilities whose sum is off by rounding, and a single level.
            p = parameters["p"]
            alpha = np.broadcast_to(prior.alpha, p.shape[-1:]).astype(np.float64)
            size = gammaln(alpha.sum()) - gammaln(alpha).sum()
            return np.asarray(size + xlogy(alpha - 1, p).sum(axis=-1))
        case _:
            ((name, distribution),) = marginals(prior).items()
            return np.asarray(distribution.logpdf(parameters[name]))


def marginals(prior: Prior, levels: Sequence[Level] = ()) -> dict[Level, Distribution]:
    """Return the distribution of each parameter by itself, by its name or its level."""
    match prior:
        case NormalInverseGamma():
            return dict(prior.frozen)
        case Beta():
            return {"p": prior.frozen}
        case Gamma():
            return {"rate": prior.frozen}
        case Normal():
            return {"mean": prior.frozen}
        case InverseGamma():
            return {"variance": prior.frozen}
        case Dirichlet():
            alpha = np.broadcast_to(prior.alpha, len(levels)).tolist()
            return {
                level: Beta.distribution_of(a, sum(alpha) - a)
                for level, a in zip(levels, alpha, strict=True)
            }
        case _:
            raise TypeError(f"{prior} is conjugate to no event model.")
