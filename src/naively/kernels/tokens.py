r"""Splitting a text into tokens in plain Python: words of every language, and their n-grams.

A text is folded first (``kernels.folding``). Its words are letters, digits and marks in one piece,
of any length, with apostrophes within. A script that is written without spaces (of Chinese,
Japanese, Thai, Lao, Khmer, Burmese) is cut into its characters, each with its marks, and the pairs
of these, as search engines do without a dictionary; a word of Korean, in which nouns and particles
are written as one, has the pairs of its syllables beside it. Other tokens are numbers (3.14), hosts
of URLs, #hashtags, @mentions, smileys and emoji. The rules are those of Unicode Standard Annex 29
in spirit.

Tokens are n-grams of words ("word"), n-grams of characters ("char"), or n-grams of the characters
of what stands between two spaces ("char_wb"). They come in scikit-learn's order: the short ones
first.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, pairwise

from naively.kernels.folding import IN_WORD, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from naively.kernels.strings import Row, Split, Unit

    Words = tuple[list[str], list[str], list[str]]  # see `_words`

UNITS = ("word", "char", "char_wb")

# Tokens are found among the kinds of characters (see `fold`), where "a" is any letter that is not
# ASCII, and capitals are no letters of the text. JavaScript has the same expression.
WORD = f"[{IN_WORD}][{IN_WORD}M]*"
HOST = f"[{IN_WORD}][{IN_WORD}M-]*"
TOKEN = re.compile(
    "|".join(
        [
            # The host of a URL, without www.
            rf"(?:(?<=://)(?!www\.)|(?<![{IN_WORD}M]www\.)(?<=www\.)){HOST}(?:\.{HOST})+",
            rf"[a-z]#(?![{IN_WORD}M#])",  # C#
            rf"[0-9]+(?:[.,][0-9]+)+(?![{IN_WORD}M])",
            rf"{WORD}(?:'{WORD})*(?:\+\+(?![{IN_WORD}M+]))?",  # C++ too
            "(?:HM*)+",
            rf"(?<![{IN_WORD}M&])#{WORD}",
            rf"(?<![{IN_WORD}M.])@{WORD}",
            r"E[ST]*(?:ZE[ST]*)*|RR?",
            # Smileys: eyes, perhaps a nose, and a mouth; hearts; faces of their own.
            rf"(?<![{IN_WORD}M])[<>]?[:;=][-o'^]?[dpox3](?![{IN_WORD}M])",
            rf"[<>]?[:;=][-o'^]?[)(\]\[}}{{@|/\\*](?![{IN_WORD}M/])",
            rf"</?3(?![{IN_WORD}M])|\^_*\^|-_+-",
        ]
    )
)
CHARACTER = re.compile("HM*")
APOSTROPHES = str.maketrans("\u2019\u02bc", "''")  # of one kind, and one in words
SPACES = re.compile(r"\s\s+")
ENDS = frozenset('.,;:!?)"]}')  # one of these after a word of ASCII is in no token
KEPT = 40  # characters of a piece of a text whose words are kept, in case it comes again


def splitter(
    analyzer: Unit,
    ngram_range: tuple[int, int],
    lowercase: bool,
    stop_words: Collection[str],
    max_characters: int | None = None,
) -> Split:
    """Return the function that splits rows into tokens, with repetitions."""
    # Only the first ``max_characters`` of a longer text are read. The words of a row that is a list
    # are taken as they are, except for stop words.
    check_splitting(analyzer, ngram_range)
    low, high = ngram_range
    stops = frozenset(stop_words)

    def of_words(row: Row) -> list[str]:
        if not isinstance(row, str):
            words = [word for word in row or () if word not in stops]
            return words if high == 1 else word_ngrams(words, low, high)
        single, words, _ = _words(row[:max_characters], lowercase)
        if stops:
            single = [word for word in single if word not in stops]
            words = [word for word in words if word not in stops]
        longer = word_ngrams(words, max(low, 2), high) if high > 1 else []
        return [*single, *longer] if low == 1 else longer

    def of_characters(row: Row) -> list[str]:
        if not isinstance(row, str):  # it is missing, since check_rows refuses lists
            return []
        text, _ = fold(row[:max_characters], lowercase)
        if analyzer == "char":
            return character_ngrams(SPACES.sub(" ", text), low, high)
        return [token for word in text.split() for token in padded_ngrams(word, low, high)]

    return of_words if analyzer == "word" else of_characters


def split(text: str, lowercase: bool = True, *, singles: bool = True) -> list[str]:
    """Return the words of a text, in order, with repetitions."""
    # Without ``singles``, single characters of a script without spaces are left out where there are
    # pairs of them.
    every, _, others = _words(text, lowercase)
    return every if singles else others


def _words(text: str, lowercase: bool) -> Words:
    """Return all words of a text, those that its n-grams are of, and all but single characters."""
    # N-grams are of neither single characters where there are pairs, nor of parts of a word. No
    # word reaches over white space, so that a text is split piece by piece, and most pieces of
    # ASCII are a word as they are.
    every: list[str] = []
    if lowercase and text.isascii():
        for piece in text.lower().split():
            if piece.isalnum():
                every.append(piece)
            elif piece[-1] in ENDS and piece[:-1].isalnum():
                every.append(piece[:-1])
            else:
                every += TOKEN.findall(piece)
        return every, every, every
    found: Words = every, [], []
    for piece in text.split():
        of_piece = _words_of_piece if len(piece) <= KEPT else _words_of_piece.__wrapped__
        for words, more in zip(found, of_piece(piece, lowercase), strict=True):
            words.extend(more)
    return found


@lru_cache(maxsize=1 << 14)
def _words_of_piece(text: str, lowercase: bool) -> Words:
    """Return what `_words` does, of a piece of a text that holds no white space."""
    folded, kinds = fold(text, lowercase)
    plain = folded.translate(APOSTROPHES)
    spans = [found.span() for found in TOKEN.finditer(kinds)]
    words = [plain[begin:end] for begin, end in spans]
    if "H" not in kinds and "KK" not in kinds:
        return words, words, words
    every: list[str] = []
    sequence: list[str] = []
    others: list[str] = []
    for word, (begin, end) in zip(words, spans, strict=True):
        of = kinds[begin:end]
        if of[0] == "H":
            characters = [word[m.start() : m.end()] for m in CHARACTER.finditer(of)]
            pairs = [a + b for a, b in pairwise(characters)]
            every += chain.from_iterable(zip(characters, pairs, strict=False))
            every.append(characters[-1])
            sequence += pairs or characters
            others += pairs or characters
            continue
        places = range(len(of) - 1) if len(of) > 2 else ()
        parts = [word[i : i + 2] for i in places if of[i : i + 2] == "KK"]
        every += [word, *parts]
        others += [word, *parts]
        sequence.append(word)
    return every, sequence, others


def word_ngrams(words: Sequence[str], low: int, high: int) -> list[str]:
    """Return the n-grams of ``low`` to ``high`` words."""
    found: list[str] = []
    for n in range(low, min(high, len(words)) + 1):
        found += [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
    return found


def character_ngrams(text: str, low: int, high: int) -> list[str]:
    """Return the n-grams of ``low`` to ``high`` characters."""
    found: list[str] = []
    for n in range(low, min(high, len(text)) + 1):
        found += [text[i : i + n] for i in range(len(text) - n + 1)]
    return found


def padded_ngrams(word: str, low: int, high: int) -> list[str]:
    """Return the character n-grams of a word between spaces; a word shorter than ``low`` is one."""
    padded = f" {word} "
    return [padded] if low > len(padded) else character_ngrams(padded, low, high)


def check_splitting(analyzer: str, ngram_range: tuple[int, int]) -> None:
    """Raise a ValueError unless texts can be split with these options."""
    if analyzer not in UNITS:
        raise ValueError(f"analyzer must be one of {', '.join(map(repr, UNITS))}, got {analyzer!r}")
    whole = len(ngram_range) == 2 and all(type(n) is int for n in ngram_range)
    if not whole or not 1 <= ngram_range[0] <= ngram_range[1] <= 255:
        raise ValueError(
            "ngram_range must be two whole numbers, 1 <= low <= high <= 255, "
            f"got {tuple(ngram_range)}"
        )


def check_rows(rows: Iterable[object], analyzer: Unit) -> None:
    """Raise a TypeError naming the first row that is neither None, a str, nor a list of words."""
    for i, row in enumerate(rows):
        match row:
            case None | str():
                continue
            case list() | tuple() if analyzer == "word":
                for j, word in enumerate(row):
                    if not isinstance(word, str):
                        kind = type(word).__name__
                        raise TypeError(f"word {j} of text {i} is not a str but {kind}")
            case _:
                raise TypeError(f"text {i} is not a str but {type(row).__name__}")
