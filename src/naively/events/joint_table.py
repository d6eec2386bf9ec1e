"""Joint table event model: several columns as one, with a level for each possible row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.counting.axis import LEVEL, Level, Levels, Name
from naively.counting.block import Codes
from naively.counting.leave_one_out import LeftOut
from naively.counting.tally import BlockTally
from naively.events.base import (
    UNSAID,
    ClassNumbers,
    Distribution,
    Ratios,
    added,
    check_settings,
    draw_levels,
)
from naively.events.estimate import OfShares, flat
from naively.events.outcomes import Outcomes
from naively.events.prior import share
from naively.events.shown import Parameters
from naively.frozen import Frozen
from naively.kernels.double_double import NEGLIGIBLE
from naively.kernels.reference import Floats
from naively.options import How
from naively.tabular import Tabular, picture
from naively.terms.kinds import LevelTerms

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@final
class JointTable(OfShares[Levels, Codes], Frozen, eq=True):
    """Whole rows: one probability for each (x, y), without the naive Bayes assumption.

    On all columns it is the Bayes optimal classifier, once every row has been seen often. Some
    columns may depend on each other in any way, and are independent of the rest, given the class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend count of each possible row, shared among the classes as the counted rows are; for a
        row that was never seen the posterior is the class prior. Every combination of the values
        that the columns have had is possible (a boolean has two). The prior is Dirichlet(alpha), or
        with ``estimate="map"`` Dirichlet(alpha + 1), whose mode it is.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; the predictive is the mean.
    columns : sequence of str or int, optional
        The columns, which are filled in when it is fitted.

    Notes
    -----
    M booleans and two classes have 2(2ᴹ - 1) + 1 free parameters, against the 2M + 1 of naive
    Bayes (Mitchell, Generative and Discriminative Classifiers: Naive Bayes and Logistic
    Regression, 2017). A row with a missing cell is missing.

    Examples
    --------
    >>> from naively import JointTable, NaiveBayes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> NaiveBayes("bernoulli", weights=None).fit(X, y).predict_proba([[1, 1]])
    array([[0.5, 0.5]])
    >>> NaiveBayes(JointTable(alpha=0), weights=None).fit(X, y).predict_proba([[1, 1]])
    array([[0., 1.]])
    """

    alpha: float = 1.0
    estimate: How = UNSAID
    columns: Sequence[Name] | None = None
    name = "joint"
    statistics = (LEVEL,)
    layout = "rows"

    def __post_init__(self) -> None:
        check_settings(self)
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))

    def parameters(self, tally: BlockTally[Levels], how: How) -> dict[str, Floats]:
        count, sides = tally[LEVEL].high, self._sides(tally)
        alpha = added(self.alpha, self.estimate, how).item()
        if alpha >= 0:
            return {"p": self._smooth(count, count.sum(axis=0), alpha, sides)}
        # Where a count would be negative, the mode of the posterior is 0.
        left = np.maximum(self._smooth(count, count.sum(axis=0), 0.0, 1.0) * count.sum() + alpha, 0)
        return {"p": share(left, left.sum(axis=0, keepdims=True))}

    def terms(self, tally: BlockTally[Levels]) -> LevelTerms:
        p = self.parameters(tally, self.estimate)["p"]
        alpha = 0.0 if self.estimate == "mle" else self.alpha
        n, sides = tally[LEVEL].high.sum(), self._sides(tally)
        never = alpha / (n + alpha * sides) if n + alpha > 0 else 1.0
        with np.errstate(divide="ignore"):
            table = np.log(np.concatenate([p, np.full((1, p.shape[1]), never)]))
        return LevelTerms(table, np.array([0, len(table)]))

    def log_prob_without(self, tally: BlockTally[Levels], cells: LeftOut[Codes]) -> Floats:
        count = tally[LEVEL].high
        left = count[cells.x] - cells.labels.one_hot()
        left[left <= NEGLIGIBLE] = 0.0
        alpha = 0.0 if self.estimate == "mle" else self.alpha
        of_class = count.sum(axis=0) - cells.labels.one_hot()
        with np.errstate(divide="ignore"):
            return np.log(self._smooth(left, of_class, alpha, self._sides(tally)))

    def _prior_counts(self, tally: BlockTally[Levels]) -> float:  # noqa: ARG002
        return float(added(self.alpha, self.estimate, "mean").item())

    def _posterior_counts(self, tally: BlockTally[Levels]) -> Parameters:
        """Return the counts of the rows seen, and last of all other rows together."""
        alpha, others = self._prior_counts(tally), self._sides(tally) - len(tally.axis)
        seen = flat(tally[LEVEL].high) + alpha
        return np.append(seen, [others * alpha] if others else [])

    def predictive(self, tally: BlockTally[Levels]) -> Distribution:
        from scipy import stats

        alpha = self._posterior_counts(tally)
        return stats.multinomial(1, alpha / alpha.sum())

    def pretended(self, tally: BlockTally[Levels], how: How) -> Floats:
        """Return the pretend count of each row, shared among the classes as the counted rows."""
        of_class = tally[LEVEL].high.sum(axis=0, keepdims=True)
        alpha: Floats = added(self.alpha, self.estimate, how)
        return alpha * share(of_class, of_class.sum(keepdims=True))

    def ratios(self, tally: BlockTally[Levels]) -> Ratios:
        """Return the counts of rows and, last, of a row never seen."""
        count, pretend = tally[LEVEL].high, self.pretended(tally, self.estimate)
        if self.estimate == "mle":
            pretend = np.zeros_like(pretend)
        of = count.sum(axis=0, keepdims=True)
        count = np.concatenate([count, np.zeros_like(of)])
        return Ratios.spread(count, pretend, of, pretend * self._sides(tally))

    def n_parameters(self, tally: BlockTally[Levels]) -> int:
        return (self.n_values(tally) - 1) * tally[LEVEL].shape[1]

    def n_values(self, tally: BlockTally[Levels]) -> int:
        return math.prod(map(len, _values(tally)))

    def sample(
        self, tally: BlockTally[Levels], classes: ClassNumbers, rng: np.random.Generator
    ) -> Codes:
        """Draw counted rows of each class, and some of the pretend ones."""
        (seen,) = tally.axis.levels
        count, values = tally[LEVEL].high, _values(tally)
        rows = [seen[i] for i in draw_levels(count, classes, rng).tolist()]
        # The pretend rows are spread evenly over all possible rows.
        pretend = 0.0 if self.estimate == "mle" else self.alpha * self._sides(tally)
        share = pretend / (pretend + count.sum())
        for i in np.flatnonzero(rng.random(len(rows)) < share).tolist():
            rows[i] = tuple(of[rng.integers(len(of))] for of in values)
        code = {row: i for i, row in enumerate(dict.fromkeys(rows))}
        codes = np.array([[code[row]] for row in rows], np.int32).reshape(-1, 1)
        return Codes(codes, Levels(tally.axis.columns, (tuple(code),)))

    def outcomes(self, tally: BlockTally[Levels]) -> Outcomes:
        """Return the rows with their probabilities, by the estimate that is set."""
        (rows,), values = tally.axis.levels, _values(tally)
        place = [{value: i for i, value in enumerate(of)} for of in values]
        codes = [[of[value] for of, value in zip(place, row, strict=True)] for row in rows]
        p, n = self.parameters(tally, self.estimate)["p"], tally[LEVEL].high.sum()
        pretend = 0.0 if self.estimate == "mle" else self.alpha * self._sides(tally)
        unseen = pretend / (n + pretend) if n + pretend > 0 else 0.0
        names = self.columns or range(len(values))
        return Outcomes(
            names, values, np.array(codes, np.int64).reshape(-1, len(values)), p, unseen
        )

    def _sides(self, tally: BlockTally[Levels]) -> float:
        """Return how many rows are possible, as a float that can be multiplied."""
        return float(min(self.n_values(tally), 10**300))

    @staticmethod
    def _smooth(count: Floats, of_class: Floats, alpha: float, sides: float) -> Floats:
        """Return the probability of each row of ``count``, of shape (rows, classes)."""
        # A class without counted rows has the probabilities of all classes together.
        n, of_row = of_class.sum(axis=-1, keepdims=True), count.sum(axis=-1, keepdims=True)
        shared = np.divide(n * count, of_class, where=of_class > 0, out=of_row + 0.0 * count)
        total = n + alpha * sides
        p: Floats = np.divide(shared + alpha, total, where=total > 0, out=np.ones_like(shared))
        return p


def _values(tally: BlockTally[Levels]) -> list[list[Level]]:
    """Return the values of each column that were seen, or both values of a boolean."""
    (rows,) = tally.axis.levels
    found = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    return [[False, True] if all(type(v) is bool for v in of) else of for of in found]


# --- Whether the values of a sample are independent and identically distributed ------------------


MOST_LAGS = 20
LEAST_VALUES = 4


class Independence(Tabular, eq=True):
    """Tests of whether values come independently, one after another, from one distribution.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The sample, in its order.
    tau, p_trend : float
        Kendall's rank correlation of value and order (the Mann-Kendall test), and its p-value;
        NaN of equal values.
    lag : ndarray of shape (lags,)
        1, 2, ...
    autocorrelation : ndarray of shape (lags,)
        Of the values with those so many places later; NaN of equal values.
    band : float
        Within which 95 % of the autocorrelations of independent values lie, on either side of 0.
    ljung_box, p_ljung_box : float
        The statistic of all lags together, and its p-value.
    runs : int or None
        How many runs of equal values a sample of two different values has; None of others.
    p_runs : float or None
        Its p-value.
    level : float
        A p-value below it makes independence doubtful.
    """

    values: Floats
    tau: float
    p_trend: float
    lag: NDArray[np.int64]
    autocorrelation: Floats
    band: float
    ljung_box: float
    p_ljung_box: float
    runs: int | None
    p_runs: float | None
    level: float

    @property
    def doubts(self) -> list[str]:
        """What speaks against independence, each as a clause; none if nothing does."""
        found = []
        if self.p_trend < self.level:
            moves = "rise" if self.tau > 0 else "fall"
            found.append(f"values {moves} with time (tau = {self.tau:.2g}, {_p(self.p_trend)})")
        if self.p_ljung_box < self.level:
            at = int(np.abs(self.autocorrelation).argmax())
            found.append(
                f"values follow from earlier ones (autocorrelation {self.autocorrelation[at]:.2g} "
                f"at lag {self.lag[at]}; Ljung-Box {_p(self.p_ljung_box)})"
            )
        if self.p_runs is not None and self.p_runs < self.level:
            found.append(f"equal values come together or take turns ({self.runs} runs, "
                         f"{_p(self.p_runs)})")  # fmt: skip
        return found

    def to_dict(self) -> dict[str, list[Any]]:
        tests = [
            ("Mann-Kendall (trend)", self.tau, self.p_trend),
            (f"Ljung-Box (lags 1 to {len(self.lag)})", self.ljung_box, self.p_ljung_box),
        ]
        if self.runs is not None and self.p_runs is not None:
            tests.append(("Wald-Wolfowitz (runs)", float(self.runs), self.p_runs))
        names, statistics, p_values = zip(*tests, strict=True)
        return {"test": [*names], "statistic": [*statistics], "p_value": [*p_values]}

    def __str__(self) -> str:
        doubts = self.doubts
        if doubts:
            says = f"independence is doubtful: {'; '.join(doubts)}"
        elif np.isnan(self.tau):
            says = "all values are equal: nothing can be said of independence"
        else:
            says = "no test speaks against independence; that does not prove it"
        return f"{says}\n{super().__str__()}"

    def plot_series(self, ax: Axes | None = None) -> Axes:
        """Draw the values in their order, on Axes or new ones."""
        return picture(self, ax, "series")

    def plot_autocorrelation(self, ax: Axes | None = None) -> Axes:
        """Draw the autocorrelation at each lag, with the band of independent values."""
        return picture(self, ax, "autocorrelation")


def independence(values: ArrayLike | Sequence[object], level: float = 0.05) -> Independence:
    """Test whether the values of a sample are independent and identically distributed.

    An estimate from a sample takes them so. Numbers of years, or of days, rarely are.

    Parameters
    ----------
    values : sequence of numbers or booleans
        In their order; missing ones (NaN) are left out.
    level : float, default 0.05
        A p-value below it makes independence doubtful.

    Returns
    -------
    independence : Independence
        It prints what speaks against independence, and has ``plot_series`` and
        ``plot_autocorrelation``.

    Raises
    ------
    ValueError
        If there are fewer than 4 values, or some are no finite numbers.

    Notes
    -----
    Trend: Mann, Nonparametric tests against trend (1945). The band is ±1.96 / √n (Bartlett, 1946).
    Ljung & Box, On a measure of lack of fit in time series models (1978), over a quarter of the
    values as lags, 20 at most. Wald & Wolfowitz, On a test whether two samples are from the same
    population (1940), by the normal approximation. Each test has the level by itself.

    Examples
    --------
    >>> from naively import independence
    >>> print(independence([1, 2, 4, 5, 7, 8, 11, 12]).doubts[0])
    values rise with time (tau = 1, p = 5e-05)
    """
    from scipy import stats

    try:
        x = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError("Independence is tested of numbers or booleans.") from None
    if x.ndim != 1 or np.isinf(x).any():
        raise ValueError("Independence is tested of one sequence of finite numbers.")
    x = x[~np.isnan(x)]
    n = len(x)
    if n < LEAST_VALUES:
        raise ValueError(f"Independence needs {LEAST_VALUES} values at least, got {n}.")
    lag = np.arange(1, min(MOST_LAGS, max(n // 4, 1)) + 1)
    band = float(stats.norm.ppf(0.975) / np.sqrt(n))
    if x.min() == x.max():
        none = np.full(len(lag), np.nan)
        return Independence(x, *(np.nan,) * 2, lag, none, band, *(np.nan,) * 2, None, None, level)
    trend = stats.kendalltau(np.arange(n), x)
    centred = x - x.mean()
    centred /= np.abs(centred).max()  # squares must not overflow
    correlation = np.array([centred[k:] @ centred[:-k] for k in lag.tolist()]) / (centred @ centred)
    ljung_box = float(n * (n + 2) * (correlation**2 / (n - lag)).sum())
    runs, p_runs = _runs(x)
    return Independence(
        x,
        float(trend.statistic),
        float(trend.pvalue),
        lag,
        correlation,
        band,
        ljung_box,
        float(stats.chi2.sf(ljung_box, len(lag))),
        runs,
        p_runs,
        level,
    )


def _runs(x: Floats) -> tuple[int, float] | tuple[None, None]:
    """Return how many runs two different values make, and the p-value of so few or so many."""
    from scipy import stats

    if len(np.unique(x)) != 2:
        return None, None
    ups = float((x == x.max()).sum())
    n, downs = len(x), len(x) - ups
    runs = 1 + int((np.diff(x) != 0).sum())
    expected = 1 + 2 * ups * downs / n
    variance = (expected - 1) * (expected - 2) / (n - 1)
    return runs, float(2 * stats.norm.sf(abs(runs - expected) / np.sqrt(variance)))


def _p(p: float) -> str:
    return f"p = {p:.1g}"
