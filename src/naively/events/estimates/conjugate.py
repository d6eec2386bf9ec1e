"""Densities of conjugate priors and of the posteriors that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from naively.counting.names import Level
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, EventModel
from naively.events.prior import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma, Prior
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
        case Normal(mean, variance):
            return {"mean": stats.norm(mean, np.sqrt(variance))}
        case NormalInverseGamma(mean, rows, shape, scale):
            return {
                "mean": stats.t(2 * shape, mean, np.sqrt(scale / (shape * rows))),
                "variance": stats.invgamma(shape, scale=scale),
            }
        case _:
            alpha = np.broadcast_to(prior.alpha, len(levels)).tolist()
            return {
                level: stats.beta(a, sum(alpha) - a) for level, a in zip(levels, alpha, strict=True)
            }


def posterior_of(event: EventModel, tally: BlockTally, prior: Prior) -> Prior:
    """Return what the prior has become, as a prior of what comes next."""
    found = event.posterior(tally)
    match prior:
        case Beta():
            return Beta(*map(_plain, found.args))
        case Gamma():
            return Gamma(_plain(found.args[0]), _plain(1 / np.asarray(found.kwds["scale"])))
        case Normal():
            mean, deviation = found.args
            return Normal(_plain(mean), _plain(np.square(deviation)))
        case NormalInverseGamma():
            _, mean, width = found["mean"].args
            (shape,), scale = found["variance"].args, found["variance"].kwds["scale"]
            return NormalInverseGamma(mean, scale / (shape * width**2), shape, scale)
        case _:
            return Dirichlet(found.alpha.tolist())


def _plain(value: object) -> float:
    plain: float = np.asarray(value, np.float64).tolist()
    return plain
