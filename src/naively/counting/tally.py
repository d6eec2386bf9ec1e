"""Tallies: what was counted. They form a commutative group: add, subtract, scale.

A tally holds everything that was learned; parameters are derived from it when asked. Two tallies
made apart are aligned by class label, column, level and word, so ``a + b`` is what would have been
counted from the rows of both, ``a - b`` forgets, and ``a * 0.99`` decays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import add, sub
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import A, Axis, RowMap, Words
from naively.counting.block import Block, BlockKey, Codes, Dense, Sparse
from naively.counting.cells import as_cells
from naively.counting.documents import Documents
from naively.counting.labels import LabelArray, Labels, union_classes
from naively.counting.names import Name, title
from naively.counting.statistic import CELL, DOCUMENT, LEVEL, PRESENT, SQUARE, VALUE, Statistic
from naively.kernels import dispatch
from naively.kernels.cells import CAP
from naively.kernels.double_double import Sums
from naively.kernels.repeated_sums import RepeatedSums
from naively.kernels.scatter import scatter
from naively.kernels.sparse_sums import AnySums, SparseSums, as_dense
from naively.messages import Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 10  # classes that are printed
LEAST_ROWS, MOST_ROWS = 1e-100, 1e120  # of a class: fewer count as none; sums of more overflow
FEW_CLASSES = 30  # of a sparse matrix: with more, the table of its sums is sparse too
LARGEST = 1e300  # a larger sum cannot be scaled, split and multiplied


@dataclass(frozen=True, eq=False, repr=False)
class BlockTally(Shown, Generic[A]):
    """The sums of one block: for each statistic a table of axis rows × classes."""

    axis: A
    sums: Mapping[Statistic, AnySums]

    def __getitem__(self, statistic: Statistic) -> Sums:
        """Return the sums of a statistic with all their cells, even where most are 0."""
        return as_dense(self.sums[statistic])

    def __str__(self) -> str:
        of = f"{len(self.axis):,} {type(self.axis).__name__.lower()}"
        classes = max((sums.shape[-1] for sums in self.sums.values()), default=0)
        counted = ", ".join(statistic.value for statistic in self.sums)
        size = sum(sums.nbytes for sums in self.sums.values())
        return f"{of} × {classes:,} classes: {counted} ({size:,} bytes)"

    @property
    def recorded(self) -> NDArray[np.bool_]:
        """Which columns some row has a value in, of shape (rows,), or (1,) of a text."""
        present = self.sums[PRESENT]
        if isinstance(present, RepeatedSums):
            there: NDArray[np.bool_] = np.any(present.different.high > 0, axis=1)
            return there[present.number]
        return np.asarray(np.any(as_dense(present).high > 0, axis=1))

    def map(self, function: Callable[[AnySums], AnySums]) -> BlockTally[A]:
        """Apply a function to each table."""
        return replace(self, sums={s: function(sums) for s, sums in self.sums.items()})

    def scaled(self, factor: float, faded: NDArray[np.bool_]) -> BlockTally[A]:
        """Multiply the sums; 0 is left of ``faded`` classes, (classes,), and of cells that fade."""
        present, of = self.sums.get(PRESENT), None
        if isinstance(present, RepeatedSums):
            of = present.number
            faded = faded | (np.abs(present.different.high * factor) < LEAST_ROWS)
        elif present is not None:
            faded = faded | (np.abs(present.high * factor) < LEAST_ROWS)
        try:
            with np.errstate(over="raise"):
                return self.map(lambda sums: (sums * factor).without(faded, of))
        except FloatingPointError:
            raise ValueError(f"A sum times {factor} would be larger than any float.") from None

    def of(self, columns: Collection[Name]) -> BlockTally[A]:
        """Return the tally of some of the columns."""
        if len(columns) == len(self.axis.columns):
            return self
        axis, rows = self.axis.of(columns)
        return BlockTally(axis, {s: sums[rows] for s, sums in self.sums.items()})

    def place_classes(self, places: RowMap, k: int) -> BlockTally[A]:
        """Return the tally with k classes, class i moved to ``places[i]``."""
        return self.map(lambda sums: sums.place_classes(places, k))

    def align(self, other: BlockTally[A]) -> tuple[BlockTally[A], BlockTally[A]]:
        """Return both tallies on the union of their axes; their classes must be the same."""
        axis, mine, theirs = self.axis.union(other.axis)
        return self._move(axis, mine), other._move(axis, theirs)

    def __add__(self, other: BlockTally[A]) -> BlockTally[A]:
        return self.combine(other, add)

    def combine(self, other: BlockTally[A], operation: Callable[[Any, Any], Any]) -> BlockTally[A]:
        """Apply an operation to each pair of tables; the classes must be the same."""
        a, b = self.align(other)
        return BlockTally(a.axis, {s: _combined(a.sums[s], b.sums[s], operation) for s in a.sums})

    def _move(self, axis: A, rows: RowMap) -> BlockTally[A]:
        if rows is None:
            return replace(self, axis=axis)
        moved = {
            s: sums.place(rows, len(axis)) if axis.per_row(s) else sums
            for s, sums in self.sums.items()
        }
        return BlockTally(axis, moved)

    def pruned(self) -> BlockTally[A]:
        """Drop levels and words without counts, so that a forgotten one is as if never seen."""
        if not self.axis.grows:
            return self
        keep = self.axis.stays
        for statistic, sums in self.sums.items():
            if self.axis.per_row(statistic):
                keep |= sums.rows_there()
        return self._kept(keep)

    def _kept(self, keep: NDArray[np.bool_]) -> BlockTally[A]:
        """Return the tally of the axis rows where ``keep``, (rows,), is true."""
        if keep.all():
            return self
        tables = {s: t[keep] if self.axis.per_row(s) else t for s, t in self.sums.items()}
        return BlockTally(self.axis.select(keep), tables)

    def selected(self) -> BlockTally[A]:
        """Return the tally of the words that are learned from; other blocks are returned whole."""
        if not isinstance(self.axis, Words) or not self.axis.analyser.selects:
            return self
        analyser = self.axis.analyser
        times = self.sums[VALUE].by_row()
        keep = np.ones(len(times), np.bool_)
        if analyser.counts_documents:
            documents = self.sums.get(DOCUMENT, self.sums[VALUE]).by_row()
            all_documents = float(self[PRESENT].high.sum())
            least, most = (
                limit * all_documents if isinstance(limit, float) else limit
                for limit in (analyser.min_df, analyser.max_df)
            )
            keep = (documents >= least) & (documents <= most)
        if analyser.max_features is not None and keep.sum() > analyser.max_features:
            cut = np.sort(times[keep])[-analyser.max_features]
            equal = np.flatnonzero(keep & (times == cut)).tolist()
            keep &= times > cut
            words = self.axis.words  # of equally frequent words the alphabetically first are kept
            equal.sort(key=words.__getitem__)
            keep[equal[: analyser.max_features - int(keep.sum())]] = True
        return self._kept(keep)


@dataclass(frozen=True, eq=False, repr=False)
class Tally(Shown):
    """Sufficient statistics of labelled rows, an element of a commutative group.

    Parameters
    ----------
    classes : ndarray of shape (classes,)
        The class labels, sorted.
    weight : Sums of shape (classes,)
        How many rows of each class were counted (the sum of their weights).
    blocks : mapping of hashable to BlockTally
        The sums of each block of columns, by its key: two blocks are added if their keys are equal.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> a = NaiveBayes().fit([[1.0], [3.0], [8.0]], ["low", "low", "high"]).tally_
    >>> (a + a - a).class_count
    array([1., 2.])
    """

    classes: LabelArray
    weight: Sums
    blocks: Mapping[BlockKey, BlockTally]

    @property
    def axes(self) -> dict[BlockKey, Axis]:
        """The axis of each block."""
        return {key: block.axis for key, block in self.blocks.items()}

    @property
    def class_count(self) -> NDArray[np.float64]:
        """How many rows of each class were counted (the sum of their weights), (classes,)."""
        return self.weight.high

    def __str__(self) -> str:
        rows = zip(self.classes.tolist(), self.class_count.tolist(), strict=True)
        by_class = [f"{count:,.10g} of {label!r}" for label, count in islice(rows, SHOWN)]
        more = [f"{len(self.classes) - SHOWN:,} classes more"] * (len(self.classes) > SHOWN)
        lines = [f"{self.class_count.sum():,.10g} rows: {', '.join(by_class + more)}"]
        return "\n".join(lines + [f"{name}: {block}" for name, block in self.blocks.items()])

    def __add__(self, other: Tally) -> Tally:
        return self.combine(other, add)

    def __sub__(self, other: Tally) -> Tally:
        return self.combine(other, sub).pruned()  # unchecked, unlike ``lawful.forget``

    def combine(self, other: Tally, operation: Callable[[Any, Any], Any]) -> Tally:
        """Apply an operation to the aligned sums of both tallies; nothing is pruned."""
        classes = union_classes(self.classes, other.classes)
        k = len(classes)
        mine, theirs = (class_places(t.classes, classes) for t in (self, other))
        blocks = {}
        for name in dict.fromkeys([*self.blocks, *other.blocks]):
            left, right = (
                tally.blocks[name].place_classes(places, k) if name in tally.blocks else None
                for tally, places in ((self, mine), (other, theirs))
            )
            if left is None:
                assert right is not None
                left = right.map(lambda sums: sums * 0.0)
            elif right is None:
                right = left.map(lambda sums: sums * 0.0)
            blocks[name] = left.combine(right, operation)
        weights = (t.weight.place(p, k) for t, p in ((self, mine), (other, theirs)))
        return Tally(classes, operation(*weights), blocks)

    def __neg__(self) -> Tally:
        return self * -1.0

    def __mul__(self, factor: float) -> Tally:
        """Scale all counts and sums; a class with fewer than ``LEAST_ROWS`` rows left has none."""
        weight = self.weight * factor
        if weight.high.max(initial=0.0) > MOST_ROWS:
            raise ValueError(
                f"Counts times {factor} would be more than {MOST_ROWS:g} rows of a class, so that "
                "sums overflow."
            )
        faded = np.abs(weight.high) < LEAST_ROWS
        return Tally(
            self.classes,
            weight.without(faded),
            {name: b.scaled(factor, faded) for name, b in self.blocks.items()},
        )

    __rmul__ = __mul__

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how many rows of each class were counted, of the most frequent ones."""
        from naively.pictures.tallies import draw_tally

        return draw_tally(self.classes.tolist(), self.class_count, SHOWN, ax)

    def pruned(self) -> Tally:
        """Drop classes, levels and words without counts."""
        blocks = {name: block.pruned() for name, block in self.blocks.items()}
        keep = self.weight.high != 0
        for block in blocks.values():
            for sums in block.sums.values():
                if not keep.all():
                    keep = keep | sums.classes_there()
        if keep.all():
            return Tally(self.classes, self.weight, blocks)
        return Tally(
            self.classes[keep],
            self.weight[keep],
            {name: b.map(lambda sums: sums[:, keep]) for name, b in blocks.items()},
        )


