"""The tally, an element of a commutative group: what was counted, added, subtracted, checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, islice
from operator import add, sub
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    CELL,
    DOCUMENT,
    LEVEL,
    PRESENT,
    SQUARE,
    VALUE,
    A,
    Axis,
    ByValue,
    Cells,
    Columns,
    Name,
    RowMap,
    Statistic,
    Words,
    title,
)
from naively.counting.block import BlockKey
from naively.counting.labels import LabelArray, union_classes
from naively.frozen import Frozen
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import AnySums, RepeatedSums, SparseSums, as_dense, as_sparse
from naively.messages import Shown
from naively.tabular import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# --- Tallies: what was counted. They form a commutative group: add, subtract, scale --------------
#
# A tally holds everything that was learned; parameters are derived from it when asked. Two tallies
# made apart are aligned by class label, column, level and word, so ``a + b`` is what would have
# been counted from the rows of both, ``a - b`` forgets, and ``a * 0.99`` decays.


SHOWN = 10  # classes that are printed
LEAST_ROWS, MOST_ROWS = 1e-100, 1e120  # of a class: fewer count as none; sums of more overflow


class BlockTally(Shown, Frozen, Generic[A]):
    """The sums of one block: for each statistic a table of axis rows × classes."""

    axis: A
    sums: Mapping[Statistic, AnySums]

    def __getitem__(self, statistic: Statistic) -> Sums:
        """Return the sums of a statistic with all their cells, even where most are 0."""
        sums = self.sums[statistic]
        return sums if isinstance(sums, Sums) else as_dense(sums)

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

    def scaled(
        self, factor: float | Floats, faded: NDArray[np.bool_], *, rounds: bool = False
    ) -> BlockTally[A]:
        """Multiply the sums; 0 is left of ``faded`` classes, (classes,), and of cells that fade."""
        # If it ``rounds``, the rounding errors of words go, which take as much memory as their
        # sums.
        rounds = rounds and isinstance(self.axis, Words)
        try:
            with np.errstate(over="raise"):
                found = self.map(
                    lambda sums: (
                        sums.rounded_times(factor)
                        if rounds and isinstance(sums, SparseSums)
                        else sums * factor
                    )
                )
        except FloatingPointError:
            raise ValueError(f"A sum times {factor} would be larger than any float.") from None
        return found.without(faded)

    def without(self, faded: NDArray[np.bool_]) -> BlockTally[A]:
        """Return 0 in place of the sums of classes, (classes,), and of cells, that have faded."""
        present, of = self.sums.get(PRESENT), None
        if isinstance(present, RepeatedSums):
            of = present.number
            faded = faded | (np.abs(present.different.high) < LEAST_ROWS)
        elif present is not None:
            faded = faded | (np.abs(present.high) < LEAST_ROWS)
        return self.map(lambda sums: sums.without(faded, of))

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
        axis, mine, theirs = self.axis.union(other.axis)
        a, found = self._move(axis, mine), {}
        for statistic, sums in a.sums.items():
            rows = None if statistic in axis.shared else theirs
            found[statistic] = _combined(sums, other.sums[statistic], operation, rows)
        return BlockTally(axis, found)

    def _move(self, axis: A, rows: RowMap) -> BlockTally[A]:
        if rows is None:
            return replace(self, axis=axis)
        moved = {
            s: sums if s in axis.shared else sums.place(rows, len(axis))
            for s, sums in self.sums.items()
        }
        return BlockTally(axis, moved)

    def pruned(self) -> BlockTally[A]:
        """Drop levels and words without counts, so that a forgotten one is as if never seen."""
        if not self.axis.grows:
            return self
        keep = self.axis.stays if self.axis.declared else np.zeros(len(self.axis), np.bool_)
        for statistic, sums in self.sums.items():
            if statistic not in self.axis.shared:
                keep |= sums.rows_there()
        return self if keep.all() else self._kept(keep)

    def _kept(self, keep: NDArray[np.bool_]) -> BlockTally[A]:
        """Return the tally of the axis rows where ``keep``, (rows,), is true."""
        tables = {s: t if s in self.axis.shared else t[keep] for s, t in self.sums.items()}
        return BlockTally(self.axis.select(keep), tables)

    def selected(self: BlockTally[Words]) -> BlockTally[Words]:
        """Return the tally of the words that are learned from."""
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
        return self if keep.all() else self._kept(keep)


class Tally(Shown, Frozen):
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
        # Unchecked, unlike ``lawful.forget``. Words go block by block, which takes less memory.
        return self.combine(other, sub, prunes=True).pruned()

    def combine(
        self, other: Tally, operation: Callable[[Any, Any], Any], *, prunes: bool = False
    ) -> Tally:
        """Apply an operation to the aligned sums of both tallies; only if it ``prunes`` words go.

        Levels and words without counts are dropped then, and no classes.
        """
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
            found = left.combine(right, operation)
            blocks[name] = found.pruned() if prunes else found
        weights = (t.weight.place(p, k) for t, p in ((self, mine), (other, theirs)))
        return Tally(classes, operation(*weights), blocks)

    def __neg__(self) -> Tally:
        return self * -1.0

    def __mul__(self, factor: float | Floats) -> Tally:
        """Scale all counts and sums, or those of each class by its own factor, (classes,).

        A class with fewer than ``LEAST_ROWS`` rows left has none.
        """
        return self.scaled(factor)

    def scaled(self, factor: float | Floats, *, rounds: bool = False) -> Tally:
        """Scale all counts and sums; if it ``rounds``, without the rounding errors of words."""
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
            {name: b.scaled(factor, faded, rounds=rounds) for name, b in self.blocks.items()},
        )

    __rmul__ = __mul__

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how many rows of each class were counted, of the most frequent ones."""
        return picture(self, ax)

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


