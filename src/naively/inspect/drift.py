"""What has moved: each column, the class prior and the loss, over time or against new rows.

Rows are put into groups: blocks of time, or those learned and new ones. Of each column follow the
shares of its levels, or of common bins of its numbers, in each group; their divergence is that of
Jensen and Shannon, each group weighing the same. Of finite rows it is above 0 by chance alone. How
probable as much is of groups that are alike, chi-squared says, for as many lines (Holm).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.assess.dependence import commonest, commonest_levels
from naively.assess.folds import Predicted
from naively.assess.refits import check_folds, in_blocks
from naively.counting.axis import Name, roots_of, title
from naively.counting.block import Batch, Sparse
from naively.counting.labels import Labels, union_classes
from naively.fitting.sample import Sample
from naively.fitting.weights import hits_and_losses
from naively.inspect.difference import Interval, end_of
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.schema.encode import Held
from naively.tabular import Drawn

# --- How far shares of cells are apart between groups of rows, and what chance makes of it --------


OUTSIDE = 0.05  # share of pairs of equal tables of which something is said to have moved
LEAST = 8.0  # rows that are expected in a cell of the smallest group, for a chi-squared test
BINS = 10  # of a column of numbers, about equally full
MISSING = "(missing)"


def jensen_shannon(share: Floats) -> float:
    """Return the divergence of distributions, (groups, cells), that weigh the same, in nats."""
    return max(0.0, _entropy(share.mean(axis=0)) - float(np.mean([_entropy(p) for p in share])))


def _entropy(p: Floats) -> float:
    return float(-(p * np.log(np.where(p > 0, p, 1.0))).sum())


def by_chance(rows: Floats, cells: int) -> tuple[float, float]:
    """Return the mean and the standard deviation of the divergence of groups that are alike."""
    # rows (groups,): how many rows each group has; cells: how many cells have any. To second order
    # the divergence is the sum over cells of the variance of their shares between groups, over
    # twice their mean, and quadratic in deviations of variance p (1 - p) / rows. Of two groups it
    # is (cells - 1) / 8 (1/n + 1/m) on average.
    groups = len(rows)
    centre = np.eye(groups) - 1 / groups
    form = centre @ np.diag(1 / rows) @ centre
    mean = (cells - 1) / (2 * groups) * np.trace(form)
    variance = 2 * (cells - 1) * np.trace(form @ form) / (2 * groups) ** 2
    return float(mean), float(np.sqrt(variance))


def holm(p: Floats) -> Floats:
    """Return p-values, (tests,), for as many tests: of no effect any is below p once in 1 / p."""
    order, found = np.argsort(p), np.empty(len(p))
    times = np.arange(len(p), 0, -1)
    found[order] = np.minimum(np.maximum.accumulate(p[order] * times), 1.0)
    return found


class Apart(NamedTuple):
    """How far groups of rows are apart in their shares of some cells."""

    divergence: float
    chance: float
    noise: float
    p: float
    cell: int
    before: float
    after: float

    @classmethod
    def of(cls, table: Floats, square: Floats, *, missing: bool) -> Apart:
        """Compare the weights of rows, and the sums of their squares, both (groups, cells)."""
        # Missing cells, the last if ``missing``, are tested by themselves; the others by
        # chi-squared, rare ones together, and each rare one alone. The least p is for as many tests
        # (Bonferroni).
        cells, last = np.flatnonzero(table.sum(axis=0)).tolist(), table.shape[1] - 1
        rows = _rows(table, square, [[j] for j in cells])
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
        chance = by_chance(rows.sum(axis=1), len(cells))
        tests: list[tuple[float, int]] = []  # p, and the cell; -1 of all

        def test(*parts: list[int]) -> float:
            return _chance_of(_rows(table, square, parts))

        if missing and cells[-1:] == [last]:
            cells.pop()
            tests.append((test(cells, [last]), last))
        of = _rows(table, square, [[j] for j in cells])
        need = LEAST * of.sum() / max(of.sum(axis=1).min(initial=np.inf), 1e-300)
        each = dict(zip(cells, of.sum(axis=0).tolist(), strict=True))
        rare = [j for j in cells if each[j] < need] if len(cells) > 2 else []
        together, enough = [[j] for j in cells if j not in rare], True
        for j in rare:  # neighbours, until they are enough
            together = [*together, []] if enough else together
            together[-1].append(j)
            enough = sum(each[i] for i in together[-1]) >= need
        if not enough and len(together) > 1:
            together[-2:] = [together[-2] + together[-1]]
        if len(cells) > 1:
            tests.append((test(*together), -1))
            alone = [(test([i for i in cells if i != j], [j]), j) for j in rare]
            tests += [(p * len(alone), j) for p, j in [min(alone, default=(np.inf, -1))]]
        p, cell = min(tests, default=(1.0, -1))
        if cell < 0:
            cell = int(np.abs(share[-1] - share[0]).argmax())
        p = min(1.0, p * max(1, sum(p < np.inf for p, _ in tests)))
        return cls(jensen_shannon(share), *chance, p, cell, *share[[0, -1], cell].tolist())


def _rows(table: Floats, square: Floats, parts: Sequence[list[int]]) -> Floats:
    """Return how many independent rows are in each part of the cells, (groups, parts)."""
    # Rows that weigh more than others are fewer, by how much the weights differ in each part (Rao &
    # Scott, The analysis of categorical data from complex sample surveys, 1981).
    table, square = (
        np.stack([of[:, part].sum(axis=1) for part in parts] or [of[:, :0].sum(axis=1)], 1)
        for of in (table, square)
    )
    there = table.sum(axis=1) > 0
    table, square = table[there], square[there]
    total, rows = table.sum(axis=1), table.sum(axis=1) ** 2 / square.sum(axis=1)
    if len(parts) > 1:
        pooled = rows @ (table / total[:, None]) / rows.sum()
        mean = np.repeat((total / rows)[:, None], len(parts), axis=1)
        weight = np.divide(square, table, out=mean, where=table > 0)
        rows = (len(parts) - 1) * total / (weight @ (1 - pooled))
    found: Floats = table * (rows / total)[:, None]
    return found


def _chance_of(rows: Floats) -> float:
    """Return the p-value of counts, (groups, cells), of groups that are alike."""
    # That of Pearson's chi-squared; of two cells about that of the hypergeometric distribution
    # (Wise, 1954), for both sides of each group.
    from scipy.special import betainc, gammaincc

    of_group, of_cell, n = rows.sum(axis=1), rows.sum(axis=0), rows.sum()
    if min(rows.shape) < 2 or (of_cell <= 0).any():
        return 1.0
    if rows.shape[1] > 2:
        expected = np.outer(of_group, of_cell) / n
        freedom = (len(of_group) - 1) * (len(of_cell) - 1)
        return float(gammaincc(freedom / 2, ((rows - expected) ** 2 / expected).sum() / 2))
    # As few in a group as there are, of either cell: as many of one are as few of the other.
    low, high = np.minimum(of_group[:, None], of_cell), np.maximum(of_group[:, None], of_cell)
    share = np.clip((high - rows / 2) / (n - (low - 1) / 2), 0.0, 1.0)
    p = betainc(np.maximum(low - rows, 1e-9), rows + 1, 1 - share)
    least = float(np.where(rows >= low, 1.0, p).min())
    return min(1.0, 2 * least * (len(rows) if len(rows) > 2 else 1))


LEVELS = 30  # of a column that have a cell of their own; all others share one
OTHERS = "(others)"
FOLDS = 10  # in which learned rows are taken out, so that none is scored by itself
NEARLY_0, FEW = 1e-300, 1.5  # rows, of which no variance is known

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Drawn):
    """How far the loss, the class prior and each column have moved, the loss first, then the most.

    Parameters
    ----------
    what : list of {"log loss", "class prior", "column"}
        What a line is of.
    column : list of str or None
        The column, or a word of a text.
    divergence : ndarray of shape (lines,)
        Between the groups of rows, in nats (Jensen-Shannon, each group weighing the same). Of the
        log loss it is how much it grew from the first group to the last, in nats per row.
    chance : ndarray of shape (lines,)
        What chance alone makes of it on average.
    noise : ndarray of shape (lines,)
        The standard deviation of that; of the log loss, its standard error.
    item : list
        The level or bin whose share moved most, or (missing) where that says most; None of the log
        loss.
    before, after : ndarray of shape (lines,)
        That share in the first group and in the last; or the log loss in them.
    p : ndarray of shape (lines,)
        How probable any line is to move as much by chance, if nothing has moved (Holm).
    between : str
        What the groups are.
    """

    what: list[str]
    column: list[str | None]
    divergence: Floats
    chance: Floats
    noise: Floats
    item: list[Any]
    before: Floats
    after: Floats
    p: Floats
    between: str

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Whether each line moved beyond chance, (lines,)."""
        return self.p < OUTSIDE

    TABLE = ("what", "column", "divergence", "chance", "noise", "p", "item", "before", "after")

    def __str__(self) -> str:
        """Return how many columns moved beyond chance, and the table."""
        of = [i for i, what in enumerate(self.what) if what == "column"]
        columns = "column" if len(of) == 1 else "columns"
        said = f"{int(self.moved[of].sum())} of {len(of):,} {columns} moved beyond chance"
        return f"{self.between}: {said} (p < {OUTSIDE:g}).\n{super().__str__()}"


