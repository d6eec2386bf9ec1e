"""Arrow's columns as they are read: PyArrow writes them, and says what is in them."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import random
import sys
from contextlib import nullcontext
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from naively import NaiveBayes
from naively.data.frames import ArrowStream, as_rows
from naively.kernels.strings import Strings

UTC = dt.UTC
EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)
MOMENTS = [
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    dt.datetime(2024, 2, 29, 12, 30, 1, 5, tzinfo=UTC),
    dt.datetime(1, 1, 1, tzinfo=UTC),
    dt.datetime(9999, 12, 31, tzinfo=UTC),
]
RECENT = [MOMENTS[0], MOMENTS[1], dt.datetime(2262, 1, 1, tzinfo=UTC)]
STRINGS = ["", "a", "twelve bytes", "thirteen byte", "naïve 字 𝄞", "x" * 1000]
DECIMALS = [decimal.Decimal(text) for text in ("1.25", "-0.01", "0", "-99999.99", "12345.67")]
LONG = [decimal.Decimal(10**30) / 100, decimal.Decimal(-(10**30)) / 100, decimal.Decimal("0.07")]


def seconds(moment: dt.datetime) -> float:
    return (moment - EPOCH) / dt.timedelta(seconds=1)


def of_date(day: dt.date) -> float:
    return seconds(dt.datetime(day.year, day.month, day.day, tzinfo=UTC))


def of_clock(clock: dt.time) -> float:
    return 3600 * clock.hour + 60 * clock.minute + clock.second + clock.microsecond / 1e6


DAYS = [moment.date() for moment in MOMENTS]
CLOCKS = [dt.time(0), dt.time(23, 59, 59), dt.time(12, 30, 1)]
SPANS = [dt.timedelta(0), dt.timedelta(days=-3), dt.timedelta(hours=5, seconds=7)]
TYPES: dict[str, tuple[pa.DataType, list[Any], Any, str]] = {
    **{
        f"{sign}int{bits}": (
            getattr(pa, f"{sign}int{bits}")(),
            [0, 1, 2 ** (bits - 2), *([] if sign else [-1, -(2 ** (bits - 1))])],
            float,
            "number",
        )
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "float16": (pa.float16(), [np.float16(1.5), np.float16(-2)], float, "number"),
    "float32": (pa.float32(), [0.5, -3.25], float, "number"),
    "float64": (pa.float64(), [0.1, -1e300, math.inf], float, "number"),
    "bool": (pa.bool_(), [True, False], float, "boolean"),
    **{
        f"decimal{bits}": (getattr(pa, f"decimal{bits}")(digits, 2), DECIMALS, float, "number")
        for bits, digits in ((32, 9), (64, 12), (128, 12), (256, 50))
    },
    "a long decimal": (pa.decimal128(38, 2), LONG, float, "number"),
    "date32": (pa.date32(), DAYS, of_date, "time"),
    "date64": (pa.date64(), DAYS, of_date, "time"),
    **{
        f"timestamp in {unit}": (pa.timestamp(unit, "UTC"), of, seconds, "time")
        for unit, of in (("us", MOMENTS), ("ns", RECENT))
    },
    "timestamp of a zone": (pa.timestamp("us", "Asia/Tokyo"), RECENT, seconds, "time"),
    **{
        f"timestamp in {unit}": (
            pa.timestamp(unit, "UTC"),
            [moment.replace(microsecond=0) for moment in MOMENTS],
            seconds,
            "time",
        )
        for unit in ("s", "ms")
    },
    **{f"time in {u}": (pa.time32(u), CLOCKS, of_clock, "number") for u in ("s", "ms")},
    **{f"time in {u}": (pa.time64(u), CLOCKS, of_clock, "number") for u in ("us", "ns")},
    **{
        f"duration in {u}": (pa.duration(u), SPANS, dt.timedelta.total_seconds, "number")
        for u in ("s", "ms", "us", "ns")
    },
    "string": (pa.string(), STRINGS, str, "string"),
    "large string": (pa.large_string(), STRINGS, str, "string"),
    "string view": (pa.string_view(), STRINGS, str, "string"),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), STRINGS, str, "string"),
    "large dictionary": (pa.dictionary(pa.int64(), pa.large_string()), STRINGS, str, "string"),
    **{
        f"list of {words}": (pa.list_(words), [["a", "b" * 20], [], ["c"]], list, "text")
        for words in (pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))
    },
    "large list": (pa.large_list(pa.string()), [["a", "b"], [], ["c"]], list, "text"),
    "list of one length": (pa.list_(pa.string(), 2), [["a", "b"], ["c", "d"]], list, "text"),
}


def read(table: Any) -> tuple[list[Any], str | None]:
    """Return the one column of a table, with None where a cell is missing; times in seconds."""
    ((cells, kind),) = ArrowStream(table).read().values()
    if isinstance(cells, Strings):
        return list(cells), kind
    if cells.dtype.kind == "M":
        cells = (cells - np.datetime64(0, "us")) / np.timedelta64(1, "s")
    return [None if cell is None or cell != cell else cell for cell in cells.tolist()], kind


def same(found: list[Any], expected: list[Any]) -> bool:
    """Whether cells are the same, numbers but for the last bit."""
    return len(found) == len(expected) and all(
        a == b or (isinstance(b, float) and a is not None and math.isclose(a, b, rel_tol=1e-15))
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("missing", [False, True], ids=["all there", "some missing"])
@pytest.mark.parametrize("name", TYPES)
def test_a_column_is_what_its_library_says(name: str, missing: bool) -> None:
    dtype, values, meaning, kind = TYPES[name]
    rng = random.Random(5)
    every = [None, *values] if missing else values
    cells = [*every, *rng.choices(every, k=70)]
    expected = [None if cell is None else meaning(cell) for cell in cells]
    array = pa.array([None if c is None else c for c in cells], dtype)
    for begin, end in ((0, 70), (1, 70), (7, 9), (8, 64), (13, 70)):  # validity is in bits
        table = pa.table({"x": array.slice(begin, end - begin)})
        found, found_kind = read(table)
        assert same(found, expected[begin:end]), (begin, end)
        assert found_kind in (kind, None)
    chunks = pa.chunked_array([array.slice(0, 5), array.slice(5, 0), array.slice(5)])
    assert same(read(pa.table({"x": chunks}))[0], expected)


class OfStructs:
    """A table by the PyCapsule interface, as an array of structs."""

    def __init__(self, *arrays: pa.StructArray) -> None:
        self.chunks = pa.chunked_array(list(arrays))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.chunks.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("missing", [False, True], ids=["all there", "some missing"])
@pytest.mark.parametrize("name", TYPES)
def test_the_offset_and_the_missing_rows_of_a_struct_are_those_of_its_columns(
    name: str, missing: bool
) -> None:
    dtype, values, meaning, _ = TYPES[name]
    rng = random.Random(7)
    cells = rng.choices([None, *values] if missing else values, k=70)
    lacking = [rng.random() < 0.2 for _ in cells]
    array, mask = pa.array([None, *cells], dtype)[1:], pa.array(lacking)
    plain = [None if cell is None else meaning(cell) for cell in cells]
    expected = [None if out else cell for cell, out in zip(plain, lacking, strict=True)]
    whole = pa.StructArray.from_arrays([array], names=["x"])
    holes = pa.StructArray.from_arrays([array], names=["x"], mask=mask)
    for struct, right in ((whole, plain), (holes, expected)):
        for begin, end in ((0, 70), (1, 70), (7, 9), (8, 64), (13, 70)):
            found, _ = read(OfStructs(struct[begin:end]))
            assert same(found, right[begin:end]), (begin, end)
        assert same(read(OfStructs(struct[:9], struct[9:9], struct[9:]))[0], right)
    nothing = pa.StructArray.from_arrays([array], names=["x"], mask=pa.array([True] * 70))
    assert read(OfStructs(nothing)) == ([None] * 70, None)


def test_a_sliced_array_of_structs_is_learned_row_by_row() -> None:
    x, y = [1.0, 2.0, 7.0, 8.0, 50.0], ["a", "a", "b", "b", "c"]
    struct = pa.StructArray.from_arrays([pa.array(x), pa.array(y)], names=["x", "y"])
    nb = NaiveBayes("gaussian", weights=None).fit(OfStructs(struct[1:4]), "y")
    right = NaiveBayes("gaussian", weights=None).fit({"x": x[1:4]}, y[1:4])
    assert nb.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(nb.predict_proba({"x": x}), right.predict_proba({"x": x}))


@pytest.mark.parametrize("dtype", [of[0] for of in TYPES.values()], ids=TYPES)
def test_a_column_that_is_missing_throughout_has_no_kind(dtype: pa.DataType) -> None:
    found, kind = read(pa.table({"x": pa.array([None] * 9, dtype)}))
    assert found == [None] * 9
    assert kind is None
    assert read(pa.table({"x": pa.array([], dtype)}))[0] == []


def test_integers_beyond_floats_stay_apart() -> None:
    cells = [2**53, 2**53 + 1, None, -(2**63)]
    assert read(pa.table({"x": pa.array(cells, pa.int64())})) == (cells, "number")
    cells = [2**64 - 1, None, 2**64 - 2]
    assert read(pa.table({"x": pa.array(cells, pa.uint64())})) == (cells, "number")


@pytest.mark.parametrize("name", [name for name in TYPES if "dictionary" not in name])
def test_a_dictionary_is_what_its_cells_are(name: str) -> None:
    dtype, values, meaning, kind = TYPES[name]
    order = [1, None, 0, 1, 0]
    levels, codes = pa.array([*values[:2], None], dtype), pa.array([*order, 2], pa.int16())
    expected = [None if i is None else meaning(values[i]) for i in [*order, None]]
    for first in (0, 1):
        array = pa.DictionaryArray.from_arrays(codes, levels).slice(first)
        found, found_kind = read(pa.table({"x": array}))
        assert found_kind == kind
        assert same(found, expected[first:])
    assert read(pa.table({"x": array[:1]}))[1] is None


@pytest.mark.parametrize("name", TYPES)
def test_an_array_is_read_as_a_stream_of_it_is(name: str) -> None:
    array = pa.array([*TYPES[name][1], None], TYPES[name][0]).slice(1)
    rows = as_rows({"x": array}), as_rows(pa.table({"x": array}))
    one, other = ([of.kind("x"), *map(str, of.values("x"))] for of in rows)
    assert one == other


@pytest.mark.parametrize(
    ("array", "what"),
    [
        (pa.array([{"a": 1}]), "struct"),
        (pa.array([b"x"]), "binary"),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), "map"),
        (pa.array([pa.MonthDayNano([1, 2, 3])]), "interval"),
    ],
    ids=["struct", "binary", "map", "interval"],
)
def test_a_nested_type_is_named_with_its_column(array: pa.Array, what: str) -> None:
    table = pa.table({"fine": [1.0], "odd": array})
    with pytest.raises(ValueError, match=f"^Column 'odd' holds {what}.* values, which cannot be"):
        NaiveBayes().fit(table, ["a"])


def test_lists_of_anything_but_words_are_named_with_their_column() -> None:
    with pytest.raises(ValueError, match="Column 'odd' holds a list in row 0 that is not of words"):
        NaiveBayes().fit(pa.table({"odd": [[1.5]]}), ["a"])


def test_a_name_that_is_there_twice() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(ValueError, match="more than one column named 'x'"):
        NaiveBayes().fit(table, ["a"])


@pytest.mark.parametrize("large", [False, True])
def test_invalid_utf8_is_replaced_counted_and_said(large: bool) -> None:
    offsets = np.array([0, 1, 4, 4, 6], np.int64 if large else np.int32)
    make = pa.LargeStringArray if large else pa.StringArray
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"ax\xe9y\xff\xfe")]
    array = make.from_buffers(4, buffers[1], buffers[2])
    with pytest.warns(UserWarning, match="3 bytes of invalid UTF-8 were replaced in column 'x'"):
        assert read(pa.table({"x": array}))[0] == ["a", "x�y", "", "��"]


@pytest.mark.slow
@pytest.mark.skipif(sys.maxsize < 2**40, reason="there is not so much memory")
@pytest.mark.parametrize("levels", [3, 700, 20_000])
@pytest.mark.parametrize("broken", [False, True])
def test_string_views_are_read_as_strings_of_any_layout(levels: int, broken: bool) -> None:
    rng = np.random.default_rng(levels)
    cells = [None if i == 1 else f"é{i}" * (i % 7) for i in rng.integers(0, levels, 12_000)]
    cells[7] = "é2é2"
    views = pa.array(cells, pa.string_view())
    if broken:
        bytes_ = [cell and cell.encode() + b"\xff" * (cell == "é2é2") for cell in cells]
        views = pa.array(bytes_, pa.binary_view()).view(pa.string_view())
        cells = [cell and cell + "\ufffd" * (cell == "é2é2") for cell in cells]
    table = pa.table({"a": views}).slice(5)
    said = pytest.warns(UserWarning, match="bytes? of invalid UTF-8") if broken else nullcontext()
    with said:
        read = ArrowStream(table).read()["a"][0]
    assert isinstance(read, Strings)
    assert list(read) == cells[5:]
    assert (read.coded is not None) == (levels < 20_000 and not broken)


def test_strings_of_more_bytes_than_an_int32_counts() -> None:
    piece = "x" * (1 << 20)
    n = 2_100
    offsets = np.arange(n + 1, dtype=np.int64) * len(piece)
    utf8 = np.full(n * len(piece), ord("x"), np.uint8)
    array = pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(utf8))
    ((cells, kind),) = ArrowStream(pa.table({"x": array})).read().values()
    assert kind == "string"
    assert isinstance(cells, Strings)
    assert cells[n - 1] == piece
    assert cells.offsets[-1] > 2**31


def test_booleans_with_missing_cells_read_as_booleans() -> None:
    rows = as_rows(pl.DataFrame({"x": [True, None, False]}))
    assert rows.values("x").tolist() == [True, None, False]


def test_pyarrow_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = pl.DataFrame({"x": ["a", None, "b", "a"], "n": [1, 2, None, 4], "y": list("pqpq")})
    assert NaiveBayes().fit(frame, "y").class_count_.tolist() == [2, 2]