def count_classes(labels: Labels) -> Sums:
    """Return the total weight of each class, of shape (classes,)."""
    if labels.weight is None:
        known = labels.rows_of
        return Sums(np.bincount(labels.codes, minlength=labels.k) if known is None else known)
    cell = labels.codes.astype(np.int64)
    return Sums(*scatter(cell, np.ones(len(cell)), labels.weight, (1, labels.k)))[0]


def count(block: Block, statistics: Sequence[Statistic], labels: Labels) -> BlockTally:
    """Count a block's statistics by class: ``Yᵀ · s(X)``; nothing is pruned."""
    y, w, k = labels.codes, labels.weight, labels.k
    tables: dict[Statistic, AnySums]
    axis: Axis = block.axis
    if isinstance(block, Dense) and CELL in statistics:
        *found, sums = dispatch.tally_cells(block.values, y, w, k, CAP)
        axis, tables = as_cells(block.axis.columns, *found), {CELL: Sums(*sums)}
    elif isinstance(block, Dense):
        present, value, square = dispatch.tally_dense(block.values, y, w, k)
        tables = {PRESENT: Sums(*present), VALUE: Sums(*value), SQUARE: Sums(*square)}
        _refuse_infinite(block, tables[VALUE], "infinite values")
        if SQUARE in statistics:
            what = "values whose squares overflow"
            _refuse_infinite(block, tables[SQUARE], what)
            with np.errstate(over="ignore"):  # of rows that weigh little, only the mean does
                n = np.where(tables[PRESENT].high > 0, tables[PRESENT].high, 1.0)
                _refuse_infinite(block, Sums(tables[SQUARE].high / n), what)
    elif isinstance(block, Documents):
        return _count_sparse(block.grown(), statistics, labels)
    elif isinstance(block, Sparse):
        return _count_sparse(block, statistics, labels)
    elif isinstance(block, Codes):
        rows = block.codes, block.axis.first
        tables = {LEVEL: Sums(*dispatch.tally_codes(*rows, y, w, k, block.complete))}
    else:
        raise TypeError(f"cannot count a {type(block).__name__}")
    return BlockTally(axis, {s: tables[s] for s in statistics})


