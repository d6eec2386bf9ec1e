"""The options of ``NaiveBayes``, each declared once: its kinds, its default and its help.

From these fields follow what is checked when something is learned, what a model file holds, which
settings two models differ in, and the options of the command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args


@dataclass(frozen=True)
class OptionKind:
    """What an option may be, in words and as a test."""

    words: str
    holds: Callable[[object], bool]
    read: Callable[[str], object] | None = None  # from text, if it is neither a word nor a number


Kinds: TypeAlias = Sequence[OptionKind]
Allowed: TypeAlias = "dict[str, Kinds]"
How: TypeAlias = Literal["mle", "map", "mean", "predictive"]
Weighting: TypeAlias = Literal["loo", "temperature"]

HOW: tuple[How, ...] = get_args(How)
PSEUDO_COUNTS = {"laplace": 1.0, "jeffreys": 0.5}

NOT_NEGATIVE = OptionKind(
    "a number of at least 0",
    lambda x: isinstance(x, Real) and 0 <= float(x) < math.inf,
)
NONE = OptionKind("None", lambda x: x is None)
TRUTHS = {"true": True, "false": False}
TRUE_OR_FALSE = OptionKind(
    "True or False", lambda x: isinstance(x, bool), lambda text: TRUTHS.get(text.lower())
)
STRINGS = OptionKind(
    "a list of strings",
    lambda x: isinstance(x, list | tuple) and all(isinstance(word, str) for word in x),
    lambda text: text.split(","),
)


def words(*each: str) -> list[OptionKind]:
    """Return the kinds that only these words are of."""
    return [OptionKind(repr(word), partial(_is_word, word)) for word in each]


def by_column(*kinds: OptionKind) -> list[OptionKind]:
    """Return these kinds, None, and a mapping from columns to one of them."""
    alone = " or ".join(kind.words for kind in kinds)
    mapping = OptionKind(
        f"a mapping from columns to {alone}",
        lambda x: (
            isinstance(x, Mapping)
            and all(any(kind.holds(of) for kind in kinds) for of in x.values())
        ),
    )
    return [*kinds, NONE, mapping]


def _is_word(word: str, value: object) -> bool:
    return isinstance(value, str) and value == word  # an array is not compared


def option(default: object, kinds: Kinds, help: str) -> Any:  # noqa: A002  (its name everywhere)
    """Return the field of a dataclass that is an option.

    Parameters
    ----------
    default : object
        What it is if it is not given.
    kinds : sequence of OptionKind
        What it may be.
    help : str
        What the command line says of it.
    """
    return field(default=default, metadata={"kinds": kinds, "help": help})


@dataclass(frozen=True)
class Options:
    """The options of ``NaiveBayes`` that its model keeps; what they do is said there.

    Beside these the class prior is kept, which is checked once the classes are known, and event
    models, which are those of what was counted.
    """

    estimate: How = option("mean", words(*HOW), "Of parameters: mean, map, mle or predictive.")
    smoothing: float | str = option(
        "auto",
        [*words("auto", *PSEUDO_COUNTS), NOT_NEGATIVE],
        "The pseudo-count: a number, laplace (1), jeffreys (0.5) or auto.",
    )
    weights: Weighting | None = option(
        "loo",
        [*words(*get_args(Weighting)), NONE],
        "How much each column counts: loo (a weight for each), temperature (one for all) or none "
        "(pure naive Bayes).",
    )
    interactions: Literal["auto"] | None = option(
        None, [*words("auto"), NONE], "What two columns say together: none, or auto to choose some."
    )
    text: Literal["auto", "words"] = option(
        "auto",
        words("auto", "words"),
        "What is counted of texts: auto (words, word bigrams, and character n-grams where texts "
        "are short) or words (the fastest, in the least memory).",
    )
    presence: Literal["auto", "ignore"] = option(
        "auto",
        words("auto", "ignore"),
        "Of missing cells: auto (evidence of their own, where rows say so) or ignore.",
    )
    missing_values: Sequence[str] | Mapping[str, Sequence[str]] | None = option(
        None,
        by_column(STRINGS),
        "Strings that stand for missing cells: NA,? (none: what is no number is told apart).",
    )
    decimal: str | Mapping[str, str] | None = option(
        None,
        by_column(*words(".", ",")),
        "The decimal mark of numbers that are strings: . or , (none: as the cells say).",
    )
    day_first: bool | Mapping[str, bool] | None = option(
        None,
        by_column(TRUE_OR_FALSE),
        "Whether 03/04/2024 is the third of April: true or false (none: as the cells say).",
    )


def declared() -> Allowed:
    """Return the kinds of each option of ``NaiveBayes``."""
    return {of.name: of.metadata["kinds"] for of in fields(Options)}


def check_options(estimator: object, allowed: Allowed) -> None:
    """Raise a ValueError where an option of an estimator is of none of its kinds.

    Examples
    --------
    >>> from naively import MultinomialNB
    >>> check_options(MultinomialNB(alpha="many"), {"alpha": [NOT_NEGATIVE, NONE]})
    Traceback (most recent call last):
    ValueError: alpha must be a number of at least 0 or None, got 'many'.
    """
    for name, kinds in allowed.items():
        value = getattr(estimator, name)
        if not any(kind.holds(value) for kind in kinds):
            raise ValueError(f"{name} must be {expected(kinds)}, got {value!r}.")


def expected(kinds: Kinds) -> str:
    """Return in words what an option may be."""
    *others, last = [kind.words for kind in kinds]
    return f"{', '.join(others)} or {last}" if others else last


def from_text(name: str, kinds: Kinds, given: str) -> Any:
    """Return the value of an option that is written as text, as on the command line.

    Raises
    ------
    ValueError
        If it is of none of the option's kinds.

    Examples
    --------
    >>> from_text("smoothing", [*words("auto"), NOT_NEGATIVE], "0.5")
    0.5
    >>> from_text("weights", [*words("loo"), NONE], "all")
    Traceback (most recent call last):
    ValueError: --weights must be loo or none, got 'all'.
    """
    number = number_of(given)
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