def drift(
    model: Model,
    sample: Sample,
    new: Batch | None,
    by: Name | None,
    blocks: int = 10,
    *,
    labelled: bool = True,
    held_out: Predicted | None = None,
) -> Drift:
    """Return what has moved (see ``nb.inspect.drift``)."""
    labels = sample.labels.standing_for(model.counted.tally.class_count)
    batches, counts = sample.batches, labels.weights
    if new is None:
        by = _column_of_time(model, by)
        moments = _numbers([Held(model.recode(batch)) for batch in batches], by)
        group, between = _over_time(moments, blocks, by)
        there = np.flatnonzero(group >= 0)
        loss = _loss_over(model, sample, group)
        ends = [np.flatnonzero(group == g) for g in (0, int(group.max()))]
        losses = [(loss[of], counts[of]) for of in ends]
    else:
        classes = union_classes(labels.classes, new.labels.classes)  # new ones move the prior
        labels = Labels.join([labels.among(classes), new.labels.among(classes)])
        counts = np.append(counts, new.labels.weights)
        batches = [*batches, new]
        group = np.repeat([0, 1], [len(sample.labels), len(new)])
        between = f"{len(new):,} new rows against {len(sample):,} that were learned"
        there = np.arange(len(group))
        if labelled:
            p = model.score(model.recode(new), "posterior")
            of_new = hits_and_losses(p, model.classes, new.labels)[1], new.labels.weights
            if held_out is None:
                folds = np.arange(len(sample.labels)) % FOLDS
                known = _loss_over(model, sample, folds), counts[: len(folds)]
            else:
                of = held_out.labels
                known = hits_and_losses(held_out.p, model.classes, of)[1], of.weights
            losses = [known, of_new]
    held = [Held(model.recode(batch)) for batch in batches]
    as_read = [Held(batch) for batch in batches]  # with levels that were never learned
    copies = np.concatenate([batch.times for batch in batches])[there]
    group, labels, weight = group[there], labels.take(there), (counts[there], copies)
    lines: list[Moved] = []
    if labelled:
        codes, names = labels.codes.astype(np.int64), labels.classes.tolist()
        lines.append(Moved.of("class prior", None, codes, names, group, *weight))
    counts = np.concatenate([batch.labels.weights for batch in batches])
    for name, codes, items in _columns(model, held, as_read, counts, by):
        lines.append(Moved.of("column", name, codes[there], items, group, *weight))
    lines.sort(key=lambda line: line.chance - line.divergence)
    if labelled:
        lines.insert(0, Moved.of_loss(losses))
    numbers = ("divergence", "chance", "noise", "before", "after", "p")
    table = {name: np.array([getattr(line, name) for line in lines], float) for name in numbers}
    table["p"] = holm(table["p"])
    what, column, item = ([getattr(x, name) for x in lines] for name in ("what", "column", "item"))
    return Drift(what=what, column=column, item=item, between=between, **table)


