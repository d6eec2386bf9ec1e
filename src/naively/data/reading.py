"""What a column of strings is: numbers, times, truths or levels, by how many cells have each form.

A cell alone has a form (``naively.kernels.forms``). A column is read from the counts of the forms
only, which add up, so that neither the order of the rows nor how they come in batches shows. In a
column of numbers or times every other string is a word: nothing is lost, whatever it means.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, lru_cache
from operator import add, sub
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name, title
from naively.data.columns import (
    FIXED,
    LEVELS,
    READ_AS,
    TIME,
    Cells,
    ColumnRows,
    Content,
    Kind,
    Reading,
    Rows,
)
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.forms import CURRENCIES, FORMS, LONGEST, MANY_AFFIXES, Form, Read
from naively.kernels.reference import Floats
from naively.kernels.strings import Strings
from naively.messages import warn
from naively.options import Options

Asked: TypeAlias = Content | Literal["numbers"]
R = TypeVar("R", bound=Rows)

SHARE = 0.1  # of the cells that are no marks, at least, beside few words that recur
SURE = 0.9  # or so many, whatever the words are
RECUR = 3  # times that each of several words comes on average
SIGNS = np.frombuffer(b"+-", np.uint8)
GROUPS = 10  # numbers such as 1.234, before they are whole for those that are beside them
TEN = 10
FEW_NUMBERS = 20  # different ones, at most, that are levels beside words or signs
FEW_WORDS = 64  # different ones that are told apart
SHOWN = 30  # characters of a cell in a message
A_CODE = re.compile(r"\S*\d\S*")  # a word that may be a code
MADE = re.compile(r"\d\d?-(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)")  # of one, by Excel
MADE_SHARE = 0.01  # dates of so many cells are said to be beside codes
LOOKED_AT = 10_000  # strings in which more than a few different ones are looked for first
CODE = 9  # digits that all numbers of a column have, from which on they may be names
MOMENTS = {10: "seconds", 13: "milliseconds"}  # since 1970, from 2001 to 2286, by their digits
NAMED = 0.02  # of the cells are like 007, from which on all are names
NAMED_ALIKE = 0.005  # or so many, if nearly all numbers have one length
NUMBERS = Form.PLAIN, Form.EITHER_COMMA  # the first form, and the last
DATES = Form.YMD, Form.MONTH_YEAR
CLOCKS = Form.CLOCK, Form.SPAN
DAYS = {  # units of time, in days
    "year": 365.25,
    "month": 30.4375,
    "week": 7.0,
    "day": 1.0,
    "hour": 1 / 24,
    "minute": 1 / 1440,
    "second": 1 / 86400,
    "millisecond": 1 / 86_400_000,
}
PERIODS = {  # their names, of one and of several
    name: period
    for period, names in {
        "year": "year yr y annum jahr jahre an ans année anno anni ano año jaar jaren",
        "month": "month mo mth mon monat monate mois mese mesi mes meses maand maanden",
        "week": "week wk w woche wochen semaine settimana settimane semana weken",
        "day": "day d tag tage jour giorno giorni dia día dag dagen",
        "hour": "hour hr h stunde stunden std heure ora ore hora uur",
        "minute": "minute min minuten minuto minuti",
        "second": "second sec s sekunde sekunden sek seconde secondo secondi segundo",
        "millisecond": "millisecond ms msec millis millisekunde millisekunden milliseconde",
    }.items()
    for name in names.split()
}
SCALES = {  # what multiplies a number, whatever its unit
    **dict.fromkeys(("k", "thousand"), 1e3),
    "lakh": 1e5,
    **dict.fromkeys(("m", "mm", "mn", "mio", "mil", "million", "millions"), 1e6),
    "crore": 1e7,
    **dict.fromkeys(("b", "bn", "billion", "mrd"), 1e9),
    **dict.fromkeys(("t", "tn", "trillion"), 1e12),
}
METRES = {"m", "mm", "t"}  # are metres, millimetres and tonnes, if nothing says otherwise
MONEY = frozenset(CURRENCIES) - {"%"}
SIGN_OF = {"US$": "$", "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "RUB": "₽"}
TIME_OF_ROWS = "time="  # the name of times that are no column
ORDERS = {True: "d/m/Y (day first)", False: "m/d/Y (month first)"}
MARKS = "fit each with the same missing_values="  # what to do where readings differ
DECIMAL = "fit each with the same decimal="
ORDER = "fit each with the same day_first="
UNITS = "write its numbers in one unit"
BARE = "|||"  # what stands beside digits alone


class Few(Frozen, eq=True):
    """How often each of a few different things came; nothing is known once they were too many.

    So sums agree in any order and grouping.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    many: bool = False

    def __add__(self, other: Few) -> Few:
        if self.many or other.many:
            return TOO_MANY
        total = Counter(self.counts)
        total.update(other.counts)
        return TOO_MANY if len(total) > FEW_WORDS else Few(dict(total))

    def __sub__(self, other: Few) -> Few:
        return Few(dict(Counter(self.counts) - Counter(other.counts)), self.many)

    def __len__(self) -> int:
        return FEW_WORDS + 1 if self.many else len(self.counts)


TOO_MANY = Few(many=True)


