"""What a column of strings is: by its cells in any order, added up from any parts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.data.columns import Reading
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
    "years in German": (["5 Jahre", "1 Jahr", "30 Jahre"], [5, 1, 30], "in Jahre, Jahr"),
    "hours and minutes": (["2h 30m", "19h", "1h 15m"], [2.5, 19, 1.25], "in h"),
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
    "several units": (["1 kg", "500 g", "2 kg", "750 g"], "numbers in several units: kg, g"),
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


def is_same(a: Forms, b: Forms) -> bool:
    few = [(f.words, f.affixes, f.numbers) for f in (a, b)]
    return (
        a.count.tolist() == b.count.tolist()
        and a.length.tolist() == b.length.tolist()
        and few[0] == few[1]
    )


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
    added = reduce(add, [forms_of(part) for part in parts if part], Forms.none())
    assert is_same(added, whole)
    assert read(added) == read(whole)
    assert read(added).note == read(whole).note


def test_what_was_too_many_once_stays_so() -> None:
    many = forms_of([f"word {i}" for i in range(FEW_WORDS + 1)])
    assert many.words.many
    assert (many + forms_of(["a"])).words.many
    halves = [forms_of([f"word {i}" for i in some]) for some in (range(40), range(40, 80))]
    assert not halves[0].words.many
    assert (halves[0] + halves[1]).words.many


def values(cells: Sequence[str | None], reading: Reading | None = None) -> tuple[list, Counter]:
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
    assert (
        said_of_words(forms_of([f"w{i}" for i in range(99)])) == "99 cells of many different words"
    )
    assert "decimal comma" in read(forms_of(["47,25", "3,5"])).note
    assert "both decimal marks" in read(forms_of(["0.5", "0,25", "1.75"])).note
    assert (
        "both orders"
        in read(forms_of(["25/12/2020", "26/12/2020", "12/31/2020", "01/02/2021"])).note
    )
    assert "seconds since 1970" in read(forms_of(["1465586035", "1469464612"])).note
