"""The sum of many tallies, in a time that follows from their own sizes.

``a + b`` makes new tables, and for texts a new vocabulary, as large as the sum of both. Of a
thousand tallies of texts the sum has many times the words of each, so that adding them two by two
would copy the words of all a thousand times. Here what is added goes into one vocabulary and one
set of tables, which grow.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Words
from naively.counting.block import BlockKey
from naively.counting.labels import union_classes
from naively.counting.statistic import Statistic
from naively.counting.tally import BlockTally, Tally, class_places
from naively.kernels.sparse_sums import AnySums, SparseSums, as_sparse

WAITING = 1 << 27  # bytes of tables that may wait to be added up


@final
class Total:
    """A sum of tallies, to which one after the other is added.

    Parameters
    ----------
    first : Tally
        What it begins with, which stays as it is.
    consume : bool, default False
        Whether ``first`` is used up instead: its words go on in the sum, which need not copy them,
        and it must not be asked for anything afterwards.

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

    def __init__(self, first: Tally, *, consume: bool = False) -> None:
        self._classes, self._weight = first.classes, first.weight
        self._blocks: dict[BlockKey, BlockTally] = {}
        self._texts: dict[BlockKey, _Text] = {}
        for key, block in first.blocks.items():
            self._adopt(key, block, consume=consume)
        self._keys = [*first.blocks]  # in the order in which they came

    @classmethod
    def of(cls, tallies: Iterable[Tally], *, consume: bool = False) -> Tally:
        """Return the sum of one tally or more, equal to adding them by ``+``.

        ``consume`` says whether the first may be used up, as above.
        """
        rest = iter(tallies)
        total = cls(next(rest), consume=consume)
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
            sums = {s: self._added(s, n=len(self._vocabulary)) for s in self._block.sums}
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
            self._vocabulary = axis.vocabulary if self._consume else axis.vocabulary.copy()
            self._consume = False
            self._parts = {s: [(None, sums)] for s, sums in self._block.sums.items()}
            self._lent = False
        rows = self._vocabulary.join(other.axis.vocabulary)
        for statistic, parts in self._parts.items():
            parts.append((rows, other.sums[statistic]))
            # As many numbers wait as were added up: each is added up a few times, on average.
            if max(2 * parts[0][1].nbytes, WAITING) < sum(sums.nbytes for _, sums in parts):
                self._parts[statistic] = [(None, self._added(statistic, len(self._vocabulary)))]

    def _added(self, statistic: Statistic, n: int) -> AnySums:
        """Return the sum of all parts of a statistic, of n words."""
        parts = [sums for _, sums in self._parts[statistic]]
        if self._block.axis.per_row(statistic):
            places = [place for place, _ in self._parts[statistic]]
            return SparseSums.sum_of([as_sparse(part) for part in parts], n, places)
        return reduce(add, parts)
