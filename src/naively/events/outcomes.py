"""What an estimate answers, as results: probabilities of a joint table, curves, how it learns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Level, Name, title
from naively.events.base import Distribution
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.tabular import Drawn, Tabular, crossed, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 1_000_000  # rows of a table of probabilities
PROBABILITY, CLASS = "probability", "class"  # what columns of a table are called
Names: TypeAlias = str | int | Sequence[str | int]


class Probabilities(Drawn):
    """The probability of each combination of the values of some columns, given others.

    As a table it has a column for each of them, those that are given first, and ``probability``;
    for each combination of what is given these sum to 1. What is given and never happens makes it
    NaN, which prints "undefined".

    Parameters
    ----------
    given, of : tuple of str
        The columns that are given, and those whose values have probabilities.
    values : list of list
        The values of the columns that are given, then of the others.
    p : ndarray of shape (values of the first column, values of the second, ...)
        The probabilities.
    """

    given: tuple[str, ...]
    of: tuple[str, ...]
    values: list[list[Level]]
    p: Floats

    def to_dict(self) -> dict[str, list[Any]]:
        names, key = (*self.given, *self.of), PROBABILITY
        while key in names:  # a column has this name
            key += "_"
        axes = [{name: of} for name, of in zip(names, self.values, strict=True)]
        return crossed(axes, {key: self.p})


class Outcomes(Frozen):
    """The rows that a joint table knows, with their probabilities in each class."""

    columns: Sequence[Name]
    values: list[list[Level]]  # that each column can have
    codes: NDArray[np.int64]  # (rows seen, columns): which of its values each column has there
    p: Floats  # (rows seen, classes): the probabilities of these rows
    unseen: float  # what all pretend rows have, which are spread evenly over all possible rows
    classes: list[Level] | None = None  # the labels, which may be asked for as a column ``CLASS``
    share: Floats | None = None  # (classes,): the probability of each; of one class it is 1

    def marginal(self, columns: Names) -> Probabilities:
        """Return the probabilities of the values of some columns, the others summed over."""
        return self._table(self._numbers(columns), [])

    def conditional(self, of: Names, given: Names) -> Probabilities:
        """Return the probabilities of the values of some columns, given those of others."""
        return self._table(self._numbers(of), self._numbers(given))

    def _table(self, of: list[int], given: list[int]) -> Probabilities:
        both = [*given, *of]
        names = [CLASS if j < 0 else title(self.columns[j]) for j in both]
        if len(set(both)) < len(both):
            raise ValueError(f"A column is named twice among {names}; name each once.")
        values = [(self.classes or []) if j < 0 else self.values[j] for j in both]
        p = self._joint(both)
        if given:
            total = p.sum(axis=tuple(range(len(given), p.ndim)), keepdims=True)
            p = np.divide(p, total, out=np.full_like(p, np.nan), where=total > 0)
        n = len(given)
        return Probabilities(tuple(names[:n]), tuple(names[n:]), values, p)

    def _joint(self, some: list[int]) -> Floats:
        """Return p of the values of columns, (values of each ...); -1 is the class."""
        p = self._within([j for j in some if j >= 0])
        p = p * (np.ones(1) if self.share is None else self.share)
        return np.moveaxis(p, -1, some.index(-1)) if -1 in some else p.sum(axis=-1)

    def _within(self, some: Sequence[int]) -> Floats:
        """Return p of the values of columns in each class, (values of each ..., classes)."""
        shape = [len(self.values[j]) for j in some]
        cells = math.prod(shape)
        if cells > MOST:
            raise ValueError(
                f"The columns have {cells:,} combinations of values, and at most {MOST:,} are "
                "listed; name fewer columns."
            )
        at = np.zeros(len(self.codes), np.int64)
        for j, size in zip(some, shape, strict=True):
            at = at * size + self.codes[:, j]
        found = np.zeros((cells, self.p.shape[1]))
        np.add.at(found, at, self.p)
        # The pretend rows are spread evenly; of rows that were seen they are in ``p`` already.
        seen = np.bincount(at, minlength=cells)[:, None]
        possible = math.prod(len(of) for of in self.values)
        found += self.unseen / cells - self.unseen / min(possible, 10**300) * seen
        return np.maximum(found, 0.0).reshape(*shape, -1)

    def _numbers(self, columns: Names) -> list[int]:
        """Return the numbers of columns, which are named or numbered; -1 of the class."""
        asked = [columns] if isinstance(columns, str | int) else list(columns)
        place: dict[Name, int] = {} if self.classes is None else {CLASS: -1}
        place |= {title(name): j for j, name in enumerate(self.columns)}
        place |= {name: j for j, name in enumerate(self.columns)}
        for name in asked:
            if name not in place:
                known = ", ".join(repr(title(column)) for column in self.columns)
                raise ValueError(f"There is no column {name!r} in the joint table of {known}.")
        return [place[name] for name in asked]


class ParameterCurve(Tabular, eq=True):
    """What a sample says of one parameter, value by value.

    Parameters
    ----------
    parameter : str
        Its name, or the level whose probability it is.
    value : ndarray of shape (points,)
        The values of the grid.
    log_likelihood : ndarray of shape (points,)
        In nats; at the best of the other parameters, if there are any.
    prior, posterior : ndarray of shape (points,)
        Estimate; NaN where there is no proper conjugate prior.
    likelihood : ndarray of shape (points,)
        Scaled, so that the area over the grid is 1.
    distribution : frozen distribution or None
        The posterior.
    mle : float
        Where the likelihood is greatest.
    """

    parameter: Level
    value: Floats
    log_likelihood: Floats
    prior: Floats
    likelihood: Floats
    posterior: Floats
    distribution: Distribution | None
    mle: float = np.nan

    def to_dict(self) -> dict[str, list[Any]]:
        return {
            str(self.parameter): self.value.tolist(),
            "log_likelihood": self.log_likelihood.tolist(),
            "prior": self.prior.tolist(),
            "likelihood": self.likelihood.tolist(),
            "posterior": self.posterior.tolist(),
        }

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw prior, scaled likelihood and posterior, with an interval of the posterior.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.
        level : float, default 0.95
            How much of the posterior the interval holds, between equal tails.
        """
        return picture(self, ax, level=level)

    def plot_likelihood(self, ax: Axes | None = None, *, log: bool = True) -> Axes:
        """Draw the log likelihood itself, l(parameter), with its top marked.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.
        log : bool, default True
            The logarithm, in nats; or, if False, the likelihood that it is of.
        """
        return picture(self, ax, "likelihood", log=log)


class Surface(Drawn, eq=True):
    """What a sample says of a mean and a variance together.

    Parameters
    ----------
    mean, variance : ndarray of shape (points,)
        The grid.
    log_likelihood, log_posterior : ndarray of shape (means, variances)
        In nats; the log density of the posterior is NaN without a proper prior.
    mle, map : dict of str to float
        The maximum likelihood estimate, and the mode of the posterior.
    """

    mean: Floats
    variance: Floats
    log_likelihood: Floats
    log_posterior: Floats
    mle: dict[str, float]
    map: dict[str, float]

    def to_dict(self) -> dict[str, list[Any]]:
        axes = {"mean": self.mean.tolist()}, {"variance": self.variance.tolist()}
        heights = {"log_likelihood": self.log_likelihood, "log_posterior": self.log_posterior}
        return crossed(axes, heights)


class Updates(Drawn, eq=True):
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

    TABLE = ("n", "mean", "low", "high")


class Consistency(Drawn, eq=True):
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
