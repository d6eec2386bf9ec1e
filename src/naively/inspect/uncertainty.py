"""How sure of a probability: where its mean over fits to as many other rows is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import compress
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from naively.counting.axis import Columns, Name, title
from naively.counting.block import Batch, Sparse
from naively.counting.labels import Label, LabelArray
from naively.counting.leave_one_out import Part
from naively.data.columns import Rows
from naively.events import Beta, Dirichlet
from naively.fitting.covariance import WeightsCovariance, weights_covariance
from naively.fitting.leave_one_out import leave_one_out_table, linear_evidence
from naively.fitting.reservoir import Reservoir
from naively.inspect.one_column import source_of
from naively.kernels.reference import Floats
from naively.model.class_prior import is_estimated, number_of, pretend_classes, spoken_for
from naively.model.held_out import check_coverage
from naively.model.model import Model
from naively.tabular import Tabular, crossed, picture
from naively.terms.uncertain import dense, mean_of_log, variance_of_log
from naively.terms.words import length_factor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NARROW, MOST_DIGITS = 0.02, 6  # of an interval in a sentence, and of its numbers


class ProbabilityIntervals(Tabular):
    """Where the means of probabilities over fits to as many rows are; a row for each row and class.

    Parameters
    ----------
    probability : ndarray of shape (rows, classes)
        The posteriors that are predicted.
    low, high : ndarray of shape (rows, classes)
        Between them is the mean over fits to as many rows of the same kind, ``coverage`` of the
        time; the probability of one other fit, which is off by chance too, less often.
    classes : ndarray of shape (classes,)
        The labels.
    coverage : float
        How much of the distribution the intervals hold.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    SAID: ClassVar[str] = "for the mean of fits to as many rows"

    probability: Floats
    low: Floats
    high: Floats
    classes: LabelArray
    coverage: float
    target: str = ""

    def __len__(self) -> int:
        return len(self.probability)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns row, class, probability, low and high."""
        axes = {"row": range(len(self))}, {"class": self.classes.tolist()}
        tables = {"probability": self.probability, "low": self.low, "high": self.high}
        return crossed(axes, tables)

    def row(self, number: int) -> ProbabilityIntervals:
        """Return those of one row."""
        every = self.probability, self.low, self.high
        p, low, high = (of[number : number + 1] for of in every)
        return replace(self, probability=p, low=low, high=high)

    def around(self, log_odds: float, c: int) -> tuple[float, float] | None:
        """Return log odds of a class, as far off as the ends of the first row's interval are.

        None if an end has none, as of a probability of 0 or 1.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.array([of[0, c] for of in (self.probability, self.low, self.high)])
            of_p, low, high = (np.log(p) - np.log1p(-p)).tolist()
            ends = log_odds + low - of_p, log_odds + high - of_p
        return ends if np.isfinite(ends).all() else None

    def sentence(self, row: int, label: Label | None = None) -> str:
        """Say the probability of a class (the most probable) in a row, and its interval."""
        c = number_of(self.classes, label, int(np.argmax(self.probability[row])))
        p, low, high = (float(of[row, c]) for of in (self.probability, self.low, self.high))
        # Two digits, or as many as it takes for the ends of a narrow one to differ in the last two.
        width = high - low
        shows = 10.0 ** -(MOST_DIGITS - 1) <= width < NARROW
        digits = 1 - math.floor(math.log10(width)) if shows else 2
        return f"p = {p:.{digits}f}, {low:.{digits}f} to {high:.{digits}f} {self.SAID}"

    def plot(self, label: Label | None = None, ax: Axes | None = None) -> Axes:
        """Draw the probability of a class in each row, with its interval, the largest on top.

        Parameters
        ----------
        label : label, optional
            The class; by default the second of two, else the first.
        ax : Axes, optional
            What to draw on.
        """
        c = number_of(self.classes, label, spoken_for(np.ones(len(self.classes))))
        return picture(self, ax, c=c)


# --- How sure which weights are: what is needed beside the model ---------------------------------


LEAST, LEAST_WEIGHED = 0.5, 1.0  # rows of a level, without and with weights: fewer say too little
FEWEST = 200  # rows, below which intervals of weighted models were not right


def covariance_for(model: Model, sample: Reservoir | None) -> WeightsCovariance | None:
    """Return how sure the weights of a model are, None of one that has none."""
    if model.weights is None:
        return None
    if sample is None:
        raise ValueError(
            "The uncertainty of a probability includes that of the weights, which is found in the "
            "learned rows. They are not in memory: load a file that was saved with "
            "keep_rows=True, or learn with weights=None."
        )
    rows = float(model.view.rows.sum())
    if rows < FEWEST:
        raise ValueError(
            f"The uncertainty of a probability is not known for weights from fewer than {FEWEST} "
            f"rows, copies left out, and the model has learned {rows:,.0f}; learn more, or with "
            "weights=None."
        )
    return weights_covariance(model, sample.of(model))


