"""Write src/naively/kernels/unicode.txt: what splitting a text must know of each character.

    pip install unicodedata2==16.0.0 regex==2024.11.6
    python tools/unicode_table.py > src/naively/kernels/unicode.txt

Both packages hold the data of Unicode 16. Python's own tables differ from version to version, and
so do those of JavaScript, so that a model would split a text in another way than it learned it.

Each line of the file is a name and whole numbers. Code points are written as differences to the one
before them, as most are small:

``kind:X``      begin - end of the last, length: code points of a kind (see ``kernels/folding.py``)
``space``       the same, of white space
``lower``       begin - end of the last, length, step, difference to what each is in any case
``fold``        code point - the last, how many, and these: what it is replaced by
``combining``   begin - end of the last, length, canonical combining class
``compose``     first - the last first, second, composed: pairs that are one character in NFC
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, pairwise

import regex
import unicodedata2 as unicodedata

EVERY = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)
APOSTROPHES = "\u2019\u02bc"  # beside that of ASCII


def having(properties: str) -> Callable[[str], bool]:
    """Return the function that says whether a character has one of these properties."""
    pattern = regex.compile(f"[{properties}]")
    return lambda character: pattern.fullmatch(character) is not None


is_ignorable = having(r"\p{Default_Ignorable_Code_Point}")
is_unspaced = having(
    "".join(rf"\p{{Line_Break={of}}}" for of in ["ID", "CJ", "NS", "SA", "AK", "AP", "AS"])
)
is_pictograph = having(r"\p{Extended_Pictographic}")
is_skin = having(r"\p{Emoji_Modifier}")
is_regional = having(r"\p{Regional_Indicator}")
# Python takes the separators of files, groups, records and units for white space too.
is_space = having(r"\p{White_Space}\x1c-\x1f")


def canonical(character: str) -> str:
    """Return a character's canonical decomposition by one step, or nothing."""
    decomposition = unicodedata.decomposition(character)
    if not decomposition or decomposition.startswith("<"):
        return ""
    return "".join(chr(int(code, 16)) for code in decomposition.split())


def compositions() -> dict[str, str]:
    """Return the pairs that NFC composes, each with what it makes, but for Hangul."""
    pairs = {canonical(c): c for c in EVERY if ord(c) not in HANGUL and len(canonical(c)) == 2}
    return {pair: c for pair, c in pairs.items() if unicodedata.normalize("NFC", pair) == c}


COMPOSED = compositions()
SECOND = {pair[1] for pair in COMPOSED} | {
    chr(i) for i in [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]
}


def kind(character: str) -> str:
    """Return the letter of the kind of a character, or nothing; the first that it may have."""
    category = unicodedata.category(character)
    is_letter = category[0] in "LN"
    may_be = {
        "'": character in APOSTROPHES,
        "R": is_regional(character),
        "S": is_skin(character),
        "Z": character == "\u200d",
        "T": "\U000e0020" <= character <= "\U000e007f",
        "K": ord(character) in HANGUL,
        "M": category[0] == "M",
        "V": character in SECOND,  # a letter that NFC may make one with the letter before it
        "0": category == "Nd",
        "H": is_letter and is_unspaced(character) and (category != "No"),
        "a": is_letter,
        "E": is_pictograph(character),
    }
    return next((letter for letter, is_of in may_be.items() if is_of), "")


def plain(character: str) -> str:
    """Return what a character that is written in another style is, by one step, or nothing.

    Punctuation is the same in another width only, as the one that is written tells where a text is
    from. A fraction, a sign such as that of trade marks and a letter of a script without spaces are
    none of a style.
    """
    form, *codes = unicodedata.decomposition(character).split() or [""]
    name, category = unicodedata.name(character, ""), unicodedata.category(character)
    to = "".join(chr(int(code, 16)) for code in codes)
    if category == "So" and (found := OF_LETTER.fullmatch(name)):
        return unicodedata.lookup(found[1])
    if category == "No" and not form and "CIRCLED" in name:
        return str(int(unicodedata.numeric(character)))
    if found := SMALL_CAPITAL.fullmatch(name):
        try:
            return unicodedata.lookup(f"{found[1]} SMALL LETTER {found[2]}")
        except KeyError:
            return ""
    if character in "\u00df\u1e9e":
        return "ss" if character == "\u00df" else "SS"
    if form in ANY_STYLE:
        return to
    is_of_letters = any(unicodedata.category(c)[0] in "LN" for c in to)
    is_left = (
        form == "<fraction>"
        or (form == "<super>" and category == "So")
        or (form == "<compat>" and kind(character) == "H")
        or any(map(is_space, to))
        or unicodedata.category(to[:1] or "a")[0] == "M"
    )
    return to if form.startswith("<") and is_of_letters and not is_left else ""