class Forms(Frozen, eq=True):
    """How many cells of a column have each form, and what few different things they hold."""

    count: tuple[int, ...] = (0,) * FORMS  # the cells of each `Form`
    # The cells of digits alone, by how many characters they have: names have one length.
    length: tuple[int, ...] = (0,) * (LONGEST + 1)
    # The marks and words, and what stands beside digits or is open in dates.
    words: Few = field(default_factory=Few)
    affixes: Few = field(default_factory=Few)
    numbers: Few = field(default_factory=Few)  # the different numbers, each once
    # Whether the column is typed as one of categories, so that no number is looked for in it.
    categorical: bool = False

    @classmethod
    def of(cls, strings: Strings) -> Forms:
        """Return the forms of a column."""
        return look_at(strings).forms

    @classmethod
    def of_levels(cls, levels: Sequence[str], times: Floats) -> Forms:
        """Return the forms of a column of which each different string came so many times."""
        strings = cast("Strings", dispatch.pack_strings(levels))
        each = np.arange(len(levels), dtype=np.int32)
        return Looked(strings, dispatch.read_forms(strings), each, np.ceil(times)).forms

    @classmethod
    def of_values(cls, kind: Kind, n: float) -> Forms:
        """Return the forms of a column that holds so many values."""
        form = {"boolean": Form.TRUTH, "time": Form.YMD}.get(kind, Form.POINT)
        return cls(tuple(int(np.ceil(n)) * (of == form) for of in Form), numbers=TOO_MANY)

    def __add__(self, other: Forms) -> Forms:
        return Forms(
            tuple(map(add, self.count, other.count)),
            tuple(map(add, self.length, other.length)),
            self.words + other.words,
            self.affixes + other.affixes,
            self.numbers + other.numbers,
            self.categorical or other.categorical,
        )

    def __sub__(self, other: Forms) -> Forms:
        count = tuple(map(sub, self.count, other.count))
        length = tuple(map(sub, self.length, other.length))
        words, affixes = self.words - other.words, self.affixes - other.affixes
        return replace(self, count=count, length=length, words=words, affixes=affixes)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Forms:
        """Return what ``dataclasses.asdict`` and JSON have made of forms."""
        few = {name: Few(**found[name]) for name in ("words", "affixes", "numbers")}
        both = {name: tuple(found[name]) for name in ("count", "length")}
        return cls(**{**found, **few, **both})

    def between(self, first: Form, last: Form) -> int:
        """Return how many cells have these forms, both ends included."""
        return sum(self.count[first : last + 1])

    @property
    def units(self) -> Few:
        """What stands beside the digits of numbers."""
        of_numbers = {of: n for of, n in self.affixes.counts.items() if "|" in of}
        return Few(of_numbers, self.affixes.many)

    @property
    def points(self) -> int:
        """How many numbers must have a decimal point."""
        return self.count[Form.POINT] + self.count[Form.GROUPED_POINT]


def is_sound(reading: Reading) -> bool:
    """Whether a reading that a file holds can be, with the forms of its cells."""
    forms = reading.forms or Forms()
    counts = {of: n for few in (forms.words, forms.numbers) for of, n in few.counts.items()}
    return (
        {*reading.given} <= {*FIXED}
        and (len(forms.count), len(forms.length)) == (FORMS, LONGEST + 1)
        and all(type(n) is int for n in (*counts.values(), *forms.affixes.counts.values()))
        and all(affix.count("|") in (0, 3) for affix in forms.affixes.counts)
    )


class Looked(Frozen):
    """What was found of the cells of a column, of which the different ones were looked at once."""

    strings: Strings  # the different strings, or all of a column that hardly repeats any
    found: Read  # what each of them may be, with a decimal point and the month first
    # (rows,): which of them each row has; -1 where it is missing. By default each row has its own.
    codes: NDArray[np.int32] | None = None
    # (rows,): how many equal rows each row is; by default one.
    times: NDArray[np.number] | None = None

    @cached_property
    def forms(self) -> Forms:
        """The counts of the forms."""
        strings, found, times, missing = self.strings, self.found, None, 0
        if self.codes is not None:
            every = np.bincount(self.codes + 1, self.times, minlength=len(strings) + 1)
            times, missing = every[1:].astype(np.int64), int(every[0])
        count = np.bincount(found.form, times, FORMS).astype(np.int64)
        count[Form.EMPTY] += missing  # which none of the different strings is
        digits = (found.form >= Form.PLAIN) & (found.form <= Form.EIGHT) & (found.affix == 0)
        sizes = np.diff(strings.offsets)[digits]
        sizes -= np.isin(strings.utf8[strings.offsets[:-1][digits]], SIGNS)
        sizes = np.minimum(sizes, LONGEST)
        length = np.bincount(sizes, None if times is None else times[digits], LONGEST + 1)
        is_word = (found.form >= Form.MARK) & (found.form <= Form.LIST)
        affixes = Few()
        if found.affixes:
            each = np.bincount(found.affix, times, MANY_AFFIXES + 1).astype(np.int64).tolist()
            affixes = Few(dict(zip(found.affixes, each[1:], strict=False)))
            affixes = TOO_MANY if each[MANY_AFFIXES] else affixes
        is_number = (found.form >= NUMBERS[0]) & (found.form <= NUMBERS[1])
        values = found.value.view(np.float64)[is_number]
        for some in (values[:LOOKED_AT], values) if len(values) > LOOKED_AT else (values,):
            different = np.unique(some)
            if len(different) > FEW_WORDS:
                break
        few = len(different) <= FEW_WORDS
        numbers = Few({repr(x): 0 for x in different.tolist()}) if few else TOO_MANY
        return Forms(
            tuple(count.tolist()),
            tuple(length.astype(np.int64).tolist()),
            _few_strings(strings, np.flatnonzero(is_word), times),
            affixes,
            numbers,
            strings.categorical,
        )

    def read(self, reading: Reading) -> Read:
        """Return what each row may be, as numbers and dates are read."""
        found = self.found
        if reading.comma or reading.day_first or reading.dates:
            flags = reading.comma, reading.day_first, reading.dates
            found = dispatch.read_forms(self.strings, *flags)
        if self.codes is None:
            return found
        nothing = np.float64(np.nan).view(np.int64)
        form, affix = (np.append(of, np.uint8(0)) for of in (found.form, found.affix))
        value = np.append(found.value, nothing)
        return Read(form[self.codes], value[self.codes], affix[self.codes], found.affixes)


def look_at(
    strings: Strings, marks: Sequence[str] = (), times: NDArray[np.number] | None = None
) -> Looked:
    """Return what the cells of a column may be that are no ``marks`` of missing."""
    # Where strings repeat, each is looked at once. ``times`` is how many equal rows each row is.
    if marks:
        strings = without_marks(strings, marks)
    if not strings.repeat and times is None:
        return Looked(strings, dispatch.read_forms(strings))
    different = strings.different
    return Looked(different, dispatch.read_forms(different), strings.encoded[0], times)


