"""Patterns: what a text shows beyond its words, as tokens that are counted like words.

Each is a line in a table, name to regular expression or function: money, hosts, capitals, ...
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from naively.events.base import EventModel
from naively.kernels.tokens import Row
from naively.schema.regular import bounded, compile_bounded
from naively.schema.text import TextModel

Finder: TypeAlias = Callable[[str], Iterable[str]]

AMOUNT = r"\d[\d.,]*"
URL = re.compile(r"\b(?:https?://|www\.)[^\s<>\"']+", re.IGNORECASE)
HOST = re.compile(r"^(?:https?://)?(?:[^/@\s]*@)?([^/:?#\s]+)", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
CAPITALS = re.compile(r"\b[A-Z][A-Z]+\b")
LETTERS = re.compile(r"[^\W\d_]+")
LONG_WORD = 20
SHARES = (0.02, 0.1, 0.3, 0.6)  # the bounds of the bins of a share


def hosts(text: str) -> list[str]:
    """Return the hosts of the URLs in a text.

    >>> hosts("See http://Example.com:80/a?b and www.python.org.")
    ['host:example.com', 'host:python.org']
    """
    found = (HOST.match(url.rstrip(".,;:!?)")) for url in URL.findall(text))
    return [f"host:{match[1].lower().removeprefix('www.')}" for match in found if match]


def digits(text: str) -> list[str]:
    """Return how many digits each number has, ten or more as one.

    >>> digits("7 of 2024, call 07732584351")
    ['digits:1', 'digits:4', 'digits:10+']
    """
    lengths = (len(number) for number in NUMBER.findall(text))
    return [f"digits:{n}" if n < 10 else "digits:10+" for n in lengths]


def capitals(text: str) -> list[str]:
    """Return the words that are ALL CAPITALS, and their share.

    >>> capitals("WIN a prize NOW")
    ['capitals', 'capitals', 'capitals share:0.3-0.6']
    """
    words = len(LETTERS.findall(text))
    found = ["capitals"] * len(CAPITALS.findall(text))
    return [*found, f"capitals share:{share_bin(len(found), words)}"] if words else []


def scripts(text: str) -> list[str]:
    """Return the share of the letters that are not Latin.

    >>> scripts("Привет"), scripts("naïve"), scripts("123")
    (['not latin:0.6-1'], ['not latin:0'], [])
    """
    if text.isascii():
        return ["not latin:0"] if LETTERS.search(text) else []
    letters = [c for c in text if c.isalpha()]
    others = sum(not is_latin(c) for c in letters)
    return [f"not latin:{share_bin(others, len(letters))}"] if letters else []


@lru_cache(maxsize=1 << 16)
def is_latin(character: str) -> bool:
    """Whether a letter is Latin.

    >>> is_latin("é"), is_latin("я")
    (True, False)
    """
    return character.isascii() or unicodedata.name(character, "").startswith("LATIN")


def share_bin(part: int, whole: int) -> str:
    """Return the bin of a share, as text.

    >>> share_bin(0, 10), share_bin(1, 100), share_bin(9, 10)
    ('0', '0-0.02', '0.6-1')
    """
    share = part / whole
    if not share:
        return "0"
    bounds = (0, *SHARES, 1)
    place = next((i for i, bound in enumerate(SHARES) if share <= bound), len(SHARES))
    return f"{bounds[place]}-{bounds[place + 1]}"


def length_bin(text: str) -> list[str]:
    """Return the length of a text, to a factor of two.

    >>> length_bin("a text of 24 characters.")
    ['length:16-31']
    """
    if not text:
        return ["length:0"]
    low = 1 << int(math.log2(len(text)))
    return [f"length:{low}-{2 * low - 1}"]


PATTERNS: dict[str, re.Pattern[str] | Finder] = {
    "money": re.compile(rf"[$€£¥₹]\s?{AMOUNT}|{AMOUNT}\s?(?:[€£¥₹]|(?:USD|EUR|GBP|dollars?)\b)"),
    "percent": re.compile(rf"{AMOUNT}\s?(?:%|percent\b)"),
    "url": URL,
    "host": hosts,
    "email": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "digits": digits,
    "capitals": capitals,
    "repeated": re.compile(r"([!?.*$#=_~-])\1+"),
    "long word": re.compile(rf"\w{{{LONG_WORD},}}"),
    "not latin": scripts,
    "length": length_bin,
}


@dataclass(frozen=True)
class Patterns(TextModel):
    r"""What a text shows beyond its words, counted as tokens of a block of their own.

    Money, percentages, URLs and their hosts, e-mail addresses, numbers by their digits, ALL
    CAPITALS and their share, repeated punctuation, very long words, the share of letters that
    are not Latin, and the length.

    Parameters
    ----------
    more : mapping of str to str, default none
        Other patterns: a name, and the regular expression whose matches are counted.
    leave_out : sequence of str, default none
        Names of patterns that are not looked for.
    binary : bool, default False
        Whether a token counts once in a text.
    event : str or EventModel, default "multinomial"
        "multinomial", "bernoulli" or "complement", or such a model.

    Examples
    --------
    >>> from naively import Patterns
    >>> patterns = Patterns(more={"time": r"\d\d:\d\d"})
    >>> patterns.tokens("$9 at 12:30!!!")
    ['pattern:money', 'digits:1', 'digits:2', 'digits:2', 'capitals share:0', 'pattern:repeated',
    'not latin:0', 'length:8-15', 'pattern:time']
    """

    more: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    leave_out: Sequence[str] = ()
    binary: bool = False
    event: str | EventModel = "multinomial"
    name = "patterns"

    def __post_init__(self) -> None:
        object.__setattr__(self, "more", tuple(dict(self.more).items()))  # a key
        object.__setattr__(self, "leave_out", tuple(self.leave_out))
        for name in self.leave_out:
            if name not in PATTERNS:
                raise ValueError(f"There is no pattern {name!r}; there are {', '.join(PATTERNS)}.")
        for name, regex in dict(self.more).items():
            compile_bounded(regex, f"The pattern {name!r},")

    @property
    def is_plain(self) -> bool:
        return False  # there is none among texts that are not said to have patterns

    @property
    def splitting(self) -> dict[str, Any]:
        return {}

    @property
    def counted(self) -> str:
        return "patterns"

    @property
    def single_words(self) -> bool:
        return False

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        return [token for find in self._finders for token in find(text)]

    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        return [None if text is None else self.tokens(_as_text(text)) for text in texts]

    @cached_property
    def _finders(self) -> list[Finder]:
        chosen = {name: find for name, find in PATTERNS.items() if name not in self.leave_out}
        chosen |= {name: compile_bounded(regex, name) for name, regex in dict(self.more).items()}
        return [
            _matches(name, find) if isinstance(find, re.Pattern) else find
            for name, find in chosen.items()
        ]


def _matches(name: str, regex: re.Pattern[str]) -> Finder:
    token = f"pattern:{name}"
    return lambda text: [token for _ in regex.finditer(bounded(text))]


def _as_text(row: str | Sequence[str]) -> str:
    return row if isinstance(row, str) else " ".join(map(str, row))
