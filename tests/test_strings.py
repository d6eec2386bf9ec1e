"""Strings: the kernels against the contract, and both against Python's own and PyArrow."""

from __future__ import annotations

import copy
import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.kernels import forms
from naively.kernels import strings as contract
from naively.kernels.forms import Form
from tests.test_kernels import native, needs_native

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

MODULES = list(filter(None, (contract, native)))

TEXT = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    ["", "a", "a\0", "\0", "é", "\ud800", "\ud800\udc00", "🦜", "x" * 31, "x" * 32, "x" * 33]
)
CELLS = st.lists(st.none() | TEXT, max_size=40)
VIEWS = [(13, 0, 0, 0), (13, 0, 1, 0), (13, 0, -1, 0), (20, 0, 0, -1), (-1, 0, 0, 0)]
VIEWS += [(13, 0, 0, 2**31 - 1), (2**31 - 1, 0, 0, 2**31 - 1), (-(2**31), 0, 0, 0)]


@pytest.fixture(params=MODULES, ids=lambda module: module.__name__.split(".")[-1])
def either(request: pytest.FixtureRequest) -> ModuleType:
    return request.param


@pytest.fixture(params=[1, 2, 5])
def threads(request: pytest.FixtureRequest) -> Any:
    before = native.threads()
    native.set_threads(request.param)
    yield
    native.set_threads(before)


def of_bytes(pieces: list[bytes | None]) -> contract.Strings:
    """Lay out bytes within a larger array, so that offsets do not begin at 0."""
    joined = [piece or b"" for piece in pieces]
    offsets = 3 + np.cumsum([0, *map(len, joined)])
    missing = np.array([piece is None for piece in pieces], np.bool_)
    return contract.Strings(
        offsets, np.frombuffer(b"\xffab" + b"".join(joined) + b"\x80", np.uint8), missing
    )


def encoded(cells: list[str | None]) -> list[bytes | None]:
    return [None if c is None else c.encode("utf-8", "surrogatepass") for c in cells]


def strings_of(cells: list[str | None]) -> contract.Strings:
    return of_bytes(encoded(cells))


def assert_same(actual: Any, expected: Any) -> None:
    """Compare results bit by bit, offsets and all."""
    assert type(actual) is type(expected)
    match expected:
        case tuple():
            for one, other in zip(actual, expected, strict=True):
                assert_same(one, other)
        case contract.Strings():
            assert_same(actual.offsets, expected.offsets)
            assert_same(actual.utf8, expected.utf8)
            assert_same(actual.missing, expected.missing)
        case np.ndarray():
            assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
            assert actual.tobytes() == expected.tobytes()
        case _:
            assert actual == expected


def kernel(module: ModuleType, name: str) -> Callable[..., Any]:
    """Return a kernel of a module; the contract of one is in a file of its own."""
    found: Callable[..., Any] = getattr(module, name, None) or getattr(forms, name)
    return found


def check(name: str, *arguments: Any) -> Any:
    """Compare the native kernel with the contract, and return what both say."""
    expected = kernel(contract, name)(*arguments)
    if native is not None:
        assert_same(getattr(native, name)(*arguments), expected)
    return expected


# --- packing -------------------------------------------------------------------------------------


@given(CELLS)
def test_what_is_packed_is_read_again(cells: list[str | None]) -> None:
    array = np.empty(len(cells), object)
    array[:] = cells
    wide = np.empty((len(cells), 3), object)
    wide[:, 1] = array
    for given_ in (cells, tuple(cells), array, wide[:, 1], array[::-1][::-1]):
        assert list(check("pack_strings", given_)) == cells
    assert list(check("pack_strings", array[::-1])) == cells[::-1]


@given(CELLS)
def test_strings_are_a_sequence(cells: list[str | None]) -> None:
    for strings in (contract.pack_strings(cells), strings_of(cells)):
        assert len(strings) == len(cells)
        assert list(strings) == cells == [strings[i] for i in range(len(cells))]
        assert list(copy.copy(strings)) == cells
        for cut in (slice(1, -1), slice(3, 1), slice(None, None, -2), slice(2, None)):
            assert list(strings[cut]) == cells[cut]