def class_places(classes: LabelArray, among: LabelArray) -> RowMap:
    """Return the number of each class among others, (classes,); None if each has its own there."""
    place = {label: i for i, label in enumerate(among.tolist())}
    places = np.array([place[label] for label in classes.tolist()], np.int64)
    return None if len(places) == len(place) and (places == np.arange(len(place))).all() else places


def _combined(
    a: AnySums, b: AnySums, operation: Callable[[Any, Any], Any], rows: RowMap = None
) -> AnySums:
    """Apply an operation to two tables, of the second at ``rows``; if one is sparse, so is it."""
    if rows is not None and isinstance(a, Sums) and isinstance(b, Sums):  # all others stay
        some, at = np.unique(rows, return_inverse=True)
        return a.with_rows(some, operation(a[some], b.place(at, len(some))))
    b = b.place(rows, a.shape[0])
    if isinstance(a, RepeatedSums) != isinstance(b, RepeatedSums):
        a, b = as_dense(a), as_dense(b)
    if isinstance(b, SparseSums) and isinstance(a, Sums):
        a = SparseSums.of(a)
    found: AnySums = operation(a, b)
    return found


# --- The sum of many tallies, in a time that follows from their own sizes ------------------------
#
# ``a + b`` makes new tables, and for texts a new vocabulary, as large as the sum of both. The
# sum of a thousand tallies of texts has many times the words of each, so that adding them two by
# two would copy the words of all a thousand times. Here what is added goes into one vocabulary and
# one set of tables, which grow.


WAITING = 1 << 24  # bytes of tables that may wait to be added up
PARTS, LAST = 96, 64  # of tables that wait, from which the last are added up