def _few_strings(strings: Strings, rows: NDArray[np.int64], times: NDArray[np.int64] | None) -> Few:
    if times is not None:  # all are different
        if len(rows) > FEW_WORDS:
            return TOO_MANY
        names = map(str, dispatch.take_strings(strings, rows))
        return Few(dict(zip(names, times[rows].tolist(), strict=True)))
    for some in (rows[:LOOKED_AT], rows) if len(rows) > LOOKED_AT else (rows,):
        taken = dispatch.take_strings(strings, some)
        codes, first = dispatch.encode_strings(taken)
        if len(first) > FEW_WORDS:
            return TOO_MANY
    names = map(str, dispatch.take_strings(taken, first))
    return Few(dict(zip(names, np.bincount(codes, minlength=len(first)).tolist(), strict=True)))


def read(
    forms: Forms,
    *,
    content: Asked | None = None,
    comma: bool | None = None,
    day_first: bool | None = None,
    table: Votes | None = None,
) -> Reading:
    """Return what a column is, by the forms of its cells."""
    table = table or Votes()
    if content is not None and content != "numbers":
        return _read_as(forms, content, comma, day_first, table)
    found = _read_freely(forms, comma, day_first, table)
    if content == "numbers" and found.content == "levels" and forms.between(*NUMBERS):
        return _read_as(forms, "number", comma, day_first, table)
    return found


def _read_as(
    forms: Forms, content: Content, comma: bool | None, day_first: bool | None, table: Votes
) -> Reading:
    """Return how a column is read of which it is known what it is."""
    if content == "number":
        scaled = "" if forms.units.many else _scaled(forms) or ""
        return _notation(forms, scaled, comma, table)
    if content == "time":
        dates = not forms.between(*DATES) and bool(forms.count[Form.EIGHT])
        return Reading("time", day_first=_order(forms, day_first, table)[0], dates=dates)
    return Reading(content)


def _read_freely(forms: Forms, comma: bool | None, day_first: bool | None, table: Votes) -> Reading:
    """Return what a column is of which nothing else is known."""
    if forms.categorical:
        return LEVELS
    words = forms.between(Form.WORD, Form.LIST)
    numbers = forms.between(*NUMBERS)
    times = forms.between(Form.YMD, Form.SPAN)
    truths = forms.count[Form.TRUTH]
    n = words + numbers + times + truths
    if n == 0:
        one_kind = len(forms.words) <= 1 and not (forms.words.counts and forms.count[Form.EMPTY])
        return Reading("missing") if one_kind else Reading("levels", note="marks of missing only")
    if truths == n:
        return Reading("truth")
    are_truths = not forms.numbers.many and forms.numbers.counts.keys() <= {"0.0", "1.0"}
    if truths and truths + numbers == n and are_truths:
        return Reading("truth", note=f"{numbers:,} of them as 0 or 1")
    if not forms.words.many and (made := _said_of_codes(forms, n)):
        return replace(LEVELS, note=made)
    if not numbers + times:
        return LEVELS
    return _read_as_most(forms, n, comma, day_first, table)


def _read_as_most(
    forms: Forms, n: int, comma: bool | None, day_first: bool | None, table: Votes
) -> Reading:
    """Return what a column is of n cells, of which some are numbers or times, and no marks."""
    numbers, times = forms.between(*NUMBERS), forms.between(Form.YMD, Form.SPAN)
    words_beside = FEW_WORDS + 1  # different ones
    if not forms.words.many:
        strings = cast("Strings", dispatch.pack_strings([*forms.words.counts]))
        no_marks = dispatch.read_forms(strings).form != Form.MARK
        words_beside = int(no_marks.sum()) + (forms.count[Form.TRUTH] > 0)
    beside = {  # different things beside the times, and beside the numbers
        "time": words_beside + len(forms.numbers),
        "number": words_beside + (FEW_WORDS if times else 0),
    }
    for kind, count in sorted((("time", times), ("number", numbers)), key=lambda of: -of[1]):
        others, different = n - count, beside[kind]
        few = different <= FEW_WORDS and (different <= 1 or others >= RECUR * different)
        if count < SHARE * n or (count < SURE * n and not few):
            continue
        found = (
            _read_times(forms, times, day_first, table)
            if kind == "time"
            else _read_numbers(forms, numbers, others, comma, table)
        )
        if found is not None:
            return found if found.is_levels else _with_others(found, forms)
    return _levels(forms, n)


def _with_others(found: Reading, forms: Forms) -> Reading:
    """Return a reading that says how many cells are of another kind, and so count as missing."""
    count = {
        "number": forms.between(*NUMBERS),
        "time": forms.between(*DATES),
        "clock": forms.between(*CLOCKS),
        "truth": forms.count[Form.TRUTH],
    }
    if found.dates:
        return found
    of_kind = {"number": "number", "time": "date", "clock": "clock time", "truth": "truth"}
    others = [
        f"{n:,} {of_kind[of]}{'s' if n > 1 else ''}"
        for of, n in count.items()
        if n and of != found.content
    ]
    said = f"missing: {' and '.join(others)}" if others else ""
    return replace(found, note="; ".join(filter(None, [found.note, said])))


def _levels(forms: Forms, n: int) -> Reading:
    """Return that a column is of levels, and why, if nearly all of its cells might be read."""
    if forms.words.many and (made := _said_of_codes(forms, n)):
        return replace(LEVELS, note=made)
    numbers, times = forms.between(*NUMBERS), forms.between(Form.YMD, Form.SPAN)
    if numbers + times < SURE * n:
        return LEVELS
    if numbers >= SURE * n and not forms.units.many and _scaled(forms) is None:
        units = sorted({affix.split("|")[1] for affix in forms.units.counts} - {""})
        return replace(LEVELS, note=f"numbers in several units: {', '.join(units)}")
    if min(numbers, times) > n - SURE * n:
        return replace(LEVELS, note=f"{numbers:,} numbers and {times:,} times")
    return LEVELS


