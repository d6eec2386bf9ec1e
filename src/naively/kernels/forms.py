"""What each cell of a column of strings may be, looked at alone: a number, a time, a word, a mark.

The functions here are contract, oracle and fallback of the native kernel of the same name, as those
in ``naively.kernels.reference`` are. What a column is follows from how many of its cells have each
form (``naively.data.reading``).
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.kernels.strings import Strings, check_offsets

EXACT = (1 << 53) - 1  # up to here each whole number is a float of its own


class Form(IntEnum):
    """What a cell may be: numbers from ``PLAIN`` on, dates from ``YMD``, clocks from ``CLOCK``."""

    EMPTY = 0  # missing, or without any character
    MARK = 1  # a mark of missing, such as NA, ?, - or a blank
    WORD = 2  # anything else
    LIST = 3  # three numbers or more, divided by commas, semicolons or bars
    TRUTH = 4  # true or false
    PLAIN = 5  # digits alone, perhaps with an exponent
    NAME = 6  # digits that may be a name: a 0 before others, or more than a float tells apart
    EIGHT = 7  # 8 or 14 digits that are a date too
    POINT = 8  # a decimal point, once: 1.5
    GROUPED_POINT = 9  # groups by commas: 1,234,567 or 1,234.5
    COMMA = 10  # a decimal comma, or groups by points
    GROUPED = 11  # groups by blanks or apostrophes
    EITHER_POINT = 12  # 1.234, which is 1234 with a decimal comma
    EITHER_COMMA = 13  # 1,234, which is 1.234 with a decimal comma
    YMD = 14  # year, month, day
    DOTTED = 15  # day.month.year
    DAY_FIRST = 16  # 31/12/2024
    MONTH_FIRST = 17  # 12/31/2024
    EITHER_DAY = 18  # 03/04/2024
    SAME_DAY = 19  # 03/03/2024
    FIRST_DAY = 20  # 01/04/2024: the first of April, or the fourth of January
    FIRST_MONTH = 21  # 04/01/2024
    WRITTEN = 22  # a month by its name
    WRITTEN_MONTH = 23  # a month by its name, and a year, without a day
    YEAR_MONTH = 24  # 2018-03
    SEASON = 25  # 2010-11, which may be a season
    MONTH_YEAR = 26  # 03/2018
    CLOCK = 27  # 14:05
    SPAN = 28  # more hours or minutes than a clock has


def check_names(names: Sequence[str]) -> None:
    """Raise an ImportError unless the native kernel has the same forms in the same order."""
    if list(names) != [form.name for form in Form]:
        raise ImportError("The native kernels are of another version; install naively again.")


FORMS = len(Form)
LONGEST = 60  # characters of a cell that is more than a word
MOST_BYTES = 256  # of its UTF-8, blanks around it among them
FEW_AFFIXES = 32  # different ones that are told apart; a cell with another has the code of many
MANY_AFFIXES = FEW_AFFIXES + 1

MARKS = frozenset(
    (
        "na|n/a|n.a.|n.a|#n/a|#na|nan|-nan|null|(null)|nil|none|<na>|nat|\\n|?|??|-|--|---|–|—|.|..|..."
        "|*|**|#null!|#div/0!|#value!|#ref!|#name?|#num!|1.#ind|-1.#ind|1.#qnan|-1.#qnan|missing"
        "|(missing)|unknown|not available|not applicable|undefined|unspecified|blank|(blank)|<null>"
        "|[null]|n\\a|n.d.|tbd|tba|0000-00-00|0000-00-00 00:00:00|00/00/0000|00.00.0000|_|#"
        "|k.a.|k. a.|keine angabe|unbekannt|inconnu|inconnue|non disponible|n/d|s/d|desconocido"
        "|no disponible|desconhecido|sconosciuto|onbekend|n.v.t.|brak danych|н/д|нет данных|未知|不明"
    ).split("|")
)
CURRENCIES = (  # a longer one before those that it begins with
    *("US$", "C$", "A$", "R$", "HK$", "NZ$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "฿", "₫"),
    *("₴", "₦", "₱", "USD", "EUR", "GBP", "JPY", "CHF", "INR", "CNY", "RMB", "CAD", "AUD", "BRL"),
    *("SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RUB", "TRY", "ZAR", "MXN", "KRW", "SGD", "HKD"),
    *("Rs.", "Rs", "kr.", "kr", "Fr.", "Fr", "zł", "Kč", "Rp", "руб.", "руб", "元", "円", "원"),
    *("NZD", "THB", "IDR", "MYR", "PHP", "TWD", "ILS", "AED", "SAR", "RON", "UAH", "VND"),
    *("¢", "₿", "₸", "%"),
)
GLUED = frozenset(  # units that may follow a whole number without a blank: 70kg, but not 1416RTA
    (
        "kg g mg µg ug lb lbs oz t km m cm mm nm µm ft in mi yd cc ml cl dl l hl gal hp kw mw w kwh "
        "wh mah v mv kv a ma hz khz mhz ghz mph kmh km/h kph rpm bhp ps n j kj cal kcal bar psi pa "
        "hpa kpa db px pt em b kb mb gb tb kib mib gib bit s ms us ns min mins h hr hrs d day days "
        "w wk y yr yrs mo k x ppm ppb mmol mol rs usd eur gbp mn mio mil million millions bn "
        "billion mrd tn trillion thousand lakh crore % ‰ \" ″ ' ′"
    ).split()
)
ORDINALS = ("st", "nd", "rd", "th", "er")
POLISH = (
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada "
    "grudnia"
)
MONTHS = {  # in twelve languages, whole or by their first three or four letters
    written: month
    for names in (
        "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
        POLISH,
        "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
        "januar februar marts april maj juni juli august september oktober november desember",
        "januari februari mars april maj juni juli augusti september oktober november december",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "january february march april may june july august september october november december",
    )
    for month, name in enumerate(names.split(), 1)
    for begin in (name[0], name[0].upper())
    for written in (begin + name[1:], begin + name[1:3], begin + name[1:4])
}
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")  # how the names in English begin
NAMED_DAYS = frozenset(  # of the week, in other languages
    (
        "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lundi mardi "
        "mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado "
        "domingo lunedì martedì mercoledì giovedì venerdì sabato domenica maandag dinsdag "
        "woensdag donderdag vrijdag zaterdag zondag"
    ).split()
)
COMPARED = "<>≤≥~≈"
BLANKS = frozenset(
    map(chr, [*range(9, 14), *range(28, 33), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)])
) | set("\u2028\u2029\u202f\u205f\u3000")
# What has no width, and marks of the direction of writing.
TRIMMED = BLANKS | set(map(chr, [*range(0x200B, 0x2010), *range(0x202A, 0x202F)]))
TRIMMED |= set(map(chr, [0x61C, *range(0x2060, 0x206A), 0xFEFF]))
TEN = 10  # digits of a script, one after another
# Where the digits of each script begin, as of Unicode 15.
DIGITS_FROM = (
    *(0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6),
    *(0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50),
    *(0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10),
    *(0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6),
)
# Letters are these ranges, both ends included; of some scripts more, which no unit is written in.
LETTERS = (
    *((0x41, 0x5A), (0x61, 0x7A), (0xAA, 0xAA), (0xB5, 0xB5), (0xBA, 0xBA), (0xC0, 0xD6)),
    *((0xD8, 0xF6), (0xF8, 0x2C1), (0x370, 0x1FFF), (0x2C00, 0x2DFF), (0x3041, 0xD7FF)),
    *((0xF900, 0xFDFF), (0xFE70, 0xFEFC), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A), (0xFF66, 0xFFDC)),
)
PLAIN_OF = {  # what is read as what ASCII has for it
    **dict.fromkeys("\xa0\u2007\u202f\u2009\u3000", " "),
    **dict.fromkeys("\u2212\uff0d", "-"),
    **dict.fromkeys("\u066b\uff0e", "."),
    **dict.fromkeys("\u066c\uff0c", ","),
    **dict.fromkeys("\u066a\uff05", "%"),
    **dict(zip("\uff0b\uff1a\uff0f\uff04\uffe5\uffe1", "+:/$¥£", strict=True)),
}
DASHES = "\u2013\u2010\u2011"  # before a digit, a minus
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (all times here are without a zone)
MICROSECOND = dt.timedelta(microseconds=1)


class Cell(NamedTuple):
    """What one cell is: its form, its value, and what stands beside its digits.

    A number is a float, a time the microseconds since 1970, a clock time or a span the seconds as
    a float, a truth 1.0 or 0.0. An affix is a currency, a unit, a second currency and signs such
    as < and +, divided by bars; it is empty where digits stand alone. That of a date is what it
    leaves open: ``yy`` where its year has two digits, and a zone that is known by letters alone.
    """

    form: Form
    value: float | int = 0
    affix: str = ""


WORD = Cell(Form.WORD)


class Read(NamedTuple):
    """What the cells of a column are."""

    form: NDArray[np.uint8]  # (rows,): the `Form` of each cell
    # (rows,): the microseconds of a time since 1970; of all else the bits of a float64, NaN where
    # the cell has no value.
    value: NDArray[np.int64]
    # (rows,): the number of each cell's affix, from 1 on; 0 where it has none, ``MANY_AFFIXES``
    # beyond ``FEW_AFFIXES`` different ones.
    affix: NDArray[np.uint8]
    affixes: list[str]  # the affixes, in order of first sight


def read_forms(
    strings: Strings, comma: bool = False, day_first: bool = False, dates: bool = False
) -> Read:
    """Return what each cell of a column may be, and its value."""
    check_offsets(strings)
    n = len(strings)
    form, value = np.zeros(n, np.uint8), np.full(n, np.float64(np.nan).view(np.int64))
    affix, affixes = np.zeros(n, np.uint8), dict[str, int]()
    known: dict[str, Cell] = {}
    for row, text in enumerate(strings):
        if text is None:
            continue
        cell = known.get(text)
        if cell is None:
            known[text] = cell = read_cell(text, comma=comma, day_first=day_first, dates=dates)
        form[row] = cell.form
        if cell.form >= Form.TRUTH:
            is_time = Form.YMD <= cell.form < Form.CLOCK or (dates and cell.form == Form.EIGHT)
            bits = cell.value if is_time else struct.unpack("<q", struct.pack("<d", cell.value))[0]
            value[row] = bits
        if cell.affix:
            if cell.affix not in affixes and len(affixes) < FEW_AFFIXES:
                affixes[cell.affix] = len(affixes) + 1
            affix[row] = affixes.get(cell.affix, MANY_AFFIXES)
    return Read(form, value, affix, list(affixes))


def read_cell(
    text: str, *, comma: bool = False, day_first: bool = False, dates: bool = False
) -> Cell:
    """Return what one cell is."""
    if not text:
        return Cell(Form.EMPTY)
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return WORD
    cell = as_plain(text)
    if not cell:
        return Cell(Form.MARK)
    if len(cell) > LONGEST:
        return WORD
    lower = _lower(cell)
    if lower in MARKS:
        return Cell(Form.MARK)
    if lower in ("true", "false"):
        return Cell(Form.TRUTH, float(lower == "true"))
    of_year = cell[:4].isdecimal() and cell[4:5] == " " and _is_century(cell[:4])
    found = _year_first(cell, cell[:4]) if of_year else None  # no number of units "Jul"
    found = found or _number(cell, comma=comma, dates=dates)
    if found is None:
        found = _time(cell, day_first=day_first)
        if found is not None and Form.YMD <= found.form < Form.CLOCK:
            found = found._replace(affix=_left_open(cell))
    return found or (Cell(Form.LIST) if _is_list(cell) else WORD)


def as_plain(text: str) -> str:
    """Return a cell without blanks around it, its digits, signs and blanks as ASCII has them."""
    if not text.isascii():
        text = "".join(map(_plain_character, text))
    begin, end = 0, len(text)
    while begin < end and text[begin] in TRIMMED:
        begin += 1
    while begin < end and text[end - 1] in TRIMMED:
        end -= 1
    text = text[begin:end]
    if len(text) > 1 and text[0] in DASHES and "0" <= text[1] <= "9":
        text = "-" + text[1:]
    return text


def _plain_character(character: str) -> str:
    if character.isascii():
        return character
    if character in PLAIN_OF:
        return PLAIN_OF[character]
    code = ord(character)
    start = next((of for of in DIGITS_FROM if of <= code < of + TEN), None)
    return character if start is None else str(code - start)


def _lower(text: str) -> str:
    """Return letters of ASCII and Latin-1 in lower case, and all else as it is."""
    return "".join(
        chr(ord(c) + 32) if "A" <= c <= "Z" or ("À" <= c <= "Þ" and c != "×") else c for c in text
    )


# --- Scanning: each function returns where what it reads ends; at its begin if it is not there ---


def _skip(text: str, at: int, some: frozenset[str] | str = BLANKS) -> int:
    while at < len(text) and text[at] in some:
        at += 1
    return at


def _digits(text: str, at: int) -> int:
    while at < len(text) and "0" <= text[at] <= "9":
        at += 1
    return at


def _letters(text: str, at: int) -> int:
    while at < len(text) and any(first <= ord(text[at]) <= last for first, last in LETTERS):
        at += 1
    return at


def _at(text: str, at: int) -> str:
    """Return the character there; none at the end."""
    return text[at] if at < len(text) else "\0"


# --- Numbers -------------------------------------------------------------------------------------


def _number(text: str, *, comma: bool, dates: bool) -> Cell | None:
    """Return a number: ``[< > ~] [sign] [currency] [sign] digits [unit] [currency] [+ *]``."""
    if (infinite := _infinite(text)) is not None:
        return Cell(Form.PLAIN, infinite)
    brackets = text[0] == "(" and text[-1] == ")"
    if brackets:
        text = text[1:-1].strip("".join(BLANKS))
    at, compared = 0, ""
    if _at(text, at) in COMPARED:
        at += 2 if _at(text, at + 1) == "=" else 1
        compared, at = text[:at], _skip(text, at)
    sign = _at(text, at) if _at(text, at) in "+-" else ""
    at = _skip(text, at + len(sign))
    before, at = _currency(text, at)
    at = _skip(text, at)
    second = _at(text, at) if _at(text, at) in "+-" else ""
    if sign and second:
        return None
    at = _skip(text, at + len(second))
    numeral = _numeral(text, at)
    if numeral is None:
        return None
    at = numeral.end
    tail = _tail(text, at)
    if tail is None:
        return None
    unit, after, more = tail
    half, end = _half_day(text, _skip(text, at))
    if half and end == len(text):
        return None  # a time of day
    if unit:
        lower = _lower(unit).rstrip(".")
        if lower in ORDINALS or (numeral.mark == "," and not numeral.fraction):
            return None
        glued = _at(text, at) not in BLANKS
        known = lower in GLUED or unit[0] == "°" or _currency(text, at)[0] == unit
        if glued and not numeral.mark and not known:
            return None
    if numeral.group in ("'", "’", " ") and sign == "+":
        return None  # a telephone number
    negative = brackets or "-" in (sign, second)
    affix = f"{before}|{unit}|{after}|{compared}{more}"
    affix = "" if affix == "|||" else affix
    return numeral.as_cell(
        negative=negative, affix=affix, alone=not (affix or brackets), signed=bool(sign or second),
        comma=comma, dates=dates,
    )  # fmt: skip


def _infinite(text: str) -> float | None:
    sign = text[0] if text[0] in "+-" else ""
    if _lower(text[len(sign) :]) in ("inf", "infinity"):
        return -np.inf if sign == "-" else np.inf
    return None


def _currency(text: str, at: int) -> tuple[str, int]:
    """Return the currency there, or none, and where it ends."""
    found = next((of for of in CURRENCIES if text.startswith(of, at)), "")
    return found, at + len(found)


class _Numeral(NamedTuple):
    """Digits, as they are grouped and marked."""

    parts: list[str]  # groups of digits before the mark
    group: str  # what is between them
    mark: str  # the decimal mark
    fraction: str
    exponent: str
    end: int

    def as_cell(
        self, *, negative: bool, affix: str, alone: bool, signed: bool, comma: bool, dates: bool
    ) -> Cell | None:
        parts, group, mark, fraction = self.parts, self.group, self.mark, self.fraction
        if group and mark == group:  # 1.234.5
            return None
        if group and parts[0][0] == "0":
            if len(parts) != 2 or mark or group not in ".,":
                return None
            parts, group, mark, fraction = parts[:1], "", group, parts[1]  # 0,234
        if group == "." and len(parts) == 4 and not mark:  # an address of the net
            return None
        digits = "".join(parts)
        sign = "-" if negative else ""

        def number(whole: str, after: str) -> float:
            return float(f"{sign}{whole or '0'}.{after or '0'}{self.exponent}")

        value = number(digits, fraction)
        if group and not mark and group in ".," and len(parts) == 2 and len(parts[1]) == 3:
            if self.exponent and group == ".":
                return Cell(Form.POINT, number(*parts), affix)
            form = Form.EITHER_POINT if group == "." else Form.EITHER_COMMA
            grouped = comma == (group == ".")
            return Cell(form, value if grouped else number(*parts), affix)
        if group or mark:
            by_mark = {".": Form.GROUPED_POINT if group else Form.POINT, ",": Form.COMMA}
            by_group = {",": Form.GROUPED_POINT, ".": Form.COMMA}
            form = by_mark[mark] if mark else by_group.get(group, Form.GROUPED)
            return Cell(form, value, affix)
        if self.exponent or not alone:
            return Cell(Form.PLAIN, value, affix)
        if (len(digits) > 1 and digits[0] == "0") or int(digits) > EXACT:
            return Cell(Form.NAME, value)
        moment = None if signed else _compact_date(digits)
        if moment is None:
            return Cell(Form.PLAIN, value)
        return Cell(Form.EIGHT, moment if dates else value)


def _numeral(text: str, at: int) -> _Numeral | None:
    """Return the digits that begin there, with their groups, decimal mark and exponent."""
    begin = at
    at = _digits(text, at)
    parts, group, mark, fraction, exponent = [text[begin:at]], "", "", "", ""
    for groups in (_thousands, _indian):
        end = groups(text, begin, at)
        if end > at:
            group = text[at]
            parts, at = text[begin:end].split(group), end
            break
    if _at(text, at) in ".,":
        mark = text[at]
        end = _digits(text, at + 1)
        fraction, at = text[at + 1 : end], end
    if not parts[0] and not fraction:
        return None
    if _at(text, at) in "eE":
        first = at + (2 if _at(text, at + 1) in "+-" else 1)
        end = _digits(text, first)
        if end > first:
            exponent, at = text[at:end], end
    return _Numeral(parts, group, mark, fraction, exponent, at)


def _thousands(text: str, begin: int, at: int) -> int:
    """Return where groups of three digits end that follow one to three digits."""
    if not 1 <= at - begin <= 3 or _at(text, at) not in ",. '’":
        return at
    group = text[at]
    while _at(text, at) == group and _digits(text, at + 1) == at + 4:
        at += 4
    return at


def _indian(text: str, begin: int, at: int) -> int:
    """Return where groups of two digits and a last one of three end, as in 12,34,567."""
    end, twos = at, 0
    if not 1 <= at - begin <= 2:
        return at
    while _at(text, end) == "," and _digits(text, end + 1) == end + 3:
        end += 3
        twos += 1
    if twos and _at(text, end) == "," and _digits(text, end + 1) == end + 4:
        return end + 4
    return at


def _tail(text: str, at: int) -> tuple[str, str, str] | None:
    """Return the unit, currency and sign after digits; None if anything else follows."""
    at = _skip(text, at)
    for end in _units(text, at):
        unit = text[at:end]
        after, rest = _currency(text, _skip(text, end))
        more = _at(text, rest) if _at(text, rest) in "+*" else ""
        if _skip(text, rest + len(more)) == len(text):
            return unit, after, more
    return None


def _units(text: str, at: int) -> list[int]:
    """Return where a unit that begins there may end, the longest first; last that there is none."""
    first = _at(text, at)
    if first in "%‰\"″'′":
        return [at + 1, at]
    if first == "°":
        end = at + 1
        blank = end + (_at(text, end) in BLANKS)
        return [blank + 1, end, at] if _at(text, blank) in "CFK" else [end, at]
    letters = _letters(text, at)
    if not 1 <= letters - at <= 12:
        return [at]
    ends = []
    for start in (letters + 1, letters) if _at(text, letters) == "." else (letters,):
        if _at(text, start) in "/²³^·.":
            end = start + 1
            while end - start <= 8 and _at(text, end) not in BLANKS | set("\0") | set("0123456789"):
                end += 1
            if "0" <= _at(text, end) <= "9":
                ends.append(end + 1)
            ends += range(end, start, -1)
        ends.append(start)
    return [*ends, at]


def _is_list(text: str) -> bool:
    """Whether a cell is three numbers or more, divided by commas, semicolons or bars."""
    at, numbers = 0, 0
    while True:
        end = _digits(text, at)
        if end == at:
            return False
        numbers += 1
        at = _skip(text, end)
        if end == len(text):
            return numbers > 2
        if _at(text, at) not in ",;|":
            return False
        at = _skip(text, at + 1)


# --- Times ---------------------------------------------------------------------------------------


def _time(text: str, *, day_first: bool) -> Cell | None:
    """Return a date, a time of day, a span, or a number of units and their parts."""
    if not any("0" <= character <= "9" for character in text):
        return None
    return (
        _numeric_date(text, day_first=day_first)
        or _marked_date(text)
        or _compact_moment(text)
        or _week(text)
        or _written_date(text)
        or _clock_cell(text)
        or _compound(text)
    )


def _left_open(text: str) -> str:
    """Return what a date leaves open: yy for a year of two digits, and a zone without an offset."""
    colon = text.find(":")
    day = text if colon < 0 else text[:colon]
    runs, at = [], 0
    while at < len(day):
        end = _digits(day, at)
        runs.append(end - at)
        at = max(end, at + 1)
    last = len(text)
    while last > 0 and "0" <= text[last - 1] <= "9":
        last -= 1
    at_end = len(text) - last == 4 and _at(text, last - 1) in BLANKS
    short = "" if max(runs) >= 4 or at_end else "yy"
    begin = len(text)
    while begin > 0 and text[begin - 1].isascii() and text[begin - 1].isalpha():
        begin -= 1
    zone = text[begin:]
    known = colon < 0 or not 3 <= len(zone) <= 4 or _lower(zone) in ("utc", "gmt", "uhr")
    return " ".join(filter(None, (short, "" if known else zone)))


def _moment(year: int, month: int, day: int, of_day: int = 0) -> int | None:
    """Return microseconds since 1970, of a date and those of its day; None if there is no such."""
    try:
        date = dt.datetime(year, month, day)  # noqa: DTZ001
    except ValueError:
        return None
    return (date - EPOCH) // MICROSECOND + of_day


def _year(digits: str) -> int:
    """Return a year; one of two digits is from 1969 to 2068."""
    year = int(digits)
    return year if len(digits) == 4 else 2000 + year if year < 69 else 1900 + year


def _is_century(digits: str) -> bool:
    return len(digits) == 4 and digits[:2] in ("19", "20")


def _compact_date(digits: str) -> int | None:
    """Return the time of 20240131 or 20240131235959; None if these are no time."""
    if len(digits) not in (8, 14) or not _is_century(digits[:4]):
        return None
    hour, minute, second = (int(digits[i : i + 2] or 0) for i in (8, 10, 12))
    of_day = _of_day(hour, minute, second)
    if of_day is None:
        return None
    return _moment(int(digits[:4]), int(digits[4:6]), int(digits[6:8]), of_day)


def _of_day(hour: int, minute: int, second: int, microsecond: int = 0) -> int | None:
    if hour > 23 or minute > 59 or second > 60:
        return None
    return ((hour * 60 + minute) * 60 + min(second, 59)) * 1_000_000 + microsecond


def _numeric_date(text: str, *, day_first: bool) -> Cell | None:
    """Return 2024-12-31, 31.12.2024, 12/31/24 with a time or without; 2018-03 and 03/2018."""
    a, separator = text[: _digits(text, 0)], _at(text, _digits(text, 0))
    if len(a) not in (1, 2, 4) or separator not in "-/. ":
        return None
    at = len(a) + 1
    b = text[at : _digits(text, at)]
    at += len(b)
    if at == len(text):
        return _year_and_month(a, separator, b)
    if not 1 <= len(b) <= 2 or _at(text, at) != separator:
        return None
    c = text[at + 1 : _digits(text, at + 1)]
    of_day = _time_after(text, at + 1 + len(c))
    if of_day is None:
        return None
    if len(a) == 4:
        if separator == " " or not 1 <= len(c) <= 2:
            return None
        moment = _moment(int(a), int(b), int(c), of_day)
        return None if moment is None else Cell(Form.YMD, moment)
    if not (len(c) == 2 or (len(c) == 4 and c[0] in "12")):
        return None
    if len(c) == 2 and separator in ". " and len(a) + len(b) < 4:
        return None
    day, month, year = int(a), int(b), _year(c)
    dmy, mdy = _moment(year, month, day, of_day), _moment(year, day, month, of_day)
    if separator == ".":
        return None if dmy is None else Cell(Form.DOTTED, dmy)
    if dmy is None or mdy is None:
        if dmy is not None:
            return Cell(Form.DAY_FIRST, dmy)
        return None if mdy is None else Cell(Form.MONTH_FIRST, mdy)
    form = Form.EITHER_DAY
    if day == month:
        form = Form.SAME_DAY
    elif 1 in (day, month):
        form = Form.FIRST_DAY if day == 1 else Form.FIRST_MONTH
    return Cell(form, dmy if day_first else mdy)


MARKED = (("年", "月", "日"), ("년", "월", "일"), (".", ".", "."))  # after year, month and day


def _marked_date(text: str) -> Cell | None:
    """Return 2024年1月31日, 2024년 1월 31일 or 2024. 1. 31."""
    for marks in MARKED:
        at, fields = 0, list[str]()
        for mark in marks:
            begin = _skip(text, at)
            end = _digits(text, begin)
            at = _skip(text, end)
            if _at(text, at) != mark:
                break
            at += 1
            fields.append(text[begin:end])
        days = [len(field) for field in fields[1:]]
        if len(fields) == 3 and len(fields[0]) == 4 and min(days) >= 1 and max(days) <= 2:
            of_day = _time_after(text, at)
            if of_day is not None:
                moment = _moment(int(fields[0]), int(fields[1]), int(fields[2]), of_day)
                return None if moment is None else Cell(Form.YMD, moment)
    return None


def _compact_moment(text: str) -> Cell | None:
    """Return 20240131T235959, or the date with another time after it."""
    day = _compact_date(text[:8]) if _digits(text, 0) == 8 and len(text) > 8 else None
    if day is None:
        return None
    last = _digits(text, 9)
    if text[8] in "Tt" and last in (13, 15):
        of_day = _of_day(int(text[9:11]), int(text[11:13]), int(text[13:last] or 0))
        offset = _offset(text, _skip(text, last))
        if of_day is None or offset is None:
            return None
        return Cell(Form.YMD, day + of_day - offset * 60_000_000)
    of_day = _time_after(text, 8)
    return None if of_day is None else Cell(Form.YMD, day + of_day)


def _week(text: str) -> Cell | None:
    """Return 2024-W05-3, or 2024-W05, which begins on a Monday."""
    week, day = text[6:8], text[9:10] or "1"
    written = _is_century(text[:4]) and _digits(text, 0) == 4 and text[4:6] in ("-W", "-w")
    ends = len(text) == 8 or (len(text) == 10 and text[8] == "-")
    if not written or not ends or _digits(text, 6) != 8 or not "1" <= day <= "7":
        return None
    try:
        date = dt.date.fromisocalendar(int(text[:4]), int(week), int(day))
    except ValueError:
        return None
    moment = _moment(date.year, date.month, date.day)
    return None if moment is None else Cell(Form.YMD, moment)


def _year_and_month(a: str, separator: str, b: str) -> Cell | None:
    if separator in "-/" and _is_century(a) and len(b) == 2:
        moment = _moment(int(a), int(b), 1)
        form = Form.SEASON if int(b) == (int(a) + 1) % 100 else Form.YEAR_MONTH
        return None if moment is None else Cell(form, moment)
    if separator in "-/" and len(a) <= 2 and _is_century(b):
        moment = _moment(int(b), int(a), 1)
        return None if moment is None else Cell(Form.MONTH_YEAR, moment)
    return None


def _time_after(text: str, at: int) -> int | None:
    """Return the microseconds of the day that a date's time adds; None if anything else follows."""
    if at == len(text):
        return 0
    begin = at
    if text[at] in "Tt":
        at += 1
    else:
        at += text[at] == ","
        blank = _skip(text, at)
        spaced, at = blank > at, blank
        if spaced and _at(text, at) == "-" and _at(text, at + 1) in BLANKS:
            at = _skip(text, at + 1)
        elif spaced and _lower(text[at : at + 2]) == "at" and _at(text, at + 2) in BLANKS:
            at = _skip(text, at + 2)
        if at == begin:
            return None
    clock = _clock(text, at)
    if clock is None:
        return None
    of_day, at = clock
    offset = _offset(text, _skip(text, at))
    return None if offset is None else of_day - offset * 60_000_000