OF_LETTER = regex.compile(
    r"(?:PARENTHESIZED|.*CIRCLED|.*SQUARED) ((?:LATIN|GREEK|CYRILLIC) \w+ LETTER \w+)"
)
SMALL_CAPITAL = regex.compile(r"(LATIN|GREEK|CYRILLIC) (?:CAPITAL )?LETTER SMALL CAPITAL (.+)")
ANY_STYLE = ("<wide>", "<narrow>", "<small>", "<vertical>")


def fold(character: str) -> str:
    """Return what a character is replaced by: in NFC, of one style, nothing if it is not seen."""
    if is_ignorable(character) and kind(character) not in ("Z", "T"):
        return ""
    to = plain(character) or canonical(character)
    return unicodedata.normalize("NFC", "".join(map(fold, to)) if to else character)


def lower(character: str) -> str:
    """Return the one character that all cases of a character become."""
    if character == "\u0130":
        return "i"  # a dot does not compose with it, and is none of its own
    if fold(character) != character:
        return character
    lowered = character.lower()
    if lowered != character and len(lowered) == 1:
        return fold(lowered)
    if unicodedata.category(character) not in ("Lu", "Lt") or len(lowered) > 1:
        folded = character.casefold()
        is_one = len(folded) == 1 and folded == folded.lower() and kind(character) != "M"
        return folded if is_one and character != "\u03c2" else character
    # Python's own table may be older, and does not know the letter.
    alike = regex.compile(regex.escape(character), regex.IGNORECASE)
    return next(
        (c for c in EVERY if alike.fullmatch(c) and unicodedata.category(c) == "Ll"), character
    )


def runs(of: Iterable[tuple[int, object]]) -> Iterator[tuple[int, int, object]]:
    """Yield begin, length and value of runs of neighbours among code points, of one value each."""
    for value, run in groupby(of, lambda each: each[1]):
        codes = [code for code, _ in run]
        ends = [i + 1 for i, (a, b) in enumerate(pairwise(codes)) if b != a + 1]
        for begin, end in pairwise([0, *ends, len(codes)]):
            yield codes[begin], end - begin, value


def ranges(codes: Iterable[int]) -> Iterator[int]:
    """Yield the numbers of ranges of code points."""
    last = 0
    for begin, length, _ in runs((code, None) for code in codes):
        yield from (begin - last, length)
        last = begin + length


def mapped(pairs: list[tuple[int, int]]) -> Iterator[int]:
    """Yield the numbers of runs of pairs of one difference, each code point so many on."""
    last = i = 0
    while i < len(pairs):
        code, to = pairs[i]
        step = next((s for s in (1, 2) if pairs[i + 1 : i + 2] == [(code + s, to + s)]), 1)
        n = 1
        while pairs[i + n : i + n + 1] == [(code + n * step, to + n * step)]:
            n += 1
        yield from (code - last, n, step, to - code)
        last, i = code + (n - 1) * step + 1, i + n


def write(name: str, numbers: Iterable[int]) -> None:
    """Write a line of the table."""
    sys.stdout.write(f"{name} {' '.join(map(str, numbers))}\n")


def main() -> None:
    """Write the table."""
    sys.stdout.write(f"unicode {unicodedata.unidata_version}\n")
    kinds = {ord(c): kind(c) for c in EVERY}
    for letter in "a0HKMVERSZT'":
        write(f"kind:{letter}", ranges(code for code, of in kinds.items() if of == letter))
    write("space", ranges(ord(c) for c in EVERY if is_space(c)))
    write("lower", mapped([(ord(c), ord(lower(c))) for c in EVERY if lower(c) != c]))
    folded, last = [], 0
    for c in EVERY:
        if ord(c) not in HANGUL and fold(c) != c:
            folded += [ord(c) - last, len(fold(c)), *map(ord, fold(c))]
            last = ord(c)
    write("fold", folded)
    combining, last = [], 0
    of_class = [(ord(c), n) for c in EVERY if (n := unicodedata.combining(c))]
    for begin, length, n in runs(of_class):
        combining += [begin - last, length, n]
        last = begin + length
    write("combining", combining)
    composed, last = [], 0
    for pair, c in sorted(COMPOSED.items()):
        composed += [ord(pair[0]) - last, ord(pair[1]), ord(c)]
        last = ord(pair[0])
    write("compose", composed)


if __name__ == "__main__":
    main()