def _said_of_codes(forms: Forms, n: int) -> str:
    """Say that dates beside many codes may be codes: a spreadsheet takes 3-5 for a date."""
    words = forms.words.counts
    made = {word for word in words if MADE.fullmatch(word)}
    dates = forms.between(*DATES) + sum(words[word] for word in made)
    codes = [words[word] for word in words.keys() - made if A_CODE.fullmatch(word)]
    are_many = forms.words.many or (len(codes) > 1 and sum(codes) > n - SURE * n)
    if not are_many or not MADE_SHARE * n <= dates < SURE * n:
        return ""
    return f"{dates:,} dates beside other codes: codes too, which a spreadsheet took for dates?"


def said_of_words(forms: Forms, most: int = 3) -> str:
    """Return which words are beside the numbers or times of a column, the most frequent first."""
    if forms.words.many:
        return f"{forms.between(Form.MARK, Form.LIST):,} cells of many different words"
    by_count = sorted(forms.words.counts.items(), key=lambda of: (-of[1], of[0]))
    said = [f"{n:,} {word!r}" for word, n in by_count[:most]]
    said += [f"{len(by_count) - most} other words"] if len(by_count) > most else []
    return ", ".join(said)


def _read_times(forms: Forms, times: int, day_first: bool | None, table: Votes) -> Reading | None:
    count = forms.count
    clocks = forms.between(Form.CLOCK, Form.SPAN)
    if max(clocks, times - clocks) < SURE * times:
        return None
    if clocks > times - clocks:
        return Reading("clock", note="times of day or spans, in seconds")
    if count[Form.SEASON] and not count[Form.YEAR_MONTH]:
        return None
    if forms.between(Form.EITHER_DAY, Form.FIRST_MONTH):
        first, why = _order(forms, day_first, table)
    else:
        first, why = count[Form.DAY_FIRST] > count[Form.MONTH_FIRST], ""
    note = "; ".join(filter(None, [why, *_said_of_open(forms)]))
    return Reading("time", day_first=first, note=note)


def _said_of_open(forms: Forms) -> list[str]:
    """Say how what dates leave open was filled in."""
    parts = [of.split() for of in forms.affixes.counts if "|" not in of]  # else it is of a number
    zones = sorted({part for of in parts for part in of if part != "yy"})
    said = ["years of two digits are 1969 to 2068"] if any("yy" in of for of in parts) else []
    return [*said, f"as they are written, whatever {', '.join(zones)} is"] if zones else said


def _order(forms: Forms, given: bool | None, table: Votes) -> tuple[bool, str]:
    """Return whether the day comes first in dates where both orders are possible, and why."""
    count = forms.count
    days, months = count[Form.DAY_FIRST], count[Form.MONTH_FIRST]
    if given is not None:
        return given, f"dates {ORDERS[given]}, as given"
    if days and months:
        both = f"both orders of dates: {days:,} d/m/Y, {months:,} m/d/Y"
        return days > months, f"{both}; give day_first= for the others"
    if days or months:
        first = days > months
        return first, f"dates {ORDERS[first]}, as {max(days, months):,} of them must be"
    if table.days != table.months:
        first = table.days > table.months
        return first, f"dates {ORDERS[first]}, as in other columns; else give day_first="
    if count[Form.FIRST_DAY] and not count[Form.FIRST_MONTH] + count[Form.EITHER_DAY]:
        why = "as each is the first of a month; else give day_first="
        return True, f"day or month first? {ORDERS[True]}, {why}"
    if count[Form.SAME_DAY] == forms.between(Form.EITHER_DAY, Form.FIRST_MONTH):
        return False, ""
    why = "as nothing says which; give day_first="
    return False, f"day or month first? {ORDERS[False]}, {why}"


def _read_numbers(
    forms: Forms, numbers: int, others: int, comma: bool | None, table: Votes
) -> Reading | None:
    count = forms.count
    different, are_names = len(forms.numbers), _are_names(forms, numbers, others)
    recur = different <= FEW_NUMBERS and different <= numbers / 2
    if forms.units.many or (others and recur and not are_names):
        return None
    if are_names:
        return Reading("levels", note="numbers that are names, as 007 is")
    if count[Form.EIGHT] == numbers and min(numbers, different) > 1 and not others:
        return Reading("time", dates=True, note="dates of eight digits")
    if recur and _are_marked(forms, numbers):
        return Reading("levels", note="few different numbers, some with a sign or unit")
    if count[Form.LIST] and count[Form.COMMA] + count[Form.EITHER_COMMA]:
        return Reading("levels", note="lists of numbers")
    scaled = _scaled(forms)
    return None if scaled is None else _notation(forms, scaled, comma, table)


def _are_names(forms: Forms, numbers: int, others: int) -> bool:
    """Whether digits are names: enough begin with a 0, or have more than a float tells apart."""
    names, n = forms.count[Form.NAME], numbers + others
    if not names or forms.units.counts:
        return False
    alike = max(forms.length) >= SURE * numbers
    return names >= NAMED * n or (alike and names >= NAMED_ALIKE * n)


def _are_marked(forms: Forms, numbers: int) -> bool:
    """Whether some numbers have a sign such as <, or a unit that others lack."""
    affixes = [affix.split("|") for affix in forms.units.counts]
    affixed = sum(forms.units.counts.values())
    signed, units = (any(affix[i] for affix in affixes) for i in (3, 1))
    return signed or (units and affixed < SURE * numbers)