def _clock(text: str, at: int) -> tuple[int, int] | None:
    """Return the microseconds of a time of day that begins there, and where it ends."""
    hour = text[at : min(_digits(text, at), at + 2)]
    at += len(hour)
    if not hour or _at(text, at) != ":" or _digits(text, at + 1) != at + 3:
        return None
    minute, at = int(text[at + 1 : at + 3]), at + 3
    second = microsecond = 0
    if _at(text, at) == ":" and _digits(text, at + 1) == at + 3:
        second, at = int(text[at + 1 : at + 3]), at + 3
        end = _digits(text, at + 1)
        if _at(text, at) in ".," and 1 <= end - at - 1 <= 9:
            microsecond = int(text[at + 1 : end][:6].ljust(6, "0"))
            at = end
    half, end = _half_day(text, _skip(text, at))
    number = int(hour)
    if half:
        at = end
        if not 1 <= number <= 12:
            return None
        number = number % 12 + (12 if half == "p" else 0)
    of_day = _of_day(number, minute, second, microsecond)
    return None if of_day is None else (of_day, at)


def _half_day(text: str, at: int) -> tuple[str, int]:
    """Return a or p of am, a.m. or PM, and where it ends; nothing if it is not there."""
    half = _lower(_at(text, at))
    if half not in ("a", "p"):
        return "", at
    end = at + 1 + (_at(text, at + 1) == ".")
    if _lower(_at(text, end)) != "m":
        return "", at
    end += 1
    return half, end + (_at(text, end) == ".")


