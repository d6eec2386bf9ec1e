"""One column of a model: where it is found, and what its cells say under each class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    CELL,
    LEVEL,
    PRESENT,
    VALUE,
    Axis,
    ByValue,
    Cells,
    Columns,
    Derived,
    Level,
    Name,
    title,
)
from naively.counting.block import Batch, Dense
from naively.counting.tally import BlockTally
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.schema.encode import Held
from naively.schema.schema import Group, Missing, MissingAs, list_names
from naively.tabular import are_numbers
from naively.terms.kinds import BinTerms, TermBlock
from naively.terms.terms import GroupTerms

DRAWN = 2_000  # rows that are drawn from a model whose numbers are not kept
MOST_CELLS = 4_000_000  # of a matrix that is made at once
TAILS = (0.005, 0.995)  # the quantiles that a picture reaches to
ROOM = 0.06  # of the range, that a picture has on either side of it


class OneColumn(Frozen):
    """A column of a model, with the group that it is learned in and its place there."""

    model: Model
    name: Name
    group: Group
    place: int

    @classmethod
    def find(cls, model: Model, column: object) -> OneColumn:
        """Return a column by its name, or by its place in the table (3, or "x3" of an array)."""
        of, order = model.view.schema.columns, model.view.schema.order
        found: Name | None = None
        shown = column
        if isinstance(column, str | int):
            found, shown = column, title(column)
            if column not in of:
                places = {place: name for place, name in enumerate(order) if name in of}
                found = (places | {title(name): name for name in of}).get(column)
        if found is None:
            if shown in {*map(title, model.view.schema.order)} - {*map(title, of)}:
                raise ValueError(f"Column {shown!r} was missing throughout: nothing was learned.")
            raise ValueError(f"There is no column {shown!r}; the columns are {list_names(of)}.")
        columns = list(model.view.counts[of[found].key].axis.columns)
        return cls(model, found, of[found], columns.index(found) if found in columns else 0)

    @property
    def title(self) -> str:
        """The column's name."""
        return title(self.name)

    @property
    def is_time(self) -> bool:
        """Whether its numbers are seconds since 1970."""
        return self.name in self.model.view.schema.times

    @property
    def is_number(self) -> bool:
        """Whether each of its cells is a number with a likelihood of its own."""
        return self.group.is_by_column and not self.has_items

    @property
    def tally(self) -> BlockTally:
        """What was counted of its group."""
        return self.model.view.counts[self.group.key]

    @property
    def is_text(self) -> bool:
        """Whether it is a text."""
        return self.group.analyser is not None

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels that it was seen with; nothing of a column of numbers."""
        axis: Axis = self.tally.axis
        return axis.levels_of(self.place)

    @property
    def has_items(self) -> bool:
        """Whether each of its cells is one of a few items: its levels, or false and true."""
        return LEVEL in self.tally.sums or (self.group.event.shares and not self.is_text)

    @cached_property
    def items(self) -> tuple[Level, ...]:
        """Its levels, or what false and true mean; nothing of numbers."""
        if self.levels or not self.has_items:
            return self.levels
        threshold = vars(self.group.event)["threshold"]
        if self.group.kind == "boolean":
            return False, True
        return (f"at most {threshold:g}", f"above {threshold:g}") if threshold else (0, 1)

    @cached_property
    def item_count(self) -> Floats:
        """How many rows of each class have each item, (items, classes)."""
        axis = self.tally.axis
        if isinstance(axis, ByValue):
            of_column = slice(*axis.first[self.place : self.place + 2].tolist())
            return np.asarray(self.tally[axis.statistic].high[of_column])
        true = self.tally[VALUE].high[self.place]
        return np.stack([self.present - true, true])

    @property
    def present(self) -> Floats:
        """How many rows of each class have a value, of shape (classes,)."""
        tally = self.tally
        if PRESENT in tally.sums:
            table = tally[PRESENT].high
            return np.asarray(table[min(self.place, len(table) - 1)])
        return np.asarray(np.maximum(self.item_count, 0.0).sum(axis=0))

    @property
    def extent(self) -> tuple[float, float] | None:
        """The outer edges of the bins of a histogram."""
        match self.model.view.terms[self.group.key]:
            case BinTerms(first=first, width=width, middle=middle):
                low, high = first[self.place], first[self.place + 1] - 1
                edges = self.edges if len(self.edges) else middle[[low]]
                room = (width[low], width[high]) if len(self.edges) else (width[low] / 2,) * 2
                return float(edges[0] - room[0]), float(edges[-1] + room[1])
        return None

    @property
    def edges(self) -> Floats:
        """Where the density of a histogram steps; nothing of other event models."""
        match self.model.view.terms[self.group.key]:
            case BinTerms(edges=edges):
                return edges[self.place]
        return np.empty(0)

    @property
    def is_counted_in_cells(self) -> bool:
        """Whether all its numbers are counted, by the cells of a grid."""
        return CELL in self.tally.sums

    @property
    def _cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Where its cells begin, end and have their middle, (cells,), and their counts by class."""
        axis = self.tally.axis
        assert isinstance(axis, Cells)
        start, end = axis.first[self.place : self.place + 2]
        some = slice(int(start), int(end))
        count = np.maximum(self.item_count, 0.0)
        return axis.low[some], axis.high[some], axis.middle[some], count

    def log_prob(self, x: Floats) -> Floats:
        """Return log p(x | class) without weights or missing factors, (numbers, classes)."""
        found = []
        for part in self._parts(x):
            block = self._block(part)
            of = self.model.view.terms[self.group.key]
            found.append(self._at(of, block) + of.log_base(block)[:, None])
        return np.concatenate(found)

    def evidence(self, x: Floats) -> Floats:
        """Return the log likelihoods, times weights, that it is scored with, (numbers, classes)."""
        of = self.model.terms.of[self.group.key]
        return np.concatenate([self._at(of, self._block(part)) for part in self._parts(x)])

    def of_items(self, items: NDArray[np.int64], *, weighted: bool = False) -> Floats:
        """Return the log likelihoods of items, by their numbers, (items, classes)."""
        # The number after the last stands for a level that was never seen.
        of = self.model.terms.of if weighted else self.model.view.terms
        return of[self.group.key].at(items, np.full(len(items), self.place))

    @cached_property
    def of_missing(self) -> Floats | None:
        """The log likelihoods of a cell that is there, and of a missing one, (2, classes)."""
        # They are times the weights; None where they are no evidence.
        for group in self.model.view.schema.groups:
            if group.kind == "missing" and Missing(self.name) in group.columns:
                place = list(group.columns).index(Missing(self.name))
                of = self.model.terms.of[group.key]
                return of.at(np.array([0, 1]), np.full(2, place))
        return None

    @property
    def whole_numbers(self) -> Floats:
        """The levels in order, of categories that are numbers; nothing of other columns."""
        if self.group.kind != "number" or not self.levels:
            return np.empty(0)
        return np.sort(np.array(self.levels, np.float64))

    @property
    def in_order(self) -> bool:
        """Whether its levels have an order of their own: numbers, or parts of times."""
        return isinstance(self.name, Derived) or are_numbers(self.levels)

    def beyond(self, batches: Sequence[Batch], low: float, high: float) -> float:
        """Return how many numbers that were learned are known to be below or above."""
        if self.is_counted_in_cells:
            begin, end, _, count = self._cells
            return float(count[(end < low) | (begin > high)].sum())
        x, _, weight = self.values(batches)
        return float(weight[(x < low) | (x > high)].sum())

    def range(self, batches: Sequence[Batch]) -> tuple[float, float]:
        """Return from where to where the numbers mostly lie."""
        # It is from the least to the greatest of the 0.5 % and 99.5 % quantiles of each class: of
        # all numbers where they are counted in cells, else of the sample, else of numbers that are
        # drawn from the model.
        lows, highs = [], []
        classes = np.flatnonzero(self.present > 0).tolist()
        if self.is_counted_in_cells:
            _, _, middle, count = self._cells
            for c in classes:
                if count[:, c].sum() > 0:
                    share = np.cumsum(count[:, c]) / count[:, c].sum()
                    low, high = np.searchsorted(share, [TAILS[0], TAILS[1] - 1e-12])
                    lows.append(float(middle[low]))
                    highs.append(float(middle[min(high, len(share) - 1)]))
        else:
            x, code, _ = self.values(batches)
            if not len(x):
                x, code = self._drawn(classes)
            for c in np.intersect1d(classes, code):
                low, high = np.quantile(x[code == c], TAILS)
                lows.append(float(low))
                highs.append(float(high))
        return (min(lows), max(highs)) if lows else (0.0, 1.0)

    def fence(self, batches: Sequence[Batch], times: float) -> tuple[float, float]:
        """Return from where to where numbers go, but for a few that are far out."""
        # It is so many times the range of the middle half of a class beyond its quartiles, of the
        # class where that is farthest; without end where half of a class are one number.
        ends = []
        for x, weight in self._of_each_class(batches):
            share = np.cumsum(weight) / weight.sum()
            low, high = x[np.searchsorted(share, [0.25, 0.75])]
            reach = times * (high - low) if high > low else np.inf
            ends += [float(low - reach), float(high + reach)]
        return min(ends, default=-np.inf), max(ends, default=np.inf)

    def grid(self, batches: Sequence[Batch]) -> float:
        """Return the distance of the grid that nearly all numbers are on; 0 where there is none."""
        each = self._of_each_class(batches)
        if not each or self.is_time:
            return 0.0
        return grid_of(*(np.concatenate(of) for of in zip(*each, strict=True)))

    def _of_each_class(self, batches: Sequence[Batch]) -> list[tuple[Floats, Floats]]:
        """Return the numbers of each class, ascending, and their weights, as far as is known."""
        if self.is_counted_in_cells:
            # A cell begins at the roundest number in it, on either side of 0.
            low, high, _, count = self._cells
            x = np.where(np.abs(low) <= np.abs(high), low, high)
            found = [(x[of > 0], of[of > 0]) for of in count.T]
        else:
            x, code, weight = self.values(batches)
            order = np.argsort(x, kind="stable")
            x, code, weight = x[order], code[order], weight[order]
            found = [(x[code == c], weight[code == c]) for c in np.unique(code)]
        return [(x, weight) for x, weight in found if weight.sum() > 0]

    def cells(self, batch: Batch) -> Floats:
        """Return the column of encoded rows as numbers, (rows,); NaN where a cell is missing."""
        held, name = Held(batch), self.name
        for matrix in held.sparse:
            if name in matrix.axis.columns:
                j = list(matrix.axis.columns).index(name)
                row = np.repeat(np.arange(len(matrix)), np.diff(matrix.indptr))
                of = matrix.indices == j
                return np.bincount(row[of], matrix.data[of], len(matrix)).astype(np.float64)
        if name in held.coded:
            block, at = held.coded[name]
            values = np.array([*block.axis.levels[at], np.nan], np.float64)
            code = block.codes[:, at].astype(np.int64)
            return values[np.where(code < 0, len(values) - 1, code)]
        return np.asarray(held.number(name), np.float64)

    def values(self, batches: Sequence[Batch]) -> tuple[Floats, NDArray[np.int32], Floats]:
        """Return the numbers of the sampled rows, their classes and their weights, (numbers,)."""
        return with_labels(batches, map(self.cells, batches))

    def histogram(self, batches: Sequence[Batch], edges: Floats) -> Floats | None:
        """Return the density of the numbers themselves in bins, (bins, classes)."""
        # They are all numbers where these are counted in cells (a cell's are spread over it), else
        # those of the sample; None where there is neither. Numbers beyond the bins count as well.
        if self.is_counted_in_cells:
            low, high, _, count = self._cells
            inside = edges[:, None] > low  # what share of each cell is below each edge
            with np.errstate(over="ignore"):  # of a cell whose width is next to nothing
                part = np.clip((edges[:, None] - low) / np.where(high > low, high - low, 1.0), 0, 1)
            found = np.diff(np.where(high > low, part, inside) @ count, axis=0)
            total = count.sum(axis=0)
        else:
            x, code, weight = self.values(batches)
            if not len(x):
                return None
            each = [code == c for c in range(len(self.model.classes))]
            counts = [np.histogram(x[of], edges, weights=weight[of])[0] for of in each]
            found = np.stack(counts, axis=1)
            total = np.array([weight[of].sum() for of in each])
        width = np.diff(edges)[:, None]
        return np.asarray(found / np.where(total > 0, total, 1.0) / width)

    def _drawn(self, classes: Sequence[int]) -> tuple[Floats, NDArray[np.int32]]:
        """Draw numbers of classes from the model: numbers and classes, each of shape (numbers,)."""
        n = max(1, min(DRAWN, MOST_CELLS // max(1, len(self.tally.axis)) // max(1, len(classes))))
        code = np.repeat(np.asarray(classes, np.int32), n)
        drawn = self.group.event.sample_rows(self.tally, code, np.random.default_rng(0))
        assert isinstance(drawn, Dense)
        return np.asarray(drawn.values[:, self.place], np.float64), code

    def _parts(self, x: Floats) -> list[Floats]:
        """Cut numbers into parts that make matrices of all columns of the group."""
        wide = max(1, len(self.tally.axis.columns))
        return np.array_split(x, max(1, -(-len(x) * wide // MOST_CELLS)))

    def _block(self, x: Floats) -> Dense:
        """Return a block in which all other columns are missing, prepared to be scored."""
        values = np.full((len(x), len(self.tally.axis.columns)), np.nan)
        values[:, self.place] = x
        prepared: Dense = self.group.event.prepare(Dense(values, Columns(self.tally.axis.columns)))
        return prepared

    def _at(self, of: TermBlock | GroupTerms, block: Dense) -> Floats:
        """Return the log likelihoods of the column's cells in a block, (rows, classes)."""
        x = block.values[:, self.place]
        return of.at(x, np.full(len(x), self.place))


def source_of(name: Name) -> Name:
    """Return the column that another says of whether its cells are missing; any other itself."""
    match name:
        case Missing(of) | MissingAs(of, _):
            return of
    return name


# --- Bins for the eye: few, of round widths, on the grid that the numbers themselves are on -------


WHOLE = 0.95  # the share of numbers that are on a grid which is called theirs
GRIDS = (1.0, 0.5, 0.1)  # that numbers are looked for on
ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
SPIKES = 0.1  # the share of bins that may be cut
STEEP = 4.0  # times the highest of the others: what is higher is cut


def grid_of(x: NDArray[np.floating], weight: Floats | None = None) -> float:
    """Return the distance of the grid that nearly all numbers are on; 0 where there is none."""
    if not len(x):
        return 0.0
    weight = np.ones(len(x)) if weight is None else weight
    for grid in GRIDS:
        on = np.isclose(x / grid, np.rint(x / grid), rtol=1e-9, atol=1e-6)
        if weight[on].sum() >= WHOLE * weight.sum():
            return grid
    return 0.0


def bins_of(low: float, high: float, grid: float, most: int) -> Floats:
    """Return the edges of at most so many bins of one round width that reach from low to high."""
    # On a grid they are whole multiples of it wide, and begin half of it below its first point, so
    # that each holds as many of its points as another.
    least = max((high - low + grid) / most, 1e-300)
    unit = 10.0 ** np.floor(np.log10(least))
    width = next(step for r in ROUND if (step := r * unit) >= least * (1 - 1e-9))
    if grid:
        width = grid * max(1.0, np.ceil(width / grid - 1e-9))
        first, last = (grid * np.rint(end / grid) for end in (low, high))
        bins = np.ceil((last - first + grid) / width - 1e-9)
        return np.asarray(first - grid / 2 + width * np.arange(bins + 1))
    start, end = np.floor(low / width + 1e-9), np.ceil(high / width - 1e-9)
    return np.asarray(np.arange(start, max(end, start + 1) + 1) * width)


def cut_of(height: Floats) -> float | None:
    """Return where spikes are cut so that the other bars can be seen; None where there are none."""
    falling = np.sort(height[np.isfinite(height)])[::-1]
    few = max(1, int(SPIKES * len(falling)))
    if len(falling) <= few or not falling[few] > 0 or falling[0] < STEEP * falling[few]:
        return None
    return 1.5 * float(falling[few])


def with_labels(
    batches: Sequence[Batch], cells: Iterable[Floats]
) -> tuple[Floats, NDArray[np.int32], Floats]:
    """Return the finite numbers of labelled rows, their classes and their weights, (numbers,)."""
    x, code, weight = [np.empty(0)], [np.empty(0, np.int32)], [np.empty(0)]
    for batch, numbers in zip(batches, cells, strict=True):
        there = np.isfinite(numbers) & (batch.labels.codes >= 0)
        labels = batch.labels
        of = labels.weights if labels.weight is not None else batch.times.astype(np.float64)
        x.append(numbers[there])
        code.append(labels.codes[there])
        weight.append(of[there])
    return np.concatenate(x), np.concatenate(code), np.concatenate(weight)


def made_of_two(
    model: Model, column: object, batches: Sequence[Batch]
) -> tuple[Floats, NDArray[np.int32], Floats] | None:
    """Return the sampled numbers of a column that is made of two, if it is one, as values does."""
    linear = () if model.weights is None else model.weights.linear.made
    for made in linear:
        if column in (made, str(made)):
            if not batches:
                raise ValueError(
                    f"Column {str(made)!r} is made of two and not counted: it is seen in the rows, "
                    "which are not kept (save(path, keep_rows=True) does)."
                )
            a, b = (OneColumn.find(model, of) for of in made.sources)
            cells = (made.of(a.cells(batch), b.cells(batch)) for batch in batches)
            return with_labels(batches, cells)
    return None