def _notation(forms: Forms, scaled: str, comma: bool | None, table: Votes) -> Reading:
    """Return how numbers are written: which decimal mark, by those that have but one reading."""
    count = forms.count
    points, commas = forms.points, count[Form.COMMA]
    either = count[Form.EITHER_POINT] + count[Form.EITHER_COMMA]
    said = []
    by_comma = commas > points if comma is None else comma
    if comma is not None:
        pass
    elif commas and points:
        marks = f"both decimal marks: {points:,} points, {commas:,} commas"
        said.append(f"{marks}; give decimal= if one is none" if either else marks)
    elif either and not commas and not points:
        if _are_groups(forms):
            by_comma = True
            why = "as money" if _is_money(forms) else "as no number has another fraction"
            said.append(f"1.234 is read as 1234, {why}; else give decimal='.'")
        elif table.commas != table.points:
            by_comma = table.commas > table.points
            mark = "comma" if by_comma else "point"
            said.append(f"decimal {mark}, as in other columns; else give decimal=")
        elif count[Form.EITHER_COMMA]:
            said.append("1,234 is read as 1234; give decimal=',' if it is a fraction")
        elif not any(forms.length[4:]):
            said.append("1.234 is read as a fraction; give decimal=',' if it is 1234")
    if by_comma and not said:
        said.append("decimal comma")
    reading = _with_units(Reading("number", comma=by_comma, scaled=scaled), forms)
    if forms.units.counts:
        said.append(_units_note(forms, reading))
    said.append(_said_of_digits(forms))
    return replace(reading, note="; ".join(filter(None, said)))


def _said_of_digits(forms: Forms) -> str:
    """Say what else whole numbers of so many digits may be, or numbers such as 3.2018."""
    longest, numbers = forms.length.index(max(forms.length)), forms.between(*NUMBERS)
    if longest >= CODE and forms.length[longest] >= SURE * numbers:
        since = f"{MOMENTS[longest]} since 1970, or names" if longest in MOMENTS else "names"
        long = "ten" if longest == TEN else f"{longest}"
        return f"whole numbers of {long} digits: they may be {since}; if so, say levels"
    months = [float(number) for number in forms.numbers.counts]
    alike = len(months) > 1 and forms.count[Form.POINT] == numbers
    if alike and all(1 <= x < 13 and 1900 <= round(x % 1 * 1e4, 6) <= 2099 for x in months):
        return "read as fractions; if 3.2018 is a month, write 2018-03"
    return ""


def _is_money(forms: Forms) -> bool:
    """Whether nearly all numbers have a currency."""
    of_money = sum(n for affix, n in forms.units.counts.items() if _parts(affix)[0])
    return of_money > 0 and of_money >= SURE * forms.between(*NUMBERS)


def _are_groups(forms: Forms) -> bool:
    """Whether points stand between groups of digits: others are only whole numbers below 1000."""
    # Fractions would not have three digits in each of so many numbers, or none; and money has two,
    # but for the price of fuel, which is below 10.
    if _is_money(forms) and forms.count[Form.EITHER_POINT]:
        others = forms.points or forms.count[Form.COMMA] or forms.count[Form.EITHER_COMMA]
        large = any(float(number) >= TEN for number in forms.numbers.counts)
        return not others and bool(forms.count[Form.PLAIN] or large)
    whole, groups = sum(forms.length[1:4]), forms.count[Form.EITHER_POINT]
    others = forms.points or forms.count[Form.COMMA] or any(forms.length[4:])
    return bool(groups >= GROUPS and whole and not others)


def _units_note(forms: Forms, reading: Reading) -> str:
    others = sum(n for of, n in forms.units.counts.items() if meaning(of, reading) is None)
    missing = [f"missing: {others:,} in other units"] if others else []
    without = forms.between(*NUMBERS) - sum(forms.units.counts.values())
    if reading.scaled == "days":
        said = [f"{without:,} without a unit as {reading.unit}s"] if without else []
        return ", ".join(["in days", *said, *missing])
    units, signs = Counter[str](), Counter[str]()
    for affix, n in forms.units.counts.items():
        before, unit, after, sign = affix.split("|")
        units[f"{before}{unit}{after}"] += n
        signs[sign] += n
    del units[""], signs[""]
    shown, some = (sorted(few, key=lambda of: (-few[of], of))[:3] for few in (units, signs))
    said = [f"in {', '.join(shown)}{', multiplied' if reading.scaled else ''}"] if shown else []
    without = forms.between(*NUMBERS) - units.total()
    said += [f"{without:,} without"] if shown and without else []
    said += missing
    said += [f"{' '.join(some)} left out of {signs.total():,}"] if some else []
    return ", ".join(said)


def _scaled(forms: Forms) -> str | None:
    """Return whether units multiply the numbers: "days", "units" or ""; None of several units."""
    units = Counter[str]()
    for affix, n in forms.units.counts.items():
        units[_parts(affix)[1]] += n
    del units[""]
    if not units:
        return ""
    minutes = {"m"} if "hour" in units else set[str]()  # metres, if nothing says otherwise
    if units.keys() - minutes <= DAYS.keys():
        return "days"
    scales = {unit.lower() for unit in units}
    if scales <= SCALES.keys():
        money = any(_parts(affix)[0] for affix in forms.units.counts)
        return "units" if len(scales) > 1 or money or not scales & METRES else ""
    return "" if max(units.values()) >= SURE * units.total() else None


@lru_cache
def _parts(affix: str) -> tuple[str, str]:
    """Return the currency and the unit of an affix."""
    before, unit, after, _ = affix.split("|")
    money = before or after or (unit if unit in MONEY else "")
    return SIGN_OF.get(money, money), "" if unit in MONEY else singular(unit)


def meaning(affix: str, reading: Reading) -> tuple[str, float] | None:
    """Return what numbers with this affix count, and their factor; None if not what others do.

    >>> meaning("|h||", Reading("number", scaled="days")), meaning("|kg||", Reading("number"))
    (('time', 0.041666666666666664), None)
    """
    money, unit = _parts(affix)
    if reading.scaled == "days":
        unit = "minute" if unit == "m" else unit or reading.unit or "day"
        return ("time", DAYS[unit]) if unit in DAYS and not money else None
    scale = SCALES.get(unit.lower()) if reading.scaled or unit.lower() not in METRES else None
    what = money if scale else money or unit
    known = what in ("", reading.unit, *reading.units)
    return (what or reading.unit, scale or 1.0) if known else None


