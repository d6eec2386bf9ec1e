"""Which columns depend on each other, given the class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Level, Name, roots_of, title
from naively.counting.block import Sparse
from naively.counting.labels import Labels
from naively.fitting.reservoir import Reservoir
from naively.fitting.sample import Sample
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.schema.encode import Held
from naively.tabular import Drawn

# --- The naive Bayes assumption tested: which columns depend on each other, given the class ------
#
# Conditional mutual information of two columns given the class is 0 where the assumption holds
# (Chow & Liu, Approximating discrete probability distributions with dependence trees, 1968;
# Friedman, Geiger & Goldszmidt, Bayesian network classifiers, 1997). On n rows it is a little more
# by chance: 2 n times it has about a chi-squared distribution (the G-test, Sokal & Rohlf,
# Biometry).


LEVEL = 0.05  # of significance, for all pairs together


class Dependence(Drawn):
    """How much pairs of columns say about each other, given the class; strongest first.

    Parameters
    ----------
    a, b : list of str
        The columns of each pair, or words of a text.
    mutual_information : ndarray of shape (pairs,)
        Conditional mutual information given the class, in nats, on a sample of the learned rows.
    expected : ndarray of shape (pairs,)
        What chance alone makes of it on average where the columns are independent.
    p_value : ndarray of shape (pairs,)
        How probable as much or more is by chance (the G-test).
    rows : ndarray of shape (pairs,)
        How many rows have both values.
    pairs, dependent : int
        How many pairs were tested, and how many of them depend on each other more than chance.
    remarks : tuple of str
        What else is to be said, as which columns were looked at.
    given_class : bool
        Whether it is given the class; else the information is that of all rows together.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import NaiveBayes
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> table = {"cm": x[:, 0], "inch": x[:, 0] / 2.54, "age": x[:, 1]}
    >>> found = NaiveBayes("gaussian").fit(table, x[:, 1] > 0).inspect.dependence()
    >>> found.dependent, found.pairs, found.a[0], found.b[0]
    (1, 3, 'cm', 'inch')
    """

    a: list[str]
    b: list[str]
    mutual_information: Floats
    expected: Floats
    p_value: Floats
    rows: Floats
    pairs: int
    dependent: int
    remarks: tuple[str, ...] = field(default=())
    given_class: bool = True

    TABLE = ("a", "b", "mutual_information", "expected", "p_value", "rows")

    def __str__(self) -> str:
        if not self.pairs:
            lines = ["There is no pair of columns to test."]
        else:
            pairs = f"{self.dependent:,} of {self.pairs:,} pairs depend on each other"
            chance = f"(p < {LEVEL} / {self.pairs:,})"
            given = "given the class" if self.given_class else "whatever the class"
            lines = [f"{pairs} more than chance, {given} {chance}."]
        lines += self.remarks
        return "\n".join([*lines, super().__str__()] if self.a else lines)


def dependence(
    model: Model, learned: Reservoir, n: int = 20, *, given_class: bool = True
) -> Dependence:
    """Return which pairs of columns depend on each other (see ``nb.inspect.dependence``)."""
    if n < 1:
        raise ValueError(f"n must be a number of pairs that is at least 1, got {n}.")
    sample = learned.of(model)
    labels = sample.labels
    if not given_class:  # all rows are of one class
        labels = Labels(np.zeros_like(labels.codes), labels.classes[:1], labels.weight)
    columns, remarks = coded_columns(model, sample, labels)
    if len(sample) < learned.seen:
        remarks.insert(0, f"It is of a sample of {len(sample):,} of {learned.seen:,} learned rows.")
    sought = None if model.weights is None else model.weights.sought
    if sought is not None and sought.why_none:
        remarks.append(f"interactions='auto' chose none: {sought.why_none}.")
    every = [column.codes for column in columns]
    codes = np.stack(every, axis=1) if every else np.empty((len(labels), 0), np.int64)
    found = pairwise_information(codes, labels.codes, labels.weights, len(labels.classes))
    first, second = _pairs(columns)
    information, freedom, rows = (table[first, second] for table in found)
    p = p_values(information, freedom, rows)
    expected = np.divide(freedom, 2 * rows, out=np.zeros_like(rows), where=rows > 0)
    order = np.argsort(expected - information, kind="stable")[:n]
    return Dependence(
        [columns[of].name for of in first[order].tolist()],
        [columns[of].name for of in second[order].tolist()],
        information[order],
        expected[order],
        p[order],
        rows[order],
        pairs=len(first),
        dependent=int((p < LEVEL / max(len(first), 1)).sum()),
        remarks=tuple(remarks),
        given_class=given_class,
    )


def _pairs(columns: list[Coded]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of columns, without pairs of a time and its own parts, each (pairs,)."""
    i, j = np.triu_indices(len(columns), 1)
    own: dict[tuple[object, ...], int] = {}
    of = np.array([own.setdefault(column.roots, len(own)) for column in columns], np.int64)
    apart = of[i] != of[j]
    return i[apart], j[apart]