# --- The intervals: log odds are about normal, and probabilities follow from them ----------------
#
# The log odds of class c against all others move with the joint log likelihood of c as it does,
# and against that of class d by -p(d) / (1 - p(c)). Each joint is a sum over columns, so that the
# variances of what the columns say add up, times the squares of these, and of the weights.


AT_ONCE = 1 << 21  # numbers of evidence that are held at once


def probability_intervals(
    model: Model, rows: Rows, coverage: float, covariance: WeightsCovariance | None
) -> ProbabilityIntervals:
    """Return the intervals of rows' probabilities (see ``NaiveBayes.predict_interval``)."""
    coverage = check_coverage(coverage)
    found = [_intervals(model, piece, coverage, covariance) for piece in _pieces(model, rows)]
    p, low, high = (np.concatenate(of) for of in zip(*found, strict=True))
    return ProbabilityIntervals(p, low, high, model.classes, coverage)


def _pieces(model: Model, rows: Rows) -> Iterator[Batch]:
    """Yield encoded rows, so many at a time as memory is for."""
    parts = sum(len(of.keys) for of in model.view.parts.values())
    some = max(1, AT_ONCE // max(1, parts * len(model.classes)))
    batch = model.encode(rows)
    by_column = [group.key for group in model.view.schema.groups if group.is_by_column]
    for start in range(0, max(len(batch), 1), some):
        piece = batch.take(np.arange(start, min(start + some, len(batch)))).split()
        # The zeros of a matrix that are not stored say something too, each by its column.
        zeros = {
            key: dense(block)
            for key in by_column
            if isinstance(block := piece.blocks[key], Sparse) and isinstance(block.axis, Columns)
        }
        yield replace(piece, blocks={**piece.blocks, **zeros})


def _evidence(model: Model, batch: Batch, parts: list[Part]) -> Floats:
    """Return what parts say without weights, (parts, rows, classes), centred over the classes."""
    found = leave_one_out_table(model, batch, learned=False)
    table = found.table_of(parts)
    for part in set(parts) - set(found.parts):  # of a matrix that was sparse, a group has a weight
        if part.column is None:
            own = [i for i, one in enumerate(found.parts) if one.group == part.group]
            table[parts.index(part)] = found.table[own].sum(axis=0)
    return table


def _intervals(
    model: Model, batch: Batch, coverage: float, covariance: WeightsCovariance | None
) -> tuple[Floats, Floats, Floats]:
    """Return probabilities of rows, and where their intervals begin and end."""
    p = np.asarray(model.score(batch, "posterior"), np.float64)
    every, (log_prior, of_prior) = [*_uncertain(model, batch)], _prior(model)
    if covariance is None:
        joint = log_prior + sum(of.mean.sum(axis=1) for of in every)
        evidence = np.empty(0)
    else:
        joint = np.asarray(model.score(batch, "joint"), np.float64)
        evidence = _evidence(model, batch, covariance.parts)
    low, high = np.empty_like(p), np.empty_like(p)
    z = NormalDist().inv_cdf((1 + coverage) / 2)
    # The log odds of two classes are those of one of them.
    for c in [1] if p.shape[1] == 2 else range(p.shape[1]):
        with np.errstate(invalid="ignore", over="ignore"):
            others = np.delete(joint, c, axis=1)
            against = np.logaddexp.reduce(others, axis=1, initial=-np.inf)
            h = -np.exp(joint - against[:, None])
            h[:, c] = 1.0
            variance = h**2 @ of_prior + sum(of.variance(h) for of in every)
            if covariance is not None:
                variance += covariance.variance(h, evidence)
            centre, half = joint[:, c] - against, z * np.sqrt(variance)
            low[:, c], high[:, c] = _logistic(centre - half), _logistic(centre + half)
            if p.shape[1] == 2:
                low[:, 0], high[:, 0] = _logistic(-centre - half), _logistic(half - centre)
    # Where nothing is known, a probability may be any.
    low, high = np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)
    return p, np.minimum(low, p), np.maximum(high, p)


def _logistic(log_odds: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0.0, -log_odds)))


# --- What each column says, and how sure it is ---------------------------------------------------