def _with_units(reading: Reading, forms: Forms) -> Reading:
    """Return a reading that knows what most of its numbers with a unit count."""
    count = Counter[str]()
    for affix, n in forms.units.counts.items():
        money, unit = _parts(affix)
        if reading.scaled == "days":
            count["minute" if unit == "m" else unit] += n
        else:
            count[money or ("" if reading.scaled else unit)] += n
    del count[""]
    most = max(sorted(count), key=count.__getitem__, default="")
    of_money = {SIGN_OF.get(of, of) for of in MONEY}
    units = tuple(sorted(count.keys() & of_money)) if most in of_money else ()
    return replace(reading, unit=most, units=units)


def singular(unit: str) -> str:
    """Return a unit without what makes it plural; one of time has its name in English.

    >>> singular("days"), singular("yrs."), singular("Jahre"), singular("kg")
    ('day', 'year', 'year', 'kg')
    """
    unit = unit.rstrip(".")
    lower = unit.lower()
    period = PERIODS.get(lower) or PERIODS.get(lower.removesuffix("s"))
    if period:
        return period
    plural = len(unit) > 3 and lower.endswith("s") and not lower.endswith("ss")
    return unit[:-1] if plural else unit


class Votes(Frozen, eq=True):
    """How many columns of a table have certain decimal points, commas, and orders of dates."""

    points: int = 0
    commas: int = 0
    days: int = 0
    months: int = 0

    @classmethod
    def of(cls, columns: Iterable[Forms]) -> Votes:
        """Return what the columns of a table say."""
        votes = Counter[str]()
        for of in columns:
            commas = of.count[Form.COMMA] + _are_groups(of) - of.points
            days = of.count[Form.DAY_FIRST] - of.count[Form.MONTH_FIRST]
            votes["commas" if commas > 0 else "points"] += commas != 0
            votes["days" if days > 0 else "months"] += days != 0
        return cls(**votes)


def values_of(
    strings: Strings, reading: Reading, looked: Looked | None = None
) -> tuple[Cells, Strings | None]:
    """Return a column's cells as it is read, and its words."""
    if reading.is_levels:
        return strings, None
    found = (look_at(strings) if looked is None else looked).read(reading)
    first, last = {
        "number": NUMBERS,
        "time": DATES,
        "clock": CLOCKS,
        "truth": (Form.TRUTH, Form.TRUTH),
    }[reading.content]
    form = found.form
    there = (form >= first) & (form <= last)
    if reading.dates:
        there |= form == Form.EIGHT
    if reading.content == "truth":  # 0 and 1 are truths where others are, or where it is said
        of_numbers = (form >= NUMBERS[0]) & (form <= NUMBERS[1])
        there |= of_numbers & np.isin(found.value.view(np.float64), (0, 1))
    factor = None
    if reading.content == "number" and (found.affixes or reading.scaled == "days"):
        factor = _factors(found.affixes, reading)[found.affix]
        there &= ~np.isnan(factor)
    other = ~there & (form != Form.EMPTY)
    words = strings.take(np.where(other, np.arange(len(strings)), -1)) if other.any() else None
    if reading.content == "time":
        return np.where(there, found.value, np.datetime64("NaT").astype(np.int64)).view(TIME), words
    numbers = found.value.view(np.float64)
    if there.all():
        if reading.content == "truth":
            return numbers == 1, None
        plain = not reading.scaled and bool((form <= Form.EIGHT).all())
        if plain and (np.abs(numbers) < 2.0**53).all() and (numbers == np.rint(numbers)).all():
            return numbers.astype(np.int64), None
    numbers = np.where(there, numbers, np.nan)
    if factor is not None:  # 60 min is 1 h to the last bit
        numbers = numbers * np.maximum(factor, 1) / np.rint(1 / np.minimum(factor, 1))
    return numbers, words


def _factors(affixes: list[str], reading: Reading) -> Floats:
    """Return what the unit of each affix multiplies by, by its number; NaN of a unit unknown."""
    factors = np.full(MANY_AFFIXES + 1, np.nan)
    for i, affix in enumerate([BARE, *affixes]):
        means = meaning(affix, reading) if "|" in affix else None  # else it is of a date
        factors[i] = np.nan if means is None else means[1]
    return factors


# --- All columns of a table ----------------------------------------------------------------------


class ReadAs(Frozen, eq=True):
    """What was said of the columns of a table, as far as anything was."""

    contents: Mapping[Any, Asked] = field(default_factory=dict)  # what columns are
    options: Options = field(default_factory=Options)  # for all columns, or by column
    # (rows,): how many equal rows each row is; a stream may have a column that says so.
    times: Any = None

    def marks_of(self, name: Any) -> tuple[str, ...]:
        """Return the strings that stand for missing cells of a column."""
        return tuple(_given(self.options.missing_values, name) or ())

    def reading(self, name: Any, forms: Forms, table: Votes) -> Reading:
        """Return how a column is read, by the forms of its cells."""
        mark = _given(self.options.decimal, name)
        first = _given(self.options.day_first, name)
        asked = {"comma": None if mark is None else mark == ",", "day_first": first}
        content = self.contents.get(name)
        found = read(forms, content=content, table=table, **asked)
        given = tuple(
            of for of, value in {"content": content, **asked}.items() if value is not None
        )
        words = None if forms.words.many else tuple(sorted(forms.words.counts))
        found = replace(found, missing=self.marks_of(name), given=given)
        return found if found.is_levels else replace(found, words=words, forms=forms)


def _given(option: Any, name: Any) -> Any:
    return option.get(name) if isinstance(option, Mapping) else option


NOTHING_SAID = ReadAs()


def without_marks(strings: Strings, marks: Sequence[str]) -> Strings:
    """Return a column in which strings that stand for missing cells are missing."""
    stands = np.array([*(text.strip() in marks for text in map(str, strings.different)), True])
    if not stands[:-1].any():
        return strings
    return strings.without(stands[strings.encoded[0]])


