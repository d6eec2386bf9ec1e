"""What two columns say together: products and counted pairs, where held-out rows gain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.counting.leave_one_out import different
from naively.events.lift import Lift, counts_of, log_lift_of_cells
from naively.fitting.leave_one_out import LeaveOneOut, OneOfEach, evidence_by, left_out
from naively.fitting.sample import Sample
from naively.fitting.search import on_one_thread
from naively.fitting.weights import (
    CELLS,
    LAST_STEPS,
    OF_INTERACTIONS,
    ROWS,
    Basis,
    Descent,
    Problem,
    Run,
    Said,
    Solution,
    Third,
    basis_of,
    count_parts,
    descend,
    evidence_said,
    fit,
    held_out,
    joint_of,
    linear_part_of,
    mean,
    posterior,
    ridges_of,
    run_of,
    solve,
    solve_slopes,
)
from naively.fitting.weights import RIDGE_STEPS as STEPS
from naively.kernels.reference import Floats
from naively.messages import many
from naively.model.model import Model, Sought
from naively.model.weights import FARTHEST, LinearPart, Product, Term, Weights
from naively.schema.encode import Held
from naively.schema.schema import Bins, Interaction, LevelBins, NumberBins, Source, TimePart

# --- Interactions: what two columns say together, beside what each says alone --------------------
#
# There are two kinds. A product of two functions of columns belongs to the linear part of the
# model. A pair of columns is counted: how much more often their bins come together in a class than
# by chance. Both are fitted on top of the weighted leave-one-out evidence of the columns, by one
# convex problem with a ridge for each kind. Nothing is added that does not lower the log loss of
# held-out rows.


@on_one_thread
def add_interactions(
    model: Model, sample: Sample, all_rows: Iterable[Batch] | None = None
) -> Model:
    """Choose interactions, count the pairs among them, and fit all weights.

    Parameters
    ----------
    model : Model
        What was learned. Interactions that it has are chosen anew, and its weights are replaced.
    sample : Sample
        A sample of the rows that the model has learned.
    all_rows : iterable of Batch, optional
        All rows that the model has learned, to count pairs on; by default the sample.
    """
    model = model.without_interactions().weighed(None)
    why_none = _why_none(model, sample)
    if why_none:
        return model.weighed(sample.weights(model, "loo"), Sought(why_none))
    fitting = Fitting.of(model, sample)
    plan = fitting.plan()
    pairs, start = fitting.pairs(plan)
    if pairs:
        model = model.with_interactions(pairs, sample.batches if all_rows is None else all_rows)
    model = model.weighed(fitting.column_weights)  # of which a weight of 1 is so many rows
    weights = fitting.weights(plan, model, fitting.of_pairs(model), start)
    return _noted(model.weighed(weights), plan)


@on_one_thread
def fit_weights(model: Model, sample: Sample, *, learned: bool = True) -> Model:
    """Fit all weights of a model with interactions, to rows that it has learned, or to others.

    Its counted pairs stay, and products are chosen anew. Of rows that are too few to choose by,
    each part of the evidence gets a weight, and no product is chosen.
    """
    why_none = _why_none(model, sample)
    if why_none:
        return model.weighed(sample.weights(model, "loo", learned=learned), Sought(why_none))
    fitting = Fitting.of(model.without_interactions().weighed(None), sample, learned=learned)
    evidence = fitting.of_pairs(model.weighed(fitting.column_weights))
    plan = fitting.plan(evidence)
    return _noted(model.weighed(fitting.weights(plan, model, evidence)), plan)


def _noted(model: Model, plan: Plan) -> Model:
    """Return a model that says which interactions it has, and what they gain."""
    if not model.has_interactions:
        why = "no product and no pair of columns lowers the log loss of held-out rows"
        return model.weighed(model.weights, Sought(why))
    products = 0 if model.weights is None else len(model.weights.linear.products)
    pairs = many(len(model.taken.schema.interactions), "counted pair")
    note = (
        f"Interactions: {many(products, 'product')} and {pairs} of columns; the log loss of "
        f"held-out rows is {plan.after:.4g} with them, and {plan.before:.4g} without."
    )
    return model.weighed(model.weights, Sought(notes=(note,)))


def _why_none(model: Model, sample: Sample) -> str:
    """Say why there can be no interactions, or nothing."""
    if len(model.classes) < 2:
        return "there is only one class"
    if sample.several_groups:
        return "rows come in groups, and of pairs of columns single rows are left out"
    rows = float(sample.copies.sum())
    if rows < FEWEST:
        return f"{rows:,.6g} rows are too few, it takes {FEWEST}"
    able = sum(
        len(g.columns)
        for g in model.taken.schema.of_columns
        if not g.analyser and not g.event.joined
    )
    if able < 2:
        return "pairs are made of columns, and not of words of texts or of bags of counts"
    return ""


# --- Products of two functions of different columns, those that would lower the log loss most ----
#
# A product is scored by the gradient of the log loss at given posteriors, squared, over a bound of
# its curvature; the products of all functions are scored by a few multiplications of matrices.


MOST = 400  # products
A_COLUMN = 6  # products for each column, at most
COLUMNS = 100  # that products are made of, those that say most
RIDGE = 10.0  # added to the curvature
FLAT = 1e-6  # a standard deviation of a product that does not vary


@dataclass(frozen=True, eq=False)
class Products:
    """Products of functions of columns.

    Parameters
    ----------
    of : sequence of Term
        The functions.
    z : ndarray of shape (rows, functions)
        Their values, those of a function side by side.
    a, b : ndarray of shape (products,)
        The numbers of the two functions of each product.
    scale : ndarray of shape (products,)
        Their standard deviations.
    """

    of: Sequence[Term]
    z: NDArray[np.float32]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    scale: Floats

    @classmethod
    def choose(
        cls,
        of: Sequence[Term],
        z: NDArray[np.float32],
        said: Said,
        p: Floats,
        labels: Labels,
        rows: NDArray[np.int64] | None = None,
    ) -> Products:
        """Choose the products that would lower the log loss of some rows most.

        Parameters
        ----------
        of : sequence of Term
            The functions.
        z : ndarray of shape (all rows, functions)
            Their values.
        said : callable
            Returns how much evidence each part gives; asked only if there are many columns.
        p : ndarray of shape (rows, classes)
            The posteriors of the rows that are looked at.
        labels : Labels
            Their labels.
        rows : ndarray of shape (rows,), optional
            Their numbers; by default all rows.
        """
        some = z if rows is None else z.T.take(rows, axis=1).T
        columns = [term.part for term in of]
        number = {part: i for i, part in enumerate(dict.fromkeys(columns))}
        column = np.array([number[part] for part in columns], np.int64)
        best = list(number)
        if len(best) > COLUMNS:
            most_said = said()
            best = sorted(best, key=lambda part: -most_said.get(part, 0.0))[:COLUMNS]
        may = np.isin(column, [number[part] for part in best])
        a, b = np.triu_indices(len(columns), 1)
        fit = (column[a] != column[b]) & may[a] & may[b]
        a, b = a[fit], b[fit]
        most = min(MOST, A_COLUMN * len(best))
        if len(a) > most:
            score = _scores(some, p, labels)[a, b]
            first = np.sort(np.argsort(-score, kind="stable")[:most])
            a, b = a[first], b[first]
        scale = _deviations(some.T, a, b, labels.weight)
        there = scale > FLAT
        return cls(of, z, a[there], b[there], scale[there])

    def __len__(self) -> int:
        return len(self.a)

    def values(self, rows: int | None = None) -> NDArray[np.float32]:
        """Return the products of all rows, or of the first, clipped, of shape (rows, products)."""
        by_function = self.z[:rows].T
        found = np.empty((len(self), by_function.shape[1]), np.float32)
        each = zip(found, self.a, self.b, self.scale.astype(np.float32), strict=True)
        for product, a, b, scale in each:  # one by one, so that it stays cached
            np.multiply(by_function[a], by_function[b], out=product)
            np.divide(product, scale, out=product)
            np.clip(product, -FARTHEST, FARTHEST, out=product)
        return found.T

    def terms(self) -> Sequence[Product]:
        """Return the products as the model holds them."""
        each = zip(self.a.tolist(), self.b.tolist(), self.scale.tolist(), strict=True)
        return [Product(self.of[a], self.of[b], scale) for a, b, scale in each]


def _scores(z: NDArray[np.float32], p: Floats, labels: Labels) -> Floats:
    """Return how much each product of two functions would save, (functions, functions)."""
    right = np.arange(len(p)), labels.codes
    residual = -p.astype(np.float32)
    residual[right] += 1
    weight = labels.weights.astype(np.float32)
    square = np.square(z)
    score = np.zeros((z.shape[1], z.shape[1]))
    classes = range(1, 2) if p.shape[1] == 2 else range(p.shape[1])  # two have equal scores
    for c in classes:
        gradient = residual[:, [c]] * weight[:, None]
        size = np.abs(residual[:, [c]])
        curve = square.T @ (square * (size * (1 - size) * weight[:, None]))
        score += np.square(z.T @ (z * gradient)) / (curve + RIDGE)
    return score


def _deviations(
    by_function: NDArray[np.float32],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    weight: Floats | None,
) -> Floats:
    """Return the standard deviations of products of functions, (functions, rows): (products,)."""
    found = np.empty(len(a))
    for at, (i, j) in enumerate(zip(a, b, strict=True)):  # one by one, so that each stays cached
        product = by_function[i] * by_function[j]
        product -= mean(product, weight)
        found[at] = mean(np.square(product, out=product), weight)
    return np.sqrt(found)


# --- Pairs of columns whose bins come together more often in a class than by chance --------------
#
# Each column is cut into bins. The evidence of a pair is how much more often its two bins come
# together in a class than if the columns were independent, each row left out of the counts. Its
# gradient and curvature at given posteriors tell how much log loss a weight for it would save.
# Where some rows are held out, pairs are chosen and counted on the others alone: two rows that
# agree by chance would else speak for a pair both where it is chosen and where it is judged.


BINS = 0.6  # of a column of numbers, for each cube root of the rows
FEW, MANY = 4, 12  # bins, at least and at most
LEVELS = 11  # of a column of categories that have a bin; all others share one
WORK = 200_000_000  # pairs × rows × classes, the most that are looked at
ROWS_A_COLUMN = (
    5  # of the sample for each column that pairs are made of, as many pairs gain by chance
)
TOGETHER = 1_000_000  # rows of pairs, or their bins and classes, that are looked at together
SHARE = 3  # pairs for each column, at most
GAIN = 2.0  # nats of log loss that a pair must save on the sample

Pair = tuple[int, int]  # the numbers of two columns


@dataclass(frozen=True, eq=False)
class Crossing:
    """The evidence of some pairs, by the codes of their rows: bins, class and part left out.

    Parameters
    ----------
    pairs : list of (int, int)
        The pairs.
    lift : ndarray of shape (codes, classes)
        Evidence, centred over the classes; the codes of one pair after those of the other.
    code : ndarray of shape (pairs, rows)
        The code of each row.
    first : ndarray of shape (pairs + 1,)
        Where the codes of each pair begin.
    """

    pairs: list[Pair]
    lift: Floats
    code: NDArray[np.int64]
    first: NDArray[np.int64]

    def gains(self, p: Floats, residual: Floats, weight: Floats) -> list[float]:
        """Return how many nats of log loss a weight for each pair would save.

        Parameters
        ----------
        p, residual : ndarray of shape (rows, classes)
            Posteriors, and what is right less these, times the weights of the rows.
        weight : ndarray of shape (rows,)
            The weights.
        """
        if p.shape[1] == 2:  # the evidence of one class is minus that of the other
            a, n = self.lift[:, 1], len(self.lift)
            sums = [
                np.bincount(self.code.ravel(), np.broadcast_to(of, self.code.shape).ravel(), n)
                for of in (residual[:, 1], weight * p[:, 0] * p[:, 1])
            ]
            gradient = np.add.reduceat(2 * a * sums[0], self.first[:-1])
            curve = np.add.reduceat(4 * a**2 * sums[1], self.first[:-1])
        else:
            each = [self._of_many(code, p, residual, weight) for code in self.code]
            gradient, curve = np.array(each).T
        gains: list[float] = _gain(gradient, curve).tolist()
        return gains

    def _of_many(
        self, code: NDArray[np.int64], p: Floats, residual: Floats, weight: Floats
    ) -> tuple[float, float]:
        """Return the gradient of the log loss by a pair's weight, and the curvature."""
        evidence = self.lift[code]
        mean = np.einsum("nk,nk->n", p, evidence)
        spread = np.einsum("nk,nk,nk->n", p, evidence, evidence) - mean**2
        return float(np.einsum("nk,nk->", residual, evidence)), float(weight @ spread)