# --- One line: the divergence of the shares of some cells between groups -------------------------


@dataclass(frozen=True)
class Moved:
    """One line of the table (see ``Drift``)."""

    what: str
    column: str | None
    divergence: float
    chance: float
    noise: float
    item: Any
    before: float
    after: float
    p: float

    @classmethod
    def of(
        cls,
        what: str,
        column: str | None,
        codes: Codes,
        items: Sequence[Any],
        group: Codes,
        weight: Floats,
        copies: Codes,
    ) -> Moved:
        """Compare the cells of rows, (rows,), each of a group, a weight, and so many copies."""
        shape = int(group.max()) + 1, len(items)
        at = group * shape[1] + codes
        table, square = (
            np.asarray(np.bincount(at, of, shape[0] * shape[1]), np.float64).reshape(shape)
            for of in (weight, weight * weight / copies)
        )
        far = Apart.of(table, square, missing=column is not None)
        ends = items[far.cell], far.before, far.after
        return cls(what, column, far.divergence, far.chance, far.noise, *ends, far.p)

    @classmethod
    def of_loss(cls, losses: Sequence[tuple[Floats, Floats]]) -> Moved:
        """Compare the losses of rows, and their weights, before and after: Welch's t."""
        # The losses of either vary as those of both do, at least: a few rows may lack a great one.
        from scipy.special import betainc

        share = [weight / weight.sum() for _, weight in losses]
        mean = [float(of @ loss) for of, (loss, _) in zip(share, losses, strict=True)]
        rows = np.array([1 / (of @ of) for of in share])
        own = np.array(
            [of @ (x - m) ** 2 for of, (x, _), m in zip(share, losses, mean, strict=True)]
        )
        error = np.maximum(own, rows @ own / rows.sum()) / np.maximum(rows - 1, NEARLY_0)
        noise = float(np.sqrt(error.sum()))
        grown, p = mean[1] - mean[0], 1.0
        if noise > 0 and rows.min() > FEW:
            freedom = noise**4 / (error**2 @ (1 / (rows - 1)))
            p = float(betainc(freedom / 2, 0.5, freedom / (freedom + (grown / noise) ** 2)))
        return cls("log loss", None, grown, 0.0, noise, None, mean[0], mean[1], p)