def read_strings(
    rows: Rows,
    said: ReadAs = NOTHING_SAID,
    known: Mapping[Name, Reading] | None = None,
    before: Mapping[Name, Forms] | None = None,
) -> Rows:
    """Return rows in which columns of strings are read as what they are."""
    if rows.one_kind is not None:
        return rows
    known = known or {}
    if known:
        say_bare(rows, known)
    given = {**{name: unheld(of) for name, of in known.items()}, **rows.readings}
    found = {}
    for name in rows.names:
        cells = rows.cells(name) if rows.kind(name) == "string" else None
        read_already = name in rows.readings or (name in known and known[name].is_levels)
        if not isinstance(cells, Strings) or read_already or not cells.any_there:
            continue
        marks = known[name].missing if name in known else said.marks_of(name)
        if not cells.categorical or marks or name in {**said.contents, **known}:  # else levels
            found[name] = look_at(cells, marks, said.times)
    own = {name: looked.forms for name, looked in found.items()}
    forms = own | {name: own[name] + of for name, of in (before or {}).items() if name in own}
    readings = settled(forms, said, known)
    for name, of in readings.items():
        readings[name] = replace(of, forms=None if of.is_levels else own[name])
    if known:
        say_kept(known, readings)
    for name in known.keys() & found.keys():
        say_contrary(name, found[name], readings[name], known[name].forms)
    return with_readings(rows, given | readings, found)


def unheld(reading: Reading) -> Reading:
    """Return a reading of no cell yet."""
    return replace(reading, forms=reading.forms and Forms())


def settled(
    forms: Mapping[Any, Forms],
    said: ReadAs = NOTHING_SAID,
    known: Mapping[Any, Reading] | None = None,
) -> dict[Any, Reading]:
    """Return how the columns of a table are read, by the forms of their cells."""
    # Those that are ``known`` are read as all of their rows are, if that changes nothing of what
    # was read before; else as they were.
    known = known or {}
    new = {name: said.reading(name, of, Votes()) for name, of in forms.items() if name not in known}
    levels = {name: of for name, of in new.items() if of.is_levels}  # have no vote, and need none
    if len(levels) == len(forms):
        return levels
    every = {name: of.forms or Forms() for name, of in known.items()}
    for name, of in forms.items():
        if name not in levels:
            every[name] = every.get(name, Forms()) + of
    table = Votes.of(every.values())
    return {
        name: levels.get(name)
        or (_continued(known[name], of, table) if name in known else said.reading(name, of, table))
        for name, of in forms.items()
    }


def _continued(known: Reading, forms: Forms, table: Votes) -> Reading:
    """Return how more cells of a column are read, of these forms."""
    more = replace(known, forms=forms)
    now = _of_both(known, more, table)
    units = {of: getattr(known, of) for of in ("unit", "units")}
    held = known.forms is None or known.forms.between(*NUMBERS)
    if not _differs(known, now) and not _strange(
        replace(now, forms=forms, **units) if held else now
    ):
        return replace(now, forms=forms, words=known.words)
    return more.fixed


def _of_both(mine: Reading, theirs: Reading, table: Votes) -> Reading:
    """Return how the cells of two tables are read, by the votes of both."""
    words = None
    if mine.words is not None and theirs.words is not None:
        words = _few({*mine.words, *theirs.words})
    if mine.forms is None or theirs.forms is None or mine.is_levels or theirs.is_levels:
        return replace(mine, words=words, forms=None)
    forms = mine.forms + theirs.forms
    if FIXED in (mine.given, theirs.given):
        return replace(mine if mine.given == FIXED else theirs, words=words, forms=forms)
    fixed = {field: getattr(of, field) for of in (theirs, mine) for field in of.given}
    asked = {of: fixed.get(of) for of in ("comma", "day_first")}
    content = mine.content if "content" in fixed else None
    now = replace(read(forms, content=content, table=table, **asked), **fixed)
    return replace(now, missing=mine.missing, words=words, given=tuple(fixed), forms=forms)


def _differs(of: Reading, now: Reading) -> str:
    """Return what to do where cells that were read so are read otherwise now; else nothing."""
    forms = of.forms or Forms((1,) * FORMS)  # any may be there
    if of.missing != now.missing:
        return MARKS
    if of.forms is not None and not forms.between(Form.TRUTH, Form.SPAN):
        return ""
    if (of.content, of.dates) != (now.content, now.dates):
        return "fit one model to the rows of all"
    if of.comma != now.comma and forms.between(Form.EITHER_POINT, Form.EITHER_COMMA):
        return DECIMAL
    open_days = forms.between(Form.EITHER_DAY, Form.FIRST_MONTH) - forms.count[Form.SAME_DAY]
    if of.day_first != now.day_first and open_days:
        return ORDER
    if of.content != "number" or not forms.between(*NUMBERS):
        return ""
    affixes = [*forms.units.counts]
    if of.forms is None or sum(forms.units.counts.values()) < forms.between(*NUMBERS):
        affixes.append(BARE)
    one_unit = of.unit == now.unit or of.scaled == now.scaled == "days"
    alike = one_unit and all(meaning(affix, of) == meaning(affix, now) for affix in affixes)
    return "" if alike and not forms.units.many else UNITS


def _strange(reading: Reading) -> bool:
    """Whether some of the numbers of a column have a unit that the column has not."""
    held = (reading.forms or Forms()).units.counts
    return reading.content == "number" and any(meaning(of, reading) is None for of in held)


def _said(of: Reading, differs: str) -> str:
    """Say how a column is read, as far as another is read otherwise."""
    if of.content == "time":
        return "dates of eight digits" if of.dates else f"dates {ORDERS[of.day_first]}"
    if differs == MARKS:
        return f"{', '.join(map(repr, of.missing)) or 'nothing'} for missing cells"
    if of.content == "number" and differs == DECIMAL:
        return f"numbers with a decimal {'comma' if of.comma else 'point'}"
    if of.content == "number" and differs == UNITS:
        scale = "" if of.unit or not of.scaled else ", multiplied"
        return f"numbers {f'in {of.unit}' if of.unit else 'without a unit'}{scale}"
    return {"number": "numbers", "clock": "times of day", "truth": "truths"}.get(
        of.content, "levels"
    )