def _offset(text: str, at: int) -> int | None:
    """Return the minutes that a zone is before UTC; None if it is no zone."""
    # Nothing is known of a zone that is known by letters alone, such as CEST.
    if at == len(text):
        return 0
    end = _letters(text, at)
    name = _lower(text[at:end])
    if name == "z" and end == len(text):
        return 0
    if name and not name.isascii():
        return None
    if name and not (name in ("utc", "gmt") and end < len(text)):
        return 0 if 3 <= len(name) <= 4 and end == len(text) else None
    if _at(text, end) not in "+-":
        return None
    first, least = end + 1, 1 if name else 2
    last = _digits(text, first)
    hours, minutes = text[first:last], "0"
    if len(hours) > 2:
        hours, minutes = hours[:-2], hours[-2:]
    elif _at(text, last) == ":":
        minutes = text[last + 1 : _digits(text, last + 1)]
        last += 1 + len(minutes)
        if len(minutes) != 2:
            return None
    if not least <= len(hours) <= 2 or last != len(text) or int(hours) > 23 or int(minutes) > 59:
        return None
    return (60 * int(hours) + int(minutes)) * (-1 if text[end] == "-" else 1)


def _written_date(text: str) -> Cell | None:
    """Return a date whose month is written by its name, in any of seven languages."""
    at = _after_weekday(text)
    digits = text[at : _digits(text, at)]
    if len(digits) == 4 and at == 0:
        return _year_first(text, digits)
    if 1 <= len(digits) <= 2:
        return _day_month_year(text, at + len(digits), int(digits))
    return _month_first(text, at) if not digits else None


