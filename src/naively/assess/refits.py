"""Cross-validation of all rows, everything learned anew without those that are judged.

Rows are dealt into folds that have as many of each class; or groups of rows are, none of which is
split; or rows are put into blocks in the order of a time, each of which is judged by what was
learned of the blocks before it.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.assess.scores import Scores, scores
from naively.counting.labels import Labels, Target
from naively.data.columns import Cells, Rows, as_floats, missing_in
from naively.data.frames import as_rows
from naively.data.reading import NOTHING_SAID, TIME_OF_ROWS, ReadAs, read_strings
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.kernels.strings import Strings
from naively.model.class_prior import Cost
from naively.model.model import Model

Places: TypeAlias = NDArray[np.int64]  # of rows

Learn: TypeAlias = Callable[[Rows, Labels], Model]
Moment: TypeAlias = "float | dt.datetime"  # as it is said


class Named(Frozen):
    """What is said of each row beside its label: its group, or its time."""

    name: str  # the name of the column; empty of what was given as an array
    values: Target  # (rows,): the groups or times
    said: ReadAs = NOTHING_SAID  # what was said of columns, as the order of days

    @property
    def of(self) -> str:
        """How a sentence names it."""
        return repr(self.name) if self.name else ""

    def codes(self, rows: int) -> Places:
        """Return the number of the group of each row, from 0 on."""
        cells = self._cells("groups", as_rows({"groups": self.values}), rows)
        if isinstance(cells, Strings):
            return cells.encoded[0].astype(np.int64)
        return np.unique(cells, return_inverse=True)[1].astype(np.int64)

    def moments(self, rows: int) -> Floats:
        """Return the time of each row as a number."""
        table = self._table
        cells = self._cells("time", table, rows)
        if table.kind("time") not in ("number", "time") or isinstance(cells, Strings):
            raise ValueError(
                f"time must be numbers, dates or strings such as '2026-01-31', but "
                f"{self.of or 'what is given'} holds {cells[0]!r}."
            )
        return as_floats(cells).astype(np.float64)

    def shown(self, moment: float) -> Moment:
        """Return a time as it is said: a datetime where the times are no mere numbers."""
        if not self.is_time or not math.isfinite(moment):
            return float(moment)
        return np.datetime64(round(moment), "s").item()

    @property
    def is_time(self) -> bool:
        """Whether the times are dates, and no mere numbers."""
        return self._table.kind("time") == "time"

    @cached_property
    def _table(self) -> Rows:
        """The times, as strings are read."""
        named = as_rows({self.name or TIME_OF_ROWS: self.values})
        return read_strings(named, self.said).renamed(("time",))

    def _cells(self, what: str, table: Rows, rows: int) -> Cells:
        """Return the cells, of which there is one for each row, and none is missing."""
        if len(table) != rows:
            raise ValueError(f"There are {rows:,} rows, but {what} has {len(table):,} values.")
        cells = table.cells(what)
        missing = np.flatnonzero(missing_in(cells))
        if len(missing):
            more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
            one = "group" if what == "groups" else "time"
            where = f" in {self.of}" if self.name else ""
            raise ValueError(
                f"Row {missing[0]}{more} has no {one}{where}; fill it in, or leave such rows out."
            )
        return cells


class Split(NamedTuple):
    """Rows that are judged, and those that the model is learned from that judges them."""

    judged: Places
    learned: Places


class Splits(Frozen):
    """Which rows judge which."""

    fold: Places  # (rows,): the number of the fold, or block, of each row
    groups: Places | None  # (rows,): the number of the group of each row; none is split
    in_order: bool  # whether folds are blocks in the order of a time
    said: str

    def __iter__(self) -> Iterator[Split]:
        """Yield a split for each fold that is judged."""
        for number in range(int(self.in_order), int(self.fold.max()) + 1):
            judged = self.fold == number
            learned = self.fold < number if self.in_order else ~judged
            if self.in_order and self.groups is not None:
                learned &= ~np.isin(self.groups, self.groups[judged])
                if not learned.any():
                    raise ValueError(
                        f"All rows before block {number} are of groups that are in it too, so "
                        "nothing can be learned before it; leave out groups or time, or ask for "
                        "fewer folds."
                    )
            yield Split(np.flatnonzero(judged), np.flatnonzero(learned))


def splits_of(
    labels: Labels, folds: int, groups: Named | None = None, time: Named | None = None
) -> Splits:
    """Return how rows are cross-validated."""
    folds, n = check_folds(folds), len(labels)
    if n < 2:
        raise ValueError("There are fewer than two rows: none can be held out.")
    group = None if groups is None else groups.codes(n)
    if time is not None:
        blocks = in_blocks(time.moments(n), folds + 1, time.of)
        of_time = f" of {time.of}" if time.of else " of time"
        said = f"{folds} blocks in order{of_time}, each judged by those before it"
        if groups is not None:
            said += f", without rows of its {groups.of or 'groups'}"
        return Splits(blocks, group, in_order=True, said=said)
    if groups is not None and group is not None:
        there = int(group.max()) + 1
        if there < folds:
            raise ValueError(
                f"There are {there} different groups{f' in {groups.of}' if groups.of else ''}, "
                f"fewer than folds={folds}; ask for at most {there} folds."
                if there > 1
                else "All rows are of one group, so that no other can judge it."
            )
        said = f"{folds} folds by {groups.of or 'group'} ({there:,} groups), refitted"
        return Splits(deal(labels, group, folds), group, in_order=False, said=said)
    folds = min(folds, n)
    dealt = deal(labels, np.arange(n), folds)
    return Splits(dealt, None, in_order=False, said=f"{folds} folds, refitted")


def check_folds(folds: object, what: str = "folds") -> int:
    """Return a number of folds, or blocks, or raise a ValueError that it is none."""
    if isinstance(folds, bool) or not isinstance(folds, Integral) or int(folds) < 2:
        raise ValueError(f"{what} must be a whole number of at least 2, got {folds!r}.")
    return int(folds)


def cross_validate(
    rows: Rows, labels: Labels, splits: Splits, learn: Learn, cost: Cost = None
) -> Scores:
    """Score rows, each by a model of the rows that its fold is judged by."""
    p = np.zeros((len(labels), len(labels.classes)))
    judged = np.zeros(len(labels), np.bool_)
    unmet = np.zeros(len(labels), np.bool_)
    for split in splits:
        right = labels.take(split.learned)
        there = labels.classes[np.unique(right.codes)]  # as if no other were known
        model = learn(rows.take(split.learned), right.among(there))
        known = np.isin(labels.classes, model.classes)
        some = np.zeros((len(split.judged), len(labels.classes)))
        some[:, known] = model.posterior(rows.take(split.judged))
        p[split.judged], judged[split.judged] = some, True
        unmet[split.judged] = ~known[labels.codes[split.judged]]
    rows_of = np.bincount(labels.codes, minlength=len(labels.classes))
    alone = judged & unmet & (rows_of[labels.codes] == 1)
    if (alone == judged).all():  # each row is of a class of its own
        alone[:] = False
    scored = np.flatnonzero(judged & ~alone)
    weight = None if labels.weight is None else labels.weight[scored]
    if weight is not None and not weight.any():
        raise ValueError("There is nothing to score: all sample weights are zero.")
    groups = None if splits.groups is None else splits.groups[scored]
    y = labels.classes[labels.codes[scored]]
    found = scores(p[scored], labels.classes, y, weight, groups=groups, cost=cost)
    return replace(
        found,
        of=len(labels),
        how=splits.said,
        too_rare=tuple(labels.classes[labels.codes[alone]].tolist()),
        unmet=dict(Counter(labels.classes[np.sort(labels.codes[unmet & ~alone])].tolist())),
    )


# --- Rows are dealt into folds that have as many of each class -----------------------------------


def deal(labels: Labels, groups: Places, folds: int) -> Places:
    """Return the fold of each row, of shape (rows,); those of one group are in one fold."""
    # Groups of several rows come first, the largest of all, each into the fold that has the least
    # of what it brings; single rows fill up. Rows of one size are dealt in a fixed random order.
    n, k = int(groups.max()) + 1, len(labels.classes)
    table = np.bincount(groups * k + labels.codes, minlength=n * k).reshape(n, k)
    size = table.sum(axis=1)
    shuffled = np.random.default_rng(0).permutation(n)
    of_group = np.zeros(n, np.int64)
    loads = np.zeros((folds, k + 1))  # rows of each class, and of all
    scale = np.append(table.sum(axis=0), len(groups)).astype(np.float64)
    worth = 1 / np.maximum(scale, 1.0) ** 2
    larger = shuffled[size[shuffled] > 1]
    for group in larger[np.argsort(-size[larger], kind="stable")].tolist():
        brought = np.append(table[group], size[group])
        fold = int((loads @ (worth * brought)).argmin())
        loads[fold] += brought
        of_group[group] = fold
    single = shuffled[size[shuffled] == 1]
    classes = table[single].argmax(axis=1)
    for c in range(k):
        of_class = single[classes == c]
        more = fill(loads[:, c], loads[:, k], len(of_class))
        of_group[of_class] = np.repeat(np.arange(folds), more)
        loads[:, c] += more
        loads[:, k] += more
    return of_group[groups]


def fill(loads: Floats, totals: Floats, n: int) -> Places:
    """Return how many of n rows each fold takes, so that their loads are as equal as can be."""
    # What is left over goes to the folds of the least totals.
    order = np.lexsort((totals, loads))
    level = loads[order]
    # How many rows raise the first folds to the level of the next.
    raised = np.arange(1, len(level)) * level[1:] - np.cumsum(level)[:-1]
    some = order[: 1 + int(np.searchsorted(raised, n, side="right"))]
    each, left = divmod(n + int(loads[some].sum()), len(some))
    more = np.zeros(len(loads), np.int64)
    more[some] = each - loads[some].astype(np.int64)
    more[some[np.argsort((totals + more)[some], kind="stable")[:left]]] += 1
    return more


def in_blocks(moments: Floats, blocks: int, of: str = "") -> Places:
    """Return the block of each row in the order of its time, (rows,); equal times are in one."""
    times, place, rows = np.unique(moments, return_inverse=True, return_counts=True)
    if len(times) < blocks:
        raise ValueError(
            f"There are {len(times)} different times{f' in {of}' if of else ''}, too few for "
            f"folds={blocks - 1}, which needs {blocks}, the first of them to learn from."
        )
    before = np.append(0, np.cumsum(rows))
    cuts = [0]
    for block in range(1, blocks):
        nearest = int(np.abs(before - len(moments) * block / blocks).argmin())
        cuts.append(min(max(nearest, cuts[-1] + 1), len(times) - (blocks - block)))
    starts = np.zeros(len(times), np.int64)
    starts[cuts[1:]] = 1
    return starts.cumsum()[place]