def say_kept(known: Mapping[Any, Reading], now: Mapping[Any, Reading]) -> None:
    """Warn of columns that go on as they were, though all rows together are read otherwise."""
    for name, of in now.items():
        if of.given == FIXED and known[name].given != FIXED and not _strange(of):
            warn(
                f"Column {title(name)!r} was learned as {_said(of, '')}, and all rows "
                "together are read otherwise: these are read as those before; else fit anew."
            )


def say_bare(rows: Rows, known: Mapping[Name, Reading]) -> None:
    """Warn of numbers that came as such in columns whose numbers have a unit."""
    for name, of in known.items():
        as_such = name in rows.place and name not in rows.readings and rows.kind(name) == "number"
        if of.unit and as_such:
            warn(
                f"Column {title(name)!r} counts {'days' if of.scaled == 'days' else of.unit}, and "
                f"its numbers are without a unit now: if they count something else, {UNITS}."
            )


def say_contrary(name: Name, looked: Looked, of: Reading, before: Forms | None) -> bool:
    """Warn of the first cell that speaks against how a column is read, if none did before."""
    forms, had = looked.forms, before or Forms()
    either, against, why = [Form.EITHER_POINT, Form.EITHER_COMMA], [Form.COMMA], DECIMAL
    if of.content == "time":
        either, why = [Form.EITHER_DAY, Form.FIRST_DAY, Form.FIRST_MONTH], ORDER
        against = [Form.MONTH_FIRST if of.day_first else Form.DAY_FIRST]
    elif of.comma:
        against = [Form.POINT, Form.GROUPED_POINT]
    may_be_wrong = any(forms.count[form] + had.count[form] for form in either)
    numbers = range(NUMBERS[0], NUMBERS[1] + 1)
    bare = [f.between(*NUMBERS) - sum(f.units.counts.values()) for f in (forms, had)]
    if of.content == "number" and of.unit and bare[0] and not bare[1]:
        cells, why = np.isin(looked.found.form, numbers) & (looked.found.affix == 0), UNITS
    elif of == READ_AS["time"] and of.forms is None and not of.given:  # nothing says the order
        cells = np.isin(looked.found.form, either)
    elif may_be_wrong and not any(had.count[form] for form in against):
        cells = np.isin(looked.found.form, against)
    else:
        return False
    if cells.any():
        k = int(cells.argmax())
        row = k if looked.codes is None else int((looked.codes == k).argmax())
        warn(
            f"Column {title(name)!r} is read as {_said(of, why)}, and "
            f"{str(looked.strings[k])[:SHOWN]!r} in row {row} may be meant otherwise: if so, {why}."
        )
    return bool(cells.any())


def with_readings(
    rows: R, readings: Mapping[Any, Reading], found: Mapping[Any, Looked] | None = None
) -> R | ColumnRows:
    """Return rows in which the strings of some columns are read in these ways."""
    # ``found`` is what `look_at` has found of columns.
    cells = {name: rows.cells(name) for name in rows.names}
    kinds = {name: rows.kind(name) for name in rows.names}
    words = dict(rows.words)
    changed = False
    for name, reading in readings.items():
        strings = cells.get(name)
        if not isinstance(strings, Strings) or (reading.is_levels and not reading.missing):
            continue
        changed = True
        if reading.missing:
            strings = without_marks(strings, reading.missing)
        if reading.is_levels:
            cells[name] = strings
            kinds[name] = kinds[name] if strings.any_there else None
            continue
        cells[name], of = values_of(strings, reading, (found or {}).get(name))
        kinds[name] = reading.kind
        if of is not None:
            words[name] = of
    every = {**rows.readings, **{name: of for name, of in readings.items() if name in cells}}
    if not changed and every == dict(rows.readings):
        return rows
    return ColumnRows(cells, kinds, len(rows), every, words)


def readings_with_words(rows: Rows) -> dict[Name, Reading]:
    """Return how columns are read that have words in place of values, these among the known."""
    readings = {}
    for name, words in rows.words.items():
        reading = rows.readings[name]
        if reading.words is not None:
            known = {*reading.words, *map(str, words.different)}
            reading = replace(reading, words=_few(known))
        readings[name] = reading
    return readings


def _few(words: Collection[str]) -> tuple[str, ...] | None:
    return None if len(words) > FEW_WORDS else tuple(sorted(words))


def odd_words(words: Strings, reading: Reading) -> tuple[int, int]:
    """Return how many words are neither marks nor known, and the row of the first, or -1."""
    form = dispatch.read_forms(words).form
    rows = np.flatnonzero((form != Form.EMPTY) & (form != Form.MARK))
    if reading.words is None or not len(rows):
        return 0, -1
    known = set(reading.words)
    odd = [row for row in rows.tolist() if words[row] not in known]
    return len(odd), odd[0] if odd else -1


def joined_readings(
    mine: Mapping[Name, Reading], theirs: Mapping[Name, Reading]
) -> dict[Name, Reading]:
    """Return how the columns of two tables are read: as one table of all their rows would be."""
    # A ValueError names a column of which cells that were counted already would be read otherwise.
    forms: dict[Name, Forms] = {}
    for name, one in [*mine.items(), *theirs.items()]:
        forms[name] = forms.get(name, Forms()) + (one.forms or Forms())
    table, readings = Votes.of(forms.values()), {**theirs, **mine}
    for name in mine.keys() & theirs.keys():
        readings[name] = now = _of_both(mine[name], theirs[name], table)
        for of, other in ((mine[name], theirs[name]), (theirs[name], mine[name])):
            if what_to_do := _differs(of, now):
                what_to_do = _differs(of, other) or what_to_do
                by = other if _differs(of, other) else now
                whose = "the other" if by is other else "all rows together"
                raise ValueError(
                    f"Column {title(name)!r} is read as {_said(of, what_to_do)} in one model and "
                    f"as {_said(by, what_to_do)} in {whose}; they cannot be merged: {what_to_do}."
                )
    return readings
