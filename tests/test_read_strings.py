"""Numbers and times in cells: native as the contract, and as Python's float and datetime."""

from __future__ import annotations

import datetime as dt
import math
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.kernels import forms as contract
from naively.kernels.forms import LONGEST, Form
from tests.test_kernels import native, needs_native
from tests.test_strings import TEXT, strings_of

if TYPE_CHECKING:
    from types import ModuleType

    from naively.kernels.forms import Read

SEPARATORS = set("\x1c\x1d\x1e\x1f")  # which str.strip takes for spaces
EDGES = [
    *["", " ", "+", "-", "--1", ".", "e5", "1e", "1e+", "inf", "-INF", "+Infinity", "nAn", "-nan"],
    *["infin", "nan(1)", "0x1p3", "1_000", "1 2", "\x1c1", "\u00a01", "\uff11", "-0", "0", "00"],
    *["0.5", "00.5", "1e400", "-1e400", "1e-400", "5e-324", "2.4703282292062327e-324", "1e22"],
    *["2.4703282292062328e-324", "1.7976931348623159e308", str(2**53), str(2**53 + 1), "1e23"],
    *["9007199254740993.0", "9" * 19, "9" * 20, "1" * 400, " " * 99 + "12", "0e" + "9" * 30],
    *["0." + "0" * 400 + "1", "1" + "0" * 400 + "e-400", "1e-23", "18446744073709551616e1", "-1."],
]
DIGITS = st.text("0123456789", min_size=1, max_size=30)
EXPONENT = st.builds(
    "{}{}".format, st.sampled_from(["e", "E", "e-", "e+"]), DIGITS | st.integers(0, 400).map(str)
)
NUMERAL = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.just("") | DIGITS,
    st.just("") | st.builds(".{}".format, st.just("") | DIGITS),
    st.just("") | EXPONENT,
)
SPACE = st.text(" \t\n\r\f\v", max_size=2)
NUMBERS = (
    st.builds("{}{}{}".format, SPACE, NUMERAL | st.floats().map(repr), SPACE)
    | st.integers(-(2**60), 2**60).map(str)
    | st.sampled_from(EDGES)
    | TEXT
)
NAMES = [str(2**53), "007", "-01", "1" * 50, " " * 99 + str(2**53), " 00"]
NOT_NAMES = ["0", "-7", str(2**53 - 1), "-0", "+1", " 1", "1e3", " " * 98 + "12"]
PART = st.integers(0, 100).map("{:02d}".format)
DAY = st.builds(
    "{}{}{}{}{}".format,
    st.integers(0, 10_100).map("{:04d}".format),
    st.sampled_from("--/"),
    st.integers(0, 14) | PART,
    st.sampled_from("--/"),
    st.integers(0, 33) | PART,
)
SECONDS = st.builds(
    ":{}{}".format, PART, st.just("") | st.builds("{}{}".format, st.sampled_from(".,"), DIGITS)
)
OFFSET = st.builds(
    "{}{}{}".format,
    st.sampled_from("+-"),
    PART,
    st.just("") | st.builds("{}{}".format, st.sampled_from(["", ":"]), PART),
)
CLOCK = st.builds(
    "{}{}:{}{}{}".format,
    st.sampled_from("T t"),
    PART,
    PART,
    st.just("") | SECONDS,
    st.sampled_from(["", "Z", "z", "+", "+1"]) | OFFSET,
)
TIMES = st.builds("{}{}".format, DAY, st.just("") | CLOCK)
ZONES = st.none() | st.integers(-1439, 1439).map(lambda m: dt.timezone(dt.timedelta(minutes=m)))
NO_TIMES = [
    *["", "2026", "2026-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "0000-01-01", "2026-1/2"],
    *["2026-01-01T", "2026-01-01T24:00", "2026-01-01T23:60", "2026-01-01T10:00:00."],
    *["2026-01-01T10:00:00.1234567890", "20260101", "2026-01-01T10:00.5", "2026-01-01T10:00+24:00"],
    *["2026-01-01T10:00+00:60", "2026-01-01Z", "2026-01-01T10:00+1", "2026-01-01T10:00+01:"],
    *["2026-01-01T10:00+01:000", "1900-02-29"],
]
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


MODULES = list(filter(None, (contract, native)))


@pytest.fixture(params=MODULES, ids=lambda module: module.__name__.split(".")[-1])
def either(request: pytest.FixtureRequest) -> ModuleType:
    return request.param


def check(cells: list[str | None]) -> Read:
    """Compare the native kernel with the contract, and return what both say."""
    strings = strings_of(cells)
    expected = contract.read_forms(strings)
    if native is not None:
        found = native.read_forms(strings)
        np.testing.assert_array_equal(found.form, expected.form)
        there = expected.form >= Form.TRUTH
        np.testing.assert_array_equal(found.value[there], expected.value[there])
    return expected


def is_number(form: int) -> bool:
    return Form.PLAIN <= form <= Form.EITHER_COMMA


def is_time(form: int) -> bool:
    return Form.YMD <= form < Form.CLOCK


def bits(number: float) -> bytes:
    return struct.pack("d", number)


def read_by_python(cell: str) -> float | None:
    """Return what float does, but for underscores and spaces that are not ASCII's."""
    if "_" in cell or not cell.isascii() or SEPARATORS & set(cell):
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def is_read(cell: str) -> bool:
    """Return whether a cell is short enough for a number, and no mark as nan is."""
    found = read_by_python(cell)
    return found is not None and not math.isnan(found) and len(cell.strip()) <= LONGEST


@given(st.lists(st.none() | NUMBERS, max_size=20))
def test_numbers_are_those_of_float(cells: list[str | None]) -> None:
    found = check(cells)
    for cell, form, number in zip(cells, found.form, found.value.view(float).tolist(), strict=True):
        if cell is None:
            assert form == Form.EMPTY
        elif is_read(cell):
            assert is_number(form)
            assert bits(number) == bits(float(cell))


@pytest.mark.parametrize("text", EDGES)
def test_numbers_at_the_edges(either: ModuleType, text: str) -> None:
    found = either.read_forms(strings_of([text]))
    if is_read(text):
        assert is_number(found.form[0])
        assert bits(found.value.view(float)[0]) == bits(float(text))
    elif text.isascii() and not SEPARATORS & set(text):
        assert not is_number(found.form[0])


@pytest.mark.parametrize(
    ("text", "is_name"), [*((text, True) for text in NAMES), *((text, False) for text in NOT_NAMES)]
)
def test_what_may_be_a_name(either: ModuleType, text: str, is_name: bool) -> None:
    (form,) = either.read_forms(strings_of([text])).form.tolist()
    assert form == (Form.NAME if is_name else Form.PLAIN)


@needs_native
def test_many_floats_are_those_of_python() -> None:
    rng = np.random.default_rng(0)
    any_bits = rng.integers(0, 2**64, 20_000, np.uint64).view(np.float64)
    scaled = rng.integers(0, 10**15, 20_000) * 10.0 ** rng.integers(-25, 25, 20_000)
    texts = [repr(x) for x in any_bits.tolist()] + [f"{x:.16g}" for x in scaled.tolist()]
    texts += [f"{x}e{y}" for x, y in rng.integers((0, -40), (2**60, 40), (20_000, 2)).tolist()]
    numbers = native.read_forms(native.pack_strings(texts)).value.view(float)
    np.testing.assert_array_equal(numbers, [float(t) for t in texts])


@given(st.lists(st.none() | TIMES | TEXT, max_size=20))
def test_native_times_are_the_contracts(cells: list[str | None]) -> None:
    check(cells)


@given(st.lists(st.datetimes(timezones=ZONES), max_size=20), st.sampled_from("T "))
def test_times_are_those_of_datetime(times: list[dt.datetime], between: str) -> None:
    texts = [time.isoformat(between) for time in times]
    found = check(texts)
    assert all(map(is_time, found.form))
    for moment, text in zip(found.value.tolist(), texts, strict=True):
        time = dt.datetime.fromisoformat(text)
        since = time.replace(tzinfo=dt.UTC) - EPOCH - (time.utcoffset() or dt.timedelta())
        assert moment == since // dt.timedelta(microseconds=1)


@pytest.mark.slow
def test_every_day_is_that_of_datetime(either: ModuleType) -> None:
    step = 1 if either is native else 97
    days = [dt.date.fromordinal(n) for n in range(1, dt.date.max.toordinal() + 1, step)]
    found = either.read_forms(strings_of([day.isoformat() for day in days]))
    numbers = np.array([day.toordinal() for day in days]) - EPOCH.toordinal()
    np.testing.assert_array_equal(found.value, numbers * 86_400_000_000)
    assert is_time(found.form.min())
    assert is_time(found.form.max())


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026/11/1 10:30", "2026-11-01T10:30"),
        ("2026-1-02T10:30:05,123456789Z", "2026-01-02T10:30:05.123456"),
        ("2026-01-02 10:30:05.5+0130", "2026-01-02T09:00:05.5"),
        ("2026-01-02 10:30-02", "2026-01-02T12:30"),
        ("2026-01-01T23:59:60", "2026-01-01T23:59:59"),
        ("2026-01-01 1:00", "2026-01-01T01:00"),
        (" 2026-01-01\n", "2026-01-01"),
        ("\uff12026-01-01", "2026-01-01"),
    ],
)
def test_ways_to_write_a_time(either: ModuleType, text: str, same: str) -> None:
    found = either.read_forms(strings_of([text, same]))
    assert found.value[0] == found.value[1]
    assert all(map(is_time, found.form))


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time(either: ModuleType, text: str) -> None:
    forms = either.read_forms(strings_of(["2026-01-01", None, text])).form.tolist()
    assert list(map(is_time, forms)) == [True, False, False]
