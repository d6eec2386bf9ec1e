r"""Words as they are meant, by other means than ours: `regex`, with its own data of Unicode.

It is the oracle of the words of every language: `folded` is a text as it is split, `words` are its
words, and `tokens` their n-grams. Kinds of characters are those of `\p{...}` of the folded text.
"""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from functools import cache
from itertools import pairwise

import regex
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

# The kinds of characters that words are made of.
UNSPACED = "".join(rf"\p{{Line_Break={of}}}" for of in ["ID", "CJ", "NS", "SA", "AK", "AP", "AS"])
SYLLABLE = r"\uac00-\ud7a3"
JAMO = r"\u1161-\u1175\u11a8-\u11c2"  # what may be one with the syllable before it
NO_LETTER = r"\u02bc"  # an apostrophe, which Unicode counts among the letters
HAN = rf"[[\p{{L}}\p{{Nl}}]&&[{UNSPACED}]--[{JAMO}]]"
LETTER = rf"[[\p{{L}}\p{{N}}_]--{HAN}--[{NO_LETTER}]]"
INSIDE = rf"[{LETTER}\p{{M}}]"
ONE_LETTER = rf"[{LETTER}--[\p{{Nd}}_{SYLLABLE}{JAMO}]]"
PICTURE = r"[\p{Extended_Pictographic}--[\p{L}\p{N}]]"
SKIN, JOINER, TAG = r"\p{Emoji_Modifier}", r"\u200d", r"\U000e0020-\U000e007f"
FLAG = r"\p{Regional_Indicator}"


def compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.V1)


UNSEEN = compiled(rf"[\p{{Default_Ignorable_Code_Point}}--[{JOINER}{TAG}]]")
LOOSE = compiled(rf"((?:{PICTURE}|{SKIN})[{TAG}]*{JOINER}?)|[{JOINER}{TAG}]")
FINAL_SIGMA = compiled(rf"(?<={INSIDE})[σς](?!{INSIDE})")
ASSIGNED = compiled(r"\P{Cn}")
# Symbols that are no emoji: versions of Unicode differ about which are pictographs.
SYMBOL = compiled(r"[\p{S}--[\p{ASCII}\p{Emoji}]]")


def folded(text: str, lowercase: bool = True) -> str:
    r"""Return a text as it is split.

    >>> folded("CAFE\u0301 \uff2e\uff4f\u00ad \uff76\uff9e ΟΔΟΣ")
    'café no ガ οδος'
    """
    seen = UNSEEN.sub("", "".join(map(of_one_style, text)))
    tied = without_what_is_put_on(LOOSE.sub(lambda m: m[1] or "", seen))
    if not lowercase:
        return tied
    # Of each character alone, as `str.lower` has a rule of its own for the last sigma of a word.
    lower = without_what_is_put_on("".join(map(in_any_case, tied)))
    return FINAL_SIGMA.sub("ς", lower.replace("ς", "σ"))


@cache
def of_one_style(character: str) -> str:
    """Return the usual form of a character that has another style, as NFKC and names have it."""
    name, category = unicodedata.name(character, ""), unicodedata.category(character)
    form = unicodedata.decomposition(character).split()[:1]
    plain = unicodedata.normalize("NFKC", character)
    if found := STYLED.fullmatch(name):
        with suppress(KeyError):
            return unicodedata.lookup(found[1] or f"{found[2]} SMALL LETTER {found[3]}")
    if category == "No" and "CIRCLED" in name and not form:
        return f"{unicodedata.numeric(character):.0f}"
    if character in "ßẞ":
        return "ss" if character == "ß" else "SS"
    if form in (["<wide>"], ["<narrow>"], ["<small>"], ["<vertical>"]):
        to = unicodedata.decomposition(character).split()[1:]
        return "".join(of_one_style(chr(int(code, 16))) for code in to)
    if form == ["<compat>"] and HAN_LETTER.fullmatch(character):
        return character
    is_sign = form == ["<fraction>"] or (form == ["<super>"] and category == "So")
    if is_sign or not LETTER_IN.search(plain) or BLANK_OR_MARK.search(plain):
        return unicodedata.normalize("NFC", character)
    return "".join(map(of_one_style, plain)) if plain != character else character


