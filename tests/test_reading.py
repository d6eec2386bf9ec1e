"""What a column of strings is: by its cells in any order, added up from any parts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes, load
from naively.data.reading import FEW_WORDS, Forms, Votes, read, said_of_words, values_of
from naively.kernels.strings import pack_strings

PRICES = [f"{x / 100:,.2f}" for x in range(123, 900_000, 7_919)]
FLOATS = [repr(20 + 0.37 * i) for i in range(60)]
COLUMNS: dict[str, tuple[list[str], str]] = {
    "plain": (["1", "2.5", "-3", "1e3", " 6 ", ".5"], "number"),
    "a mark": ([*FLOATS, "NA", "?"], "number"),
    "a word": ([*FLOATS, *["Unrated"] * 5], "number"),
    "a stray word": ([*FLOATS, "Wexford"], "number"),
    "few numbers beside a word": (["1", "2", "3", "more"] * 12, "levels"),
    "few numbers with signs": (["0", "1", "2", "3+"] * 12, "levels"),
    "decimal comma": (["47,25", "3,5", "12"], "number"),
    "thousands": (["1,200", "350", "12,750", "1,000,000"], "number"),
    "groups by points": (["1.506", "-35", "506", "2.415", "-12"] * 8, "number"),
    "prices": (["$" + price for price in PRICES], "number"),
    "percent": (["45%", "5.5 %", "100%"], "number"),
    "one unit": (["5 kg", "6.5 kg", "70kg"], "number"),
    "two units": (["90 min", "2 Seasons", "100 min", "1 Season"] * 6, "levels"),
    "zip codes": (["02139", "10001", "94103", "60601"] * 5, "levels"),
    "versions": (["1.2.3", "1.2.4", "2.0.0"] * 5, "levels"),
    "lists": (["84,1102,1444", "132", "241,1497"] * 5, "levels"),
    "ISO": (["2024-01-31", "2024-02-29T10:30"], "time"),
    "dotted": (["31.12.2024", "1.2.2024"], "time"),
    "month first": (["12/31/2024", "01/02/2024", "NA"], "time"),
    "names of months": (["15-Jan-17", "01Apr1979", "August 14, 2020"], "time"),
    "months of years": (["1976 Jul", "1976 Aug", "1977 Jan"], "time"),
    "eight digits": (["20150601", "20150602", "20161231"], "time"),
    "seasons": (["2010-11", "2011-12", "2012-13"] * 3, "levels"),
    "clock": (["14:05", "2:05 PM", "00:00:30"], "clock"),
    "truths": (["true", "False", "NA"], "truth"),
    "words": (["red", "green", "blue"] * 5, "levels"),
    "marks only": (["NA", "NA"], "missing"),
    "a mark among levels": (["NA", "DE", "US", "ZA"] * 3, "levels"),
}


# How a column is read whose cells may be meant in several ways, and what is said of it.
GUESSES: dict[str, tuple[list[str], list, str]] = {
    "money has no three decimals": (
        ["€ 1.200", "€ 350", "€ 12.750"], [1200, 350, 12750], "as money; else give decimal='.'",
    ),
    "but the price of fuel": (
        ["1.459 €", "1.509 €"], [1.459, 1.509], "read as a fraction; give decimal=','",
    ),
    "fractions of three digits": (["1.234", "2.345"], [1.234, 2.345], "give decimal=','"),
    "some in thousands": (
        ["1.2k", "950", "3.4k", "12"], [1200, 950, 3400, 12], "in k, multiplied, 2 without",
    ),
    "some in metres": (["1.2 m", "950", "3.4 m"], [1.2, 950, 3.4], "in m, 1 without"),
    "several currencies": (["12.50 USD", "3 USD", "4.25 EUR"], [12.5, 3, 4.25], "in USD, EUR"),
    "years in German": (["4 Jahre", "1 Jahr"], [1461, 365.25], "in days"),
    "hours and minutes": (["1h 30m", "18h"], [0.0625, 0.75], "in days"),
    "hours or minutes": (["6h", "1h 30m", "45m"], [0.25, 0.0625, 0.03125], "in days"),
    "years and months in French": (["3 mois", "1 an"], [91.3125, 365.25], "in days"),
    "signs": (["5*", "7.25", "<9.5", "3", "4.5"], [5, 7.25, 9.5, 3, 4.5], "* < left out of 2"),
    "names of 13 digits": (
        ["9780306406157", "9783161484100"], [9780306406157, 9783161484100], "or names",
    ),
    "names of 16 digits": (
        ["4111111111111111", "5500000000000004"], [4111111111111111, 5500000000000004],
        "16 digits: they may be names",
    ),
    "months as fractions": (["01.2020", "12.2020"], [1.202, 12.202], "if 3.2018 is a month"),
    "truths as numbers": (["True", "0", "False", "1"], [True, False, False, True], "2 of them"),
    "numbers beside times": (
        [*(f"2020-01-{i:02}" for i in range(1, 31)), "43831", "43832", "43833"],
        [*(f"2020-01-{i:02}" for i in range(1, 31)), "NaT", "NaT", "NaT"],
        "missing: 3 numbers",
    ),
    "years of two digits": (
        ["31.12.45", "05.06.61"], ["2045-12-31", "2061-06-05"], "two digits are 1969 to 2068",
    ),
    "zones of letters": (
        ["2020-01-05 10:30 EST", "2020-01-06 11:30 PST"], ["2020-01-05", "2020-01-06"],
        "as they are written, whatever EST, PST is",
    ),
}  # fmt: skip
STAY: dict[str, tuple[list[str], str]] = {
    "several units": (["1 kg", "500 g", "2 kg", "750 g"], "numbers in several units: g, kg"),
    "numbers and times": (
        [x for i in range(40) for x in (f"{i}.5", f"2020-01-{i % 28 + 1:02}")],
        "40 numbers and 40 times",
    ),
    **{  # of 3-5 and 6-8, beside 0-2 and 15-17
        f"dates of codes, as {five}": (
            [*["0-2"] * 20, *[five] * 6, *[eight] * 3, "15-17", "15-17"],
            "9 dates beside other codes: codes too, which a spreadsheet took for dates?",
        )
        for five, eight in (
            ("5-Mar", "8-Jun"),
            ("Mar-05", "Jun-08"),
            ("3/5/2024", "6/18/2024"),
            ("2024-03-05", "2024-06-08"),
            ("2024-03-05 00:00:00", "2024-06-08 00:00:00"),
        )
    },
    "dates of many codes": (
        [f"{a}-{b}" if a > 12 else f"2024-{a:02}-{b:02}" for a in range(1, 60) for b in (4, 5)],
        "24 dates beside other codes: codes too, which a spreadsheet took for dates?",
    ),
}


@pytest.mark.parametrize("name", GUESSES)
def test_a_guess_is_said(name: str) -> None:
    cells, expected, said = GUESSES[name]
    strings = pack_strings(cells)
    assert strings is not None
    reading = read(Forms.of(strings))
    found, _ = values_of(strings, reading)
    if reading.content == "time":
        found = np.asarray(found).astype("datetime64[D]").astype(str)
    assert np.asarray(found).tolist() == expected
    assert said in reading.note


@pytest.mark.parametrize("name", STAY)
def test_why_cells_stay_as_they_are_written_is_said(name: str) -> None:
    cells, said = STAY[name]
    found = read(forms_of(cells))
    assert (found.content, found.note) == ("levels", said)


def forms_of(cells: Sequence[str | None]) -> Forms:
    strings = pack_strings(cells)
    assert strings is not None
    return Forms.of(strings)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_read_as_a_person_would(name: str) -> None:
    cells, content = COLUMNS[name]
    assert read(forms_of(cells)).content == content


@given(st.data())
def test_neither_the_order_nor_the_parts_show(data) -> None:
    name = data.draw(st.sampled_from(sorted(COLUMNS)))
    cells = [*COLUMNS[name][0], *data.draw(st.lists(st.sampled_from(["", "x", "7", "1,5", None])))]
    whole = forms_of(cells)
    shuffled = random.Random(data.draw(st.integers(0, 99))).sample(cells, len(cells))
    ends = sorted(data.draw(st.lists(st.integers(0, len(cells)), max_size=4)))
    parts = [shuffled[a:b] for a, b in zip([0, *ends], [*ends, len(cells)], strict=True)]
    added = reduce(add, [forms_of(part) for part in parts if part], Forms())
    assert added == whole
    assert read(added) == read(whole)
    assert read(added).note == read(whole).note


def test_what_was_too_many_once_stays_so() -> None:
    many = forms_of([f"word {i}" for i in range(FEW_WORDS + 1)])
    assert many.words.many
    assert (many + forms_of(["a"])).words.many
    halves = [forms_of([f"word {i}" for i in some]) for some in (range(40), range(40, 80))]
    assert not halves[0].words.many
    assert (halves[0] + halves[1]).words.many


def values(cells: Sequence[str | None], reading: Any = None) -> tuple[list, Counter]:
    strings = pack_strings(cells)
    assert strings is not None
    found, words = values_of(strings, reading or read(Forms.of(strings)))
    return np.asarray(found).tolist(), Counter(word for word in words or () if word is not None)


def test_values_and_words() -> None:
    found, words = values([*FLOATS, "NA", "Unrated", "", None])
    assert found[: len(FLOATS)] == list(map(float, FLOATS))
    assert np.isnan(found[len(FLOATS) :]).all()
    assert words == {"NA": 1, "Unrated": 1}
    assert values(["1", "2", "30"]) == ([1, 2, 30], {})
    assert values(["true", "FALSE"]) == ([True, False], {})


def test_uncertain_cells_follow_the_certain_ones() -> None:
    assert values(["1,234", "0,512", "2,75"])[0] == [1.234, 0.512, 2.75]
    assert values(["1,234", "7", "2.75"])[0] == [1234.0, 7.0, 2.75]
    assert values(["1.234", "1.234.567"])[0] == [1234.0, 1234567.0]
    days = ["2024-04-03", "2024-12-31"]
    for cells in (["04/03/2024", "12/31/2024"], ["03/04/2024", "31/12/2024"]):
        strings = pack_strings(cells)
        assert strings is not None
        found, _ = values_of(strings, read(Forms.of(strings)))
        assert np.asarray(found).astype("datetime64[D]").astype(str).tolist() == days


def test_where_nothing_votes_the_table_does_or_it_is_said() -> None:
    alone = forms_of(["03/04/2024", "05/06/2024"])
    assert not read(alone).day_first
    assert "give day_first=" in read(alone).note
    other = forms_of(["31/12/2024", "1/2/2024"])
    voted = read(alone, table=Votes.of([alone, other]))
    assert voted.day_first
    assert "as in other columns" in voted.note
    assert read(alone, day_first=True).day_first
    thousands = forms_of(["1.234", "2.500"])
    assert not read(thousands).comma
    assert read(thousands, table=Votes.of([thousands, forms_of(["0,5", "7,25"])])).comma
    assert read(thousands, comma=True).comma
    balance = forms_of([*COLUMNS["groups by points"][0]])
    assert read(balance).comma
    assert read(thousands, table=Votes.of([thousands, balance])).comma
    for other in ("1234", "1.5", "0.512"):
        assert not read(balance + forms_of([other])).comma


def test_units_scale_where_they_must() -> None:
    assert values(["1 year", "6 months", "3 weeks", "2 days"])[0] == [365.25, 182.625, 21.0, 2.0]
    assert values(["1.2M", "300k", "4.5k"])[0] == [1.2e6, 3e5, 4500.0]
    assert values(["5 kg", "70kg"])[0] == [5.0, 70.0]
    assert values(["45%", "7%"])[0] == [45.0, 7.0]


def test_notes_say_what_is_beside_the_numbers() -> None:
    assert said_of_words(forms_of([*FLOATS, "NA", "NA", "?"])) == "2 'NA', 1 '?'"
    many = forms_of([f"w{i}" for i in range(99)])
    assert said_of_words(many) == "99 cells of many different words"
    assert "decimal comma" in read(forms_of(["47,25", "3,5"])).note
    assert "both decimal marks" in read(forms_of(["0.5", "0,25", "1.75"])).note
    dates = forms_of(["25/12/2020", "26/12/2020", "12/31/2020", "01/02/2021"])
    assert "both orders" in read(dates).note
    assert "seconds since 1970" in read(forms_of(["1465586035", "1469464612"])).note


# --- Two tables of one column: what is merged is read as all rows are, or refused -----------------

HOURS = [f"{i} h" for i in range(1, 41)]
EITHER = [f"0{i % 9 + 1}/0{i % 7 + 1}/2024" for i in range(40)]
DAY_FIRST = [f"{i % 28 + 1:02}/0{i % 9 + 1}/2024" for i in range(40)]
MONTH_FIRST = [f"0{i % 9 + 1}/{i % 28 + 1:02}/2024" for i in range(40)]
THOUSANDS = [f"{i},250" for i in range(1, 41)]
COMMAS = [f"{i},25" for i in range(1, 41)]
TOGETHER: dict[str, tuple[list[str], list[str]]] = {
    "hours, minutes": (HOURS, [f"{i} min" for i in range(1, 41)]),
    "hours, compound": (HOURS, [f"{i}h 30m" for i in range(1, 41)]),
    "milliseconds, seconds": ([f"{i} ms" for i in range(40)], [f"{i}.5 s" for i in range(40)]),
    "years in German, weeks": ([f"{i} Jahre" for i in range(40)], [f"{i} wk" for i in range(40)]),
    "thousands, billions": ([f"{i}.5k" for i in range(40)], [f"{i}.5bn" for i in range(40)]),
    "thousands, plain": ([f"{i}k" for i in range(40)], [f"{1000 * i}" for i in range(40)]),
    "one unit, with its plural": (["1 day"] * 40, [f"{i} days" for i in range(40)]),
    "days decide nothing where no order shows": ([f"{i:02}.11.2024" for i in range(1, 31)], EITHER),
    "the order of both": (MONTH_FIRST, EITHER),
    "groups and points": ([f"{i}.5" for i in range(40)], THOUSANDS),
    "commas and no comma": (COMMAS, [f"{i}" for i in range(40)]),
    "marks": (["NA", *HOURS[:9]], ["?", *HOURS[9:]]),
    "levels, numbers": ([*"abc"] * 9, [*"abd"] * 9),
}
APART: dict[str, tuple[list[str], list[str] | list[float], str]] = {
    "kg, g": ([f"{i} kg" for i in range(40)], [f"{i} g" for i in range(40)], "in one unit"),
    "money": ([f"${i}" for i in range(40)], [f"{i} EUR" for i in range(40)], "in one unit"),
    "percent": ([f"{i}%" for i in range(40)], [f"0.{i:02}" for i in range(40)], "in one unit"),
    "percent, floats": ([f"{i}%" for i in range(40)], [i / 40 for i in range(40)], "in one unit"),
    "hours, plain": (HOURS, [f"{i}" for i in range(40)], "in one unit"),
    "metres, feet": ([f"{i} m" for i in range(40)], [f"{i} ft" for i in range(40)], "in one unit"),
    "degrees": ([f"{i} °C" for i in range(40)], [f"{i} °F" for i in range(40)], "in one unit"),
    "decimal comma": (THOUSANDS, COMMAS, "the same decimal="),
    "order of days": (DAY_FIRST, MONTH_FIRST, "the same day_first="),
    "no order, day first": (EITHER, DAY_FIRST, "the same day_first="),
    "clock, numbers": ([f"{i}:30" for i in range(10, 20)], HOURS[:10], "to the rows of all"),
}  # fmt: skip


def fitted(cells: Sequence[str | float], **options) -> NaiveBayes:
    return NaiveBayes(**options).fit(
        frame(cells), ["a", "b"] * (len(cells) // 2) + ["a"] * (len(cells) % 2)
    )


def frame(cells: Sequence[str | float]) -> dict[str, list]:
    return {"x": [*cells]}


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.filterwarnings("ignore:Nearly every row")
def test_a_merge_and_more_batches_are_read_as_all_rows_are(name: str, tmp_path: Path) -> None:
    one, two = TOGETHER[name]
    y = [["a", "b"][(i * i) % 3 % 2] for i in range(len(one) + len(two))]
    X, more = frame([*one, *two]), y[len(one) :]
    whole = NaiveBayes().fit(X, y)

    def half(first: bool) -> NaiveBayes:
        cells, labels = (one, y[: len(one)]) if first else (two, more)
        path = tmp_path / f"{first}.naively"
        NaiveBayes().fit(frame(cells), labels).save(path, keep_rows=True)
        return load(path)

    def stream(first: bool) -> Iterator[pl.DataFrame]:
        cells, labels = (one, y[: len(one)]) if first else (two, more)
        yield pl.DataFrame({"x": cells, "y": labels})

    for nb in (
        half(True).merge(half(False)),
        half(False).merge(half(True)),
        half(True).partial_fit(frame(two), more),
        half(True).partial_fit(stream(False), "y"),
        half(False).partial_fit(frame(one), y[: len(one)]),
    ):
        nb.calibrate()
        assert str(nb.schema_) == str(whole.schema_)
        assert nb.model_.counted.schema.readings == whole.model_.counted.schema.readings
        np.testing.assert_allclose(nb.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    left = half(True).merge(half(False)).forget(frame(two), more)
    alone = half(True).model_.counted.schema.readings
    for column, reading in left.model_.counted.schema.readings.items():
        assert column not in alone or reading.forms.count == alone[column].forms.count


@pytest.mark.parametrize("name", APART)
def test_cells_that_were_read_otherwise_are_not_merged_and_are_warned_of(name: str) -> None:
    one, two, what_to_do = APART[name]
    for a, b in ((one, two), (two, one)):
        with pytest.raises(
            ValueError, match=rf"^Column 'x' .*; they cannot be merged: .*{what_to_do}"
        ):
            fitted(a).merge(fitted(b))
    with pytest.warns(UserWarning, match="Column 'x' "):
        fitted(one).partial_fit(frame(two), ["a", "b"] * (len(two) // 2))
    if isinstance(two[0], str):  # numbers that come as such are those of the column
        with pytest.warns(UserWarning, match="Column 'x' "):
            fitted(one).predict_proba(frame(two))


def test_a_time_in_another_unit_is_that_time() -> None:
    nb = fitted(HOURS)
    same = [
        nb.predict_proba(frame([cell]))[0, 0] for cell in ("1.5 h", "90 min", "5400 s", "1h 30m")
    ]
    assert same == [same[0]] * 4
    assert values(["7 h", "420 min", "25200 s", "25200000 ms"])[0] == [7 / 24] * 4


def test_other_options_of_reading_are_not_merged() -> None:
    cells = [*map(str, range(20)), "-1"] * 2
    with pytest.raises(ValueError, match="the same missing_values="):
        fitted(cells, missing_values=["-1"]).merge(fitted(cells))
    given = [fitted(EITHER, day_first=of) for of in (True, False)]
    with pytest.raises(ValueError, match="the same day_first="):
        given[0].merge(given[1])
    assert fitted(EITHER, day_first=True).merge(fitted(DAY_FIRST)).model_.counted.schema.readings


def test_frequencies_count_where_strings_are_read() -> None:
    cells, times = ["1,250", "3,25", "2.5", "7", "12", "NA"], np.array([1, 1, 30, 2, 5, 3])
    y = [*"ababab"]
    every = NaiveBayes().fit(frame(np.repeat(cells, times).tolist()), np.repeat(y, times))
    table = pl.DataFrame({"x": cells, "y": y, "n": times})
    for nb in (
        NaiveBayes().fit(frame(cells), y, frequencies=times),
        NaiveBayes().fit(iter([table[:2], table[2:]]), "y", frequencies="n"),
        NaiveBayes().fit(iter([table[:2].drop("n"), table[2:].drop("n")]), "y", frequencies=times),
    ):
        assert str(nb.schema_) == str(every.schema_)
        assert nb.model_.counted.schema.readings == every.model_.counted.schema.readings


def test_dates_that_came_as_such_say_no_order_of_days() -> None:
    days = np.datetime64("2024-01-01") + np.arange(40)
    nb = NaiveBayes().fit({"x": days}, ["a", "b"] * 20)
    with pytest.warns(UserWarning, match=r"m/d/Y \(month first\), and '0.* may be meant otherwise"):
        nb.predict_proba(frame(EITHER))


def test_few_numbers_with_signs_are_read_alike_in_one_fit_and_in_two() -> None:
    """Or it is said: what was counted as numbers has no signs to be told apart by."""
    plain, marked = ["12", "13", "14"] * 10, ["<5", "12", "13"] * 10
    whole = fitted([*marked, *plain])
    y = ["a", "b"] * 15
    two = fitted(marked).partial_fit(frame(plain), y).calibrate()
    assert str(two.schema_) == str(whole.schema_)
    with pytest.raises(
        ValueError, match=r"Column 'x' .* cannot be merged: give both the same event"
    ):
        fitted(plain).merge(fitted(marked))
    with pytest.warns(
        UserWarning, match="learned as numbers, and all rows together are read otherw"
    ):
        fitted(plain).partial_fit(frame(marked), y)
