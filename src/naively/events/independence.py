"""Whether the values of a sample are independent and identically distributed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.kernels.reference import Floats
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LAGS = 20
LEAST_VALUES = 4


@dataclass(frozen=True, repr=False)
class Independence(Tabular):
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
        """Draw the values in their order.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
        """
        from naively.pictures.estimates import draw_series

        return draw_series(self.values, ax)

    def plot_autocorrelation(self, ax: Axes | None = None) -> Axes:
        """Draw the autocorrelation at each lag, with the band of independent values.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
        """
        from naively.pictures.estimates import draw_autocorrelation

        return draw_autocorrelation(self.lag, self.autocorrelation, self.band, ax)


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
