"""What has moved: each column, the class prior and the loss, over time or against new rows.

Rows are put into groups: blocks of time, or those learned and new ones. For each column follow the
shares of its levels, or of common bins of its numbers, in each group; their divergence is that of
Jensen and Shannon, each group weighing the same. With finite rows it is above 0 by chance alone.
How probable as much is of groups that are alike, chi-squared says, for as many lines (Holm).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

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
from naively.frozen import Frozen
from naively.inspect.difference import BINS, MISSING, OUTSIDE, Apart, Interval, end_of, holm
from naively.kernels.reference import Floats
from naively.messages import many
from naively.model.model import Model
from naively.schema.encode import Held
from naively.tabular import Drawn

LEVELS = 30  # of a column that have a cell of their own; all others share one
OTHERS = "(others)"
FOLDS = 10  # in which learned rows are taken out, so that none is scored by itself
NEARLY_0, FEW = 1e-300, 1.5  # rows, of which no variance is known

Codes = NDArray[np.int64]


class Drift(Drawn):
    """How far the loss, the class prior and each column have moved, the loss first, then the most.

    Parameters
    ----------
    what : list of {"log loss", "class prior", "column"}
        What a line is of.
    column : list of str or None
        The column, or a word of a text.
    divergence : ndarray of shape (lines,)
        Between the groups of rows, in nats (Jensen-Shannon, each group weighing the same). For the
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
        said = f"{int(self.moved[of].sum())} of {many(len(of), 'column')} moved beyond chance"
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
    held = [Held(model.recode(batch).split()) for batch in batches]
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


class Moved(Frozen, eq=True):
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
    # Weights stay, but for rows that were seen before. A row of group -1 has the loss 0.
    if model.weights is not None:
        model = replace(model, weights=replace(model.weights, seen=None))
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