# --- Groups of rows, and what they lose ----------------------------------------------------------


def _column_of_time(model: Model, by: Name | None) -> Name:
    """Return the learned column that orders rows, or raise a ValueError that says which could."""
    schema = model.view.schema
    times = [name for name in schema.order if name in schema.times]
    if by is None:
        if len(times) != 1:
            there = f"there are {len(times)} ({', '.join(map(repr, times))})" if times else "none"
            raise ValueError(
                f"Rows are put in order by a column of times, of which {there}: name one with by=, "
                "or give new rows to compare with."
            )
        return times[0]
    known = list(schema.order)
    if by not in known:
        raise ValueError(f"There is no column {by!r}; learned were {', '.join(map(repr, known))}.")
    return by


def _over_time(moments: Floats, blocks: int, by: Name) -> tuple[Codes, str]:
    """Return the block of each row, -1 where it has no time, and what the blocks are."""
    there = ~np.isnan(moments)
    different = len(np.unique(moments[there]))
    if different < 2:
        raise ValueError(f"Column {by!r} has {different} different numbers or times: no order.")
    blocks = min(check_folds(blocks, "blocks"), different)
    group = np.full(len(moments), -1, np.int64)
    group[there] = in_blocks(moments[there], blocks, repr(by))
    return group, f"{int(there.sum()):,} learned rows in {blocks} blocks of {title(by)!r}"