@final
class Total:
    """A sum of tallies, to which one after the other is added.

    What it begins with stays as it is. If that is to be consumed, its words go on in the sum,
    which need not copy them, and it must not be asked for anything afterwards.
    """

    def __init__(self, first: Tally, *, consume: bool = False) -> None:
        self._classes, self._weight = first.classes, first.weight
        self._blocks: dict[BlockKey, BlockTally] = {}
        self._texts: dict[BlockKey, _Text] = {}
        for key, block in first.blocks.items():
            self._adopt(key, block, consume=consume)
        self._keys = [*first.blocks]  # in the order in which they came

    @classmethod
    def of(cls, tallies: Iterable[Tally], *, consume: bool = False) -> Tally:
        """Return the sum of one tally or more, equal to adding them by ``+``."""
        first, *more = islice(rest := iter(tallies), 2)
        if not more:
            return first
        total = cls(first, consume=consume)
        for tally in chain(more, rest):
            total.add(tally)
        return total.tally()

    def add(self, tally: Tally) -> None:
        """Add a tally; a block that there was none of is as if it had held nothing until now."""
        classes = union_classes(self._classes, tally.classes)
        k = len(classes)
        mine, theirs = (class_places(of, classes) for of in (self._classes, tally.classes))
        if mine is not None:
            self._blocks = {key: b.place_classes(mine, k) for key, b in self._blocks.items()}
            for text in self._texts.values():
                text.place_classes(mine, k)
        self._classes = classes
        self._weight = self._weight.place(mine, k) + tally.weight.place(theirs, k)
        for key, block in tally.blocks.items():
            placed = block.place_classes(theirs, k)
            if key in self._texts:
                self._texts[key].add(placed)
            elif key in self._blocks:
                self._blocks[key] += placed
            else:
                self._keys.append(key)
                self._adopt(key, placed)

    def tally(self) -> Tally:
        """Return the sum of what was added until now."""
        texts = {key: text.block() for key, text in self._texts.items()}
        blocks = {key: texts.get(key) or self._blocks[key] for key in self._keys}
        return Tally(self._classes, self._weight, blocks)

    def _adopt(self, key: BlockKey, block: BlockTally, *, consume: bool = False) -> None:
        if isinstance(block.axis, Words) and block.axis.grows:
            self._texts[key] = _Text(block, consume=consume)
        else:
            self._blocks[key] = block


# Where the words of a table stand in the whole vocabulary (None: where they stand in it), and it.
_Part: TypeAlias = "tuple[NDArray[np.int64] | None, AnySums]"


@final
class _Text:
    """What was counted of the words of a text, of which more can be added."""

    def __init__(self, block: BlockTally[Words], *, consume: bool = False) -> None:
        self._block, self._consume = block, consume
        # Nothing is copied before there is something to add, nor what was handed out changed.
        self._lent = True
        self._parts: dict[Statistic, list[_Part]] = {}

    def block(self) -> BlockTally[Words]:
        """Return what was counted until now."""
        if not self._lent:
            axis = self._block.axis.grown(self._vocabulary)
            sums = {
                s: self._added(s, self._parts[s], len(self._vocabulary), later=True)
                for s in self._parts
            }
            self._block = BlockTally(axis, sums)
            self._lent = True
        return self._block

    def place_classes(self, places: NDArray[np.int64], k: int) -> None:
        """Let class i be number ``places[i]`` of k from now on."""
        if self._lent:
            self._block = self._block.place_classes(places, k)
        else:
            self._parts = {
                statistic: [(rows, sums.place_classes(places, k)) for rows, sums in parts]
                for statistic, parts in self._parts.items()
            }

    def add(self, other: BlockTally[Words]) -> None:
        """Add what was counted of other texts."""
        axis = self._block.axis
        axis.check_counted_alike(other.axis)
        if self._lent:
            self._vocabulary, self._owns = axis.vocabulary, self._consume
            self._consume = False
            self._parts = {  # the parts of a sum that nobody has asked for yet, or the sum
                s: [*sums.parts] if isinstance(sums, SparseSums) else [(None, sums)]
                for s, sums in self._block.sums.items()
            }
            self._lent = False
        rows = None
        if other.axis.number is None and other.axis.goes_on_from(self._vocabulary):
            self._vocabulary, self._owns = other.axis.listed, False
        else:
            if not self._owns:
                self._vocabulary, self._owns = self._vocabulary.copy(), True
            rows = self._vocabulary.join(other.axis.vocabulary)
        for statistic, parts in self._parts.items():
            parts.append((rows, other.sums[statistic]))
            n = len(self._vocabulary)
            # As many numbers wait as were added up: each is added up a few times, on average.
            if max(2 * parts[0][1].nbytes, WAITING) < sum(sums.nbytes for _, sums in parts):
                self._parts[statistic] = [(None, self._added(statistic, parts, n))]
            elif len(parts) > PARTS:
                last = self._added(statistic, parts[-LAST:], n)
                self._parts[statistic] = [*parts[:-LAST], (None, last)]

    def _added(
        self, statistic: Statistic, parts: Sequence[_Part], n: int, *, later: bool = False
    ) -> AnySums:
        """Return the sum of parts of a statistic, of n words; added up later, if so asked."""
        if statistic in self._block.axis.shared:
            return reduce(add, [sums for _, sums in parts])
        sparse = [(place, as_sparse(sums)) for place, sums in parts]
        if later:
            return SparseSums.later(sparse, n)
        return SparseSums.sum_of([sums for _, sums in sparse], n, [place for place, _ in sparse])


