"""What readers take for the same text is the same, and of what kind each of its characters is.

A text is folded before it is split: characters are composed (NFC), of one style (bold, circled,
wide, ligatures, ...), in lower case if asked for, and without marks that are put on Latin letters;
those that do not show are left out. What that takes is in a table of Unicode 16 (``unicode.txt``,
written by ``tools/unicode_table.py``), which the native code and JavaScript read too: a model
splits a text alike wherever it is used. This file is the contract of both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, cached_property
from os.path import dirname, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = join(dirname(__file__), "unicode.txt")  # noqa: PTH118, PTH120  (to import pathlib takes long)
MARKS = 2  # on a letter at most; more are put on
SIGMA = re.compile("[σς]")
IN_WORD = "a-z0-9_KV"  # kinds of what may begin a word; marks go on with it
OF_WORD = re.compile(f"[{IN_WORD}M]")
COMBINING = re.compile("[MV]")
COMBINED = re.compile(".[MV]+", re.DOTALL)  # a character and those that may be composed with it
HANGUL, LEADING, VOWEL, TRAILING = 0xAC00, 0x1100, 0x1161, 0x11A7
VOWELS, TRAILINGS, SYLLABLES = 21, 28, 11172


def fold(text: str, lowercase: bool = True) -> tuple[str, str]:
    """Return a text as it is split, and the kind of each of its characters."""
    # The kinds are a text of the same length: of ASCII the character itself, in lower case; "a" for
    # another letter, "0" a digit, "H" a letter of a script without spaces, "K" a Korean syllable,
    # "M" a mark, "V" a letter that may be composed with the one before it, "E" a pictograph, "R" a
    # regional indicator, "S" a skin tone, "Z" a zero-width joiner, "T" a tag, "'" another
    # apostrophe, " " white space; and "?" all else.
    if text.isascii():
        lowered = text.lower()
        return (lowered if lowercase else text), lowered  # the same object, if so
    folded = text.translate(_folded(lowercase))
    kinds = folded.translate(_kinds())
    if "Z" in kinds or "T" in kinds:
        folded, kinds = _without_loose_joiners(folded, kinds)
    if COMBINING.search(kinds):
        folded = "".join(_composed(folded, kinds))
        kinds = folded.translate(_kinds())
    if lowercase and SIGMA.search(folded):
        folded = SIGMA.sub(lambda m: _sigma(kinds, m.start()), folded)
    return folded, kinds


def _without_loose_joiners(folded: str, kinds: str) -> tuple[str, str]:
    """Return text and kinds without joiners and tags that do not follow a pictograph."""
    kept, last = [], ""
    for i, kind in enumerate(kinds):
        if kind not in ("Z", "T") or last in ("E", "S", "T"):
            kept.append(i)
            last = kind
    return "".join(folded[i] for i in kept), "".join(kinds[i] for i in kept)


def _composed(folded: str, kinds: str) -> Iterator[str]:
    """Yield the parts of a text in NFC."""
    done = 0
    for found in COMBINED.finditer(kinds):
        yield folded[done : found.start()]
        yield compose(folded[found.start() : found.end()])
        done = found.end()
    yield folded[done:]


def _sigma(kinds: str, i: int) -> str:
    """Return the small sigma at a place: another one ends a word."""
    before, after = kinds[i - 1 : i] if i else "", kinds[i + 1 : i + 2]
    return "ς" if OF_WORD.match(before) and not OF_WORD.match(after) else "σ"


def compose(text: str) -> str:
    """Return the NFC of a few characters (Unicode Standard Annex 15)."""
    table = unicode_table()
    parts: list[str] = []
    for character in text:
        parts += _decomposed(character)
    begin = 0
    while begin < len(parts):  # marks are put in order of their classes
        end = begin + 1
        while end < len(parts) and table.combining.get(parts[end], 0):
            end += 1
        first = begin if table.combining.get(parts[begin], 0) else begin + 1
        parts[first:end] = sorted(parts[first:end], key=lambda c: table.combining[c])
        begin = end
    done: list[str] = []
    starter, last = -1, 0  # the place of the last starter, and the class of what was put after it
    is_plain = parts[0].isascii() and parts[0].isalnum()
    for character in parts:
        of = table.combining.get(character, 0)
        is_on = is_plain and table.kind(ord(character)) == "M"
        if is_on and len(parts) > 1 + MARKS:
            continue
        blocked = starter < 0 or (len(done) - 1 > starter and (last >= of or last == 0))
        made = "" if blocked else _pair(done[starter], character)
        if made:
            done[starter] = made
            continue
        if is_on and not _pair(parts[0], character):
            continue
        done.append(character)
        last = of
        if not of:
            starter = len(done) - 1
    return "".join(done)


def _decomposed(character: str) -> list[str]:
    place = ord(character) - HANGUL
    if 0 <= place < SYLLABLES:
        lead, rest = divmod(place, VOWELS * TRAILINGS)
        vowel, trail = divmod(rest, TRAILINGS)
        codes = [LEADING + lead, VOWEL + vowel, *([TRAILING + trail] if trail else [])]
        return [chr(code) for code in codes]
    pair = unicode_table().parts.get(character)
    return [character] if pair is None else [*_decomposed(pair[0]), pair[1]]


def _pair(first: str, second: str) -> str:
    """Return the character that two are composed to, or nothing."""
    lead, vowel, trail = ord(first) - LEADING, ord(second) - VOWEL, ord(second) - TRAILING
    if 0 <= lead < SYLLABLES // (VOWELS * TRAILINGS) and 0 <= vowel < VOWELS:
        return chr(HANGUL + (lead * VOWELS + vowel) * TRAILINGS)
    syllable = ord(first) - HANGUL
    if 0 <= syllable < SYLLABLES and syllable % TRAILINGS == 0 and 0 < trail < TRAILINGS:
        return chr(ord(first) + trail)
    return unicode_table().composed.get(first + second, "")


class UnicodeTable:
    """The table of Unicode, read from its file; what few texts need, when it is first asked for."""

    def __init__(self, text: str) -> None:
        self._lines = dict(line.split(" ", 1) for line in text.splitlines())
        self._ranges = sorted(
            (begin, end, name[-1])
            for name in self._lines
            if name.startswith("kind:")
            for begin, end in _ranges(self._numbers(name))
        )
        self._begins = [begin for begin, _, _ in self._ranges]
        of = _ranges(self._numbers("space"))
        self.spaces = frozenset(i for begin, end in of for i in range(begin, end))

    def _numbers(self, name: str) -> list[int]:
        return list(map(int, self._lines[name].split()))

    def ranges(self, kind: str) -> list[tuple[int, int]]:
        """Return where the ranges of code points of a kind begin and end."""
        return [(begin, end) for begin, end, letter in self._ranges if letter == kind]

    def kind(self, code: int) -> str:
        """Return the kind of a character that is not ASCII (see `fold`)."""
        place = bisect_right(self._begins, code) - 1
        if place >= 0:
            _, end, letter = self._ranges[place]
            if code < end:
                return letter
        return " " if code in self.spaces else "?"

    @cached_property
    def lower(self) -> dict[int, str]:
        """What characters are in any case, if it is not themselves."""
        found: dict[int, str] = {}
        last = 0
        for gap, n, step, to in _by(self._numbers("lower"), 4):
            codes = range(last + gap, last + gap + n * step, step)
            found |= {code: chr(code + to) for code in codes}
            last = codes[-1] + 1
        return found

    @cached_property
    def folded(self) -> dict[int, str]:
        """What characters are replaced by that are not kept, in any case."""
        found, code, of = {}, 0, iter(self._numbers("fold"))
        for gap in of:
            code += gap
            found[code] = "".join([chr(next(of)) for _ in range(next(of))])
        return found

    @cached_property
    def combining(self) -> dict[str, int]:
        """The canonical combining classes that are not 0."""
        found: dict[str, int] = {}
        last = 0
        for gap, n, value in _by(self._numbers("combining"), 3):
            found |= {chr(last + gap + i): value for i in range(n)}
            last += gap + n
        return found

    @cached_property
    def composed(self) -> dict[str, str]:
        """Pairs of characters that are one in NFC."""
        found, code = {}, 0
        for gap, second, made in _by(self._numbers("compose"), 3):
            code += gap
            found[chr(code) + chr(second)] = chr(made)
        return found

    @cached_property
    def parts(self) -> dict[str, str]:
        """The pairs that characters of NFC are composed of."""
        return {made: pair for pair, made in self.composed.items()}


@cache
def unicode_table() -> UnicodeTable:
    """Return the table, which is read when it is first asked for."""
    return UnicodeTable(table_text())


@cache
def unspaced() -> re.Pattern[str]:
    """Return the expression of a letter of a script without spaces."""
    table = unicode_table()
    ranges = (f"{chr(begin)}-{chr(end - 1)}" for begin, end in table.ranges("H"))
    return re.compile(f"[{''.join(ranges)}]")


@cache
def unicode_version() -> str:
    """Return the version of Unicode by which texts are split."""
    return table_text().split(maxsplit=2)[1]


def table_text() -> str:
    """Return the table as it is written, for the native code and for JavaScript."""
    with open(TABLE, encoding="ascii") as file:  # noqa: PTH123
        return file.read()


class _Folded(dict[int, str]):
    """What each character becomes, found when it is first met."""

    def __init__(self, lowercase: bool) -> None:
        self.lowercase = lowercase

    def __missing__(self, code: int) -> str:
        table = unicode_table()
        to = table.folded.get(code, chr(code))
        if self.lowercase:
            to = to.translate(table.lower)
        self[code] = to
        return to


class _Kinds(dict[int, str]):
    """The kind of each character, found when it is first met."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = chr(code).lower() if code < 128 else unicode_table().kind(code)
        return kind


@cache
def _folded(lowercase: bool) -> _Folded:
    return _Folded(lowercase)


@cache
def _kinds() -> _Kinds:
    return _Kinds()


def _ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    last = 0
    for gap, length in _by(numbers, 2):
        yield last + gap, last + gap + length
        last += gap + length


def _by(numbers: list[int], n: int) -> Iterator[list[int]]:
    for i in range(0, len(numbers), n):
        yield numbers[i : i + n]