class _OfGroup(NamedTuple):
    """How sure the evidence of a group's parts is: ``Uncertain``, summed by part."""

    mean: Floats
    own: Floats
    length: Floats | None  # (rows, parts)
    of_total: Floats | None
    together: Floats | None
    weight: Floats | None  # (parts, classes)

    def variance(self, h: Floats) -> Floats:
        """Return the variance that a function has by it, (rows,)."""
        # h (rows, classes): its derivative by the joint log likelihoods. Evidence is centred before
        # it is weighted.
        g = h[:, None]
        if self.weight is not None:
            g = g * self.weight
            g = g - g.mean(axis=2, keepdims=True)
        # What is infinite counts where g is not 0.
        found = np.asarray(np.where(g == 0, 0.0, g**2 * self.own).sum(axis=(1, 2)))
        if self.length is not None and self.of_total is not None:
            length = (g * self.length[:, :, None]).sum(axis=1)
            found = np.maximum(found - length**2 @ self.of_total, 0.0)
        if self.together is not None:
            found = found + np.square((g * self.together).sum(axis=2)).sum(axis=1)
        return found


def _uncertain(model: Model, batch: Batch) -> Iterator[_OfGroup]:
    """Yield how sure the evidence of each group is, without weights and with them."""
    blocks = model.blocks(batch)
    weights, classes = model.weights, model.classes.tolist()
    for group in model.view.schema.groups:
        parts, block = model.view.parts[group.key], blocks[group.key]
        counts = model.view.counts[group.key]
        found = group.event.uncertain(counts, block, LEAST if weights is None else LEAST_WEIGHED)
        n = len(block)
        mean, own = (
            parts.sums(found.row, found.unit, of, n) for of in (found.mean, found.variance)
        )
        length = together = None
        if found.length is not None:
            length = parts.sums(found.row, found.unit, found.length[:, None], n)[:, :, 0]
        if found.together is not None:
            together = parts.sums(found.row, found.unit, found.together, n)
        weight = None if weights is None else weights.table(parts.keys, classes)
        over_length = weights is not None and parts.by_word and group.key in weights.groups
        if over_length and isinstance(block, Sparse):
            factor = length_factor(block.lengths, model.length_power)[:, None]
            mean, own = mean * factor[:, :, None], own * factor[:, :, None] ** 2
            length = None if length is None else length * factor
        yield _OfGroup(mean, own, length, found.of_total, together, weight)


HALF = 0.5  # of a row that each class has more: Jeffreys's prior


def _prior(model: Model) -> tuple[Floats, Floats]:
    """Return the posterior mean, up to a constant, and variance of each class's log prior."""
    prior, pretend = model.settings.class_prior, np.full(len(model.classes), HALF)
    if not is_estimated(prior):
        return model.class_log_prior, 0.0 * pretend
    if isinstance(prior, Beta | Dirichlet):
        pretend = pretend_classes(prior, "mean", model.classes)
    rows: Floats = np.maximum(model.view.rows, 0.0) + pretend
    return mean_of_log(rows), variance_of_log(rows)


# --- How sure the evidence of one column is, by itself -------------------------------------------


def evidence_variance(
    model: Model, batch: Batch, column: Name, h: Floats, covariance: WeightsCovariance | None
) -> Floats:
    """Return the variance that one column's evidence gives a function of the joint, (rows,)."""
    # What the column says that its cells are there or missing is of it too. h (rows, classes): the
    # derivatives of the function by the joint log likelihoods; covariance: None if the weights
    # count as known, and the linear part does not.
    found = np.zeros(len(h))
    for group, of in zip(model.view.schema.groups, _uncertain(model, batch), strict=True):
        own = [_is_of(part, column) for part in model.view.parts[group.key].keys]
        if any(own):
            some = of._replace(
                own=of.own[:, own],
                length=None,
                of_total=None,
                together=None if of.together is None else of.together[:, own],
                weight=None if of.weight is None else of.weight[own],
            )
            found += some.variance(h)
    if covariance is not None:
        there = np.array([_is_of(part, column) for part in covariance.parts], np.bool_)
        parts, bias = [*compress(covariance.parts, there)], np.zeros_like(covariance.bias)
        known = replace(covariance, parts=parts, number=covariance.number[:, there], bias=bias)
        found += known.variance(h, _evidence(model, batch, parts))
    linear = linear_evidence(model, [batch], column).get(title(column))
    if linear is not None:
        factor = np.nan if covariance is None else covariance.of_linear.get(title(column), np.nan)
        found += factor * (h * linear).sum(axis=1) ** 2
    return found


def _is_of(part: Part, column: object) -> bool:
    """Whether a part of the evidence is of a column, or of its missing cells."""
    return part.column is not None and source_of(part.column) == column
