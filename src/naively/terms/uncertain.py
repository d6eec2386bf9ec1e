"""How sure a log likelihood is: its mean and variance under the posterior of its parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Dense, Sparse
from naively.frozen import Frozen
from naively.kernels.reference import Floats

# --- The posterior of log likelihoods, cell by cell, in closed form ------------------------------
#
# Parameters were estimated from so many rows, and from as many others they would be others. Under
# a conjugate prior the posterior says how far. What matters is the logarithm of a likelihood, as
# logarithms are what is added up; its mean and variance are exact: of a count that has a gamma
# distribution E log = ψ(n) and Var log = ψ'(n), and what is divided by a total, which is known
# better than its parts, is E log p = ψ(n) - ψ(N) and Var log p = ψ'(n) - ψ'(N) (a Dirichlet).


class Uncertain(Frozen):
    """The posterior mean and variance of log likelihoods, cell by cell.

    Cells are independent of each other, and so are classes, but for what is said here.
    """

    # (cells,): the row of each cell, and its column; of a text, its word.
    row: NDArray[np.int64]
    unit: NDArray[np.int64]
    # (cells, classes): in nats, and their square.
    mean: Floats
    variance: Floats
    # (cells,): how often each word comes. The words of a row have one total, so that the square of
    # what their lengths add up to, times ``of_total``, comes off their variance.
    length: Floats | None = None
    # (classes,): the variance of the logarithm of each class's total.
    of_total: Floats | None = None
    # (cells, classes): what all classes of a cell have in common: the square of its sum over the
    # classes comes on top. Such is a variance that is one for all classes.
    together: Floats | None = None


def mean_of_log(count: Floats, least: float = 0.0) -> Floats:
    """Return the mean of the logarithm of gamma variables of these shapes: ψ; -inf of 0."""
    # For a shape below ``least`` it is that of a variable of the same mean that has this shape.
    from scipy.special import digamma

    shape = np.maximum(count, least)
    mean: Floats = digamma(shape)
    if least > 0 and (count < least).any():
        with np.errstate(divide="ignore"):
            mean = mean + np.log(count / shape)
    return mean


def variance_of_log(count: Floats, least: float = 0.0) -> Floats:
    """Return the variance of the logarithm of gamma variables of these shapes: ψ'; inf of 0."""
    # Shapes below ``least`` that are not 0 are taken for it: pretend counts of a tenth of a row,
    # which were chosen to predict well, are not meant to say that a rare level may be anything.
    from scipy.special import zeta

    variance: Floats = zeta(2.0, np.maximum(count, least))
    return np.where(count > 0, variance, np.inf)


def variance_of_share(part: Floats, total: Floats, least: float = 0.0) -> Floats:
    """Return the variance of the logarithm of a part of a total under a Dirichlet posterior."""
    with np.errstate(invalid="ignore"):  # of nothing in nothing
        return variance_of_log(part, least) - variance_of_log(total, least)


def moments_of_gamma(
    log_times: Floats, times: Floats, a: Floats, b: Floats, least: float = 0.0
) -> tuple[Floats, Floats]:
    """Return mean and variance of ``log_times · log rate - times · rate``, rate ~ Gamma(a, b)."""
    # All broadcast; ``least`` is that of ``variance_of_log``. The covariance of a rate and its
    # logarithm is 1 / b.
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = log_times * (mean_of_log(a, least) - np.log(b)) - times * a / b
        variance = log_times**2 * variance_of_log(a, least)
        variance += (np.maximum(a, least) * times / b - 2 * log_times) * times / b
        return mean, np.maximum(variance, 0.0)


def moments_of_beta(
    hits: Floats, misses: Floats, a: Floats, b: Floats, least: float = 0.0
) -> tuple[Floats, Floats]:
    """Return mean and variance of ``hits · log p + misses · log(1 - p)``, p ~ Beta(a, b)."""
    with np.errstate(invalid="ignore"):
        of_a, of_b, total = (mean_of_log(of, least) for of in (a, b, a + b))
        mean = _times(hits, of_a - total) + _times(misses, of_b - total)
        variance = _times(hits**2, variance_of_log(a, least))
        variance += _times(misses**2, variance_of_log(b, least))
        total = np.maximum(a, least) + np.maximum(b, least)
        return mean, variance - _times((hits + misses) ** 2, variance_of_log(total))


def _times(x: Floats, y: Floats) -> Floats:
    """Return x · y, where 0 of what is infinite is 0."""
    return np.where(x == 0, 0.0, x * y)


def dense(block: Sparse) -> Dense:
    """Return the rows of a matrix with the zeros that are not stored."""
    values = np.zeros((len(block), len(block.axis)))
    stored = slice(block.indptr[0], block.indptr[-1])
    row = np.repeat(np.arange(len(block)), np.diff(block.indptr))
    values[row, block.indices[stored]] = block.data[stored]
    return Dense(values, block.axis)  # type: ignore[arg-type]  # columns, no words