def _loss_over(model: Model, sample: Sample, group: Codes) -> Floats:
    """Return the log loss of each row by the model without the counts of its group, (rows,)."""
    # Weights stay. A row of group -1 has the loss 0.
    loss = np.zeros(len(group))
    dealt = np.where(group[:, None] == np.arange(int(group.max()) + 1), sample.copies[:, None], 0)
    for fold in sample.held_out(model, dealt):
        p = fold.out.posterior(fold.model.with_classes(model.classes))
        loss[fold.row] = hits_and_losses(p, model.classes, fold.out.labels)[1]
    return loss


# --- Columns as cells that are common to all rows ------------------------------------------------


def _columns(
    model: Model, held: Sequence[Held], as_read: Sequence[Held], weight: Floats, by: Name | None
) -> list[tuple[str, Codes, list[Any]]]:
    """Return each column, (rows,) of cells, and what its cells are; of texts each common word."""
    found: list[tuple[str, Codes, list[Any]]] = []
    timed = model.view.schema.times
    for group in model.view.schema.of_columns:
        axis = model.view.counts[group.key].axis
        blocks = [of.blocks.get(group.key) for of in held]
        matrices = [block for block in blocks if isinstance(block, Sparse)]
        if len(matrices) == len(blocks) > 0:
            if group.analyser is not None and not group.analyser.single_words:
                continue  # n-grams say what words do
            for item, codes in commonest(matrices, weight, len(axis)).items():
                name, level = axis.label(item)
                said = title(name) if level is None else f"{title(name)}={level}"
                found.append((said, np.where(codes < 0, 2, codes), [False, True, MISSING]))
            continue
        found += [
            (title(name), *_cells(held, as_read, name, timed=name in timed))
            for name in axis.columns
            if by not in roots_of(name)
        ]
    return found


def _cells(
    held: Sequence[Held], as_read: Sequence[Held], name: Name, *, timed: bool
) -> tuple[Codes, list[Any]]:
    """Return the cell of each row of a column, and what the cells are."""
    if any(name in of.coded for of in held):
        held = as_read if all(name in of.coded for of in as_read) else held
        levels, codes = commonest_levels(held, name, LEVELS)
        codes[codes < 0] = len(levels) + 1
        return codes, [*levels, OTHERS, MISSING]
    return _binned(_numbers(held, name), timed=timed)


def _numbers(held: Sequence[Held], name: Name) -> Floats:
    """Return a column of numbers, or times in seconds, (rows,); NaN where a cell is missing."""
    if any(name in of.coded for of in held):
        raise ValueError(f"Column {name!r} has levels, which are in no order: name another.")
    return np.concatenate([of.number(name) for of in held]).astype(np.float64)


def _binned(numbers: Floats, *, timed: bool) -> tuple[Codes, list[Any]]:
    """Return the bin of each number, and the bins: values where there are few."""
    there = ~np.isnan(numbers)
    codes = np.zeros(len(numbers), np.int64)
    values, place, rows = np.unique(numbers[there], return_inverse=True, return_counts=True)
    if len(values) <= BINS:
        codes[there], items = place, [end_of(x, timed=timed) for x in values.tolist()]
    else:
        inner = np.quantile(numbers[there], np.arange(1, BINS) / BINS, method="higher")
        often = np.flatnonzero(rows[:-1] > len(place) / BINS)  # a bin of its own
        edges = np.unique(np.concatenate([values[:1], inner, values[often], values[often + 1]]))
        codes[there] = np.searchsorted(edges, numbers[there], side="right") - 1
        ends = [end_of(x, timed=timed) for x in [*edges.tolist(), values[-1]]]
        pairs = list(pairwise(ends))
        items = [Interval.of(*both, last=i == len(pairs) - 1) for i, both in enumerate(pairs)]
    codes[~there] = len(items)
    return codes, [*items, MISSING]
