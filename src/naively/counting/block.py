"""Encoded rows: the columns of one event model are a block, and all blocks of some rows a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    CELL,
    DOCUMENT,
    LEVEL,
    PRESENT,
    SQUARE,
    VALUE,
    Axis,
    Cells,
    Columns,
    Levels,
    Statistic,
    Words,
    title,
)
from naively.counting.labels import MANY_CLASSES, Labels
from naively.kernels import dispatch
from naively.kernels.double_double import Sums, scatter
from naively.kernels.reference import CAP, Floats, Hashes, clipped
from naively.kernels.sparse_sums import AnySums, RepeatedSums, SparseSums
from naively.kernels.strings import Row, Strings

# --- Blocks: all columns of one event model as one matrix, which is counted or scored ------------
#
# A single row is a block of one; a chunk of a table is a block. The blocks of some rows and their
# labels are a batch.


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    B = TypeVar("B", bound="Block", default=Any)
else:
    from typing import TypeVar

    B = TypeVar("B")

D = TypeVar("D", bound=np.generic)  # what an array holds
BlockKey: TypeAlias = Any  # identifies a block; the schema makes it
# The row and the item (a column or a word) of each cell, and its number or the code of its level,
# each of shape (cells,).
Entries: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]"
AxisSums: TypeAlias = "tuple[Axis, dict[Statistic, AnySums]]"  # an axis, and tables along it

FEW_CLASSES = 30  # of a sparse matrix: with more, the table of its sums is sparse too
LARGEST = 1e300  # a larger sum cannot be scaled, split and multiplied


class Block(ABC):
    """Encoded rows of one event model's columns."""

    axis: Axis
    # Its sum is how many rows have a value in a column, or how often a word comes in all rows.
    frequency: ClassVar[Statistic] = VALUE
    unsplit: ClassVar[int] = 0  # about how many characters its texts have that are to be split

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def entries(self) -> Entries:
        """Return the cells that are stored and not missing."""

    @abstractmethod
    def select(self, rows: NDArray[np.int64]) -> Block:
        """Return the rows of these numbers, (selected,), in this order; a number may repeat."""

    @abstractmethod
    def followed_by(self, others: Sequence[Self]) -> Self:
        """Return a block of these rows, then those of other blocks of the same type and axis."""

    def split(self) -> Block:
        """Return the same rows, with each text as the counts of its words."""
        return self

    @abstractmethod
    def count(self, statistics: Sequence[Statistic], labels: Labels) -> AxisSums:
        """Count statistics by class, ``Yᵀ · s(X)``, along an axis; nothing is pruned."""


@dataclass(frozen=True, eq=False)
class Dense(Block):
    """Numbers, rows × columns, float32 or float64; NaN is a missing cell.

    Where rows are ``complete`` no cell is missing or infinite; one that is becomes a ValueError as
    it is counted or scored, so that nobody has to look before.
    """

    values: NDArray[np.floating]
    axis: Columns
    complete: bool = False
    frequency = PRESENT

    def __len__(self) -> int:
        return len(self.values)

    def entries(self) -> Entries:
        there = ~np.isnan(self.values)
        row, item = np.nonzero(there)
        return row, item, self.values[there].astype(np.float64, copy=False)

    def select(self, rows: NDArray[np.int64]) -> Dense:
        return Dense(self.values[rows], self.axis)

    def followed_by(self, others: Sequence[Dense]) -> Dense:
        return Dense(np.concatenate([self.values, *(o.values for o in others)]), self.axis)

    def count(self, statistics: Sequence[Statistic], labels: Labels) -> AxisSums:
        if CELL in statistics:
            return self._count_cells(labels)
        found = dispatch.tally_dense(self.values, labels.codes, labels.weight, len(labels.classes))
        present, value, square = (Sums(*of) for of in found)
        _refuse_infinite(self, value, "infinite values")
        if SQUARE in statistics:
            what = "values whose squares overflow"
            _refuse_infinite(self, square, what)
            with np.errstate(over="ignore"):  # of rows that weigh little, only the mean does
                n = np.where(present.high > 0, present.high, 1.0)
                _refuse_infinite(self, Sums(square.high / n), what)
        tables = {PRESENT: present, VALUE: value, SQUARE: square}
        return self.axis, {s: tables[s] for s in statistics}

    def _count_cells(self, labels: Labels) -> AxisSums:
        """Count numbers by cell and class."""
        # With many classes the table is larger than the rows, and is made once: which cells there
        # are is found without the classes.
        y, w, k = labels.codes, labels.weight, len(labels.classes)
        if k < MANY_CLASSES or len(y) > CAP * k:
            *found, sums = dispatch.tally_cells(self.values, y, w, k, CAP)
            return Cells(self.axis.columns, *found), {CELL: Sums(*sums)}
        *found, _ = dispatch.tally_cells(self.values, np.zeros_like(y), w, 1, CAP)
        axis = Cells(self.axis.columns, *found)
        row, column, x = self.entries()
        if w is not None:
            there = w[row] > 0
            row, column, x, w = row[there], column[there], x[there], w[row[there]]
        cell = axis.find(x, column) * k + y[row]
        return axis, {CELL: Sums(*scatter(cell, np.ones(len(cell)), w, (len(axis), k)))}


