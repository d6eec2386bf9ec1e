"""A model as a sum of terms: what scores rows, explains them, and is written for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import LEVEL, PRESENT, VALUE, Axis, ByValue, Level, Levels, Name, Words
from naively.counting.block import Batch, Block, BlockKey, Documents, split_texts
from naively.counting.tally import BlockTally
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import Finish, Finished, Floats
from naively.terms.functions import (
    FARTHEST,
    Above,
    CombinedTerms,
    Condition,
    Line,
    LinearPart,
    OneOf,
    ProductTerms,
    RuleTerms,
    Several,
    Sloped,
    Step,
    Term,
    There,
    by_class,
    steps_of,
)
from naively.terms.kinds import (
    EVERY,
    BesideTerms,
    BinTerms,
    ClippedTerms,
    Items,
    LevelTerms,
    Rows,
    StepTerms,
    TermBlock,
    Typical,
)
from naively.terms.seen import SeenBefore
from naively.terms.views import (
    AnyTerm,
    BinsTerm,
    Cell,
    OfCell,
    ProductTerm,
    Readable,
    RuleTerm,
    refused,
)
from naively.terms.words import LineTerms, WordTerms

AT_ONCE = 1 << 24  # scores, a row and a class each, that are added up together
SEEN_AT_ONCE = 1 << 20  # where rows are looked up that were seen before


class GroupTerms(Frozen):
    """What the columns of a group add: their evidence, and what is added to it."""

    evidence: TermBlock  # the evidence, times the weights
    beside: tuple[BesideTerms, ...] = ()  # lines and steps of the columns

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        """Return what cells add, (cells, classes): number or code x in a column."""
        value = self.evidence.at(x, column)
        for more in self.beside:
            value = value + more.at(x, column)
        return value

    def typical(self, c: int, rows: Rows = EVERY) -> Typical:
        """Return what is typical of class c (see ``TermBlock.typical``)."""
        value, x = self.evidence.typical(c, rows)
        columns = np.arange(len(value)) if isinstance(rows, slice) else rows
        for more in self.beside:  # of one event, or a truth, the number is 1
            value = value + more.at(np.ones(len(columns)) if x is None else x, columns)
        return value, x

    def each(self, columns: Readable) -> Iterator[AnyTerm]:
        """Yield the terms of single columns, or raise a ValueError that says why there are none."""
        truths = [(j, cell) for j, cell in enumerate(columns.cells) if cell.above is not None]
        for j, cell in truths:
            yield BinsTerm(cell.plain, cell.edge, self.at(np.array([0.0, 1.0]), np.full(2, j)))
        if not truths:
            yield from self.evidence.each(columns)
            for more in reversed(self.beside):
                yield from more.each(columns.cells)

    def items(self, block: Block) -> Items:
        """Return what a block adds item by item; a required word that is absent is an item."""
        found = self.evidence.itemised(block)
        for more in self.beside:
            found = more.joined(found, block)
        return found


# --- The terms of a group: its evidence, and the functions of its columns ------------------------
#
# What a table can hold joins it: steps of levels the table of levels, steps of numbers the bins of
# a histogram, and lines that clip no share those of shares. All else is added beside the evidence.

Sloping: TypeAlias = tuple[int, Line, Floats]  # a column, and slopes in nats for each unit of it


def with_functions(
    evidence: TermBlock, linear: LinearPart, group: BlockKey, axis: Axis, places: Sequence[int]
) -> GroupTerms:
    """Return the terms of a group: its evidence, and the functions of its columns."""
    column = {name: j for j, name in enumerate(axis.columns)}
    terms = [
        (column[term.column], term, by_class(slopes, places))
        for term, slopes in linear.of.items()
        if term.group == group and term.column in column
    ]
    if not terms:
        return GroupTerms(evidence)
    if isinstance(evidence, LevelTerms) and isinstance(axis, Levels):
        return GroupTerms(_with_levels(evidence, terms, axis))
    beside: list[BesideTerms] = []
    if steps := steps_of(terms):
        if isinstance(evidence, BinTerms):
            evidence = evidence.with_steps(steps)
        else:
            beside.append(StepTerms(steps, len(places)))
    lines = [
        (j, term.function, slope / term.function.scale)
        for j, term, slope in terms
        if isinstance(term.function, Line)
    ]
    if group.event.shares:
        evidence, lines = _with_straight(evidence, lines)
    if lines:
        lines.sort(key=lambda line: line[0])
        beside.insert(0, _clipped(lines))
    return GroupTerms(evidence, tuple(beside))


def _with_levels(evidence: LevelTerms, terms: Iterable[Sloped], axis: Levels) -> LevelTerms:
    """Return a table of levels with what is added to each."""
    added = np.zeros_like(evidence.table)
    for j, term, slope in terms:
        rows, function = added[evidence.first[j] : evidence.first[j + 1]], term.function
        match function:
            case There():
                rows += slope
            case Step():
                rows += np.outer(function.table(axis.index[j])[:-1], slope)
    return replace(evidence, table=evidence.table + added)


def _with_straight(evidence: TermBlock, lines: list[Sloping]) -> tuple[TermBlock, list[Sloping]]:
    """Return the evidence of numbers from 0 to 1 with the lines that it can hold, and others."""
    # It can hold those that clip no such number, if it has offsets.
    if isinstance(evidence, WordTerms) and lines and evidence.absent is not None:
        evidence = evidence.whole()
    if not isinstance(evidence, LineTerms) or evidence.offset is None:
        return evidence, lines
    slope, offset, others = evidence.slope.copy(), evidence.offset.copy(), []
    for column, line, of in lines:
        if line.low > 0 or line.high < 1:
            others.append((column, line, of))
        else:
            slope[column] += of
            offset[column] -= line.centre * of
    return replace(evidence, slope=slope, offset=offset), others


def _clipped(lines: Sequence[Sloping]) -> ClippedTerms:
    """Return lines, ascending by their columns, laid out to score rows."""
    return ClippedTerms(
        column=np.array([j for j, _, _ in lines], np.int64),
        low=np.array([line.low for _, line, _ in lines]),
        high=np.array([line.high for _, line, _ in lines]),
        centre=np.array([line.centre for _, line, _ in lines]),
        slope=np.array([slope for _, _, slope in lines]),
    )


# --- What was learned, fact by fact --------------------------------------------------------------


class Facts(Frozen):
    """The facts of a group: each level, each word, or each column of numbers or truths.

    What they add is asked of some facts: a table of all words and classes is not made.
    """

    terms: GroupTerms  # what the columns of the group add
    tally: BlockTally  # what was counted of them

    @property
    def are_columns(self) -> bool:
        """Whether each fact is a whole column, of numbers or truths."""
        return not isinstance(self.tally.axis, Levels | Words)

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """The number of the column of each fact, (facts,)."""
        match self.tally.axis:
            case Levels() as axis:
                return axis.column
            case Words() as axis:
                return np.zeros(len(axis), np.int64)
        return np.arange(len(self.tally.axis.columns))

    def label(self, fact: int) -> tuple[Name, Level]:
        """Return the column of a fact, and its level or word; None of a whole column."""
        axis = self.tally.axis
        return (axis.columns[fact], None) if self.are_columns else axis.label(fact)

    @cached_property
    def has_numbers(self) -> bool:
        """Whether facts are columns of numbers, which have a likelihood each."""
        return self.are_columns and self.terms.typical(0, np.arange(0))[1] is not None

    def count(self, classes: NDArray[np.integer]) -> Floats:
        """Return how often each fact came in some classes, (facts, classes)."""
        # It is how many rows have a level or a number, and how often a word came, or was true.
        if self.has_numbers:
            return self.cells(classes)
        statistic = LEVEL if isinstance(self.tally.axis, Levels) else VALUE
        return np.asarray(self.tally.sums[statistic][:, classes].high)

    def cells(self, classes: NDArray[np.integer]) -> Floats:
        """Return how many cells of each column have a value, (columns, classes)."""
        sums, axis = self.tally.sums, self.tally.axis
        if isinstance(axis, ByValue):
            return axis.sum_by_column(sums[axis.statistic][:, classes].high)
        return np.asarray(sums[PRESENT if PRESENT in sums else VALUE][:, classes].high)


# --- All terms of a model ------------------------------------------------------------------------


class Terms(Frozen):
    """All that a model adds up: the log prior of each class, and what rows say."""

    log_prior: Floats  # (classes,): the log probability of each class before anything is seen
    intercept: Floats  # (classes,): what is added to it in every row
    of: Mapping[BlockKey, GroupTerms]  # what each group of columns adds, by its key
    several: tuple[Several, ...]  # what is said of several columns at a time
    # Returns the block of a group as its terms read it; of other groups that is as it is.
    reads: Mapping[BlockKey, Callable[[Block], Block]]
    seen: SeenBefore | None = None  # what is added to rows that were seen before

    @cached_property
    def start(self) -> Floats:
        """What the scores of every row start from, of shape (classes,)."""
        start: Floats = self.log_prior + self.intercept
        return start

    def read(self, batch: Batch) -> dict[BlockKey, Block]:
        """Return the blocks of encoded rows as terms read them, with texts split."""
        return split_texts(self._read(batch))

    def _read(self, batch: Batch) -> dict[BlockKey, Block]:
        rows = {key: batch.blocks[key] for key in self.of}
        for key, read in self.reads.items():
            rows[key] = read(rows[key])
        return rows

    def add(self, batch: Batch, finish: Finish) -> Finished:
        """Add up the terms of encoded rows, and finish the sums (see ``Finish`` in the kernels)."""
        # Labels, as numbers of classes, are of shape (rows,), all else of shape (rows, classes).
        if self.seen is not None:
            if len(batch) > (most := SEEN_AT_ONCE // len(self.log_prior) + 1):
                pieces = np.array_split(np.arange(len(batch)), -(-len(batch) // most))
                return np.concatenate([self.add(batch.take(at), finish) for at in pieces])
            joint, added = self._with_seen(batch, self.seen)
            joint += added
            return dispatch.finish_rows(joint, finish, self.log_prior)
        if not any(isinstance(block, Documents) for block in batch.blocks.values()):
            return self._sum(self._read(batch), len(batch), finish)
        found = [self._of_texts(piece, finish) for piece in batch.pieces()]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _with_seen(self, batch: Batch, seen: SeenBefore) -> tuple[Floats, Floats]:
        """Return joint log likelihoods without what is added to rows seen before, and that."""
        learned = replace(self, seen=None, log_prior=seen.log_prior)
        joint = np.asarray(learned.add(batch, "joint"))
        added = seen.added(batch, joint)
        if not np.array_equal(self.log_prior, seen.log_prior):
            joint += self.log_prior - seen.log_prior
        return joint, added

    def of_seen(self, batch: Batch) -> Floats | None:
        """Return what is added to rows that were seen before, (rows, classes), if anything is."""
        return None if self.seen is None else self._with_seen(batch, self.seen)[1]

    def _of_texts(self, batch: Batch, finish: Finish) -> Finished:
        """Add up the terms of rows whose texts are split at once, or are scored as they are."""
        rows = self._read(batch)
        texts = [key for key, block in rows.items() if isinstance(block, Documents)]
        if len(texts) > 1 or any(not self.of[key].evidence.reads_texts(rows[key]) for key in texts):
            rows = split_texts(rows)
        return self._sum(rows, len(batch), finish)

    def _sum(self, rows: Mapping[BlockKey, Block], n: int, finish: Finish) -> Finished:
        """Add up the terms of n rows' blocks; the last block finishes the sums in its kernel."""
        if finish == "label" and len(rows) > 1 and n > (most := AT_ONCE // len(self.log_prior) + 1):
            # Between two blocks there is a number for each row and class.
            parts = np.array_split(np.arange(n), -(-n // most))
            each = ({key: block.select(at) for key, block in rows.items()} for at in parts)
            sums = [self._sum(some, len(at), finish) for some, at in zip(each, parts, strict=True)]
            return np.concatenate(sums)
        out: Finished = self.start
        for several in self.several:
            out = out + several.added(rows)
        last = len(self.of) - 1
        for i, (key, terms) in enumerate(self.of.items()):
            block = rows[key]
            for more in terms.beside:
                out = out + more.added(block)
            out = terms.evidence.add(block, out, "joint" if i < last else finish, self.log_prior)
        if self.of:
            return out
        return dispatch.finish_rows(np.tile(self.start, (n, 1)), finish, self.log_prior)

    def items(self, blocks: Mapping[BlockKey, Block]) -> Iterator[tuple[BlockKey, Items]]:
        """Yield what each group adds, item by item; with ``together`` and the start they sum up."""
        for key, terms in self.of.items():
            yield key, terms.items(blocks[key])

    def facts(self, counts: Mapping[BlockKey, BlockTally]) -> dict[BlockKey, Facts]:
        """Return the facts of each group, of which so much was counted."""
        return {key: Facts(terms, counts[key]) for key, terms in self.of.items()}

    def together(
        self, blocks: Mapping[BlockKey, Block]
    ) -> Iterator[tuple[tuple[Name, ...], Floats]]:
        """Yield columns, and what their products and rules add to each row, (rows, classes)."""
        for several in self.several:
            for columns, some in several.by_columns():
                yield columns, some.added(blocks)

    def each(
        self,
        columns: Mapping[BlockKey, Readable],
        factor: Callable[[Term], OfCell[Line | Step]],
        condition: Callable[[Condition], OfCell[Above | OneOf]],
        cell: Callable[[BlockKey, Name], Cell],
    ) -> Iterator[AnyTerm]:
        """Yield the terms of single columns, or of a few together, as other programs read them."""
        for key, terms in self.of.items():
            try:
                yield from terms.each(columns[key])
            except ValueError as error:
                raise refused(columns[key].what, str(error)) from None
        for several in self.several:
            match several:
                case ProductTerms():
                    for product, slope in zip(several.products, several.slope, strict=True):
                        a, b = factor(product.a), factor(product.b)
                        yield ProductTerm(a, b, product.scale, FARTHEST, slope)
                case RuleTerms():
                    for rule, points in several.each():
                        yield RuleTerm(tuple(map(condition, rule.conditions)), points)
                case CombinedTerms():
                    for of, edges, points in several.each():
                        yield BinsTerm(cell(*of), edges, points)
