"""How probable rows are: log likelihoods, marginal likelihoods, a joint table's answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import title
from naively.counting.labels import Label, LabelArray, Labels
from naively.counting.tally import BlockTally
from naively.data.columns import Rows
from naively.events import Beta, Dirichlet, JointTable
from naively.events.base import EventModel
from naively.events.estimate import Estimable, Estimate, Sample
from naively.events.outcomes import Outcomes
from naively.kernels.reference import Floats
from naively.model.counted import check_rows, count_batch
from naively.model.model import Model
from naively.tabular import Tabular, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# --- The likelihood of rows under each class, and of labelled rows under the model ---------------


def class_log_likelihoods(model: Model, rows: Rows) -> Floats:
    """Return log p(row | class), (rows, classes), by the event models without weights."""
    # The base measure is in it. Interactions are not: with them probabilities would not sum to 1.
    for group in model.view.schema.groups:
        group.event.check_density()
    plain = model.pure()
    batch, none = plain.encode(rows), np.zeros(len(model.classes))
    total = np.zeros((len(batch), len(model.classes)))
    for key, block in plain.blocks(batch).items():
        evidence = plain.view.terms[key]
        total = evidence.add(block, total, "joint", none)
        total += evidence.log_base(block)[:, None]
    return total


def log_likelihoods(model: Model, rows: Rows, label: Label | LabelArray) -> Floats:
    """Return log p(row | label), (rows,), for one label or a label of each row, (rows,)."""
    every = np.empty(len(rows), object)
    every[:] = label
    at = np.arange(len(rows)), places(model, every)
    return np.asarray(class_log_likelihoods(model, rows)[at])


def log_likelihood(model: Model, rows: Rows, labels: Labels) -> float:
    """Return log p(rows, labels), in nats: the sum over rows, each times its weight."""
    check_rows(rows, labels)
    codes = places(model, labels.classes[labels.codes])
    at = np.arange(len(codes)), codes
    of_row = model.pure().class_log_prior[codes] + class_log_likelihoods(model, rows)[at]
    weight = labels.weights
    return float(of_row[weight > 0] @ weight[weight > 0])  # what weighs nothing is not impossible


def log_joint(model: Model, rows: Rows, labels: Labels) -> float:
    """Return log p(rows, labels, parameters) (see ``nb.inspect.log_joint``)."""
    return log_likelihood(model, rows, labels) + _log_prior(model.pure())


def _log_prior(model: Model) -> float:
    """Return the log density of the priors at the parameters that are estimated."""
    total, prior = 0.0, model.settings.class_prior
    p = np.exp(model.class_log_prior)
    match prior:
        case Beta():
            total += float(prior.log_pdf(p[1]))
        case Dirichlet():
            total += float(prior.over(len(p)).log_pdf(p))
    for group in model.view.schema.groups:
        event, counted = group.event, model.view.counts[group.key]
        if not isinstance(event, Estimable) or event.estimate == "predictive":
            raise ValueError(_has_none(event, group.columns[0]))
        for of in _columns(event, counted):
            for estimate in _by_class(event, of):
                tables = estimate.event.parameters(estimate.tally, event.estimate)
                at: Any = {name: table[:, 0] for name, table in tables.items()}
                if estimate.is_scalar:
                    at = {name: values[0] for name, values in at.items()}
                total += float(estimate.log_prior_at(**at))
    return total


def places(model: Model, labels: LabelArray) -> NDArray[np.int64]:
    """Return the number of the class of each label, (rows,), or raise a ValueError."""
    codes = class_codes(model, labels.tolist())
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise ValueError(
            f"Row {row} has the label {labels.tolist()[row]!r}, which was not learned; the "
            f"classes are {model.classes.tolist()}."
        )
    return codes


def class_codes(model: Model, labels: Iterable[Label]) -> NDArray[np.int64]:
    """Return the number of the class of each label, (labels,); -1 where it is no class."""
    place = {label: c for c, label in enumerate(model.classes.tolist())}
    return np.array([place.get(label, -1) for label in labels], np.int64)


# --- The joint table of classes and columns, where a model is one --------------------------------


def joint_outcomes(model: Model) -> Outcomes:
    """Return the rows of a model that is a joint table, with their probabilities in each class."""
    groups = model.view.schema.groups
    if len(groups) != 1 or not isinstance(groups[0].event, JointTable):
        raise ValueError(
            "Marginal and conditional probabilities of columns are those of a joint table: learn "
            "with NaiveBayes(JointTable())."
        )
    found = groups[0].event.outcomes(model.view.counts[groups[0].key])
    share = np.exp(model.pure().class_log_prior)
    return replace(found, columns=groups[0].columns, classes=model.classes.tolist(), share=share)


# --- The evidence: how probable rows are under a model before its parameters are known -----------


def log_marginal_likelihood(model: Model, rows: Rows, labels: Labels) -> float:
    """Return log p(rows | labels), no parameter known: the rows are counted alone."""
    check_rows(rows, labels)
    plain = model.pure()
    batch = plain.encode(rows, labels)
    tally = count_batch(batch, plain.view.schema)
    total = 0.0
    for group in plain.view.schema.groups:
        event, counted = group.event, tally.blocks[group.key]
        if not isinstance(event, Estimable):
            raise ValueError(_has_none(event, group.columns[0]))  # noqa: TRY004
        block = event.prepare(batch.blocks[group.key])
        base = plain.view.terms[group.key].log_base(block)
        total += float(base @ labels.weights)
        for of in _columns(event, counted):
            total += float(sum(estimate.log_evidence for estimate in _by_class(event, of)))
    return total


def _columns(event: EventModel, tally: BlockTally) -> Iterator[BlockTally]:
    """Yield what was counted of each column; of columns that are one event, of all together."""
    if event.joined or event.layout == "rows":
        yield tally
        return
    for name in tally.axis.columns:
        yield tally.of([name])


def _by_class(event: Estimable, tally: BlockTally) -> Iterator[Estimate]:
    """Yield the estimate of one column in each class, or raise a ValueError without a prior."""
    event = event.settled(tally)
    prior = event.prior_of(tally)
    if prior is None or not event.space:
        raise ValueError(_has_none(event, tally.axis.columns[0]))
    # Every class has the prior that follows from all of them.
    fixed: Any = event
    if "prior" in {option.name for option in fields(event)}:  # type: ignore[arg-type]  # a subclass is a dataclass
        fixed = replace(event, prior=prior)  # type: ignore[type-var]
    for c in range(next(iter(tally.sums.values())).shape[-1]):
        yield Estimate(fixed, _of_class(tally, c))


def _of_class(tally: BlockTally, c: int) -> BlockTally:
    """Return what was counted of one class."""
    return tally.map(lambda sums: sums[:, np.array([c])])


def _has_none(event: EventModel, name: Any) -> str:
    return (
        f"Column {title(name)!r} has no evidence: {event.name} has no proper conjugate prior here; "
        "give it another event model, or a prior."
    )


# --- Event models of one plain sample side by side: how well each fits, and at what price ---------


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

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what each model says of observations that are left out."""
        return picture(self, ax, metric="leave_one_out")


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
