"""Rows become a batch of blocks, and batches of one model those of another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    DENSE_RANGE,
    Analyser,
    Columns,
    DerivedLevels,
    Encoded,
    Level,
    Levels,
    Name,
    Words,
    title,
)
from naively.counting.block import Batch, Block, BlockKey, Codes, Dense, Documents, Sparse
from naively.counting.labels import is_missing, plain_cell
from naively.data.columns import (
    TIME,
    Cells,
    ColumnRows,
    Kind,
    MatrixRows,
    Reading,
    Rows,
    SparseRows,
    column_rows,
    missing_in,
    times_of,
)
from naively.data.reading import with_readings
from naively.kernels import dispatch
from naively.kernels.reference import Integers
from naively.kernels.strings import Row, Strings

# --- Columns become blocks, and back: numbers as they are, levels as codes, texts as documents ---


CellArray: TypeAlias = "NDArray[Any]"  # a column, of shape (rows,), as ``Rows.values`` has it
MISSING = -1
FEW = 32  # strings that are looked up as they are, sooner than their levels are found


def encode_sparse(rows: SparseRows, columns: range | tuple[Name, ...]) -> Sparse:
    """Encode numbers of which most are 0 as they are kept."""
    matrix = rows.select(columns).matrix
    csr = matrix.indptr, matrix.indices, matrix.data
    return Sparse(*csr, Columns(columns), complete=rows.complete)


def encode_texts(
    rows: Rows, column: Name, analyser: Analyser, axis: Words | None = None
) -> Documents:
    """Encode a text column; without an axis its words are found as they are counted."""
    cells = rows.cells(column)
    texts: Sequence[Row]
    if isinstance(cells, Strings):
        texts = cells
    elif cells.dtype.kind == "O":
        texts = cells.tolist()
    else:
        texts = [None] * len(cells)  # every cell is missing
    axis = axis or Words((column,), analyser.new_vocabulary(), analyser)
    return Documents(analyser.rows(texts), axis, analyser.binary)


def find_levels(rows: Rows, columns: Sequence[Name]) -> Codes:
    """Encode columns by the levels that they hold; whole numbers close together need no look-up."""
    if isinstance(rows, MatrixRows) and columns == rows.names and len(rows):
        matrix = rows.matrix
        ranges = find_ranges(matrix) if matrix.dtype.kind in "iu" else None
        if ranges is not None and max(ranges[1]) - min(ranges[0]) < DENSE_RANGE:
            low, high = ranges
            if rows.complete and min(low) < 0:
                raise ValueError("a category is negative")
            levels = tuple(tuple(range(a, b + 1)) for a, b in zip(low, high, strict=True))
            if any(low):
                if matrix.dtype.itemsize < 4:  # the differences may not fit in so few bits
                    matrix = matrix.astype(np.int32)
                matrix = matrix - np.array(low, matrix.dtype)
            return Codes(_signed(matrix), Levels(tuple(columns), levels))
    found = [levels_of(rows.levels(name)) for name in columns]
    codes = np.empty((len(rows), len(found)), np.int32, order="F")
    for j, (of_column, _) in enumerate(found):
        codes[:, j] = of_column
    return Codes(codes, Levels(tuple(columns), tuple(levels for _, levels in found)))


def encode_words(rows: Rows, columns: Sequence[Name], axis: Levels | None = None) -> Codes:
    """Encode what stands in place of values in columns that are read from strings."""
    # Without an axis the words are found; of a column that has too many, none is.
    codes = np.full((len(rows), len(columns)), MISSING, np.int32, order="F")
    levels: list[tuple[Level, ...]] = [()] * len(columns)
    for j, name in enumerate(columns):
        words = rows.words.get(name)
        if words is None or rows.readings[name].words is None:
            continue
        if axis is None:
            codes[:, j], levels[j] = levels_of(words)
        else:
            codes[:, j] = _look_up(words, axis.index[j])
    return Codes(codes, axis or Levels(tuple(columns), tuple(levels)))


def read_levels(name: Name, levels: Sequence[Level], reading: Reading) -> Rows:
    """Return a row for each level of a column of strings, as the column is read."""
    rows = column_rows({name: list(levels)}, {name: "string"})
    return with_readings(rows, {name: reading})


def find_ranges(matrix: CellArray) -> tuple[list[int], list[int]]:
    """Return the least and the largest whole number of each column."""
    if matrix.dtype in (np.int64, np.int32):
        low, high = dispatch.find_ranges(matrix)
    else:
        low, high = matrix.min(axis=0), matrix.max(axis=0)
    return low.tolist(), high.tolist()


def with_declared(block: Codes, declared: tuple[Level, ...]) -> Codes:
    """Return the codes by an axis on which declared levels come first, whether seen or not."""
    whole = tuple(tuple(dict.fromkeys([*declared, *levels])) for levels in block.axis.levels)
    axis = replace(block.axis, levels=whole, declared=declared)
    codes = (
        placed(of, levels, axis, j)
        for j, (of, levels) in enumerate(zip(block.codes.T, block.axis.levels, strict=True))
    )
    return Codes(np.stack([*codes], axis=1).astype(np.int32), axis)


def look_up_levels(rows: Rows, axis: Levels) -> Codes:
    """Encode columns by known levels; a code past the last stands for all others."""
    if isinstance(rows, MatrixRows) and axis.columns == tuple(rows.names):
        matrix = rows.matrix
        if matrix.dtype.kind in "iu":
            if axis.own_codes and matrix.size:
                if rows.complete:
                    return Codes(_signed(matrix), axis, complete=True)
                if matrix.min() >= 0:
                    return Codes(_signed(matrix), axis)
            if rows.complete and matrix.min(initial=0) < 0:
                raise ValueError("a category is negative")
            if axis.code_table is not None:
                return Codes(axis.code_table.look_up(_signed(matrix)), axis)
    named = zip(axis.columns, axis.index, strict=True)
    found = (_look_up(rows.levels(name), index) for name, index in named)
    if len(rows) <= FEW:  # one array is made, not one for each column
        few = np.array([*found], np.int32).reshape(len(axis.columns), len(rows))
        return Codes(few.T, axis)
    codes = np.empty((len(rows), len(axis.columns)), np.int32, order="F")
    for j, of_column in enumerate(found):
        codes[:, j] = of_column
    return Codes(codes, axis)


class OfTable(Encoded):
    """The columns of a table, as derived columns see them."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def number(self, name: Name) -> NDArray[np.floating]:
        return self.rows.numbers([name])[:, 0]

    def codes_of(self, name: Name, levels: Sequence[Level]) -> NDArray[np.integer]:
        if isinstance(name, DerivedLevels) and levels == name.levels:
            return name.codes(self)
        axis = Levels((name,), (tuple(levels),))
        if isinstance(name, DerivedLevels):
            return placed(name.codes(self), name.levels, axis, 0)
        return look_up_levels(self.rows, axis).codes[:, 0]

    def missing(self, name: Name) -> NDArray[np.bool_]:
        return missing_in(self.rows.cells(name))

    def words(self, name: Name, words: Sequence[Level]) -> NDArray[np.integer]:
        return encode_words(self.rows, [name], Levels((name,), (tuple(words),))).codes[:, 0]