def _after_weekday(text: str) -> int:
    """Return where the name of a weekday, with the blank after it, ends; 0 if there is none."""
    end = _letters(text, 0)
    english = text[:end].isascii() and _lower(text[:3]) in WEEKDAYS and end >= 3
    if not english and _lower(text[:end]) not in NAMED_DAYS:
        return 0
    end += _at(text, end) == "."
    end += _at(text, end) == ","
    after = _skip(text, end)
    return after if after > end else 0


def _month(text: str, at: int) -> tuple[int, int]:
    """Return the month whose name begins there, and where it ends; 0 if there is none."""
    end = _letters(text, at)
    return MONTHS.get(_lower(text[at:end]), 0), end


DIVIDED = BLANKS | set("-/,.")


def _written_year(text: str, at: int) -> str:
    """Return the year that begins there, of four digits from 1 or 2 on, or of two; else nothing."""
    digits = text[at : _digits(text, at)]
    return digits if len(digits) == 2 or (len(digits) == 4 and digits[0] in "12") else ""


def _day_month_year(text: str, at: int, day: int) -> Cell | None:
    """Return 15 January 2017, 15-Jan-17, 15 de enero de 2017, by what follows the day."""
    if _lower(text[at : at + 2]) in ORDINALS:
        at += 2
    month, at = _month(text, _after_of(text, _skip(text, at, DIVIDED)))
    at = _after_of(text, _skip(text, at, DIVIDED))
    year = _written_year(text, at)
    if not month or not year:
        return None
    return _written(text, at + len(year), year, month, day)


