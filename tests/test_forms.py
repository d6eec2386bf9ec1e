"""What a cell alone may be: against floats and dates of Python, and both kernels alike."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.kernels import dispatch, forms
from naively.kernels import strings as packing
from naively.kernels.forms import FEW_AFFIXES, MANY_AFFIXES, SPANS, Form, read_cell, read_forms

WRITTEN = (
    "0 1 2 9 12 007 123 1234 2024 1999 20240131 20240131101112 31 13 00 0.5 1.234 1,234 12,34,567 "
    ", . - / : + ' ( ) $ € USD kg % k M e5 E-3 T t Z am PM p.m. Jan january March mai déc st th at "
    "UTC +02:00 -0530 CEST Mon Tuesday, < >= ~ * ° °C m² km/h Rs. zł inf nan NA ? true # _ days "
    "year é 中 ; | 0x1F x ß K ″ · ³ US$ 2024年 月 日 년 월 일 de of er -W05 T1030 days, Uhr "
    "元 \uff05 lundi января Şubat Kč"
)
PIECES = [*WRITTEN.split(), *" \t\xa0\ufeff\x00\u2212\u2013\u0663\uff11\u2019\u200b"]
CELLS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=12)
DIGITS = st.text("0123456789", min_size=1, max_size=4)
# In few notations, of which a column has many cells: a notation is learned from the first of them.
FIGURES = st.builds(
    "{}{}{}{}{}{}{}".format,
    st.sampled_from(["", "", "-", "$", "€", "-$", "$-", "<", "(", " ", "US$", "A", "+"]),
    *(DIGITS, st.sampled_from(list(".,,/-: ")), DIGITS, st.sampled_from(["", *".,/-: "])),
    DIGITS | st.sampled_from(["", "000", "2024", "17"]),
    st.sampled_from(
        ["", "", "%", " %", " kg", "kg", " Jul", " €", "st", ")", " ", "e3", " 14:05", "h 30m"]
    ),
)
NAMED = st.builds(
    "{0}{3}{1}{3}{2}".format,
    *(
        st.integers(0, 33),
        st.sampled_from(["Jan", "feb", "MAR", "mai", "Sept", "Okt", "Dec"]),
        DIGITS,
    ),
    st.sampled_from(list("-/ .")),
)
SPANNED = st.builds(
    "{}{}".format,
    st.sampled_from(["", "", "P", "PT"]),
    st.lists(
        st.builds(
            "{}{}{}{}".format,
            DIGITS | st.sampled_from(["1.5", "2.", "30"]),
            st.sampled_from(["", " "]),
            st.sampled_from([*SPANS, "Days", "H", "M", "S", "x", "T"]),
            st.sampled_from(["", " ", ", ", " and ", ". ", "T"]),
        ),
        max_size=4,
    ).map("".join),
)
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (all times here are without a zone)
MOMENT = st.datetimes(EPOCH.replace(year=1900), EPOCH.replace(year=2099, month=12, day=31))

native = pytest.mark.skipif(dispatch.NATIVE is None, reason="the native kernels were not built")


def test_a_native_kernel_with_other_forms_is_refused() -> None:
    names = [form.name for form in Form]
    for other in (names[:-1], [*names, "AGE"], names[::-1]):
        with pytest.raises(ImportError, match="kernels are of another version"):
            forms.check_names(other)


@native
@given(
    st.lists(CELLS | st.none(), max_size=40)
    | st.lists(FIGURES | NAMED, max_size=80)
    | st.lists(SPANNED | st.sampled_from(["5h 30m", "6h 30m", "14h30"]), max_size=40),
    *(st.booleans(), st.booleans(), st.booleans()),
)
def test_both_kernels_read_the_same(cells, comma, day_first, dates) -> None:
    strings = packing.pack_strings(cells)
    mine = read_forms(strings, comma, day_first, dates)
    theirs = dispatch.NATIVE.read_forms(strings, comma, day_first, dates)
    np.testing.assert_array_equal(mine.form, theirs.form)
    np.testing.assert_array_equal(mine.affix, theirs.affix)
    assert mine.affixes == theirs.affixes
    nothing = mine.form < Form.TRUTH
    np.testing.assert_array_equal(mine.value[~nothing], theirs.value[~nothing])
    assert np.isnan(theirs.value[nothing].view(np.float64)).all()


@native
def test_affixes_are_numbered_alike_on_two_threads() -> None:
    cells = [f"{i} {'kg' if i % 2 else 'lb'}" for i in range(20_000)] + ["5 st."] * 20_000
    strings = packing.pack_strings(cells)
    dispatch.set_threads(2)
    found = dispatch.read_forms(strings)
    dispatch.set_threads(1)
    assert found.affixes == dispatch.read_forms(strings).affixes
    np.testing.assert_array_equal(found.affix, dispatch.read_forms(strings).affix)


def test_affixes_beyond_a_few_are_told_from_none() -> None:
    units = [chr(ord("a") + i) + chr(ord("a") + j) for i in range(7) for j in range(7)]
    found = dispatch.read_forms(packing.pack_strings([f"5 {unit}q" for unit in units]))
    assert len(found.affixes) == FEW_AFFIXES
    of_each = [*range(1, FEW_AFFIXES + 1)] + [MANY_AFFIXES] * (49 - FEW_AFFIXES)
    assert found.affix.tolist() == of_each


@given(st.floats(allow_nan=False))
def test_a_number_as_python_prints_it_is_that_number(x) -> None:
    found = read_cell(repr(x))
    assert found.value == x or found.form is Form.EITHER_POINT
    assert Form.PLAIN <= found.form <= Form.EITHER_COMMA
    assert math.copysign(1, found.value) == math.copysign(1, x)


@given(st.integers(-(10**12), 10**12), st.integers(0, 99))
def test_groups_and_marks_of_every_country(whole, cents) -> None:
    x = float(f"{whole}.{cents:02}")
    american = f"{whole:,}.{cents:02}"
    for written in (
        american,
        american.translate(str.maketrans(",.", ".,")),
        american.replace(",", " "),
        american.replace(",", "\u202f").replace(".", ","),
        american.replace(",", "'"),
    ):
        assert read_cell(written).value == x
        found = read_cell(f"{written} €")
        assert (found.value, found.affix) == (x, "||€|")


@given(MOMENT)
def test_a_date_in_many_forms_is_that_date(moment) -> None:
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    expected = (day - EPOCH) // dt.timedelta(microseconds=1)
    y, m, d = moment.year, moment.month, moment.day
    months = [name for name, number in forms.MONTHS.items() if number == m]
    for written in (
        f"{y:04}-{m:02}-{d:02}",
        f"{y}/{m}/{d}",
        f"{y}.{m}.{d}",
        f"{d}.{m}.{y}",
        f"{d:02} {months[0]} {y}",
        f"{d}-{months[-1][:3]}-{y}",
        f"{months[-1].title()} {d}, {y}",
        f"{y}-{months[0]}-{d}",
        f"{day:%A}, {day:%d %b %Y}",
    ):
        assert read_cell(written).value == expected, written
    for order in (True, False):
        a, b = (d, m) if order else (m, d)
        for sign in "/-":
            assert read_cell(f"{a}{sign}{b}{sign}{y}", day_first=order).value == expected
    assert read_cell(f"{day:%Y%m%d}", dates=True).value == expected
    assert read_cell(f"{day:%Y%m%d}").value == float(f"{day:%Y%m%d}")


@given(MOMENT, st.integers(-14 * 4, 14 * 4))
def test_a_time_of_day_and_a_zone(moment, quarters) -> None:
    zone = dt.timezone(dt.timedelta(minutes=15 * quarters))
    expected = (moment - EPOCH) // dt.timedelta(microseconds=1)
    assert read_cell(moment.isoformat()).value == expected
    there = moment.replace(tzinfo=zone)
    found = read_cell(there.isoformat()).value
    assert found == (there - EPOCH.replace(tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
    seconds = expected - moment.microsecond
    assert read_cell(f"{moment:%m/%d/%Y %I:%M:%S %p}").value == seconds
    assert read_cell(f"{moment:%a %b %d %H:%M:%S %Y}").value == seconds
    assert read_cell(f"{moment:%H:%M:%S}").value == seconds / 1e6 % 86_400


@pytest.mark.parametrize(
    ("cell", "value", "affix"),
    [
        ("$1,234.50", 1234.5, "$|||"), ("(55.3)", -55.3, ""), ("-€ 5", -5.0, "€|||"),
        ("45 %", 45.0, "|%||"), ("<40", 40.0, "|||<"), ("5+", 5.0, "|||+"), ("≥ 3", 3.0, "|||≥"),
        ("70kg", 70.0, "|kg||"), ("12 mg/dL", 12.0, "|mg/dL||"), ("30 m²", 30.0, "|m²||"),
        ("21 °C", 21.0, "|°C||"), ("1.2M", 1.2, "|M||"), ("\u0663\u066b\u0665", 3.5, ""),
        ("\u2212\uff15", -5.0, ""), ("1,00,000", 100_000.0, ""), ("0,512", 0.512, ""),
        ("-Infinity", -math.inf, ""), ("%45", 45.0, "%|||"), ("\u0664\u0665\u066a", 45.0, "|%||"),
        ("5\uff05", 5.0, "|%||"), ("500円", 500.0, "|円||"), ("12Kč", 12.0, "|Kč||"),
        ("\uffe51,200", 1200.0, "¥|||"),
        ("1 300 \u0440\u0443\u0431.", 1300.0, "|\u0440\u0443\u0431.||"),
        ("\u200b12\u200b", 12.0, ""), ("\u061c-\u0665", -5.0, ""),
    ],
)  # fmt: skip
def test_numbers_with_signs_and_units(cell, value, affix) -> None:
    found = read_cell(cell)
    assert (found.value, found.affix) == (value, affix)
    assert Form.PLAIN <= found.form <= Form.EITHER_COMMA


@pytest.mark.parametrize(
    ("cell", "moment", "affix"),
    [
        ("2020年1月5日", "2020-01-05", ""), ("2020年1月5日 10:30", "2020-01-05T10:30", ""),
        ("2020년 1월 5일", "2020-01-05", ""), ("2020. 1. 5.", "2020-01-05", ""),
        ("5 de enero de 2020", "2020-01-05", ""), ("12 de março de 2020", "2020-03-12", ""),
        ("1st of February 2020", "2020-02-01", ""), ("1er janvier 2020", "2020-01-01", ""),
        ("5 января 2020", "2020-01-05", ""), ("12 września 2020", "2020-09-12", ""),
        ("12 Şubat 2020", "2020-02-12", ""), ("5 maj 2020", "2020-05-05", ""),
        ("lundi 6 janvier 2020", "2020-01-06", ""), ("Dienstag, 7. Januar 2020", "2020-01-07", ""),
        ("20200105T103000Z", "2020-01-05T10:30", ""),
        ("20200105T1030+0200", "2020-01-05T08:30", ""), ("20200105 10:30", "2020-01-05T10:30", ""),
        ("2020-W05", "2020-01-27", ""), ("2020-W05-3", "2020-01-29", ""),
        ("2020-W53-7", "2021-01-03", ""), ("2020/12", "2020-12-01", ""),
        ("12-2020", "2020-12-01", ""),
        ("\uff12\uff10\uff12\uff10\uff0f\uff11\uff0f\uff15", "2020-01-05", ""),
        ("31.12.45", "2045-12-31", "yy"), ("12/31/69 10:30", "1969-12-31T10:30", "yy"),
        ("15-Jan-17", "2017-01-15", "yy"), ("Mar-18", "2018-03-01", "yy"),
        ("2020-01-05 10:30 EST", "2020-01-05T10:30", "EST"),
        ("5/13/20 10:30 CEST", "2020-05-13T10:30", "yy CEST"),
        ("2020-01-05 10:30 UTC", "2020-01-05T10:30", ""),
        ("Sun Jan  5 10:30:00 2020", "2020-01-05T10:30", ""),
    ],
)  # fmt: skip
def test_dates_of_other_countries_and_what_they_leave_open(cell, moment, affix) -> None:
    found = read_cell(cell)
    assert EPOCH + dt.timedelta(microseconds=found.value) == dt.datetime.fromisoformat(moment)
    assert found.affix == affix
    assert Form.YMD <= found.form < Form.CLOCK


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("2 PM", 50_400), ("12 a.m.", 0), ("14:05 Uhr", 50_700), ("10\uff1a30", 37_800),
        ("1 days 02:03:04", 93_784), ("0 days 00:00:01.5", 1.5), ("1 day, 2:03:04", 93_784),
        ("14h30", 52_200), ("25H30", 91_800),
    ],
)  # fmt: skip
def test_times_of_day_and_spans(cell, seconds) -> None:
    found = read_cell(cell)
    assert (found.value, found.affix) == (seconds, "")
    assert Form.CLOCK <= found.form <= Form.SPAN


@pytest.mark.parametrize(
    ("cell", "value", "unit"),
    [
        ("2h 30m", 2.5, "h"), ("4 hr. 15 min.", 4.25, "h"), ("1 hour and 6 minutes", 1.1, "h"),
        ("2 Days, 12 hours", 2.5, "d"), ("1m30.5s", 90.5 / 60, "min"),
        ("1d 2h 3m 4s", 93_784 / 86_400, "d"), ("PT2H30M", 2.5, "h"), ("PT45S", 45.0, "s"),
        ("P1DT12H", 1.5, "d"),
    ],
)  # fmt: skip
def test_units_of_time_and_their_parts_are_a_number_of_the_first(cell, value, unit) -> None:
    found = read_cell(cell)
    assert found.form == Form.POINT
    assert found.value == pytest.approx(value, rel=1e-15)
    assert found.affix == f"|{unit}||"


@given(MOMENT)
def test_a_day_of_a_week_is_that_day(moment) -> None:
    year, week, day = moment.isocalendar()
    there = dt.datetime.fromisocalendar(year, week, day)
    expected = (there - EPOCH) // dt.timedelta(microseconds=1)
    if year >= EPOCH.year - 70:
        assert read_cell(f"{year}-W{week:02}-{day}").value == expected


@pytest.mark.parametrize(
    ("cell", "form"),
    [
        *((word, Form.WORD) for word in ("2019-W53", "2020-W00", "2020-W05-8", "50 pm", "5 Kčs1")),
        *((word, Form.WORD) for word in ("20201305T1030", "2020年13月1日", "2 days 3")),
        *((word, Form.WORD) for word in ("30m 2h", "2h 30m 5", "1.5h 30m", "P1M", "PT", "2h 3h")),
        *(
            (mark, Form.MARK)
            for mark in ("NA", "n/a", " ", "?", "-", "NULL", "#DIV/0!", "\\N", "—")
        ),
        *((word, Form.WORD) for word in ("Unrated", "1st", "1.2.3", "192.168.0.1", "555-1234")),
        *((word, Form.WORD) for word in ("10-20", "4/5", "0x1F", "5'11\"", "+44 20 7946", "16:9")),
        *((word, Form.WORD) for word in ("1416RTA", "A12", "31/02/2024", "2024-13-01", "25:61")),
        ("84,1102,1444", Form.LIST),
        ("TRUE", Form.TRUTH),
        ("007", Form.NAME),
        ("12345678901234567890", Form.NAME),
        ("1.234", Form.EITHER_POINT),
        ("1,234", Form.EITHER_COMMA),
        ("03/04/2020", Form.EITHER_DAY),
        ("03/03/2020", Form.SAME_DAY),
        ("01/04/2020", Form.FIRST_DAY),
        ("04/01/2020", Form.FIRST_MONTH),
        ("13/01/2020", Form.DAY_FIRST),
        ("01/13/2020", Form.MONTH_FIRST),
        ("2010-11", Form.SEASON),
        ("2018-03", Form.YEAR_MONTH),
        ("14:05", Form.CLOCK),
        ("3pm", Form.CLOCK),
        ("123:45:10", Form.SPAN),
        ("x" * 61, Form.WORD),
        ("", Form.EMPTY),
    ],
)
def test_forms(cell, form) -> None:
    assert read_cell(cell).form is form
