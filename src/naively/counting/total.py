"""The sum of many tallies, in a time that follows from their own sizes.

``a + b`` makes new tables, and for texts a new vocabulary, as large as the sum of both. Of a
thousand tallies of texts the sum has many times the words of each, so that adding them two by two
would copy the words of all a thousand times. Here what is added goes into one vocabulary and one
set of tables, which grow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Words
from naively.counting.block import BlockKey
from naively.counting.labels import union_classes
from naively.counting.tally import BlockTally, Tally, class_places
from naively.kernels.double_double import Floats, Sums, two_sum

GROWTH = 1.5  # how much longer a table is made when it is full


@final
class Total:
    """A sum of tallies, to which one after the other is added.

    Parameters
    ----------
    first : Tally
        What it begins with, which stays as it is.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> texts = ["one two", "two three", "three four"]
    >>> a, b, c = (NaiveBayes(weights=None).fit([t], ["x"]).tally_ for t in texts)
    >>> total = Total(a)
    >>> total.add(b)
    >>> total.add(c)
    >>> [len(block.axis) for block in total.tally().blocks.values()]
    [4]
    """

    def __init__(self, first: Tally) -> None:
        self._classes, self._weight = first.classes, first.weight
        self._blocks: dict[BlockKey, BlockTally] = {}
        self._texts: dict[BlockKey, _Text] = {}
        for key, block in first.blocks.items():
            self._adopt(key, block)
        self._keys = [*first.blocks]  # in the order in which they came

    @classmethod
    def of(cls, tallies: Iterable[Tally]) -> Tally:
        """Return the sum of one tally or more, equal to adding them by ``+``."""
        rest = iter(tallies)
        total = cls(next(rest))
        for tally in rest:
            total.add(tally)
        return total.tally()

    def add(self, tally: Tally) -> None:
        """Add a tally; a block that there was none of is as if it had held nothing until now."""
        classes = union_classes(self._classes, tally.classes)
        k = len(classes)
        mine, theirs = (class_places(of, classes) for of in (self._classes, tally.classes))
        if mine is not None:
            self._blocks = {key: b.place_classes(mine, k) for key, b in self._blocks.items()}
            for key, text in self._texts.items():
                self._texts[key] = _Text(text.block().place_classes(mine, k))
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

    def _adopt(self, key: BlockKey, block: BlockTally) -> None:
        if isinstance(block.axis, Words) and block.axis.grows:
            self._texts[key] = _Text(block)
        else:
            self._blocks[key] = block


@final
class _Text:
    """What was counted of the words of a text, in tables with room for more of them."""

    def __init__(self, block: BlockTally[Words]) -> None:
        self._block = block
        # Nothing is copied before there is something to add, nor what was handed out changed.
        self._lent = True

    def block(self) -> BlockTally[Words]:
        """Return what was counted until now."""
        if not self._lent:
            n = len(self._vocabulary)
            by_word = {statistic: rows.sums(n) for statistic, rows in self._rows.items()}
            axis = self._block.axis.grown(self._vocabulary)
            self._block = BlockTally(axis, {s: by_word.get(s, t) for s, t in self._whole.items()})
            self._lent = True
        return self._block

    def add(self, other: BlockTally[Words]) -> None:
        """Add what was counted of other texts."""
        axis = self._block.axis
        axis.check_counted_alike(other.axis)
        if self._lent:
            self._vocabulary = axis.vocabulary.copy()
            self._whole = dict(self._block.sums)
            self._rows = {s: _Rows(t) for s, t in self._whole.items() if axis.per_row(s)}
            self._lent = False
        rows = self._vocabulary.join(other.axis.vocabulary)
        for statistic, table in self._whole.items():
            if statistic in self._rows:
                self._rows[statistic].add(rows, other[statistic], len(self._vocabulary))
            else:
                self._whole[statistic] = table + other[statistic]


@final
class _Rows:
    """A table of sums, rows × classes, that is added to by row and has room for more rows."""

    def __init__(self, sums: Sums) -> None:
        self._high = sums.high.copy()
        self._low = sums.low.copy() if sums.low.any() else None  # None: all are exact

    def sums(self, n: int) -> Sums:
        """Return the first n rows."""
        high = self._high[:n]
        return Sums(high) if self._low is None else Sums(high, self._low[:n])

    def add(self, rows: NDArray[np.int64], more: Sums, n: int) -> None:
        """Add row i of ``more`` to row ``rows[i]``, each of which is there once, of n rows then."""
        if len(self._high) < n:
            self._high = _longer(self._high, n)
            self._low = None if self._low is None else _longer(self._low, n)
        high = self._high.take(rows, axis=0)
        if self._low is None and not more.low.any():  # as of counts, whose sums are exact mostly
            total, error = two_sum(high, more.high)
            if not error.any():
                _put(self._high, rows, total)
                return
        if self._low is None:
            self._low = np.zeros(self._high.shape)
        both = Sums(high, self._low.take(rows, axis=0)) + more
        _put(self._high, rows, both.high)
        _put(self._low, rows, both.low)


def _longer(table: Floats, n: int) -> Floats:
    """Return a table with room for n rows or more, the new ones of zeros."""
    longer = np.zeros((max(n, int(GROWTH * len(table))), *table.shape[1:]))
    longer[: len(table)] = table
    return longer


def _put(table: Floats, rows: NDArray[np.int64], values: Floats) -> None:
    """Set rows of a table; NumPy is several times as fast if a row is one item of its type."""
    whole = np.dtype((np.void, table.itemsize * table.shape[1]))
    if whole.itemsize:
        table.view(whole)[rows] = np.ascontiguousarray(values).view(whole)