def _count_sparse(block: Sparse, statistics: Sequence[Statistic], labels: Labels) -> BlockTally:
    """Count what is stored of a sparse matrix, or the words of texts."""
    axis, k = block.axis, labels.k

    def by_class(data: NDArray[np.number] | None) -> AnySums:
        rows = labels.codes, labels.weight, k, len(axis)
        indptr, indices = block.indptr, block.indices
        if isinstance(axis, Words) or k > FEW_CLASSES:
            x = None if data is None else np.asarray(data, np.float64)
            if block.complete and x is not None and not np.isfinite(x).all():
                raise ValueError("A cell is missing or infinite.")
            number = indices.astype(np.int32, copy=False)
            first, classes, high, low = dispatch.tally_sparse(indptr, number, x, *rows)
            return SparseSums(first, classes, Sums(high, low), k)
        return Sums(*dispatch.tally_csr(indptr, indices, block.data, *rows, block.complete))

    tables: dict[Statistic, AnySums] = {VALUE: by_class(None if block.presence else block.data)}
    if isinstance(axis, Words):
        if axis.analyser.counts_documents and not block.presence:
            tables[DOCUMENT] = by_class(None)
            statistics = (*statistics, DOCUMENT)
        tables[PRESENT] = _count_present(block, labels)
    else:
        _refuse_infinite(block, tables[VALUE], "infinite or missing values")
        tables[PRESENT] = RepeatedSums.of_row(count_classes(labels), len(axis))
    return BlockTally(axis, {s: tables[s] for s in statistics})