def _refuse_infinite(block: Dense | Sparse, sums: Sums | SparseSums, what: str) -> None:
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


STRIP = 1 << 18  # stored numbers of the rows that are looked at together

_ONE = np.ones(1)
_ONE.flags.writeable = False


def ones(n: int) -> Floats:
    """Return n ones, (n,), in the memory of one; ``np.broadcast_to`` is slow for a short text."""
    return np.ndarray((n,), np.float64, _ONE, strides=(0,))


@dataclass(frozen=True, eq=False)
class Sparse(Block):
    """The rows of a CSR matrix, of numbers or of the words of texts.

    What is not stored is 0. No number is missing; a text may be missing as a whole.
    """

    indptr: NDArray[np.integer]  # (rows + 1,): where each row begins in ``indices`` and ``data``
    indices: NDArray[np.integer]  # (stored,): the column or the word of each number that is stored
    data: NDArray[np.number]  # (stored,): the numbers, or how often the text holds the word
    axis: Columns | Words  # what the columns of the matrix are
    absent: NDArray[np.bool_] | None = None  # (rows,): which texts are missing; by default none is
    # Whether a word counts at most once in a text, so that ``data`` is 1 throughout.
    presence: bool = False
    # Whether a stored number that is NaN or infinite is an error, as of ``Dense``.
    complete: bool = False

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def split(self) -> Sparse:
        return self

    def entries(self) -> Entries:
        stored = slice(self.indptr[0], self.indptr[-1])  # there may be room for more
        indices, data = self.indices[stored], self.data[stored]
        row, there = np.repeat(np.arange(len(self)), np.diff(self.indptr)), ~np.isnan(data)
        return row[there], indices[there].astype(np.int64), clipped(data[there])

    def select(self, rows: NDArray[np.int64]) -> Sparse:
        data = None if self.presence else self.data
        indptr, indices, data = dispatch.take_rows(self.indptr, self.indices, data, rows)
        indptr = indptr.astype(self.indptr.dtype, copy=False)
        if data is None:
            data = ones(len(indices))
        absent = None if self.absent is None else self.absent[rows]
        return replace(self, indptr=indptr, indices=indices, data=data, absent=absent)

    def followed_by(self, others: Sequence[Sparse]) -> Sparse:
        every = [self, *others]
        length = np.concatenate([np.zeros(1, np.int64), *(np.diff(o.indptr) for o in every)])
        return replace(
            self,
            indptr=np.cumsum(length),
            indices=np.concatenate([o.indices for o in every]),
            data=np.concatenate([o.data for o in every]),
            absent=np.concatenate([o.missing for o in every]),
        )

    def count(self, statistics: Sequence[Statistic], labels: Labels) -> AxisSums:
        """Count what is stored: numbers, or the words of texts."""
        tables: dict[Statistic, AnySums] = {}
        if isinstance(self.axis, Words):
            tables[VALUE] = self._by_class(None if self.presence else self.data, labels)
            if self.axis.analyser.counts_documents and not self.presence:
                tables[DOCUMENT] = self._by_class(None, labels)
                statistics = (*statistics, DOCUMENT)
            tables[PRESENT] = _count_present(self, labels)
        else:
            tables[VALUE] = value = self._by_class(self.data, labels)
            _refuse_infinite(self, value, "infinite or missing values")
            tables[PRESENT] = RepeatedSums.of_row(labels.by_class(), len(self.axis))
        return self.axis, {s: tables[s] for s in statistics}

    def _by_class(self, data: NDArray[np.number] | None, labels: Labels) -> Sums | SparseSums:
        """Return the sums of what is stored, or how often something is, by column and class."""
        rows = labels.codes, labels.weight, len(labels.classes), len(self.axis)
        if not isinstance(self.axis, Words) and len(labels.classes) <= FEW_CLASSES:
            of_cells = dispatch.tally_csr(
                self.indptr, self.indices, self.data, *rows, self.complete
            )
            return Sums(*of_cells)
        x = None if data is None else np.asarray(data, np.float64)
        if self.complete and x is not None and not np.isfinite(x).all():
            raise ValueError("A cell is missing or infinite.")
        number = self.indices.astype(np.int32, copy=False)
        first, classes, high, low = dispatch.tally_sparse(self.indptr, number, x, *rows)
        return SparseSums(first, classes, Sums(high, low), len(labels.classes))

    def once(self) -> Sparse:
        """Return texts in which each word that they hold counts once."""
        if self.presence:
            return self
        return replace(self, data=ones(len(self.indices)), presence=True)

    def by_words(self, axis: Words) -> Sparse:
        """Return texts by the words of another axis; words that it lacks are left out."""
        assert isinstance(self.axis, Words)
        place = axis.find(self.axis)
        return replace(self, axis=axis) if place is None else self.moved(place, axis)

    def moved(self, place: NDArray[np.int64], axis: Columns | Words) -> Sparse:
        """Return a matrix whose columns have other numbers, ``place``; those at -1 are left out."""
        indices = place.astype(np.int32)[self.indices]
        stay = indices >= 0
        if stay.all():
            return replace(self, indices=indices, axis=axis)
        indptr = np.append(0, np.cumsum(stay))[self.indptr]
        return replace(self, indptr=indptr, indices=indices[stay], data=self.data[stay], axis=axis)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many known words each text has, of shape (rows,)."""
        if self.presence:
            return np.diff(self.indptr).astype(np.int64)
        before = np.concatenate([np.zeros(1), np.cumsum(self.data)])
        return np.asarray(np.diff(before[self.indptr]).astype(np.int64))

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows are missing, of shape (rows,)."""
        return np.zeros(len(self), np.bool_) if self.absent is None else self.absent