def _after_of(text: str, at: int) -> int:
    """Return where of or de, with the blank after it, ends; where it would begin if it is not."""
    there = _lower(text[at : at + 2]) in ("of", "de") and _at(text, at + 2) in BLANKS
    return _skip(text, at + 2) if there else at


def _written(text: str, at: int, year: str, month: int, day: int) -> Cell | None:
    of_day = _time_after(text, at)
    moment = None if of_day is None else _moment(_year(year), month, day, of_day)
    return None if moment is None else Cell(Form.WRITTEN, moment)


def _year_first(text: str, year: str) -> Cell | None:
    """Return 2005-Feb-09 or 2010, December."""
    at = _skip(text, 4, DIVIDED)
    month, end = _month(text, at)
    if at == 4 or not month or year[0] not in "12":
        return None
    if end + (_at(text, end) == ".") == len(text):
        return _of_month(year, month) if _is_century(year) else None
    at = _skip(text, end, DIVIDED - {","})
    day = text[at : _digits(text, at)]
    if at == end or "," in text[4:end] or not 1 <= len(day) <= 2:
        return None
    return _written(text, at + len(day), year, month, int(day))


def _of_month(year: str, month: int) -> Cell | None:
    moment = _moment(_year(year), month, 1)
    return None if moment is None else Cell(Form.WRITTEN_MONTH, moment)