def _count_present(block: Sparse | Documents, labels: Labels) -> Sums:
    """Return the weight of the texts of each class that are not missing, of shape (1, classes)."""
    return count_classes(labels.take(np.flatnonzero(~block.missing)))[None]


def _refuse_infinite(block: Dense | Sparse, sums: AnySums, what: str) -> None:
    high = sums.stored.high if isinstance(sums, SparseSums) else sums.high
    if high.max(initial=0.0) <= LARGEST and high.min(initial=0.0) >= -LARGEST:
        return
    large = ~(np.abs(high) <= LARGEST)
    row = int((sums.row[large] if isinstance(sums, SparseSums) else np.nonzero(large)[0])[0])
    name = title(block.axis.columns[row])
    if np.isfinite(sums.rows(np.array([row])).high).all():
        raise ValueError(f"Column {name!r} holds numbers whose sums overflow; scale it.")
    raise ValueError(
        f"Column {name!r} holds {what}; numbers must be finite (leave a missing cell empty)."
    )


def class_places(classes: LabelArray, among: LabelArray) -> RowMap:
    """Return the number of each class among others, (classes,); None if each has its own there."""
    place = {label: i for i, label in enumerate(among.tolist())}
    places = np.array([place[label] for label in classes.tolist()], np.int64)
    return None if len(places) == len(place) and (places == np.arange(len(place))).all() else places


def _combined(a: AnySums, b: AnySums, operation: Callable[[Any, Any], Any]) -> AnySums:
    """Apply an operation to two tables; if one is sparse, so is the result."""
    if isinstance(a, RepeatedSums) != isinstance(b, RepeatedSums):
        a, b = as_dense(a), as_dense(b)
    if isinstance(b, SparseSums) and isinstance(a, Sums):
        a = SparseSums.of(a)
    found: AnySums = operation(a, b)
    return found
