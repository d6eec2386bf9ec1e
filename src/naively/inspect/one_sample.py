"""Event models of one plain sample side by side: how well each fits, and at what price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from naively.counting.labels import Labels
from naively.events.estimate import Estimable, Sample
from naively.tabular import Tabular


@dataclass(frozen=True, eq=False, repr=False)
class Fits(Tabular):
    """Event models of one sample, by the log likelihood of rows that are left out, best first.

    Parameters
    ----------
    model : list of str
        What each is called.
    parameters : list of float
        How many are free; NaN where no number of them is estimated, as in a histogram.
    log_likelihood : list of float
        Log p(sample) at the estimate of the model, in nats.
    aic, bic : list of float
        Akaike's and Schwarz's criteria at the maximum likelihood estimate: less is better. NaN
        where there is none.
    leave_one_out : list of float
        The sum of log p(x) of each observation, by the model of all others: more is better.
    """

    model: list[str]
    parameters: list[float]
    log_likelihood: list[float]
    aic: list[float]
    bic: list[float]
    leave_one_out: list[float]

    TABLE = ("model", "parameters", "log_likelihood", "aic", "bic", "leave_one_out")


def compare_event_models(
    sample: Sample, event_models: Sequence[Estimable] | Mapping[str, Estimable]
) -> Fits:
    """Compare event models of one plain sample: some models are wrong, and some are useful.

    Parameters
    ----------
    sample : sequence
        One column of numbers or levels, as for ``fit`` of an event model.
    event_models : sequence of EventModel, or mapping of str to EventModel
        What to fit to it.

    Returns
    -------
    fits : Fits
        A table, best first by leave-one-out.

    Raises
    ------
    ValueError
        If a model cannot be fitted to the sample, or measures of different kinds are compared:
        the density of a number is no probability of a count.

    Notes
    -----
    AIC = 2 k - 2 l and BIC = k log n - 2 l, with k parameters and the greatest log likelihood l
    (Akaike, 1974; Schwarz, 1978). Leaving one out is exact (see the tally).

    Examples
    --------
    >>> import naively
    >>> from naively import Exponential, Gaussian
    >>> waits = [0.2, 0.4, 0.5, 0.9, 1.6, 3.1]
    >>> naively.compare_event_models(waits, [Gaussian(), Exponential()]).model
    ['exponential', 'gaussian']
    """
    if not isinstance(event_models, Mapping):
        event_models = {str(event): event for event in event_models}
    kinds = {event.support == "counts" or event.shares for event in event_models.values()}
    if not event_models:
        raise ValueError("There is no event model to compare.")
    if len(kinds) > 1:
        raise ValueError(
            "Probabilities of counts and densities of numbers are not of one measure; compare "
            "models of counts with each other, and models of numbers with each other."
        )
    found = {name: _fit(sample, event) for name, event in event_models.items()}
    best = sorted(found, key=lambda name: -found[name][-1])
    columns = zip(*(found[name] for name in best), strict=True)
    return Fits(best, *map(list, columns))


def _fit(sample: Sample, event: Estimable) -> tuple[float, ...]:
    """Return parameters, log likelihood, AIC, BIC and leave-one-out of an event model."""
    block = event.encode(sample)
    labels = Labels(np.zeros(len(block), np.int32), np.zeros(1, np.int64))
    tally, prepared = event.tally(block, labels), event.prepare(block)
    base = float(event.terms(tally).log_base(prepared).sum())
    left_out = float(event.leave_one_out(tally, prepared, labels).sum()) + base
    found = event.estimated(block)
    likely = found.log_likelihood(sample)
    if not event.space:
        return np.nan, likely, np.nan, np.nan, left_out
    k = float(event.n_parameters(tally))
    best: Any = replace(event, estimate="mle")  # type: ignore[type-var]  # a subclass is a dataclass
    greatest = best.estimated(block).log_likelihood(sample)
    n = float(np.max(found.n))
    return k, likely, 2 * k - 2 * greatest, k * np.log(n) - 2 * greatest, left_out
