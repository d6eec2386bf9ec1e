"""Strings are read as what they spell, if all of them do: numbers, booleans or times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from naively.data.columns import TIME, Cells, Column, Kind, all_missing
from naively.kernels import dispatch
from naively.kernels.strings import Strings

Guess: TypeAlias = Literal["number", "any number", "boolean", "time", "string"]
FIRST = 100  # strings that are looked at before all are
TRUTHS = {"true": 1.0, "false": 0.0}
KIND_OF: dict[Guess, Kind] = {
    "number": "number",
    "any number": "number",
    "boolean": "boolean",
    "time": "time",
    "string": "string",
}


class Spelled(NamedTuple):
    """What strings spell: the column, and the first row that is something else, or -1."""

    column: Column
    wrong: int = -1


def spell(strings: Strings, guess: Guess) -> Spelled:
    """Read strings as what they may be.

    A number that may be a name, as it begins with a 0 or has more digits than a float holds, is
    one only where any number is expected.

    Examples
    --------
    >>> from naively.kernels.strings import pack_strings
    >>> spell(pack_strings(["1", None, "2.5"]), "number").column
    (array([1. , nan, 2.5]), 'number')
    >>> spell(pack_strings(["1", "007"]), "number").wrong
    1
    """
    match guess:
        case "number" | "any number":
            cells, wrong = _numbers(strings, guess)
        case "boolean":
            cells, wrong = _truths(strings)
        case "time":
            moments, wrong = dispatch.read_times(strings)
            cells = moments.view(TIME)
        case _:
            return Spelled((strings, "string"))
    missing = not isinstance(cells, Strings) and cells.dtype.kind in "fM" and all_missing(cells)
    return Spelled((cells, None if missing else KIND_OF[guess]), wrong)


def first_that_fits(strings: Strings, guesses: Sequence[Guess]) -> Guess:
    """Return the first of the guesses that all strings are; "string" if there is none.

    Examples
    --------
    >>> from naively.kernels.strings import pack_strings
    >>> first_that_fits(pack_strings(["true", "False"]), ["number", "boolean", "time"])
    'boolean'
    """
    for guess in guesses:
        if spell(strings[:FIRST], guess).wrong < 0 and spell(strings, guess).wrong < 0:
            return guess
    return "string"


def _numbers(strings: Strings, guess: Guess) -> tuple[Cells, int]:
    """Return numbers, as integers if all are whole and none is missing, and the first wrong row."""
    numbers, (fraction, name, none) = dispatch.read_numbers(strings)
    wrong = [none] if guess == "any number" else [none, name]
    first = min((int(row) for row in wrong if row >= 0), default=-1)
    if fraction < 0 and strings.missing is None:
        return numbers.astype(np.int64), first
    return numbers, first


def _truths(strings: Strings) -> tuple[Cells, int]:
    codes, first = dispatch.encode_strings(strings)
    spelled = [TRUTHS.get(str(level).lower()) for level in dispatch.take_strings(strings, first)]
    wrong = next((int(row) for row, truth in zip(first, spelled, strict=True) if truth is None), -1)
    values = np.array([np.nan if truth is None else truth for truth in [*spelled, None]])
    truths = values[codes]
    return (truths == 1 if strings.missing is None and wrong < 0 else truths), wrong