def _month_first(text: str, at: int) -> Cell | None:
    """Return August 14, 2020, Aug-14-20, Aug 14 09:30:00 2020 or Mar-2018."""
    month, end = _month(text, at)
    if not month:
        return None
    end += _at(text, end) == "."
    at = _skip(text, end, BLANKS | set("-/"))
    day = text[at : _digits(text, at)]
    if 1 <= len(day) <= 2:
        found = _day_and_year(text, end, at, month, day)
        if found is not None:
            return found
    at = _skip(text, end, DIVIDED)
    at += _at(text, at) in "'’"
    year = text[at : _digits(text, at)]
    if at + len(year) != len(text):
        return None
    short = len(year) == 2 and text[at - 1] in "-'’"
    return _of_month(year, month) if _is_century(year) or short else None


def _day_and_year(text: str, end: int, at: int, month: int, day: str) -> Cell | None:
    """Return a date by what follows a month, which ends at ``end``, and a day that begins there."""
    after = at + len(day)
    if _lower(text[after : after + 2]) in ORDINALS:
        after += 2
    comma = _at(text, after) == ","
    first = _skip(text, after + 1) if comma else _skip(text, after, BLANKS | set("-/"))
    year = _written_year(text, first)
    if first > after and len(year) == 4:
        found = _written(text, first + 4, year, month, int(day))
        if found is not None:
            return found
    if first > after and at > end and not comma and _skip(text, end) == at:
        clock = _clock(text, first) if _skip(text, after) == first else None
        if clock is not None:  # as ctime writes it
            of_day, place = clock
            place = _skip(text, place)
            zone = _letters(text, place)
            if 3 <= zone - place <= 4 and text[place:zone].isascii():
                place = _skip(text, zone)
            year = _written_year(text, place)
            if len(year) == 4 and place + 4 == len(text):
                moment = _moment(int(year), month, int(day), of_day)
                return None if moment is None else Cell(Form.WRITTEN, moment)
    divider = _at(text, at + len(day))
    if at == end + 1 and text[end] in "- " and divider in "-,":
        first = at + len(day) + 1
        first += _at(text, first) == " "
        year = text[first : _digits(text, first)]
        if len(year) == 2 and first + 2 == len(text):
            return _written(text, len(text), year, month, int(day))
    return None