def placed(
    codes: NDArray[np.integer], levels: tuple[Level, ...], axis: Levels, column: int
) -> NDArray[np.integer]:
    """Return codes of some levels, (rows,), as codes of the levels of a column of an axis."""
    if levels is axis.levels[column]:
        return codes
    index = axis.index[column]
    unseen = len(index)
    place = np.array([*(index.get(level, unseen) for level in levels), unseen, MISSING], np.int32)
    return place[np.clip(codes.astype(np.int64), MISSING, len(levels))]


def decode(block: Block, kind: Kind) -> dict[Name, CellArray]:
    """Return a block's columns as they were before they were encoded, each of shape (rows,)."""
    cells: Iterable[CellArray]
    match block:
        case Documents():
            cells = [_objects(block.texts)]
        case Codes():
            levels = map(_objects, block.axis.levels)
            cells = (of[codes] for of, codes in zip(levels, block.codes.T, strict=True))
        case Dense():
            cells = block.values.T
        case _:
            raise TypeError(f"a {type(block).__name__} is not encoded back into columns")
    names = block.axis.columns
    return {name: _values(column, kind) for name, column in zip(names, cells, strict=True)}


def _objects(cells: Sequence[object]) -> CellArray:
    return np.array([*cells, None], object)[:-1]  # with None, rows of one length stay cells