def without_what_is_put_on(text: str) -> str:
    """Return a text in NFC, without marks that no language has on an ASCII letter or digit."""
    return unicodedata.normalize("NFC", COMBINED.sub(shown, unicodedata.normalize("NFD", text)))


def shown(found: regex.Match[str]) -> str:
    """Return a letter with those of its marks that are not put on."""
    letter, marks = found[1], found[2]
    whole = unicodedata.normalize("NFC", letter + marks)
    many = len(marks) > 2

    def stays(mark: str) -> bool:
        is_composed = len(unicodedata.normalize("NFC", letter + mark)) == 1
        return MARK.fullmatch(mark) is None or (not many and is_composed)

    return (letter if many else whole[0]) + "".join(filter(stays, marks if many else whole[1:]))


def in_any_case(character: str) -> str:
    """Return what a character is in any case."""
    if character == "İ":
        return "i"
    lower, folded = character.lower(), character.casefold()
    if lower == character and len(folded) == 1 and folded.lower() == folded != "\u03b9":
        return folded
    return of_one_style(lower)


MARK = compiled(r"\p{M}")
COMBINED = compiled(rf"([A-Za-z0-9])([\p{{M}}{JAMO}]+)")
LETTER_IN = compiled(r"[\p{L}\p{N}]")
BLANK_OR_MARK = compiled(r"\s|^\p{M}")
HAN_LETTER = compiled(HAN)
STYLED = compiled(
    r"(?:PARENTHESIZED|.*CIRCLED|.*SQUARED) (LATIN \w+ LETTER \w+)"
    r"|(?:MODIFIER )?(LATIN|GREEK|CYRILLIC) (?:CAPITAL )?LETTER SMALL CAPITAL (.+)"
)
WORD = f"{LETTER}{INSIDE}*"
LABEL = f"{LETTER}[{INSIDE}-]*"
EMOJI = rf"{PICTURE}[{SKIN}{TAG}]*"
# The first that is found at a place is the word there.
RULES = [
    rf"(?:(?<=://)(?!(?i:www\.))|(?<=(?<!{INSIDE})(?i:www)\.)){LABEL}(?:\.{LABEL})+",  # a host
    rf"{ONE_LETTER}\#(?!{INSIDE}|\#)",  # C#
    rf"\p{{Nd}}+(?:[.,]\p{{Nd}}+)+(?!{INSIDE})",  # 3.14
    rf"{WORD}(?:'{WORD})*\+\+(?!{INSIDE}|\+)",  # C++
    rf"{WORD}(?:'{WORD})*",
    rf"(?:{HAN}\p{{M}}*)+",
    rf"(?<!{INSIDE}|&)\#{WORD}",
    rf"(?<!{INSIDE}|\.)@{WORD}",
    rf"{EMOJI}(?:{JOINER}{EMOJI})*",
    f"{FLAG}{FLAG}?",
    rf"(?<!{INSIDE})[<>]?[:;=][-o'^]?(?i:[dpox3])(?!{INSIDE})",
    rf"(?<!{INSIDE})[<>]?[:;=][O](?i:[dpox3])(?!{INSIDE})",  # the nose of :O) may be a capital
    rf"[<>]?[:;=][-oO'^]?[)(\]\[}}{{@|/\\*](?!{INSIDE}|/)",
    rf"</?3(?!{INSIDE})",
    r"\^_*\^|-_+-",
]
RULE = compiled("|".join(RULES))
CHARACTER = compiled(rf"{HAN}\p{{M}}*")
SYLLABLES = compiled(f"[{SYLLABLE}]{{2}}")


