"""The weight of evidence against all other classes, once: strongest, nomogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from naively.counting.axis import Name, title, title_of_columns
from naively.counting.block import Batch
from naively.counting.labels import Label, plain_cell
from naively.data.columns import times_of
from naively.frozen import Frozen
from naively.inspect.explain import Weighed
from naively.inspect.one_column import OneColumn
from naively.inspect.rules import (
    CountedCells,
    RuleCells,
    cells_of_rules,
    counted_cells,
    number_in_words,
)
from naively.kernels.reference import Floats
from naively.messages import visible
from naively.model.class_prior import number_of, spoken_for
from naively.model.model import Model
from naively.schema.schema import GroupKey
from naively.tabular import Drawn
from naively.terms.functions import CombinedTerms
from naively.terms.terms import Facts

# --- The weight of evidence of an item: how much it changes the log odds of a class --------------
#
# Good, Probability and the weighing of evidence (1950). This is the only place where a class is
# compared with several others at once.


class Odds(Frozen):
    """The odds of a class against some others, which are taken as one class."""

    # The weight of evidence of an item is log p(item | c) - log p(item | rivals), where p(item |
    # rivals) is the mean of p(item | r), weighted by the share that r has of the rivals at the
    # start. So the log odds with the item alone are ``prior`` and its weight. Rivals that have no
    # share at all count alike. What is impossible in the class and in its rivals weighs 0.

    # (classes,): what the scores of the classes begin with: their log priors, and a bias if one was
    # fitted.
    start: Floats
    c: int  # the class that is spoken for
    # The classes that it is compared with; by default all others.
    rivals: Sequence[int] | None = None

    @property
    def others(self) -> list[int]:
        """The classes that it is compared with."""
        every = range(len(self.start)) if self.rivals is None else self.rivals
        return [r for r in every if r != self.c]

    @property
    def prior(self) -> float:
        """The log odds before anything is seen."""
        return float(self.start[self.c] - np.logaddexp.reduce(self.start[self.others]))

    def weight(self, log_p: Floats) -> Floats:
        """Return the weight of evidence of items, (items,), from (items, classes), in nats."""
        others = np.array(self.others, np.int64)
        if not len(others):
            return np.zeros(len(log_p))
        of = self.start[others]
        share = np.exp(of - of.max()) if np.isfinite(of.max()) else np.ones(len(of))
        others, share = others[share > 0], share[share > 0] / share.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = log_p[:, others]
            most = rest.max(axis=1)
            most = np.where(np.isfinite(most), most, 0.0)
            log_rest = np.log(np.exp(rest - most[:, None]) @ share) + most
            weight: Floats = log_p[:, self.c] - log_rest
        return np.nan_to_num(weight, nan=0.0, posinf=np.inf, neginf=-np.inf)


AT_ONCE = 50_000  # items × classes, whose numbers stay in the cache


def weights_of_each(start: Floats, log_p: Floats) -> Floats:
    """Return the weights of evidence of items for each class against all others, in nats."""
    # start (classes,): as ``Odds`` has it; log_p (items, classes): the log likelihoods of items.
    # They are what ``Odds`` says of one class after the other, in a few passes over all.
    k = len(start)
    if k < 2:
        return np.zeros_like(log_p)
    start = start if np.isfinite(start.max()) else np.zeros(k)
    alone = _log_of_others(start[None])[0]
    found, step = np.empty(log_p.shape), max(1, AT_ONCE // k)
    for first in range(0, len(log_p), step):
        some = log_p[first : first + step]
        with np.errstate(invalid="ignore"):
            found[first : first + step] = some - (_log_of_others(start + some) - alone)
    for c in np.flatnonzero(~np.isfinite(alone)).tolist():  # no other class has a share
        found[:, c] = Odds(start, c).weight(log_p)
    return np.nan_to_num(found, copy=False, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _log_of_others(log: Floats) -> Floats:
    """Return the logarithm of what the exponentials of all others add up to, (items, classes)."""
    first, here = log.argmax(axis=1), np.arange(len(log))
    rest = log.copy()
    rest[here, first] = -np.inf
    # Nothing is subtracted: a sum that holds nearly all would leave rounding. And beside the
    # largest the others may be too small, so that what is left without it is summed up by itself.
    with np.errstate(divide="ignore", invalid="ignore"):
        most = [np.where(np.isfinite(top := of.max(axis=1)), top, 0.0) for of in (log, rest)]
        each = np.exp(log - most[0][:, None])
        found = np.zeros_like(each)
        np.cumsum(each[:, :-1], axis=1, out=found[:, 1:])
        found[:, :-1] += np.cumsum(each[:, :0:-1], axis=1)[:, ::-1]
        found = np.log(found) + most[0][:, None]
        found[here, first] = np.log(np.exp(rest - most[1][:, None]).sum(axis=1)) + most[1]
    return found


# --- What speaks most for each class: words, levels and numbers, by weights of evidence ----------


Rank: TypeAlias = tuple[float, float]  # what rows gain, and how often it came: the least is first


class Strongest(Drawn):
    """The strongest evidence for each class: a table of class, column, value and weight.

    Parameters
    ----------
    by_class : dict
        For each label its items: column, value and weight of evidence in nats, which is log p(item
        | class) - log p(item | all other classes together). They are in the order of their mean
        contribution to rows of the class: the weight times how often the item came in the class.
    target : str
        The column that is predicted, if its name is known, which pictures say.

    Examples
    --------
    >>> from naively import Bernoulli, NaiveBayes
    >>> X, y = {"fur": [True, True, False], "wings": [False, False, True]}, ["cat", "cat", "bird"]
    >>> NaiveBayes(Bernoulli(), weights=None).fit(X, y).inspect.strongest(1)
    class  column  value    weight
    bird   wings          0.980829
    cat    fur             0.81093
    """

    by_class: dict[Any, list[Weighed]]
    target: str = ""

    def to_dict(self) -> dict[str, list[Any]]:
        rows = [(label, *item) for label, items in self.by_class.items() for item in items]
        names = ("class", "column", "value", "weight")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def strongest_of(model: Model, n: int = 10, batches: Sequence[Batch] = ()) -> Strongest:
    """Return what speaks most for each class (see ``nb.inspect.strongest``)."""
    if n < 1:
        raise ValueError(f"n must be a number of items that is at least 1, got {n}.")
    cells = counted_cells(model, batches)
    labels = model.classes.tolist()
    return Strongest({label: strongest(model, c, n, cells) for c, label in enumerate(labels)})


def strongest(model: Model, c: int, n: int, of_rules: Sequence[CountedCells] = ()) -> list[Weighed]:
    """Return the n items that speak most for class c against all others together."""
    # An item is a word (no character n-gram), a level, a column that is true, a number that is
    # usual in the class (its mean, or one in the most probable bin), or some rows of which the
    # rules of the same columns say something, whose weight is the mean over those of the class.
    # Missing cells and products of columns are no items. The first is what a row of the class gains
    # most from on average: its weight of evidence, times how often it came in the class. What
    # weighs nothing, or speaks against the class, is left out.
    found: list[tuple[Rank, Weighed]] = []
    for cells in of_rules:
        rows, weight = cells.rows[:, c], Odds(model.terms.start, c).weight(cells.every.added)
        count, gain = np.bincount(cells.cell, rows), np.bincount(cells.cell, rows * weight)
        name = title_of_columns(cells.every.columns)
        for i in np.flatnonzero((gain > 0) & (count > 0)).tolist():
            rank = -float(gain[i]), -float(count[i])
            found.append((rank, (name, cells.said[i], float(gain[i] / count[i]))))
    facts, schema = model.terms.facts(model.view.counts), model.view.schema
    for group in schema.of_columns:
        if group.key in schema.of_character_ngrams:
            continue
        for rank, fact, x, nats in ranked(facts[group.key], model.terms.start, c, n):
            column, shown = facts[group.key].label(fact)
            if x is not None:
                shown = np.datetime64(round(x), "s").item() if column in schema.times else x
            found.append((rank, (title(column), shown, nats)))
    found.sort(key=lambda of: of[0])
    return [item for _, item in found[:n]]


def ranked(
    facts: Facts, start: Floats, c: int, n: int
) -> list[tuple[Rank, int, float | None, float]]:
    """Return the n facts of a group that speak most for class c."""
    # A fact has a rank, a number, the number that is typical of the class (None for words, levels
    # and truths), and a weight of evidence.
    count = facts.count(np.array([c]))[:, 0]
    here = np.flatnonzero(count > 0)  # of words a small part, as most came in few classes
    log_p, x = facts.terms.typical(c, here)
    weight, count = Odds(start, c).weight(log_p), count[here]
    gain = weight * count
    best = np.lexsort((-count, -gain))[:n]
    return [
        (
            (-float(gain[i]), -float(count[i])),
            int(here[i]),
            None if x is None else float(x[i]),
            float(weight[i]),
        )
        for i in best[weight[best] > 0].tolist()
    ]


# --- Nomograms: each column's scale of weights of evidence, and what their sum means -------------
#
# Možina, Demšar, Kattan & Zupan, Nomograms for visualization of naive Bayesian classifier (2004).


TICKS = 7  # of a column of numbers, about
POINTS = 201  # at which the range of a column of numbers is looked for
MOST_LEVELS = 12  # of a column, those that came most often
WRITTEN = 8  # values that are printed for a column
PROBABILITIES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Scale(Frozen):
    """What one column says."""

    column: str
    # Levels, or round numbers or times, the last None where a missing cell is evidence; of rules
    # what holds in the rows that each weight is of.
    value: list[Any]
    weight: Floats  # (values,): the weight of evidence of each, in nats
    # The least and the greatest weight of any of its values; of numbers, within the range of 0.5 %
    # to 99.5 % of each class.
    low: float
    high: float
    more: int = 0  # how many levels, or cells of rules, there are beside these


class Nomogram(Drawn):
    """Scales of weights of evidence, ordered by their ranges.

    The log odds of a row are the intercept and the weight of each of its cells; a missing cell has
    none unless the scale of its column has one for it.

    Parameters
    ----------
    label : label
        The class that is spoken for.
    against : label or None
        The class that it is compared with; None of all others as one.
    scales : list of Scale
        The columns, and the rules of some columns together, the widest range first.
    intercept : float
        The log odds where nothing is seen, in nats.
    notes : tuple of str
        What else is to be said.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    label: Label
    against: Label | None
    scales: list[Scale]
    intercept: float
    notes: tuple[str, ...]
    target: str = ""

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns column, value and weight, in nats."""
        return {
            "column": [scale.column for scale in self.scales for _ in scale.value],
            "value": [plain_cell(value) for scale in self.scales for value in scale.value],
            "weight": [w for scale in self.scales for w in scale.weight.tolist()],
        }

    @property
    def probabilities(self) -> dict[float, float]:
        """The sum of weights at which the class has each of some probabilities."""
        return {p: float(np.log(p / (1 - p)) - self.intercept) for p in PROBABILITIES}

    @property
    def names(self) -> str:
        """The two classes."""
        against = "all others" if self.against is None else repr(self.against)
        return f"{self.label!r} against {against}"

    def __str__(self) -> str:
        lines = [f"nomogram for {self.names}: weights of evidence (nats)"]
        wide = min(30, max((len(scale.column) for scale in self.scales), default=0))
        for scale in self.scales:
            by_weight = np.argsort(scale.weight, kind="stable").tolist()
            some = by_weight
            if len(by_weight) > WRITTEN:
                some = [*by_weight[: WRITTEN // 2], *by_weight[-WRITTEN // 2 :]]
            of = ", ".join(f"{written(scale.value[i])} {scale.weight[i]:+.2f}" for i in some)
            lines.append(f"  {scale.column:<{wide}}  {of}")
        sums = ", ".join(f"{p:g} at {at:+.2f}" for p, at in self.probabilities.items())
        lines.append(f"  probability of {self.label!r} by the sum of the weights: {sums}")
        return "\n".join(map(visible, [*lines, *(f"  {note}" for note in self.notes)]))


def written(value: Any) -> str:
    """Write a level, a number, a time or a missing cell as a scale shows it."""
    match value:
        case None:
            return "missing"
        case np.datetime64():
            return str(value.astype("datetime64[D]"))
        case float():
            return f"{value:g}"
    return str(value)


def nomogram(
    model: Model,
    label: Label | None,
    against: Label | None,
    n: int = 10,
    batches: Sequence[Batch] = (),
) -> Nomogram:
    """Return the nomogram of a model (see ``nb.inspect.nomogram``)."""
    if n < 1:
        raise ValueError(f"n must be at least 1, the columns that are shown, got {n}.")
    if len(model.classes) < 2:
        raise ValueError("A nomogram compares two classes, but only one was learned.")
    c = number_of(model.classes, label, spoken_for(model.counted.tally.class_count))
    others = [r for r in range(len(model.classes)) if r != c]
    if against is not None:
        others = [number_of(model.classes, against, 0)]
        if others == [c]:
            raise ValueError(f"A nomogram compares two classes, got {against!r} twice.")
    odds = Odds(model.terms.start, c, others)
    found = [
        _scale(OneColumn(model, name, group, j), batches, odds)
        for group in model.view.schema.of_columns
        if group.analyser is None
        for j, name in enumerate(model.view.axes[group.key].columns)
    ]
    rules = counted_cells(model, batches)
    found += [_scale_of_means(cells, odds) for cells in rules]
    if not rules:
        found += [_scale_of_cells(cells, odds) for cells in cells_of_rules(model)]
    made = (of for of in model.terms.several if isinstance(of, CombinedTerms))
    found += [_scale_of_made(*of, odds) for several in made for of in several.each()]
    if not found:
        raise ValueError("The model has no column whose cells have a weight each; see explain.")
    found.sort(key=lambda scale: scale.low - scale.high)
    single = len(others) == 1
    rival = model.classes.tolist()[others[0]] if single else None
    notes = []
    if not single:
        notes.append("all others are taken as one class, by their priors")
    if len(found) > n:
        notes.append(f"the {n:,} columns of widest range, of {len(found):,}")
    texts = {name for g in model.view.schema.of_columns if g.analyser for name in g.columns}
    notes += ["texts are left out: the weight of a word is in explain"] * bool(texts)
    products = model.weights is not None and model.weights.linear.products
    notes += ["of rules a weight is the mean over the rows that it is of"] * bool(rules)
    notes += ["products of columns are left out"] * bool(products)
    return Nomogram(model.classes.tolist()[c], rival, found[:n], odds.prior, tuple(notes))


def _scale_of_made(
    column: tuple[GroupKey, Name], edges: Floats, points: Floats, odds: Odds
) -> Scale:
    """Return the scale of a column that is made of two: what it adds from some of its edges on."""
    weight, said = odds.weight(points), number_in_words(*column)
    at = np.unique(np.linspace(0, len(edges) - 1, min(len(edges), MOST_LEVELS)).astype(np.int64))
    values = [f"from {said(edge)}" for edge in edges[at].tolist()]
    ends = float(weight.min()), float(weight.max())
    return Scale(title(column[1]), values, weight[at + 1], *ends, len(edges) - len(at))


def _scale_of_means(cells: CountedCells, odds: Odds) -> Scale:
    """Return the scale of the rules of some columns: what they add on average, cell by cell."""
    weight, rows = odds.weight(cells.every.added), cells.rows.sum(axis=1)
    mean = np.bincount(cells.cell, rows * weight) / np.bincount(cells.cell, rows)
    ends = float(weight.min()), float(weight.max())
    return Scale(title_of_columns(cells.every.columns), cells.said, mean, *ends)


def _scale_of_cells(cells: RuleCells, odds: Odds) -> Scale:
    """Return the same where no row is known: each cell, or of many those that weigh most."""
    weight = odds.weight(cells.added)
    most = np.sort(np.argsort(-np.abs(weight), kind="stable")[:MOST_LEVELS])
    ends = float(weight.min()), float(weight.max())
    more = len(weight) - len(most)
    name = title_of_columns(cells.columns)
    return Scale(name, [cells.said[i] for i in most], weight[most], *ends, more)


def _scale(column: OneColumn, batches: Sequence[Batch], odds: Odds) -> Scale:
    """Return the scale of one column; with what it says that its cells are there, or missing."""
    value, shown, others, more = _values(column, batches)
    if column.of_missing is not None:
        there, missing = column.of_missing
        value, shown, others = [*value, None], np.vstack([shown + there, missing]), others + there
    weight = odds.weight(shown)
    every = np.append(weight, odds.weight(others))
    ends = (float(every.min()), float(every.max())) if len(every) else (0.0, 0.0)
    return Scale(column.title, value, weight, *ends, more)


def _values(column: OneColumn, batches: Sequence[Batch]) -> tuple[list[Any], Floats, Floats, int]:
    """Return values of a column, what these and others add, (values, classes), and what is left."""
    # What is left is how many levels are not among the values.
    if column.has_items:
        count = column.item_count.sum(axis=1)
        first = np.sort(np.argsort(-count, kind="stable")[:MOST_LEVELS])
        every = column.of_items(np.arange(len(count)), weighted=True)
        items = [column.items[i] for i in first]
        return items, every[first], every, len(count) - len(first)
    low, high = column.range(batches)
    whole = column.group.event.support == "counts" or column.grid(batches) == 1
    ticks = round_numbers(low, high, whole=whole)
    points = np.linspace(low, high, POINTS)
    if whole:
        points = np.unique(np.rint(points))
    every = column.evidence(np.concatenate([ticks, points]))
    values = [*times_of(ticks)] if column.is_time else ticks.tolist()
    return values, every[: len(ticks)], every[len(ticks) :], 0


def round_numbers(low: float, high: float, *, whole: bool = False, n: int = TICKS) -> Floats:
    """Return about n round numbers from low to high; one number where they are the same."""
    if not high > low:
        return np.array([low])
    size = (high - low) / n
    unit = 10.0 ** np.floor(np.log10(size))
    step = unit * next(step for step in STEPS if step * unit >= size * (1 - 1e-9))
    if whole:
        step = max(1.0, np.ceil(step))
    found = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    digits = max(0, 2 - int(np.floor(np.log10(step))))
    return np.round(found, digits) + 0.0 if len(found) else np.array([low, high])