@given(CELLS, st.data())
def test_strings_that_are_coded_are_those_of_a_list(
    cells: list[str | None], data: st.DataObject
) -> None:
    every = [*cells, *data.draw(CELLS)]  # a level may be there twice, be missing, or have no code
    order = np.array(data.draw(st.permutations(range(len(every)))), np.int64)
    levels = strings_of([every[i] for i in order])
    codes = np.argsort(order)[: len(cells)]
    codes[[cell is None and data.draw(st.booleans()) for cell in cells]] = -1
    rows = np.array(data.draw(st.lists(st.integers(-1, len(cells) - 1), max_size=20)), np.int64)
    gone = np.array(data.draw(st.tuples(*[st.booleans()] * len(cells))), np.bool_)
    cut = data.draw(st.slices(len(cells)))
    packed = strings_of(cells)
    coded = contract.Strings.of_levels(codes, levels)
    for one, other in (
        (coded, packed),
        (coded[cut], packed[cut]),
        (coded.take(rows), packed.take(rows)),
        (coded.without(gone), packed.without(gone)),
        (coded.different, packed.different),
        (contract.Strings.join([coded, coded[cut]]), contract.Strings.join([packed, packed[cut]])),
        (contract.Strings.join([coded, packed]), contract.Strings.join([packed, packed])),
        (copy.copy(coded), packed),
    ):
        assert len(one) == len(other)
        assert_same(one.encoded, contract.encode_strings(other))
        assert [one[i] for i in range(len(one))] == list(other)
        assert one.lengths[list(map(bool, other))].tolist() == [len(c) for c in encoded(other) if c]
        assert (list(one), one.categorical) == (list(other), other.categorical)
        assert one.any_there == other.any_there


@pytest.mark.parametrize("code", [-2, 3, 2**40])
def test_codes_of_no_level_are_refused(code: int) -> None:
    with pytest.raises(ValueError, match="codes that are not of 3 levels"):
        contract.Strings.of_levels(np.array([0, code]), strings_of(["a", "b", None]))
    strings = contract.Strings.of_levels(np.array([0, 1, 1]), strings_of(["a", "b"]))
    with pytest.raises(ValueError, match="rows that are not among 3"):
        strings.take(np.array([code]))


def test_nan_and_none_are_missing_and_str_may_be_subclassed(either: ModuleType) -> None:
    cells = [np.str_("é"), None, math.nan, np.float64("nan"), np.str_("a"), "\ud83e"]
    assert list(either.pack_strings(cells)) == ["é", None, None, None, "a", "\ud83e"]
    assert list(either.pack_strings(np.array(["a", "bc"]))) == ["a", "bc"]
    assert list(either.pack_strings(np.empty(2, object))) == [None, None]
    assert either.pack_strings([]).missing is None
    assert either.pack_strings(["a"]).missing is None


@pytest.mark.parametrize("cell", [1, 1.5, b"a", np.float32("nan"), ["a"], np.nan * 1j, object()])
def test_other_cells_are_not_packed(either: ModuleType, cell: object) -> None:
    cells = ["a"] * 300
    cells[217] = cell  # type: ignore[call-overload]
    assert either.pack_strings(cells) is None
    array = np.empty(300, object)
    for i, one in enumerate(cells):
        array[i] = one
    assert either.pack_strings(array) is None
    assert either.pack_strings(np.zeros((2, 2), object)) is None
    assert either.pack_strings(np.zeros(2, "M8[s]")) is None


@given(CELLS, st.data())
def test_views_are_packed(cells: list[str | None], data: st.DataObject) -> None:
    buffers = [bytearray(b"\xff"), bytearray(), bytearray(b"ab")]
    rows = []
    for piece in encoded(cells):
        if piece is None:
            rows.append(data.draw(st.binary(min_size=16, max_size=16)))
        elif len(piece) <= 12:
            rows.append(struct.pack("i12s", len(piece), piece))
        else:
            at = data.draw(st.integers(0, 2))
            rows.append(struct.pack("i4sii", len(piece), piece[:4], at, len(buffers[at])))
            buffers[at] += piece
    missing = np.array([c is None for c in cells], np.bool_)
    views = np.frombuffer(b"-" + b"".join(rows), np.uint8)[1:].reshape(-1, 16)  # not aligned
    arrays = [np.frombuffer(bytes(b) or b"?", np.uint8) for b in buffers]
    assert list(check("pack_views", views, arrays, missing)) == cells
    assert_same(
        check("encode_views", views, arrays, missing), contract.encode_strings(strings_of(cells))
    )
    if not missing.any():
        assert list(check("pack_views", views, arrays)) == cells
        check("encode_views", views, arrays)


@pytest.mark.parametrize("view", VIEWS)
def test_views_outside_of_their_buffers_are_refused(either: ModuleType, view: tuple) -> None:
    views = np.array([[2, 0, 0, 0], view], np.int32).view(np.uint8)
    buffers = [np.zeros(12, np.uint8)]
    for read in (either.pack_views, either.encode_views):
        with pytest.raises(ValueError, match="string view 1 is of bytes that are not there"):
            read(views, buffers)
    assert either.encode_views(views, buffers, np.array([False, True]))[0].tolist() == [0, -1]
    assert list(either.pack_views(views, buffers, np.array([False, True])))[1] is None


