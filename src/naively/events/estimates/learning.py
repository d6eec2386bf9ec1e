"""How estimates change as the observations of a sample arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Level
from naively.events.estimates.conjugate import marginals
from naively.events.estimates.curve import of_one_column
from naively.kernels.reference import Floats
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.events.estimate import Estimable, Sample

POINTS = 401  # of a density
SIZES = 200  # of a sample, at which the running estimate is computed
TAIL = 1e-3  # of each posterior, beyond which it is not drawn


@dataclass(frozen=True, repr=False)
class Updates(Tabular):
    """Posteriors of one parameter after more and more observations.

    Parameters
    ----------
    parameter : str
        Its name.
    n : list of int
        How many observations had arrived.
    mean, low, high : list of float
        The mean of the posterior, and its interval.
    value : ndarray of shape (points,)
        A grid of values.
    density : ndarray of shape (sizes, points)
        The density of each posterior on the grid; of n = 0 it is the prior.
    """

    parameter: str
    n: list[int]
    mean: list[float]
    low: list[float]
    high: list[float]
    value: Floats
    density: Floats

    def to_dict(self) -> dict[str, list[Any]]:
        return {"n": self.n, "mean": self.mean, "low": self.low, "high": self.high}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the prior and the posteriors that it becomes.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
        """
        from naively.pictures.estimates import draw_updates

        return draw_updates(self.value, self.density, self.n, self.parameter, ax)


@dataclass(frozen=True, repr=False)
class Consistency(Tabular):
    """The maximum likelihood estimate of more and more of a sample.

    Parameters
    ----------
    n : ndarray of shape (sizes,)
        How many observations it is from.
    estimate, low, high : dict of str to ndarray of shape (sizes,)
        The estimate of each parameter, or of the probability of each level, and the interval of
        the posterior, between equal tails; NaN where it is undefined.
    truth : dict of str to float
        What is known of the parameters that the sample was drawn with.
    """

    n: NDArray[np.int64]
    estimate: dict[Level, Floats]
    low: dict[Level, Floats]
    high: dict[Level, Floats]
    truth: dict[Level, float]

    def to_dict(self) -> dict[str, list[Any]]:
        names = list(self.estimate)
        columns = {"estimate": self.estimate, "low": self.low, "high": self.high}
        return {
            "n": self.n.tolist() * len(names),
            "parameter": [name for name in names for _ in self.n],
            **{
                key: [x for name in names for x in of[name].tolist()] for key, of in columns.items()
            },
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each estimate with its band over the number of observations.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
        """
        from naively.pictures.estimates import draw_consistency

        return draw_consistency(self.n, self.estimate, self.low, self.high, self.truth, ax)


def updates(event: Estimable, sample: Sample, at: Sequence[int], level: float) -> Updates:
    """Return the posteriors after so many observations (see ``Estimable.updates``)."""
    block = event.encode(sample)
    whole = event.estimated(block)
    of_one_column(whole)
    prior, names = whole.proper_prior, whole.unknown("mean")
    if len(whole.free) != 1 or not whole.is_scalar:
        raise ValueError(
            f"Updates are of one parameter, and {type(event).__name__} has several here; ask "
            "for consistency()."
        )
    if not at or min(at) < 0:
        raise ValueError(f"at must be numbers of observations that are at least 0, got {at}.")
    # The prior stays what it is of the whole sample, where it is pretend rows at its mean.
    fixed: Any = replace(event, prior=prior)  # type: ignore[type-var]  # a subclass is a dataclass
    sizes = sorted({min(int(size), len(block)) for size in at})
    beliefs = [prior if n == 0 else fixed.estimated(_first(block, n)).updated for n in sizes]
    (name,) = whole.free
    of = [marginals(belief, names)[name] for belief in beliefs]
    least, greatest, _ = event.space[name]
    if greatest == 1:
        value = np.linspace(0, 1, POINTS)[1:-1]
    else:
        seen = of[1:] if len(of) > 1 else of  # a wide prior would leave no room for the others
        low, high = (seen[0].ppf(tail) for tail in (TAIL, 1 - TAIL))
        value = np.linspace(max(float(low), least), min(float(high), greatest), POINTS)
    ends = [tuple(map(float, belief.interval(level))) for belief in of]
    return Updates(
        name,
        sizes,
        [float(belief.mean()) for belief in of],
        [low for low, _ in ends],
        [high for _, high in ends],
        value,
        np.stack([belief.pdf(value) for belief in of]),
    )


def consistency(
    event: Estimable, sample: Sample, truth: Mapping[str, float] | float | None, level: float
) -> Consistency:
    """Return the running estimate (see ``Estimable.consistency``)."""
    block = event.encode(sample)
    whole = event.estimated(block)
    of_one_column(whole)
    if not len(block):
        raise ValueError("Give a sample with one observation at least.")
    names = whole.unknown("mle")
    sizes = np.unique(np.geomspace(1, len(block), SIZES).round().astype(np.int64))
    known = whole.prior
    fixed: Any = event if known is None else replace(event, prior=known)  # type: ignore[type-var]  # a subclass is a dataclass
    found: dict[str, dict[Level, list[float]]] = {
        of: {name: [] for name in names} for of in ("estimate", "low", "high")
    }
    for n in sizes.tolist():
        part = fixed.estimated(_first(block, n))
        mle = part.points("mle")
        beliefs = {} if known is None else marginals(part.updated, names)
        for name in names:
            low, high = beliefs[name].interval(level) if name in beliefs else (np.nan, np.nan)
            for of, x in (("estimate", mle[name]), ("low", low), ("high", high)):
                found[of][name].append(float(x))
    estimate, lows, highs = ({name: np.array(x) for name, x in of.items()} for of in found.values())
    if truth is not None and not isinstance(truth, Mapping):
        truth = {names[0]: truth}
    unknown = [name for name in truth or {} if name not in names]
    if unknown:
        raise ValueError(f"truth names {unknown[0]!r}; there are {', '.join(map(repr, names))}.")
    return Consistency(sizes, estimate, lows, highs, dict(truth or {}))


def _first(block: Any, n: int) -> Any:
    return block.select(np.arange(n))
