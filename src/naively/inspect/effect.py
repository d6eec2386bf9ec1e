"""What a column adds to the log odds of a class at each of its values, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from naively.counting.axis import Derived
from naively.counting.block import Batch
from naively.data.columns import Column, join_columns, read_column, times_of
from naively.fitting.covariance import WeightsCovariance
from naively.frozen import Frozen
from naively.inspect.odds import Odds
from naively.inspect.one_column import OneColumn, bins_of
from naively.inspect.uncertainty import evidence_variance
from naively.kernels.reference import Floats
from naively.model.model import Model

POINTS = 81  # at which a smooth curve is computed
BINS = 40  # of the rows below a curve
MOST_LEVELS = 12  # of a column, those that came most often
MOST_NUMBERS = 20  # whole ones, that are shown one by one
WIDE = 1.96  # standard deviations of a band, on either side


class Effect(Frozen):
    """What a column adds to the log odds of a class, by itself, in nats."""

    column: str
    values: list[Any]  # levels, or ascending numbers or times; and None if a missing cell tells
    at: Floats  # (numbers,): the numbers, times in seconds; empty of levels
    weight: Floats  # (values,): the weight of evidence of each value
    deviation: Floats  # (values,): its standard deviation, by how many rows were learned, or NaN
    rows: Floats  # (levels,) or (bins,): how many of the learned rows have each
    edges: Floats  # (bins + 1,): the bins; empty of levels
    more: int = 0  # how many levels there are beside these

    @property
    def band(self) -> tuple[Floats, Floats]:
        """Where the mean weights over fits to as many rows are, 95 % of the time."""
        half = WIDE * self.deviation
        return self.weight - half, self.weight + half

    @property
    def spread(self) -> float:
        """How far the weights are from their mean, on average over the rows; 0 without rows."""
        weight = self.weight[: len(self.rows)]
        if len(self.edges):
            weight = np.interp(
                (self.edges[1:] + self.edges[:-1]) / 2, self.at, self.weight[: len(self.at)]
            )
        if not self.rows.any():
            return 0.0
        weight = np.nan_to_num(weight)
        mean = np.average(weight, weights=self.rows)
        return float(np.average(abs(weight - mean), weights=self.rows))


def effect(
    model: Model,
    column: object,
    c: int,
    batches: Sequence[Batch] = (),
    covariance: WeightsCovariance | None = None,
) -> Effect | None:
    """Return what a column adds for class c against all others; None of a text or joint event."""
    # What it says together with others is not in it.
    of = OneColumn.find(model, column)
    if of.is_text or of.group.event.layout == "rows" or of.group.event.joined:
        return None
    at, rows, edges, more = np.empty(0), np.empty(0), np.empty(0), 0
    values: list[Any]
    whole, times = _few_whole_numbers(of, batches)
    if len(whole):
        log_p, values, rows = of.evidence(whole), whole.tolist(), times
    elif of.is_number:
        at, rows, edges = _numbers(of, batches)
        log_p = of.evidence(at)
        values = [*times_of(at)] if of.is_time else at.tolist()
    elif of.has_items:
        count = of.item_count.sum(axis=1)
        some = np.sort(np.argsort(-count, kind="stable")[:MOST_LEVELS])
        if of.levels and of.in_order:
            some = np.array(sorted(some.tolist(), key=lambda i: str(of.levels[i]).rjust(40)))
        log_p, rows = of.of_items(some, weighted=True), count[some]
        values, more = [of.items[i] for i in some], len(count) - len(some)
    else:
        return None
    if of.of_missing is not None:
        there, missing = of.of_missing
        log_p, values = np.vstack([log_p + there, missing]), [*values, None]
    weight = Odds(model.terms.start, c).weight(log_p)
    deviation = _deviation(of, values, log_p, c, covariance)
    return Effect(of.title, values, at, weight, deviation, rows, edges, more)


def _few_whole_numbers(of: OneColumn, batches: Sequence[Batch]) -> tuple[Floats, Floats]:
    """Return the numbers of a column that holds a few whole ones alone, and the rows of each."""
    if not of.is_number or of.is_time:
        return np.empty(0), np.empty(0)
    found = np.unique(of.values(batches)[0])
    if not 0 < len(found) <= MOST_NUMBERS or not (found == np.rint(found)).all():
        return np.empty(0), np.empty(0)
    edges = np.concatenate([found[:1] - 0.5, (found[1:] + found[:-1]) / 2, found[-1:] + 0.5])
    return found, _rows(of, batches, edges)


def _numbers(of: OneColumn, batches: Sequence[Batch]) -> tuple[Floats, Floats, Floats]:
    """Return where a curve of numbers is computed, and the rows by bins."""
    low, high = of.range(batches)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    even = np.linspace(low, high, POINTS)
    if of.group.event.support == "counts":
        even = np.unique(np.rint(even))
    inner = of.edges[(of.edges > low) & (of.edges < high)]
    # Either side of a step, so that a histogram is drawn as steps.
    at = np.unique(np.concatenate([even, inner, np.nextafter(inner, -np.inf)]))
    edges = bins_of(low, high, of.grid(batches), BINS)
    rows = _rows(of, batches, edges)
    return at, rows, edges if len(rows) else rows


def _rows(of: OneColumn, batches: Sequence[Batch], edges: Floats) -> Floats:
    """Return how many of the learned rows are in each bin, (bins,); nothing if that is unknown."""
    density = of.histogram(batches, edges)
    return np.empty(0) if density is None else density @ of.present * np.diff(edges)


def _deviation(
    of: OneColumn,
    values: Sequence[Any],
    log_p: Floats,
    c: int,
    covariance: WeightsCovariance | None,
) -> Floats:
    """Return the standard deviation of the weight of each value, (values,); NaN if unknown."""
    model, schema = of.model, of.model.view.schema
    if isinstance(of.name, Derived):
        return np.full(len(values), np.nan)
    kind = schema.kinds[of.name]
    nothing: Column = (np.full(len(values), None, object), None)
    number: Column = (np.full(len(values), np.nan), "number")  # read faster than objects
    columns = {
        name: number if schema.kinds.get(name) == "number" else nothing for name in schema.order
    }
    if of.is_number or kind in ("boolean", "number"):
        cells: Any = np.array([_number(of, value) for value in values], np.float64)
        cells = times_of(cells) if kind == "time" else cells
    else:
        cells = np.full(len(values), None, object)
        cells[:] = values
    columns[of.name] = read_column(of.name, cells)
    joint = model.terms.start + log_p
    with np.errstate(invalid="ignore", over="ignore"):
        others = joint - np.logaddexp.reduce(np.delete(joint, c, axis=1), axis=1)[:, None]
        h = -np.exp(others)
    h[:, c] = 1.0
    rows = join_columns(columns, schema.kinds)
    try:
        variance = evidence_variance(model, model.encode(rows), of.name, h, covariance)
    except ValueError:  # of an event model whose parameters have no posterior
        return np.full(len(values), np.nan)
    return np.sqrt(variance)


def _number(of: OneColumn, value: Any) -> float:
    """Return a number, a truth or a time as the number that it is counted as."""
    match value:
        case None:
            return np.nan
        case np.datetime64():
            return float((value - np.datetime64(0, "us")) / np.timedelta64(1, "s"))
        case str():  # "above 3"
            threshold = float(vars(of.group.event)["threshold"])
            return threshold + (1.0 if value.startswith("above") else -1.0)
    return float(value)