@dataclass(frozen=True, eq=False)
class Crossed:
    """Columns of sampled rows, cut into bins, any two of which can be taken together.

    Parameters
    ----------
    bins : list of NumberBins or LevelBins
        The bins of each column.
    codes : list of ndarray of shape (rows,)
        The bin of each row, by column.
    labels : Labels
        The labels of the rows.
    counted : Labels
        The same, with the weights by which bins are counted, those of copies too.
    once : Once
        What is left out of each row.
    """

    bins: list[Bins]
    codes: list[NDArray[np.int64]]
    labels: Labels
    counted: Labels
    once: OneOfEach

    @classmethod
    def of(
        cls, batches: Sequence[Batch], labels: Labels, found: LeaveOneOut, said: Said
    ) -> Crossed:
        """Cut columns into bins: if there are many, those that say most.

        Parameters
        ----------
        batches : sequence of Batch
            The rows, as the model encodes them.
        labels : Labels
            Their labels.
        found : LeaveOneOut
            The leave-one-out table of some of them.
        said : callable
            Returns how much evidence each part gives; asked only if there are many columns.
        """
        held = [Held(batch) for batch in batches]
        bins = [_bins(held, name) for name in _columns(labels, found, said)]
        codes = [np.concatenate([of.codes(batch) for batch in held]) for of in bins]
        times = np.concatenate([batch.times for batch in batches])
        counted = Labels.join([batch.labels for batch in batches])
        counted = counted.standing_for(labels.one_hot().sum(axis=0))
        return cls(bins, codes, labels, counted, OneOfEach.of(counted, times))

    def interaction(self, pair: Pair) -> Interaction:
        """Return two columns taken together, as a column."""
        return Interaction(self.bins[pair[0]], self.bins[pair[1]])

    def take(self, rows: NDArray[np.int64]) -> Crossed:
        """Return some of the rows, by their numbers, of which alone is counted then."""
        codes = [code[rows] for code in self.codes]
        labels, counted = self.labels.take(rows), self.counted.take(rows)
        return Crossed(self.bins, codes, labels, counted, self.once.take(rows))

    def evidence(self, pairs: Sequence[Pair], first: int | None = None) -> NDArray[np.float32]:
        """Return the evidence of pairs, centred over the classes: (rows, classes, pairs).

        It is that of the first rows, so many at most, by the counts of all; by default of all.
        """
        n = len(self.labels) if first is None else min(first, len(self.labels))
        return self._evidence(self.take(np.arange(n)), pairs, own=True)

    def evidence_of(self, others: Crossed, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Return the evidence of rows that are not among these, by the counts of these."""
        return self._evidence(others, pairs, own=False)

    def _evidence(self, of: Crossed, pairs: Sequence[Pair], *, own: bool) -> NDArray[np.float32]:
        """Return the evidence of rows by the counts of these, which hold them or do not."""
        rows = np.empty((self.labels.k, len(pairs), len(of.labels)), np.float32)
        for at, (i, j) in enumerate(pairs):
            code = of.codes[i] * self.bins[j].size + of.codes[j]
            left = of.once if own else None
            rows[:, at] = evidence_by(self._count((i, j)), code, left, Lift().m)
        return rows.transpose(2, 0, 1)

    def best(self, p: Floats) -> list[Pair]:
        """Return the pairs that would save most log loss at posteriors, by descending gain.

        ``p``, of shape (rows, classes), is of the first rows, or of all: the evidence is counted on
        all rows, and what it saves on these.
        """
        n, most = len(p), min(SHARE * len(self.bins), CELLS // max(1, len(self.labels) * len(p.T)))
        weight, right = self.labels.weights[:n], self.labels.codes[:n]
        residual = -p * weight[:, None]
        residual[np.arange(len(right)), right] += weight
        gains: dict[Pair, float] = {}
        for some in self._crossings(n):
            gains |= dict(zip(some.pairs, some.gains(p, residual, weight), strict=True))
        best = sorted(gains, key=lambda pair: -gains[pair])[:most]
        return [pair for pair in best if gains[pair] > GAIN]

    def _count(self, pair: Pair) -> Floats:
        """Return how often bins come together, of shape (bins, other bins, classes)."""
        (i, j), k = pair, self.labels.k
        shape = self.bins[i].size, self.bins[j].size, k
        cell = (self.codes[i] * shape[1] + self.codes[j]) * k + self.labels.codes
        count = np.bincount(cell, self.counted.weight, shape[0] * shape[1] * k)
        return count.astype(np.float64).reshape(shape)

    def _crossings(self, n: int) -> Iterator[Crossing]:
        """Yield all pairs: of each column those with later ones, as many as fit into memory."""
        d = len(self.bins)
        by_class = np.stack(self.codes) * self.labels.k + self.labels.codes
        for i in range(d - 1):
            most = max(
                1, TOGETHER // max(len(self.labels), self.bins[i].size * MANY * self.labels.k)
            )
            for first in range(i + 1, d, most):
                others = range(first, min(first + most, d))
                yield self._crossing(i, others, by_class[first : others.stop], n)

    def _crossing(
        self, i: int, others: Sequence[int], by_class: NDArray[np.int64], n: int
    ) -> Crossing:
        """Take a column together with others, all at once; the codes are of the first n rows.

        ``by_class``, (others, rows), are the bins of the others, of each class by itself.
        """
        k, n_a, n_b = self.labels.k, self.bins[i].size, max(self.bins[j].size for j in others)
        once, kind = self.once.different, self.once.number
        cell = by_class + self.codes[i] * (n_b * k)
        cell += np.arange(len(others))[:, None] * (n_a * n_b * k)  # each pair by itself
        weight = self.counted.weight
        every = None if weight is None else np.broadcast_to(weight, cell.shape).ravel()
        size = len(others) * n_a * n_b * k
        count = np.bincount(cell.ravel(), every, size).astype(np.float64)
        count = count.reshape(len(others), n_a, n_b, k)
        cell = cell[:, :n]
        there, code = different((cell * len(once) + kind[:n]).ravel(), size * len(once))
        at, left = np.divmod(there, len(once))
        at, right = np.divmod(at, k)
        at_a, b = np.divmod(at, n_b)
        lift = log_lift_of_cells(
            count.reshape(-1, k)[at],
            count.sum(axis=2).reshape(-1, k)[at_a],
            count.sum(axis=1)[at_a // n_a, b],
            count[0].sum(axis=(0, 1)),
            right,
            once[left],
            Lift().m,
        )
        lift -= lift.mean(axis=1, keepdims=True)
        ends = np.arange(len(others) + 1) * n_a * n_b * k * len(once)
        pairs = [(i, j) for j in others]
        return Crossing(pairs, lift, code.reshape(cell.shape), np.searchsorted(there, ends))


def _gain(gradient: Floats, curve: Floats) -> Floats:
    """Return how many nats of log loss weights would save, the ridge included."""
    return np.where(gradient > 0, gradient**2 / (2 * (curve + OF_INTERACTIONS)), 0.0)


def _columns(labels: Labels, found: LeaveOneOut, said: Said) -> list[Source]:
    """Return the columns that pairs may be of: if there are many, those of most evidence."""
    of = [
        (part, part.column)
        for part, kind in zip(found.parts, found.kinds, strict=True)
        if kind == "column" and isinstance(part.column, str | int | TimePart)
    ]
    rows = float(labels.weights.sum())  # of which a row that came twice is two
    fit = int((2 * WORK / (len(labels) * labels.k)) ** 0.5), int(rows / ROWS_A_COLUMN)
    most = min(COLUMNS, *(max(2, number) for number in fit))
    if len(of) > most:
        each = said()
        best = {part for part, _ in sorted(of, key=lambda one: -each[one[0]])[:most]}
        of = [each for each in of if each[0] in best]
    return [column for _, column in of]


def _bins(held: list[Held], name: Source) -> Bins:
    """Cut a column into bins: its commonest levels, or about equally many numbers in each."""
    if any(name in batch.coded for batch in held):
        seen: Counter[Any] = Counter()
        for batch in held:
            seen.update(batch.count_levels(name))
        # Levels that came equally often are taken by what they are, in whatever order they came.
        common = sorted(seen, key=lambda level: (-seen[level], repr(level)))
        return LevelBins(name, tuple(common[:LEVELS]))
    return NumberBins(name, _edges(np.concatenate([batch.number(name) for batch in held])))


def _edges(numbers: NDArray[np.floating]) -> tuple[float, ...]:
    """Return the least number of each bin but the first, ascending."""
    there = np.sort(numbers[~np.isnan(numbers)]).astype(np.float64)
    if not len(there):
        return ()
    starts = there[np.append(True, np.diff(there) > 0)]
    bins = int(np.clip(round(BINS * len(there) ** (1 / 3)), FEW, MANY))
    if len(starts) > bins:
        starts = np.unique(there[np.arange(bins) * len(there) // bins])
    return tuple(starts[starts > there[0]].tolist())


# --- Fitting all that is added to the columns: the linear part, products and counted pairs -------
#
# Products, pairs and ridges are chosen on two thirds of the sample and judged on the third that is
# held out; what is planned so is then fitted on all rows.


RIDGES_OF_PAIRS = (100.0, 30.0, 10.0, 3.0)
FEWEST = 100  # rows whose leave-one-out table is made at once, however large
WORTH = 3.0  # nats that products, and pairs, must save on the held-out rows; chance saves some
NEGLIGIBLE = 1e-3  # a weight of a pair that is as good as 0


class Plan(NamedTuple):
    """What lowers the log loss of held-out rows.

    Parameters
    ----------
    ridge : float or None
        Of the slopes; None if none lower it.
    products : bool
        Whether products are among the functions.
    of_pairs : float or None
        The ridge of the weights of pairs; None if none lower it.
    before, after : float
        The log loss of the held-out rows by the columns alone, with the linear part of each, and
        with all that is added, in nats per row.
    """

    ridge: float | None
    products: bool
    of_pairs: float | None
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class Fitting:
    """The sampled rows of a model without interactions, and all that may be added to it.

    Parameters
    ----------
    column_weights : Weights
        The weights of the columns.
    sample : Sample
        The rows.
    learned : bool
        Whether the model has learned them, so that each is left out.
    batches : list of Batch
        The rows, as the model encodes them.
    labels : Labels
        Their labels.
    found : LeaveOneOut
        The leave-one-out table of as many of them as memory is for.
    said : callable
        Returns how much evidence each part gives.
    basis : Basis
        Functions of their columns.
    of_thirds : list of Third
        The first of them with a third held out, each third if they are few.
    joint : ndarray of shape (rows, classes)
        Their joint log likelihoods by the weights of the columns, each row left out.
    """

    column_weights: Weights
    sample: Sample
    learned: bool
    batches: list[Batch]
    labels: Labels
    found: LeaveOneOut
    said: Said
    basis: Basis
    of_thirds: list[Third]
    joint: Floats

    @classmethod
    def of(cls, model: Model, sample: Sample, *, learned: bool = True) -> Fitting:
        """Fit the weights of the columns."""
        model, batches, count = sample.weighed_alike(model, learned=learned)
        pieces = [_pieces(batch, model) for batch in batches]
        first = [left_out(model, [of[0]], learned=learned) for of in pieces]
        found = LeaveOneOut.join(first).standing_for(count)
        rows = float(model.independent_rows.sum())
        weights = fit(found.first(ROWS).standing_for(count), "loo", rows)
        weights = weights.of_rows_like(model.weights)
        labels, joint = [], []
        for table, (_, *others) in zip(first, pieces, strict=True):
            for part in (table, *(left_out(model, [of], learned=learned) for of in others)):
                labels.append(part.labels)
                joint.append(joint_of(weights, part))
        every = Labels.join(labels).standing_for(count)
        said = cache(lambda: evidence_said(weights, found))
        basis, joint_of_all = basis_of(model, said, every, batches), np.concatenate(joint)
        few = every.take(np.arange(min(ROWS, len(every))))
        if len(found.prior) < len(every):  # there is no memory for the table of all
            thirds = [Third(joint_of_all[: len(few)], *third) for third in held_out(few)]
        else:
            table = replace(found.first(ROWS), labels=few)
            thirds = [*sample.thirds(model, weights, table, counted=learned)]
        return cls(
            weights, sample, learned, batches, every, found, said, basis, thirds, joint_of_all
        )

    @cached_property
    def z(self) -> NDArray[np.float32]:
        """The functions, of shape (rows, functions)."""
        return self.basis.z.astype(np.float32)

    @cached_property
    def shared(self) -> NDArray[np.float32]:
        """The functions that have slopes of their own, of shape (rows, slopes)."""
        return self.z if self.basis.shares is None else self.basis.shared.astype(np.float32)

    @cached_property
    def crossed(self) -> Crossed:
        """The columns, cut into bins."""
        return Crossed.of(self.batches, self.labels, self.found, self.said)

    @cached_property
    def p(self) -> Floats:
        """The posteriors by the weights of the columns, of shape (rows, classes)."""
        return posterior(self.joint)

    def products(
        self, rows: NDArray[np.int64] | None = None, joint: Floats | None = None
    ) -> Products:
        """Choose the products that would lower the log loss of all rows most, or of some.

        ``joint`` is, of all rows, by other weights than those that were fitted to all.
        """
        p, labels = self.p if joint is None else posterior(joint), self.labels
        if rows is not None:
            p, labels = p[rows], labels.take(rows)
        return Products.choose(self.basis.terms, self.z, self.said, p, labels, rows)

    def problem(
        self, products: Products | None, *, slopes: bool = True, rows: int | None = None
    ) -> Problem:
        """Return what slopes may add to the rows: of the functions, products, and an intercept.

        ``rows`` are the first, so many at most; by default all.
        """
        labels = self.labels if rows is None else self._first(rows)
        n = len(labels)
        z = np.empty((0, n), np.float32)
        if slopes:
            multiplied = z if products is None else products.values(n).T
            z = np.vstack([self.shared[:n].T, multiplied, np.ones((1, n), np.float32)])
        return Problem(self.joint[:n], labels, z.T)

    @property
    def _strongest(self) -> float:
        """The strongest ridge of slopes, where none was chosen."""
        return ridges_of(self.labels, len(self.found.parts))[0]

    def _first(self, rows: int) -> Labels:
        """Return the labels of the first rows, so many at most."""
        return self.labels.take(np.arange(min(rows, len(self.labels))))

    def plan(self, fixed: NDArray[np.floating] | None = None) -> Plan:
        """Find what lowers the log loss of held-out rows.

        ``fixed`` is the evidence of the pairs that there are, (rows, classes, pairs); by default
        they are chosen.
        """
        thirds, ridges = self.of_thirds, ridges_of(self._first(ROWS), len(self.found.parts))
        alone = self.problem(None, rows=ROWS)
        lines = [run_of(replace(alone, joint=joint), *rows) for joint, *rows in thirds]
        best, products = descend(lines, ridges, solve_slopes), False
        before = best.loss
        multiplied = [
            run_of(
                replace(self.problem(self.products(rest, joint), rows=ROWS), joint=joint),
                rest,
                third,
            )
            for joint, rest, third in thirds
        ]
        runs, more = lines, descend(multiplied, ridges, solve_slopes, best.loss - WORTH)
        if more.ridge is not None:
            runs, best, products = multiplied, more, True
        ridge = best.ridge or ridges[0]
        with_pairs = []
        for run, of, (_, rest, third) in zip(runs, best.found, thirds, strict=True):
            if fixed is None:
                evidence = self._evidence(run.rest.posterior(of), rest, third)
            else:
                evidence = fixed[rest], fixed[third]
            with_pairs.append(
                Run(
                    replace(run.rest, evidence=evidence[0]),
                    replace(run.third, evidence=evidence[1]),
                    Solution(of.slope, np.zeros(evidence[0].shape[2])),
                )
            )
        pairs = Descent(None, best.loss, [])
        if any(run.start.weight.size for run in with_pairs):
            pairs = descend(
                with_pairs,
                RIDGES_OF_PAIRS,
                lambda problem, of, start: solve(problem, ridge, of, start),
                best.loss - WORTH,
            )
        after = best.loss if pairs.ridge is None else pairs.loss
        rows = sum(float(run.third.labels.weights.sum()) for run in runs)
        return Plan(best.ridge, products, pairs.ridge, before / rows, after / rows)

    def _evidence(
        self, p: Floats, rest: NDArray[np.int64], third: NDArray[np.int64]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Choose and count pairs on the rows that are not held out; return the evidence of both."""
        counted = self.crossed.take(rest)
        pairs = counted.best(p)
        return counted.evidence(pairs), counted.evidence_of(self.crossed.take(third), pairs)

    def pairs(self, plan: Plan) -> tuple[list[Interaction], Solution | None]:
        """Choose the pairs that are worth counting, by all rows of the sample.

        They are counted on all rows, and worth it if they have a weight on the first ``ROWS``.
        With them is returned where a search on all rows may begin.
        """
        if plan.of_pairs is None:
            return [], None
        problem, ridge = self._whole(plan, ROWS), plan.ridge or self._strongest
        found = solve_slopes(problem, ridge, Solution.nothing(problem))
        best = self.crossed.best(problem.posterior(found))
        problem = replace(problem, evidence=self.crossed.evidence(best, ROWS))
        start = Solution(found.slope, np.zeros(len(best)))
        found = solve(problem, ridge, plan.of_pairs, start)
        worth = found.weight > NEGLIGIBLE
        pairs = [self.crossed.interaction(pair) for pair, w in zip(best, worth, strict=True) if w]
        return pairs, Solution(found.slope, found.weight[worth])

    @cached_property
    def _products(self) -> Products:
        """The products that are chosen on all rows."""
        return self.products()

    def _whole(self, plan: Plan, rows: int | None = None) -> Problem:
        """Return what slopes may add to all rows, or to the first."""
        products = self._products if plan.products else None
        return self.problem(products, slopes=plan.ridge is not None, rows=rows)

    def of_pairs(self, model: Model) -> NDArray[np.floating]:
        """Return the leave-one-out evidence of a model's pairs, (rows, classes, pairs)."""
        groups = [group for group in model.taken.schema.groups if group.is_interaction]
        if not groups:
            return np.zeros((*self.joint.shape, 0), np.float32)
        held, once = [Held(batch) for batch in self.batches], None
        if self.learned:
            labels = Labels.join([of.labels for of in self.batches])
            once = OneOfEach.of(labels, np.concatenate([of.times for of in self.batches]))
        (n, k), pairs = self.joint.shape, sum(len(model.taken.parts[of.key].keys) for of in groups)
        by_class = np.empty((k, pairs, n), np.float32)
        at = iter(range(pairs))
        for group in groups:
            event, tally = group.event, model.taken.counts[group.key]
            assert isinstance(event, Lift)
            m = event.pretend(event.estimate)
            for column, count in zip(tally.axis.columns, counts_of(tally), strict=True):
                code = np.concatenate([column.codes(of) for of in held])
                by_class[:, next(at)] = evidence_by(count, code, once, m)
        return by_class.transpose(2, 0, 1)

    def weights(
        self,
        plan: Plan,
        model: Model,
        evidence: NDArray[np.floating],
        start: Solution | None = None,
    ) -> Weights:
        """Fit slopes and weights of pairs on all rows, as planned.

        ``model`` is the model with the pairs counted, ``evidence`` that of its pairs, and ``start``
        where the search begins; by default at nothing.
        """
        problem = replace(self._whole(plan), evidence=None if plan.of_pairs is None else evidence)
        found = solve(
            problem,
            plan.ridge or self._strongest,
            plan.of_pairs or RIDGES_OF_PAIRS[0],
            start or Solution.nothing(problem),
            LAST_STEPS if start is None else STEPS,
        )
        names = [
            part
            for group in model.taken.schema.groups
            if group.is_interaction
            for part in model.taken.parts[group.key].keys
        ]
        weight = np.zeros(len(names)) if plan.of_pairs is None else found.weight
        k = len(self.column_weights.classes)
        of = {part: (float(w),) * k for part, w in zip(names, weight, strict=True)}
        linear = LinearPart()
        if plan.ridge is not None:
            products = self._products.terms() if plan.products else []
            own = self.shared.shape[1]
            slope = np.vstack([self.basis.of_terms(found.slope[:own]), found.slope[own:]])
            linear = linear_part_of(slope, self.basis.terms, products, plan.ridge)
        return replace(self.column_weights, of={**self.column_weights.of, **of}, linear=linear)


def _pieces(batch: Batch, model: Model) -> list[Batch]:
    """Return rows in several batches, if their leave-one-out table would take much memory."""
    most = max(1, CELLS // max(1, count_parts(model) * len(model.classes)))
    if len(batch) <= max(most, FEWEST):
        return [batch]
    return [
        batch.take(rows) for rows in np.array_split(np.arange(len(batch)), -(-len(batch) // most))
    ]