@dataclass(frozen=True, eq=False)
class Codes(Block):
    """Level numbers within each column, rows × columns; negative is missing.

    At prediction a number past a column's last level stands for every level never seen. Where rows
    are ``complete`` a negative number is an error, as of ``Dense``.
    """

    codes: NDArray[np.integer]
    axis: Levels
    complete: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    def entries(self) -> Entries:
        row, column = np.nonzero(self.codes >= 0)
        return row, column, self.codes[row, column]

    def select(self, rows: NDArray[np.int64]) -> Codes:
        return Codes(self.codes[rows], self.axis)

    def followed_by(self, others: Sequence[Codes]) -> Codes:
        return Codes(np.concatenate([self.codes, *(o.codes for o in others)]), self.axis)

    def count(self, statistics: Sequence[Statistic], labels: Labels) -> AxisSums:  # noqa: ARG002
        rows = labels.codes, labels.weight, len(labels.classes), self.complete
        return self.axis, {LEVEL: Sums(*dispatch.tally_codes(self.codes, self.axis.first, *rows))}


# --- Batches: the blocks of some rows, and the labels of these rows ------------------------------


AT_ONCE = 25_000_000  # characters that are split together, those of each block of texts
KEPT = 100_000_000  # of so many at most the words of each text are kept
MOST_UNUSED = 2  # times as many texts as are selected, of which words are kept meanwhile


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that are encoded: a block for each group of columns, and the labels."""

    # The block of each group of columns, by its key; all have the same number of rows.
    blocks: Mapping[BlockKey, Block]
    labels: Labels  # the class of each row, and the weight of all its copies
    # (rows,): how many equal rows each row stands for; by default one.
    copies: NDArray[np.int64] | None = None
    # (rows,): what each of them counts by where weights are fitted; by default what it weighs.
    each: Floats | None = None
    # (rows,): a number for each by its texts, kept where these are split; by default none is.
    texts: Hashes | None = None

    def __len__(self) -> int:
        return len(self.labels.codes)

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """How many equal rows each row stands for, of shape (rows,)."""
        return np.ones(len(self), np.int64) if self.copies is None else self.copies

    @property
    def unsplit(self) -> int:
        """About how many characters its texts have that are to be split."""
        return sum(block.unsplit for block in self.blocks.values())

    @property
    def independent(self) -> Labels:
        """The labels of the rows, of the weights by which they count where weights are fitted."""
        if self.each is None:
            return self.labels
        return replace(self.labels, weight=self.each * self.times)

    def take(self, rows: NDArray[np.int64]) -> Batch:
        """Return the rows of these numbers, (selected,), in this order."""
        blocks: dict[BlockKey, Block] = {}
        taken: dict[int, Strings] = {}  # texts that several blocks read, which they do still
        for key, block in self.blocks.items():
            if isinstance(block, Documents) and isinstance(block.texts, Strings):
                if id(block.texts) not in taken:
                    taken[id(block.texts)] = block.texts.take(rows)
                blocks[key] = block.selected(rows, taken[id(block.texts)])
            else:
                blocks[key] = block.select(rows)
        copies = None if self.copies is None else self.copies[rows]
        each = None if self.each is None else self.each[rows]
        texts = None if self.texts is None else self.texts[rows]
        return Batch(blocks, self.labels.take(rows), copies, each, texts)

    def seen(self) -> Batch:
        """Return the rows whose weight is not 0: a row of weight 0 does not count as seen."""
        weight = self.labels.weight
        return self if weight is None else self.take(np.flatnonzero(weight))

    def keep(self, copies: NDArray[np.int64]) -> Batch:
        """Return ``copies``, (rows,), of each row, with their share of its weight."""
        # A row of 0 copies is dropped.
        there = np.flatnonzero(copies)
        part = self.take(there)
        share = copies[there] / part.times
        labels = part.labels
        if (share < 1).any():
            labels = replace(labels, weight=labels.weights * share)
        return replace(part, labels=labels, copies=copies[there])

    def split(self) -> Batch:
        """Return the same rows with each text as the counts of its words, to split it only once."""
        return replace(self, blocks=split_texts(self.blocks))

    def pieces(self) -> Iterator[Batch]:
        """Yield the rows in several batches if their texts are long: their words take memory."""
        n = min(-(-self.unsplit // AT_ONCE), len(self))
        if n <= 1:
            yield self
            return
        for rows in np.array_split(np.arange(len(self)), n):
            yield self.take(rows)

    def on(self, axes: Mapping[BlockKey, Axis]) -> Batch:
        """Return the same rows, whose texts have the words of these axes and then new ones."""
        blocks = dict(self.blocks)
        for key, block in self.blocks.items():
            axis = axes.get(key)
            if isinstance(block, Documents) and block.found is None and isinstance(axis, Words):
                blocks[key] = replace(block, axis=axis)
        return replace(self, blocks=blocks)

    def tokenised(self) -> Batch:
        """Return the same rows with texts that know their words, so that they are split once."""
        # The words of long texts would take much memory: they stay as they are.
        if not 0 < self.unsplit <= KEPT:
            return self
        blocks = dict(self.blocks)
        for key, split in split_texts(self.blocks, grow=True).items():
            block = blocks[key]
            if isinstance(block, Documents) and isinstance(split, Sparse):
                blocks[key] = replace(block, found=split)
        return replace(self, blocks=blocks)

    def as_texts(self) -> Batch:
        """Return the same rows with texts that do not know their words, which take more memory."""
        blocks = dict(self.blocks)
        for key, block in self.blocks.items():
            if isinstance(block, Documents):
                blocks[key] = replace(block, found=None, at=None)
        return replace(self, blocks=blocks)

    @property
    def form(self) -> dict[BlockKey, object]:
        """The type and axis of each block; batches of equal forms can be joined."""
        return {
            key: (type(of), of.axis.columns if isinstance(of.axis, Columns) else id(of.axis))
            for key, of in self.blocks.items()
        }

    @classmethod
    def join(cls, batches: Sequence[Batch]) -> Batch:
        """Return the rows of all batches, which are of one form and have the same classes."""
        first, *others = batches
        if not others:
            return first
        blocks = {
            key: block.followed_by([other.blocks[key] for other in others])
            for key, block in first.blocks.items()
        }
        labels = Labels.join([batch.labels for batch in batches])
        each = None
        if any(batch.each is not None for batch in batches):
            each = np.concatenate([b.independent.weights / b.times for b in batches])
        known = [batch.texts for batch in batches if batch.texts is not None]
        texts = np.concatenate(known) if len(known) == len(batches) else None
        return cls(blocks, labels, np.concatenate([batch.times for batch in batches]), each, texts)


def with_each(batches: Sequence[Batch], of_rows: NDArray[D]) -> Iterator[tuple[Batch, NDArray[D]]]:
    """Yield each batch with what there is of its rows, (rows, ...), among those of all."""
    ends = np.cumsum([len(batch) for batch in batches])[:-1]
    return zip(batches, np.split(of_rows, ends), strict=True)


def relabelled(
    batches: Sequence[Batch], what: Literal["weight", "group"], of_rows: NDArray[Any]
) -> list[Batch]:
    """Return batches whose rows have other weights or groups, of shape (rows of all,)."""
    each = with_each(batches, of_rows)
    return [replace(b, labels=replace(b.labels, **{what: of})) for b, of in each]


# --- Texts as blocks: each is split into words once, before it is counted or scored --------------


@dataclass(frozen=True, eq=False)
class Documents(Block):
    """Texts as they are (None is missing), which are split before they are counted or scored.

    ``Analyser.rows`` made them, so that some may be lists of words, and all together may be
    `Strings`. With ``presence`` a word counts at most once in a text. ``found`` is how often each
    text holds each word, where they have been split already: in its rows ``at``, (texts,), by
    default in all, so that words are copied where they are asked for and not for each selection.
    """

    texts: Sequence[Row]
    axis: Words
    presence: bool = False
    found: Sparse | None = None
    at: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def split(self) -> Sparse:
        """Return how often each text holds each word of the axis."""
        return _split([self], grow=False)[0]

    def grown(self) -> Sparse:
        """Return how often each text holds each word, all of which its axis has then."""
        if self.found is not None:
            words = self.found if self.at is None else self.found.select(self.at)
            return words.once() if self.presence else words
        return _split([self], grow=self.axis.grows)[0]

    def count(self, statistics: Sequence[Statistic], labels: Labels) -> AxisSums:
        straight = self.counts_straight and labels.weight is None
        if not straight or len(labels.classes) > FEW_CLASSES:
            return self.grown().count(statistics, labels)
        # By class as texts are read, without the words of each text.
        axis = self.axis.grown(self.axis.vocabulary.copy())
        counts = axis.vocabulary.count_by_class(self.texts, labels.codes, len(labels.classes))
        present = _count_present(self, labels)
        tables: dict[Statistic, AnySums] = {VALUE: SparseSums.of(Sums(counts)), PRESENT: present}
        return axis, {s: tables[s] for s in statistics}

    @property
    def counts_straight(self) -> bool:
        """Whether words can be counted by class as texts are read, without those of each text."""
        plain = not (self.presence or self.axis.analyser.counts_documents)
        return plain and self.found is None and self.axis.grows

    def entries(self) -> Entries:
        return self.split().entries()

    def select(self, rows: NDArray[np.int64]) -> Documents:
        if isinstance(self.texts, Strings):  # the bytes of other rows are not kept
            return self.selected(rows, self.texts.take(rows))
        return self.selected(rows, [self.texts[row] for row in rows.tolist()])

    def selected(self, rows: NDArray[np.int64], texts: Sequence[Row]) -> Documents:
        """Return the rows of these numbers, whose texts these are."""
        if self.found is None:
            return replace(self, texts=texts)
        at = rows if self.at is None else self.at[rows]
        if MOST_UNUSED * len(at) >= len(self.found):
            return replace(self, texts=texts, at=at)
        return replace(self, texts=texts, found=self.found.select(at), at=None)

    def followed_by(self, others: Sequence[Documents]) -> Documents:
        every = [self.texts, *(other.texts for other in others)]
        strings = [texts for texts in every if isinstance(texts, Strings)]
        if len(strings) == len(every):
            return replace(self, texts=Strings.join(strings), found=None, at=None)
        texts = [text for texts in every for text in texts]
        return replace(self, texts=texts, found=None, at=None)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many known words each text has, of shape (rows,)."""
        return self.split().lengths

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which texts are missing, of shape (rows,)."""
        if isinstance(self.texts, Strings) and self.texts.missing is not None:
            return self.texts.missing
        if isinstance(self.texts, Strings) or None not in self.texts:  # the cheap question first
            return np.zeros(len(self.texts), np.bool_)
        return np.fromiter((text is None for text in self.texts), np.bool_, len(self.texts))

    @property
    def unsplit(self) -> int:  # type: ignore[override]  # read-only
        if self.found is not None:
            return 0
        if isinstance(self.texts, Strings):
            return int(self.texts.offsets[-1] - self.texts.offsets[0])
        of_word = 8  # about
        return sum(
            len(text) if isinstance(text, str) else of_word * len(text)
            for text in self.texts
            if text is not None
        )


def _count_present(block: Sparse | Documents, labels: Labels) -> Sums:
    """Return the weight of the texts of each class that are not missing, of shape (1, classes)."""
    return labels.take(np.flatnonzero(~block.missing)).by_class()[None]


def split_texts(blocks: Mapping[BlockKey, Block], *, grow: bool = False) -> dict[BlockKey, Block]:
    """Return blocks of which each text is the counts of its words; each text is read once."""
    # If axes are to grow, words that they lack become known: those of the result have them then.
    found = dict(blocks)
    together: dict[tuple[object, ...], list[BlockKey]] = {}
    for key, block in blocks.items():
        if isinstance(block, Documents) and block.found is not None and grow:
            found[key] = block.grown()
        elif isinstance(block, Documents):
            of = grow and block.axis.grows, *_source(block)
            together.setdefault(of, []).append(key)
    for of, keys in together.items():
        texts = [block for key in keys if isinstance(block := blocks[key], Documents)]
        found |= dict(zip(keys, _split(texts, grow=bool(of[0])), strict=True))
    return found


def _source(block: Documents) -> tuple[object, ...]:
    """Return what is the same for blocks whose texts can be read together."""
    texts = block.texts
    if not isinstance(texts, Strings):
        return (id(block),)
    lowercase = block.axis.analyser.splitting.get("lowercase", True)
    return id(texts.offsets), id(texts.utf8), lowercase


def _split(blocks: Sequence[Documents], *, grow: bool) -> list[Sparse]:
    """Return texts of one source as the counts of their words."""
    axes = [block.axis for block in blocks]
    if grow:
        axes = [axis.grown(axis.vocabulary.copy()) for axis in axes]
    texts = blocks[0].texts
    encoded = dispatch.encode_together(
        [axis.vocabulary for axis in axes], texts, [block.presence for block in blocks], grow
    )
    found = []
    for block, axis, (indptr, word, count) in zip(blocks, axes, encoded, strict=True):
        once = ones(len(word)) if count is None else count
        found.append(Sparse(indptr, word, once, axis, block.missing, block.presence))
    return found


Counts: TypeAlias = Dense | Sparse | Documents


def joined(blocks: Sequence[Block]) -> Block | None:
    """Return the rows of all batches as one block; None if some are sparse."""
    if not any(all(isinstance(block, kind) for block in blocks) for kind in (Dense, Codes)):
        return None
    return blocks[0].followed_by(blocks[1:]) if len(blocks) > 1 else blocks[0]


def numbers_of(block: Block, column: int) -> Floats:
    """Return a column of a block of numbers, of shape (rows,); NaN where a cell is missing."""
    if isinstance(block, Dense):
        return np.asarray(block.values[:, column], np.float64)
    row, item, value = block.entries()
    x = np.zeros(len(block))
    x[row[item == column]] = value[item == column]
    return x