SPANS = {  # units of time, in seconds: 2h 30m
    name: seconds
    for seconds, names in (
        (86400.0, "d day days"),
        (3600.0, "h hr hrs hour hours"),
        (60.0, "m min mins minute minutes"),
        (1.0, "s sec secs second seconds"),
    )
    for name in names.split()
}
SPAN_UNITS = {86400.0: "d", 3600.0: "h", 60.0: "min", 1.0: "s"}


def _compound(text: str) -> Cell | None:
    """Return 2h 30m, 1 hour and 5 minutes or PT2H30M as a number of the first unit."""
    iso = text[0] == "P"
    at, of_day, first, last, count, total = int(iso), False, 0.0, np.inf, 0, 0.0
    while at < len(text):
        if iso and not of_day and text[at] == "T":
            at, of_day = at + 1, True
        end = _digits(text, at)
        if not 1 <= end - at <= 4:
            return None
        number = text[at:end]
        point = end if _at(text, end) != "." else _digits(text, end + 1)
        number, end = text[at:point], point
        begin = end if iso else _skip(text, end)
        end = begin + 1 if iso else _letters(text, begin)
        size = SPANS.get(_lower(text[begin:end]), 0.0)
        if not size or size >= last or (iso and (of_day == (size == 86400.0))):
            return None
        total += size * float(number)
        first, last, count = first or size, size, count + 1
        if not iso:
            end += _at(text, end) == "."
            end += _at(text, end) == ","
            end = _skip(text, end)
            if _lower(text[end : end + 3]) == "and" and _at(text, end + 3) in BLANKS:
                end = _skip(text, end + 3)
        if "." in number and end < len(text):
            return None
        at = end
    if count < (1 if iso else 2):
        return None
    return Cell(Form.POINT, total / first, f"|{SPAN_UNITS[first]}||")