@pytest.mark.parametrize("size", [15, 17])
@needs_native
def test_views_of_another_shape_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="shape of views"):
        native.pack_views(np.zeros((2, size), np.uint8), [])


def test_views_are_those_of_pyarrow(either: ModuleType) -> None:
    pa = pytest.importorskip("pyarrow")
    cells = ["short", None, "long enough to be in a buffer", "", "é" * 7, None, "x" * 12, "y" * 13]
    array = pa.array(cells, pa.string_view())
    _, views, *buffers = array.buffers()
    read = np.frombuffer(views, np.uint8)[: 16 * len(cells)].reshape(-1, 16)
    missing = np.array([c is None for c in cells])
    packed = either.pack_views(read, [np.frombuffer(b, np.uint8) for b in buffers], missing)
    assert list(packed) == cells


def test_views_of_many_short_strings_are_told_apart() -> None:
    cells = [f"none{i % 20_000:x}"[: 5 + i % 8] for i in range(30_000)]
    rows = [struct.pack("i12s", len(cell), cell.encode()) for cell in cells]
    views = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 16)
    assert_same(check("encode_views", views, []), contract.encode_strings(strings_of(cells)))


# --- taking and numbering ------------------------------------------------------------------------


@given(CELLS, st.data())
def test_taken_strings_are_those_of_a_list(cells: list[str | None], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(-1, len(cells) - 1), max_size=40))
    expected = [None if row < 0 else cells[row] for row in rows]
    for strings in (strings_of(cells), contract.pack_strings(cells)):
        assert list(check("take_strings", strings, np.array(rows, np.int64))) == expected
        assert list(check("take_strings", strings, np.array(rows, np.int32))) == expected


@pytest.mark.parametrize("row", [-2, 3, 2**62, -(2**63)])
def test_rows_that_are_not_there_are_refused(either: ModuleType, row: int) -> None:
    with pytest.raises(ValueError, match="rows that are not among 3"):
        either.take_strings(strings_of(["a", "b", None]), np.array([0, row]))
    with pytest.raises(ValueError, match="rows that are not among 0"):
        either.take_strings(strings_of([]), np.array([0]))


@given(CELLS)
def test_codes_are_the_positions_of_first_sight(cells: list[str | None]) -> None:
    codes, first = check("encode_strings", strings_of(cells))
    different = list(dict.fromkeys(c for c in cells if c is not None))
    assert codes.tolist() == [-1 if c is None else different.index(c) for c in cells]
    assert first.tolist() == [cells.index(c) for c in different]
    check("encode_strings", contract.pack_strings(cells))


@pytest.mark.parametrize("levels", [1, 20, 5_000, 60_000])
@needs_native
@pytest.mark.usefixtures("threads")
def test_codes_are_those_of_pyarrow(levels: int) -> None:
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(levels)
    numbers = rng.integers(0, levels, 120_000)
    cells = [None if x == 0 else "é" * (x % 50) + str(x) for x in numbers]
    theirs = pa.array(cells, pa.string()).dictionary_encode()
    strings = native.pack_strings(cells)
    assert list(strings) == cells
    codes, first = native.encode_strings(strings)
    np.testing.assert_array_equal(codes, theirs.indices.fill_null(-1).to_numpy())
    taken = native.take_strings(strings, first)
    assert list(taken) == theirs.dictionary.to_pylist()
    assert list(native.take_strings(taken, codes)) == cells


# --- hostile and enormous ------------------------------------------------------------------------

KERNELS = ("encode_strings", "repair_utf8", "read_forms")


@pytest.mark.parametrize(
    "offsets",
    [[0, 5], [-1, 2], [2, 1], [0, 3, 1, 4], [5, 5], [0, 2**62], [0, -(2**63)], [2**63 - 1] * 2],
)
def test_hostile_offsets_are_refused(either: ModuleType, offsets: list[int]) -> None:
    strings = contract.Strings(np.array(offsets, np.int64), np.zeros(4, np.uint8))
    for name in KERNELS:
        with pytest.raises(ValueError, match="offsets of strings must ascend within their bytes"):
            kernel(either, name)(strings)
    with pytest.raises(ValueError, match=r"offsets of strings must ascend|not among"):
        either.take_strings(strings, np.array([0]))


