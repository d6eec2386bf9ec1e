"""How many words the drawn texts have, and which: never none, or exactly as many as are wanted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats

MOST_WORDS = 200_000_000  # that are drawn at once, which take some 5 GB


def draw_lengths(
    mean: Floats, rng: np.random.Generator, length: int | None, *, texts: bool
) -> NDArray[np.int64]:
    """Return a length for each row: ``length``, or Poisson with these means, (rows,).

    Of texts it is a Poisson that is truncated at zero, with the same mean; at a mean of 1 or less
    all lengths are 1.

    Notes
    -----
    A Poisson that is not 0 is the first of its events, which comes at a time that is exponential
    but before 1, and those of the time that is left. With the rate λ its mean is λ / (1 - exp(-λ)),
    which Lambert's function inverts (Johnson, Kemp & Kotz, Univariate Discrete Distributions,
    2005, section 4.10.1).
    """
    check_length(length)
    total = float(mean.sum()) if length is None else float(length) * len(mean)
    if total > MOST_WORDS:
        raise ValueError(
            f"Rows of {total:.3g} words together are too many to be drawn word by word: draw fewer "
            "rows, or say length= words for each."
        )
    if length is not None:
        return np.full(len(mean), length, np.int64)
    if not texts:
        return rng.poisson(mean)
    from scipy.special import lambertw

    long = np.maximum(mean, 1.0)
    inverse = np.asarray(lambertw((-long * np.exp(-long)).tolist()), np.complex128)
    rate: Floats = np.maximum(long + inverse.real, 0.0)
    rate[mean <= 1] = 0.0
    first = -np.log1p(rng.random(len(mean)) * np.expm1(-rate))
    return np.asarray(1 + rng.poisson(np.maximum(rate - first, 0.0)), np.int64)


def draw_present(
    p: Floats, classes: NDArray[np.integer], rng: np.random.Generator, length: int | None
) -> Iterator[NDArray[np.bool_]]:
    """Yield which words each text holds, (words,), given that it holds any, or ``length``.

    Parameters
    ----------
    p : ndarray of shape (classes, words)
        The probability of each word in each class.
    classes : ndarray of shape (texts,)
        The class of each text.
    rng : numpy.random.Generator
        Where chance comes from.
    length : int, optional
        How many words each text holds; by default one or more.

    Raises
    ------
    ValueError
        If no text of a class can hold so many words.
    """
    check_length(length)
    tails = {c: _log_tails(p[c], length) for c in np.unique(classes).tolist() if length is not None}
    for c in classes.tolist():
        if length is None:
            yield _draw_any(p[c], rng)
        else:
            yield _draw_exactly(p[c], length, tails[c], rng)


def check_length(length: int | None) -> None:
    """Raise a ValueError unless it is a number of words."""
    if length is not None and not (length == int(length) and length >= 0):
        raise ValueError(f"length must be a number of words that is at least 0, got {length}.")


def _draw_any(p: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw words independently, given that there is one at least.

    The first word that is there is word i with probability p_i Π_{j<i} (1 - p_j), over that of
    any; the words after it are independent of it.
    """
    with np.errstate(divide="ignore"):
        none = np.append(0.0, np.cumsum(np.log1p(-p)))  # log probability of no word before each
    any_ = -np.expm1(none[-1])
    if not any_ > 0:  # no word can come
        return np.zeros(len(p), np.bool_)
    # -expm1(none) is the probability that the first word came before.
    first = int(np.searchsorted(-np.expm1(none[1:]), rng.random() * any_, side="right"))
    first = min(first, int(np.flatnonzero(p)[-1]))
    there = rng.random(len(p)) < p
    there[:first] = False
    there[first] = True
    return there


def _log_tails(p: Floats, length: int) -> Floats:
    """Return log probabilities that k of the words from i on are there, (words + 1, length + 1)."""
    tails = np.full((len(p) + 1, length + 1), -np.inf)
    tails[-1, 0] = 0.0
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log1p(-p)
    for i in range(len(p) - 1, -1, -1):
        tails[i] = tails[i + 1] + log_q[i]
        tails[i, 1:] = np.logaddexp(tails[i, 1:], tails[i + 1, :-1] + log_p[i])
    if tails[0, length] == -np.inf:
        raise ValueError(
            f"No text can hold {length:,} different words: {int((p > 0).sum()):,} of the words "
            "may come."
        )
    return tails


def _draw_exactly(
    p: Floats, length: int, tails: Floats, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw words independently, given how many there are (conditional Bernoulli)."""
    there, left = np.zeros(len(p), np.bool_), length
    for i, u in enumerate(rng.random(len(p)).tolist()):
        if left == 0:
            break
        chance = np.log(p[i]) + tails[i + 1, left - 1] - tails[i, left] if p[i] > 0 else -np.inf
        if u < np.exp(chance):
            there[i], left = True, left - 1
    return there
