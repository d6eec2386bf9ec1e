"""Columns of sampled rows as codes, whatever they hold: levels, bins of numbers, presence of words.

So that any two of them can be tested alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Derived, Name, title
from naively.counting.block import Sparse
from naively.counting.labels import Labels
from naively.evaluation.sample import Sample
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.schema.held import Held

LEVELS = 11  # of a column that have a code of their own; all others share one
FEWEST, MOST = 2, 8  # bins of a column of numbers in a class
IN_CELL = 5  # rows that a pair of bins has on average, as a chi-squared test needs
COLUMNS, WORDS = 100, 300  # of a table, and of a text, that pairs are made of
IN_TEXTS = 5  # texts that hold a word, and that do not, for it to be looked at
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Coded:
    """A column, or a word of a text, as codes: which of its values each row has.

    Parameters
    ----------
    name : str
        What it is called.
    roots : tuple of str or int
        The columns of the table that it follows from.
    codes : ndarray of shape (rows,)
        From 0; negative where a cell is missing.
    """

    name: str
    roots: tuple[object, ...]
    codes: NDArray[np.int64]


def coded_columns(model: Model, sample: Sample) -> tuple[list[Coded], list[str]]:
    """Return the columns and the words that are tested, and what is to be said of them."""
    batches = [model.recode(batch) for batch in sample.batches]
    held = [Held(batch) for batch in batches]
    found: list[Coded] = []
    bags: list[Coded] = []
    remarks = []
    for group in model.schema.of_columns:
        axis = model.counts[group.key].axis
        blocks = [batch.blocks[group.key] for batch in batches]
        matrices = [block for block in blocks if isinstance(block, Sparse)]
        if len(matrices) < len(blocks) or not blocks:
            found += [_of_column(held, name, sample.labels) for name in axis.columns]
        elif group.analyser is None or group.analyser.single_words:
            held_by = _commonest(matrices, sample.labels.weights, len(axis))
            of_table = "" if model.schema.width == 1 else "{}="
            for item, codes in held_by.items():
                column, level = axis.label(item)
                name = title(column) if level is None else f"{of_table.format(column)}{level}"
                bags.append(Coded(name, (column, level), codes))
            what = "columns" if group.analyser is None else f"words of {title(axis.columns[0])!r}"
            if len(held_by) < len(axis):
                remarks.append(
                    f"Of {len(axis):,} {what} the {len(held_by):,} that come in most rows were "
                    "looked at: whether each comes at all."
                )
    if len(found) > COLUMNS:
        remarks.append(f"Of {len(found):,} columns the {COLUMNS} that say most were looked at.")
        told = [_told(column.codes, sample.labels) for column in found]
        found = [found[j] for j in sorted(np.argsort(told)[::-1][:COLUMNS].tolist())]
    return found + bags, remarks


def _of_column(held: Sequence[Held], name: Name, labels: Labels) -> Coded:
    """Return a column as codes: its commonest levels, or bins of its numbers."""
    roots = name.roots if isinstance(name, Derived) else (name,)
    if not any(name in batch.coded for batch in held):
        numbers = np.concatenate([batch.number(name) for batch in held]).astype(np.float64)
        return Coded(title(name), roots, bins_by_class(numbers, labels))
    seen: Counter[Any] = Counter()
    for batch in held:
        seen.update(batch.count_levels(name))
    levels = tuple(level for level, _ in seen.most_common(LEVELS))
    codes = np.concatenate([batch.codes_of(name, levels) for batch in held])
    return Coded(title(name), roots, codes.astype(np.int64))


def bins_by_class(numbers: Floats, labels: Labels) -> NDArray[np.int64]:
    """Return the bin of each number among those of its class, (rows,); -1 where it is missing.

    The bins of a class hold about equally many rows, and are the fewer, the fewer rows it has. Bins
    of all classes together would not do: what two columns say alike within a class would be lost
    where a class lies within one bin.
    """
    codes = np.full(len(numbers), -1, np.int64)
    for c in range(labels.k):
        of = np.flatnonzero((labels.codes == c) & ~np.isnan(numbers))
        values, place = np.unique(numbers[of], return_inverse=True)
        weight = np.bincount(place, labels.weights[of], len(values))
        total = weight.sum()
        bins = int(np.clip(np.sqrt(total / IN_CELL), FEWEST, MOST))
        if len(values) <= bins:
            codes[of] = place
            continue
        begins = np.floor(bins * (np.cumsum(weight) - weight) / total * (1 + ROUNDING))
        codes[of] = np.unique(begins, return_inverse=True)[1][place]
    return codes


def _commonest(
    blocks: Sequence[Sparse], weights: Floats, width: int
) -> dict[int, NDArray[np.int64]]:
    """Return, of the words or columns that come in most rows, whether each row has it, (rows,).

    Equal rows are one row of the sample, which has their weight.
    """
    rows = [len(block) for block in blocks]
    cells = [block.entries() for block in blocks]
    first = np.cumsum(rows) - rows
    row = np.concatenate([at + start for (at, _, _), start in zip(cells, first, strict=True)])
    item = np.concatenate([items for _, items, _ in cells])
    there = np.concatenate([x for _, _, x in cells]) != 0
    row, item = row[there], item[there]
    missing = np.concatenate([block.missing for block in blocks])
    times = np.bincount(item, weights[row], minlength=width)
    fit = (times >= IN_TEXTS) & (times <= weights[~missing].sum() - IN_TEXTS)
    best = np.argsort(-np.where(fit, times, -1), kind="stable")[: min(WORDS, int(fit.sum()))]
    found = {}
    for one in np.sort(best).tolist():
        codes = np.where(missing, -1, 0).astype(np.int64)
        codes[row[item == one]] = 1
        found[one] = codes
    return found


def n_log_n(n: Floats) -> Floats:
    """Return n log n of counts, of their shape; 0 of 0."""
    return n * np.log(np.where(n > 0, n, 1.0))


def _told(codes: NDArray[np.int64], labels: Labels) -> float:
    """Return the mutual information of codes and classes, in nats."""
    there = codes >= 0
    both = np.zeros((int(codes.max(initial=0)) + 1, labels.k))
    np.add.at(both, (codes[there], labels.codes[there]), labels.weights[there])
    parts = (both, both.sum(axis=0), both.sum(axis=1), both.sum())
    of_both, of_class, of_code, of_all = (float(n_log_n(np.asarray(n)).sum()) for n in parts)
    return of_both - of_class - of_code + of_all