def pairwise_information(
    codes: NDArray[np.int64], label: NDArray[np.integer], weight: Floats, k: int
) -> tuple[Floats, Floats, Floats]:
    """Return the mutual information of all pairs of columns given the label."""
    d = codes.shape[1]
    sizes = np.maximum(codes.max(axis=0, initial=0) + 1, 1)
    first = np.cumsum(sizes) - sizes
    information, freedom, rows = np.zeros((3, d, d))
    for c in range(k if d else 0):
        of = label == c
        row, column = np.nonzero(codes[of] >= 0)
        holds = np.zeros((int(of.sum()), int(sizes.sum())))
        holds[row, first[column] + codes[of][row, column]] = 1.0
        both = holds.T @ (weight[of, None] * holds)  # how often two values meet
        alone = np.add.reduceat(both, first, axis=1)  # (values, columns)
        total = np.add.reduceat(alone, first, axis=0)
        of_both = np.add.reduceat(np.add.reduceat(n_log_n(both), first, axis=1), first, axis=0)
        of_one = np.add.reduceat(n_log_n(alone), first, axis=0)
        information += of_both - of_one - of_one.T + n_log_n(total)
        seen = np.maximum(np.add.reduceat((alone > 0).astype(np.float64), first, axis=0) - 1, 0)
        freedom += seen * seen.T
        rows += total
    information = np.divide(information, rows, out=np.zeros_like(rows), where=rows > 0)
    return np.maximum(information, 0.0), freedom, rows


def p_values(information: Floats, freedom: Floats, rows: Floats) -> Floats:
    """Return how probable so much mutual information or more is by chance, of its shape."""
    from scipy.special import chdtrc

    p = chdtrc(np.maximum(freedom, 1.0), 2 * rows * information)
    return np.where(freedom > 0, p, 1.0)


# --- Columns as codes, whatever they hold: levels, bins of numbers, presence of words ------------
#
# So that any two of them can be tested alike.


LEVELS = 11  # of a column that have a code of their own; all others share one
FEWEST, MOST = 2, 8  # bins of a column of numbers in a class
IN_CELL = 5  # rows that a pair of bins has on average, as a chi-squared test needs
COLUMNS, WORDS = 100, 300  # of a table, and of a text, that pairs are made of
IN_TEXTS = 5  # texts that hold a word, and that do not, for it to be looked at
ROUNDING = 1e-9


class Coded(Frozen):
    """A column, or a word of a text, as codes: which of its values each row has."""

    name: str
    roots: tuple[object, ...]  # the columns of the table that it follows from
    codes: NDArray[np.int64]  # (rows,): from 0; negative where a cell is missing


