"""What a column of strings is: numbers, times, truths or levels, by how many cells have each form.

A cell alone has a form (``naively.kernels.forms``). A column is read from the counts of the forms
only, which add up, so that neither the order of the rows nor how they come in batches shows. In a
column of numbers or times every other string is a word: nothing is lost, whatever it means.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name
from naively.data.columns import (
    LEVELS,
    TIME,
    Cells,
    ColumnRows,
    Content,
    Kind,
    Reading,
    Rows,
)
from naively.kernels import dispatch
from naively.kernels.forms import CURRENCIES, FORMS, LONGEST, MANY_AFFIXES, Form, Read
from naively.kernels.reference import Floats
from naively.kernels.strings import Strings

Asked: TypeAlias = Content | Literal["numbers"]

SHARE = 0.1  # of the cells that are no marks, at least, beside few words that recur
SURE = 0.9  # or so many, whatever the words are
RECUR = 3  # times that each of several words comes on average
SIGNS = np.frombuffer(b"+-", np.uint8)
GROUPS = 10  # numbers such as 1.234, before they are whole for those that are beside them
TEN = 10
FEW_NUMBERS = 20  # different ones, at most, that are levels beside words or signs
FEW_WORDS = 64  # different ones that are told apart
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


@dataclass(frozen=True)
class Few:
    """How often each of a few different things came; nothing is known once they were too many.

    So sums agree in any order and grouping.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    many: bool = False

    def to_list(self) -> list[Any] | None:
        """Return what JSON holds; None where there were too many."""
        return None if self.many else list(self.counts.items())

    @classmethod
    def from_list(cls, items: list[Any] | None) -> Few:
        """Return what ``to_list`` has written."""
        return TOO_MANY if items is None else cls(dict(map(tuple, items)))

    def __add__(self, other: Few) -> Few:
        if self.many or other.many:
            return TOO_MANY
        total = Counter(self.counts)
        total.update(other.counts)
        return TOO_MANY if len(total) > FEW_WORDS else Few(dict(total))

    def __len__(self) -> int:
        return FEW_WORDS + 1 if self.many else len(self.counts)


TOO_MANY = Few(many=True)