def _values(column: CellArray, kind: Kind) -> CellArray:
    if kind == "time":
        return times_of(column) if column.dtype.kind == "f" else column.astype(TIME)
    if kind == "boolean":
        return column.astype(np.bool_)
    return np.array(column.tolist()) if kind == "number" else column


def whole_rows(rows: Rows, columns: range | tuple[Name, ...]) -> Rows:
    """Make one column of several: tuples of their cells; a row with a missing cell is missing."""
    cells = zip(*(plain_cells(_storable(rows.values(name))) for name in columns), strict=True)
    whole = np.empty(len(rows), object)
    for i, row in enumerate(cells):
        whole[i] = None if any(map(is_missing, row)) else row
    name = ", ".join(map(title, columns))
    return ColumnRows({name: whole}, {name: "string"}, len(rows))


def plain_cells(column: CellArray) -> list[object]:
    """Return the cells of a column as Python's own."""
    return list(map(plain_cell, column.tolist()))


def split_rows(block: Block, columns: Sequence[Name]) -> dict[Name, CellArray]:
    """Return the columns that whole rows were made of."""
    (whole,) = decode(block, "string").values()
    columns_of = {}
    for j, name in enumerate(columns):
        cells = [row[j] for row in whole.tolist()]
        kinds = {type(cell) for cell in cells}
        plain = kinds <= {int, float} or kinds == {bool}
        columns_of[name] = np.array(cells, None if plain else object)
    return columns_of


def _signed(whole: Integers) -> Integers:
    """Return whole numbers as int32 or int64; one past int64 becomes the largest that there is."""
    if whole.dtype in (np.int32, np.int64):
        return whole
    if whole.dtype.kind == "u" and whole.dtype.itemsize == 8:
        whole = np.minimum(whole, np.iinfo(np.int64).max)
    return whole.astype(np.int32 if whole.dtype.itemsize < 4 else np.int64)


def levels_of(column: Cells) -> tuple[NDArray[np.int32], tuple[Level, ...]]:
    """Return the code of each cell, of shape (rows,), and the levels that the codes are of."""
    if isinstance(column, Strings):
        return column.encoded[0], tuple(cast("Iterable[str]", column.different))
    column = _storable(column)
    if column.dtype.kind in "fiub":
        levels, inverse = np.unique(column, return_inverse=True)
        codes = inverse.astype(np.int32)
        if levels.size and levels.dtype.kind == "f" and np.isnan(levels[-1]):
            codes[codes == len(levels) - 1] = MISSING
            levels = levels[:-1]
        return codes, tuple(_plain(levels))
    values = column.tolist()
    index = {
        value: code for code, value in enumerate(v for v in dict.fromkeys(values) if v is not None)
    }
    levels_found = tuple(index)
    index[None] = MISSING
    return np.fromiter(map(index.__getitem__, values), np.int32, len(values)), levels_found


def _storable(column: CellArray) -> CellArray:
    """Return times as strings, as a level must be something that a model file can hold."""
    if column.dtype.kind != "M":
        return column
    strings = np.datetime_as_string(column).astype(object)
    strings[np.isnat(column)] = None
    return strings


def _plain(levels: CellArray) -> list[Level]:
    """Return whole numbers as int, so that 1, 1.0 and True are one level however they arrive."""
    if levels.dtype.kind == "f" and (levels == np.rint(levels)).all() and np.isfinite(levels).all():
        return [int(level) for level in levels.tolist()]
    return cast("list[Level]", levels.tolist())


