"""An honest assessment of a model from the rows that it was trained on.

The tally of each fold is subtracted, weights are fitted on the other rows, and the fold is
predicted: cross-validation without refitting. (Leave-one-out alone is optimistic, as the weights
have been fitted on it.) A fold takes about as long as learning did, most of it for the weights. So
of ten or twenty folds as many are held out as take twice as long as learning, by a count of
operations, not a clock; of few rows more, until enough of them are scored. Where the sample is a
small part of the rows learned, a larger share of it in a fold is still a small part of all: then
there are fewer folds, so that more rows are scored in the same time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.assess.prequential import note_of_time
from naively.assess.scores import Scores, scores
from naively.counting.axis import title
from naively.counting.labels import MANY_CLASSES, Labels
from naively.fitting.leave_one_out import LeaveOneOut, left_out, linear_evidence
from naively.fitting.reservoir import Reservoir, words_of
from naively.fitting.sample import Sample, add_interactions, deal
from naively.fitting.seek import COLUMNS
from naively.fitting.weights import log_loss, on_one_thread, p_right, posterior
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.model.class_prior import Cost, among_fewer
from naively.model.held_out import HeldOut
from naively.model.model import Model
from naively.options import Weighting
from naively.schema.schema import Missing, MissingAs

FEW = 2_000  # up to so many rows there are ...
MANY_FOLDS = 20  # ... at most so many folds ...
FOLDS = 10  # ... and else these, or fewer, of a tenth of the rows learned each,
LEAST_DEALT = 4  # yet so many, as weights are fitted to the sample without a fold
LEAST_FOLDS = 2  # are held out in any case
ENOUGH = 2_000  # rows that are scored, where that takes no more than twice learning and STARTING
# Work is counted in numbers of the table of evidence, rows × parts × classes.
PER_PART = 200  # rows: their evidence takes as long as to derive a part's parameters
PER_TOKEN = 0.5  # numbers
PER_FOLD = 50_000  # numbers, and as much for learning
STARTING = 2_000_000  # numbers: they take half a second
COSTS = 0.3  # times learning, for what each column is worth
TIMES = 2.0  # times learning, for the folds and the worth of columns together


class Folds(NamedTuple):
    """How many folds rows are dealt into, how many of them are held out, and why no more."""

    dealt: int
    held_out: int
    why: str


class Predicted(NamedTuple):
    """Rows that were held out."""

    p: Floats  # (rows scored, classes): their posteriors
    labels: Labels  # their labels, with the weight of the copies in the fold
    copies: NDArray[np.int64]  # (rows scored,): how many copies of the row are in the fold
    place: NDArray[np.int64]  # (rows scored,): where in the sample the row is


class HeldOutFolds(Frozen):
    """The folds of a sample that were held out."""

    reservoir: Reservoir
    sample: Sample
    folds: Folds  # how many folds there are
    rows: int  # how many rows were predicted, copies too
    alone: NDArray[np.bool_]  # (classes,): the classes whose only row was not predicted
    predicted: Predicted  # the rows; each stands for as many as are of its class
    kind: Weighting | None  # of the weights that are fitted without each fold

    def odds(self, model: Model) -> HeldOut:
        """Return how probable the right classes are, which sets of classes follow from."""
        p, labels, *_ = self.predicted
        per = model.view.rows_per_weight
        weight = labels.weights if per is None else labels.weights * per[labels.codes]
        return HeldOut.of(p, labels.codes, weight, model.classes.tolist())


def hold_out(
    model: Model, reservoir: Reservoir, kind: Weighting | None, *, interactions: bool = False
) -> HeldOutFolds:
    """Predict folds of the sample of the rows that a model has learned, without each of them."""
    # With interactions they are chosen anew without each fold. The only row of a class is not
    # predicted, unless no class has two: without it the class is unknown.
    sample = reservoir.of(model, larger=interactions)
    n, groups = len(sample), sample.labels.group
    most = n if groups is None else len(np.unique(groups))
    folds = plan(model, n, _seen(model, reservoir), interactions=interactions, most=most)
    dealt = deal(sample.labels, sample.copies, folds.dealt)[:, : folds.held_out]
    codes, alone = sample.labels.codes, _alone(model, sample)
    alone &= not alone.all()
    dealt[alone[codes]] = 0
    dealt = dealt[:, dealt.any(axis=0)]
    found = cross_validate(model, sample, kind, dealt, interactions=interactions)
    labels = found.labels.standing_for(model.counted.tally.class_count)
    predicted = found._replace(labels=labels)
    return HeldOutFolds(reservoir, sample, folds, int(dealt.sum()), alone, predicted, kind)


def _seen(model: Model, reservoir: Reservoir) -> int:
    """Return how many independent rows were learned."""
    return min(reservoir.seen, int(model.view.rows.sum()))


def assess(model: Model, held_out: HeldOutFolds, cost: Cost = None) -> Scores:
    """Score a model on the sample of the rows that it has learned (see ``NaiveBayes.assess``)."""
    reservoir, sample, folds = held_out.reservoir, held_out.sample, held_out.folds
    p, labels, copies, _ = held_out.predicted
    right = model.classes[labels.codes]
    number = None if labels.group is None else np.unique(labels.group, return_inverse=True)[1]
    found = scores(p, model.classes, right, labels.weight, copies, groups=number, cost=cost)
    rows = reservoir.of(model)  # with interactions the sample is a larger one
    of_columns = worth(model, rows)
    why = reservoir.size.why if len(rows) < reservoir.seen else ""
    if held_out.rows < len(sample) and folds.held_out < folds.dealt:
        why = f"{folds.held_out} of {folds.dealt} folds" + f" of {why}" * bool(why)
    return replace(
        found,
        rows=held_out.rows,
        cost=of_columns.alone,
        together=of_columns.together,
        of=_seen(model, reservoir),
        why=why,
        folds=(folds.held_out, folds.dealt),
        why_folds=folds.why,
        notes=(*sample.notes, *note_of_time(model, rows, held_out.kind)),
        too_rare=tuple(model.classes[held_out.alone].tolist()),
    )


def _alone(model: Model, sample: Sample) -> NDArray[np.bool_]:
    """Mark the classes of which there is one row, or one group of rows, (classes,)."""
    labels, k = sample.labels, len(model.classes)
    rows = np.bincount(labels.codes, sample.copies, k)
    if labels.group is not None:
        there = np.unique(np.stack([labels.group, labels.codes.astype(np.uint64)]), axis=1)[1]
        rows = np.bincount(there.astype(np.int64), minlength=k)
    return np.asarray((rows == 1) & sample.holds_all(model))


def plan(
    model: Model, n: int, seen: int, *, interactions: bool = False, most: int | None = None
) -> Folds:
    """Return folds of n rows, of so many seen, that take about twice as long as learning."""
    # Rows are dealt into many folds, so that a model without one of them is nearly as good as the
    # whole; if there is no time for all, some are held out. How many follows from the numbers of
    # rows, columns, words and classes, so that the same rows have the same folds. With interactions
    # the folds are ten, as these are fitted to the sample alone.
    if n < 2:
        raise ValueError("There are fewer than two rows: none can be held out to assess the model.")
    most = n if most is None else most  # folds: of rows in groups, one for each group
    if most < 2:
        raise ValueError("There is but one group: it cannot be held out to assess the model.")
    share = 1.0 if interactions else n / max(n, seen)
    folds = max(min(FOLDS, LEAST_DEALT), math.ceil(FOLDS * share))
    time = work(model, n, interactions=interactions) * (TIMES - COSTS)
    of_fold = work(model, n - n / folds, interactions=interactions)
    longer = (time + STARTING) / of_fold
    dealt = min(most, MANY_FOLDS if n <= FEW and longer >= FOLDS else folds)
    possible = max(time / of_fold, min(longer, math.ceil(ENOUGH * dealt / n)))
    held_out = int(np.clip(possible, LEAST_FOLDS, dealt)) if dealt > LEAST_FOLDS else dealt
    why = "" if held_out == dealt else "all would take over twice as long as learning"
    return Folds(dealt, held_out, why)


def work(model: Model, rows: float, *, interactions: bool = False) -> float:
    """Return about how many numbers are computed to learn so many of the rows."""
    parts, k = model.view.schema.n_parts, len(model.classes)
    if interactions:
        columns = min(sum(len(g.columns) for g in model.view.schema.of_columns), COLUMNS)
        parts += columns * (columns - 1) // 2
    texts = [block for key, block in model.view.tally.blocks.items() if key.analyser is not None]
    words = sum(len(block.axis) for block in texts)
    share = rows / max(float(model.view.rows.sum()), rows)
    of_texts = PER_TOKEN * (words_of(texts) * share + words)
    return PER_FOLD + k * (parts * (rows + PER_PART) + of_texts)


def cross_validate(
    model: Model,
    sample: Sample,
    kind: Weighting | None,
    # (rows of the sample, folds): how many copies of each row are in each fold that is held out
    dealt: NDArray[np.int64],
    *,
    interactions: bool = False,
) -> Predicted:
    """Return the posteriors of rows under the model less their fold, and their labels."""
    unweighted = model.weighed(None)
    found = []
    for fold in sample.held_out(unweighted, dealt):
        rest, held_out, others, place = fold
        prior = among_fewer(rest.settings.class_prior, model.classes, rest.classes)
        rest = rest.under_prior(prior)
        if interactions:
            rest = add_interactions(rest, others)
        elif kind is not None:
            rest = rest.weighed(others.weighed(rest, kind, near=model.weights).weights)
        p = np.zeros((len(held_out.copies), len(model.classes)))
        p[:, np.isin(model.classes, rest.classes)] = held_out.posterior(rest)
        found.append((held_out.labels, p, held_out.copies, place))
        del fold, rest, held_out, others  # before the next fold is made
    labels, *of_rows = zip(*found, strict=True)
    p, copies, places = map(np.concatenate, of_rows)
    return Predicted(p, Labels.join(labels), copies, places)


# --- What a column is worth: how much the log loss grows without it, the others weighed anew -----
#
# Weights are fitted together. To leave a term out of their sum is not the model without the
# column: of two columns that repeat each other each would seem to be worth what both are. So the
# evidence of the other columns is weighed anew on the same leave-one-out table, one weight for
# each, by Newton's method. Its first step takes the weight of the column to 0 where the loss grows
# least (Hassibi & Stork, Second order derivatives for network pruning: optimal brain surgeon,
# 1993). Columns that repeat each other are also left out together.


MOST = 100  # columns that are weighed anew, those whose evidence is missed most
ROWS = 1_000  # on which that is found, at least, if there are so many,
WORK = 20_000_000  # and so many that rows × classes × columns² are this at most
OF_WEIGHT, OF_BIAS = 1.0, 5.0  # ridges: twice the log loss, in nats, of one that is 1 off
AGAIN = 5  # columns, whose first step takes others far, that have ...
STEPS = 3  # ... more steps
NEAR = 0.01  # nats per row, that a column must be worth for that
LEAST_GAIN = 1e-3  # of the loss, that a further step must gain
SHORTER = (1.0, 0.5, 0.25)  # shares of a step that are tried
ALIKE = 0.9  # correlation of the evidence of columns that repeat each other


class Worth(NamedTuple):
    """How much the log loss grows, in nats per row: without each column, and without several."""

    alone: dict[str, float]
    together: dict[tuple[str, ...], float]

    def shared(self) -> dict[str, float]:
        """Return what each column is worth, at least 0, with its share of what several are."""
        found = {name: max(0.0, nats) for name, nats in self.alone.items()}
        for names, nats in self.together.items():
            more = (nats - sum(found[name] for name in names)) / len(names)
            found |= {name: found[name] + max(0.0, more) for name in names}
        return found


@on_one_thread()
def worth(model: Model, sample: Sample) -> Worth:
    """Return how much the leave-one-out log loss grows without each column, in nats per row."""
    sample, labels = sample.at_once(model)
    batches = sample.encoded(model)
    if len(model.classes) < MANY_CLASSES:  # of their whole weight, as numbers of rows
        labels = Labels.join([batch.labels for batch in batches])
        labels = labels.standing_for(model.counted.tally.class_count)
    found = replace(left_out(model, batches, length_power=model.length_power), labels=labels)
    evidence = _by_column(model, found, linear_evidence(model, batches))
    # Weights are fitted under the rows' own prior, whatever the class prior is.
    base = found.class_prior
    if model.weights is not None:
        base = found.prior + model.weights.bias_of(model.classes.tolist())
    names, p = list(evidence), 1 if model.weights is None else min(MOST, len(evidence))
    first = np.arange(min(len(base), max(ROWS, WORK // max(1, base.shape[1] * len(evidence) * p))))
    base, labels = base[first], labels.take(first)
    table = np.stack([*(of[first] for of in evidence.values()), np.zeros_like(base)])[:-1]
    whole = base + table.sum(axis=0)
    loss = _loss(whole, labels)
    missed = {name: _loss(whole - of, labels) - loss for name, of in zip(names, table, strict=True)}
    if model.weights is None:  # a plain sum, of which a term is left out
        return Worth(missed, {})
    if model.weights.how == "temperature":
        alone = {}
        for name, of in zip(names, table, strict=True):
            two = np.stack([of, whole - base - of])
            alone[name] = Summands(two, base, labels).without([0])
        return Worth(alone, {})
    order = sorted(range(len(names)), key=lambda at: -missed[names[at]])
    some = order[:MOST]
    rest = base + table[order[MOST:]].sum(axis=0)
    terms = Summands(table[some], rest, labels)
    for at, grown in zip(some, terms.without_each(), strict=True):
        missed[names[at]] = grown
    together = {
        tuple(names[some[i]] for i in several): terms.without(several) for several in terms.alike()
    }
    return Worth(missed, together)


def _by_column(model: Model, found: LeaveOneOut, linear: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the evidence of each column, weighted, (rows, classes), with its linear part."""
    classes, evidence = model.classes.tolist(), dict[str, Floats]()
    for name, part, table in zip(_columns(model, found), found.parts, found.table, strict=True):
        weight = 1.0 if model.weights is None else model.weights.table([part], classes)[0]
        evidence[name] = evidence.get(name, 0.0) + weight * table
    for name, added in linear.items():
        evidence[name] = evidence.get(name, 0.0) + added
    return evidence