@dataclass(frozen=True, eq=False)
class Forms:
    """How many cells of a column have each form, and what few different things they hold.

    Parameters
    ----------
    count : ndarray of int64, of shape (forms,)
        The cells of each `Form`.
    length : ndarray of int64, of shape (characters + 1,)
        The cells of digits alone, by how many characters they have: names have one length.
    words, affixes : Few
        The marks and words, and what stands beside digits or is open in dates.
    numbers : Few
        The different numbers, each once.
    categorical : bool
        Whether the column is typed as one of categories, so that no number is looked for in it.

    Examples
    --------
    >>> from naively.kernels.strings import pack_strings
    >>> a, b = (Forms.of(pack_strings(cells)) for cells in (["47,25", "NA"], ["3"]))
    >>> read(a + b).content, read(a + b).note
    ('number', 'decimal comma')
    """

    count: NDArray[np.int64]
    length: NDArray[np.int64]
    words: Few = field(default_factory=Few)
    affixes: Few = field(default_factory=Few)
    numbers: Few = field(default_factory=Few)
    categorical: bool = False

    @classmethod
    def of(cls, strings: Strings) -> Forms:
        """Return the forms of a column."""
        return look_at(strings).forms

    @classmethod
    def of_levels(cls, levels: Sequence[str], times: Floats) -> Forms:
        """Return the forms of a column of which each different string came so many times.

        >>> Forms.of_levels(["1.5", "NA"], np.array([2.0, 3.0])).words.counts
        {'NA': 3}
        """
        strings = _packed(levels)
        return _forms(strings, dispatch.read_forms(strings), np.ceil(times).astype(np.int64))

    @classmethod
    def of_values(cls, kind: Kind, n: float, words: Mapping[str, int]) -> Forms:
        """Return the forms of a column that holds so many values and words.

        >>> read(Forms.of_values("time", 12.0, {"NA": 3})).content
        'time'
        """
        form = {"boolean": Form.TRUTH, "time": Form.YMD}.get(kind, Form.POINT)
        none = cls.none()
        none.count[form] = int(np.ceil(n))
        of_words = cls.of_levels(list(words), np.array([*words.values()], np.float64))
        return replace(none, numbers=TOO_MANY) + of_words

    @classmethod
    def none(cls) -> Forms:
        """Return the forms of no cell."""
        return cls(np.zeros(FORMS, np.int64), np.zeros(LONGEST + 1, np.int64))

    def __add__(self, other: Forms) -> Forms:
        return Forms(
            self.count + other.count,
            self.length + other.length,
            self.words + other.words,
            self.affixes + other.affixes,
            self.numbers + other.numbers,
            self.categorical or other.categorical,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds."""
        few = {name: getattr(self, name).to_list() for name in ("words", "affixes", "numbers")}
        return {
            "count": self.count.tolist(),
            "length": self.length.tolist(),
            **few,
            "categorical": self.categorical,
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Forms:
        """Return what ``to_dict`` has written.

        >>> from naively.kernels.strings import pack_strings
        >>> forms = Forms.of(pack_strings(["1", "NA"]))
        >>> Forms.from_dict(forms.to_dict()).to_dict() == forms.to_dict()
        True
        """
        few = {name: Few.from_list(found[name]) for name in ("words", "affixes", "numbers")}
        count, length = (np.array(found[name], np.int64) for name in ("count", "length"))
        return cls(count, length, **few, categorical=found["categorical"])

    def between(self, first: Form, last: Form) -> int:
        """Return how many cells have these forms, both ends included."""
        return int(self.count[first : last + 1].sum())

    @property
    def units(self) -> Few:
        """What stands beside the digits of numbers."""
        return TOO_MANY if self.affixes.many else self._affixes(bars=True)

    @property
    def left_open(self) -> Few:
        """What dates leave open."""
        return Few() if self.affixes.many else self._affixes(bars=False)

    def _affixes(self, *, bars: bool) -> Few:
        return Few({of: n for of, n in self.affixes.counts.items() if ("|" in of) == bars})

    @property
    def points(self) -> int:
        """How many numbers must have a decimal point."""
        return int(self.count[Form.POINT] + self.count[Form.GROUPED_POINT])

    @property
    def marks(self) -> Few:
        """The words that are marks of missing."""
        if self.words.many:
            return TOO_MANY
        marks = dispatch.read_forms(_packed(self.words.counts)).form == Form.MARK
        some = zip(self.words.counts.items(), marks.tolist(), strict=True)
        return Few({word: n for (word, n), is_mark in some if is_mark})


def _packed(strings: Iterable[str]) -> Strings:
    packed = dispatch.pack_strings(list(strings))
    assert packed is not None
    return packed


@dataclass(frozen=True, eq=False)
class Looked:
    """What was found of the cells of a column, of which the different ones were looked at once.

    Parameters
    ----------
    strings : Strings
        The different strings, or all of a column that hardly repeats any.
    found : Read
        What each of them may be, with a decimal point and the month first.
    codes : ndarray of int32, of shape (rows,), optional
        Which of them each row has; -1 where it is missing. By default each row has its own.
    """

    strings: Strings
    found: Read
    codes: NDArray[np.int32] | None = None

    @cached_property
    def forms(self) -> Forms:
        """The counts of the forms."""
        if self.codes is None:
            return _forms(self.strings, self.found)
        times = np.bincount(self.codes + 1, minlength=len(self.strings) + 1)
        return _forms(self.strings, self.found, times[1:], missing=int(times[0]))

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


def look_at(strings: Strings) -> Looked:
    """Return what the cells of a column may be; where strings repeat, each is looked at once."""
    if not strings.repeat:
        return Looked(strings, dispatch.read_forms(strings))
    different = strings.different
    return Looked(different, dispatch.read_forms(different), strings.encoded[0])


def _forms(
    strings: Strings, found: Read, times: NDArray[np.int64] | None = None, missing: int = 0
) -> Forms:
    """Return the counts of the forms of strings that came so many times each, or once."""
    count = _counted(found.form, times, FORMS)
    count[Form.EMPTY] += missing
    digits = (found.form >= Form.PLAIN) & (found.form <= Form.EIGHT) & (found.affix == 0)
    sizes = strings.lengths[digits]
    sizes -= np.isin(strings.utf8[strings.offsets[:-1][digits]], SIGNS)
    sizes = np.minimum(sizes, LONGEST)
    is_word = (found.form >= Form.MARK) & (found.form <= Form.LIST)
    is_number = (found.form >= NUMBERS[0]) & (found.form <= NUMBERS[1])
    return Forms(
        count,
        _counted(sizes, None if times is None else times[digits], LONGEST + 1),
        _few_strings(strings, np.flatnonzero(is_word), times),
        _few_affixes(found, times),
        _few_numbers(found.value.view(np.float64), np.flatnonzero(is_number)),
        strings.categorical,
    )


def _counted(
    numbers: NDArray[Any], times: NDArray[np.int64] | None, size: int
) -> NDArray[np.int64]:
    count = np.bincount(numbers, times, minlength=size)
    return count if times is None else count.astype(np.int64)


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


def _few_affixes(found: Read, times: NDArray[np.int64] | None) -> Few:
    if not found.affixes:
        return Few()
    count = _counted(found.affix, times, MANY_AFFIXES + 1).tolist()
    if count[MANY_AFFIXES]:
        return TOO_MANY
    return Few(dict(zip(found.affixes, count[1 : len(found.affixes) + 1], strict=True)))


def _few_numbers(values: Floats, rows: NDArray[np.int64]) -> Few:
    for some in (rows[:LOOKED_AT], rows) if len(rows) > LOOKED_AT else (rows,):
        different = np.unique(values[some])
        if len(different) > FEW_WORDS:
            return TOO_MANY
    return Few({repr(x): 0 for x in different.tolist()})


def read(
    forms: Forms,
    *,
    content: Asked | None = None,
    comma: bool | None = None,
    day_first: bool | None = None,
    table: Votes | None = None,
) -> Reading:
    """Return what a column is, by the forms of its cells.

    Parameters
    ----------
    forms : Forms
        Of all its cells.
    content : {"number", "numbers", "time", "clock", "truth", "levels"}, optional
        What the column is, if it is known; "numbers" are numbers if they may not be times.
    comma, day_first : bool, optional
        Whether numbers have a decimal comma, and dates the day first, if it is known.
    table : Votes, optional
        What the other columns of the table say of both.

    Returns
    -------
    Reading
        What the column is, with what is to be said of it.
    """
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
    match content:
        case "number":
            scaled = "" if forms.units.many else _scaled(forms) or ""
            found = _notation(forms, scaled, comma, table)
        case "time":
            dates = not forms.between(*DATES) and bool(forms.count[Form.EIGHT])
            found = Reading("time", day_first=_order(forms, day_first, table)[0], dates=dates)
        case _:
            return Reading(content)
    return found


def _read_freely(forms: Forms, comma: bool | None, day_first: bool | None, table: Votes) -> Reading:
    if forms.categorical:
        return LEVELS
    words = forms.between(Form.WORD, Form.LIST)
    numbers = forms.between(*NUMBERS)
    times = forms.between(Form.YMD, Form.SPAN)
    truths = int(forms.count[Form.TRUTH])
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
    words_beside = FEW_WORDS + 1  # different ones
    if not forms.words.many:
        words_beside = len(forms.words) - len(forms.marks) + (truths > 0)
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
        "truth": int(forms.count[Form.TRUTH]),
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
        units = dict.fromkeys(affix.split("|")[1] for affix in forms.units.counts)
        return replace(LEVELS, note=f"numbers in several units: {', '.join(filter(None, units))}")
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
    """Return which words are beside the numbers or times of a column, the most frequent first.

    >>> from naively.kernels.strings import pack_strings
    >>> said_of_words(Forms.of(pack_strings(["1.5", "NA", "?", "NA", "2.5"])))
    "2 'NA', 1 '?'"
    """
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
        first, why = bool(count[Form.DAY_FIRST] > count[Form.MONTH_FIRST]), ""
    note = "; ".join(filter(None, [why, *_said_of_open(forms)]))
    return Reading("time", day_first=first, note=note)


def _said_of_open(forms: Forms) -> list[str]:
    """Say how what dates leave open was filled in."""
    parts = [of.split() for of in forms.left_open.counts]
    zones = sorted({part for of in parts for part in of if part != "yy"})
    said = ["years of two digits are 1969 to 2068"] if any("yy" in of for of in parts) else []
    return [*said, f"as they are written, whatever {', '.join(zones)} is"] if zones else said


def _order(forms: Forms, given: bool | None, table: Votes) -> tuple[bool, str]:
    """Return whether the day comes first in dates where both orders are possible, and why."""
    count = forms.count
    days, months = int(count[Form.DAY_FIRST]), int(count[Form.MONTH_FIRST])
    written = {True: "d/m/Y (day first)", False: "m/d/Y (month first)"}
    if given is not None:
        return given, f"dates {written[given]}, as given"
    if days and months:
        both = f"both orders of dates: {days:,} d/m/Y, {months:,} m/d/Y"
        return days > months, f"{both}; give day_first= for the others"
    if days or months:
        first = days > months
        return first, f"dates {written[first]}, as {max(days, months):,} of them must be"
    if table.days != table.months:
        first = table.days > table.months
        return first, f"dates {written[first]}, as in other columns; else give day_first="
    if count[Form.FIRST_DAY] and not count[Form.FIRST_MONTH] + count[Form.EITHER_DAY]:
        why = "as each is the first of a month; else give day_first="
        return True, f"day or month first? {written[True]}, {why}"
    if count[Form.SAME_DAY] == forms.between(Form.EITHER_DAY, Form.FIRST_MONTH):
        return False, ""
    why = "as nothing says which; give day_first="
    return False, f"day or month first? {written[False]}, {why}"


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
    names, n = int(forms.count[Form.NAME]), numbers + others
    if not names or forms.units.counts:
        return False
    alike = forms.length.max() >= SURE * numbers
    return names >= NAMED * n or bool(alike and names >= NAMED_ALIKE * n)


def _are_marked(forms: Forms, numbers: int) -> bool:
    """Whether some numbers have a sign such as <, or a unit that others lack."""
    affixes = [affix.split("|") for affix in forms.units.counts]
    affixed = sum(forms.units.counts.values())
    signed, units = (any(affix[i] for affix in affixes) for i in (3, 1))
    return signed or (units and affixed < SURE * numbers)


def _notation(forms: Forms, scaled: str, comma: bool | None, table: Votes) -> Reading:
    """Return how numbers are written: which decimal mark, by those that have but one reading."""
    count = forms.count
    points, commas = forms.points, int(count[Form.COMMA])
    either = int(count[Form.EITHER_POINT] + count[Form.EITHER_COMMA])
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
        elif not forms.length[4:].any():
            said.append("1.234 is read as a fraction; give decimal=',' if it is 1234")
    if by_comma and not said:
        said.append("decimal comma")
    if forms.units.counts:
        said.append(_units_note(forms, scaled))
    said.append(_said_of_digits(forms))
    return Reading("number", comma=by_comma, scaled=scaled, note="; ".join(filter(None, said)))


def _said_of_digits(forms: Forms) -> str:
    """Say what else whole numbers of so many digits may be, or numbers such as 3.2018."""
    longest, numbers = int(forms.length.argmax()), forms.between(*NUMBERS)
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
    affixes = ((affix.split("|"), n) for affix, n in forms.units.counts.items())
    of_money = sum(n for parts, n in affixes if MONEY & {*parts[:3]})
    return of_money > 0 and of_money >= SURE * forms.between(*NUMBERS)


def _are_groups(forms: Forms) -> bool:
    """Whether points stand between groups of digits: beside them are only whole numbers below 1000.

    Fractions would not have three digits in each of so many numbers, or none; and money has two,
    but for the price of fuel, which is below 10.
    """
    if _is_money(forms) and forms.count[Form.EITHER_POINT]:
        others = forms.points or forms.count[Form.COMMA] or forms.count[Form.EITHER_COMMA]
        large = any(float(number) >= TEN for number in forms.numbers.counts)
        return not others and bool(forms.count[Form.PLAIN] or large)
    whole, groups = forms.length[1:4].sum(), forms.count[Form.EITHER_POINT]
    others = forms.points or forms.count[Form.COMMA] or forms.length[4:].any()
    return bool(groups >= GROUPS and whole and not others)


def _units_note(forms: Forms, scaled: str) -> str:
    if scaled == "days":
        return "in days"
    units, signs = Counter[str](), Counter[str]()
    for affix, n in forms.units.counts.items():
        before, unit, after, sign = affix.split("|")
        units[f"{before}{unit}{after}"] += n
        signs[sign] += n
    del units[""], signs[""]
    shown, some = ([of for of, _ in few.most_common(3)] for few in (units, signs))
    said = [f"in {', '.join(shown)}{', multiplied' if scaled else ''}"] if shown else []
    without = forms.between(*NUMBERS) - units.total()
    said += [f"{without:,} without"] if shown and without else []
    said += [f"{' '.join(some)} left out of {signs.total():,}"] if some else []
    return ", ".join(said)


def _scaled(forms: Forms) -> str | None:
    """Return whether units multiply the numbers: "days", "units" or ""; None of several units."""
    units = Counter[str]()
    for affix, n in forms.units.counts.items():
        unit = affix.split("|")[1]
        units["" if unit in MONEY else singular(unit)] += n
    del units[""]
    if not units:
        return ""
    minutes = {"m"} if "hour" in units else set[str]()  # metres, if nothing says otherwise
    if len(units) > 1 and units.keys() - minutes <= DAYS.keys():
        return "days"
    scales = {unit.lower() for unit in units}
    if scales <= SCALES.keys():
        money = any(affix.split("|")[0] for affix in forms.units.counts)
        some = units.total() < forms.between(*NUMBERS) and not units.keys() & METRES
        return "units" if len(scales) > 1 or money or some else ""
    return "" if max(units.values()) >= SURE * units.total() else None


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


@dataclass(frozen=True)
class Votes:
    """How many columns of a table have certain decimal points, commas, and orders of dates."""

    points: int = 0
    commas: int = 0
    days: int = 0
    months: int = 0

    @classmethod
    def of(cls, columns: Iterable[Forms]) -> Votes:
        """Return what the columns of a table say."""
        every = [
            (
                of.points,
                int(of.count[Form.COMMA]) + _are_groups(of),
                int(of.count[Form.DAY_FIRST]),
                int(of.count[Form.MONTH_FIRST]),
            )
            for of in columns
        ]
        return cls(
            sum(points > commas for points, commas, _, _ in every),
            sum(commas > points for points, commas, _, _ in every),
            sum(days > months for _, _, days, months in every),
            sum(months > days for _, _, days, months in every),
        )


def values_of(
    strings: Strings, reading: Reading, looked: Looked | None = None
) -> tuple[Cells, Strings | None]:
    """Return a column's cells as it is read, and its words.

    Parameters
    ----------
    strings : Strings
        The column.
    reading : Reading
        How it is read.
    looked : Looked, optional
        What `look_at` has found of it.

    Returns
    -------
    cells : ndarray of shape (rows,), or Strings
        Numbers, times or truths; NaN or NaT where there is none. Levels as they are written.
    words : Strings or None
        What is written in a cell that is neither empty nor of the kind; missing in others. None
        if there is no word.

    Examples
    --------
    >>> from naively.kernels.strings import pack_strings
    >>> strings = pack_strings(["1,5", "NA", ""])
    >>> values_of(strings, read(Forms.of(strings)))
    (array([1.5, nan, nan]), Strings([None, 'NA', None]))
    """
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
    there = (form == Form.EIGHT) if reading.dates else (form >= first) & (form <= last)
    if reading.content == "truth":  # 0 and 1 are truths where others are, or where it is said
        of_numbers = (form >= NUMBERS[0]) & (form <= NUMBERS[1])
        there |= of_numbers & np.isin(found.value.view(np.float64), (0, 1))
    words = _words(strings, ~there & (form != Form.EMPTY))
    if reading.content == "time":
        return np.where(there, found.value, np.datetime64("NaT").astype(np.int64)).view(TIME), words
    numbers = found.value.view(np.float64)
    if there.all():
        if reading.content == "truth":
            return numbers == 1, None
        if not reading.scaled and bool((form <= Form.EIGHT).all()) and _are_whole(numbers):
            return numbers.astype(np.int64), None
    numbers = np.where(there, numbers, np.nan)
    if reading.scaled and found.affixes:
        numbers = numbers * _factors(found.affixes, reading.scaled)[found.affix]
    return numbers, words


def _are_whole(numbers: Floats) -> bool:
    return bool((np.abs(numbers) < 2.0**53).all() and (numbers == np.rint(numbers)).all())


def _words(strings: Strings, there: NDArray[np.bool_]) -> Strings | None:
    if not there.any():
        return None
    return strings.take(np.where(there, np.arange(len(strings)), -1))


def _factors(affixes: list[str], scaled: str) -> Floats:
    """Return what the unit of each affix multiplies by, by the number of the affix."""
    factors = np.ones(MANY_AFFIXES + 1)
    known = DAYS | {"m": DAYS["minute"]} if scaled == "days" else SCALES
    for i, affix in enumerate(affixes, 1):
        if "|" not in affix:  # of a date
            continue
        unit = singular(affix.split("|")[1])
        factors[i] = known.get(unit, known.get(unit.lower(), 1.0))
    return factors


# --- All columns of a table ----------------------------------------------------------------------


@dataclass(frozen=True)
class ReadAs:
    """What was said of the columns of a table, as far as anything was.

    Parameters
    ----------
    contents : mapping of str to str
        What columns are.
    missing, decimal, day_first
        The options of ``NaiveBayes``: one value for all columns, or by column.
    """

    contents: Mapping[Any, Asked] = field(default_factory=dict)
    missing: Any = None
    decimal: Any = None
    day_first: Any = None

    def marks_of(self, name: Any) -> tuple[str, ...]:
        """Return the strings that stand for missing cells of a column."""
        return tuple(_given(self.missing, name) or ())

    def reading(self, name: Any, forms: Forms, table: Votes) -> Reading:
        """Return how a column is read, by the forms of its cells."""
        mark = _given(self.decimal, name)
        found = read(
            forms,
            content=self.contents.get(name),
            comma=None if mark is None else mark == ",",
            day_first=_given(self.day_first, name),
            table=table,
        )
        return _with_words(replace(found, missing=self.marks_of(name)), forms)


def _given(option: Any, name: Any) -> Any:
    return option.get(name) if isinstance(option, Mapping) else option


NOTHING_SAID = ReadAs()


def without_marks(strings: Strings, marks: Sequence[str]) -> Strings:
    """Return a column in which strings that stand for missing cells are missing.

    >>> from naively.kernels.strings import pack_strings
    >>> without_marks(pack_strings(["1", " NA", "x"]), ["NA"])
    Strings(['1', None, 'x'])
    """
    if not marks:
        return strings
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
    """Return rows in which columns of strings are read as what they are.

    Parameters
    ----------
    rows : Rows
        A table, of which some columns may have been read already.
    said : ReadAs
        What was said of the columns.
    known : mapping of str to Reading, optional
        How columns are read, whatever is in them.
    before : mapping of str to Forms, optional
        The forms of cells of other columns that came before these rows.

    Examples
    --------
    >>> from naively.data.columns import column_rows
    >>> rows = read_strings(column_rows({"a": ["1,5", "NA"], "b": ["x", "y"]}))
    >>> rows.values("a"), rows.kind("b"), list(rows.words["a"])
    (array([1.5, nan]), 'string', [None, 'NA'])
    """
    if rows.one_kind is not None:
        return rows
    given = {**(known or {}), **rows.readings}
    found = {}
    for name in rows.names:
        cells = rows.cells(name) if rows.kind(name) == "string" else None
        if not isinstance(cells, Strings) or name in given or not cells.any_there:
            continue
        marks = said.marks_of(name)
        if not cells.categorical or marks or name in said.contents:  # else they are levels
            found[name] = look_at(without_marks(cells, marks))
    forms = {name: looked.forms for name, looked in found.items()}
    forms |= {name: forms[name] + of for name, of in (before or {}).items() if name in forms}
    return with_readings(rows, given | settled(forms, said), found)


def settled(forms: Mapping[Any, Forms], said: ReadAs = NOTHING_SAID) -> dict[Any, Reading]:
    """Return how the columns of a table are read, by the forms of their cells."""
    table = Votes.of(forms.values())
    return {name: said.reading(name, of, table) for name, of in forms.items()}


def _with_words(reading: Reading, forms: Forms) -> Reading:
    """Return a reading with the words that are beside the numbers or times of the column."""
    if reading.is_levels:
        return reading
    words = None if forms.words.many else tuple(sorted(forms.words.counts))
    return replace(reading, words=words)


def with_readings(
    rows: Rows, readings: Mapping[Any, Reading], found: Mapping[Any, Looked] | None = None
) -> Rows:
    """Return rows in which the strings of some columns are read in these ways.

    ``found`` is what `look_at` has found of columns.
    """
    cells = {name: rows.cells(name) for name in rows.names}
    kinds = {name: rows.kind(name) for name in rows.names}
    words = dict(rows.words)
    changed = False
    for name, reading in readings.items():
        strings = cells.get(name)
        if not isinstance(strings, Strings) or (reading.is_levels and not reading.missing):
            continue
        changed = True
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
    """Return how columns are read that have words in place of values, with these among the known.

    >>> from naively.data.columns import column_rows
    >>> rows = with_readings(column_rows({"a": ["1.5", "NA", "?"]}), {"a": Reading("number")})
    >>> readings_with_words(rows)["a"].words
    ('?', 'NA')
    """
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
    """Return how many words are neither marks nor known, and the row of the first, or -1.

    >>> from naively.kernels.strings import pack_strings
    >>> odd_words(pack_strings([None, "NA", "large", None]), Reading("number"))
    (1, 2)
    """
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
    """Return how the columns of two tables are read, as the first says where both do."""
    readings = {**theirs, **mine}
    for name in mine.keys() & theirs.keys():
        both = [mine[name].words, theirs[name].words]
        known = {word for words in both for word in words or ()}
        readings[name] = replace(mine[name], words=None if None in both else _few(known))
    return readings