def _clock_cell(text: str) -> Cell | None:
    """Return a time of day, or a span of hours or minutes, in seconds."""
    digits = _digits(text, 0)
    if 1 <= digits <= 2 and _at(text, digits) in "hH" and len(text) == digits + 3:
        text = f"{text[:digits]}:{text[digits + 1 :]}"  # 14h30
    clock = _clock(text, 0)
    if clock is not None and _lower(text[_skip(text, clock[1]) :]) in ("", "uhr"):
        return Cell(Form.CLOCK, clock[0] / 1e6)
    after = _after_days(text, digits)
    if after:
        rest = _clock_cell(text[after:])
        return rest and Cell(Form.SPAN, 86400.0 * int(text[:digits]) + rest.value)
    half, end = _half_day(text, _skip(text, digits))
    if half and end == len(text) and 1 <= digits <= 2 and 1 <= int(text[:digits]) <= 12:
        return Cell(Form.CLOCK, 3600.0 * (int(text[:digits]) % 12 + (12 if half == "p" else 0)))
    if not 1 <= digits <= 4 or _at(text, digits) != ":" or _digits(text, digits + 1) != digits + 3:
        return None
    first, second, at = int(text[:digits]), int(text[digits + 1 : digits + 3]), digits + 3
    if second > 59:
        return None
    if at == len(text):
        return Cell(Form.SPAN, 3600.0 * first + 60.0 * second)
    end = _digits(text, at + 1)
    if _at(text, at) in ".," and digits <= 3 and 1 <= end - at - 1 <= 6 and end == len(text):
        return Cell(Form.SPAN, 60.0 * first + float(f"{second}.{text[at + 1 : end]}"))
    if _at(text, at) != ":" or end != at + 3 or int(text[at + 1 : end]) > 59:
        return None
    third = float(text[at + 1 : end])
    at = end
    end = _digits(text, at + 1)
    if _at(text, at) in ".," and end > at + 1:
        third, at = float(f"{text[at - 2 : at]}.{text[at + 1 : end]}"), end
    if at != len(text):
        return None
    return Cell(Form.SPAN, 3600.0 * first + 60.0 * second + third)


def _after_days(text: str, digits: int) -> int:
    """Return where the word days after a number ends, with the blank; 0 if it is not there."""
    # So Python and pandas write a span: ``1 day, 2:03:04`` and ``1 days 02:03:04``.
    at = _skip(text, digits)
    end = _letters(text, at)
    if not 1 <= digits <= 6 or _lower(text[at:end]) not in ("day", "days"):
        return 0
    end += _at(text, end) == ","
    after = _skip(text, end)
    return after if after > end else 0