# --- Rules that every tally of rows obeys: no count is below zero or above the number of rows ----
#
# Where a rule is broken after rows were forgotten, some of them were never learned. The converse
# is not true: sums do not tell which cells stood together, so a row that was never learned may be
# forgotten unnoticed if each of its cells is also in some row that was.


ROUNDING = 1e-9  # of what was subtracted: numbers 1e11 times as large may have come and gone
DOUBLE_DOUBLE = 2.0**-104  # of a sum, that is rounding
SHARE, LEAST_SUM = 1e-6, 1e-12  # of what is left, or for each cell, that rounding may be
# What rounding may leave of counts that were merged, forgotten and decayed.
RELATIVE, ABSOLUTE = 1e-9, 1e-6
ROOT = 1.35e154  # a larger number has an infinite square

Place = tuple[int, int]  # the row of a table of sums, and the class
Broken = tuple[Place | None, int, str]  # the first place where it is, rows of the table, the rule


def forget(tally: Tally, other: Tally, times: Collection[BlockKey] = ()) -> Tally:
    """Return the tally of the rows that are left when those of ``other`` are forgotten."""
    # It is a ValueError if some of them were never learned, or are so large that nothing is known
    # of those that are left. A message shows the numbers of blocks of ``times`` as times.
    left = tally.combine(other, sub)
    size = _of_columns(tally).combine(_of_columns(other), add)
    # A difference of counts or squares, none of which is below 0, is rounding if it is small beside
    # the sums of both tallies added up, of blocks of numbers.
    rows = left.weight.high
    where = _first(left, lambda name, of: _broken(of, size.blocks.get(name), rows), times)
    if where is not None:
        raise ValueError(f"Cannot forget rows that were not learned: {where}.")
    lost = _first(left, lambda name, block: _lost(block, size.blocks.get(name)))
    if lost is not None:
        raise ValueError(
            f"Cannot forget these rows exactly: {lost}, beside which the others are rounding; fit "
            "the others again."
        )
    # Where a class has no rows any more, what is left of its sums is rounding.
    none = left.weight.high == 0
    blocks = {name: block.without(none) for name, block in left.blocks.items()}
    return replace(left, blocks=blocks).pruned()


def _of_columns(tally: Tally) -> Tally:
    """Return the tally of the blocks of numbers: those whose axis rows are columns."""
    blocks = {name: b for name, b in tally.blocks.items() if isinstance(b.axis, Columns)}
    return replace(tally, blocks=blocks)