def _look_up(column: Cells, index: dict[Level, int]) -> list[int] | NDArray[np.int32]:
    """Return the code of each cell, of shape (rows,); an unseen level has the number of levels."""
    unseen = len(index)
    if isinstance(column, Strings):
        if len(column) <= FEW:
            cells = column if column.few is None else column.few
            return [MISSING if cell is None else index.get(cell, unseen) for cell in cells]
        known = (index.get(level, unseen) for level in column.different)
        return np.array([*known, MISSING], np.int32)[column.encoded[0]]
    column = _storable(column)
    if column.dtype.kind in "fiub":
        values, inverse = np.unique(column, return_inverse=True)
        codes = np.array(
            [MISSING if np.isnan(v) else index.get(v, unseen) for v in values.tolist()], np.int32
        )
        return codes[inverse]
    values = column.tolist()
    found = (MISSING if v is None else index.get(v, unseen) for v in values)
    return np.fromiter(found, np.int32, len(values))


# --- The columns that encoded rows hold: to be encoded again for another schema or other axes ----
#
# What a column is taken for follows from its counts, so that it may change as more rows come:
# truths become numbers, and strings become texts. Levels and words come and go too, as rows are
# learned and forgotten.


class Held(Encoded):
    """The columns that a batch holds, by name; levels of strings may be read as numbers."""

    def __init__(self, batch: Batch, readings: Mapping[Name, Reading] | None = None) -> None:
        self.rows = len(batch)
        self.blocks = batch.blocks
        self.dense: dict[Name, tuple[Dense, int]] = {}
        self.coded: dict[Name, tuple[Codes, int]] = {}
        self.sparse: list[Sparse] = []  # matrices of numbers
        self.in_place: dict[Name, tuple[Codes, int]] = {}  # words in place of values
        for key, block in batch.blocks.items():
            match block:
                case Codes() if key.kind == "word":
                    self.in_place |= {name: (block, j) for j, name in enumerate(block.axis.columns)}
                case Dense():
                    self.dense |= {name: (block, j) for j, name in enumerate(block.axis.columns)}
                case Codes():
                    self.coded |= {name: (block, j) for j, name in enumerate(block.axis.columns)}
                case Sparse(axis=Columns()):
                    self.sparse.append(block)
        for name in self.coded.keys() & (readings or {}).keys():
            if all(isinstance(level, str) for level in self._by_level(name)[1]):
                self._read(name, (readings or {})[name])

    def _read(self, name: Name, reading: Reading) -> None:
        """Read levels as numbers or times, and words in their place."""
        codes, levels = self._by_level(name)
        if reading.is_levels or name in self.dense:
            return
        rows = read_levels(name, levels, reading)
        values = np.append(rows.numbers([name])[:, 0], np.nan)
        self.dense[name] = Dense(values[codes][:, None], Columns((name,))), 0
        words = encode_words(rows, [name])
        placed = np.append(words.codes[:, 0], MISSING)[codes]
        self.in_place[name] = Codes(placed[:, None], words.axis), 0
        del self.coded[name]

    def matrix(self, columns: range | tuple[Name, ...]) -> Dense | Sparse:
        """Return columns of numbers; they are sparse if they came so."""
        if len(columns) and columns[0] not in self.dense:
            for matrix in self.sparse:
                if set(matrix.axis.columns) <= set(columns):
                    return _widened(matrix, columns)
        return self.numbers(columns)

    def numbers(self, columns: range | tuple[Name, ...]) -> Dense:
        """Return columns of numbers; NaN where a cell is missing."""
        axis = Columns(columns)
        first = self.dense.get(columns[0]) if len(columns) else None
        if first is not None and first[0].axis.columns == columns:
            return Dense(first[0].values, axis)
        matrix = np.full((self.rows, len(columns)), np.nan)
        for j, name in enumerate(columns):
            if name in self.dense:
                block, at = self.dense[name]
                matrix[:, j] = block.values[:, at]
        return Dense(matrix, axis)

    def codes(self, axis: Levels) -> Codes:
        """Return columns by known levels; others share one more code."""
        codes = np.full((self.rows, len(axis.columns)), MISSING, np.int32)
        for j, name in enumerate(axis.columns):
            own, known = self._by_level(name)
            codes[:, j] = placed(own, known, axis, j)
        return Codes(codes, axis)

    def coded_words(self, axis: Levels) -> Codes:
        """Return what stands in place of values, by known words."""
        codes = [self.words(*of) for of in zip(axis.columns, axis.levels, strict=True)]
        return Codes(np.stack(codes, axis=1).astype(np.int32), axis)

    def words(self, name: Name, words: Sequence[Level]) -> NDArray[np.integer]:
        """Return which of these words stands in place of each value of a column, (rows,)."""
        if name not in self.in_place:
            return np.full(self.rows, MISSING, np.int32)
        block, at = self.in_place[name]
        axis = Levels((name,), (tuple(words),))
        return placed(block.codes[:, at], block.axis.levels[at], axis, 0)

    def texts(self, key: BlockKey, axis: Words) -> Documents | Sparse:
        """Return the texts of a group, to be split by known words where they are not yet."""
        match self.blocks.get(key):
            case Documents(found=None) as here:
                return replace(here, axis=axis)
            case Documents() as here:
                return here.grown().by_words(axis)
            case Sparse(axis=Words()) as here:
                return here.by_words(axis)
        (name,) = axis.columns
        if name not in self.coded:
            nothing = np.full(self.rows, fill_value=True)
            none = np.zeros(self.rows + 1, np.int64), np.empty(0, np.int32), np.empty(0)
            return Sparse(*none, axis, nothing, axis.analyser.binary)
        block, at = self.coded[name]
        levels = [*block.axis.levels[at], None]
        of_level = Documents(axis.analyser.rows(levels), axis, axis.analyser.binary)
        code = block.codes[:, at].astype(np.int64)
        return of_level.select(np.where(code < 0, len(levels) - 1, code))

    def number(self, name: Name) -> NDArray[np.floating]:
        """Return a column of numbers, of shape (rows,); NaN where a cell is missing."""
        return self.numbers((name,)).values[:, 0]

    def codes_of(self, name: Name, levels: Sequence[Level]) -> NDArray[np.integer]:
        """Return a column by these levels, of shape (rows,); their number is the code of others."""
        return self.codes(Levels((name,), (tuple(levels),))).codes[:, 0]

    def missing(self, name: Name) -> NDArray[np.bool_]:
        """Return which cells of a column are missing, of shape (rows,)."""
        if name in self.dense:
            dense, at = self.dense[name]
            return np.asarray(np.isnan(dense.values[:, at]))
        if name in self.coded:
            coded, at = self.coded[name]
            return np.asarray(coded.codes[:, at] < 0)
        found = np.ones(self.rows, np.bool_)
        for block in self.blocks.values():
            if isinstance(block, Documents | Sparse) and name in block.axis.columns:
                found &= block.missing  # some blocks leave long texts out
        return found

    def count_levels(self, name: Name) -> dict[Level, int]:
        """Return how many rows have each level of a column."""
        codes, levels = self._by_level(name)
        count = np.bincount(codes.astype(np.int64) + 1, minlength=len(levels) + 1)
        return dict(zip(levels, count[1:].tolist(), strict=False))

    def _by_level(self, name: Name) -> tuple[NDArray[np.integer], tuple[Level, ...]]:
        """Return the code of each row in a column, of shape (rows,), and the column's levels."""
        if name in self.coded:
            block, at = self.coded[name]
            return block.codes[:, at], block.axis.levels[at]
        if isinstance(name, DerivedLevels):
            return name.codes(self), name.levels
        return levels_of(self.number(name))  # truths are numbers


def _widened(block: Sparse, columns: range | tuple[Name, ...]) -> Sparse:
    """Return a matrix by other columns, among which are all of its own."""
    if block.axis.columns == columns:
        return block
    place = {name: j for j, name in enumerate(columns)}
    moved = np.array([place[name] for name in block.axis.columns], np.int64)
    return block.moved(moved, Columns(columns))