def _columns(model: Model, found: LeaveOneOut) -> list[str]:
    """Return the name of each part's column, or of its group if columns are one event."""
    # What a missing cell says is of the column that it is missing in.
    texts = {g.key: title(g.columns[0]) for g in model.view.schema.groups if g.kind == "text"}
    return [
        title(part.column.of)
        if isinstance(part.column, Missing | MissingAs)
        else texts.get(part.group, str(part))
        for part in found.parts
    ]


def _loss(joint: Floats, labels: Labels) -> float:
    return log_loss(p_right(joint, labels), labels.weight)


class Summands(Frozen):
    """Terms of a sum of evidence, each of which may be weighed anew, and a bias for each class."""

    table: Floats  # (terms, rows, classes): the terms
    base: Floats  # (rows, classes): what else is in the sum
    labels: Labels

    @cached_property
    def start(self) -> Floats:
        """The first arguments: the weights of terms, then biases."""
        k = self.base.shape[1]
        return np.append(np.ones(len(self.table)), np.zeros(k if k < MANY_CLASSES else 0))

    def joint(self, x: Floats) -> Floats:
        """Return the sum by arguments, of shape (rows, classes)."""
        p = len(self.table)
        base = self.base if len(x) == p else self.base + x[p:]
        return np.asarray(base + np.tensordot(x[:p], self.table, 1))

    @cached_property
    def best(self) -> tuple[Floats, float]:
        """The arguments of least loss with all terms, and the mean log loss of the rows by them."""
        return self._descend(self.start, _loss(self.joint(self.start), self.labels), [])

    def slopes(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of the penalised loss of all rows, and its second derivatives."""
        p, weight = posterior(self.joint(x)), self.labels.weights
        right = np.arange(len(p)), self.labels.codes
        wrong = p.copy()
        wrong[right] -= 1
        wrong *= weight[:, None]
        terms, biases = len(self.table), len(x) - len(self.table)
        ridge = np.repeat([OF_WEIGHT, OF_BIAS], [terms, biases])
        gradient = ridge * (x - self.start)
        gradient[:terms] += np.tensordot(self.table, wrong, 2)
        share = p * weight[:, None]
        mean = np.einsum("nk,pnk->pn", p, self.table)
        scaled = (self.table * np.sqrt(share)).reshape(terms, share.size)
        curvature = np.empty((len(x), len(x)))
        curvature[:terms, :terms] = scaled @ scaled.T - (mean * weight) @ mean.T
        if biases:
            gradient[terms:] += wrong.sum(axis=0)
            of_bias = np.einsum("nk,pnk->pk", share, self.table) - mean @ share
            curvature[:terms, terms:], curvature[terms:, :terms] = of_bias, of_bias.T
            curvature[terms:, terms:] = np.diag(share.sum(axis=0)) - share.T @ p
        curvature[np.diag_indices(len(x))] += ridge
        return gradient, curvature

    @cached_property
    def curvature(self) -> Floats:
        """The second derivatives where nothing is left out."""
        return self.slopes(self.best[0])[1]

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of these."""
        return np.asarray(np.linalg.inv(self.curvature))

    def without_each(self) -> list[float]:
        """Return how much the loss grows without each term."""
        terms = len(self.table)
        x, loss = self.best
        steps = -self.inverse[:, :terms] * (x[:terms] / np.diag(self.inverse)[:terms])
        grown = [self._without([at], steps[:, at])[1] - loss for at in range(terms)]
        far = sorted((at for at in range(terms) if grown[at] > NEAR), key=lambda at: -grown[at])
        for at in far[:AGAIN]:
            grown[at] = self.without([at])
        return grown

    def without(self, some: Sequence[int]) -> float:
        """Return how much the loss grows without some terms, the others weighed anew."""
        some, (x, loss) = list(some), self.best
        first = np.linalg.solve(self.inverse[np.ix_(some, some)], x[some])
        x, grown = self._without(some, -self.inverse[:, some] @ first)
        return self._descend(x, grown, some)[1] - loss

    def _without(self, some: list[int], step: Floats) -> tuple[Floats, float]:
        """Return the arguments after a first step without some terms, and their loss."""
        x, step = self.best[0].copy(), step.copy()
        x[some] = step[some] = 0.0
        return self._along(x, step, _loss(self.joint(x), self.labels))

    def _descend(self, x: Floats, loss: float, some: Sequence[int]) -> tuple[Floats, float]:
        """Return better arguments and their loss, after a few steps, in which some stay at 0."""
        free = np.setdiff1d(np.arange(len(x)), some)
        for _ in range(STEPS):
            gradient, curvature = self.slopes(x)
            step = np.zeros(len(x))
            step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
            before, (x, loss) = loss, self._along(x, step, loss)
            if before - loss < LEAST_GAIN * loss:
                break
        return x, loss

    def _along(self, x: Floats, step: Floats, before: float) -> tuple[Floats, float]:
        """Return a better point along a step, and its loss; where it began if there is none."""
        start = self.joint(x)
        change = self.joint(x + step) - start
        for share in SHORTER:
            loss = _loss(start + share * change, self.labels)
            if loss < before:
                return x + share * step, loss
        return x, before

    def alike(self) -> list[list[int]]:
        """Return the terms that repeat each other, in groups of several."""
        p = len(self.table)
        matrix = self.curvature[:p, :p] - OF_WEIGHT * np.eye(p)
        size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        close = np.abs(matrix / size / size[:, None]) > ALIKE
        groups: dict[int, list[int]] = {}
        for at, group in enumerate(_connected(close)):
            groups.setdefault(group, []).append(at)
        return [of for of in groups.values() if len(of) > 1]


def _connected(close: NDArray[np.bool_]) -> Iterable[int]:
    """Return the least number that each is connected to, over any number of others."""
    group = list(range(len(close)))
    for i, j in zip(*np.nonzero(np.triu(close, 1)), strict=True):
        a, b = group[i], group[j]
        group = [min(a, b) if of in (a, b) else of for of in group]
    return group