def coded_columns(model: Model, sample: Sample, labels: Labels) -> tuple[list[Coded], list[str]]:
    """Return the columns and the words that are tested, and what is to be said of them."""
    batches = [model.recode(batch).split() for batch in sample.batches]
    held = [Held(batch) for batch in batches]
    found: list[Coded] = []
    bags: list[Coded] = []
    remarks = []
    for group in model.view.schema.of_columns:
        axis = model.view.counts[group.key].axis
        blocks = [batch.blocks[group.key] for batch in batches]
        matrices = [block for block in blocks if isinstance(block, Sparse)]
        if len(matrices) < len(blocks) or not blocks:
            found += [_of_column(held, name, labels) for name in axis.columns]
        elif group.analyser is None or group.analyser.single_words:
            held_by = commonest(matrices, sample.labels.weights, len(axis))
            of_table = "" if model.view.schema.width == 1 else "{}="
            for item, codes in held_by.items():
                column, level = axis.label(item)
                name = title(column) if level is None else f"{of_table.format(column)}{level}"
                bags.append(Coded(name, (column, level), codes))
            what = "columns" if group.analyser is None else f"words of {title(axis.columns[0])!r}"
            if len(held_by) < len(axis):
                remarks.append(
                    f"Only the {len(held_by):,} of {len(axis):,} {what} that come in most rows "
                    "were looked at: whether each comes at all."
                )
    if len(found) > COLUMNS:
        remarks.append(f"{COLUMNS} of {len(found):,} columns were looked at: those that say most.")
        told = [_told(column.codes, sample.labels) for column in found]
        found = [found[j] for j in sorted(np.argsort(told)[::-1][:COLUMNS].tolist())]
    return found + bags, remarks


def _of_column(held: Sequence[Held], name: Name, labels: Labels) -> Coded:
    """Return a column as codes: its commonest levels, or bins of its numbers."""
    roots = roots_of(name)
    if not any(name in batch.coded for batch in held):
        numbers = np.concatenate([batch.number(name) for batch in held]).astype(np.float64)
        return Coded(title(name), roots, bins_by_class(numbers, labels))
    return Coded(title(name), roots, commonest_levels(held, name, LEVELS)[1])


def commonest_levels(
    held: Sequence[Held], name: Name, n: int
) -> tuple[tuple[Level, ...], NDArray[np.int64]]:
    """Return the n levels of a column that most rows have, and the code of each row, (rows,)."""
    seen: Counter[Level] = Counter()
    for of in held:
        seen.update(of.count_levels(name))
    levels = tuple(level for level, _ in seen.most_common(n))
    return levels, np.concatenate([of.codes_of(name, levels) for of in held]).astype(np.int64)


def bins_by_class(numbers: Floats, labels: Labels) -> NDArray[np.int64]:
    """Return the bin of each number among those of its class, (rows,); -1 where it is missing."""
    # The bins of a class hold about equally many rows, and are the fewer, the fewer rows it has.
    # Bins of all classes together would not do: what two columns have in common within a class
    # would be lost where a class lies within one bin.
    codes = np.full(len(numbers), -1, np.int64)
    for c in range(len(labels.classes)):
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


def commonest(
    blocks: Sequence[Sparse], weights: Floats, width: int
) -> dict[int, NDArray[np.int64]]:
    """Return, of the words or columns that come in most rows, whether each row has it, (rows,)."""
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
    found = {one: np.where(missing, -1, 0).astype(np.int64) for one in np.sort(best).tolist()}
    for one, codes in found.items():
        codes[row[item == one]] = 1
    return found


def n_log_n(n: Floats) -> Floats:
    """Return n log n of counts, of their shape; 0 of 0."""
    return n * np.log(np.where(n > 0, n, 1.0))


def _told(codes: NDArray[np.int64], labels: Labels) -> float:
    """Return the mutual information of codes and classes, in nats."""
    there = codes >= 0
    both = np.zeros((int(codes.max(initial=0)) + 1, len(labels.classes)))
    np.add.at(both, (codes[there], labels.codes[there]), labels.weights[there])
    parts = (both, both.sum(axis=0), both.sum(axis=1), both.sum())
    of_both, of_class, of_code, of_all = (float(n_log_n(np.asarray(n)).sum()) for n in parts)
    return of_both - of_class - of_code + of_all