def test_no_offsets_are_refused(either: ModuleType) -> None:
    strings = contract.Strings(np.empty(0, np.int64), np.zeros(4, np.uint8))
    for name in KERNELS:
        with pytest.raises(ValueError, match=r"offsets|__len__"):
            kernel(either, name)(strings)


@pytest.mark.parametrize("flags", [0, 1, 3])
def test_missing_flags_of_another_shape_are_refused(either: ModuleType, flags: int) -> None:
    strings = contract.Strings(
        np.array([0, 1, 2]), np.zeros(4, np.uint8), np.zeros(flags, np.bool_)
    )
    for name in KERNELS:
        with pytest.raises(ValueError, match="shape of missing"):
            kernel(either, name)(strings)
    with pytest.raises(ValueError, match="shape of missing"):
        either.take_strings(strings, np.array([0, 1]))


def test_missing_strings_are_not_looked_at(either: ModuleType) -> None:
    strings = contract.Strings(
        np.array([0, 1, 3]), np.frombuffer(b"a\xff7", np.uint8), np.array([False, True])
    )
    assert either.repair_utf8(strings) == (strings, 0)
    assert kernel(either, "read_forms")(strings).form.tolist() == [Form.WORD, Form.EMPTY]
    assert either.encode_strings(strings)[0].tolist() == [0, -1]


def test_flags_are_any_bytes(either: ModuleType) -> None:
    flags = np.array([0, 2, 255, 0], np.uint8).view(np.bool_)
    strings = contract.Strings(np.arange(5), np.frombuffer(b"abca", np.uint8), flags)
    assert either.encode_strings(strings)[0].tolist() == [0, -1, -1, 0]


@pytest.mark.parametrize("name", KERNELS)
def test_of_no_strings_and_of_none_that_is_there(name: str) -> None:
    for rows in (0, 1, 100):
        check(name, strings_of([None] * rows))
    check(name, contract.pack_strings([]))
    check(name, contract.Strings(np.zeros(1, np.int64), np.empty(0, np.uint8)))


@pytest.mark.slow
@needs_native
@pytest.mark.usefixtures("threads")
def test_threads_do_not_show() -> None:
    rng = np.random.default_rng(5)
    levels = [
        "", "1", "007", "2.5", "2026-01-02", "2026-01-02 10:00", "é", "y" * 60, "\ud800", None,
    ]  # fmt: skip
    cells = [levels[i] for i in np.sort(rng.integers(0, 10, 60_000) * rng.integers(0, 2, 60_000))]
    strings = check("pack_strings", cells)
    for name in KERNELS:
        check(name, strings)
        check(name, strings[1:-1])
    check("take_strings", strings, rng.integers(-1, len(cells), len(cells)))
    array = pytest.importorskip("pyarrow").array(
        [c and c.replace("\ud800", "") for c in cells], "string_view"
    )
    valid, views, *buffers = (np.frombuffer(b, np.uint8) for b in array.buffers())
    missing = np.unpackbits(valid, count=len(cells), bitorder="little") == 0
    check("encode_views", views[: 16 * len(cells)].reshape(-1, 16), buffers, missing)


@needs_native
@pytest.mark.usefixtures("threads")
def test_the_first_view_that_is_wrong_is_named() -> None:
    views = np.zeros((100_000, 4), np.int32)
    views[[77_777, 99_999], 0] = 13
    for read in (native.pack_views, native.encode_views):
        with pytest.raises(ValueError, match="string view 77777 "):
            read(views.view(np.uint8), [])


@given(CELLS)
def test_a_few_strings_are_as_many_packed(cells: list[str | None]) -> None:
    few, packed = contract.Strings.of_few(cells), contract.pack_strings(cells)
    assert packed is not None
    assert list(few) == list(packed) == [*map(few.__getitem__, range(len(cells)))]
    assert len(few) == len(packed)
    for own, other in zip((few, few[1:]), (packed, packed[1:]), strict=True):
        np.testing.assert_array_equal(own.offsets, other.offsets)
        np.testing.assert_array_equal(own.utf8, other.utf8)
        np.testing.assert_array_equal(own.encoded[0], other.encoded[0])
        assert list(own.different) == list(other.different)
    rows = np.arange(-1, len(cells))
    assert list(few.take(rows)) == list(packed.take(rows))
    joined = contract.Strings.join([packed, packed])
    assert list(contract.Strings.join([few, packed])) == list(joined)
    assert few.any_there == packed.any_there
    assert list(copy.deepcopy(few)) == list(packed)
    gone = np.arange(len(cells)) % 2 == 0
    assert list(few.without(gone)) == list(packed.without(gone))
