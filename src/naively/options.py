"""Options, each declared once: those of ``NaiveBayes``, and those of how a file is read.

From the fields of the first follow what is checked when something is learned, what a model file
holds, which settings two models differ in, and the options of the command line; from the fields of
the second the options of every verb that reads a file, and what a model keeps of them.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, fields
from datetime import timedelta
from functools import partial, wraps
from inspect import signature
from numbers import Real
from types import UnionType
from typing import Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, get_args

from naively.frozen import Frozen

COPIES = "copies"  # groups= of equal rows


def means_copies(what: str, given: object) -> bool:
    """Whether what is said beside labels is that equal rows are groups."""
    return what == "groups" and _is_word(COPIES, given)


class OptionKind(Frozen, eq=True):
    """What an option may be, in words and as a test."""

    words: str
    holds: Callable[[object], bool]
    read: Callable[[str], object] | None = None  # from text, if it is neither a word nor a number


Kinds: TypeAlias = Sequence[OptionKind]
Allowed: TypeAlias = "dict[str, Kinds]"
How: TypeAlias = Literal["mle", "map", "mean", "predictive"]
Weighting: TypeAlias = Literal["loo", "temperature"]

HOW: tuple[How, ...] = get_args(How)
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
PSEUDO_COUNTS = {"laplace": 1.0, "jeffreys": 0.5}


def kind_of(
    words: str,
    of: type | UnionType,
    within: Callable[[Any], bool] = lambda _: True,
    read: Callable[[str], object] | None = None,
) -> OptionKind:
    """Return the kind of the values of a type that are within some bounds."""
    return OptionKind(words, lambda x: isinstance(x, of) and within(x), read)


NOT_NEGATIVE = kind_of("a number of at least 0", Real, lambda x: 0 <= float(x) < math.inf)
NONE = OptionKind("None", lambda x: x is None)
TRUTHS = {"true": True, "false": False}
TRUE_OR_FALSE = kind_of("True or False", bool, read=lambda text: TRUTHS.get(text.lower()))
POSITIVE = kind_of(
    "a number greater than 0", Real, lambda x: duration_of(x) is None and 0 < float(x) < math.inf
)
SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}  # of a unit of time


def duration_of(given: object) -> float | None:
    """Return a duration in seconds; None if it is none, as a mere number is."""
    if isinstance(given, str):
        read = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h|d|w)", given.strip())
        return float(read[1]) * SECONDS[read[2]] or None if read else None
    if type(given).__name__ == "timedelta64":  # NumPy's, which is not imported here
        given = given.astype("timedelta64[us]").item()  # type: ignore[attr-defined]
    if isinstance(given, timedelta) and given > timedelta():
        return given.total_seconds()
    return None


DURATION = OptionKind(
    "a duration such as '30d' or '12h'", lambda x: duration_of(x) is not None, lambda text: text
)
STRINGS = kind_of(
    "a list of strings",
    list | tuple,
    lambda x: all(isinstance(word, str) for word in x),
    lambda text: text.split(","),
)


Asked: TypeAlias = Mapping[str, int | Sequence[str] | Mapping[str, int]]  # of interactions


def _asked(text: str) -> dict[str, Any] | None:
    """Read what is asked of interactions, "name=value; name=value"; None if it is none."""
    found: dict[str, Any] = {}
    for part in text.split(";"):
        name, is_there, value = (each.strip() for each in part.partition("="))
        if not is_there:
            return None
        if name == "given":
            found.setdefault(name, []).append(value)
        elif name == "without":
            found[name] = [each.strip() for each in value.split(",")]
        elif name == "monotone":
            pairs = (each.rpartition(":") for each in value.split(","))
            found[name] = {column.strip(): _whole(sign) for column, _, sign in pairs}
        else:
            found[name] = _whole(value)
    return found


def _whole(text: str) -> object:
    """Return a whole number, or the text if it is none."""
    return int(text) if text.strip().lstrip("+-").isdecimal() else text


LIMITS = kind_of("a mapping of 'rules', 'without', 'monotone' and 'given'", Mapping, read=_asked)


def words(*each: str) -> list[OptionKind]:
    """Return the kinds that only these words are of."""
    return [OptionKind(repr(word), partial(_is_word, word)) for word in each]


def by_column(*kinds: OptionKind) -> list[OptionKind]:
    """Return these kinds, None, and a mapping from columns to one of them."""
    alone = " or ".join(kind.words for kind in kinds)
    mapping = kind_of(
        f"a mapping from columns to {alone}",
        Mapping,
        lambda x: all(any(kind.holds(of) for kind in kinds) for of in x.values()),
    )
    return [*kinds, NONE, mapping]


def _is_word(word: str, value: object) -> bool:
    """Whether a value is this word; an array is not compared with it."""
    return isinstance(value, str) and value == word


def option(default: object, kinds: Kinds, help: str) -> Any:  # noqa: A002  (its name everywhere)
    """Return the field of a dataclass that is an option."""
    return field(default=default, metadata={"kinds": kinds, "help": help})


class Options(Frozen, eq=True):
    """The options of ``NaiveBayes`` that its model keeps; what they do is said there.

    Beside these the class prior is kept, which is checked once the classes are known, and event
    models, which are those of what was counted.
    """

    estimate: How = option("mean", words(*HOW), "Estimates: mean, map, mle or predictive.")
    smoothing: float | str = option(
        "auto",
        [*words("auto", *PSEUDO_COUNTS), NOT_NEGATIVE],
        "The pseudo-count: a number, laplace (1), jeffreys (0.5) or auto.",
    )
    weights: Weighting | None = option(
        "loo",
        [*words(*WEIGHTINGS), NONE],
        "How much each column counts: loo (a weight for each), temperature (one for all) or none "
        "(pure naive Bayes).",
    )
    interactions: Literal["auto"] | Asked | None = option(
        None,
        [*words("auto"), LIMITS, NONE],
        "Evidence of columns together: none, auto (products and rules are chosen), or limits of "
        "these: 'rules=20; without=id; monotone=age:1; given=age < 30 and pay > 5'.",
    )
    derived: Literal["auto"] | Sequence[str] | None = option(
        "auto",
        [*words("auto"), STRINGS, NONE],
        "Columns made of others: auto (sums, differences and ratios of two, numbers that are "
        "names, rows seen before, where held-out rows gain), none, or only these: "
        "'closed - opened,debt / income'.",
    )
    text: Literal["auto", "words"] = option(
        "auto",
        words("auto", "words"),
        "What is counted in texts: auto (words, word bigrams, and the character n-grams of their "
        "beginning) or words (the fastest, in the least memory).",
    )
    presence: Literal["auto", "ignore"] = option(
        "auto",
        words("auto", "ignore"),
        "Missing cells: auto (evidence of their own, where the rows show it) or ignore.",
    )
    missing_values: Sequence[str] | Mapping[str, Sequence[str]] | None = option(
        None,
        by_column(STRINGS),
        "Strings that stand for missing cells: NA,? (none: each string among numbers is one).",
    )
    decimal: str | Mapping[str, str] | None = option(
        None,
        by_column(*words(".", ",")),
        "The decimal mark of numbers that are strings: . or , (none: found in the cells).",
    )
    day_first: bool | Mapping[str, bool] | None = option(
        None,
        by_column(TRUE_OR_FALSE),
        "Whether 03/04/2024 is the third of April: true or false (none: found in the cells).",
    )
    half_life: float | str | None = option(
        None,
        [POSITIVE, DURATION, NONE],
        "The time after which a row counts half, with --time: 30d, 12h, or a number if times are "
        "numbers (none: rows never fade).",
    )
    # The number that ``smoothing`` stands for; None if it is chosen by leave-one-out.
    pseudo_count: float | None = field(init=False, repr=False, compare=False)
    # Whether a missing cell is evidence of its own, which needs a weight of its own.
    counts_missing: bool = field(init=False, repr=False, compare=False)
    # Whether a text that was given no event model is counted in blocks of their own. They say much
    # alike, which only weights of their own put right (see docs/decisions/0005-text-and-words.md).
    counts_blocks: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        count = None
        if self.smoothing != "auto":
            count = float(PSEUDO_COUNTS.get(self.smoothing, self.smoothing))  # type: ignore[arg-type]  # a float is its own count
        own = self.weights == "loo"
        blocks = own and self.text == "auto" and self.estimate in ("mean", "map")
        object.__setattr__(self, "pseudo_count", count)
        object.__setattr__(self, "counts_missing", own and self.presence == "auto")
        object.__setattr__(self, "counts_blocks", blocks)


OPTIONS = [of for of in fields(Options) if of.init]
DECLARED: Allowed = {of.name: of.metadata["kinds"] for of in OPTIONS}  # of ``NaiveBayes``


def check_options(estimator: object, allowed: Allowed) -> None:
    """Raise a ValueError where an option of an estimator is of none of its kinds."""
    for name, kinds in allowed.items():
        value = getattr(estimator, name)
        if not any(kind.holds(value) for kind in kinds):
            raise ValueError(f"{name} must be {expected(kinds)}, got {value!r}.")


def expected(kinds: Kinds) -> str:
    """Return in words what an option may be."""
    *others, last = [kind.words for kind in kinds]
    return f"{', '.join(others)} or {last}" if others else last


def from_text(name: str, given: str) -> Any:
    """Return the value of an option of ``NaiveBayes`` that is written as text."""
    kinds, number = DECLARED[name], number_of(given)
    read = [kind.read(given) for kind in kinds if kind.read is not None]
    for value in (None if given == "none" else given if number is None else number, *read):
        if any(kind.holds(value) for kind in kinds) and (value is not None or given == "none"):
            return value
    written = expected(kinds).replace("'", "").replace("None", "none")
    raise ValueError(f"--{name.replace('_', '-')} must be {written}, got {given!r}.")


def number_of(given: str) -> float | None:
    """Return a finite number, or None if the text is not one."""
    try:
        number = float(given)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# --- How a file is read, as far as it does not tell itself ---------------------------------------


CHARACTERS = {"tab": "\t", "\\t": "\t", "blank": " "}  # that are hard to write otherwise
NOTHING = ("", "none")
SKIP = "skip="
KEPT_AS: Mapping[str, type] = {"header": bool, "skip": int}  # the others are str


def _said(help: str, default: object = None) -> Any:  # noqa: A002
    return field(default=default, metadata={"help": help})


class FileOptions(Frozen, eq=True):
    """What is said of a file; what is not said is found in it."""

    # whether the first line of CSV holds the names of the columns; else they are "column 1" and
    # so on
    header: bool = _said("The first line is a row; columns are column 1, column 2.", default=True)
    # how many lines stand above the header; None: lines that are titles are found
    skip: int | None = _said("How many lines above the header to leave out; titles are found.")
    # the character between two fields, or "tab", or "blank" for any number of blanks
    delimiter: str | None = _said("The character between fields; or tab, or blank (any number).")
    # the character around fields that hold a delimiter, or "none"
    quote: str | None = _said("The character around fields that hold a delimiter; or none.")
    # the character before a quote, or a delimiter, that is a part of its field, or "none"
    escape: str | None = _said("The character before a quote within a field; or none.")
    # the encoding of text, by a name that Python knows
    encoding: str | None = _said("The encoding of text if not UTF-8: windows-1252, latin-1, gbk.")
    comment: str | None = _said("Leave out lines that begin with this, such as #; or none.")
    bad_rows: str | None = _said(
        "stop (an error), or skip=FILE: leave out rows that cannot be read, and write them to FILE."
    )
    sheet: str | None = _said("The sheet of a workbook.")  # the sheet of a workbook
    table: str | None = _said("The table of a database.")  # the table of a database

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "escape", "comment"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, self._character(name, given))
        marks = [
            self.delimiter,
            '"' if self.quote is None else self.quote,
            self.escape,
            self.comment,
        ]
        given_marks = [mark for mark in marks if mark]
        if self.escape and marks[1] == self.escape:
            given_marks.remove(self.escape)  # a quote twice, as in plain CSV
        for mark in given_marks:
            if given_marks.count(mark) > 1:
                raise ValueError(
                    f"{mark!r} cannot be two of the delimiter, the quote, the escape character and "
                    "the comment sign: give it once."
                )
        if self.skip is not None:
            if not str(self.skip).isdecimal():
                raise ValueError(f"skip= must be a number of lines, got {self.skip!r}.")
            object.__setattr__(self, "skip", int(self.skip))
        if self.bad_rows not in {None, "stop"} and not self.left_out_to:
            raise ValueError(f"bad_rows= must be stop or skip=FILE, got {self.bad_rows!r}.")
        self._check_encoding()

    @property
    def left_out_to(self) -> str:
        """The file that rows that cannot be read are written to; empty if they are an error."""
        given = self.bad_rows or ""
        return given.removeprefix(SKIP) if given.startswith(SKIP) else ""

    def kept(self) -> dict[str, Any]:
        """Return what a model keeps: what differs from the default, and is not of one file alone.

        >>> FileOptions(delimiter=";", bad_rows="skip=bad.csv").kept()
        {'delimiter': ';'}
        """
        return {
            of.name: getattr(self, of.name)
            for of in fields(self)
            if of.name != "bad_rows" and getattr(self, of.name) != of.default
        }

    def over(self, kept: Mapping[str, Any]) -> FileOptions:
        """Return these options, and, of what they do not say, those that a model has kept.

        >>> FileOptions(delimiter=",").over({"delimiter": ";", "quote": "'"}).kept()
        {'delimiter': ',', 'quote': "'"}
        """
        known = {
            of.name: kept[of.name]
            for of in fields(self)
            if isinstance(kept.get(of.name), KEPT_AS.get(of.name, str))
        }
        return FileOptions(**{**known, **self.kept(), "bad_rows": self.bad_rows})

    @staticmethod
    def _character(name: str, given: str) -> str:
        """Return the character, or the beginning of a comment, that is written so."""
        if name == "comment":
            if given != "none" and given != given.strip():
                raise ValueError(f"comment= must not have blanks, got {given!r}.")
            return "" if given in NOTHING else given
        if name != "delimiter" and given in NOTHING:
            return ""
        found = CHARACTERS.get(given, given)
        if len(found) != 1 or found in "\r\n\0":
            others = "tab or blank" if name == "delimiter" else "or none"
            comma = "," if name == "delimiter" else ""
            raise ValueError(f"{name}= must be one character{comma} {others}, got {given!r}.")
        return found

    def _check_encoding(self) -> None:
        """Raise a ValueError unless Python knows the encoding, and it is one of text."""
        if self.encoding is None:
            return
        try:
            b"text".decode(self.encoding, "ignore")
            codecs.getincrementaldecoder(self.encoding)
        except (LookupError, ValueError):
            raise ValueError(
                f"encoding= {self.encoding!r} is not known: give one such as utf-8, "
                "windows-1252, windows-1251, shift_jis or gbk."
            ) from None


# --- There is no class_weight: who asks for it is told what to say instead ----------------------
#
# Scikit-learn reads the options of an estimator from its ``__init__``, which must not take others.
# So what takes them is around ``__init__`` and ``fit``, and has their signatures.


S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")

SENTENCE = (
    "Naive Bayes has no class_weight: weights that only change how much each class counts are a "
    "class prior; say {}, or give the probability of each class."
)


def without_class_weight(verb: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a method say what to do in place of the keyword ``class_weight``."""

    @wraps(verb)
    def checked(self: S, /, *args: P.args, **options: P.kwargs) -> R:
        if "class_weight" in options:
            raise TypeError(no_class_weight(type(self)))
        return verb(self, *args, **options)

    return checked


def no_class_weight(kind: type) -> str:
    """Return what to say instead, in the words of the options that a class has."""
    return SENTENCE.format(_instead(signature(kind.__init__).parameters.keys()))  # type: ignore[misc]


def _instead(options: Collection[str]) -> str:
    """Return the option that makes all classes count alike."""
    if "fit_prior" in options:
        return "fit_prior=False for classes that count alike (NaiveBayes: class_prior='uniform')"
    if "priors" in options:
        return (
            "priors=[1 / k] * k for k classes that count alike (NaiveBayes: class_prior='uniform')"
        )
    return "class_prior='uniform' for classes that count alike"
