"""What two models say of the items of their columns: levels, words, and some numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import LEVEL, PRESENT, VALUE, ByValue, Levels, Name, RowMap, Words
from naively.counting.tally import BlockTally
from naively.kernels.reference import Floats
from naively.likelihoods.base import Likelihood
from naively.model.model import Model
from naively.model.odds import Odds
from naively.schema.group import Group

Labelled = Callable[[int], tuple[Name, Any]]  # the column and the item of a row


@dataclass(frozen=True, eq=False)
class Items:
    """Items of the same columns in two models, the tables of both in the same rows.

    Parameters
    ----------
    label : callable
        Returns the column and the level, word or number of a row.
    count : pair of ndarray of shape (rows, classes), or None
        How often each came; None of numbers, each of which came once or not at all.
    evidence : pair of ndarray of shape (rows, classes)
        The weight of evidence for each class against all others; NaN where a model does not know
        the item.
    known : pair of ndarray of shape (rows,)
        Which items each of them knows.
    what : str
        What an item is called: "level", "word", "n-gram" or "column".
    """

    label: Labelled
    count: tuple[Floats, Floats] | None
    evidence: tuple[Floats, Floats]
    known: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    what: str


def items_of_both(a: Model, b: Model, classes: list[Any]) -> Iterator[Items]:
    """Yield the items of the columns of both models, for the classes that both have."""
    for group in a.schema.of_columns:
        for other in b.schema.of_columns:
            if group.analyser != other.analyser:
                continue
            shared = [name for name in group.columns if name in _place(other)]
            if shared:
                yield from _items(a, group, b, other, shared, classes)


def _items(
    a: Model, group: Group, b: Model, other: Group, shared: list[Name], classes: list[Any]
) -> Iterator[Items]:
    """Yield the items of two groups, which have some columns in common."""
    tallies = a.counts[group.key], b.counts[other.key]
    if not len(tallies[0].axis) or not len(tallies[1].axis):
        return
    likelihoods = a.likelihoods[group.key], b.likelihoods[other.key]
    numbers = [_typical(m, of, classes) for m, of in zip((a, b), likelihoods, strict=True)]
    of_both = [tally.axis for tally in tallies]
    if all(isinstance(axis, Words | Levels) for axis in of_both) and type(of_both[0]) is type(
        of_both[1]
    ):
        joined, *places = of_both[0].union(of_both[1])
        known = tuple(_known(place, len(joined)) for place in places)
        tables = zip((a, b), tallies, likelihoods, places, strict=True)
        found = [_tables(m, t, of, at, len(joined), classes) for m, t, of, at in tables]
        what = "level"
        if isinstance(joined, Words):
            what = "word" if joined.analyser.single_words else "n-gram"
        count, evidence = zip(*found, strict=True)
        yield Items(joined.label, count, evidence, (known[0], known[1]), what)
        return
    if any(isinstance(axis, Words | Levels) for axis in of_both):
        return  # levels in one and numbers in the other: nothing to compare
    at = [[_place(of)[name] for name in shared] for of in (group, other)]
    count = tuple(
        _cells_of(t, rows, m, classes) for t, rows, m in zip(tallies, at, (a, b), strict=True)
    )
    if all(x is None for x in numbers):
        both = [
            _evidence(of.typical(0).value[rows], m, classes)
            for of, rows, m in zip(likelihoods, at, (a, b), strict=True)
        ]
        yield _of_columns(shared, None, (count[0], count[1]), (both[0], both[1]))
        return
    for x, rows in zip(numbers, at, strict=True):
        for each in () if x is None else x:
            probes = each[np.array(rows)]
            both = [
                _evidence(of.at(probes, np.array(places)), m, classes)
                for of, places, m in zip(likelihoods, at, (a, b), strict=True)
            ]
            yield _of_columns(shared, probes, (count[0], count[1]), (both[0], both[1]))


def _of_columns(
    columns: list[Name],
    x: Floats | None,
    count: tuple[Floats, Floats],
    evidence: tuple[Floats, Floats],
) -> Items:
    """Return items that are whole columns, or their values at some numbers."""
    every = np.ones(len(columns), np.bool_)

    def label(row: int) -> tuple[Name, Any]:
        return columns[row], None if x is None else float(x[row])

    return Items(label, count, evidence, (every, every), "column")


def _place(group: Group) -> dict[Name, int]:
    return {name: j for j, name in enumerate(group.columns)}


def _typical(model: Model, likelihood: Likelihood, classes: list[Any]) -> list[Floats] | None:
    """Return the typical number of each column for each class; None of truths, levels and words."""
    places = model.classes.tolist()
    found = [likelihood.typical(places.index(label)).x for label in classes]
    return None if any(x is None for x in found) else [x for x in found if x is not None]


def _known(rows: RowMap, n: int) -> NDArray[np.bool_]:
    known = np.full(n, rows is None)
    if rows is not None:
        known[rows] = True
    return known


def _tables(
    model: Model,
    tally: BlockTally,
    likelihood: Likelihood,
    rows: RowMap,
    n: int,
    classes: list[Any],
) -> tuple[Floats, Floats]:
    """Return the counts and the evidence of the items of a model, in their rows among n."""
    statistic = LEVEL if isinstance(tally.axis, Levels) else VALUE
    at = slice(None) if rows is None else rows
    count, evidence = np.zeros((n, len(classes))), np.full((n, len(classes)), np.nan)
    count[at] = tally[statistic].high[:, _columns(model, classes)]
    evidence[at] = _evidence(likelihood.typical(0).value, model, classes)
    return count, evidence


def _cells_of(tally: BlockTally, rows: list[int], model: Model, classes: list[Any]) -> Floats:
    """Return how many cells of some columns were counted, or are true, (columns, classes)."""
    if isinstance(tally.axis, ByValue):
        found = tally.axis.sum_by_column(tally[tally.axis.statistic].high)
    else:
        found = tally[PRESENT if PRESENT in tally.sums else VALUE].high
    cells: Floats = found[np.ix_(rows, _columns(model, classes))]
    return cells


def _columns(model: Model, classes: list[Any]) -> list[int]:
    places = model.classes.tolist()
    return [places.index(label) for label in classes]


def _evidence(log_p: Floats, model: Model, classes: list[Any]) -> Floats:
    """Return the weights of evidence for some classes against all others, (items, classes).

    It is NaN where there is no other class.
    """
    found = np.full((len(log_p), len(classes)), np.nan)
    for j, c in enumerate(_columns(model, classes)):
        if len(model.classes) > 1:
            found[:, j] = Odds(model.start, c).weight(log_p)
    return found