def impossible(tally: Tally, shares: Collection[BlockKey] = ()) -> str | None:
    """Return why no rows can have made a tally, or None; ``shares`` are blocks of 0 to 1."""
    below = _first(tally, lambda _, block: _too_few(block, {}))
    if below is not None:
        return below
    classes, rows = tally.classes.tolist(), tally.class_count
    for key, block in tally.blocks.items():
        present = _present(block)
        if present is not None and (
            above := _first_place(present, _above(_numbers(present), rows))
        ):
            name = title(block.axis.columns[above[0]])
            return f"column {name!r} has more cells than rows in {classes[above[1]]!r}"
        if SQUARE in block.sums:
            most = ROOT * np.maximum(block[PRESENT].high, 1.0)
            if (large := np.abs(block[VALUE].high) > most).any():
                name = title(block.axis.columns[np.argwhere(large)[0][0]])
                return f"numbers of column {name!r} have no squares"
        if key in shares:
            value, there = (block.sums[s] for s in (VALUE, PRESENT))
            if above := _first_place(value, _above(_numbers(value), _beside(value, there))):
                name = title(block.axis.label(above[0])[0])
                wrong = classes[above[1]]
                return f"more cells of column {name!r} are true than there are in {wrong!r}"
    return None


def _present(block: BlockTally) -> AnySums | None:
    """Return how many cells of each column were counted, (columns, classes); None: not known."""
    if PRESENT in block.sums:
        return block.sums[PRESENT]
    if isinstance(block.axis, ByValue):
        return Sums(block.axis.sum_by_column(block[block.axis.statistic].high))
    return None


def _numbers(sums: AnySums) -> Floats:
    """Return the numbers that a table holds, of those that are equal or 0 only some."""
    match sums:
        case SparseSums():
            return sums.stored.high
        case RepeatedSums():
            return sums.different.high
        case _:
            return sums.high


def _beside(sums: AnySums, other: AnySums) -> Floats:
    """Return the numbers of another table in the places of ``_numbers`` of this one."""
    # If the other table has one row, it stands for all rows.
    match sums:
        case SparseSums():
            return other.at(sums.row, sums.classes)
        case RepeatedSums():
            row = np.unique(sums.number, return_index=True)[1]
            return other.rows(row).high
        case _:
            return as_dense(other).high


def _first_place(sums: AnySums, flags: NDArray[np.bool_]) -> Place | None:
    """Return the first row and class of which ``flags``, in the form of ``_numbers``, are true."""
    if not flags.any():
        return None
    if isinstance(sums, SparseSums):
        cell = int(np.argmax(flags))
        return int(np.searchsorted(sums.first, cell, side="right")) - 1, int(sums.classes[cell])
    of_row: NDArray[np.bool_] = np.any(flags, axis=1)
    if isinstance(sums, RepeatedSums):
        place = int(np.argmax(of_row[sums.number]))
        return place, int(np.argmax(flags[sums.number[place]]))
    row = int(np.argmax(of_row))
    return row, int(np.argmax(flags[row]))


def _above(part: Floats, whole: Floats) -> NDArray[np.bool_]:
    return np.asarray(part > whole * (1 + RELATIVE) + ABSOLUTE)


def _first(
    tally: Tally,
    rules: Callable[[BlockKey, BlockTally], Iterator[Broken]],
    times: Collection[BlockKey] = (),
) -> str | None:
    """Return the first broken rule, with its column and class, or None if none is broken."""
    classes = tally.classes.tolist()
    below = np.flatnonzero(tally.weight.high < 0)
    if len(below):
        left = tally.weight.high[below[0]]
        return f"too few in class {classes[below[0]]!r}, of which {left:,.10g} would be left"
    for name, block in tally.blocks.items():
        for place, height, what in rules(name, block):
            if place is not None:
                where = _where(block, place[0], height, of_times=name in times)
                return f"{what} in {where}, class {classes[place[1]]!r}"
    return None


def _rule(sums: AnySums, broken: NDArray[np.bool_], rule: str) -> Broken:
    return _first_place(sums, broken), sums.shape[0], rule