def words(text: str, lowercase: bool = True) -> list[tuple[str, bool]]:
    """Return the words of a text, each with whether it is part of others, and in no n-gram.

    >>> words("Ab 我喜 한국어")
    [('ab', False), ('我', True), ('我喜', False), ('喜', True), ('한국어', False), ('한국', True),
    ('국어', True)]
    """
    found: list[tuple[str, bool]] = []
    plain = folded(text, lowercase).replace("\u2019", "'").replace("\u02bc", "'")
    for match in RULE.finditer(plain):
        word = match[0]
        characters = CHARACTER.findall(word) if CHARACTER.match(word) else []
        if len(characters) > 1:
            for pair in pairwise(characters):
                found += [(pair[0], True), ("".join(pair), False)]
            found.append((characters[-1], True))
            continue
        found.append((word, False))
        if len(word) > 2:
            found += [(pair, True) for pair in SYLLABLES.findall(word, overlapped=True)]
    return found


def tokens(
    text: str,
    analyzer: str = "word",
    ngram_range: tuple[int, int] = (1, 1),
    lowercase: bool = True,
    stop_words: tuple[str, ...] = (),
    max_characters: int | None = None,
) -> list[str]:
    """Return the tokens of a text; n-grams of characters are scikit-learn's of the folded text.

    >>> tokens("To be", ngram_range=(1, 2))
    ['to', 'be', 'to be']
    """
    text = text[:max_characters]
    if analyzer != "word":
        analyse = CountVectorizer(
            analyzer=analyzer,
            ngram_range=ngram_range,
            preprocessor=lambda text: folded(text, lowercase),
        ).build_analyzer()
        return list(analyse(text))
    kept = [(word, part) for word, part in words(text, lowercase) if word not in stop_words]
    whole = [word for word, part in kept if not part]
    found = [word for word, _ in kept] if ngram_range[0] == 1 else []
    for n in range(max(ngram_range[0], 2), ngram_range[1] + 1):
        found += [" ".join(whole[i : i + n]) for i in range(len(whole) - n + 1)]
    return found


def is_known(character: str) -> bool:
    """Whether `regex` and the interpreter know a character, so that they can be compared with."""
    if ASSIGNED.fullmatch(character) is None or SYMBOL.fullmatch(character) is not None:
        return False
    return unicodedata.category(character) != "Cn"


# Characters that rules are about, and pieces of texts that nearly are tokens.
PIECES = [
    *"'\u2019\u02bc\uff07+#@.,&-_/\\:;=<>)(*odPx3|aZce0 \n\x1f\x85\u3000",
    *("++", "##", "www.", "WWW.", "://", "http://", "3.14", "1,000", "<3", "</3", "^_^", "-_-"),
    *"\u0663\u096a\u00bd\u2167\u00e9\u0130\u0131\u00df\u01c5\ufb01\u212a\u212b\u03a3\u03c3\u03c2",
    *"\u0301\u0308\u0323\u0302\u0345\u0338\u093c\u0929\u0bc6\u0bbe\u17d2\u3099\uff9e",  # marks
    *(
        "\u0391\u03a3",
        "\u4e2d",
        "\u6587",
        "\u3042",
        "\u30ac",
        "\uff76",
        "\u30fc",
        "\u0f40",
        "\u1780",
    ),
    *(
        "\u0e17\u0e35\u0e48",
        "\u0e44",
        "\ud55c",
        "\uad6d",
        "\uc5b4",
        "\uac00",
        "\u1112",
        "\u1161",
        "\u11ab",
    ),
    *"\uffa1\uffc2\u3131\U0001f600\U0001f44d\U0001f3fd\u200d\ufe0f\u2764\U0001f469\u00a9",
    *("\U0001f1e9", "\U0001f1ea", "\U0001f3f4", "\U000e0067", "\U000e007f", "1\ufe0f\u20e3"),
    *"\u00ad\u200b\u034f\uff21\uff11\uff0e\uffe3",
]
KNOWN = st.characters(exclude_categories=["Cn", "Cs"]).filter(is_known)
rich_text = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
known_text = st.one_of(st.text(KNOWN, max_size=40), rich_text, st.text("aZ_09 -\x7f", max_size=300))