def _too_few(block: BlockTally, rounding: dict[Statistic, Floats]) -> Iterator[Broken]:
    """Yield where counts are below zero by more than their rounding."""
    # Values may be negative where their squares are counted too; else they are counts.
    of_counts = (PRESENT, LEVEL, CELL, DOCUMENT, SQUARE if SQUARE in block.sums else VALUE)
    for statistic in of_counts:
        if statistic in block.sums:
            sums = block.sums[statistic]
            yield _rule(sums, _numbers(sums) < -rounding.get(statistic, 0.0), "too few")


def _broken(block: BlockTally, size: BlockTally | None, rows: Floats) -> Iterator[Broken]:
    """Yield where a block breaks each rule, given the rows of each class, (classes,)."""
    rounding = _rounding(block, size)
    yield from _too_few(block, rounding)
    most = rows * (1 + ROUNDING)
    present = _present(block)
    if present is not None:
        yield _rule(present, _numbers(present) > most, "more cells than rows")
    if PRESENT not in block.sums:
        return
    if SQUARE in block.sums:
        too_little = _spread(block) < -rounding[SQUARE]
        yield _rule(block[SQUARE], too_little, "squares less than their sum allows")
    for statistic in (VALUE, SQUARE):
        if statistic in block.sums:
            sums = block.sums[statistic]
            more = np.abs(_numbers(sums)) > rounding.get(statistic, 0.0)
            nowhere = _beside(sums, block.sums[PRESENT]) <= 0
            yield _rule(sums, nowhere & more, "values of no cell")


def _lost(block: BlockTally, size: BlockTally | None) -> Iterator[Broken]:
    """Yield where what is left of sums of numbers is no more than the rounding of larger ones."""
    if size is None or PRESENT not in block.sums:
        return
    statistic = SQUARE if SQUARE in block.sums else VALUE
    sums = block.sums[statistic]
    there = _beside(sums, block.sums[PRESENT])
    known = LEAST_SUM * np.maximum(there, 0.0)
    if statistic is SQUARE:
        known = np.maximum(known, np.maximum(_spread(block) * SHARE, LEAST_SUM * sums.high))
    else:
        known = np.maximum(known, np.abs(_numbers(sums)) * SHARE)
    rounded = DOUBLE_DOUBLE * _beside(sums, size.sums[statistic]) > known
    yield _rule(sums, rounded & (there > 0), "numbers that are far too large")


def _rounding(block: BlockTally, size: BlockTally | None) -> dict[Statistic, Floats]:
    """Return how much of each sum may be rounding, in the form of ``_numbers`` of what is left."""
    if size is None:
        return {}
    if SQUARE not in size.sums:
        return {VALUE: ROUNDING * _beside(block.sums[VALUE], size.sums[VALUE])}
    square, n = size[SQUARE].high, size[PRESENT].high
    return {VALUE: ROUNDING * np.sqrt(square) * np.sqrt(n), SQUARE: ROUNDING * square}


def _spread(block: BlockTally) -> Floats:
    """Return squared distances from the mean, summed, (columns, classes); rows make it ≥ 0."""
    n, value, square = (block[s] for s in (PRESENT, VALUE, SQUARE))
    there = n.high > 0
    mean = value / Sums(np.where(there, n.high, 1.0), np.where(there, n.low, 0.0))
    return np.where(there, (square - mean * value).high, 0.0)


def _where(block: BlockTally, row: int, rows: int, *, of_times: bool) -> str:
    """Name a row of a table: a row of the axis, or a column if the table has fewer rows."""
    axis = block.axis
    if rows < len(axis) and not isinstance(axis, Columns):
        return f"column {title(axis.columns[row])!r}"
    name, level = axis.label(row)
    if isinstance(axis, Cells):
        low, high = axis.low[row].item(), axis.high[row].item()
        ends = [str(np.datetime64(round(x), "s")) if of_times else repr(x) for x in (low, high)]
        level = ends[0] if low == high else f"numbers from {ends[0]} to {ends[1]}"
        return f"column {title(name)!r}, {level}"
    return f"column {title(name)!r}" + ("" if level is None else f", {level!r}")
